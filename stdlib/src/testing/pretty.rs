//! Values as lines of text: one for each entry, so that a difference shows only what differs.

use lang::value::{Str, Value, inspect};
use std::fmt::Write;

/// Levels that are broken into lines; what is deeper is written on one.
const DEEPEST: usize = 12;
/// Columns of a collection that is not broken, in a snapshot and in a difference.
const NARROW: usize = 60;
const NARROWEST: usize = 24;

/// Returns the text of a value: a string as it is, a collection over several lines if it is not short.
#[must_use]
pub fn pretty(value: &Value) -> String {
    lines(value, NARROW)
}

/// Returns the text of a value with more lines than [`pretty`], so that less of it differs from another one.
pub(super) fn narrow(value: &Value) -> String {
    lines(value, NARROWEST)
}

fn lines(value: &Value, width: usize) -> String {
    match value {
        Value::Str(text) => text.as_str().to_owned(),
        _ => {
            let mut writer = PrettyWriter { width, out: String::new() };
            writer.write(value, 0);
            writer.out
        }
    }
}

struct PrettyWriter {
    /// Columns of a collection that is not broken.
    width: usize,
    out: String,
}

impl PrettyWriter {
    fn write(&mut self, value: &Value, depth: usize) {
        let short = inspect(value);
        let is_short = short.chars().count() <= self.width;
        let resolved;
        let value = match value {
            Value::Host(host) => match host.object().to_value() {
                Some(read) => {
                    resolved = read;
                    &resolved
                }
                None => value,
            },
            _ => value,
        };
        match value {
            _ if is_short || depth >= DEEPEST => self.out.push_str(&short),
            Value::List(list) => {
                self.out.push_str("[\n");
                for item in &list.items {
                    self.indent(depth + 1);
                    self.write(item, depth + 1);
                    self.out.push_str(",\n");
                }
                self.indent(depth);
                self.out.push(']');
            }
            Value::Dict(dict) => self.entries("{", dict.dict.iter(), depth),
            Value::Struct(of) => self.entries(&format!("{} {{", of.def().name), of.entries(), depth),
            _ => self.out.push_str(&short),
        }
    }

    fn entries<'v>(&mut self, open: &str, entries: impl Iterator<Item = (&'v Str, &'v Value)>, depth: usize) {
        self.out.push_str(open);
        self.out.push('\n');
        // Dicts are equal whatever the order of their keys.
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
        for (key, value) in entries {
            self.indent(depth + 1);
            let _ = write!(self.out, "{}: ", key.as_str());
            self.write(value, depth + 1);
            self.out.push_str(",\n");
        }
        self.indent(depth);
        self.out.push('}');
    }

    fn indent(&mut self, depth: usize) {
        (0..depth).for_each(|_| self.out.push_str("  "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_stays_on_one_line() {
        let list = Value::list((0..5).map(|i| Value::Int(i * 1000)).collect());
        let dict = Value::record([("b", list.clone()), ("a", Value::str("x"))]);
        assert_eq!(pretty(&dict), inspect(&dict));
        let wanted = "{\n  a: \"x\",\n  b: [\n    0,\n    1000,\n    2000,\n    3000,\n    4000,\n  ],\n}";
        assert_eq!(narrow(&dict), wanted);
        assert_eq!(pretty(&Value::str("a\nb")), "a\nb");
    }
}
