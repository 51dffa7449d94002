//! The front matter of a reminder file: YAML between two lines `---`, read with the place of each key and value.
//!
//! Anchors, aliases and tags are refused: they are of no use here, and a few lines of aliases can stand for gigabytes.

use crate::codes::ReminderFileCode;
use base::data::Data;
use lang::diagnostic::Diagnostic;
use lang::source::{SourceRef, Span};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, StrInput};
use std::ops::Range;

/// The line before and after the front matter.
const FENCE: &str = "---";

/// Levels of lists and maps inside of one another.
const DEEPEST: usize = 8;

/// A file split into its parts.
pub(super) struct FrontMatter {
    /// The keys with their values, in the order of the text.
    pub(super) entries: Vec<(YamlKey, YamlNode)>,
    /// The bytes of the body, without blank lines around it.
    pub(super) body: Range<usize>,
    /// The front matter, for what is missing in it.
    pub(super) span: Span,
}

/// A key.
#[derive(Debug, Clone)]
pub(super) struct YamlKey {
    pub(super) text: String,
    pub(super) span: Span,
}

/// A value.
#[derive(Debug, Clone)]
pub(super) struct YamlNode {
    pub(super) span: Span,
    pub(super) kind: YamlKind,
}

#[derive(Debug, Clone)]
pub(super) enum YamlKind {
    /// A scalar. `at` is the first byte of its text, if the file contains the text as it is.
    Scalar { text: String, is_plain: bool, at: Option<u32> },
    /// A list.
    List(Vec<YamlNode>),
    /// A map.
    Map(Vec<(YamlKey, YamlNode)>),
}

impl YamlNode {
    /// Returns the value as data: plain scalars are read by the core schema of YAML 1.2.
    pub(super) fn to_data(&self) -> Data {
        match &self.kind {
            YamlKind::Scalar { text, is_plain: true, .. } => plain(text),
            YamlKind::Scalar { text, .. } => text.as_str().into(),
            YamlKind::List(items) => items.iter().map(YamlNode::to_data).collect(),
            YamlKind::Map(entries) => {
                Data::dict(entries.iter().map(|(key, value)| (key.text.as_str(), value.to_data())).collect::<Vec<_>>())
            }
        }
    }

    /// Returns whether nothing is written after the key.
    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.kind, YamlKind::Scalar { text, is_plain: true, .. } if text.is_empty())
    }
}

fn plain(text: &str) -> Data {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Data::Nil,
        "true" | "True" | "TRUE" => return true.into(),
        "false" | "False" | "FALSE" => return false.into(),
        _ => {}
    }
    if let Ok(number) = text.parse::<i64>() {
        return Data::Int(number);
    }
    let looks_like_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match text.parse::<f64>() {
        Ok(number) if looks_like_number && number.is_finite() => Data::Float(number),
        _ => text.into(),
    }
}

/// Splits a file.
///
/// # Errors
/// Returns the first error in the front matter.
#[allow(clippy::result_large_err)] // once a file
pub(super) fn split(source: &SourceRef) -> Result<FrontMatter, Diagnostic> {
    let text = source.text();
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let (first, mut at) = line(text, start);
    if first.trim_end() != FENCE {
        let place = Span::new(offset(start), offset(start + first.trim_end().len()));
        return Err(Diagnostic::new(ReminderFileCode::Invalid, "missing front matter")
            .label(source, place, "expected `---`")
            .help("begin the file with `---`, keys such as `on: session_start`, and another `---`"));
    }
    let yaml = at;
    loop {
        let (this, next) = line(text, at);
        if this.trim_end() == FENCE {
            let body = trimmed(text, next);
            let span = Span::new(offset(start), offset(at + FENCE.len()));
            let entries = Reader::new(source, yaml..at).read()?;
            return Ok(FrontMatter { entries, body, span });
        }
        if next == at {
            let place = Span::new(offset(start), offset(start + FENCE.len()));
            return Err(Diagnostic::new(ReminderFileCode::Invalid, "missing end of the front matter")
                .label(source, place, "begins here")
                .help("write a line `---` after the keys"));
        }
        at = next;
    }
}

/// Returns the line at a byte, with its line break, and the start of the next one.
fn line(text: &str, at: usize) -> (&str, usize) {
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
    (&text[at..end], end)
}

