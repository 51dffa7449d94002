//! Fixes: edits of the source that a tool can make.
//!
//! A [`Fix`] belongs to a diagnostic and changes the source of its first label. [`apply`] makes the edits of several fixes at
//! once; what overlaps waits for the next pass.

use crate::source::{SourceRef, Span};

/// The certainty that a fix is what the author meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// The script was invalid, and this is the one thing that was meant; or the script does the same as before.
    Safe,
    /// A guess, or a change of what the script does. Review it.
    Unsafe,
}

impl Applicability {
    /// Returns that of another name for a misspelt one. Two short names are easily similar by chance.
    #[must_use]
    pub fn of_name(written: &str) -> Self {
        if written.chars().count() > 2 { Self::Safe } else { Self::Unsafe }
    }

    /// Returns the word that tools read.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

/// A replacement of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace; empty for an insertion.
    pub span: Span,
    /// The text that replaces them; empty for a removal.
    pub replacement: String,
}

impl Edit {
    /// Replaces the bytes of a span.
    pub fn new(span: Span, replacement: impl Into<String>) -> Self {
        Self { span, replacement: replacement.into() }
    }

    /// Inserts text at a position.
    pub fn insert(at: u32, text: impl Into<String>) -> Self {
        Self::new(Span::new(at, at), text)
    }

    /// Returns whether the two change the same bytes, or insert at the same position.
    fn collides(&self, other: &Self) -> bool {
        self.span.start < other.span.end && other.span.start < self.span.end || self.span.start == other.span.start
    }
}

/// Edits that fix a diagnostic together. They are made all or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Whether the fix can be applied without a review.
    pub applicability: Applicability,
    /// The edits, in the source of the first label of the diagnostic. They do not overlap.
    pub edits: Vec<Edit>,
}

impl Fix {
    fn collides(&self, other: &Self) -> bool {
        self.edits.iter().any(|edit| other.edits.iter().any(|kept| edit.collides(kept)))
    }
}

/// Applies fixes to a text: those that do not overlap with an earlier one of the list. Returns the new text, and the places in
/// the list of the applied fixes.
#[must_use]
pub fn apply(text: &str, fixes: &[&Fix]) -> (String, Vec<usize>) {
    let mut taken: Vec<usize> = Vec::new();
    for (place, fix) in fixes.iter().enumerate() {
        let fits = |edit: &Edit| text.get(edit.span.range()).is_some();
        if fix.edits.iter().all(fits) && taken.iter().all(|kept| !fix.collides(fixes[*kept])) {
            taken.push(place);
        }
    }
    let mut edits: Vec<&Edit> = taken.iter().flat_map(|place| &fixes[*place].edits).collect();
    edits.sort_by_key(|edit| edit.span);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        let Some(between) = text.get(at..edit.span.range().start) else { continue };
        out.push_str(between);
        out.push_str(&edit.replacement);
        at = edit.span.range().end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    (out, taken)
}

/// Returns the edit that gives a key of a dict or pattern another name. `{name}` means the key and the variable, which keeps its
/// name: `{key: name}`.
#[must_use]
pub fn rename_key(text: &str, key: Span, name: &str) -> Edit {
    let written = text.get(key.range()).unwrap_or("");
    let after = text.get(key.range().end..).unwrap_or("").trim_start();
    let shorthand = after.starts_with([',', '}']) && written.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    Edit::new(key, if shorthand { format!("{name}: {written}") } else { name.to_owned() })
}

/// Returns the bytes of the bracket that closes the one at `opener`. `None` if it is not closed, or if a comment is in between,
/// which could contain brackets.
#[must_use]
pub fn closing_bracket(text: &str, opener: u32) -> Option<Span> {
    let mut depth = 0usize;
    scan(text, opener, |at, c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                return (depth == 0).then(|| Span::new(at, at + 1));
            }
            _ => {}
        }
        None
    })
}

