//! The catalogue of mistakes that only Rhai knows; all others have the codes that they have in the language itself.

use lang::codes;

codes! {
/// The codes of mistakes that only Rhai knows.
pub(crate) enum RhaiCode {
    /// A declaration inside a block.
    Top = "HARN-RHAI-001", Error {
        title: "declaration inside a block of a Rhai script",
        meaning: "In a `.rhai` file, `fn` and `export` must be at the top level, not in a block or another \
            function. Inside, use a closure: `let add = |a, b| a + b;`, called as `add.call(1, 2)`.",
    },
    /// A variable that is used while it is being changed.
    InUse = "HARN-RHAI-002", Error {
        title: "Rhai variable used while it is being changed",
        meaning: "A closure shares the variables that it captures. While a method changes one of them, the closure that it \
            calls cannot read the same variable. Copy the variable first: `let copy = xs;`.",
    },
    /// An ordinary string that looks like a template.
    Template = "HARN-RHAI-003", Warning {
        title: "template in an ordinary Rhai string",
        meaning: "In a `.rhai` file, `${…}` is interpolated only in strings in backticks. In double quotes, it is \
            printed as written. The name in it is in scope, so you probably meant backticks.",
    },
}
}
