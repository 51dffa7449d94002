//! The catalogue of what the checker finds.

use crate::diagnostic::Severity::{Error, Info, Warning};
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
/// A field that the struct does not have.
pub const NO_FIELD: &str = "HARN-TYP-010";
/// A field that a literal leaves out.
pub const FIELD_MISSING: &str = "HARN-TYP-011";
/// A field that a literal gives twice.
pub const FIELD_TWICE: &str = "HARN-TYP-012";
/// A variant or function that the type does not have.
pub const NO_MEMBER: &str = "HARN-TYP-013";
/// A wrong number of values for a variant.
pub const VALUES: &str = "HARN-TYP-014";
/// A `match` without an arm for a variant.
pub const NOT_COVERED: &str = "HARN-TYP-015";
/// An arm that can never be chosen.
pub const UNREACHABLE: &str = "HARN-TYP-016";
/// Alternatives that bind different names.
pub const ALTERNATIVES: &str = "HARN-TYP-017";
/// A type that lacks what an interface asks for.
pub const NOT_IMPLEMENTED: &str = "HARN-TYP-018";
/// An attribute that does not exist, or stands where it means nothing.
pub const ATTRIBUTE: &str = "HARN-NAM-013";
/// An `override` that takes other arguments.
pub const OVERRIDE: &str = "HARN-TYP-019";
/// An invisible character that turns the text.
pub const HIDDEN: &str = "HARN-LEX-015";
/// More findings than are shown.
pub const MORE: &str = "HARN-TYP-030";

/// The rows.
pub static CODES: &[Code] = &[
    Code {
        code: HIDDEN,
        severity: Warning,
        title: "invisible character that reorders text",
        meaning: "The file contains a bidirectional control character such as U+202E. Editors and terminals show the text \
                  after it in another order, so that what you read is not what runs. Remove it; where a string needs one, \
                  write its escape.",
        fails: "println(\"a\u{202e}b\")\n",
        mended: "println(\"a\\u{202e}b\")\n",
    },
    Code {
        code: MORE,
        severity: Info,
        title: "more findings than are shown",
        meaning: "At most 1,000 findings are shown for a file, errors first. Fix those, then check again.",
        fails: "",
        mended: "",
    },
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
    Code {
        code: NO_FIELD,
        severity: Error,
        title: "a field that the struct does not have",
        meaning: "A struct has the fields of its declaration and no others.",
        fails: "struct Point { x: int, y: int }\nprintln(Point {x: 1, z: 2, y: 3})\n",
        mended: "struct Point { x: int, y: int }\nprintln(Point {x: 1, y: 3})\n",
    },
    Code {
        code: FIELD_MISSING,
        severity: Error,
        title: "a field that a literal leaves out",
        meaning: "A struct literal gives every field that has no default.",
        fails: "struct Point { x: int, y: int }\nprintln(Point {x: 1})\n",
        mended: "struct Point { x: int, y: int = 0 }\nprintln(Point {x: 1})\n",
    },
    Code {
        code: FIELD_TWICE,
        severity: Error,
        title: "a field that a literal gives twice",
        meaning: "A struct literal gives each field once.",
        fails: "struct Point { x: int }\nprintln(Point {x: 1, x: 2})\n",
        mended: "struct Point { x: int }\nprintln(Point {x: 2})\n",
    },
    Code {
        code: NO_MEMBER,
        severity: Error,
        title: "a variant or function that the type does not have",
        meaning: "Behind the dot of a type stands one of its variants, or a function of one of its `impl`s. In patterns \
                  only `Ok` and `Err` stand without their enum.",
        fails: "enum Color { Red, Green }\nprintln(Color.Gren)\n",
        mended: "enum Color { Red, Green }\nprintln(Color.Green)\n",
    },
    Code {
        code: VALUES,
        severity: Error,
        title: "a wrong number of values for a variant",
        meaning: "A variant is made with, and matched by, as many values as its declaration says.",
        fails: "enum Shape { Circle(float) }\nprintln(Shape.Circle(1.0, 2.0))\n",
        mended: "enum Shape { Circle(float) }\nprintln(Shape.Circle(1.0))\n",
    },
    Code {
        code: NOT_COVERED,
        severity: Error,
        title: "a `match` without an arm for a variant",
        meaning: "The arms name variants of an enum and leave some out, so a value of those would find no arm. An arm with \
                  a guard does not count: the guard may be false.",
        fails: "enum Color { Red, Green }\nlet c = Color.Red\nmatch c {\n  Color.Red -> println(\"red\")\n}\n",
        mended: "enum Color { Red, Green }\nlet c = Color.Red\nmatch c {\n  Color.Red -> println(\"red\")\n  _ -> println(\"another\")\n}\n",
    },
    Code {
        code: UNREACHABLE,
        severity: Warning,
        title: "an arm that can never be chosen",
        meaning: "Arms are tried from the top, and an earlier one takes everything that this one would. A bare name in a \
                  pattern binds and fits everything.",
        fails: "match 3 {\n  n -> println(n)\n  3 -> println(\"three\")\n}\n",
        mended: "match 3 {\n  3 -> println(\"three\")\n  n -> println(n)\n}\n",
    },
    Code {
        code: ALTERNATIVES,
        severity: Error,
        title: "alternatives that bind different names",
        meaning: "Whichever alternative of a pattern fits, the arm sees the same names: each alternative binds all of them, \
                  and each once.",
        fails: "match Ok(1) {\n  Ok(n) | Err(e) -> println(n)\n}\n",
        mended: "match Ok(1) {\n  Ok(n) | Err(n) -> println(n)\n}\n",
    },
    Code {
        code: OVERRIDE,
        severity: Error,
        title: "an override that takes other arguments",
        meaning: "The body of the base calls its functions with the arguments that they take there. What overrides one must \
                  take as many.",
        fails: "pipeline base() {\n  fn greet(name) { println(name) }\n  greet(\"Ada\")\n}\npipeline default() extends base {\n  override fn greet() { println(\"hi\") }\n}\n",
        mended: "pipeline base() {\n  fn greet(name) { println(name) }\n  greet(\"Ada\")\n}\npipeline default() extends base {\n  override fn greet(name) { println(\"hi ${name}\") }\n}\n",
    },
    Code {
        code: NOT_IMPLEMENTED,
        severity: Error,
        title: "a type that lacks what an interface asks for",
        meaning: "`impl Interface for Type` says that the type has all functions of the interface, with those parameters. \
                  They may stand in any `impl` of the type.",
        fails: "interface Shape {\n  fn area(self) -> float\n}\nstruct Square { side: float }\nimpl Shape for Square {\n  fn size(self) { self.side }\n}\nprintln(Square {side: 2.0}.size())\n",
        mended: "interface Shape {\n  fn area(self) -> float\n}\nstruct Square { side: float }\nimpl Shape for Square {\n  fn area(self) { self.side * self.side }\n}\nprintln(Square {side: 2.0}.area())\n",
    },
    Code {
        code: ATTRIBUTE,
        severity: Error,
        title: "an attribute that does not exist, or not like this",
        meaning: "There are `@test`, before a function that is called without arguments, `@resumable`, before a pipeline that \
                  may run again where a process ended in the middle of it, and `@deprecated(\"use …\")`.",
        fails: "@tset\nfn adds() { assert_eq(1 + 1, 2) }\nadds()\n",
        mended: "@test\nfn adds() { assert_eq(1 + 1, 2) }\nadds()\n",
    },
];