/// Calls `visit` for the characters from a position on that are not part of a string, until it returns a value. `None` at a
/// comment, and where a bracket closes that was not opened.
fn scan<R>(text: &str, from: u32, mut visit: impl FnMut(u32, char) -> Option<R>) -> Option<R> {
    let mut chars = text.get(usize::try_from(from).ok()?..)?.char_indices().peekable();
    let mut depth = 0usize;
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => while chars.next_if(|(_, c)| *c != '"').is_some_and(|(_, c)| c != '\\' || chars.next().is_some()) {},
            '/' if chars.peek().is_some_and(|(_, next)| matches!(next, '/' | '*')) => return None,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if c == '"' {
            chars.next();
        }
        if let Some(found) = visit(from + u32::try_from(at).ok()?, c) {
            return Some(found);
        }
    }
    None
}

/// Returns whether a line has a comment outside of its strings.
#[must_use]
pub fn has_comment(line: &str) -> bool {
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => _ = chars.next(),
            '"' => quoted = !quoted,
            '/' if !quoted && matches!(chars.peek(), Some('/' | '*')) => return true,
            _ => {}
        }
    }
    false
}

/// Returns the braces of a literal, which can be in parentheses. In Rhai they begin with `#{`.
#[must_use]
pub fn braces_of(text: &str, literal: Span) -> Option<Span> {
    let mut inside = text.get(literal.range())?;
    let mut start = literal.start;
    while let Some(inner) = inside.strip_prefix('(') {
        let trimmed = inner.trim_start();
        start += u32::try_from(inside.len() - trimmed.len()).ok()?;
        inside = trimmed.strip_suffix(')')?.trim_end();
    }
    if let Some(braces) = inside.strip_prefix('#') {
        inside = braces;
        start += 1;
    }
    let end = start + u32::try_from(inside.len()).ok()?;
    (inside.starts_with('{') && inside.ends_with('}')).then(|| Span::new(start, end))
}

/// Returns the elements of a list in brackets, without the commas and blanks around them.
#[must_use]
pub fn elements(text: &str, brackets: Span) -> Option<Vec<&str>> {
    let inside = text.get(brackets.range())?.get(1..)?.strip_suffix([')', ']', '}'])?;
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let last = scan(&format!("{inside},\n"), 0, |at, c| {
        let at = usize::try_from(at).ok()?;
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if inside[..at].ends_with('-') => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
        (c == '\n' && at > inside.len()).then_some(())
    });
    last?;
    Some(found.into_iter().filter_map(|part| inside.get(part)).map(str::trim).filter(|part| !part.is_empty()).collect())
}

/// Returns the parameters of a function, in their parentheses, from the span of its name.
#[must_use]
pub fn parameters_of(text: &str, name: Span) -> Option<Span> {
    let after = text.get(name.range().end..)?;
    // Type parameters contain no parentheses.
    let opener = name.end + u32::try_from(after.find('(')?).ok()?;
    let close = closing_bracket(text, opener)?;
    Some(Span::new(opener, close.end))
}

/// Returns the edit that gives a function the parameters that it must have. It keeps the names of its own.
#[must_use]
pub fn with_parameters(own: (&SourceRef, Span), wanted: (&SourceRef, Span)) -> Option<Vec<Edit>> {
    let place = parameters_of(own.0.text(), own.1)?;
    let mut own = elements(own.0.text(), place)?;
    let wanted = elements(wanted.0.text(), parameters_of(wanted.0.text(), wanted.1)?)?;
    let takes_self = |params: &[&str]| params.first() == Some(&"self");
    match (takes_self(&own), takes_self(&wanted)) {
        (true, false) => _ = own.remove(0),
        (false, true) => own.insert(0, "self"),
        _ => {}
    }
    let is_required = |param: &str| !param.contains('=') && !param.starts_with("...");
    let merged: Vec<&str> = wanted
        .iter()
        .enumerate()
        .map(|(at, wanted)| match own.get(at) {
            Some(own) if is_required(own) == is_required(wanted) => *own,
            _ => *wanted,
        })
        .collect();
    Some(vec![Edit::new(place, format!("({})", merged.join(", ")))])
}

