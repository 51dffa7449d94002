//! Regular expressions (the syntax of the crate `regex`: no look-around, no back references, time linear in the text).

use super::args;
use super::items::collect;
use crate::value::{Dict, Str, Value};
use crate::vm::{Cx, Raise, codes};
use regex::{Captures, Regex};
use std::cell::RefCell;

crate::builtins! { "" =>
    /// Whether the pattern matches anywhere in the text.
    plain "regex_match(pattern: string, text: string) -> bool" regex_match;
    /// The text with every match replaced; `$1` and `${name}` in `new` stand for what the groups matched, `$$` for `$`.
    plain "regex_replace(pattern: string, new: string, text: string) -> string" regex_replace;
    /// All matches, each as `{match, groups}` and an entry for each named group; a group that took no part is nil.
    plain "regex_captures(pattern: string, text: string) -> list<dict>" regex_captures;
}

/// Patterns that are kept compiled.
const KEPT: usize = 32;

thread_local! {
    /// The patterns used last, the latest at the end.
    static COMPILED: RefCell<Vec<(Str, Regex)>> = const { RefCell::new(Vec::new()) };
}

fn pattern(args: &[Value]) -> Result<Regex, Box<Raise>> {
    let text = args::str(args, 0)?;
    COMPILED.with_borrow_mut(|kept| {
        if let Some(at) = kept.iter().rposition(|(t, _)| t == text) {
            kept[at..].rotate_left(1);
        } else {
            let regex = Regex::new(text).map_err(|e| invalid(&e))?;
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((text.clone(), regex));
        }
        // A handle: the compiled pattern itself is shared.
        kept.last().map(|(_, regex)| regex.clone()).ok_or_else(|| Raise::error(codes::VALUE, "no pattern"))
    })
}

fn invalid(error: &regex::Error) -> Box<Raise> {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            Raise::error(codes::VALUE, format!("this pattern is too large: it would take more than {limit} bytes"))
                .about(0, "too large")
                .help("use smaller counts in `{m,n}`")
        }
        other => {
            // The crate draws the pattern with a mark under the mistake; the last line says what it is.
            let text = other.to_string();
            let reason = text.lines().next_back().unwrap_or_default().trim_start_matches("error: ");
            let raise = Raise::error(codes::VALUE, format!("this is no regular expression: {reason}"))
                .about(0, "cannot be read")
                .help("write patterns as raw strings, `r\"\\d+\"`, and a character that has a meaning as `\\(`");
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
    Ok(Value::Bool(pattern(args)?.is_match(text)))
}

fn regex_replace(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    // A pattern looks at each byte, and often more than once.
    cx.charge(args::str(args, 2)?.len(), 1);
    let (new, text) = (args::str(args, 1)?, args::str(args, 2)?);
    let regex = pattern(args)?;
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for captures in regex.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        out.push_str(&text[done..whole.start()]);
        captures.expand(new, &mut out);
        done = whole.end();
        cx.check_size(Some(out.len()))?;
    }
    out.push_str(&text[done..]);
    Ok(Value::from(out))
}

fn regex_captures(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    // A pattern looks at each byte, and often more than once.
    cx.charge(args::str(args, 1)?.len(), 1);
    let text = args::str(args, 1)?;
    let regex = pattern(args)?;
    let names: Vec<Option<Str>> = regex.capture_names().map(|name| name.map(|n| cx.isolate.intern(n))).collect();
    let (whole, groups) = (cx.isolate.intern("match"), cx.isolate.intern("groups"));
    let row = |captures: Captures<'_>| {
        let group = |i: usize| captures.get(i).map_or(Value::Nil, |m| Value::str(m.as_str()));
        let mut row = Dict::with_capacity(2);
        for (i, name) in names.iter().enumerate() {
            if let Some(name) = name {
                row.insert(name.clone(), group(i));
            }
        }
        row.insert(whole.clone(), group(0));
        row.insert(groups.clone(), Value::list((1..captures.len()).map(group).collect()));
        Value::dict(row)
    };
    collect(cx, regex.captures_iter(text).map(row))
}
