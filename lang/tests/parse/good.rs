//! Meaning of valid scripts.

use crate::{parsed, tree};

#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (text, want) in table {
        assert_eq!(tree(text), *want, "{text}");
    }
}

#[test]
fn operators_bind_by_the_table() {
    check(&[
        ("1 + 2 * 3", "(+ 1 (* 2 3))"),
        ("(1 + 2) * 3", "(* (+ 1 2) 3)"),
        ("a |> f |> g", "(|> (|> a f) g)"),
        ("s |> split(_, \",\")", "(|> s (call split _ \",\"))"),
        ("xs |> _.sort()", "(|> xs (call (.sort _)))"),
        ("1 to 5", "(to 1 5)"),
        ("1 to n + 1 exclusive", "(upto 1 (+ n 1))"),
        ("a |> 1 to 5 exclusive", "(|> a (upto 1 5))"),
        ("a ? b : c ? d : e", "(? a b (? c d e))"),
        ("a || b ? 1 to 2 : 3", "(? (|| a b) (to 1 2) 3)"),
        ("a || b && c", "(|| a (&& b c))"),
        ("a && b == c", "(&& a (== b c))"),
        ("a == b < c", "(== a (< b c))"),
        ("a < b + 1", "(< a (+ b 1))"),
        ("a + b ?? c", "(+ a (?? b c))"),
        ("a ?? b * c", "(?? a (* b c))"),
        ("a - b - c", "(- (- a b) c)"),
        ("2 ** 3 ** 2", "(** 2 (** 3 2))"),
        ("2 * 3 ** 2", "(* 2 (** 3 2))"),
        ("-2 ** 2", "(** (neg 2) 2)"),
        ("2 ** -1", "(** 2 (neg 1))"),
        ("!a && b", "(&& (! a) b)"),
        ("-a.b", "(neg (.b a))"),
        ("!f(x)?", "(! (? (call f x)))"),
        ("try* f()?.g ?? 1", "(?? (try* (?.g (call f))) 1)"),
        ("x in xs", "(in x xs)"),
        ("x not in xs && y", "(&& (not in x xs) y)"),
        ("a + b in c", "(in (+ a b) c)"),
        ("a % b / c", "(/ (% a b) c)"),
        ("-9223372036854775808", "(neg -9223372036854775808)"),
        ("x ?? throw \"no\"", "(?? x (throw \"no\"))"),
    ]);
}

#[test]
fn what_is_attached() {
    check(&[
        ("a.b.c", "(.c (.b a))"),
        ("a?.b?[0]", "(?[] (?.b a) 0)"),
        ("a[1][2]", "([] ([] a 1) 2)"),
        ("a[1:2] + a[:2] + a[1:] + a[:]", "(+ (+ (+ ([:] a 1 2) ([:] a - 2)) ([:] a 1 -)) ([:] a - -))"),
        ("a[c ? 1 : 2 : 3]", "([:] a (? c 1 2) 3)"),
        ("f(a, ...b)(c)", "(call (call f a ...b) c)"),
        ("f(a, b,)", "(call f a b)"),
        ("a? + b", "(+ (? a) b)"),
        ("a ? b : c", "(? a b c)"),
        ("f()?.g", "(?.g (call f))"),
        ("x.type.match?.if", "(?.if (.match (.type x)))"),
        ("x.try*2", "(* (.try x) 2)"),
        ("42.foo", "(.foo 42)"),
        ("r.from + r.to", "(+ (.from r) (.to r))"),
    ]);
}

