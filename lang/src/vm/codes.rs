//! The catalogue of runtime errors.

use crate::diagnostic::Severity::Error;
use crate::diagnostic::code::Code;

pub use super::tasks::codes::{CLOSED, DEADLINE, DEADLOCK, TASK_CANCELLED, TASKS, UNSEEN};

/// A thrown value that nobody caught.
pub const UNCAUGHT: &str = "HARN-RUN-001";
/// An operator or builtin given a value of the wrong type.
pub const TYPE: &str = "HARN-RUN-002";
/// Division or remainder by the integer zero.
pub const ZERO: &str = "HARN-RUN-003";
/// An index that is out of range.
pub const INDEX: &str = "HARN-RUN-004";
/// A method or field that the value does not have.
pub const MEMBER: &str = "HARN-RUN-005";
/// A wrong number of arguments.
pub const ARITY: &str = "HARN-RUN-006";
/// A call of something that is not a function.
pub const CALL: &str = "HARN-RUN-007";
/// A `match` without a fitting arm.
pub const NO_ARM: &str = "HARN-RUN-008";
/// A `require` or assertion that does not hold.
pub const REQUIRE: &str = "HARN-RUN-009";
/// Calls nested too deep.
pub const DEPTH: &str = "HARN-RUN-010";
/// Fuel is used up.
pub const FUEL: &str = "HARN-RUN-011";
/// A variable read before it is bound.
pub const UNBOUND: &str = "HARN-RUN-012";
/// An argument whose type is right and whose value is not.
pub const VALUE: &str = "HARN-RUN-013";
/// A capability that the run was not given.
pub const DENIED: &str = "HARN-RUN-014";
/// The run was cancelled.
pub const CANCELLED: &str = "HARN-RUN-015";
/// Something outside failed: a file, a process, the network.
pub const OUTSIDE: &str = "HARN-RUN-016";
/// A value larger than the run may make.
pub const SIZE: &str = "HARN-RUN-017";
/// A struct that cannot be made from what a literal spreads, or a field that it does not have.
pub const NOT_MADE: &str = "HARN-RUN-020";
/// Memory is used up.
pub const MEMORY: &str = "HARN-LIM-001";
/// Time is used up.
pub const TIME: &str = "HARN-LIM-002";
/// An iterator that is asked for an item while it makes one.
pub const RUNNING: &str = "HARN-RUN-025";

