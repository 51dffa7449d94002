//! Regular expressions (the syntax of the crate `regex`: no look-around, no back references, time linear in the text).

mod search;

use self::search::{CompiledRegex, ONLY, Unusable};
use super::args;
use super::items::push;
use crate::value::{Dict, Str, Value};
use crate::vm::{Cx, Raise, RunCode, Stopped};
use std::cell::RefCell;
use std::rc::Rc;

crate::builtins! { "" =>
    /// Returns whether a pattern matches a part of the text; `^` and `$` match its ends.
    ///
    /// ```harn
    /// regex_test(r"^\d+$", "2025") // => true
    /// regex_test(r"(?i)error", "An Error") // => true
    /// ```
    plain "regex_test(pattern: string, text: string) -> bool" regex_test;
    /// Returns the first match as `{match, groups, index}` and an entry for each named group, or nil if there is none.
    ///
    /// ```harn
    /// let found = regex_find(r"(?<key>\w+)=(?<value>\w+)", "size=10")
    /// [found.key, found.value, found.match, found.index] // => ["size", "10", "size=10", 0]
    /// regex_find(r"\d", "none") // => nil
    /// ```
    plain "regex_find(pattern: string, text: string) -> dict | nil" regex_find;
    /// Returns the parts of the text between the matches.
    ///
    /// ```harn
    /// regex_split(r"\s*[,;]\s*", "a , b;c") // => ["a", "b", "c"]
    /// ```
    plain "regex_split(pattern: string, text: string) -> list<string>" regex_split;
    /// Returns the texts of all matches, or nil if there is none.
    ///
    /// ```harn
    /// regex_match(r"\d+", "1, 22 and 333") // => ["1", "22", "333"]
    /// regex_match(r"\d+", "none") // => nil
    /// ```
    plain "regex_match(pattern: string, text: string) -> list<string> | nil" regex_match;
    /// Replaces every match: `$1` and `${name}` in `new` stand for what the groups matched, `$$` for `$`.
    ///
    /// ```harn
    /// regex_replace(r"(\w+)@(\w+)", "$2 of $1", "ann@home") // => "home of ann"
    /// ```
    plain "regex_replace(pattern: string, new: string, text: string) -> string" regex_replace;
    /// Returns all matches, each as `{match, groups}` and an entry for each named group; a group that took no part is nil.
    ///
    /// ```harn
    /// regex_captures(r"(\w)(\d)?", "a1 b").map({ found -> found.groups }) // => [["a", "1"], ["b", nil]]
    /// ```
    plain "regex_captures(pattern: string, text: string) -> list<dict>" regex_captures;
}

/// Patterns that are kept compiled.
const KEPT: usize = 32;

thread_local! {
    /// The patterns used last, the latest at the end.
    static COMPILED: RefCell<Vec<(Str, Rc<CompiledRegex>)>> = const { RefCell::new(Vec::new()) };
}

fn pattern(args: &[Value]) -> Result<Rc<CompiledRegex>, Box<Raise>> {
    let text = args::str(args, 0)?;
    COMPILED.with_borrow_mut(|kept| {
        if let Some(at) = kept.iter().rposition(|(t, _)| t == text) {
            kept[at..].rotate_left(1);
        } else {
            let pattern = CompiledRegex::new(text).map_err(|why| unusable(&why))?;
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((text.clone(), Rc::new(pattern)));
        }
        kept.last().map(|(_, pattern)| pattern.clone()).ok_or_else(|| Raise::error(RunCode::Value, "not a pattern"))
    })
}

fn unusable(why: &Unusable) -> Box<Raise> {
    match why {
        Unusable::TooLong(limit) => {
            Raise::error(RunCode::Value, format!("regular expression too long: more than {limit} bytes"))
                .about(0, "too long")
        }
        Unusable::TooLarge(limit) => {
            Raise::error(RunCode::Value, format!("regular expression too large: it would take more than {limit} bytes"))
                .about(0, "too large")
                .help("use smaller counts in `{m,n}`")
        }
        Unusable::Groups(limit) => {
            let text = format!("too many capture groups: a search would need more than {limit} bytes");
            Raise::error(RunCode::Value, text)
                .about(0, "too many groups")
                .help("use `(?:…)` for groups that need no capture")
        }
        Unusable::Wrong(error) => {
            // The crate draws the pattern with a mark under the mistake; the last line says what it is.
            let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
            let reason = text.lines().next_back().unwrap_or_default().trim_start_matches("error: ");
            let raise = Raise::error(RunCode::Value, format!("invalid regular expression: {reason}"))
                .about(0, "invalid pattern")
                .help("write the pattern as a raw string, `r\"\\d+\"`, and escape special characters, as in `\\(`");
            match drawing(&text) {
                Some(drawing) => raise.note(drawing),
                None => raise,
            }
        }
    }
}

