use super::run;

#[track_caller]
fn prints(text: &str, expected: &str) {
    let out = run(text);
    assert_eq!(out.trim_end(), expected.trim_end(), "\n{out}");
}

#[test]
fn arithmetic_and_variables() {
    prints("var x = 1\nx += 2\nprintln(x * 3 - 4 / 2, 7 % 4, 2 ** 10, 1.5 + 1)", "7 3 1024 2.5");
    prints("println(try { 9223372036854775807 + 1 } catch e { e.code })", "HARN-RUN-018");
}

#[test]
fn functions_recursion_and_tail_calls() {
    prints("fn fib(n) { if n < 2 { return n }\n return fib(n - 1) + fib(n - 2) }\nprintln(fib(20))", "6765");
    prints("fn down(n) { if n == 0 { return \"done\" }\n return down(n - 1) }\nprintln(down(1000000))", "done");
    prints(
        "fn f(a, b = a + 1, ...rest) { return [a, b, rest] }\nprintln(f(1), f(1, 5), f(1, 2, 3, 4))",
        "[1, 2, []] [1, 5, []] [1, 2, [3, 4]]",
    );
}

#[test]
fn closures_share_variables() {
    prints(
        "fn counter() {\n  var n = 0\n  let inc = { -> n += 1\n n }\n  let get = { -> n }\n  return [inc, get]\n}\nlet c = counter()\nlet inc = c[0]\nlet get = c[1]\ninc()\ninc()\nprintln(get())",
        "2",
    );
    prints("var fs = []\nfor i in 0 to 2 { fs = fs.push({ -> i }) }\nprintln(fs.map({ f -> f() }))", "[0, 1, 2]");
    prints(
        "fn outer() {\n  fn even(n) { return n == 0 ? true : odd(n - 1) }\n  fn odd(n) { return n == 0 ? false : even(n - 1) }\n  return even(10)\n}\nprintln(outer())",
        "true",
    );
}

#[test]
fn collections_are_values() {
    prints("let a = [1, 2]\nvar b = a\nb[0] = 9\nb += [3]\nprintln(a, b)", "[1, 2] [9, 2, 3]");
    prints(
        "var d = {a: {b: [1]}}\nlet e = d\nd.a.b[0] = 5\nd.c = 1\nprintln(d, e)",
        "{a: {b: [5]}, c: 1} {a: {b: [1]}}",
    );
    prints(
        "let d = {x: 1}\nprintln({...d, y: 2, [\"z\" + \"!\"]: 3}, d?.q?.r, d.q ?? 7)",
        "{x: 1, y: 2, \"z!\": 3} nil 7",
    );
}

#[test]
fn strings_and_interpolation() {
    prints("let n = \"w\"\nprintln(\"a ${n + \"x${1 + 1}\"} b\")", "a wx2 b");
    prints("println(\"héllo\"[1], \"héllo\"[1:3], \"abc\"[-1])", "é él c");
}

#[test]
fn loops_and_control() {
    prints(
        "var t = 0\nfor i in 1 to 10 {\n  if i == 3 { continue }\n  if i > 5 { break }\n  t += i\n}\nprintln(t)",
        "12",
    );
    prints("for e in {b: 2, a: 1} { println(e.key, e.value) }", "a 1\nb 2");
    prints("for c in \"hé\" { print(c + \".\") }\nprintln()", "h.é.");
    prints("var i = 0\nwhile i < 3 && !(i == 2) { i += 1 }\nprintln(i)", "2");
}

#[test]
fn match_and_patterns() {
    prints(
        "fn f(v) {\n  return match v {\n    1 | 2 -> \"small\"\n    \"a\" -> \"letter\"\n    {kind: \"x\", id} -> \"x${id}\"\n    [a, ...r] -> \"list ${a} ${r}\"\n    n if n == 7 -> \"seven\"\n    _ -> \"other\"\n  }\n}\nprintln(f(1), f(\"a\"), f({kind: \"x\", id: 4}), f([1, 2]), f(7), f(nil))",
        "small letter x4 list 1 [2] seven other",
    );
    prints(
        "let {a, b: other, c = 9, ...rest} = {a: 1, b: 2, d: 4}\nlet [x, _, ...tail] = [1, 2, 3, 4]\nprintln(a, other, c, rest, x, tail)",
        "1 2 9 {d: 4} 1 [3, 4]",
    );
}

#[test]
fn errors_and_ways_out() {
    prints("let r = try { throw \"no\" }\nprintln(r)", "Result.Err(no)");
    prints("fn f() {\n  try { return 1 } finally { println(\"f\") }\n}\nprintln(f())", "f\n1");
    prints(
        "fn f() {\n  defer { println(\"d1\") }\n  defer { println(\"d2\") }\n  println(\"body\")\n  return 3\n}\nprintln(f())",
        "body\nd2\nd1\n3",
    );
    prints("let v = try { 1 / 0 } catch (e) { e.message }\nprintln(v)", "cannot divide by the integer zero");
    prints(
        "for i in 1 to 3 {\n  try { if i == 2 { continue }\n println(i) } finally { println(\"x\") }\n}",
        "1\nx\nx\n3\nx",
    );
    prints("var n = 0\nlet v = retry 3 { n += 1\n if n < 3 { throw \"again\" }\n n }\nprintln(v)", "3");
    prints("fn f() {\n  let a = try { throw \"e\" }\n  let b = a?\n  return b\n}\nprintln(f())", "Result.Err(e)");
    prints(
        "fn g() { try { throw \"a\" } finally { println(\"1\") } }\ntry { g() } catch e { println(\"got \" + e) }",
        "1\ngot a",
    );
}

#[test]
fn pipelines_run_after_the_statements() {
    prints("let greeting = \"hi\"\npipeline main(task) {\n  println(greeting, task)\n  return 0\n}", "hi nil\n=> 0");
}

#[test]
fn pipes_and_placeholders() {
    prints("fn two() { return [1, 2] }\nprintln(two().map({ x -> x + 1 }).map({ x -> x * 2 }).count())", "2");
    prints("fn double(n) { return n * 2 }\nprintln(4 |> double, [3, 1] |> _.count() + 1)", "8 3");
}

#[test]
fn a_list_grows_in_place() {
    prints("var xs = []\nvar i = 0\nwhile i < 200000 { xs = xs.push(i)\n i += 1 }\nprintln(xs.count())", "200000");
    prints("var s = \"\"\nfor i in 1 to 200000 { s += \"ab\" }\nprintln(len(s))", "400000");
}

#[test]
fn natural_limits() {
    let out = run("fn f(n) { return 1 + f(n + 1) }\nf(0)");
    assert!(out.contains("HARN-RUN-010"), "{out}");
    let out = run("let x = [1]\nprintln(x[3])");
    assert!(out.contains("HARN-RUN-004"), "{out}");
}
