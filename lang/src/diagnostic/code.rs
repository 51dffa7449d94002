//! Diagnostic codes: the rows of the catalogue, the enums that name them, and the handle that a diagnostic carries.
//!
//! Each stage has an enum of its own beside it, defined with its rows by [`codes!`](crate::codes). A [`CodeRef`] is made from
//! any of them, so that a diagnostic, and a crate that reports one, need not know which enum a code is from.

use super::Severity;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr;

/// One row of a catalogue. Each crate that makes diagnostics has a table of these; `stdlib` joins them.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `HARN-XXX-NNN`.
    pub code: &'static str,
    /// Usual severity of the diagnostic.
    pub severity: Severity,
    /// One terse phrase.
    pub title: &'static str,
    /// Explanation and fix: a short paragraph.
    pub meaning: &'static str,
    /// A script that triggers it.
    pub fails: &'static str,
    /// Fixed version of that script.
    pub mended: &'static str,
}

/// A code of any enum: a reference to its row.
#[derive(Clone, Copy)]
pub struct CodeRef(&'static Code);

impl CodeRef {
    /// Refers to a row of a catalogue.
    #[must_use]
    pub const fn new(row: &'static Code) -> Self {
        Self(row)
    }

    /// Returns the row.
    #[must_use]
    pub const fn row(self) -> &'static Code {
        self.0
    }

    /// Returns the severity in the row.
    #[must_use]
    pub const fn severity(self) -> Severity {
        self.0.severity
    }

    /// Returns the text of the code: `HARN-XXX-NNN`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0.code
    }
}

/// Each code has one row, so codes are equal if their rows are the same one.
impl<C: Copy + Into<CodeRef>> PartialEq<C> for CodeRef {
    fn eq(&self, other: &C) -> bool {
        ptr::eq(self.0, (*other).into().0)
    }
}

impl Eq for CodeRef {}

impl Hash for CodeRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ptr::hash(self.0, state);
    }
}

impl PartialOrd for CodeRef {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CodeRef {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl fmt::Display for CodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for CodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Defines the codes of a stage: an enum, and the row of each variant. A variant without a row does not parse.
///
/// ```
/// lang::codes! {
/// /// The codes of a stage.
/// pub enum ExampleCode {
///     /// An unknown color.
///     Color = "HARN-EXA-001", Error {
///         title: "unknown color",
///         meaning: "The colors are `red` and `green`.",
///         fails: "paint(\"gren\")\n",
///         mended: "paint(\"green\")\n",
///     },
///     /// A color that is hard to see. No script shows it.
///     Pale = "HARN-EXA-002", Warning {
///         title: "pale color",
///         meaning: "Choose a darker one.",
///     },
/// }
/// }
///
/// let code = lang::diagnostic::code::CodeRef::from(ExampleCode::Pale);
/// assert_eq!(code.to_string(), "HARN-EXA-002");
/// assert_eq!(code, ExampleCode::ALL[1]);
/// assert_eq!(ExampleCode::rows()[0].title, "unknown color");
/// ```
#[macro_export]
macro_rules! codes {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {$(
            $(#[$doc:meta])*
            $variant:ident = $code:literal, $severity:ident {
                title: $title:literal,
                meaning: $meaning:literal,
                $(fails: $fails:literal, mended: $mended:literal,)?
            },
        )+}
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name {$(
            $(#[$doc])*
            $variant,
        )+}

        #[allow(dead_code, reason = "not every stage asks for all of these")]
        impl $name {
            /// Every code, in the order of the rows.
            $vis const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the rows of the catalogue.
            #[must_use]
            $vis const fn rows() -> &'static [$crate::diagnostic::code::Code] {
                // The static is the array itself: what a reference in a static points to may exist more than once.
                static ROWS: [$crate::diagnostic::code::Code; $name::ALL.len()] = [$($crate::diagnostic::code::Code {
                    code: $code,
                    severity: $crate::diagnostic::Severity::$severity,
                    title: $title,
                    meaning: $meaning,
                    fails: concat!($($fails)?),
                    mended: concat!($($mended)?),
                }),+];
                &ROWS
            }

            /// Returns the handle that a diagnostic carries.
            #[must_use]
            $vis const fn code(self) -> $crate::diagnostic::code::CodeRef {
                $crate::diagnostic::code::CodeRef::new(&Self::rows()[self as usize])
            }
        }

        impl From<$name> for $crate::diagnostic::code::CodeRef {
            fn from(code: $name) -> Self {
                code.code()
            }
        }
    };
}
