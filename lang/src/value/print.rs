//! Printing of values: bare at top level for `println` and `"${}"`, quoted for error messages and the REPL.

use super::{Meter, Status, Stopped, Str, Value};
use std::fmt::Write;

/// Formats the value as `to_string` does: strings bare, at every level.
#[must_use]
pub fn display(value: &Value) -> String {
    match value {
        Value::Str(s) => s.as_str().to_owned(),
        _ => walk(value, &Form { quote: false, length: usize::MAX, depth: usize::MAX }),
    }
}

/// Does what [`display`] does, cut after a few pages, for messages.
#[must_use]
pub fn brief(value: &Value) -> String {
    walk(value, &Form { quote: false, length: 16 << 10, depth: DEEPEST })
}

/// Formats the value for error messages and the REPL: strings quoted, long and deep values cut.
#[must_use]
pub fn inspect(value: &Value) -> String {
    walk(value, &Form { quote: true, length: 4096, depth: DEEPEST })
}

/// Does what [`inspect`] does, with at most `depth` levels of nesting.
#[must_use]
pub fn inspect_within(value: &Value, depth: usize) -> String {
    walk(value, &Form { quote: true, length: 4096, depth: depth.min(DEEPEST) })
}

/// Levels of nesting that a message shows.
const DEEPEST: usize = 100;

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

/// Form in which values are written.
struct Form {
    /// Strings are quoted.
    quote: bool,
    /// Bytes after which the text is cut.
    length: usize,
    /// Levels of nesting that are written.
    depth: usize,
}

/// A collection that is being written.
struct OpenCollection {
    parts: Parts,
    /// Whether something stands before the next part.
    begun: bool,
    close: &'static str,
}

/// Remaining parts of a collection.
enum Parts {
    /// Elements of a list, set, pair or variant, from an index on.
    Items(Value, usize),
    /// Entries of a dict or struct.
    Entries(std::vec::IntoIter<(Str, Value)>),
}

impl Parts {
    fn next(&mut self) -> Option<(Option<Str>, Value)> {
        match self {
            Self::Entries(left) => left.next().map(|(key, value)| (Some(key), value)),
            Self::Items(of, at) => {
                let item = match of {
                    Value::List(l) => l.items.get(*at),
                    Value::Set(s) => s.items().get(*at),
                    Value::Pair(p) => [&p.first, &p.second].get(*at).copied(),
                    Value::Variant(v) => v.values().get(*at),
                    _ => None,
                };
                *at += 1;
                item.map(|item| (None, item.clone()))
            }
        }
    }
}

/// Depth first with a stack of its own, so that no nesting is too deep. A walk that must stop leaves the text as it is.
fn walk(value: &Value, form: &Form) -> String {
    let mut writer = ValueWriter { form, out: String::new(), open: Vec::new(), meter: Meter::start() };
    let done = writer.value(value.clone()).and_then(|()| writer.rest());
    let mut out = writer.out;
    if done.is_ok() && out.len() > form.length {
        out.truncate(out.floor_char_boundary(form.length));
        out.push('…');
    }
    out
}

struct ValueWriter<'f> {
    form: &'f Form,
    out: String,
    open: Vec<OpenCollection>,
    meter: Meter,
}

impl ValueWriter<'_> {
    /// Writes what is left of all open collections, or as much as the form allows.
    fn rest(&mut self) -> Result<(), Stopped> {
        while let Some(open) = self.open.last_mut()
            && self.out.len() <= self.form.length
        {
            let Some((key, value)) = open.parts.next() else {
                self.out.push_str(open.close);
                self.open.pop();
                continue;
            };
            if std::mem::replace(&mut open.begun, true) {
                self.out.push_str(", ");
            }
            if let Some(key) = key {
                self.text(&key, !is_plain(&key))?;
                self.out.push_str(": ");
            }
            self.value(value)?;
        }
        Ok(())
    }

    /// Writes a text, or as much of it as the form allows.
    fn text(&mut self, text: &str, quote: bool) -> Result<(), Stopped> {
        let text =
            if text.len() > self.form.length { &text[..text.ceil_char_boundary(self.form.length)] } else { text };
        self.meter.text(text.len())?;
        if quote {
            let _ = write!(self.out, "{text:?}");
        } else {
            self.out.push_str(text);
        }
        Ok(())
    }

    fn items(&mut self, open: &str, of: Value, close: &'static str) {
        self.collection(open, Parts::Items(of, 0), close);
    }

    fn entries<'e>(&mut self, entries: impl ExactSizeIterator<Item = (&'e Str, &'e Value)>) -> Result<(), Stopped> {
        self.meter.room(entries.len().saturating_mul(size_of::<(Str, Value)>()))?;
        let entries: Vec<_> = entries.map(|(k, v)| (k.clone(), v.clone())).collect();
        self.collection("{", Parts::Entries(entries.into_iter()), "}");
        Ok(())
    }

    fn collection(&mut self, open: &str, parts: Parts, close: &'static str) {
        self.out.push_str(open);
        if self.open.len() < self.form.depth {
            self.open.push(OpenCollection { parts, begun: false, close });
        } else {
            self.out.push('…');
            self.out.push_str(close);
        }
    }

    /// Writes a value up to its first part.
    fn value(&mut self, value: Value) -> Result<(), Stopped> {
        self.meter.step()?;
        let out = &mut self.out;
        match &value {
            Value::Nil | Value::Unbound | Value::Cell(_) => out.push_str("nil"),
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Int(i) => {
                let _ = write!(out, "{i}");
            }
            Value::Float(f) => out.push_str(&float(*f)),
            Value::Str(s) => self.text(s, self.form.quote)?,
            Value::Bytes(b) => {
                let _ = write!(out, "<bytes {}>", b.len());
            }
            Value::List(_) => self.items("[", value, "]"),
            Value::Set(_) => self.items("set(", value, ")"),
            Value::Pair(_) => self.items("(", value, ")"),
            Value::Dict(d) => self.entries(d.dict.iter())?,
            Value::Struct(s) => {
                let _ = write!(out, "{} ", s.def().name);
                self.entries(s.entries())?;
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
                    self.items("(", value, ")");
                }
            }
            Value::Host(h) => match h.object().to_value() {
                Some(v) => self.value(v)?,
                None => {
                    let _ = write!(out, "<{}>", h.object().type_name());
                }
            },
        }
        Ok(())
    }
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
