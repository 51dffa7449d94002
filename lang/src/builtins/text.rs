//! Methods of strings that lay out text or take it apart: padding, cases, lines, words.

use super::args;
use super::items::{self, collect};
use super::string::lines;
use crate::value::{Str, Value};
use crate::vm::{Cx, Meter, Raise, RunCode, Stopped};

crate::builtins! { "<string>" =>
    /// Fills the string up to `width` characters: at its right, its left, or on both sides.
    ///
    /// ```harn
    /// "ab".pad(5, ".") // => "ab..."
    /// "ab".pad(6, "*", "both") // => "**ab**"
    /// ```
    plain "pad(self: string, width: int, fill: string = \" \", side: \"left\" | \"right\" | \"both\" = \"right\") -> string" [pure] pad;
    /// Cuts the string to `length` characters. A string that is cut ends in `end`, which counts.
    ///
    /// ```harn
    /// "a long sentence".truncate(7) // => "a long…"
    /// "a long sentence".truncate(9, "...") // => "a long..."
    /// "short".truncate(7) // => "short"
    /// ```
    plain "truncate(self: string, length: int, end: string = \"…\") -> string" [pure] truncate;
    /// Returns the string with a capital letter at its start and small ones after it.
    ///
    /// ```harn
    /// "hELLO world".capitalize() // => "Hello world"
    /// ```
    plain "capitalize(self: string) -> string" [pure] capitalize;
    /// Returns the string with a capital letter at the start of each word and small ones after it.
    ///
    /// ```harn
    /// "the QUICK brown-fox isn't".title_case() // => "The Quick Brown-Fox Isn't"
    /// ```
    plain "title_case(self: string) -> string" [pure] title_case;
    /// Removes the white space that all lines begin with, and an empty first and last line.
    ///
    /// ```harn
    /// "\n    a\n      b\n  ".dedent() // => "a\n  b"
    /// ```
    plain "dedent(self: string) -> string" [pure] dedent;
    /// Puts the prefix before each line that is not empty.
    ///
    /// ```harn
    /// "a\n\nb".indent("> ") // => "> a\n\n> b"
    /// ```
    plain "indent(self: string, prefix: string = \"  \") -> string" [pure] indent;
    /// Breaks lines that are longer than `width` characters between words. A longer word has a line of its own.
    ///
    /// ```harn
    /// "one two three".wrap(8) // => "one two\nthree"
    /// ```
    plain "wrap(self: string, width: int = 80) -> string" [pure] wrap;
    /// Splits the string at the first separator. Returns the parts as a pair, or nil if the separator is missing.
    ///
    /// ```harn
    /// let (key, value) = "a=b=c".split_once("=")
    /// [key, value] // => ["a", "b=c"]
    /// "none".split_once("=") // => nil
    /// ```
    plain "split_once(self: string, separator: string) -> pair<string, string> | nil" [pure] split_once;
    /// Returns the words between white space.
    ///
    /// ```harn
    /// " one  two ".words() // => ["one", "two"]
    /// ```
    plain "words(self: string) -> list<string>" [pure] words;
    /// Returns the string without the text at its start, if it begins with it.
    ///
    /// ```harn
    /// "v1.2".remove_prefix("v") // => "1.2"
    /// ```
    plain "remove_prefix(self: string, prefix: string) -> string" [pure] remove_prefix;
    /// Returns the string without the text at its end, if it ends with it.
    ///
    /// ```harn
    /// "notes.md".remove_suffix(".md") // => "notes"
    /// ```
    plain "remove_suffix(self: string, suffix: string) -> string" [pure] remove_suffix;
    /// Returns the number of characters to insert, remove or replace to get the other string.
    ///
    /// ```harn
    /// "kitten".levenshtein("sitting") // => 3
    /// ```
    plain "levenshtein(self: string, other: string) -> int" [pure] levenshtein;
}

/// Builds a text from parts, whose size is checked before each is copied.
struct TextBuilder<'c, 'a> {
    cx: &'c Cx<'a>,
    text: Str,
}