#[test]
fn literals() {
    check(&[
        ("0xff + 0b1010 + 1_000", "(+ (+ 255 10) 1000)"),
        ("500ms + 30s + 5m + 2h + 1d + 1w", "(+ (+ (+ (+ (+ 500 30000) 300000) 7200000) 86400000) 604800000)"),
        ("3.14 + 1e-9 + 2.5E+3", "(+ (+ 3.14 1e-9) 2500.0)"),
        ("1 to 5", "(to 1 5)"),
        ("[]", "[]"),
        ("[1, ...xs,]", "[1 ...xs]"),
        ("[1,\n 2\n]", "[1 2]"),
        ("(1, 2)", "(pair 1 2)"),
        ("(1\n)", "1"),
        ("f({})", "(call f (dict))"),
        ("f({a: 1, \"b c\": 2, [k]: 3, ...d, e})", "(call f (dict \"a\":1 \"b c\":2 [k]:3 ...d \"e\":e))"),
        ("f({name})", "(call f (dict \"name\":name))"),
        ("f({a, b})", "(call f (dict \"a\":a \"b\":b))"),
        ("f({match: 1, type: 2, r\"x\": 3})", "(call f (dict \"match\":1 \"type\":2 \"x\":3))"),
        ("Point {x: 1, y}", "(new Point \"x\":1 \"y\":y)"),
        ("P {}", "(new P )"),
        ("true; false; nil", "true\nfalse\nnil"),
    ]);
}

