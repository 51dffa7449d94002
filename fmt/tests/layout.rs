//! The style, rule by rule: what is written, and what is made of it.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use lang::source::Source;

/// Formats a text for lines of 40 columns, and once more: the second time changes nothing.
fn formatted(text: &str) -> String {
    let once = fmt::format(&Source::new("test.harn", text), 40).unwrap();
    let twice = fmt::format(&Source::new("test.harn", once.as_str()), 40).unwrap();
    assert_eq!(once, twice, "not the same the second time");
    once
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
}

/// Checks that a formatted text stays as it is.
#[track_caller]
fn stays(text: &str) {
    check(text, text);
}

#[test]
fn spaces_are_those_of_the_style() {
    check("let x=foo( a,b )\n", "let x = foo(a, b)\n");
    check("let d={ a:1,'':2 }".replace("'':2", "\"b c\": 2").as_str(), "let d = {a: 1, \"b c\": 2}\n");
    check("fn f(a:int,b=1,...r)->T{a+b}\n", "fn f(a: int, b = 1, ...r) -> T { a + b }\n");
    check("let f={x->x*2}\nlet g={->1}\n", "let f = { x -> x * 2 }\nlet g = { -> 1 }\n");
    // A function without a name keeps its form.
    check("let f=fn( x,y=1 )->int{x*y}\nf(fn(){1})\n", "let f = fn(x, y = 1) -> int { x * y }\nf(fn() { 1 })\n");
    check("let p=P{x:1}\nstruct P{x:int,y:int}\n", "let p = P {x: 1}\nstruct P { x: int, y: int }\n");
    check("let x=a ?b:c\nlet y = f()?\n", "let x = a ? b : c\nlet y = f()?\n");
    check("let x = - 1\nlet y = ! a\nlet z=--a\n", "let x = -1\nlet y = !a\nlet z = - -a\n");
    check("for i in 1 to 5{f(i)}\n", "for i in 1 to 5 { f(i) }\n");
    check("import {a,b as c} from \"x\"\n", "import {a, b as c} from \"x\"\n");
    check(
        "type T=list<int>|{a:int,b?:fn(int)->nil}\n",
        "type T = list<int> | {a: int, b?: fn(int) -> nil}\n"
            .replace("list<int> | {a: int, b?: fn(int) -> nil}", "list<int>\n  | {a: int, b?: fn(int) -> nil}")
            .as_str(),
    );
}

#[test]
fn statements_are_on_lines_of_their_own() {
    check("let a = 1; let b = 2\n", "let a = 1\nlet b = 2\n");
    check("let f = { x -> g(x); x }\n", "let f = { x ->\n  g(x)\n  x\n}\n");
    check("\n\n\nlet a = 1\n\n\n\nlet b = 2\n\n\n", "let a = 1\n\nlet b = 2\n");
    check("fn f() {\n\n  1\n\n}\n", "fn f() {\n  1\n}\n");
    check("let a = 1\r\nlet b = 2\r\n", "let a = 1\nlet b = 2\n");
}

#[test]
fn a_body_on_one_line_stays_there_while_it_fits() {
    stays("if a { b() }\n");
    stays("if a { 1 } else { 2 }\n");
    check("if a { b() }\nelse { c() }\n", "if a {\n  b()\n} else {\n  c()\n}\n");
    check("if some_condition { return a_long_value_of_it }\n", "if some_condition {\n  return a_long_value_of_it\n}\n");
    stays("match x {\n  1 | 2 -> \"few\"\n  _ -> \"many\"\n}\n");
    check("match x { 1 -> a, _ -> b }\n", "match x { 1 -> a, _ -> b }\n");
    check(
        "match x { 1 -> a, 2 -> { b } 3 -> c\n _ -> d }\n",
        "match x {\n  1 -> a\n  2 -> { b }\n  3 -> c\n  _ -> d\n}\n",
    );
    check("enum E { A, B(int,string)\n }\n", "enum E {\n  A\n  B(int, string)\n}\n");
}

#[test]
fn a_dict_or_list_stays_broken_where_the_author_broke_it() {
    check("let d = {a: 1,\n  b: 2}\n", "let d = {a: 1, b: 2}\n");
    check("let d = {\n  a: 1, b: 2}\n", "let d = {\n  a: 1,\n  b: 2,\n}\n");
    check("let d = [\n  1, 2]\n", "let d = [\n  1, 2,\n]\n");
    check("f(\n  a,\n  b,\n)\n", "f(a, b)\n");
}

#[test]
fn brackets_stay_close_to_a_last_element_that_breaks() {
    check(
        "call(first, {key: \"a value\", other: \"another\"})\n",
        "call(first, {\n  key: \"a value\",\n  other: \"another\",\n})\n",
    );
    check("xs.map({ x -> println(x); x })\n", "xs.map({ x ->\n  println(x)\n  x\n})\n");
    check(
        "call(\"a first argument\", \"a second one\", third)\n",
        "call(\n  \"a first argument\",\n  \"a second one\",\n  third,\n)\n",
    );
    stays("hook(\"name\", { event -> [\n  {a: 1},\n] })\n");
    stays("println(\"a text that is longer than a line of the file\")\n");
}

