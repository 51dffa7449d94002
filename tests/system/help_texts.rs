//! An error of a run helps as the checker does: the same mistake with a value whose type is known, and with one that is not.

use crate::harn::{harn_in, scratch};
use std::fs;

/// Values, and what is done with them that fails.
const MISTAKES: &[(&str, &str)] = &[
    ("[1, 2]", "x.len()"),
    ("[1, 2]", "x.lenght()"),
    ("[1, 2]", "x.append(3)"),
    ("[1, 2]", "x.coutn()"),
    ("[1, 2]", "x.map"),
    ("\"a\"", "x.strip()"),
    ("\"a\"", "x.json_parse()"),
    ("\"a\"", "x.xylophone()"),
    ("[1]", "x.abs()"),
    ("nil", "x.name"),
    ("nil", "x.trim()"),
    ("nil", "x[0]"),
    ("nil", "x + 1"),
    ("nil", "x()"),
    ("\"a\"", "x + 1"),
    ("\"a\"", "1 + x"),
    ("\"ab\"", "3 * x"),
    ("12", "split(x, \",\")"),
    ("12", "[\"a\"].join(x)"),
    ("\"a\"", "x.repeat()"),
    ("\"a\"", "x.split(x, 1, x)"),
    ("\"a\"", "x.repeat(x)"),
    ("try { 1 }", "x + 1"),
    ("try { [1] }", "x[0]"),
    ("try { [1] }", "x[0:1]"),
    ("try { 1 }", "x()"),
    ("12", "x?"),
];

/// Values in a loop, which is a statement.
const WALKS: &[&str] = &["nil", "{ -> [1] }"];

/// The lines of help and of facts in a rendered diagnostic.
fn helps(rendered: &str) -> Vec<&str> {
    rendered.lines().map(str::trim).filter(|line| line.starts_with("help: ") || line.starts_with("note: ")).collect()
}

#[test]
fn a_run_helps_as_the_checker_does() {
    let dir = scratch("help-texts");
    let file = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
    let mut wrong = String::new();
    let mut compare = |value: &str, known: &str, unknown: &str| {
        file("known.harn", known);
        file("unknown.harn", unknown);
        let checked = harn_in(&dir, &["check", "known.harn"], b"", &[]);
        let accepted = harn_in(&dir, &["check", "unknown.harn"], b"", &[]);
        let ran = harn_in(&dir, &["run", "unknown.harn"], b"", &[]);
        if checked.code != Some(1)
            || accepted.code != Some(0)
            || ran.code != Some(1)
            || helps(&checked.err) != helps(&ran.err)
        {
            wrong.push_str(&format!("{value}:\n{known}{}{}{}\n", checked.err, accepted.err, ran.err));
        }
    };
    for (value, mistake) in MISTAKES {
        let known = format!("let x = {value}\nprintln({mistake})\n");
        compare(value, &known, &format!("fn f(x) {{\n  return {mistake}\n}}\nprintln(f({value}))\n"));
    }
    for value in WALKS {
        let walk = "for n in x {\n  println(n)\n}\n";
        compare(value, &format!("let x = {value}\n{walk}"), &format!("fn f(x) {{\n{walk}}}\nf({value})\n"));
    }
    let walk = "println(n)\n}\n";
    compare("5", &format!("for n in 5 {{\n{walk}"), &format!("fn f(x) {{\nfor n in x {{\n{walk}}}\nf(5)\n"));
    assert!(wrong.is_empty(), "{wrong}");
}