/// The pattern with the mark under it, if it is short enough to help.
fn drawing(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let [_, middle @ .., _] = lines.as_slice() else { return None };
    (middle.len() == 2 && middle.iter().all(|l| l.chars().count() <= 100))
        .then(|| format!("in the pattern\n{}", middle.join("\n")))
}

fn regex_match(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    // A pattern looks at each byte, and often more than once.
    cx.charge(args::str(args, 1)?.len(), 1);
    let text = args::str(args, 1)?;
    let mut found = Vec::new();
    pattern(args)?.each(text, false, |captures, meter| {
        let Some(one) = captures.get_match() else { return Ok(()) };
        meter.steps(1 + one.len() / 16).map_err(Stopped::raise)?;
        push(cx, &mut found, Value::str(&text[one.range()]))
    })?;
    Ok(if found.is_empty() { Value::Nil } else { Value::list(found) })
}

fn regex_replace(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    // A pattern looks at each byte, and often more than once.
    cx.charge(args::str(args, 2)?.len(), 1);
    let (new, text) = (args::str(args, 1)?, args::str(args, 2)?);
    let pattern = pattern(args)?;
    cx.check_size(Some(text.len()))?;
    let marks = marks(new);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    pattern.each(text, new.contains('$'), |captures, meter| {
        let Some(whole) = captures.get_match() else { return Ok(()) };
        out.push_str(&text[done..whole.start()]);
        meter.steps(1 + (whole.len() + new.len()) / 16).map_err(Stopped::raise)?;
        // Each mark may stand for the whole match.
        if marks.len().saturating_mul(whole.len()).max(new.len()) < LARGE_PART {
            captures.interpolate_string_into(text, new, &mut out);
            cx.check_size(Some(out.len()))?;
        } else {
            for mark in &marks {
                captures.interpolate_string_into(text, mark, &mut out);
                cx.check_size(Some(out.len()))?;
                meter.steps(1 + whole.len() / 64).map_err(Stopped::raise)?;
            }
        }
        done = whole.end();
        Ok::<_, Box<Raise>>(())
    })?;
    out.push_str(&text[done..]);
    cx.check_size(Some(out.len()))?;
    Ok(Value::from(out))
}

/// Largest text that a match may insert before its marks are filled in one by one.
const LARGE_PART: usize = 64 << 10;

/// A replacement cut into parts with one mark (`$1`, `${name}`, `$$`) each, at the front.
fn marks(new: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = new[at..].find('$').map(|found| at + found) {
        if found > from {
            parts.push(&new[from..found]);
        }
        from = found;
        let behind = &new[found + 1..];
        at = match behind.as_bytes().first() {
            Some(b'$') => found + 2,
            Some(b'{') => behind.find('}').map_or(found + 1, |close| found + 1 + close + 1),
            _ => found + 1,
        };
    }
    if from < new.len() {
        parts.push(&new[from..]);
    }
    parts
}

fn regex_captures(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    // A pattern looks at each byte, and often more than once.
    cx.charge(args::str(args, 1)?.len(), 1);
    let text = args::str(args, 1)?;
    let pattern = pattern(args)?;
    let names: Vec<Option<Str>> =
        pattern.groups().pattern_names(ONLY).map(|name| name.map(|n| cx.isolate.intern(n))).collect();
    let (whole, groups) = (cx.isolate.intern("match"), cx.isolate.intern("groups"));
    let mut rows = Vec::new();
    pattern.each(text, true, |captures, meter| {
        meter.steps(names.len()).map_err(Stopped::raise)?;
        let group = |i: usize| captures.get_group(i).map_or(Value::Nil, |span| Value::str(&text[span.range()]));
        let mut row = Dict::with_capacity(2);
        for (i, name) in names.iter().enumerate() {
            if let Some(name) = name {
                row.insert(name.clone(), group(i));
            }
        }
        row.insert(whole.clone(), group(0));
        row.insert(groups.clone(), Value::list((1..captures.group_len()).map(group).collect()));
        push(cx, &mut rows, Value::dict(row))
    })?;
    Ok(Value::list(rows))
}