/// The rows.
pub static CODES: &[Code] = &[
    Code {
        code: MEMORY,
        severity: Error,
        title: "the run used up its memory",
        meaning: "All values of a run together may hold so much: 4 GiB, or what `--max-memory` or `memory` in `harn.toml` \
                  says. Nothing can catch this, and the exit code is 3.",
        fails: "",
        mended: "",
    },
    Code {
        code: TIME,
        severity: Error,
        title: "the run took too long",
        meaning: "The run went on for longer than `--timeout` or `timeout` in `harn.toml` allows, by the system's clock. It \
                  can catch this once and has a tenth of its time, at least 100 ms, to clean up; then it is ended, with \
                  exit code 3.",
        fails: "",
        mended: "",
    },
    Code {
        code: UNCAUGHT,
        severity: Error,
        title: "an error that nobody caught",
        meaning: "A value was thrown and no `catch` took it. Catch it where something can be done about it, or let the run end.",
        fails: "throw \"no such user\"\n",
        mended: "let r = try { throw \"no such user\" }\nprintln(is_err(r))\n",
    },
    Code {
        code: TYPE,
        severity: Error,
        title: "a value of the wrong type",
        meaning: "An operator or a builtin was given a value that it cannot work with. Nothing is turned into a string by \
                  itself: use `\"${…}\"` or `to_string`.",
        fails: "fn title(n) {\n  return \"turn \" + n\n}\nprintln(title(3))\n",
        mended: "fn title(n) {\n  return \"turn ${n}\"\n}\nprintln(title(3))\n",
    },
    Code {
        code: ZERO,
        severity: Error,
        title: "division by zero",
        meaning: "An integer was divided by the integer zero. Floats give `inf` or `NaN` instead.",
        fails: "let n = 0\nprintln(10 / n)\n",
        mended: "let n = 0\nprintln(n == 0 ? 0 : 10 / n)\n",
    },
    Code {
        code: INDEX,
        severity: Error,
        title: "an index out of range",
        meaning: "A list or string has no element there. `?[i]` gives nil instead; `-1` is the last one.",
        fails: "let xs = [1, 2]\nprintln(xs[2])\n",
        mended: "let xs = [1, 2]\nprintln(xs?[2])\n",
    },
    Code {
        code: MEMBER,
        severity: Error,
        title: "no such method or field",
        meaning: "The value has no method or field of that name. Dicts give nil for a missing key; other values do not guess.",
        fails: "fn size(xs) {\n  return xs.lenght()\n}\nprintln(size([1, 2]))\n",
        mended: "fn size(xs) {\n  return xs.count()\n}\nprintln(size([1, 2]))\n",
    },
    Code {
        code: ARITY,
        severity: Error,
        title: "a wrong number of arguments",
        meaning: "A function was called with more or fewer arguments than it takes. Calls are positional; parameters with a \
                  default may be left out from the right.",
        fails: "fn one(f) {\n  return f(1)\n}\nprintln(one({ a, b -> a }))\n",
        mended: "fn one(f) {\n  return f(1)\n}\nprintln(one({ a -> a }))\n",
    },
    Code {
        code: CALL,
        severity: Error,
        title: "a call of something that is not a function",
        meaning: "What stands before the parentheses is not a function, closure or builtin.",
        fails: "fn ask(name) {\n  return name()\n}\nprintln(ask(\"harn\"))\n",
        mended: "fn ask(name) {\n  return name()\n}\nprintln(ask({ -> \"harn\" }))\n",
    },
    Code {
        code: NO_ARM,
        severity: Error,
        title: "no arm of `match` fits",
        meaning: "The value fits none of the patterns. Add an arm for it, or `_ -> …` for all that is left.",
        fails: "let n = 7\nmatch n {\n  1 -> println(\"one\")\n}\n",
        mended: "let n = 7\nmatch n {\n  1 -> println(\"one\")\n  _ -> println(\"many\")\n}\n",
    },
    Code {
        code: REQUIRE,
        severity: Error,
        title: "a requirement that does not hold",
        meaning: "A `require` or an assertion was false.",
        fails: "let n = 0\nrequire n > 0, \"n must be positive\"\n",
        mended: "let n = 1\nrequire n > 0, \"n must be positive\"\n",
    },
    Code {
        code: DEPTH,
        severity: Error,
        title: "calls nested too deep",
        meaning: "Functions called each other until the limit of call depth was passed, usually because a recursion has no \
                  end. A function whose last act is to call itself does not deepen the stack.",
        fails: "fn down(n) { return 1 + down(n + 1) }\ndown(0)\n",
        mended: "fn down(n) { return n > 10 ? n : 1 + down(n + 1) }\nprintln(down(0))\n",
    },
    Code {
        code: FUEL,
        severity: Error,
        title: "the run used up its fuel",
        meaning: "The run executed more instructions than it was given with `--fuel`. Nothing can catch this.",
        fails: "",
        mended: "",
    },
    Code {
        code: UNBOUND,
        severity: Error,
        title: "a variable read before it is bound",
        meaning: "A function reads a variable of the file, or of the block around it, that has not been bound yet when the \
                  function is called. Call it after the binding.",
        fails: "fn show() { println(name) }\nshow()\nlet name = \"harn\"\n",
        mended: "fn show() { println(name) }\nlet name = \"harn\"\nshow()\n",
    },
    Code {
        code: VALUE,
        severity: Error,
        title: "a value that a builtin cannot work with",
        meaning: "The argument has the right type and a value that makes no sense there. The message says which values do.",
        fails: "println(\"ab\".repeat(0 - 1))\n",
        mended: "println(\"ab\".repeat(2))\n",
    },
    Code {
        code: DENIED,
        severity: Error,
        title: "a capability that the run was not given",
        meaning: "The builtin needs a right (files, processes, network, environment, models) that was taken away with `--deny`.",
        fails: "",
        mended: "",
    },
    Code {
        code: CANCELLED,
        severity: Error,
        title: "the run was cancelled",
        meaning: "Somebody gave the task up. `defer` and `finally` still run; `catch` does not see it.",
        fails: "",
        mended: "",
    },
    Code {
        code: OUTSIDE,
        severity: Error,
        title: "something outside failed",
        meaning: "A file, a process or the network did not do what was asked. The message has the reason the system gave.",
        fails: "println(read_file(\"no-such-file.txt\"))\n",
        mended: "println(file_exists(\"no-such-file.txt\"))\n",
    },
    Code {
        code: SIZE,
        severity: Error,
        title: "a value larger than the run may make",
        meaning: "One operation would have made a string or list larger than the limit. Build it in pieces, or write it to a file.",
        fails: "println(len(\"ab\".repeat(999999999999)))\n",
        mended: "println(len(\"ab\".repeat(9)))\n",
    },
    Code {
        code: RUNNING,
        severity: Error,
        title: "an iterator asked for an item while it makes one",
        meaning: "A generator, stream or lazy iterator makes one item at a time. While it does, neither its own body or \
                  closure nor another task can ask it for the next one. Make a second one, or ask from outside.",
        fails: "var g = nil\nfn numbers() {\n  yield 1\n  yield g.next().value\n}\ng = numbers()\nprintln(g.to_list())\n",
        mended: "fn numbers() {\n  yield 1\n  yield numbers().next().value\n}\nprintln(numbers().to_list())\n",
    },
    Code {
        code: NOT_MADE,
        severity: Error,
        title: "a field that the struct does not have, or lacks",
        meaning: "A struct has exactly the fields of its declaration. What a literal spreads, or a path assigns, names \
                  another one, or a field without a default is missing.",
        fails: "struct Point { x: int, y: int }\nlet d = json_parse(\"{\\\"x\\\": 1}\")\nprintln(Point {...d})\n",
        mended: "struct Point { x: int, y: int = 0 }\nlet d = json_parse(\"{\\\"x\\\": 1}\")\nprintln(Point {...d})\n",
    },
];
