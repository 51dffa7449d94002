//! The catalogue of what the checker finds.

use crate::codes;

codes! {
/// The codes of what the checker finds.
pub enum CheckCode {
    /// Invisible character that reorders text.
    Hidden = "HARN-LEX-015", Warning {
        title: "invisible character that reorders text",
        meaning: "The file contains a bidirectional control character such as U+202E. Editors and terminals show the \
                  text after it in a different order, so what you read is not what runs. Remove it; if a string needs \
                  one, write its escape.",
        fails: "println(\"a\u{202e}b\")\n",
        mended: "println(\"a\\u{202e}b\")\n",
    },
    /// Too many diagnostics.
    More = "HARN-TYP-030", Info {
        title: "too many diagnostics",
        meaning: "At most 1,000 diagnostics are shown for a file, errors first. Fix those, then check again.",
    },
    /// Literal of the wrong type.
    Type = "HARN-TYP-001", Error {
        title: "literal of the wrong type",
        meaning: "A literal does not have the type that the function expects. Types are checked only if both are \
                  known.",
        fails: "println(json_parse(42))\n",
        mended: "println(json_parse(\"42\"))\n",
    },
    /// Unknown option.
    Key = "HARN-TYP-002", Error {
        title: "unknown option",
        meaning: "The dict has a key that the function does not know, so it would have no effect.",
        fails: "let turns = shared_cell({key: \"turns\", initail: 3})\nprintln(shared_get(turns))\n",
        mended: "let turns = shared_cell({key: \"turns\", initial: 3})\nprintln(shared_get(turns))\n",
    },
    /// Missing key.
    Missing = "HARN-TYP-003", Error {
        title: "missing key",
        meaning: "The dict lacks a key that the function requires.",
        fails: "let turns = shared_cell({initial: 3})\nprintln(shared_get(turns))\n",
        mended: "let turns = shared_cell({key: \"turns\", initial: 3})\nprintln(shared_get(turns))\n",
    },
    /// Wrong number of arguments.
    Arity = "HARN-TYP-004", Error {
        title: "wrong number of arguments",
        meaning: "The call has more or fewer arguments than the function takes.",
        fails: "fn add(a, b) { return a + b }\nprintln(add(1))\n",
        mended: "fn add(a, b) { return a + b }\nprintln(add(1, 2))\n",
    },
    /// Use of a deprecated function.
    Deprecated = "HARN-TYP-005", Warning {
        title: "use of a deprecated function",
        meaning: "The function is marked `@deprecated`. The text of the attribute says what to use instead.",
        fails: "fn sum(a, b) { return a + b }\n\n@deprecated(\"use sum\")\nfn add(a, b) { return sum(a, b) }\nprintln(add(1, 2))\n",
        mended: "fn sum(a, b) { return a + b }\n\n@deprecated(\"use sum\")\nfn add(a, b) { return sum(a, b) }\nprintln(sum(1, 2))\n",
    },
    /// Unknown struct field.
    NoField = "HARN-TYP-010", Error {
        title: "unknown struct field",
        meaning: "A struct has only the fields of its declaration.",
        fails: "struct Point { x: int, y: int }\nprintln(Point {x: 1, z: 2, y: 3})\n",
        mended: "struct Point { x: int, y: int }\nprintln(Point {x: 1, y: 3})\n",
    },
    /// Missing struct field.
    FieldMissing = "HARN-TYP-011", Error {
        title: "missing struct field",
        meaning: "A struct literal must set each field that has no default.",
        fails: "struct Point { x: int, y: int }\nprintln(Point {x: 1})\n",
        mended: "struct Point { x: int, y: int = 0 }\nprintln(Point {x: 1})\n",
    },
    /// Duplicate struct field.
    FieldTwice = "HARN-TYP-012", Error {
        title: "duplicate struct field",
        meaning: "A struct literal can set each field only once.",
        fails: "struct Point { x: int }\nprintln(Point {x: 1, x: 2})\n",
        mended: "struct Point { x: int }\nprintln(Point {x: 2})\n",
    },
    /// Unknown variant or function of a type.
    NoMember = "HARN-TYP-013", Error {
        title: "unknown variant or function of a type",
        meaning: "`Type.name` must name a variant of the type, or a function in one of its `impl` blocks. In patterns, \
                  only `Ok` and `Err` can be written without their enum.",
        fails: "enum Color { Red, Green }\nprintln(Color.Gren)\n",
        mended: "enum Color { Red, Green }\nprintln(Color.Green)\n",
    },
    /// Wrong number of values for a variant.
    Values = "HARN-TYP-014", Error {
        title: "wrong number of values for a variant",
        meaning: "A variant must be created and matched with as many values as it declares.",
        fails: "enum Shape { Circle(float) }\nprintln(Shape.Circle(1.0, 2.0))\n",
        mended: "enum Shape { Circle(float) }\nprintln(Shape.Circle(1.0))\n",
    },
    /// `match` does not cover all variants.
    NotCovered = "HARN-TYP-015", Error {
        title: "`match` does not cover all variants",
        meaning: "Some variants of the enum match no arm. An arm with a guard does not count, because the guard may be \
                  false.",
        fails: "enum Color { Red, Green }\nlet c = Color.Red\nmatch c {\n  Color.Red -> println(\"red\")\n}\n",
        mended: "enum Color { Red, Green }\nlet c = Color.Red\nmatch c {\n  Color.Red -> println(\"red\")\n  _ -> println(\"another\")\n}\n",
    },
    /// Unreachable arm.
    Unreachable = "HARN-TYP-016", Warning {
        title: "unreachable arm",
        meaning: "Arms are tried from top to bottom, and an earlier arm already matches every value that this one \
                  matches. A bare name in a pattern binds, so it matches every value.",
        fails: "match 3 {\n  n -> println(n)\n  3 -> println(\"three\")\n}\n",
        mended: "match 3 {\n  3 -> println(\"three\")\n  n -> println(n)\n}\n",
    },
    /// Alternatives bind different names.
    Alternatives = "HARN-TYP-017", Error {
        title: "alternatives bind different names",
        meaning: "The arm uses the same names whichever alternative matches, so each alternative of a pattern must \
                  bind all of them, each exactly once.",
        fails: "match Ok(1) {\n  Ok(n) | Err(e) -> println(n)\n}\n",
        mended: "match Ok(1) {\n  Ok(n) | Err(n) -> println(n)\n}\n",
    },
    /// Interface not implemented.
    NotImplemented = "HARN-TYP-018", Error {
        title: "interface not implemented",
        meaning: "`impl Interface for Type` requires the type to have all functions of the interface, with the same \
                  parameters. They can be in any `impl` of the type.",
        fails: "interface Shape {\n  fn area(self) -> float\n}\nstruct Square { side: float }\nimpl Shape for Square {\n  fn size(self) { self.side }\n}\nprintln(Square {side: 2.0}.size())\n",
        mended: "interface Shape {\n  fn area(self) -> float\n}\nstruct Square { side: float }\nimpl Shape for Square {\n  fn area(self) { self.side * self.side }\n}\nprintln(Square {side: 2.0}.area())\n",
    },
    /// Unknown or misplaced attribute.
    Attribute = "HARN-NAM-013", Error {
        title: "unknown or misplaced attribute",
        meaning: "The attributes are `@test`, before a function at the top level that `harn test` runs (its parameters take \
                  the values of `cases`), `@before` and `@after`, before functions that run around each test, `@resumable`, \
                  before a pipeline that may run again after its process was interrupted, `@resource(\"…\")` and `@prompt`, before functions \
                  that `harn serve mcp` serves, and `@deprecated(\"use …\")`.",
        fails: "@tset\nfn adds() { assert_eq(1 + 1, 2) }\nadds()\n",
        mended: "@test\nfn adds() { assert_eq(1 + 1, 2) }\nadds()\n",
    },
    /// Operator not supported for these types.
    Operator = "HARN-TYP-020", Error {
        title: "operator not supported for these types",
        meaning: "The types of both operands are known, and the operator fails for every such pair. Values are not converted \
                  to strings implicitly.",
        fails: "let turn = 3\nprintln(\"turn \" + turn)\n",
        mended: "let turn = 3\nprintln(\"turn ${turn}\")\n",
    },
    /// Call of a value that is not a function.
    Called = "HARN-TYP-021", Error {
        title: "call of a value that is not a function",
        meaning: "The type of the called value is known, and it is not a function.",
        fails: "let limit = 3\nprintln(limit(2))\n",
        mended: "let limit = { n -> n * 3 }\nprintln(limit(2))\n",
    },
    /// Unknown method or field.
    Member = "HARN-TYP-022", Error {
        title: "unknown method or field",
        meaning: "The type of the value before the dot is known, and it has no such method or field.",
        fails: "let names = [\"ada\"]\nprintln(names.lenght())\n",
        mended: "let names = [\"ada\"]\nprintln(names.count())\n",
    },
    /// Invalid index.
    Indexed = "HARN-TYP-023", Error {
        title: "invalid index",
        meaning: "Lists, strings and ranges are indexed by ints, dicts by strings; other values cannot be indexed. Strings, \
                  lists and ranges can be sliced.",
        fails: "let size = 42\nprintln(size[0])\n",
        mended: "let size = \"42\"\nprintln(size[0])\n",
    },
    /// Value is not iterable.
    Walked = "HARN-TYP-024", Error {
        title: "value is not iterable",
        meaning: "`for` iterates over lists, dicts, strings, sets, ranges, iterators and streams.",
        fails: "for i in 3 {\n  println(i)\n}\n",
        mended: "for i in 0 to 3 exclusive {\n  println(i)\n}\n",
    },
    /// Unknown key of a dict type.
    NoKey = "HARN-TYP-025", Error {
        title: "unknown key of a dict type",
        meaning: "The annotated type of a dict lists its keys; a type that ends in `...` allows others. A builtin \
                  that hands a dict to a script, such as the `ctx` of a reminder provider, lists its keys too. There, an unknown \
                  key is read as nil and only a warning; if the dict may have other keys, only one that resembles a known one.",
        fails: "fn greet(user: {name: string}) {\n  println(user.nmae)\n}\ngreet({name: \"Ada\"})\n",
        mended: "fn greet(user: {name: string}) {\n  println(user.name)\n}\ngreet({name: \"Ada\"})\n",
    },
    /// Unreachable statement.
    Dead = "HARN-CHK-001", Warning {
        title: "unreachable statement",
        meaning: "An earlier statement always exits the block: `return`, `throw`, `break`, `continue`, a call that \
                  never returns, or an infinite loop.",
        fails: "fn half(n) {\n  return n / 2\n  println(\"halved\")\n}\nprintln(half(4))\n",
        mended: "fn half(n) {\n  println(\"halving\")\n  return n / 2\n}\nprintln(half(4))\n",
    },
    /// Arm that matches no value.
    Arm = "HARN-CHK-002", Warning {
        title: "arm that matches no value",
        meaning: "The type of the value is known, and no value of that type matches the pattern.",
        fails: "fn word(n: int) {\n  return match n {\n    \"1\" -> \"one\"\n    _ -> \"many\"\n  }\n}\nprintln(word(1))\n",
        mended: "fn word(n: int) {\n  return match n {\n    1 -> \"one\"\n    _ -> \"many\"\n  }\n}\nprintln(word(1))\n",
    },
    /// Comparison with a constant result.
    Compared = "HARN-CHK-003", Warning {
        title: "comparison with a constant result",
        meaning: "Values of these two types are never equal: a string is not a number, even if it looks like one.",
        fails: "fn asks(answer: string) {\n  return answer == 42\n}\nprintln(asks(\"42\"))\n",
        mended: "fn asks(answer: string) {\n  return answer == \"42\"\n}\nprintln(asks(\"42\"))\n",
    },
    /// Changed copy that is not used.
    UnusedCopy = "HARN-CHK-004", Warning {
        title: "changed copy that is not used",
        meaning: "Values do not change: `push` and the other methods return a changed copy. A statement that does nothing with \
                  the copy has no effect. Assign it: `xs = xs.push(x)`.",
        fails: "var names = []\nnames.push(\"ada\")\nprintln(names.count)\n",
        mended: "var names = []\nnames = names.push(\"ada\")\nprintln(names.count)\n",
    },
    /// Method that a builtin hides.
    HiddenMethod = "HARN-CHK-005", Warning {
        title: "method hidden by a builtin",
        meaning: "A variable has the name of a module, and its value has a method with the name of a builtin of this module. \
                  `task.reject(…)` is always the builtin, even if `task` is a task of a hub. Rename the variable to call its method.",
        fails: "let worker = hub.local().register({name: \"worker\"})\nfor task in worker.tasks({idle_ms: 10}) {\n  task.reject(\"CAPACITY_EXCEEDED\")\n}\n",
        mended: "let worker = hub.local().register({name: \"worker\"})\nfor job in worker.tasks({idle_ms: 10}) {\n  job.reject(\"CAPACITY_EXCEEDED\")\n}\n",
    },
    /// Function that always calls itself.
    Recursion = "HARN-CHK-006", Warning {
        title: "function that always calls itself",
        meaning: "Every way through the body calls the function again, so it never returns. Return a value without the call in one \
                  case. For an endless loop, write `while true`.",
        fails: "fn depth(tree) {\n  return 1 + depth(tree.left)\n}\nprintln(depth)\n",
        mended: "fn depth(tree) {\n  if tree == nil { return 0 }\n  return 1 + depth(tree.left)\n}\nprintln(depth({left: nil}))\n",
    },
    /// Function that hides the builtin it calls.
    HiddenBuiltin = "HARN-CHK-007", Warning {
        title: "function that hides the builtin it calls",
        meaning: "Inside of a function, its name is the function itself, so a call of the builtin that has the same name is a call \
                  of the function. Rename the function, or import the builtin with another name: `std/builtins` has \
                  all of them. In a `tool`, its name is the builtin.",
        fails: "fn len(xs) {\n  return len(xs)\n}\nprintln(len)\n",
        mended: "import {len as builtin_len} from \"std/builtins\"\nfn len(xs) {\n  return builtin_len(xs)\n}\nprintln(len([1]))\n",
    },
    /// Tool without a description.
    Undescribed = "HARN-CHK-008", Warning {
        title: "tool without a description",
        meaning: "A model chooses a tool by its description. Begin the body with `description \"…\"`, or write a `///` comment \
                  before the tool.",
        fails: "tool add(a: int, b: int) -> int {\n  a + b\n}\nprintln(add.name)\n",
        mended: "tool add(a: int, b: int) -> int {\n  description \"Add two integers\"\n  a + b\n}\nprintln(add.name)\n",
    },
    /// Construct not supported here.
    Nonsense = "HARN-CMP-003", Error {
        title: "construct not supported here",
        meaning: "The syntax is valid, but has no meaning here. The message says what to write instead.",
        fails: "fn is_large(n) {\n  guard n > 3 else { println(\"small\") }\n  true\n}\nprintln(is_large(1))\n",
        mended: "fn is_large(n) {\n  guard n > 3 else { return false }\n  true\n}\nprintln(is_large(1))\n",
    },
}
}
