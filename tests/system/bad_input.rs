//! Whatever the command is given: one diagnostic, exit code 1 (2 for wrong usage), no panic, and what was printed before
//! the error is kept.

use crate::harn::{Outcome, harn, harn_with_input, scratch};
use std::fs;
use std::path::{Path, PathBuf};

/// A script in a folder of its own.
fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch(&format!("bad-input-{name}")).join(format!("{name}.harn"));
    fs::write(&path, content).unwrap();
    path
}

fn run(path: &Path) -> Outcome {
    harn(&["run", "--seed", "1", path.to_str().unwrap()])
}

/// Asserts one diagnostic, exit code 1, and output that fits on a screen. Returns the outcome for
/// more checks.
#[track_caller]
fn one_error(outcome: Outcome, code: &str) -> Outcome {
    let shown: String = outcome.err.chars().take(3000).collect();
    assert_eq!(outcome.code, Some(1), "exit code; standard error:\n{shown}");
    assert_eq!(outcome.drawn("error"), 1, "one diagnostic:\n{shown}");
    assert!(outcome.err.contains(code), "{code} in:\n{shown}");
    assert!(!outcome.err.contains("panicked"), "{shown}");
    assert!(outcome.err.len() < 10_000, "a picture of {} bytes:\n{shown}", outcome.err.len());
    outcome
}

/// Asserts the same for `run` and `check`: the error is found before the run.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, code: &str) {
    let path = file(name, content);
    let ran = one_error(run(&path), code);
    assert_eq!(ran.out, "", "nothing runs");
    one_error(harn(&["check", path.to_str().unwrap()]), code);
}

/// A script that prints `before` and then fails.
#[track_caller]
fn fails_after_output(name: &str, script: &str, code: &str) {
    let outcome = one_error(run(&file(name, format!("println(\"before\")\n{script}\n"))), code);
    assert_eq!(outcome.out, "before\n", "what was printed is kept");
}

#[test]
fn files_that_are_none() {
    let dir = scratch("bad-input-files");
    for command in ["run", "check"] {
        one_error(harn(&[command, dir.join("missing.harn").to_str().unwrap()]), "HARN-SRC-001");
        one_error(harn(&[command, dir.to_str().unwrap()]), "HARN-SRC-001");
    }
}

#[test]
fn text_that_is_not_utf_8() {
    refused("latin1", b"println(\"gr\xfc\xdfe\")\n", "HARN-SRC-002");
}

#[test]
fn ten_megabytes_of_open_parentheses() {
    refused("parentheses", "(".repeat(10_000_000), "HARN-");
}

#[test]
fn ten_megabytes_of_other_openers() {
    refused("brackets", "[".repeat(10_000_000), "HARN-");
    refused("braces", "{".repeat(10_000_000), "HARN-");
    refused("closers", ")".repeat(10_000_000), "HARN-");
}

#[test]
fn expressions_nested_beyond_reason() {
    refused("minus", format!("let x = {}1\n", "- ".repeat(200_000)), "HARN-");
    refused("sum", format!("println(1{})\n", " + 1".repeat(200_000)), "HARN-");
    refused("fields", format!("let d = {{}}\nprintln(d{})\n", ".a".repeat(200_000)), "HARN-");
    let nested = format!("println({}1{})\n", "(".repeat(100_000), ")".repeat(100_000));
    refused("nested", nested, "HARN-");
    let lists = format!("println({}{})\n", "[".repeat(100_000), "]".repeat(100_000));
    refused("lists", lists, "HARN-");
}

#[test]
fn literals_that_are_never_closed() {
    refused("string", "println(\"abc\n", "HARN-LEX-");
    refused("long-string", "println(\"\"\"abc\n", "HARN-LEX-");
    refused("comment", "/* abc\nprintln(1)\n", "HARN-LEX-");
    refused("interpolation", "println(\"a ${ b\n", "HARN-");
}

#[test]
fn characters_that_no_script_has() {
    refused("nul", b"let a = 1\0\nprintln(a)\n", "HARN-LEX-");
    refused("hash", "# a comment of another language\n", "HARN-LEX-");
    // A script must not get at the terminal through its picture.
    let escape = file("escape", "let a = 1 \x1b\n");
    assert!(!one_error(run(&escape), "HARN-LEX-").err.contains('\x1b'));
}

#[test]
fn recursion_without_an_end() {
    fails_after_output("recursion", "fn down(n) { return 1 + down(n + 1) }\nprintln(down(0))", "HARN-RUN-010");
    fails_after_output(
        "mutual",
        "fn ping(n) { return 1 + pong(n) }\nfn pong(n) { return 1 + ping(n) }\nping(0)",
        "HARN-RUN-010",
    );
    fails_after_output("through-map", "fn deep(n) { return [n].map({ x -> deep(x + 1) }) }\ndeep(0)", "HARN-RUN-010");
}

#[test]
fn values_nested_or_large_beyond_reason() {
    let deep = "var x = []\nfor i in 1 to 300000 { x = [x] }\nvar y = []\nfor i in 1 to 300000 { y = [y] }\n";
    // Whether it prints, compares or refuses is its affair; it must not crash.
    for (name, last) in [("drop", "println(1)"), ("equal", "println(x == y)"), ("print", "println(len(\"${x}\"))")] {
        let outcome = run(&file(&format!("deep-{name}"), format!("{deep}{last}\n")));
        assert!(matches!(outcome.code, Some(0 | 1)), "{name}: {:?}\n{}", outcome.code, outcome.err);
        assert!(!outcome.err.contains("panicked"), "{name}: {}", outcome.err);
    }
    fails_after_output("doubling", "var s = \"ab\"\nwhile true { s = s + s }", "HARN-RUN-017");
}

