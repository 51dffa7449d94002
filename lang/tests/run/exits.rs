//! Ways out: `finally`, `defer`, `return`, `break`, `?`, in one another.

use super::run;

#[track_caller]
fn prints(text: &str, expected: &str) {
    let out = run(text);
    assert_eq!(out.trim_end(), expected.trim_end(), "\n{out}");
}

#[test]
fn a_throw_on_the_way_out_meets_the_outer_handlers() {
    prints(
        "fn f() { try { try { return 1 } finally { throw \"x\" } } finally { println(\"outer\") } }\nprintln(try { f() })",
        "outer\nResult.Err(x)",
    );
    prints(
        "fn f() { try { try { return 1 } finally { throw \"x\" } } catch e { return e + \"!\" } }\nprintln(f())",
        "x!",
    );
    prints(
        "fn f() {\n  defer { println(\"outer\") }\n  if true {\n    defer { throw \"i\" }\n    return 1\n  }\n}\nprintln(try { f() })",
        "outer\nResult.Err(i)",
    );
}

#[test]
fn nested_blocks_run_once_each_innermost_first() {
    prints(
        "fn f() {\n  for i in 1 to 3 {\n    try {\n      try {\n        if i == 2 { break }\n        println(i)\n      } finally { println(\"a\") }\n    } finally { println(\"b\") }\n  }\n  return 9\n}\nprintln(f())",
        "1\na\nb\na\nb\n9",
    );
    prints("fn f() {\n  try { return 1 } finally { return 2 }\n}\nprintln(f())", "2");
}

#[test]
fn deep_nesting_costs_its_length() {
    let text = format!("fn f() {{ {} println(1) {} }}\nf()", "defer { ".repeat(60), "} ".repeat(60));
    assert_eq!(run(&text).trim(), "1");
    let text = format!(
        "fn f() {{ {} return 1 {} }}\nprintln(f())",
        "try { ".repeat(60),
        "} finally { print(\".\") } ".repeat(60)
    );
    assert_eq!(run(&text).trim(), format!("{}1", ".".repeat(60)));
}

#[test]
fn retry_tries_so_often_and_no_more() {
    prints("var n = 0\nlet r = try { retry 3 { n += 1\n throw \"no\" } }\nprintln(n, r)", "3 Result.Err(no)");
    prints("var n = 0\nlet r = retry 0 { n += 1\n n }\nprintln(n, r)", "0 nil");
}

#[test]
fn the_old_value_counts_in_a_compound_assignment() {
    prints("var x = 1\nx += (if true { x = 5\n 1 } else { 0 })\nprintln(x)", "2");
    prints(
        "fn f() {\n  var xs = [1, 2, 3]\n  println(xs[(if true { xs = [9, 8, 7]\n 0 } else { 0 }):2])\n}\nf()",
        "[1, 2]",
    );
}

#[test]
fn what_would_be_too_large_is_refused() {
    for text in [
        "var s = \"aaaaaaaaaaaaaaaa\"\nwhile true { s = \"${s}${s}\" }",
        "var s = [1, 2, 3]\nwhile true { s = [...s, ...s] }",
        "println([...(0 to 9223372036854775807)])",
    ] {
        let out = run(text);
        assert!(out.contains("HARN-RUN-017"), "{out}");
    }
}
