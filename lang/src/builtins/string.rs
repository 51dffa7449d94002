//! Methods of strings. Positions and lengths count characters (Unicode scalar values).

use super::args;
use super::items::{self, bound, collect, position};
use crate::value::{Str, Value};
use crate::vm::{Cx, Raise, RunCode};
use std::rc::Rc;

crate::builtins! { "<string>" =>
    /// Returns the number of characters.
    ///
    /// ```harn
    /// "héllo".count // => 5
    /// ```
    plain "count(self: string) -> int" [pure, property] count;
    /// Returns whether the string has no characters.
    ///
    /// ```harn
    /// "".empty // => true
    /// ```
    plain "empty(self: string) -> bool" [pure, property] empty;
    /// Returns whether the text occurs in the string.
    ///
    /// ```harn
    /// "haystack".contains("stack") // => true
    /// ```
    plain "contains(self: string, text: string) -> bool" [pure] contains;
    /// Replaces every `old` by `new`.
    ///
    /// ```harn
    /// "a-b-c".replace("-", "+") // => "a+b+c"
    /// ```
    plain "replace(self: string, old: string, new: string) -> string" [pure] replace;
    /// Returns the parts between the separators: at most `limit`, the last of which holds the rest. Without a separator these are
    /// the words between white space; with an empty one they are the characters.
    ///
    /// ```harn
    /// "a,b,c".split(",") // => ["a", "b", "c"]
    /// "key=a=b".split("=", 2) // => ["key", "a=b"]
    /// " one  two ".split() // => ["one", "two"]
    /// ```
    plain "split(self: string, separator: string? = nil, limit: int? = nil) -> list<string>" [pure] split;
    /// Returns the string without white space at its ends.
    ///
    /// ```harn
    /// "  a b ".trim() // => "a b"
    /// ```
    plain "trim(self: string) -> string" [pure] trim;
    /// Returns the string without white space at its start.
    ///
    /// ```harn
    /// "  a ".trim_start() // => "a "
    /// ```
    plain "trim_start(self: string) -> string" [pure] trim_start;
    /// Returns the string without white space at its end.
    ///
    /// ```harn
    /// "  a ".trim_end() // => "  a"
    /// ```
    plain "trim_end(self: string) -> string" [pure] trim_end;
    /// Returns whether the string begins with the text.
    ///
    /// ```harn
    /// "harness".starts_with("harn") // => true
    /// ```
    plain "starts_with(self: string, text: string) -> bool" [pure] starts_with;
    /// Returns whether the string ends with the text.
    ///
    /// ```harn
    /// "notes.md".ends_with(".md") // => true
    /// ```
    plain "ends_with(self: string, text: string) -> bool" [pure] ends_with;
    /// Returns the string in small letters.
    ///
    /// ```harn
    /// "ÀB".lowercase() // => "àb"
    /// ```
    plain "lowercase(self: string) -> string" [pure] lowercase;
    /// Returns the string in small letters.
    ///
    /// ```harn
    /// "ÀB".lower() // => "àb"
    /// ```
    plain "lower(self: string) -> string" [pure] lowercase;
    /// Returns the string in capital letters.
    ///
    /// ```harn
    /// "àb".uppercase() // => "ÀB"
    /// ```
    plain "uppercase(self: string) -> string" [pure] uppercase;
    /// Returns the string in capital letters.
    ///
    /// ```harn
    /// "àb".upper() // => "ÀB"
    /// ```
    plain "upper(self: string) -> string" [pure] uppercase;
    /// Returns `length` characters from `start` on, or all that are left. A negative `start` counts from the end.
    ///
    /// ```harn
    /// "harness".substring(1, 3) // => "arn"
    /// "harness".substring(-4) // => "ness"
    /// ```
    plain "substring(self: string, start: int, length: int = nil) -> string" [pure] substring;
    /// Returns the lines, without their ends.
    ///
    /// ```harn
    /// "a\nb\n".lines() // => ["a", "b"]
    /// ```
    plain "lines(self: string) -> list<string>" [pure] lines;
    /// Returns the characters, each as a string.
    ///
    /// ```harn
    /// "hé".chars() // => ["h", "é"]
    /// ```
    plain "chars(self: string) -> list<string>" [pure] chars;
    /// Returns the character at `index`, or nil if there is none. Negative indexes count from the end.
    ///
    /// ```harn
    /// "abc".char_at(-1) // => "c"
    /// "abc".char_at(5) // => nil
    /// ```
    plain "char_at(self: string, index: int) -> string | nil" [pure] char_at;
    /// Returns the index of the first occurrence of the text, or -1 if there is none.
    ///
    /// ```harn
    /// "haystack".index_of("stack") // => 3
    /// "haystack".index_of("x") // => -1
    /// ```
    plain "index_of(self: string, text: string) -> int" [pure] index_of;
    /// Returns the index of the last occurrence of the text, or -1 if there is none.
    ///
    /// ```harn
    /// "a/b/c".last_index_of("/") // => 3
    /// ```
    plain "last_index_of(self: string, text: string) -> int" [pure] last_index_of;
    /// Repeats the string.
    ///
    /// ```harn
    /// "ab".repeat(3) // => "ababab"
    /// ```
    plain "repeat(self: string, times: int) -> string" [pure] repeat;
    /// Returns the characters in the opposite order.
    ///
    /// ```harn
    /// "abc".reverse() // => "cba"
    /// ```
    plain "reverse(self: string) -> string" [pure] reverse;
    /// Fills the string at its start up to `width` characters.
    ///
    /// ```harn
    /// "7".pad_left(3, "0") // => "007"
    /// ```
    plain "pad_left(self: string, width: int, fill: string = \" \") -> string" [pure] pad_left;
    /// Fills the string at its end up to `width` characters.
    ///
    /// ```harn
    /// "ab".pad_right(4, ".") // => "ab.."
    /// ```
    plain "pad_right(self: string, width: int, fill: string = \" \") -> string" [pure] pad_right;
    /// Returns the int that the string stands for, or nil.
    ///
    /// ```harn
    /// ["42".to_int(), "4.2".to_int()] // => [42, nil]
    /// ```
    plain "to_int(self: string) -> int | nil" [pure] to_int;
    /// Returns the float that the string stands for, or nil.
    ///
    /// ```harn
    /// ["4.2".to_float(), "x".to_float()] // => [4.2, nil]
    /// ```
    plain "to_float(self: string) -> float | nil" [pure] to_float;
    /// Returns the string itself.
    ///
    /// ```harn
    /// "a".to_string() // => "a"
    /// ```
    plain "to_string(self: string) -> string" [pure] to_string;
    /// Returns the bytes of the text in UTF-8.
    ///
    /// ```harn
    /// "hé".to_bytes().to_list() // => [104, 195, 169]
    /// ```
    plain "to_bytes(self: string) -> bytes" [pure] to_bytes;
}

