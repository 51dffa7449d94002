//! The catalogue of what the checker finds.

use crate::codes;

codes! {
/// The codes of what the checker finds.
pub enum CheckCode {
    /// An invisible character that turns the text.
    Hidden = "HARN-LEX-015", Warning {
        title: "invisible character that reorders text",
        meaning: "The file contains a bidirectional control character such as U+202E. Editors and terminals show the text \
                  after it in another order, so that what you read is not what runs. Remove it; where a string needs one, \
                  write its escape.",
        fails: "println(\"a\u{202e}b\")\n",
        mended: "println(\"a\\u{202e}b\")\n",
    },
    /// More findings than are shown.
    More = "HARN-TYP-030", Info {
        title: "more findings than are shown",
        meaning: "At most 1,000 findings are shown for a file, errors first. Fix those, then check again.",
    },
    /// A value of the wrong type in a literal.
    Type = "HARN-TYP-001", Error {
        title: "a value of the wrong type",
        meaning: "A literal stands where the function takes another type. Types are checked only where both sides are known.",
        fails: "println(json_parse(42))\n",
        mended: "println(json_parse(\"42\"))\n",
    },
    /// A key that the dict does not take.
    Key = "HARN-TYP-002", Error {
        title: "an option that does not exist",
        meaning: "The dict has a key that the function does not know, so it would do nothing. The lists of options are closed.",
        fails: "agent_loop(\"task\", \"system\", {max_iteration: 3})\n",
        mended: "agent_loop(\"task\", \"system\", {max_iterations: 3})\n",
    },
    /// A key that is missing.
    Missing = "HARN-TYP-003", Error {
        title: "a key that is missing",
        meaning: "The dict lacks a key that the function cannot do without.",
        fails: "store_fact({kind: \"decision\"})\n",
        mended: "store_fact({kind: \"decision\", claim: \"tabs\", confidence: 0.9})\n",
    },
    /// A wrong number of arguments.
    Arity = "HARN-TYP-004", Error {
        title: "a wrong number of arguments",
        meaning: "A function is called with more or fewer arguments than it takes.",
        fails: "fn add(a, b) { return a + b }\nprintln(add(1))\n",
        mended: "fn add(a, b) { return a + b }\nprintln(add(1, 2))\n",
    },
    /// Something that is there for old scripts.
    Deprecated = "HARN-TYP-005", Warning {
        title: "something that is there for old scripts",
        meaning: "The function is marked `@deprecated`. The attribute's text says what to use instead.",
        fails: "@deprecated(\"use sum\")\nfn add(a, b) { return a + b }\nprintln(add(1, 2))\n",
        mended: "fn sum(a, b) { return a + b }\nprintln(sum(1, 2))\n",
    },
    /// A field that the struct does not have.
    NoField = "HARN-TYP-010", Error {
        title: "a field that the struct does not have",
        meaning: "A struct has the fields of its declaration and no others.",
        fails: "struct Point { x: int, y: int }\nprintln(Point {x: 1, z: 2, y: 3})\n",
        mended: "struct Point { x: int, y: int }\nprintln(Point {x: 1, y: 3})\n",
    },
    /// A field that a literal leaves out.
    FieldMissing = "HARN-TYP-011", Error {
        title: "a field that a literal leaves out",
        meaning: "A struct literal gives every field that has no default.",
        fails: "struct Point { x: int, y: int }\nprintln(Point {x: 1})\n",
        mended: "struct Point { x: int, y: int = 0 }\nprintln(Point {x: 1})\n",
    },
    /// A field that a literal gives twice.
    FieldTwice = "HARN-TYP-012", Error {
        title: "a field that a literal gives twice",
        meaning: "A struct literal gives each field once.",
        fails: "struct Point { x: int }\nprintln(Point {x: 1, x: 2})\n",
        mended: "struct Point { x: int }\nprintln(Point {x: 2})\n",
    },
    /// A variant or function that the type does not have.
    NoMember = "HARN-TYP-013", Error {
        title: "a variant or function that the type does not have",
        meaning: "Behind the dot of a type stands one of its variants, or a function of one of its `impl`s. In patterns \
                  only `Ok` and `Err` stand without their enum.",
        fails: "enum Color { Red, Green }\nprintln(Color.Gren)\n",
        mended: "enum Color { Red, Green }\nprintln(Color.Green)\n",
    },
    /// A wrong number of values for a variant.
    Values = "HARN-TYP-014", Error {
        title: "a wrong number of values for a variant",
        meaning: "A variant is made with, and matched by, as many values as its declaration says.",
        fails: "enum Shape { Circle(float) }\nprintln(Shape.Circle(1.0, 2.0))\n",
        mended: "enum Shape { Circle(float) }\nprintln(Shape.Circle(1.0))\n",
    },
    /// A `match` without an arm for a variant.
    NotCovered = "HARN-TYP-015", Error {
        title: "a `match` without an arm for a variant",
        meaning: "The arms name variants of an enum and leave some out, so a value of those would find no arm. An arm with \
                  a guard does not count: the guard may be false.",
        fails: "enum Color { Red, Green }\nlet c = Color.Red\nmatch c {\n  Color.Red -> println(\"red\")\n}\n",
        mended: "enum Color { Red, Green }\nlet c = Color.Red\nmatch c {\n  Color.Red -> println(\"red\")\n  _ -> println(\"another\")\n}\n",
    },
    /// An arm that can never be chosen.
    Unreachable = "HARN-TYP-016", Warning {
        title: "an arm that can never be chosen",
        meaning: "Arms are tried from the top, and an earlier one takes everything that this one would. A bare name in a \
                  pattern binds and fits everything.",
        fails: "match 3 {\n  n -> println(n)\n  3 -> println(\"three\")\n}\n",
        mended: "match 3 {\n  3 -> println(\"three\")\n  n -> println(n)\n}\n",
    },
    /// Alternatives that bind different names.
    Alternatives = "HARN-TYP-017", Error {
        title: "alternatives that bind different names",
        meaning: "Whichever alternative of a pattern fits, the arm sees the same names: each alternative binds all of them, \
                  and each once.",
        fails: "match Ok(1) {\n  Ok(n) | Err(e) -> println(n)\n}\n",
        mended: "match Ok(1) {\n  Ok(n) | Err(n) -> println(n)\n}\n",
    },
    /// A type that lacks what an interface asks for.
    NotImplemented = "HARN-TYP-018", Error {
        title: "a type that lacks what an interface asks for",
        meaning: "`impl Interface for Type` says that the type has all functions of the interface, with those parameters. \
                  They may stand in any `impl` of the type.",
        fails: "interface Shape {\n  fn area(self) -> float\n}\nstruct Square { side: float }\nimpl Shape for Square {\n  fn size(self) { self.side }\n}\nprintln(Square {side: 2.0}.size())\n",
        mended: "interface Shape {\n  fn area(self) -> float\n}\nstruct Square { side: float }\nimpl Shape for Square {\n  fn area(self) { self.side * self.side }\n}\nprintln(Square {side: 2.0}.area())\n",
    },
    /// An attribute that does not exist, or stands where it means nothing.
    Attribute = "HARN-NAM-013", Error {
        title: "an attribute that does not exist, or not like this",
        meaning: "There are `@test`, before a function that is called without arguments, `@resumable`, before a pipeline that \
                  may run again where a process ended in the middle of it, and `@deprecated(\"use …\")`.",
        fails: "@tset\nfn adds() { assert_eq(1 + 1, 2) }\nadds()\n",
        mended: "@test\nfn adds() { assert_eq(1 + 1, 2) }\nadds()\n",
    },
    /// An operator on values that it does not work on.
    Operator = "HARN-TYP-020", Error {
        title: "an operator that does not work on these values",
        meaning: "The types of both sides are known, and the operator raises for every such pair. Nothing becomes a string by itself.",
        fails: "let turn = 3\nprintln(\"turn \" + turn)\n",
        mended: "let turn = 3\nprintln(\"turn ${turn}\")\n",
    },
    /// A call of a value that is not a function.
    Called = "HARN-TYP-021", Error {
        title: "a call of something that is no function",
        meaning: "The type of what is called is known, and it is no function.",
        fails: "let limit = 3\nprintln(limit(2))\n",
        mended: "let limit = { n -> n * 3 }\nprintln(limit(2))\n",
    },
    /// A method or field that values of this type do not have.
    Member = "HARN-TYP-022", Error {
        title: "a method or field that the type does not have",
        meaning: "The type of the value before the dot is known, and it has no method or field of that name.",
        fails: "let names = [\"ada\"]\nprintln(names.lenght())\n",
        mended: "let names = [\"ada\"]\nprintln(names.count())\n",
    },
    /// An index or slice of what has none, or by what is none.
    Indexed = "HARN-TYP-023", Error {
        title: "an index that cannot be",
        meaning: "Lists, strings and ranges are indexed by ints, dicts by strings; other values cannot be indexed. Strings, lists and ranges can be sliced.",
        fails: "let size = 42\nprintln(size[0])\n",
        mended: "let size = \"42\"\nprintln(size[0])\n",
    },
    /// An iteration over a value that is not a collection.
    Walked = "HARN-TYP-024", Error {
        title: "a walk over something that is no collection",
        meaning: "`for` walks over lists, dicts, strings, sets, ranges, iterators and streams.",
        fails: "for i in 3 {\n  println(i)\n}\n",
        mended: "for i in 0 to 3 exclusive {\n  println(i)\n}\n",
    },
    /// A key that the written type of a dict does not have.
    NoKey = "HARN-TYP-025", Error {
        title: "a key that the dict's type does not have",
        meaning: "The written type of a dict lists its keys. A type that ends in `...` allows others. What a builtin \
                  returns may hold other keys, too; there, a name near to a known key is reported as a warning.",
        fails: "fn greet(user: {name: string}) {\n  println(user.nmae)\n}\ngreet({name: \"Ada\"})\n",
        mended: "fn greet(user: {name: string}) {\n  println(user.name)\n}\ngreet({name: \"Ada\"})\n",
    },
    /// Statements that control never reaches.
    Dead = "HARN-CHK-001", Warning {
        title: "statements that are never reached",
        meaning: "Before them control leaves for good: by `return`, `throw`, `break`, `continue`, a call that never comes back, or a loop without end.",
        fails: "fn half(n) {\n  return n / 2\n  println(\"halved\")\n}\nprintln(half(4))\n",
        mended: "fn half(n) {\n  println(\"halving\")\n  return n / 2\n}\nprintln(half(4))\n",
    },
    /// An arm that is never taken.
    Arm = "HARN-CHK-002", Warning {
        title: "an arm for values that never come",
        meaning: "The type of the value is known, and no value of that type fits the pattern.",
        fails: "fn word(n: int) {\n  return match n {\n    \"1\" -> \"one\"\n    _ -> \"many\"\n  }\n}\nprintln(word(1))\n",
        mended: "fn word(n: int) {\n  return match n {\n    1 -> \"one\"\n    _ -> \"many\"\n  }\n}\nprintln(word(1))\n",
    },
    /// A comparison whose answer is known.
    Compared = "HARN-CHK-003", Warning {
        title: "a comparison whose answer is known",
        meaning: "Values of these two types are never equal: a string is no number, even if it looks like one.",
        fails: "fn asks(answer: string) {\n  return answer == 42\n}\nprintln(asks(\"42\"))\n",
        mended: "fn asks(answer: string) {\n  return answer == \"42\"\n}\nprintln(asks(\"42\"))\n",
    },
    /// A construct that makes no sense where it stands.
    Nonsense = "HARN-CMP-003", Error {
        title: "a construct that makes no sense where it stands",
        meaning: "It parses, and means nothing there. The message says what would.",
        fails: "fn is_large(n) {\n  guard n > 3 else { println(\"small\") }\n  true\n}\nprintln(is_large(1))\n",
        mended: "fn is_large(n) {\n  guard n > 3 else { return false }\n  true\n}\nprintln(is_large(1))\n",
    },
}
}