/// Returns the edit that adds an entry after the last one in brackets, on a line of its own if the others are. `None` if a comment
/// follows the last entry.
#[must_use]
pub fn added_element(text: &str, brackets: Span, entry: &str) -> Option<Edit> {
    let inside = text.get(brackets.range())?.get(1..)?.strip_suffix([')', ']', '}'])?;
    let entries = inside.trim_end();
    let last_line = entries.rsplit('\n').next().unwrap_or("");
    if has_comment(last_line) || entries.ends_with("*/") {
        return None;
    }
    let end = brackets.start + 1 + u32::try_from(entries.len()).ok()?;
    let indent = &last_line[..last_line.len() - last_line.trim_start().len()];
    let on_lines = inside[entries.len()..].contains('\n') && entries.contains('\n');
    let comma = if entries.is_empty() || entries.ends_with(',') { "" } else { "," };
    Some(Edit::insert(
        end,
        match (on_lines, entries.is_empty()) {
            (true, _) => format!("{comma}\n{indent}{entry},"),
            (false, true) => entry.to_owned(),
            (false, false) => format!("{comma} {entry}"),
        },
    ))
}

/// Returns the edit that removes an element of a list, with the comma before it, or after it if it is the first.
#[must_use]
pub fn removed_element(text: &str, element: Span) -> Edit {
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (before, after) = (&text[..element.range().start], &text[element.range().end..]);
    let kept = before.trim_end();
    if let Some(kept) = kept.strip_suffix(',') {
        return Edit::new(Span::new(offset(kept.len()), element.end), "");
    }
    match after.trim_start().strip_prefix(',') {
        Some(rest) if kept.ends_with(['(', '[', '{']) => {
            Edit::new(Span::new(element.start, offset(text.len() - rest.trim_start().len())), "")
        }
        // The elements are on lines without commas, or this is the only one.
        _ if kept.ends_with(['(', '[', '{']) => Edit::new(element, ""),
        _ => Edit::new(Span::new(offset(kept.len()), element.end), ""),
    }
}