/// Returns the bytes from a position to the end, without white space around them.
fn trimmed(text: &str, from: usize) -> Range<usize> {
    let rest = &text[from..];
    let start = from + (rest.len() - rest.trim_start().len());
    let end = from + rest.trim_end().len();
    start.min(end)..end
}

pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Reads the events of the parser.
struct Reader<'a> {
    source: &'a SourceRef,
    parser: Parser<'a, StrInput<'a>>,
    /// The byte of each character, and the end: the parser counts characters.
    bytes: Vec<u32>,
}

type FrontMatterResult<T> = Result<T, Box<Diagnostic>>;

impl<'a> Reader<'a> {
    fn new(source: &'a SourceRef, range: Range<usize>) -> Self {
        let yaml = &source.text()[range.clone()];
        let starts = yaml.char_indices().map(|(at, _)| offset(range.start + at));
        let bytes = starts.chain([offset(range.end)]).collect();
        Self { source, parser: Parser::new_from_str(yaml), bytes }
    }

    #[allow(clippy::result_large_err)] // once a file
    fn read(mut self) -> Result<Vec<(YamlKey, YamlNode)>, Diagnostic> {
        let read = self.document().map_err(|found| *found)?;
        match read.map(|node| (node.span, node.kind)) {
            None => Ok(Vec::new()),
            Some((_, YamlKind::Map(entries))) => Ok(entries),
            Some((span, _)) => Err(self.wrong(span, "front matter must be keys with values", "write `key: value`")),
        }
    }

    fn document(&mut self) -> FrontMatterResult<Option<YamlNode>> {
        loop {
            match self.next()? {
                (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(None),
                (Event::Nothing | Event::StreamStart | Event::DocumentStart(_), _) => {}
                (event, span) => return self.node(event, span, 0).map(Some),
            }
        }
    }

    fn next(&mut self) -> FrontMatterResult<(Event<'a>, Span)> {
        match self.parser.next_event() {
            None => Ok((Event::StreamEnd, Span::default())),
            Some(Ok((event, span))) => {
                let span = Span::new(self.byte(span.start.index()), self.byte(span.end.index()));
                Ok((event, span))
            }
            Some(Err(error)) => Err(Box::new(self.scan_error(&error))),
        }
    }

    fn byte(&self, index: usize) -> u32 {
        self.bytes.get(index).or(self.bytes.last()).copied().unwrap_or_default()
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> FrontMatterResult<YamlNode> {
        if depth > DEEPEST {
            return Err(Box::new(self.wrong(span, "front matter nested too deeply", "write fewer levels")));
        }
        match event {
            Event::Scalar(text, style, 0, None) => {
                let is_plain = style == ScalarStyle::Plain;
                let start =
                    span.start + u32::from(matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted));
                let rest = self.source.text().get(start as usize..).unwrap_or_default();
                let at = rest.starts_with(text.as_ref()).then_some(start);
                let span = match at {
                    Some(at) if is_plain => Span::new(at, at + offset(text.len())),
                    _ => span,
                };
                Ok(YamlNode { span, kind: YamlKind::Scalar { text: text.into_owned(), is_plain, at } })
            }
            Event::SequenceStart(0, None) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, end) => {
                            let span = items.iter().fold(span, |all: Span, item: &YamlNode| all.to(item.span));
                            let span = if end.end > span.end && span.start < span.end { span } else { span.to(end) };
                            return Ok(YamlNode { span, kind: YamlKind::List(items) });
                        }
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(0, None) => {
                let mut entries: Vec<(YamlKey, YamlNode)> = Vec::new();
                let mut whole = span;
                loop {
                    let (event, at) = self.next()?;
                    if event == Event::MappingEnd {
                        return Ok(YamlNode { span: whole, kind: YamlKind::Map(entries) });
                    }
                    let key = self.node(event, at, depth + 1)?;
                    let YamlKind::Scalar { text, .. } = key.kind else {
                        return Err(Box::new(self.wrong(key.span, "a key is not a name", "write `key: value`")));
                    };
                    let (event, at) = self.next()?;
                    let value = self.node(event, at, depth + 1)?;
                    whole = whole.to(key.span).to(value.span);
                    let key = YamlKey { text, span: key.span };
                    if let Some((first, _)) = entries.iter().find(|(known, _)| known.text == key.text) {
                        let found =
                            self.wrong(key.span, &format!("duplicate key `{}`", key.text), "remove one of them");
                        return Err(Box::new(found.label(self.source, first.span, "first written here")));
                    }
                    entries.push((key, value));
                }
            }
            _ => Err(Box::new(self.unsupported(span))),
        }
    }

