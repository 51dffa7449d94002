//! YAML 1.2, and the front matter of Markdown files.

use super::{plain::plain, toml};
use lang::builtins::{args, json_text};
use lang::value::{Dict, Str, Value, display};
use lang::vm::{Cx, Meter, Raise, RunCode, Stopped};
use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};
use std::borrow::Cow;
use std::collections::BTreeMap;

lang::builtins! { "" =>
    /// Parses a YAML document by the core schema of YAML 1.2, in which `yes` and `no` are strings. Keys are strings. An alias is the
    /// value of its anchor, and `<<` merges dicts.
    ///
    /// ```harn
    /// yaml_parse("name: demo\non: [push, 3, true]\nbuild:\n  env: ~\n") // => {build: {env: nil}, name: "demo", on: ["push", 3, true]}
    /// yaml_parse("a: [1") // => error: cannot parse YAML: line
    /// ```
    plain "yaml_parse(text: string) -> any" yaml_parse;
    /// Parses all documents of a YAML text.
    ///
    /// ```harn
    /// yaml_parse_all("a: 1\n---\nb: 2\n") // => [{a: 1}, {b: 2}]
    /// ```
    plain "yaml_parse_all(text: string) -> list" yaml_parse_all;
    /// Writes a value as YAML.
    ///
    /// ```harn
    /// yaml_stringify({name: "demo", on: ["push", "3"]}) // => "name: demo\non:\n  - push\n  - \"3\"\n"
    /// ```
    plain "yaml_stringify(value: any) -> string" yaml_stringify;
    /// Splits the front matter from a text: `{data, body}`. Between two lines `---` it is YAML, between two lines `+++` it is TOML.
    /// Without front matter the data is an empty dict.
    ///
    /// ```harn
    /// front_matter("---\ntitle: Hello\n---\nText.\n") // => {body: "Text.\n", data: {title: "Hello"}}
    /// front_matter("Text.") // => {body: "Text.", data: {}}
    /// ```
    plain "front_matter(text: string) -> {data: dict, body: string}" front_matter;
}

/// Levels of nesting that are read.
const DEEPEST: usize = 100;

/// Reads the events of the parser.
struct YamlReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// Values with an anchor, by its number. An alias shares them, so that many of them take no memory.
    anchors: BTreeMap<usize, Value>,
    meter: Meter,
    /// The line of the last event.
    line: usize,
}

impl<'a> YamlReader<'a> {
    fn new(text: &'a str) -> Self {
        Self { parser: Parser::new_from_str(text), anchors: BTreeMap::new(), meter: Meter::start(), line: 0 }
    }

    fn wrong(&self, why: &str) -> Box<Raise> {
        let message = format!("cannot parse YAML: line {}: {why}", self.line);
        Raise::error(RunCode::Value, message).about(0, "invalid YAML")
    }