fn count(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(args::str(args, 0)?.char_count()))
}

fn empty(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(args::str(args, 0)?.is_empty()))
}

pub(super) fn contains(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 8);
    Ok(Value::Bool(text.contains(args::str(args, 1)?.as_str())))
}

pub(super) fn replace(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (text, old, new) = (args::str(args, 0)?, args::str(args, 1)?, args::str(args, 2)?);
    cx.charge_part(text.len(), 8);
    cx.check_copy(text.len())?;
    let mut out = Str::with_capacity(text.len());
    let mut done = 0;
    for at in Occurrences::of(text, old) {
        if at > done {
            out.push_str(&text[done..at]);
        }
        out.push_str(new);
        done = at + old.len();
        cx.check_size(Some(out.len()))?;
    }
    out.push_str(&text[done..]);
    cx.charge_part(out.len(), 16);
    Ok(Value::Str(out))
}

pub(super) fn split(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 4);
    if args.get(2).is_some_and(|limit| !limit.is_nil()) {
        let limit = items::size(args, 2, "the number of parts")?;
        return split_at_most(cx, text, args::opt_str(args, 1)?.map(Str::as_str), limit);
    }
    match args::opt_str(args, 1)? {
        Some(separator) if separator.is_empty() => each_char(cx, text),
        separator => {
            let mut shared = SharedParts::of(cx, text)?;
            match separator {
                None if text.is_ascii_text() => collect(cx, ascii_words(text).map(|part| shared.value(part))),
                None => collect(cx, text.split_whitespace().map(|part| shared.value(part))),
                Some(separator) => {
                    let mut done = 0;
                    // The end of the text is that of the last part.
                    let ends = Occurrences::of(text, separator).chain([text.len()]);
                    let parts = ends.map(|end| {
                        let start = std::mem::replace(&mut done, end + separator.len());
                        shared.value(&text[start..end])
                    });
                    collect(cx, parts)
                }
            }
        }
    }
}

/// Splits a text into few parts; the last one is the rest.
fn split_at_most(cx: &Cx<'_>, text: &str, separator: Option<&str>, limit: usize) -> Result<Value, Box<Raise>> {
    let mut rest = Some(if separator.is_none() { text.trim_start() } else { text });
    let mut made = 0;
    let parts = std::iter::from_fn(|| {
        let text = rest.take()?;
        made += 1;
        let cut = match separator {
            _ if made == limit => None,
            Some("") => text.chars().next().map(char::len_utf8).filter(|end| *end < text.len()).map(|end| (end, end)),
            Some(separator) => text.find(separator).map(|at| (at, at + separator.len())),
            None => text.find(char::is_whitespace).map(|at| {
                let after = text[at..].trim_start();
                (at, text.len() - after.len())
            }),
        };
        // White space at the end, and no text at all, are not words.
        if separator.is_none_or(str::is_empty) && text.is_empty() {
            return None;
        }
        let Some((end, next)) = cut else { return Some(Value::str(text)) };
        rest = Some(&text[next..]);
        Some(Value::str(&text[..end]))
    });
    collect(cx, parts)
}