impl<'c, 'a> TextBuilder<'c, 'a> {
    fn new(cx: &'c Cx<'a>) -> Self {
        Self { cx, text: Str::new("") }
    }

    fn push(&mut self, part: &str) -> Result<(), Box<Raise>> {
        if self.text.len() + part.len() >= Meter::TEXT_STEP {
            self.cx.check_size(self.text.len().checked_add(part.len()))?;
        }
        self.text.push_str(part);
        Ok(())
    }

    fn finish(self) -> Value {
        self.cx.charge_part(self.text.len(), 8);
        Value::Str(self.text)
    }
}

fn pad(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    let width = args::count(args, 1)?;
    let fill = args::opt_str(args, 2)?.map_or(" ", |fill| fill.as_str());
    let missing = width.saturating_sub(text.char_count());
    if missing > 0 && fill.is_empty() {
        return Err(Raise::error(RunCode::Value, "cannot pad with an empty string").about(2, "empty"));
    }
    let (left, right) = match args::opt_str(args, 3)?.map_or("right", |side| side.as_str()) {
        "right" => (0, missing),
        "left" => (missing, 0),
        "both" => (missing / 2, missing - missing / 2),
        other => {
            let message = format!("expected `left`, `right` or `both`, found {}", items::shown(&Value::str(other)));
            return Err(Raise::error(RunCode::Value, message).about(3, "unknown side"));
        }
    };
    let size = missing.checked_mul(fill.len()).and_then(|n| n.checked_add(text.len()));
    cx.check_size(size).map_err(|raise| raise.about(1, "too wide"))?;
    cx.charge(missing, 1);
    let filling = |count: usize| fill.chars().cycle().take(count);
    let mut out = String::with_capacity(size.unwrap_or_default());
    out.extend(filling(left));
    out.push_str(text);
    out.extend(filling(right));
    Ok(Value::from(out))
}

fn truncate(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    let length = args::count(args, 1)?;
    let end = args::opt_str(args, 2)?.map_or("…", |end| end.as_str());
    cx.charge_part(text.len(), 16);
    if text.char_count() <= length {
        return Ok(Value::Str(text.clone()));
    }
    let of = |text: &str, count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    let kept = length.saturating_sub(end.chars().count());
    let (kept, end) = (&text[..of(text, kept)], &end[..of(end, length)]);
    cx.check_copy(kept.len() + end.len())?;
    let mut out = Str::new(kept.trim_end());
    out.push_str(end);
    Ok(Value::Str(out))
}

/// Writes a word with a capital letter at its start.
fn push_capitalized(word: &str, out: &mut String) {
    let mut chars = word.chars();
    if let Some(first) = chars.next() {
        out.extend(first.to_uppercase());
    }
    out.extend(chars.flat_map(char::to_lowercase));
}

/// Makes a text of another one, which becomes at most three times as long by a change of case.
fn recased(cx: &Cx<'_>, args: &[Value], write: impl FnOnce(&str, &mut String)) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 2);
    cx.check_copy(text.len())?;
    let mut out = String::with_capacity(text.len());
    write(text, &mut out);
    Ok(Value::from(out))
}

fn capitalize(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    recased(cx, args, push_capitalized)
}

fn title_case(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    recased(cx, args, |text, out| {
        // An apostrophe is a part of its word.
        for part in text.split_inclusive(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))) {
            push_capitalized(part, out);
        }
    })
}

fn dedent(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 2);
    let is_blank = |line: &str| line.trim().is_empty();
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = text.lines().filter(|line| !is_blank(line)).map(indent).min().unwrap_or(0);
    let text = match text.split_once('\n') {
        Some((first, rest)) if is_blank(first) => rest,
        _ => text,
    };
    let text = match text.rsplit_once('\n') {
        Some((rest, last)) if is_blank(last) => rest,
        _ => text,
    };
    let mut out = TextBuilder::new(cx);
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.push("\n")?;
        }
        out.push(if is_blank(line) { "" } else { line.get(common..).unwrap_or(line) })?;
    }
    Ok(out.finish())
}

