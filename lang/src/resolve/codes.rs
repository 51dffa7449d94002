//! The catalogue of name errors.

use crate::codes;

codes! {
/// The codes of name errors.
pub enum ResolveCode {
    /// Unknown name.
    Undefined = "HARN-NAM-001", Error {
        title: "unknown name",
        meaning: "The name is neither a builtin nor bound in a surrounding scope.",
        fails: "let total = 3\nprintln(totl)\n",
        mended: "let total = 3\nprintln(total)\n",
    },
    /// Name bound twice in a scope.
    Twice = "HARN-NAM-002", Error {
        title: "name bound twice in a scope",
        meaning: "A name can be bound only once in a scope. Assign to a `var`, choose another name, or open an inner scope.",
        fails: "let n = 1\nlet n = 2\nprintln(n)\n",
        mended: "var n = 1\nn = 2\nprintln(n)\n",
    },
    /// Assignment to an immutable binding.
    Forbidden = "HARN-NAM-003", Error {
        title: "assignment to an immutable binding",
        meaning: "`let`, `const`, parameters, loop variables and functions cannot be assigned to. Only a `var` can.",
        fails: "let n = 1\nn = 2\nprintln(n)\n",
        mended: "var n = 1\nn = 2\nprintln(n)\n",
    },
    /// Invalid use of a namespace.
    Namespace = "HARN-NAM-004", Error {
        title: "invalid use of a namespace",
        meaning: "A namespace has a fixed list of builtins, which are called with a dot. It is not a value.",
    },
    /// Unused binding.
    Unused = "HARN-NAM-005", Warning {
        title: "unused binding",
        meaning: "The name is bound and never used. Remove the binding, or begin its name with `_`.",
        fails: "fn half(n) {\n  let rest = n % 2\n  return n / 2\n}\nprintln(half(4))\n",
        mended: "fn half(n) {\n  let _rest = n % 2\n  return n / 2\n}\nprintln(half(4))\n",
    },
    /// `break` or `continue` outside of a loop.
    Misplaced = "HARN-NAM-006", Error {
        title: "`break` or `continue` outside of a loop",
        meaning: "`break` and `continue` end or continue the enclosing loop. A closure inside a loop is a separate \
                  function, not part of the loop.",
        fails: "for x in [1, 2] {\n  let stop = { -> break }\n  stop()\n}\n",
        mended: "for x in [1, 2] {\n  if x == 1 { break }\n}\n",
    },
    /// `yield` outside of a function.
    Yield = "HARN-PAR-020", Error {
        title: "`yield` outside of a function",
        meaning: "`yield` passes an item to the caller that iterates over the function's generator. The top level of a file, a \
                  pipeline, a tool and a task are not iterated over.",
        fails: "yield 1\n",
        mended: "fn numbers() {\n  yield 1\n}\nprintln(numbers().to_list())\n",
    },
    /// `emit` outside of a `gen fn`.
    Emit = "HARN-PAR-021", Error {
        title: "`emit` outside of a `gen fn`",
        meaning: "`emit` adds an item to the stream that a `gen fn` returns. A closure inside a `gen fn` is a separate \
                  function.",
        fails: "fn numbers() {\n  emit 1\n}\nprintln(numbers().to_list())\n",
        mended: "gen fn numbers() {\n  emit 1\n}\nprintln(numbers().to_list())\n",
    },
    /// `yield` in a `gen fn`.
    YieldInStream = "HARN-PAR-022", Error {
        title: "`yield` in a `gen fn`",
        meaning: "A `gen fn` produces its items with `emit`; `yield` makes an ordinary `fn` a generator.",
        fails: "gen fn numbers() {\n  yield 1\n}\nprintln(numbers().to_list())\n",
        mended: "gen fn numbers() {\n  emit 1\n}\nprintln(numbers().to_list())\n",
    },
    /// `yield` in a `finally` or `defer`.
    YieldInExit = "HARN-PAR-023", Error {
        title: "`yield` in a `finally` or `defer`",
        meaning: "A `finally` or `defer` block runs to its end, so a generator or stream cannot be suspended in it.",
        fails: "fn numbers() {\n  defer { yield 2 }\n  yield 1\n}\nprintln(numbers().to_list())\n",
        mended: "fn numbers() {\n  defer { println(\"done\") }\n  yield 1\n  yield 2\n}\nprintln(numbers().to_list())\n",
    },
    /// Type used in the wrong place.
    NotAType = "HARN-NAM-010", Error {
        title: "type used in the wrong place",
        meaning: "A type is not a function: make a struct with `Point {x: 1}`, a variant with `Color.Red`, and a value of data \
                  with `Point.from(data)`. Only structs have literals, only enums have variants, only an interface can follow \
                  `impl`, and an interface is not a value.",
        fails: "struct Point { x: int }\nprintln(Point(1))\n",
        mended: "struct Point { x: int }\nprintln(Point {x: 1})\n",
    },
    /// Duplicate member.
    MemberTwice = "HARN-NAM-011", Error {
        title: "duplicate member",
        meaning: "The fields, variants and functions of a type must have different names, across all of its `impl` blocks.",
        fails: "struct Point { x: int, x: int }\nprintln(Point {x: 1})\n",
        mended: "struct Point { x: int, y: int }\nprintln(Point {x: 1, y: 2})\n",
    },
    /// Block variable used in a function of a type.
    Beyond = "HARN-NAM-012", Error {
        title: "block variable used in a function of a type",
        meaning: "A type that is declared in a block is the same each time the block runs. Its functions can use the names at \
                  the top level of the file, but not those that the block binds.",
        fails: "fn show(n) {\n  struct Box { v: int }\n  impl Box { fn sum(self) { self.v + n } }\n  return Box {v: 1}.sum()\n}\nprintln(show(2))\n",
        mended: "fn show(n) {\n  struct Box { v: int }\n  impl Box { fn sum(self, n) { self.v + n } }\n  return Box {v: 1}.sum(n)\n}\nprintln(show(2))\n",
    },
    /// Invalid `extends` or `override`.
    Inheritance = "HARN-NAM-014", Error {
        title: "invalid `extends` or `override`",
        meaning: "A pipeline can extend another pipeline of the same file, without a cycle. `override fn` replaces a function \
                  in the body of the extended pipeline.",
        fails: "pipeline base() {\n  fn greet() { println(\"hello\") }\n  greet()\n}\npipeline default() extends base {\n  override fn great() { println(\"hi\") }\n}\n",
        mended: "pipeline base() {\n  fn greet() { println(\"hello\") }\n  greet()\n}\npipeline default() extends base {\n  override fn greet() { println(\"hi\") }\n}\n",
    },
    /// Assignment that is lost when the task ends.
    LostUpdate = "HARN-NAM-015", Warning {
        title: "assignment that is lost when the task ends",
        meaning: "The body of `parallel` or `spawn` is a task with copies of the variables around it. An assignment changes the copy, \
                  which nothing reads after the task. Let the task return its result, or share a value with `atomic`.",
        fails: "var total = 0\nparallel each [1, 2] { x -> total += x }\nprintln(total)\n",
        mended: "let results = parallel each [1, 2] { x -> x * 10 }\nprintln(results.sum())\n",
    },
    /// Unknown type.
    NoType = "HARN-TYP-026", Error {
        title: "unknown type",
        meaning: "The type is neither built in nor declared or imported here.",
        fails: "fn half(n: integer) {\n  return n / 2\n}\nprintln(half(4))\n",
        mended: "fn half(n: int) {\n  return n / 2\n}\nprintln(half(4))\n",
    },
    /// Override with different parameters.
    Override = "HARN-TYP-019", Error {
        title: "override with different parameters",
        meaning: "The body of the extended pipeline calls its functions with the arguments that they take there. A function \
                  that overrides one of them must take the same number.",
        fails: "pipeline base() {\n  fn greet(name) { println(name) }\n  greet(\"Ada\")\n}\npipeline default() extends base {\n  override fn greet() { println(\"hi\") }\n}\n",
        mended: "pipeline base() {\n  fn greet(name) { println(name) }\n  greet(\"Ada\")\n}\npipeline default() extends base {\n  override fn greet(name) { println(\"hi ${name}\") }\n}\n",
    },
}
}