/// The positions at which one text occurs in another, without overlaps, as `str::match_indices` finds them.
#[allow(clippy::large_enum_variant, reason = "one at a time, on the stack")]
enum Occurrences<'a> {
    /// Finds one byte.
    Byte(memchr::Memchr<'a>),
    /// Finds several bytes.
    Bytes(memchr::memmem::FindIter<'a, 'a>),
    /// Finds the empty text, at each character and at the end.
    Empty(std::str::MatchIndices<'a, &'a str>),
}

impl<'a> Occurrences<'a> {
    fn of(text: &'a str, part: &'a str) -> Self {
        match part.as_bytes() {
            [] => Self::Empty(text.match_indices(part)),
            [byte] => Self::Byte(memchr::memchr_iter(*byte, text.as_bytes())),
            bytes => Self::Bytes(memchr::memmem::find_iter(text.as_bytes(), bytes)),
        }
    }
}

impl Iterator for Occurrences<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Self::Byte(found) => found.next(),
            Self::Bytes(found) => found.next(),
            Self::Empty(found) => found.next().map(|(at, _)| at),
        }
    }
}

/// Does what `split_whitespace` does, for a text of which each character is one byte.
fn ascii_words(text: &str) -> impl Iterator<Item = &str> {
    let is_space = |byte: u8| byte == b' ' || (b'\t'..=b'\r').contains(&byte);
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && is_space(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && !is_space(bytes[at]) {
            at += 1;
        }
        text.get(start..at).filter(|word| !word.is_empty())
    })
}

/// The parts of a text that were made last, by their hash: a part that occurs again shares its block. If few parts do, they are
/// not looked for any more.
struct SharedParts {
    made: Vec<Option<Str>>,
    /// Number of parts that may still occur for the first time before it is checked how many have occurred again.
    trial: usize,
    /// Number of parts that have occurred again.
    again: usize,
}

impl SharedParts {
    /// Bytes of the longest part that is looked for.
    const LONGEST: usize = 32;
    /// Bytes of the text for each place: the places take an eighth of what the text takes.
    const BYTES: usize = 8 * size_of::<Option<Str>>();
    /// Number of places at most.
    const MOST: usize = 1 << 16;
    /// Number of parts that occur for the first time before it is decided whether to go on.
    const TRIAL: usize = 4096;

    fn of(cx: &Cx<'_>, text: &str) -> Result<Self, Box<Raise>> {
        let places = (text.len() / Self::BYTES).min(Self::MOST);
        let places = if places < 2 { 0 } else { 1 << places.ilog2() };
        cx.check_copy(places * size_of::<Option<Str>>())?;
        Ok(Self { made: vec![None; places], trial: Self::TRIAL, again: 0 })
    }

    fn value(&mut self, part: &str) -> Value {
        if part.len() > Self::LONGEST || self.made.is_empty() {
            return Value::str(part);
        }
        let hash = Str::hash_of(part);
        let at = hash as usize & (self.made.len() - 1);
        let place = &mut self.made[at];
        if let Some(made) = place
            && made.as_str() == part
        {
            self.again += 1;
            return Value::Str(made.clone());
        }
        let new = Str::hashed(part, hash);
        *place = Some(new.clone());
        if self.trial > 0 {
            self.trial -= 1;
            if self.trial == 0 && self.again < Self::TRIAL / 8 {
                self.made = Vec::new();
            }
        }
        Value::Str(new)
    }
}

pub(super) fn trim(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 16);
    part(cx, text, str::trim)
}

fn trim_start(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 16);
    part(cx, text, str::trim_start)
}

fn trim_end(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 16);
    part(cx, text, str::trim_end)
}

/// A part of a string; the string itself when that is all of it.
fn part(cx: &Cx<'_>, text: &Str, cut: fn(&str) -> &str) -> Result<Value, Box<Raise>> {
    let rest = cut(text);
    if rest.len() == text.len() {
        return Ok(Value::Str(text.clone()));
    }
    cx.check_copy(rest.len())?;
    Ok(Value::str(rest))
}

pub(super) fn starts_with(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (text, start) = (args::str(args, 0)?, args::str(args, 1)?);
    cx.charge_part(start.len(), 16);
    Ok(Value::Bool(text.starts_with(start.as_str())))
}

pub(super) fn ends_with(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (text, end) = (args::str(args, 0)?, args::str(args, 1)?);
    cx.charge_part(end.len(), 16);
    Ok(Value::Bool(text.ends_with(end.as_str())))
}