    fn next(&mut self) -> Result<Event<'a>, Box<Raise>> {
        self.meter.step().map_err(Stopped::raise)?;
        match self.parser.next_event() {
            None => Ok(Event::StreamEnd),
            Some(Ok((event, span))) => {
                self.line = span.start.line();
                Ok(event)
            }
            Some(Err(error)) => {
                self.line = error.marker().line();
                Err(self
                    .wrong(error.info())
                    .help("quote values that contain `: ` or ` #`, or begin with a special character"))
            }
        }
    }

    fn documents(mut self) -> Result<Vec<Value>, Box<Raise>> {
        let mut documents = Vec::new();
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(documents),
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
                event => documents.push(self.node(event, 0)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Value, Box<Raise>> {
        if depth > DEEPEST {
            return Err(self.wrong(&format!("more than {DEEPEST} levels of nesting")));
        }
        let (value, anchor) = match event {
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned();
                return value.ok_or_else(|| self.wrong("an alias within the value of its anchor"));
            }
            Event::Scalar(text, style, anchor, tag) => (self.scalar(&text, style, tag.as_deref())?, anchor),
            Event::SequenceStart(anchor, tag) => {
                self.only_core(tag.as_deref())?;
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
                (Value::list(items), anchor)
            }
            Event::MappingStart(anchor, tag) => {
                self.only_core(tag.as_deref())?;
                (self.entries(depth)?, anchor)
            }
            _ => return Err(self.wrong("unexpected end")),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn entries(&mut self, depth: usize) -> Result<Value, Box<Raise>> {
        let (mut dict, mut merged) = (Dict::new(), Vec::new());
        loop {
            let event = self.next()?;
            let is_merge = matches!(&event, Event::Scalar(text, ScalarStyle::Plain, ..) if text == "<<");
            let key = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, ..) => Str::new(&text),
                _ => return Err(self.wrong("a key is not a scalar")),
            };
            let event = self.next()?;
            let value = self.node(event, depth + 1)?;
            match value {
                Value::Dict(entries) if is_merge => merged.push(entries),
                Value::List(several) if is_merge => {
                    for one in &several.items {
                        let Value::Dict(entries) = one else { return Err(self.wrong("`<<` merges dicts only")) };
                        merged.push(entries.clone());
                    }
                }
                _ if is_merge => return Err(self.wrong("`<<` merges dicts only")),
                value => {
                    if dict.contains(&key) {
                        return Err(self.wrong(&format!("duplicate key `{}`", short(&key))));
                    }
                    dict.insert(key, value);
                }
            }
        }
        // Own keys count, then those of the first dict.
        for entries in merged {
            for (key, value) in entries.dict.iter() {
                self.meter.step().map_err(Stopped::raise)?;
                if !dict.contains(key) {
                    dict.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(Value::dict(dict))
    }

    fn only_core(&self, tag: Option<&Tag>) -> Result<(), Box<Raise>> {
        match tag {
            Some(tag) if !tag.is_yaml_core_schema() => Err(self.wrong(&format!("unknown tag `{tag}`"))),
            _ => Ok(()),
        }
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, Box<Raise>> {
        self.only_core(tag)?;
        let wanted = tag.map(|tag| tag.suffix.as_str());
        let value = match wanted {
            Some("str") => return Ok(Value::str(text)),
            None if style != ScalarStyle::Plain => return Ok(Value::str(text)),
            _ => plain_scalar(text),
        };
        let fits = match (wanted, &value) {
            (Some("float"), Value::Int(int)) => return Ok(Value::Float(*int as f64)),
            (None, _)
            | (Some("int"), Value::Int(_))
            | (Some("float"), Value::Float(_))
            | (Some("bool"), Value::Bool(_))
            | (Some("null"), Value::Nil) => true,
            _ => false,
        };
        if fits { Ok(value) } else { Err(self.wrong(&format!("`{}` is not of its tag", short(text)))) }
    }
}

fn short(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(at, _)| &text[..at])
}

/// Reads a plain scalar by the core schema.
fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Nil,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let radix = |prefix, radix| text.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, radix).ok());
    if let Some(int) = radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| text.parse().ok()) {
        return Value::Int(int);
    }
    let is_number = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse::<f64>() {
        Ok(float) if is_number => Value::Float(float),
        _ => Value::str(text),
    }
}

pub(super) fn documents(cx: &Cx<'_>, text: &str) -> Result<Vec<Value>, Box<Raise>> {
    // Values are larger than their texts.
    cx.check_room(text.len().saturating_mul(8))?;
    cx.charge(text.len(), 4);
    YamlReader::new(text).documents()
}

fn yaml_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut documents = documents(cx, args::str(args, 0)?)?;
    if documents.len() > 1 {
        let message = format!("expected one YAML document, found {}", documents.len());
        return Err(Raise::error(RunCode::Value, message).about(0, "").help("use `yaml_parse_all(text)`"));
    }
    Ok(documents.pop().unwrap_or_default())
}

fn yaml_parse_all(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    documents(cx, args::str(args, 0)?).map(Value::list)
}

