//! How values look: bare at top level for `println` and `"${}"`, quoted for error messages and the REPL.

use super::{Status, Str, Value};
use std::fmt::Write;

/// As `to_string` gives it: strings bare, at every level.
#[must_use]
pub fn display(value: &Value) -> String {
    match value {
        Value::Str(s) => s.as_str().to_owned(),
        _ => walk(value, false, usize::MAX),
    }
}

/// As an error message or the REPL shows it: strings quoted, long values cut.
#[must_use]
pub fn inspect(value: &Value) -> String {
    walk(value, true, 4096)
}

/// One float, with a decimal point, in the shortest form that reads back.
#[must_use]
pub(crate) fn float(f: f64) -> String {
    if f.is_nan() {
        return "NaN".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let size = f.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) {
        return format!("{f:e}");
    }
    let mut text = format!("{f}");
    if !text.contains('.') {
        text.push_str(".0");
    }
    text
}

enum Work {
    Value(Value),
    Text(&'static str),
    Key(Str),
    Owned(String),
}

/// Depth first with a stack of its own, so that no nesting is too deep.
fn walk(value: &Value, quote: bool, limit: usize) -> String {
    let mut out = String::new();
    let mut work = vec![Work::Value(value.clone())];
    while let Some(next) = work.pop() {
        if out.len() > limit {
            out.truncate(out.floor_char_boundary(limit));
            out.push('…');
            break;
        }
        match next {
            Work::Text(t) => out.push_str(t),
            Work::Key(k) => out.push_str(&k),
            Work::Owned(t) => out.push_str(&t),
            Work::Value(v) => one(&v, quote, &mut out, &mut work),
        }
    }
    out
}

fn one(value: &Value, quote: bool, out: &mut String, work: &mut Vec<Work>) {
    match value {
        Value::Nil | Value::Unbound | Value::Cell(_) => out.push_str("nil"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(i) => {
            let _ = write!(out, "{i}");
        }
        Value::Float(f) => out.push_str(&float(*f)),
        Value::Str(s) if quote => {
            let _ = write!(out, "{s:?}");
        }
        Value::Str(s) => out.push_str(s),
        Value::Bytes(b) => {
            let _ = write!(out, "<bytes {}>", b.len());
        }
        Value::List(l) => sequence("[", l.items.iter().cloned(), "]", work),
        Value::Set(s) => sequence("set(", s.items().iter().cloned(), ")", work),
        Value::Pair(p) => sequence("(", [p.first.clone(), p.second.clone()].into_iter(), ")", work),
        Value::Dict(d) => {
            let entries = d.dict.iter().map(|(k, v)| (k.clone(), v.clone()));
            record("{", entries, work);
        }
        Value::Struct(s) => {
            let _ = write!(out, "{} ", s.def().name);
            record("{", s.entries().map(|(k, v)| (k.clone(), v.clone())), work);
        }
        Value::Range(r) => {
            let _ = write!(out, "{} to {}{}", r.from, r.to, if r.exclusive { " exclusive" } else { "" });
        }
        Value::Closure(_) => out.push_str("<closure>"),
        Value::Iter(i) => {
            let over = if i.status() == Status::Over { " (exhausted)" } else { "" };
            let _ = write!(out, "<{}{over}>", i.flavor().name());
        }
        Value::Builtin(b) => {
            let _ = write!(out, "<builtin {}>", b.full_name());
        }
        Value::Variant(v) => {
            let _ = write!(out, "{}.{}", v.def().name, v.name());
            if !v.values().is_empty() {
                sequence("(", v.values().iter().cloned(), ")", work);
            }
        }
        Value::Host(h) => match h.object().to_value() {
            Some(v) => work.push(Work::Value(v)),
            None => {
                let _ = write!(out, "<{}>", h.object().type_name());
            }
        },
    }
}

fn sequence(
    open: &'static str,
    items: impl DoubleEndedIterator<Item = Value>,
    close: &'static str,
    work: &mut Vec<Work>,
) {
    work.push(Work::Text(close));
    let at = work.len();
    for item in items.rev() {
        if work.len() > at {
            work.push(Work::Text(", "));
        }
        work.push(Work::Value(item));
    }
    work.push(Work::Text(open));
}

fn record(open: &'static str, entries: impl Iterator<Item = (Str, Value)>, work: &mut Vec<Work>) {
    let entries: Vec<_> = entries.collect();
    work.push(Work::Text("}"));
    let at = work.len();
    for (key, value) in entries.into_iter().rev() {
        if work.len() > at {
            work.push(Work::Text(", "));
        }
        work.push(Work::Value(value));
        work.push(Work::Text(": "));
        if is_plain(&key) {
            work.push(Work::Key(key));
        } else {
            work.push(Work::Owned(format!("{:?}", key.as_str())));
        }
    }
    work.push(Work::Text(open));
}

/// A key that could be written without quotes.
fn is_plain(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_back() {
        for (f, text) in
            [(1.0, "1.0"), (0.1, "0.1"), (1e16, "1e16"), (1e15, "1000000000000000.0"), (1e-6, "1e-6"), (-0.0, "-0.0")]
        {
            assert_eq!(float(f), text);
        }
    }

    #[test]
    fn looks_as_the_reference_says() {
        let v = Value::record([("k", Value::list(vec![Value::Int(1), Value::str("a")])), ("b c", Value::Nil)]);
        assert_eq!(display(&v), "{\"b c\": nil, k: [1, a]}");
        assert_eq!(inspect(&Value::pair(Value::str("x"), Value::ok(Value::Int(1)))), "(\"x\", Result.Ok(1))");
    }
}