pub(super) fn lowercase(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 8);
    cx.check_copy(text.len())?;
    Ok(if text.is_ascii_text() { Value::Str(text.to_ascii_lower()) } else { Value::from(text.to_lowercase()) })
}

pub(super) fn uppercase(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 8);
    cx.check_copy(text.len())?;
    Ok(if text.is_ascii_text() { Value::Str(text.to_ascii_upper()) } else { Value::from(text.to_uppercase()) })
}

/// Returns the byte at which the character number `index` begins, or the end of the text if there are fewer.
fn byte_of(text: &Str, index: usize) -> usize {
    if text.is_ascii_text() {
        return index.min(text.len());
    }
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

/// Returns the number of characters before the byte `at`.
fn char_of(text: &Str, at: usize) -> Value {
    Value::from(if text.is_ascii_text() { at } else { text[..at].chars().count() })
}

fn substring(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    let start = args::int(args, 1)?;
    let length = if args[2].is_nil() { usize::MAX } else { args::count(args, 2)? };
    if !text.is_ascii_text() {
        cx.charge_part(text.len(), 16);
    }
    // Only a negative start needs to know how long the whole is.
    let start = if start < 0 { bound(start, text.char_count()) } else { usize::try_from(start).unwrap_or(usize::MAX) };
    let from = byte_of(text, start);
    let to = byte_of(text, start.saturating_add(length));
    cx.check_copy(to - from)?;
    Ok(Value::str(&text[from..to]))
}

pub(super) fn lines(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 4);
    collect(cx, text.lines().map(Value::str))
}

fn chars(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 1);
    each_char(cx, text)
}

fn each_char(cx: &Cx<'_>, text: &str) -> Result<Value, Box<Raise>> {
    collect(cx, text.chars().map(|c| Value::str(c.encode_utf8(&mut [0; 4]))))
}

fn char_at(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    if !text.is_ascii_text() {
        cx.charge_part(text.len(), 16);
    }
    let Some(at) = position(args::int(args, 1)?, text.char_count()) else { return Ok(Value::Nil) };
    let from = byte_of(text, at);
    Ok(text[from..].chars().next().map(|c| Value::str(c.encode_utf8(&mut [0; 4]))).unwrap_or_default())
}

pub(super) fn index_of(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 8);
    Ok(text.find(args::str(args, 1)?.as_str()).map_or(Value::Int(-1), |at| char_of(text, at)))
}

fn last_index_of(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 8);
    Ok(text.rfind(args::str(args, 1)?.as_str()).map_or(Value::Int(-1), |at| char_of(text, at)))
}

pub(super) fn repeat(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    let times = args::count(args, 1)?;
    cx.check_size(text.len().checked_mul(times)).map_err(|raise| raise.about(1, "too many repetitions"))?;
    cx.charge_part(text.len().saturating_mul(times), 16);
    Ok(Value::Str(text.repeated(times)))
}

pub(super) fn reverse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 2);
    cx.check_copy(text.len())?;
    let mut reversed = String::with_capacity(text.len());
    reversed.extend(text.chars().rev());
    Ok(Value::from(reversed))
}

/// Text that pads the string.
fn filling(cx: &Cx<'_>, args: &[Value]) -> Result<String, Box<Raise>> {
    let text = args::str(args, 0)?;
    let width = args::count(args, 1)?;
    let fill = args::opt_str(args, 2)?.map_or(" ", |s| s.as_str());
    let missing = width.saturating_sub(text.char_count());
    if missing > 0 && fill.is_empty() {
        return Err(Raise::error(RunCode::Value, "cannot pad with an empty string").about(2, "empty"));
    }
    let size = missing.checked_mul(fill.len()).and_then(|n| n.checked_add(text.len()));
    cx.check_size(size).map_err(|raise| raise.about(1, "too wide"))?;
    cx.charge(missing, 1);
    Ok(fill.chars().cycle().take(missing).collect())
}

fn pad_left(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut out = Str::from(filling(cx, args)?);
    out.push_str(args::str(args, 0)?);
    Ok(Value::Str(out))
}

fn pad_right(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let fill = filling(cx, args)?;
    args::str(args, 0)?;
    let mut out = std::mem::take(&mut args[0]);
    if let Value::Str(text) = &mut out {
        text.push_str(&fill);
    }
    Ok(out)
}

fn to_int(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(args::str(args, 0)?.trim().parse::<i64>().ok().into())
}

fn to_float(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(args::str(args, 0)?.trim().parse::<f64>().ok().into())
}

fn to_string(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(args::str(args, 0)?.clone().into())
}

pub(super) fn to_bytes(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge_part(text.len(), 16);
    cx.check_copy(text.len())?;
    Ok(Value::Bytes(Rc::new(text.as_bytes().to_vec())))
}