/// Returns the edit that adds text after the last line in braces, indented like it, or before the brace that ends them.
/// `separator` divides it from what is on the same line.
#[must_use]
pub fn added_line(text: &str, braces: Span, separator: &str, line: &str) -> Option<Edit> {
    let inside = text.get(braces.range())?.strip_prefix('{')?.strip_suffix('}')?;
    let body = inside.trim_end();
    let last_line = body.rsplit('\n').next().unwrap_or("");
    if inside[body.len()..].contains('\n') && body.contains('\n') {
        let indent = &last_line[..last_line.len() - last_line.trim_start().len()];
        let end = braces.start + 1 + u32::try_from(body.len()).ok()?;
        return Some(Edit::insert(end, format!("\n{indent}{line}")));
    }
    if has_comment(last_line) {
        return None;
    }
    let inner = Span::new(braces.start + 1, braces.end - 1);
    Some(match body.trim() {
        "" => Edit::new(inner, format!(" {line} ")),
        body => Edit::new(inner, format!(" {body}{separator} {line} ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix(edits: &[(u32, u32, &str)]) -> Fix {
        let edits = edits.iter().map(|(start, end, text)| Edit::new(Span::new(*start, *end), *text)).collect();
        Fix { applicability: Applicability::Safe, edits }
    }

    #[test]
    fn edits_of_one_pass_do_not_overlap() {
        let (first, second) = (fix(&[(0, 1, "A"), (4, 4, "!")]), fix(&[(2, 3, "C")]));
        assert_eq!(apply("abcd", &[&first, &second]), ("AbCd!".to_owned(), vec![0, 1]));
        let over = fix(&[(0, 2, "x")]);
        assert_eq!(apply("abcd", &[&first, &over]), ("Abcd!".to_owned(), vec![0]));
        let same_place = fix(&[(4, 4, "?")]);
        assert_eq!(apply("abcd", &[&first, &same_place]), ("Abcd!".to_owned(), vec![0]));
    }

    #[test]
    fn an_edit_that_does_not_fit_the_text_is_not_made() {
        for edits in [&[(3, 9, "x")][..], &[(1, 2, "x")], &[(0, 2, "x"), (90, 90, "")]] {
            assert_eq!(apply("é?", &[&fix(edits)]), ("é?".to_owned(), vec![]), "{edits:?}");
        }
    }

    #[test]
    fn a_key_that_is_also_a_variable_keeps_the_variable() {
        assert_eq!(rename_key("{a: 1}", Span::new(1, 2), "b").replacement, "b");
        assert_eq!(rename_key("{a, c}", Span::new(1, 2), "b").replacement, "b: a");
        assert_eq!(rename_key("{\"a\": 1}", Span::new(1, 4), "b").replacement, "b");
    }

    fn edited(text: &str, edits: &[Edit]) -> String {
        let fix = Fix { applicability: Applicability::Unsafe, edits: edits.to_vec() };
        apply(text, &[&fix]).0
    }

    fn all(text: &str) -> Span {
        Span::new(0, u32::try_from(text.len()).unwrap_or(0))
    }

    #[test]
    fn elements_are_added_on_the_line_that_the_others_have() {
        for (text, expected) in [
            ("{}", "{b: 2}"),
            ("{a: 1}", "{a: 1, b: 2}"),
            ("{a: 1, }", "{a: 1, b: 2 }"),
            ("{\n  a: 1,\n}", "{\n  a: 1,\n  b: 2,\n}"),
            ("{\n  a: \"http://x\"\n}", "{\n  a: \"http://x\",\n  b: 2,\n}"),
        ] {
            let edit = added_element(text, all(text), "b: 2");
            assert_eq!(edit.map(|edit| edited(text, &[edit])).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(added_element("{\n  a: 1 // one\n}", all("{\n  a: 1 // one\n}"), "b: 2"), None);
    }

    #[test]
    fn elements_are_removed_with_one_comma() {
        for (text, element, expected) in [
            ("{a, b, c}", "b", "{a, c}"),
            ("{a, b}", "a", "{b}"),
            ("{a}", "a", "{}"),
            ("{\n  x: int\n  b: int\n}", "b: int", "{\n  x: int\n}"),
        ] {
            let start = text.find(element).and_then(|at| u32::try_from(at).ok()).unwrap_or(0);
            let end = start + u32::try_from(element.len()).unwrap_or(0);
            assert_eq!(edited(text, &[removed_element(text, Span::new(start, end))]), expected, "{text}");
        }
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let text = "f(\")\", [1, (2)], {a: \"\\\")\"}) + g()";
        assert_eq!(closing_bracket(text, 1).map(|close| close.start), Some(27));
        assert_eq!(elements(text, Span::new(1, 28)).unwrap_or_default(), ["\")\"", "[1, (2)]", "{a: \"\\\")\"}"]);
        assert_eq!(closing_bracket("(a // )\n)", 0), None);
        assert_eq!(closing_bracket("(a", 0), None);
        let types = "(a: dict<string, int>, f: fn(int) -> bool, ...rest)";
        let expected = ["a: dict<string, int>", "f: fn(int) -> bool", "...rest"];
        assert_eq!(elements(types, all(types)).unwrap_or_default(), expected);
    }

    #[test]
    fn braces_of_a_literal_are_found_in_parentheses_and_in_rhai() {
        for (text, braces) in [("{a}", (0, 3)), ("( ({a}) )", (3, 6)), ("#{a}", (1, 4))] {
            assert_eq!(braces_of(text, all(text)), Some(Span::new(braces.0, braces.1)), "{text}");
        }
        assert_eq!(braces_of("name", all("name")), None);
    }

    #[test]
    fn a_line_is_added_before_the_closing_brace() {
        for (text, expected) in
            [("{}", "{ return }"), ("{ a() }", "{ a(); return }"), ("{\n  a()\n}", "{\n  a()\n  return\n}")]
        {
            let edit = added_line(text, all(text), ";", "return");
            assert_eq!(edit.map(|edit| edited(text, &[edit])).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn parameters_become_those_of_another_function() {
        let merged = |own: &str, wanted: &str| {
            let [own, wanted] = [own, wanted].map(|text| crate::source::Source::new("test", text));
            let name = Span::new(0, 1);
            with_parameters((&own, name), (&wanted, name)).map(|edits| edited(own.text(), &edits)).unwrap_or_default()
        };
        assert_eq!(merged("f(a) {}", "f(self, x, y: int = 1)"), "f(self, a, y: int = 1) {}");
        assert_eq!(merged("f(self, a, b) {}", "f(x)"), "f(a) {}");
        assert_eq!(merged("f<T>(a: T) {}", "f(x, ...rest)"), "f<T>(a: T, ...rest) {}");
        assert_eq!(merged("f(a, b) {}", "f(x, y = 2)"), "f(a, y = 2) {}");
    }
}
