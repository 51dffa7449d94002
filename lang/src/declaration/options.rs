//! Dicts that a host describes key by key: options of builtins, and results.

use std::fmt;

/// A key of a dict.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionRow {
    /// The key.
    pub key: &'static str,
    /// The type of its value, as signatures write it.
    pub ty: &'static str,
    /// Whether a dict without the key is incomplete.
    pub required: bool,
    /// The default as a script writes it; empty if the key has none.
    pub default: &'static str,
    /// A sentence or two.
    pub doc: &'static str,
}

/// A named type of dicts. It is a type of signatures, of other rows, and of annotations in scripts.
///
/// The checker, completion, the pages and the readers of the host have the same rows; the checker makes a type of them when a
/// script uses it.
#[derive(Debug)]
pub struct OptionTable {
    /// The name of the type.
    pub name: &'static str,
    /// A sentence or two.
    pub doc: &'static str,
    /// Whether a dict may have further keys.
    pub open: bool,
    /// Whether the checker accepts every dict, because a lint reads its literals.
    pub linted: bool,
    /// The tables whose rows it has too. A row of its own replaces one of theirs.
    pub extends: &'static [&'static OptionTable],
    /// Its own rows.
    pub rows: &'static [OptionRow],
}

impl OptionTable {
    /// Returns the row of a key.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<&'static OptionRow> {
        let own = self.rows.iter().find(|row| row.key == key);
        own.or_else(|| self.extends.iter().find_map(|table| table.find(key)))
    }

    /// Returns whether a dict can have a key, as far as its rows say.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Returns all rows: its own, then those of the tables that it extends.
    #[must_use]
    pub fn all(&self) -> Vec<&'static OptionRow> {
        let mut found: Vec<&'static OptionRow> = self.rows.iter().collect();
        for row in self.extends.iter().flat_map(|table| table.all()) {
            if found.iter().all(|known| known.key != row.key) {
                found.push(row);
            }
        }
        found
    }

    /// Returns all keys.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.all().into_iter().map(|row| row.key)
    }
}

impl fmt::Display for OptionTable {
    /// Writes the type as signatures write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, row) in self.all().into_iter().enumerate() {
            let between = if i > 0 { ", " } else { "" };
            let optional = if row.required { "" } else { "?" };
            write!(f, "{between}{}{optional}: {}", row.key, row.ty)?;
        }
        f.write_str(if self.open { ", ...}" } else { "}" })
    }
}

/// Returns the text of a doc comment without the space at its start.
#[doc(hidden)]
#[must_use]
pub const fn doc_text(doc: &'static str) -> &'static str {
    match doc.as_bytes() {
        [b' ', ..] => doc.split_at(1).1,
        _ => doc,
    }
}

/// Returns the key that an identifier of Rust spells: `r#type` is `type`.
#[doc(hidden)]
#[must_use]
pub const fn key_text(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Defines tables of dicts: `NAME: "Name" { key: "type" = default, "Text."; … }`.
///
/// A default is written as in a script, `required` in its place makes the key a required one, and
/// `(shown "…")` has a default that is not one token of Rust. `open` after the name allows further
/// keys, `linted` leaves literals to a lint, and `extends [TABLE]` adds the rows of other tables.
#[macro_export]
macro_rules! option_tables {
    ($(
        $(#[doc = $doc:literal])+
        $vis:vis $table:ident: $name:literal $(($($flag:ident),+))? $(extends [$($parent:expr),+])? {
            $($key:ident: $ty:tt $(= $default:tt)?, $text:literal;)*
        }
    )+) => {$(
        $(#[doc = $doc])+
        $vis static $table: $crate::declaration::OptionTable = $crate::declaration::OptionTable {
            name: $name,
            doc: $crate::declaration::doc_text(concat!($($doc),+)),
            open: $crate::option_tables!(@open $($($flag)+)?),
            linted: $crate::option_tables!(@linted $($($flag)+)?),
            extends: &[$($($parent),+)?],
            rows: &[$($crate::option_tables!(@row $key, $ty, $text $(, $default)?)),*],
        };
    )+};
    (@open) => { false };
    (@open open $($more:ident)*) => { true };
    (@open $other:ident $($more:ident)*) => { $crate::option_tables!(@open $($more)*) };
    (@linted) => { false };
    (@linted linted $($more:ident)*) => { true };
    (@linted $other:ident $($more:ident)*) => { $crate::option_tables!(@linted $($more)*) };
    (@row $key:ident, $ty:expr, $text:literal $(, $default:tt)?) => {
        $crate::declaration::OptionRow {
            key: $crate::declaration::key_text(stringify!($key)),
            ty: $ty,
            required: $crate::option_tables!(@required $($default)?),
            default: $crate::option_tables!(@default $($default)?),
            doc: $text,
        }
    };
    (@required required) => { true };
    (@required (required)) => { true };
    (@required $($other:tt)?) => { false };
    (@default) => { "" };
    (@default required) => { "" };
    (@default (required)) => { "" };
    (@default (shown $text:literal)) => { $text };
    (@default $default:tt) => { stringify!($default) };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::option_tables! {
        /// Shared rows.
        SHARED: "Shared" {
            a: "int" = 1, "A number.";
            b: "string" = (shown "\"x\""), "A text.";
        }
        /// Further
        /// rows.
        OWN: "Own" (open) extends [&SHARED] {
            r#type: "any" = required, "Anything.";
            b: "bool", "A flag.";
        }
    }

    #[test]
    fn a_table_has_the_rows_that_it_extends_unless_it_has_its_own() {
        assert_eq!(OWN.to_string(), "{type: any, b?: bool, a?: int, ...}");
        assert_eq!((OWN.doc, OWN.linted), ("Further rows.", false));
        assert_eq!(OWN.find("b").map(|row| row.ty), Some("bool"));
        assert_eq!(OWN.find("a").map(|row| row.default), Some("1"));
        assert_eq!(SHARED.find("b").map(|row| row.default), Some("\"x\""));
        assert_eq!(OWN.keys().collect::<Vec<_>>(), ["type", "b", "a"]);
        assert!(OWN.has("a") && !OWN.has("d"));
    }
}