    fn unsupported(&self, span: Span) -> Diagnostic {
        self.wrong(span, "anchors, aliases and tags are not supported in front matter", "write the value itself")
    }

    fn wrong(&self, span: Span, message: &str, help: &str) -> Diagnostic {
        Diagnostic::new(ReminderFileCode::Invalid, message).label(self.source, span, "here").help(help)
    }

    fn scan_error(&self, error: &ScanError) -> Diagnostic {
        let at = self.byte(error.marker().index());
        Diagnostic::new(ReminderFileCode::Invalid, "invalid YAML in the front matter")
            .label(self.source, Span::new(at, at), error.info())
            .help("quote a value that contains `: `, ` #`, or begins with a special character, such as `when: '…'`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::source::Source;

    fn entries(text: &str) -> Vec<(String, Data, String)> {
        let source = Source::new("a.md", text);
        let front = split(&source).unwrap_or_else(|found| panic!("{text}: {found:?}"));
        front.entries.iter().map(|(k, v)| (k.text.clone(), v.to_data(), source.slice(v.span).to_owned())).collect()
    }

    #[test]
    fn values_have_their_types_and_places() {
        let text = "---\r\non: post_tool_use\nttl_turns: 3\npreserve_on_compact: true\ntags: [a, \"b\"]\nwhen: 'event.ok'\n\
                    dedupe_key: ~\nexpect:\n  judge: Did it?\n# a comment\n---\n\nÄ body.\n\n";
        let all = entries(text);
        let value = |key: &str| all.iter().find(|(known, ..)| known == key).unwrap();
        assert_eq!(value("on").1.as_str(), Some("post_tool_use"));
        assert_eq!((value("ttl_turns").1.as_int(), value("ttl_turns").2.as_str()), (Some(3), "3"));
        assert_eq!(value("preserve_on_compact").1.as_bool(), Some(true));
        assert_eq!(value("tags").1.to_json(), r#"["a","b"]"#);
        assert_eq!((value("when").1.as_str(), value("when").2.as_str()), (Some("event.ok"), "'event.ok'"));
        assert!(value("dedupe_key").1.is_nil());
        assert_eq!(value("expect").1.to_json(), r#"{"judge":"Did it?"}"#);
        let source = Source::new("a.md", text);
        assert_eq!(&source.text()[split(&source).unwrap().body], "Ä body.");
    }

    #[test]
    fn a_text_that_is_no_front_matter_is_an_error_with_a_place() {
        let deep = format!("---\na: {}1{}\n---\n", "[".repeat(20), "]".repeat(20));
        for (text, message) in [
            ("", "missing front matter"),
            ("# Title\n", "missing front matter"),
            ("---\non: x\n", "missing end of the front matter"),
            ("---\non: x", "missing end of the front matter"),
            ("---\n- a\n---\n", "front matter must be keys with values"),
            ("---\na: 1\na: 2\n---\n", "duplicate key `a`"),
            ("---\na: &x 1\nb: *x\n---\n", "anchors, aliases and tags are not supported in front matter"),
            ("---\na: !!str 1\n---\n", "anchors, aliases and tags are not supported in front matter"),
            ("---\na: \"\n---\n", "invalid YAML in the front matter"),
            ("---\nwhen: a: b\n---\n", "invalid YAML in the front matter"),
            (deep.as_str(), "front matter nested too deeply"),
        ] {
            let source = Source::new("a.md", text);
            let found = split(&source).err().unwrap_or_else(|| panic!("{text:?}"));
            assert_eq!(found.message, message, "{text:?}");
            assert!(found.labels[0].span.end as usize <= text.len(), "{text:?}");
            assert!(!found.help.is_empty(), "{text:?}");
        }
        assert!(entries("---\n---\n").is_empty());
    }
}
