//! The catalogue of what the checker finds.

use crate::diagnostic::Severity::{Error, Warning};
use crate::diagnostic::code::Code;

/// A value of the wrong type in a literal.
pub const TYPE: &str = "HARN-TYP-001";
/// A key that the dict does not take.
pub const KEY: &str = "HARN-TYP-002";
/// A key that is missing.
pub const MISSING: &str = "HARN-TYP-003";
/// A wrong number of arguments.
pub const ARITY: &str = "HARN-TYP-004";
/// Something that is there for old scripts.
pub const DEPRECATED: &str = "HARN-TYP-005";

/// The rows.
pub static CODES: &[Code] = &[
    Code {
        code: TYPE,
        severity: Error,
        title: "a value of the wrong type",
        meaning: "A literal stands where the function takes another type. Types are checked only where both sides are known.",
        fails: "println(json_parse(42))\n",
        mended: "println(json_parse(\"42\"))\n",
    },
    Code {
        code: KEY,
        severity: Error,
        title: "an option that does not exist",
        meaning: "The dict has a key that the function does not know, so it would do nothing. The lists of options are closed.",
        fails: "agent_loop(\"task\", \"system\", {max_iteration: 3})\n",
        mended: "agent_loop(\"task\", \"system\", {max_iterations: 3})\n",
    },
    Code {
        code: MISSING,
        severity: Error,
        title: "a key that is missing",
        meaning: "The dict lacks a key that the function cannot do without.",
        fails: "store_fact({kind: \"decision\"})\n",
        mended: "store_fact({kind: \"decision\", claim: \"tabs\", confidence: 0.9})\n",
    },
    Code {
        code: ARITY,
        severity: Error,
        title: "a wrong number of arguments",
        meaning: "A function is called with more or fewer arguments than it takes.",
        fails: "fn add(a, b) { return a + b }\nprintln(add(1))\n",
        mended: "fn add(a, b) { return a + b }\nprintln(add(1, 2))\n",
    },
    Code {
        code: DEPRECATED,
        severity: Warning,
        title: "something that is there for old scripts",
        meaning: "The function is marked `@deprecated`. The attribute's text says what to use instead.",
        fails: "@deprecated(\"use sum\")\nfn add(a, b) { return a + b }\nprintln(add(1, 2))\n",
        mended: "fn sum(a, b) { return a + b }\nprintln(sum(1, 2))\n",
    },
];
