//! The catalogue of mistakes that only Rhai knows; all others have the codes that they have in the language itself.

use lang::diagnostic::Severity::{Error, Warning};
use lang::diagnostic::code::Code;

/// A declaration inside a block.
pub(crate) const TOP: &str = "HARN-RHAI-001";
/// A variable that is used while it is being changed.
pub(crate) const IN_USE: &str = "HARN-RHAI-002";
/// An ordinary string that looks like a template.
pub(crate) const TEMPLATE: &str = "HARN-RHAI-003";
/// Expressions in each other too deep, as in the language itself.
pub(super) const DEPTH: &str = "HARN-LEX-006";

/// The rows.
pub(crate) static CODES: &[Code] = &[
    Code {
        code: TOP,
        severity: Error,
        title: "a declaration inside a block of Rhai",
        meaning: "In a `.rhai` file, `fn` and `export` stand at the top, not in a block or another function. A function that \
                  is needed inside is a closure: `let add = |a, b| a + b;`, called as `add.call(1, 2)`.",
        fails: "",
        mended: "",
    },
    Code {
        code: IN_USE,
        severity: Error,
        title: "a variable of Rhai that is used while it is being changed",
        meaning: "A closure shares the variables that it captures. While a method changes one of them, the closure that it \
                  calls cannot read the same variable. Copy the variable first: `let copy = xs;`.",
        fails: "",
        mended: "",
    },
    Code {
        code: TEMPLATE,
        severity: Warning,
        title: "an ordinary string that looks like a template",
        meaning: "In a `.rhai` file, `${…}` is put in only in strings in backticks. In double quotes it stays as it is \
                  written. The name in it is one that is in scope, so backticks are probably meant.",
        fails: "",
        mended: "",
    },
];
