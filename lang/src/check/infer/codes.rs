//! The catalogue of what types tell.

use crate::diagnostic::Severity::{Error, Warning};
use crate::diagnostic::code::Code;

/// An operator on values that it does not work on.
pub(super) const OPERATOR: &str = "HARN-TYP-020";
/// A call of what is no function.
pub(super) const CALLED: &str = "HARN-TYP-021";
/// A method or field that values of this type do not have.
pub(super) const MEMBER: &str = "HARN-TYP-022";
/// An index or slice of what has none, or by what is none.
pub(super) const INDEXED: &str = "HARN-TYP-023";
/// A walk over what is no collection.
pub(super) const WALKED: &str = "HARN-TYP-024";
/// A key that the written type of a dict does not have.
pub(super) const NO_KEY: &str = "HARN-TYP-025";
/// Statements that control never reaches.
pub(super) const DEAD: &str = "HARN-CHK-001";
/// An arm that is never taken.
pub(super) const ARM: &str = "HARN-CHK-002";
/// A comparison whose answer is known.
pub(super) const COMPARED: &str = "HARN-CHK-003";

/// The rows.
pub(in crate::check) static CODES: &[Code] = &[
    Code {
        code: OPERATOR,
        severity: Error,
        title: "an operator that does not work on these values",
        meaning: "The types of both sides are known, and the operator raises for every such pair. Nothing becomes a string by itself.",
        fails: "let turn = 3\nprintln(\"turn \" + turn)\n",
        mended: "let turn = 3\nprintln(\"turn ${turn}\")\n",
    },
    Code {
        code: CALLED,
        severity: Error,
        title: "a call of something that is no function",
        meaning: "The type of what is called is known, and it is no function.",
        fails: "let limit = 3\nprintln(limit(2))\n",
        mended: "let limit = { n -> n * 3 }\nprintln(limit(2))\n",
    },
    Code {
        code: MEMBER,
        severity: Error,
        title: "a method or field that the type does not have",
        meaning: "The type of the value before the dot is known, and it has no method or field of that name.",
        fails: "let names = [\"ada\"]\nprintln(names.lenght())\n",
        mended: "let names = [\"ada\"]\nprintln(names.count())\n",
    },
    Code {
        code: INDEXED,
        severity: Error,
        title: "an index that cannot be",
        meaning: "Lists, strings and ranges are indexed by ints, dicts by strings; other values cannot be indexed. Strings, lists and ranges can be sliced.",
        fails: "let size = 42\nprintln(size[0])\n",
        mended: "let size = \"42\"\nprintln(size[0])\n",
    },
    Code {
        code: WALKED,
        severity: Error,
        title: "a walk over something that is no collection",
        meaning: "`for` walks over lists, dicts, strings, sets, ranges, iterators and streams.",
        fails: "for i in 3 {\n  println(i)\n}\n",
        mended: "for i in 0 to 3 exclusive {\n  println(i)\n}\n",
    },
    Code {
        code: NO_KEY,
        severity: Error,
        title: "a key that the dict's type does not have",
        meaning: "The written type of a dict lists its keys. A type that ends in `...` allows others. What a builtin \
                  returns may hold other keys, too; there, a name near to a known key is reported as a warning.",
        fails: "fn greet(user: {name: string}) {\n  println(user.nmae)\n}\ngreet({name: \"Ada\"})\n",
        mended: "fn greet(user: {name: string}) {\n  println(user.name)\n}\ngreet({name: \"Ada\"})\n",
    },
    Code {
        code: DEAD,
        severity: Warning,
        title: "statements that are never reached",
        meaning: "Before them control leaves for good: by `return`, `throw`, `break`, `continue`, a call that never comes back, or a loop without end.",
        fails: "fn half(n) {\n  return n / 2\n  println(\"halved\")\n}\nprintln(half(4))\n",
        mended: "fn half(n) {\n  println(\"halving\")\n  return n / 2\n}\nprintln(half(4))\n",
    },
    Code {
        code: ARM,
        severity: Warning,
        title: "an arm for values that never come",
        meaning: "The type of the value is known, and no value of that type fits the pattern.",
        fails: "fn word(n: int) {\n  return match n {\n    \"1\" -> \"one\"\n    _ -> \"many\"\n  }\n}\nprintln(word(1))\n",
        mended: "fn word(n: int) {\n  return match n {\n    1 -> \"one\"\n    _ -> \"many\"\n  }\n}\nprintln(word(1))\n",
    },
    Code {
        code: COMPARED,
        severity: Warning,
        title: "a comparison whose answer is known",
        meaning: "Values of these two types are never equal: a string is no number, even if it looks like one.",
        fails: "fn asks(answer: string) {\n  return answer == 42\n}\nprintln(asks(\"42\"))\n",
        mended: "fn asks(answer: string) {\n  return answer == \"42\"\n}\nprintln(asks(\"42\"))\n",
    },
];