#[test]
fn chains_break_before_each_call() {
    check(
        "let x = items.filter({ i -> i.a }).map({ i -> i.b })\n",
        "let x = items\n  .filter({ i -> i.a })\n  .map({ i -> i.b })\n",
    );
    stays("let x = xs\n  .map(f)\n  .filter(g)\n");
    stays("let x = xs\n  |> f\n  |> g(_, 1)\n");
    check(
        "let x = a.b.c().d\n  .e()\n",
        "let x = a.b.c().d.e()\n".replace("a.b.c().d.e()", "a.b\n  .c().d\n  .e()").as_str(),
    );
}

#[test]
fn operators_begin_lines_where_they_may() {
    check("let x = first_operand + second_operand + third\n", "let x = first_operand\n  + second_operand\n  + third\n");
    // A line that begins with `-` is a statement of its own.
    check("let x = first_operand - second_operand + third\n", "let x = first_operand -\n  second_operand +\n  third\n");
    check(
        "if first_condition(a) && second_condition(b) { f() }\n",
        "if first_condition(a)\n    && second_condition(b) {\n  f()\n}\n",
    );
    check(
        "let x = some_condition ? first_value : second_value\n",
        "let x = some_condition\n  ? first_value\n  : second_value\n",
    );
}

#[test]
fn parentheses_that_change_nothing_go() {
    check("let x = (a + b)\n", "let x = a + b\n");
    check("f((a), ((b)))\n", "f(a, b)\n");
    check("if (a) { b }\n", "if a { b }\n");
    check("let x = ((a + b)) * (c)\n", "let x = (a + b) * c\n");
    // These explain, or are needed.
    for text in [
        "let x = (a && b) || c\n",
        "if (P {x: 1}).ok { f() }\n",
        "let x = (a ?? b).c\n",
        "let x = (5).to_string()\n",
        "let x = (1 to 5).map(f)\n",
        "f(({a: 1}))\n",
        "let x = (a /* why */)\n",
        "let x = -(-a)\n",
        "let x = (1 to 5) exclusive\n",
    ] {
        stays(text);
    }
}

#[test]
fn texts_are_left_alone() {
    stays("let s = \"\"\"\n      a   ${ b+c }\n  \"\"\"\n");
    stays("println(\"${  x  }\", r\"\\d  \\w\")\n");
    stays("println(\"\"\"\n  a\n\"\"\")\n");
}

#[test]
fn comments_stay_where_they_are() {
    stays("#!/usr/bin/env harn\n// one\nlet a = 1 // two\n\n// three\n");
    check("f(a, // one\n  b)\n", "f(\n  a, // one\n  b,\n)\n");
    check("f(a,/* one */b)\n", "f(a, /* one */ b)\n");
    check("let d = {a: 1, // one\n  // two\n}\n", "let d = {\n  a: 1, // one\n  // two\n}\n");
    check("fn f() {\n// nothing\n}\n", "fn f() {\n  // nothing\n}\n");
    check("if a { b } // one\nelse { c }\n", "if a {\n  b\n} // one\nelse {\n  c\n}\n");
    check("let x = a // one\n  + b\n", "let x = a // one\n  + b\n");
    check(
        "fn f() { /*\n  kept\n     as it is\n*/ }\n",
        "fn f() {\n  /*\n  kept\n     as it is\n*/\n}\n".replace("{\n  /*", "{ /*").as_str(),
    );
    check("/**\n* one\n   * two\n*/\nfn f() {}\n", "/**\n * one\n * two\n */\nfn f() {}\n");
    check("@test fn f() {}\n", "@test\nfn f() {}\n");
    // An empty line makes two documentation comments of one.
    stays("/// One.\n\n/// Two.\n/// Three.\nfn f() {}\n");
    check("/// One.\n\n\n/** Two. */\n\n@test\n\nfn f() {}\n", "/// One.\n\n/** Two. */\n@test\nfn f() {}\n");
    stays("/// One.\n\n// Other.\n\n/// Two.\nfn f() {}\n");
}

#[test]
fn wide_characters_take_two_columns() {
    check("f(\"日本語日本語日本語\", \"日本語\", a)\n", "f(\"日本語日本語日本語\", \"日本語\", a)\n");
    check(
        "f(\"日本語日本語日本語\", \"日本語日本語\", a)\n",
        "f(\n  \"日本語日本語日本語\",\n  \"日本語日本語\",\n  a,\n)\n",
    );
}

#[test]
fn what_has_errors_is_refused() {
    for text in ["let = 1\n", "fn f( {\n", "let s = \"a\n", "x = = 2\n"] {
        let found = fmt::format(&Source::new("test.harn", text), 100).unwrap_err();
        assert!(!found.is_empty(), "{text}");
    }
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n  \n"), "");
    assert_eq!(formatted("// only this"), "// only this\n");
}