fn indent(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    let prefix = args::opt_str(args, 1)?.map_or("  ", |prefix| prefix.as_str());
    cx.charge_part(text.len(), 2);
    let mut out = TextBuilder::new(cx);
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            out.push(prefix)?;
        }
        out.push(line)?;
    }
    Ok(out.finish())
}

fn wrap(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    let width = if args[1].is_nil() { 80 } else { items::size(args, 1, "the width")? };
    cx.charge_part(text.len(), 1);
    let mut out = TextBuilder::new(cx);
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.push("\n")?;
        }
        let mut column = 0;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if column > 0 {
                let fits = column + 1 + length <= width;
                out.push(if fits { " " } else { "\n" })?;
                column = if fits { column + 1 } else { 0 };
            } else {
                // A list or a quotation keeps its place.
                let start = &line[..line.len() - line.trim_start().len()];
                out.push(start)?;
                column = start.chars().count();
            }
            out.push(word)?;
            column += length;
        }
    }
    Ok(out.finish())
}

fn split_once(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (text, separator) = (args::str(args, 0)?, args::str(args, 1)?);
    cx.charge_part(text.len(), 8);
    cx.check_copy(text.len())?;
    let parts = text.split_once(separator.as_str());
    Ok(parts.map_or(Value::Nil, |(before, after)| Value::pair(Value::str(before), Value::str(after))))
}

pub(super) fn words(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 4);
    collect(cx, text.split_whitespace().map(Value::str))
}

fn remove_prefix(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (text, prefix) = (args::str(args, 0)?, args::str(args, 1)?);
    rest(cx, text, text.strip_prefix(prefix.as_str()))
}

fn remove_suffix(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (text, suffix) = (args::str(args, 0)?, args::str(args, 1)?);
    rest(cx, text, text.strip_suffix(suffix.as_str()))
}

fn rest(cx: &Cx<'_>, text: &Str, rest: Option<&str>) -> Result<Value, Box<Raise>> {
    cx.charge_part(text.len(), 16);
    let Some(rest) = rest else { return Ok(Value::Str(text.clone())) };
    cx.check_copy(rest.len())?;
    Ok(Value::str(rest))
}

pub(super) fn levenshtein(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (a, b) = (args::str(args, 0)?, args::str(args, 1)?);
    if a.as_str() == b.as_str() {
        return Ok(Value::Int(0));
    }
    let (short, long) = if a.char_count() < b.char_count() { (a, b) } else { (b, a) };
    // The characters of the shorter text, and a row of distances.
    cx.check_size(short.char_count().checked_mul(size_of::<char>() + size_of::<usize>()))?;
    cx.charge(short.len(), 1);
    let short: Vec<char> = short.chars().collect();
    let mut row: Vec<usize> = (0..=short.len()).collect();
    let mut meter = Meter::start();
    for (i, c) in long.chars().enumerate() {
        meter.steps(1 + short.len()).map_err(Stopped::raise)?;
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, d) in short.iter().enumerate() {
            let changed = before + usize::from(c != *d);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    Ok(Value::from(row[short.len()]))
}

/// Functions that are methods as well.
pub(super) mod global {
    use super::{levenshtein, lines, words};

    crate::builtins! { "" =>
        /// Returns the words between white space.
        ///
        /// ```harn
        /// words(" one  two ") // => ["one", "two"]
        /// ```
        plain "words(text: string) -> list<string>" words;
        /// Returns the lines, without their ends.
        ///
        /// ```harn
        /// lines("a\nb\n") // => ["a", "b"]
        /// ```
        plain "lines(text: string) -> list<string>" lines;
        /// Returns the number of characters to insert, remove or replace to get from one text to the other.
        ///
        /// ```harn
        /// levenshtein("kitten", "sitting") // => 3
        /// ```
        plain "levenshtein(a: string, b: string) -> int" levenshtein;
    }
}
