//! The catalogue of name errors.

use crate::codes;

codes! {
/// The codes of name errors.
pub enum ResolveCode {
    /// A name that nothing binds.
    Undefined = "HARN-NAM-001", Error {
        title: "a name that nothing binds",
        meaning: "The name is neither bound in a scope around it nor a builtin.",
        fails: "let total = 3\nprintln(totl)\n",
        mended: "let total = 3\nprintln(total)\n",
    },
    /// A name bound twice in one scope.
    Twice = "HARN-NAM-002", Error {
        title: "a name bound twice in one scope",
        meaning: "A name binds once per scope. Assign to a `var`, choose another name, or open an inner scope.",
        fails: "let n = 1\nlet n = 2\nprintln(n)\n",
        mended: "var n = 1\nn = 2\nprintln(n)\n",
    },
    /// An assignment to something bound once.
    Forbidden = "HARN-NAM-003", Error {
        title: "an assignment to something bound once",
        meaning: "`let`, `const`, parameters, loop variables and functions are bound once. Only a `var` can be assigned to.",
        fails: "let n = 1\nn = 2\nprintln(n)\n",
        mended: "var n = 1\nn = 2\nprintln(n)\n",
    },
    /// A namespace that has no such builtin, or is used as a value.
    Namespace = "HARN-NAM-004", Error {
        title: "a namespace used in a way it cannot be",
        meaning: "A namespace such as `transcript` has a fixed list of builtins, called with a dot. It is not a value.",
        fails: "event_log.emitt(\"topic\", \"kind\")\n",
        mended: "event_log.emit(\"topic\", \"kind\")\n",
    },
    /// A binding that nothing reads.
    Unused = "HARN-NAM-005", Warning {
        title: "a binding that nothing reads",
        meaning: "The value is bound and never used. Remove the binding, or begin its name with `_`.",
        fails: "fn half(n) {\n  let rest = n % 2\n  return n / 2\n}\nprintln(half(4))\n",
        mended: "fn half(n) {\n  let _rest = n % 2\n  return n / 2\n}\nprintln(half(4))\n",
    },
    /// `break`, `continue` or `return` where there is nothing to leave.
    Misplaced = "HARN-NAM-006", Error {
        title: "`break` or `continue` outside a loop",
        meaning: "`break` and `continue` leave or repeat the loop they stand in; a closure inside a loop is not in it.",
        fails: "for x in [1, 2] {\n  let stop = { -> break }\n  stop()\n}\n",
        mended: "for x in [1, 2] {\n  if x == 1 { break }\n}\n",
    },
    /// `yield` where no function could stop.
    Yield = "HARN-PAR-020", Error {
        title: "`yield` outside a function",
        meaning: "`yield` gives an item to whoever asked the function's generator for it. At the top of a file, in a \
                  pipeline, a tool or a task nobody asks.",
        fails: "yield 1\n",
        mended: "fn numbers() {\n  yield 1\n}\nprintln(numbers().to_list())\n",
    },
    /// `emit` outside a `gen fn`.
    Emit = "HARN-PAR-021", Error {
        title: "`emit` outside a `gen fn`",
        meaning: "`emit` gives an item of the stream that a `gen fn` makes. A closure inside a `gen fn` is a function of \
                  its own.",
        fails: "fn numbers() {\n  emit 1\n}\nprintln(numbers().to_list())\n",
        mended: "gen fn numbers() {\n  emit 1\n}\nprintln(numbers().to_list())\n",
    },
    /// `yield` in a `gen fn`.
    YieldInStream = "HARN-PAR-022", Error {
        title: "`yield` in a `gen fn`",
        meaning: "A `gen fn` gives its items with `emit`; `yield` makes a generator of an ordinary `fn`.",
        fails: "gen fn numbers() {\n  yield 1\n}\nprintln(numbers().to_list())\n",
        mended: "gen fn numbers() {\n  emit 1\n}\nprintln(numbers().to_list())\n",
    },
    /// `yield` or `emit` in a block that runs on the way out.
    YieldInExit = "HARN-PAR-023", Error {
        title: "`yield` in a `finally` or `defer`",
        meaning: "A block that runs on the way out runs to its end, so a generator or stream cannot stop in it.",
        fails: "fn numbers() {\n  defer { yield 2 }\n  yield 1\n}\nprintln(numbers().to_list())\n",
        mended: "fn numbers() {\n  defer { println(\"done\") }\n  yield 1\n  yield 2\n}\nprintln(numbers().to_list())\n",
    },
    /// A type where a value or another sort of type is wanted.
    NotAType = "HARN-NAM-010", Error {
        title: "a type where something else is wanted",
        meaning: "The name of a type is not a value: structs are made by `Point {x: 1}`, variants by `Color.Red`. Only a \
                  struct can be made by a literal, only an enum has variants, only an interface stands behind `impl`.",
        fails: "struct Point { x: int }\nprintln(Point)\n",
        mended: "struct Point { x: int }\nprintln(Point {x: 1})\n",
    },
    /// Two members of one name.
    MemberTwice = "HARN-NAM-011", Error {
        title: "two members of one name",
        meaning: "The fields, variants and functions of a type have different names, in all its `impl`s together.",
        fails: "struct Point { x: int, x: int }\nprintln(Point {x: 1})\n",
        mended: "struct Point { x: int, y: int }\nprintln(Point {x: 1, y: 2})\n",
    },
    /// A type's function that uses something of the block around the type.
    Beyond = "HARN-NAM-012", Error {
        title: "a type's function that uses the block around the type",
        meaning: "A type that is declared in a block is the same each time the block runs, so its functions see what the \
                  file binds at its top, and not what the block binds.",
        fails: "fn show(n) {\n  struct Box { v: int }\n  impl Box { fn sum(self) { self.v + n } }\n  return Box {v: 1}.sum()\n}\nprintln(show(2))\n",
        mended: "fn show(n) {\n  struct Box { v: int }\n  impl Box { fn sum(self, n) { self.v + n } }\n  return Box {v: 1}.sum(n)\n}\nprintln(show(2))\n",
    },
    /// A base or an override that is not there.
    Inheritance = "HARN-NAM-014", Error {
        title: "a pipeline that cannot extend or override so",
        meaning: "A pipeline extends another one of the same file, without a circle, and `override fn` takes the place of a \
                  function in the body of that one.",
        fails: "pipeline base() {\n  fn greet() { println(\"hello\") }\n  greet()\n}\npipeline default() extends base {\n  override fn great() { println(\"hi\") }\n}\n",
        mended: "pipeline base() {\n  fn greet() { println(\"hello\") }\n  greet()\n}\npipeline default() extends base {\n  override fn greet() { println(\"hi\") }\n}\n",
    },
    /// A written type that nothing declares.
    NoType = "HARN-TYP-026", Error {
        title: "a type that nothing declares",
        meaning: "The written type is neither one of the language nor declared or imported here.",
        fails: "fn half(n: integer) {\n  return n / 2\n}\nprintln(half(4))\n",
        mended: "fn half(n: int) {\n  return n / 2\n}\nprintln(half(4))\n",
    },
    /// An `override` that takes other arguments.
    Override = "HARN-TYP-019", Error {
        title: "an override that takes other arguments",
        meaning: "The body of the base calls its functions with the arguments that they take there. What overrides one must \
                  take as many.",
        fails: "pipeline base() {\n  fn greet(name) { println(name) }\n  greet(\"Ada\")\n}\npipeline default() extends base {\n  override fn greet() { println(\"hi\") }\n}\n",
        mended: "pipeline base() {\n  fn greet(name) { println(name) }\n  greet(\"Ada\")\n}\npipeline default() extends base {\n  override fn greet(name) { println(\"hi ${name}\") }\n}\n",
    },
}
}