fn regex_test(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(args::str(args, 1)?.len(), 1);
    let found = pattern(args)?.find(args::str(args, 1)?, false)?;
    Ok(Value::Bool(found.is_some()))
}

fn regex_find(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(args::str(args, 1)?.len(), 1);
    let text = args::str(args, 1)?;
    let pattern = pattern(args)?;
    let Some(captures) = pattern.find(text, true)? else { return Ok(Value::Nil) };
    let group = |i: usize| -> Result<Value, Box<Raise>> {
        let Some(span) = captures.get_group(i) else { return Ok(Value::Nil) };
        cx.check_copy(span.len())?;
        Ok(Value::str(&text[span.range()]))
    };
    let mut row = Dict::with_capacity(3);
    for (i, name) in pattern.groups().pattern_names(ONLY).enumerate() {
        if let Some(name) = name {
            row.insert(cx.isolate.intern(name), group(i)?);
        }
    }
    let groups = (1..captures.group_len()).map(group).collect::<Result<Vec<_>, _>>()?;
    let start = captures.get_match().map_or(0, |found| found.start());
    row.insert(cx.isolate.intern("match"), group(0)?);
    row.insert(cx.isolate.intern("groups"), Value::list(groups));
    row.insert(cx.isolate.intern("index"), Value::from(text[..start].chars().count()));
    Ok(Value::dict(row))
}

fn regex_split(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(args::str(args, 1)?.len(), 1);
    let text = args::str(args, 1)?;
    let (mut parts, mut done) = (Vec::new(), 0);
    pattern(args)?.each(text, false, |captures, meter| {
        let Some(one) = captures.get_match() else { return Ok(()) };
        meter.steps(1 + (one.start() - done) / 16).map_err(Stopped::raise)?;
        push(cx, &mut parts, Value::str(&text[done..one.start()]))?;
        done = one.end();
        Ok(())
    })?;
    push(cx, &mut parts, Value::str(&text[done..]))?;
    Ok(Value::list(parts))
}

/// Methods of strings, whose first argument is the text.
pub(super) mod methods {
    use super::{regex_replace, regex_test};
    use crate::value::Value;
    use crate::vm::{About, Cx, Raise};

    crate::builtins! { "<string>" =>
        /// Returns whether a regular expression matches a part of the string; `^` and `$` match its ends.
        ///
        /// ```harn
        /// "v1.20".matches(r"^v\d+\.\d+$") // => true
        /// ```
        plain "matches(self: string, pattern: string) -> bool" matches;
        /// Replaces every match of a regular expression: `$1` and `${name}` in `new` stand for what the groups matched.
        ///
        /// ```harn
        /// "2025-01-31".replace_regex(r"(\d+)-(\d+)-(\d+)", "$3.$2.$1") // => "31.01.2025"
        /// ```
        plain "replace_regex(self: string, pattern: string, new: string) -> string" replace_regex;
    }

    fn matches(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
        args.swap(0, 1);
        regex_test(cx, args).map_err(swapped)
    }

    fn replace_regex(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
        // The pattern, the new text, the text.
        args.rotate_left(1);
        regex_replace(cx, args).map_err(|mut raise| {
            if let About::Argument(i) = &mut raise.about {
                *i = (*i + 1) % 3;
            }
            raise
        })
    }

    fn swapped(mut raise: Box<Raise>) -> Box<Raise> {
        if let About::Argument(i) = &mut raise.about {
            *i = 1 - (*i).min(1);
        }
        raise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_automata::meta::Regex;

    #[test]
    fn parts_of_a_replacement_expand_to_what_the_whole_does() {
        let regex = Regex::new("(?P<one>a+)(b)?").unwrap();
        let mut captures = regex.create_captures();
        regex.captures("aaab", &mut captures);
        for new in
            ["", "x", "$1", "$1$1", "a$1b$2", "$$1", "$$$1", "${one}x${2}$", "${none$1}", "${one", "$", "ä$oneä$1x"]
        {
            let parts = marks(new);
            assert_eq!(parts.concat(), new);
            let whole = captures.interpolate_string("aaab", new);
            let cut: String = parts.iter().map(|part| captures.interpolate_string("aaab", part)).collect();
            assert_eq!(cut, whole, "{new}");
        }
    }
}