#[test]
fn strings() {
    check(&[
        (r#""a\n\t\"\$\u{1F600}""#, r#""a\n\t\"$😀""#),
        (r#""a ${b + "c ${d}"} e""#, r#"(str "a " (+ b (str "c " d)) " e")"#),
        (r#""${ {a: "}"}.a }""#, r#"(str (.a (dict "a":"}")))"#),
        (r#""$ {x} $x""#, r#""$ {x} $x""#),
        (r#"r"\d+\.${x}""#, r#""\\d+\\.${x}""#),
        ("\"\"", "\"\""),
        ("\"\"\"\n    hi ${name}\n      there\n    \"\"\"", "(str \"hi \" name \"\\n  there\")"),
        ("\"\"\"a \"quoted\" word\"\"\"", "\"a \\\"quoted\\\" word\""),
        ("\"\"\"say \"hi\"\"\"\"", "\"say \\\"hi\\\"\""),
        ("\"\"\"\"\"\"", "\"\""),
        ("\"ä${o}\"", "(str \"ä\" o)"),
    ]);
}

#[test]
fn braces_open_what_follows() {
    check(&[
        ("let f = { x -> x }", "(let f (\\ (x) x))"),
        ("let f = { -> 1 }", "(let f (\\ () 1))"),
        ("let f = fn() { 1 }", "(let f (fn () 1))"),
        ("f(fn(a: int, b = 1, ...r) -> list<int>? { a })", "(call f (fn (a:int b=1 ...r) -> list<int>? a))"),
        ("f(\n  fn(x) { x },\n)", "(call f (fn (x) x))"),
        ("let f: fn(int) -> int = fn(x) -> {a: int} { x }", "(let f :fn(int)->int (fn (x) -> {a:int} x))"),
        ("let f = { a, b = 1, ...rest -> a }", "(let f (\\ (a b=1 ...rest) a))"),
        ("let f = { a: int, b: {c: int} = {c: 1} -> a }", "(let f (\\ (a:int b:{c:int}=(dict \"c\":1)) a))"),
        ("let f = { {a, b}, [c, d] -> a }", "(let f (\\ ({a b} [c d]) a))"),
        ("let f = { (k, v), _ -> k }", "(let f (\\ ((k, v) _) k))"),
        ("let f = {\n  x,\n  y\n  ->\n  x\n  y\n}", "(let f (\\ (x y) x y))"),
        ("let f = { x -> {a: x} }", "(let f (\\ (x) (dict \"a\":x)))"),
        ("let f = { x -> x = 1\n x }", "(let f (\\ (x) (= x 1) x))"),
        ("let b = { f(); 2 }", "(let b {(call f) 2})"),
        ("let b = { a = 1 }", "(let b {(= a 1)})"),
        ("let b = { x ? 1 : 2 }", "(let b {(? x 1 2)})"),
        ("if x { y } else { z }", "(if x {y} {z})"),
        ("if P { 1 }", "(if P {1})"),
        ("if p == (P {x: 1}) { 1 }", "(if (== p (new P \"x\":1)) {1})"),
        ("if f(P {x: 1}) { 1 }", "(if (call f (new P \"x\":1)) {1})"),
        ("for x in {a: 1} { y }", "(for x (dict \"a\":1) {y})"),
        ("match {a: 1} { {a} -> a }", "(match (dict \"a\":1) ({a} -> a))"),
        ("let x = if c { {a} } else { {} }", "(let x (if c {(dict \"a\":a)} {(dict)}))"),
        ("return {a: 1}", "(return (dict \"a\":1))"),
        ("fn f() -> {a: int} { x }", "(fn f () ->{a:int} {x})"),
        ("fn f() -> list<int> { x }", "(fn f () ->list<int> {x})"),
        ("fn f()\n{\n x\n}", "(fn f () {x})"),
        ("fn f({a = 1}, b) { a }", "(fn f ({a=1} b) {a})"),
        ("let {a = 1} = d", "(let {a=1} d)"),
    ]);
}

#[test]
fn lines() {
    check(&[
        ("a\nb; c\n\n;d", "a\nb\nc\nd"),
        ("a\r\nb\r\n", "a\nb"),
        ("a\n  |> f\n  |> g", "(|> (|> a f) g)"),
        ("xs\n  .map(f)\n  ?.first", "(?.first (call (.map xs) f))"),
        ("a\n + b", "(+ a b)"),
        ("a\n- b", "a\n(neg b)"),
        ("a \\\n- b", "(- a b)"),
        ("a +\n\n b", "(+ a b)"),
        ("c\n ? a\n : b", "(? c a b)"),
        ("let x =\n 1", "(let x 1)"),
        ("return\n1", "(return -)\n1"),
        ("a\n(b)", "a\nb"),
        ("a\n[b]", "a\n[b]"),
        ("(a\n- b)", "(- a b)"),
        ("f(a)\n\n// note\n\n  .g()", "(call (.g (call f a)))"),
        ("f({ x ->\n  a\n  b\n})", "(call f (\\ (x) a b))"),
        ("[{ -> a\n b }]", "[(\\ () a b)]"),
        ("if a { b }\nelse { c }", "(if a {b} {c})"),
        ("try { a }\ncatch e { b }\nfinally { c }", "(try {a} catch e {b} finally {c})"),
        ("let a: list<int>\nlet b = 1", "(let a :list<int> -)\n(let b 1)"),
        ("let a: list<int>?\nlet b = 1", "(let a :list<int>? -)\n(let b 1)"),
        ("type A = int\n  | string", "(type A (int|string))"),
        ("#!/usr/bin/env harn\na", "a"),
        ("a /* b /* c */ d */ + e // f", "(+ a e)"),
        ("", ""),
        ("\n\n", ""),
    ]);
}

#[test]
fn statements() {
    check(&[
        ("let a = 1", "(let a 1)"),
        ("pub const A: int = 1", "(pub-const A :int 1)"),
        ("var a", "(var a -)"),
        ("a = 1", "(= a 1)"),
        ("d.a.b[0] += 1", "(+= ([] (.b (.a d)) 0) 1)"),
        ("a -= 1; a *= 2; a /= 3; a %= 4", "(-= a 1)\n(*= a 2)\n(/= a 3)\n(%= a 4)"),
        ("for (k, v) in d { k }", "(for (k, v) d {k})"),
        ("for {key, value} in d { break }", "(for {key value} d {break})"),
        ("for _ in 1 to 3 { continue }", "(for _ (to 1 3) {continue})"),
        ("while a < b { }", "(while (< a b) {})"),
        ("guard a != nil else { return 1 }", "(guard (!= a nil) {(return 1)})"),
        ("require a > 1, \"no\"", "(require (> a 1) \"no\")"),
        ("require a", "(require a -)"),
        ("defer { f() }", "(defer {(call f)})"),
        ("throw {a: 1}", "(throw (dict \"a\":1))"),
        ("yield 1; yield", "(yield 1)\n(yield -)"),
        ("emit x", "(emit x)"),
        ("let {a, b: c, d = 1, ...rest} = x", "(let {a b:c d=1 ...rest} x)"),
        ("let [a, _, b = 2, ...rest] = x", "(let [a _ b=2 ...rest] x)"),
        ("let [a, ...] = x", "(let [a ...] x)"),
        ("let {\"b c\": d, type: t} = x", "(let {b c:d type:t} x)"),
    ]);
}

#[test]
fn bodies() {
    check(&[
        ("if a { 1 } else if b { 2 } else { 3 }", "(if a {1} (if b {2} {3}))"),
        ("try { a }", "(try {a})"),
        ("try { a } catch (e: Bad) { b }", "(try {a} catch e:Bad {b})"),
        ("try { a } catch { b }", "(try {a} catch - {b})"),
        ("retry 3 { f() }", "(retry 3 {(call f)})"),
        ("parallel 3 { i -> i }", "(parallel-count 3 (\\ (i) i))"),
        ("parallel 3 { f() }", "(parallel-count 3 (\\ () (call f)))"),
        (
            "parallel each xs with {max_concurrent: 2} { x -> x }",
            "(parallel-each xs with (dict \"max_concurrent\":2) (\\ (x) x))",
        ),
        ("let r = parallel settle xs { x -> x }", "(let r (parallel-settle xs (\\ (x) x)))"),
        ("let h = spawn { 1 }", "(let h (spawn {1}))"),
        ("deadline 30s { f() }", "(deadline 30000 {(call f)})"),
        ("mutex { f() }", "(mutex {(call f)})"),
        (
            "select { m from ch { m }  timeout 5s { 1 }  default { 2 } }",
            "(select (m from ch {m}) (timeout 5000 {1}) (default {2}))",
        ),
        ("select {\n _ from a.b { 1 }\n}", "(select (_ from (.b a) {1}))"),
    ]);
}

#[test]
fn matches() {
    check(&[
        (
            "match v { 1 | 2 -> { a }  \"a\" -> { b }  _ -> { c } }",
            "(match v ((| 1 2) -> {a}) (\"a\" -> {b}) (_ -> {c}))",
        ),
        ("match v {\n 1 -> a\n -1 -> b,\n 2.5 -> c\n}", "(match v (1 -> a) ((neg 1) -> b) (2.5 -> c))"),
        (
            "match v { Shape.Circle(r) -> { r }  E.A -> 1, Ok(x) -> x }",
            "(match v (Shape.Circle(r) -> {r}) (E.A() -> 1) (Ok(x) -> x))",
        ),
        (
            "match v { {kind: \"x\", id} -> { id }  {a: {b}} -> b }",
            "(match v ({kind:\"x\" id} -> {id}) ({a:{b}} -> b))",
        ),
        ("match v { [] -> 0, [a, ...r] -> { r }  [a] -> a }", "(match v ([] -> 0) ([a ...r] -> {r}) ([a] -> a))"),
        ("match v { n if n > 3 -> { n }  (k, v) -> { k } }", "(match v (n if (> n 3) -> {n}) ((k, v) -> {k}))"),
        ("match v { 1 to 5 -> a, 1 to 9 exclusive -> b }", "(match v ((to 1 5) -> a) ((upto 1 9) -> b))"),
        ("match v { P {x, y: 0} -> x, nil -> 1, true -> 2 }", "(match v (P{x y:0} -> x) (nil -> 1) (true -> 2))"),
    ]);
    check(&[
        (
            "match v {\n 1 -> a\n   .b\n 2 -> if c { d } else { e }\n 3 -> ({x: 1})\n}",
            "(match v (1 -> (.b a)) (2 -> (if c {d} {e})) (3 -> (dict \"x\":1)))",
        ),
        ("match match a { b -> c } { _ -> d }", "(match (match a (b -> c)) (_ -> d))"),
    ]);
}

#[test]
fn items() {
    check(&[
        ("fn f<T>(a, b: int = 1, ...rest: list<T>) -> T { a }", "(fn f<T> (a b:int=1 ...rest:list<T>) ->T {a})"),
        ("pub fn f() { }", "(pub fn f () {})"),
        ("gen fn g() { emit 1 }", "(fn gen g () {(emit 1)})"),
        ("fn f<T, U>(a: T) where T: Show { a }", "(fn f<T U> (a:T) {a})"),
        (
            "pipeline main(task) -> int extends base { override fn f(a) { a } }",
            "(pipeline extends:base main (task) ->int {(override f (a) {a})})",
        ),
        ("pipeline default { 1 }", "(pipeline default () {1})"),
        (
            "tool read(path: string, n: int = 10) -> string {\n description \"Reads ${a}\"\n path\n}",
            "(tool (str \"Reads \" a) read (path:string n:int=10) ->string {path})",
        ),
        ("tool t() { 1 }", "(tool - t () {1})"),
        ("struct P { x: int, y: int = 2 }", "(struct P x:int y:int=2)"),
        ("struct P<T> {\n  type: T\n  match: int\n}", "(struct P<T> type:T match:int)"),
        (
            "impl P {\n fn m(self, a) { self.x }\n\n pub fn n(self) { }\n}",
            "(impl P (fn m (self a) {(.x self)}) (pub fn n (self) {}))",
        ),
        ("impl Show for P { fn show(self) { 1 } }", "(impl Show for P (fn show (self) {1}))"),
        ("enum E { A, B(int, string)\n C(r: float) }", "(enum E A B(int string) C(float))"),
        (
            "interface I {\n fn m(self) -> list<int>\n fn n(self) { 1 }\n}",
            "(interface I (m (self) ->list<int> {}) (n (self) {1}))",
        ),
        ("import \"a/b\"", "(import \"a/b\")"),
        ("import {a, b as c} from \"std/x\"", "(import {a b as c} \"std/x\")"),
        ("@test\n@deprecated(\"x\", 1) fn f() { }", "(@test() @deprecated(\"x\" 1) fn f () {})"),
        ("/// one\n/// two\nfn f() { }", "(doc:\"one\\ntwo\" fn f () {})"),
        ("/** one\n  * two */\n@test pub fn f() { }", "(doc:\"one\\ntwo\" @test() pub fn f () {})"),
        ("/// no item\nlet a = 1", "(let a 1)"),
        ("fn f() { fn g() { 1 } }", "(fn f () {(fn g () {1})})"),
        ("let gen = 1; let default = gen; let timeout = 2", "(let gen 1)\n(let default gen)\n(let timeout 2)"),
    ]);
}

#[test]
fn types() {
    check(&[
        ("let a: list<dict<string, int>> = b", "(let a :list<dict<string int>> b)"),
        ("let a: fn(int, T) -> {a: int, b?: U} = b", "(let a :fn(int T)->{a:int b?:U} b)"),
        ("let a: \"x\" | \"y\" | nil = b", "(let a :(\"x\"|\"y\"|nil) b)"),
        ("let a: int? = b", "(let a :int? b)"),
        ("let a: (int | string)? = b", "(let a :(int|string)? b)"),
        ("type A<T> = {type: T, from?: int, ...}", "(type A<T> {type:T from?:int ...})"),
        ("fn f(a: {b: int}?) -> fn() -> int { a }", "(fn f (a:{b:int}?) ->fn()->int {a})"),
    ]);
}

#[test]
fn spans_count_bytes() {
    let text = "let a = \"ä\"\nlog(\"日本\", b)";
    let parsed = parsed(text);
    let call = &parsed.module.body[1];
    assert_eq!(&text[call.span.range()], "log(\"日本\", b)");
    let lang::ast::StmtKind::Expr(e) = &call.kind else { panic!("an expression") };
    let lang::ast::ExprKind::Call { args, .. } = &e.kind else { panic!("a call") };
    assert_eq!(&text[args[0].value.span.range()], "\"日本\"");
    assert_eq!(&text[args[1].value.span.range()], "b");
}

#[test]
fn a_key_stands_where_its_value_does() {
    let parsed = parsed("f({name})");
    let lang::ast::StmtKind::Expr(e) = &parsed.module.body[0].kind else { panic!("an expression") };
    let lang::ast::ExprKind::Call { args, .. } = &e.kind else { panic!("a call") };
    let lang::ast::ExprKind::Dict(items) = &args[0].value.kind else { panic!("a dict") };
    let lang::ast::DictItem::Entry { key, value } = &items[0] else { panic!("an entry") };
    assert_eq!((key.span, value.span), (lang::source::Span::new(3, 7), lang::source::Span::new(3, 7)));
}