fn yaml_stringify(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let value = plain(cx, &args[0], 0)?;
    let mut writer = YamlWriter { cx, out: String::new() };
    match &value {
        Value::Dict(_) | Value::List(_) => writer.block(&value, 0)?,
        _ => writer.line(&value, 0)?,
    }
    let text = writer.out;
    cx.charge(text.len(), 4);
    cx.check_size(Some(text.len()))?;
    Ok(Value::from(text))
}

/// Writes block style.
struct YamlWriter<'c, 'a> {
    cx: &'c Cx<'a>,
    out: String,
}

impl YamlWriter<'_, '_> {
    /// Writes a dict or list that is not empty, from the start of a line on.
    fn block(&mut self, value: &Value, indent: usize) -> Result<(), Box<Raise>> {
        match value {
            Value::Dict(entries) if !entries.dict.is_empty() => {
                for (i, (key, value)) in entries.dict.iter().enumerate() {
                    // The first entry of an element follows its hyphen.
                    if i > 0 || !self.out.ends_with("- ") {
                        self.indent(indent)?;
                    }
                    let key = quoted(key, true)?;
                    self.out.push_str(&key);
                    self.out.push(':');
                    if is_block(value) {
                        self.out.push('\n');
                        self.block(value, indent + 1)?;
                    } else {
                        self.out.push(' ');
                        self.line(value, indent + 1)?;
                    }
                }
            }
            Value::List(items) if !items.items.is_empty() => {
                for (i, item) in items.items.iter().enumerate() {
                    if i > 0 || !self.out.ends_with("- ") {
                        self.indent(indent)?;
                    }
                    self.out.push_str("- ");
                    if is_block(item) { self.block(item, indent + 1)? } else { self.line(item, indent + 1)? }
                }
            }
            other => self.line(other, indent)?,
        }
        Ok(())
    }

    fn indent(&mut self, indent: usize) -> Result<(), Box<Raise>> {
        self.cx.check_size(self.out.len().checked_add(2 * indent))?;
        self.out.extend(std::iter::repeat_n("  ", indent));
        Ok(())
    }

    /// Writes a scalar or an empty collection, and the line break.
    fn line(&mut self, value: &Value, indent: usize) -> Result<(), Box<Raise>> {
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::Float(float) if float.is_nan() => self.out.push_str(".nan"),
            Value::Float(float) if float.is_infinite() => {
                self.out.push_str(if *float > 0.0 { ".inf" } else { "-.inf" });
            }
            Value::Str(text) => match literal(text) {
                Some(mark) => {
                    self.out.push_str(mark);
                    for line in text.lines() {
                        self.out.push('\n');
                        if !line.is_empty() {
                            self.indent(indent.max(1))?;
                            self.out.push_str(line);
                        }
                    }
                }
                None => self.out.push_str(&quoted(text, false)?),
            },
            Value::Dict(_) => self.out.push_str("{}"),
            Value::List(_) => self.out.push_str("[]"),
            other => self.out.push_str(&display(other)),
        }
        self.out.push('\n');
        Ok(())
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Dict(entries) => !entries.dict.is_empty(),
        Value::List(items) => !items.items.is_empty(),
        _ => false,
    }
}

/// Returns the mark of a literal block for text of several lines, if it can be one.
fn literal(text: &str) -> Option<&'static str> {
    let is_plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
    let fits = text.contains('\n') && !text.starts_with([' ', '\t', '\n']) && text.chars().all(is_plain);
    match fits {
        true if text.ends_with("\n\n") => None,
        true => Some(if text.ends_with('\n') { "|" } else { "|-" }),
        false => None,
    }
}

/// Writes a text as it is, or in quotes where it would be something else.
fn quoted(text: &str, is_key: bool) -> Result<Cow<'_, str>, Box<Raise>> {
    /// A longer text is quoted without a look at it.
    const LONGEST_PLAIN: usize = 1 << 10;
    if text.len() > LONGEST_PLAIN {
        return json_text(&Value::str(text)).map(Cow::Owned);
    }
    let starts = text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '.' | '('));
    let special =
        text.contains([':', '#', '\n', '\t']) && (text.contains(": ") || text.contains(" #") || text.ends_with(':'));
    let is_text = matches!(plain_scalar(text), Value::Str(_));
    let control = text.chars().any(char::is_control);
    // YAML 1.1 reads these as bools.
    let is_old_bool = ["yes", "no", "on", "off", "y", "n"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_date = text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(['-', ':']);
    let is_other = special || control || is_date || text.ends_with(' ') || (is_old_bool && !is_key);
    if starts && is_text && !is_other {
        return Ok(Cow::Borrowed(text));
    }
    json_text(&Value::str(text)).map(Cow::Owned)
}