#[test]
fn a_run_without_an_end_is_ended_by_its_fuel() {
    let path = file("endless", "println(\"before\")\nwhile true {}\n");
    let outcome = harn(&["run", "--fuel", "100000", path.to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.drawn("error")), (Some(3), "before\n", 1));
    assert!(outcome.err.contains("HARN-RUN-011"), "{}", outcome.err);
}

#[test]
fn a_right_that_was_taken_away() {
    let path = file("denied", "println(\"before\")\nprintln(read_file(\"Cargo.toml\"))\n");
    let outcome = one_error(harn(&["run", "--deny", "fs.read,net", path.to_str().unwrap()]), "HARN-RUN-014");
    assert_eq!(outcome.out, "before\n");
}

#[test]
fn an_error_that_nobody_catches() {
    fails_after_output("throw", "throw \"no such user\"", "HARN-RUN-001");
    fails_after_output("throw-dict", "throw {code: 4}", "HARN-RUN-001");
    fails_after_output("throw-long", "throw \"é\".repeat(1_000_000)", "HARN-RUN-001");
    fails_after_output("assert-long", "assert(false, \"a\".repeat(1_000_000))", "HARN-RUN-009");
    fails_after_output("label-long", "read_file(\"a\".repeat(1_000_000))", "HARN-RUN-016");
}

#[test]
fn all_files_are_checked_and_warnings_alone_are_no_failure() {
    let wrong = file("two-errors", "println(a)\nprintln(b)\n");
    let warned = file("warned", "fn f() {\n  let unread = 1\n}\nf()\n");
    let fine = file("fine", "println(1)\n");
    let [wrong, warned, fine] = [&wrong, &warned, &fine].map(|path| path.to_str().unwrap());
    let outcome = harn(&["check", wrong, warned, fine, wrong]);
    // A script that is named twice is reported once.
    assert_eq!((outcome.code, outcome.drawn("error"), outcome.drawn("warning")), (Some(1), 2, 1), "{}", outcome.err);
    let outcome = harn(&["check", warned, fine]);
    assert_eq!((outcome.code, outcome.drawn("warning"), outcome.out.as_str()), (Some(0), 1, ""));
    let outcome = harn(&["check", "--format", "json", wrong]);
    let codes =
        outcome.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["code"].clone());
    assert_eq!(codes.collect::<Vec<_>>(), ["HARN-NAM-001", "HARN-NAM-001"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(1), ""));
}

#[test]
fn nothing_at_all_runs_well() {
    for (name, content) in [("empty", ""), ("blank", "\n\n  \n"), ("comment-only", "// nothing")] {
        let outcome = run(&file(name, content));
        assert_eq!((outcome.code, outcome.out.as_str(), outcome.err.as_str()), (Some(0), "", ""), "{name}");
    }
}

#[test]
fn the_exit_code_is_what_the_pipeline_returns() {
    let outcome = |script: &str| run(&file("exit", script)).code;
    assert_eq!(outcome("pipeline main() { return 3 }\n"), Some(3));
    assert_eq!(outcome("pipeline main() { return \"text\" }\n"), Some(0));
    assert_eq!(outcome("exit(5)\n"), Some(5));
    let failed = run(&file("err", "pipeline main() { return Err(\"no luck\") }\n"));
    assert_eq!(failed.code, Some(1));
    assert!(failed.err.contains("no luck"), "{}", failed.err);
}

#[test]
fn task_and_arguments_arrive() {
    let path = file("task", "pipeline main(task) { println(task)\nprintln(args()) }\n");
    let outcome = harn(&["run", path.to_str().unwrap(), "--task", "Tidy up.", "--", "-x", "two words"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "Tidy up.\n[-x, two words]\n"), "{}", outcome.err);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let cases: [&[&str]; 9] = [
        &[],
        &["runn", "a.harn"],
        &["run"],
        &["run", "a.harn", "--stray"],
        &["run", "--seed", "many", "a.harn"],
        &["run", "--deny", "fs.raed", "a.harn"],
        &["dis"],
        &["check", "--format", "xml", "a.harn"],
        &["explain", "HARN-RMD-099"],
    ];
    for args in cases {
        let outcome = harn(args);
        assert_eq!(outcome.code, Some(2), "harn {args:?}: {}", outcome.err);
        assert!(!outcome.err.is_empty() && !outcome.err.contains("panicked"), "harn {args:?}: {}", outcome.err);
    }
    assert!(harn(&["run", "--deny", "fs.raed", "a"]).err.contains("did you mean `fs.read`?"));
}

#[test]
fn the_repl_takes_anything() {
    let lines = [b"let a = \xff\n".as_slice(), &b"(".repeat(100_000), b"\n)\n\0\n:\n", b"println(1)\n"].concat();
    let outcome = harn_with_input(&["repl"], &lines, &[]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err.chars().take(3000).collect::<String>());
    assert!(!outcome.err.contains("panicked"));
}
