//! Diagnostic codes: the rows of this crate's catalogue, and the handle that a note or a fault carries.
//!
//! Each family has an enum next to its subject, defined with its rows by [`codes!`](macro@crate::codes). `stdlib` joins
//! the catalogues of all crates; `explain`, `check`, the docs and the tests read the whole.

use std::any::Any;
use std::fmt;
use std::ptr;

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// An operation was not done.
    Error,
    /// An operation was done, but possibly not as intended.
    Warning,
    /// For the record.
    Info,
}

impl Severity {
    /// Returns the written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A row of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The code.
    pub code: &'static str,
    /// Severity of the diagnostic.
    pub severity: Severity,
    /// A terse phrase.
    pub title: &'static str,
    /// Its meaning and remedy, in a few sentences.
    pub meaning: &'static str,
    /// Whether `check` finds it in literals.
    pub in_check: bool,
    /// Whether running the script raises it.
    pub at_run_time: bool,
    /// A script that fails in this way.
    pub fails: &'static str,
    /// Fixed version of that script.
    pub mended: &'static str,
}

/// A code of any enum: its text and its row, which may belong to the catalogue of another crate.
#[derive(Clone, Copy)]
pub struct CodeRef {
    text: &'static str,
    row: &'static (dyn Any + Send + Sync),
}

impl CodeRef {
    /// Creates a reference to a row of any catalogue.
    #[must_use]
    pub const fn new(text: &'static str, row: &'static (dyn Any + Send + Sync)) -> CodeRef {
        CodeRef { text, row }
    }

    /// Returns the text of the code: `HARN-XXX-NNN`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.text
    }

    /// Returns the row, if it is of the type `T`.
    #[must_use]
    pub fn row<T: 'static>(self) -> Option<&'static T> {
        self.row.downcast_ref()
    }
}

/// Each code has one row, so codes are equal if their rows are identical.
impl<C: Copy + Into<CodeRef>> PartialEq<C> for CodeRef {
    fn eq(&self, other: &C) -> bool {
        ptr::addr_eq(self.row, (*other).into().row)
    }
}

impl Eq for CodeRef {}

impl fmt::Display for CodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text)
    }
}

impl fmt::Debug for CodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// Defines the codes of a family: an enum, and the row of each variant. A variant without a row does not parse.
///
/// ```
/// base::codes! {
/// /// The codes of a family.
/// pub enum ExampleCode {
///     /// A worker that does not answer. Only a run shows it, and no script by itself.
///     Silent = "HARN-EXA-001", Error {
///         title: "silent worker",
///         meaning: "Start it again.",
///     },
/// }
/// }
///
/// let row = &ExampleCode::rows()[0];
/// assert_eq!((row.code, row.in_check, row.at_run_time), ("HARN-EXA-001", false, true));
/// assert_eq!(base::codes::CodeRef::from(ExampleCode::Silent), ExampleCode::Silent);
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
                $(in_check: $in_check:literal, at_run_time: $at_run_time:literal,)?
                $(fails: $fails:literal, mended: $mended:literal,)?
            },
        )+}
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {$(
            $(#[$doc])*
            $variant,
        )+}

        impl $name {
            /// Every code, in the order of the rows.
            $vis const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Returns the rows of the catalogue.
            #[must_use]
            $vis const fn rows() -> &'static [$crate::codes::Code] {
                // The static is the array itself, because the target of a reference in a static may exist more than
                // once.
                static ROWS: [$crate::codes::Code; $name::ALL.len()] = [$($crate::codes::Code {
                    code: $code,
                    severity: $crate::codes::Severity::$severity,
                    title: $title,
                    meaning: $meaning,
                    in_check: false $(|| $in_check)?,
                    at_run_time: true $(&& $at_run_time)?,
                    fails: concat!($($fails)?),
                    mended: concat!($($mended)?),
                }),+];
                &ROWS
            }

            /// Returns the text of the code: `HARN-XXX-NNN`.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                Self::rows()[self as usize].code
            }
        }

        impl From<$name> for $crate::codes::CodeRef {
            fn from(code: $name) -> Self {
                Self::new(code.as_str(), &$name::rows()[code as usize])
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