fn front_matter(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    cx.check_copy(text.len())?;
    let (data, body) = front_matter_of(cx, text)?;
    Ok(Value::record([("data", data), ("body", Value::str(body))]))
}

/// Returns the data at the top of a text, and what follows it.
pub(crate) fn front_matter_of<'t>(cx: &Cx<'_>, text: &'t str) -> Result<(Value, &'t str), Box<Raise>> {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok(match split(rest) {
        None => (Value::dict(Dict::new()), rest),
        Some(("---", data, body)) => match documents(cx, data)?.pop().unwrap_or_default() {
            Value::Nil => (Value::dict(Dict::new()), body),
            data @ Value::Dict(_) => (data, body),
            _ => return Err(Raise::error(RunCode::Value, "front matter must be keys with values").about(0, "")),
        },
        Some((_, data, body)) => (toml::parse(cx, data)?, body),
    })
}

/// Returns the fence of the front matter, the front matter, and what follows it.
fn split(text: &str) -> Option<(&str, &str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    let fence = first.trim_end();
    if !matches!(fence, "---" | "+++") {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == fence {
            return Some((fence, &rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::builtins::parse_json;
    use lang::value::inspect;

    /// Texts that are read back as they were written.
    #[test]
    fn what_is_written_is_read_back() {
        for json in [
            r##"{"a": [], "b": {}, "c": null, "d": [1, 2.5, true, "true", "1", "", " x", "a: b", "a #b", "-", "- x", "#", "yes"]}"##,
            r#"[[1, [2]], {"k": [{"x": 1, "y": {"z": "w"}}]}, "line\nline\n", "line\nline", "a\n\n", "\n", "tab\there", "2025-01-31"]"#,
            r#"{"key with: colon": 1, "true": 2, "12": 3, "": 4, "é": "ü\u0007", "on": "*x", "q": "\"", "p": "%", "b": "{x}"}"#,
            r#""text""#,
            "12",
        ] {
            let value = parse_json(json).unwrap();
            let isolate = lang::vm::Isolate::new(
                crate::table::registry(),
                std::rc::Rc::new(lang::vm::NoHost),
                lang::vm::Limits::default(),
                Vec::new(),
            );
            let cx = Cx { isolate: &isolate, context: &std::rc::Rc::default() };
            let mut writer = YamlWriter { cx: &cx, out: String::new() };
            writer.block(&value, 0).unwrap();
            let text = writer.out;
            let read = YamlReader::new(&text).documents().unwrap_or_else(|raise| panic!("{text}\n{}", raise.message));
            assert_eq!(inspect(&read[0]), inspect(&value), "{text}");
        }
    }

    #[test]
    fn aliases_are_shared_and_merged() {
        let text = "a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: *x\n  q: 3\n";
        let read = YamlReader::new(text).documents().unwrap();
        assert_eq!(inspect(&read[0]), "{a: {p: 1, q: 2}, b: {p: 1, q: 2}, c: {p: 1, q: 3}}");
    }

    #[test]
    fn invalid_texts_name_their_line() {
        for (text, line) in
            [("a: 1\na: 2\n", 2), ("a: !x 1\n", 1), ("? [1]\n: 2\n", 1), ("a: 1\nb: <<: 2\n", 2), ("x: !!int y\n", 1)]
        {
            let Err(raise) = YamlReader::new(text).documents() else { panic!("{text}") };
            assert!(raise.message.starts_with(&format!("cannot parse YAML: line {line}: ")), "{}", raise.message);
        }
    }
}
