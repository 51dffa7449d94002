//! `harn dis`: what scripts are compiled to. The listings of `tests/dis` are tests of the target `it`; here is what they are
//! together, and how the command is used.

use crate::diff::diff;
use crate::harn::{harn, harn_with_input, root, scratch};
use std::collections::BTreeSet;
use std::fs;

/// Names of instructions, as the table has them: rows begin with four blanks and a name.
fn instructions() -> BTreeSet<String> {
    let table = fs::read_to_string(root().join("lang/src/vm/op.rs")).unwrap();
    let rows = table.split_once("instructions! {").unwrap().1.split_once("\n}").unwrap().0;
    let row = |line: &str| line.strip_prefix("    ")?.split([' ', ',']).next().map(str::to_owned);
    rows.lines().filter_map(row).filter(|name| name.starts_with(char::is_uppercase)).collect()
}

#[test]
fn the_listings_have_every_instruction() {
    let mut missing = instructions();
    assert!(missing.len() > 100, "{missing:?}");
    let files = fs::read_dir(root().join("tests/dis")).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.extension().is_some_and(|end| end == "txt")) {
        let text = fs::read_to_string(file).unwrap();
        for line in text.lines().filter(|line| line.starts_with("  ")) {
            if let Some(name) = line.split_whitespace().nth(2) {
                missing.remove(name);
            }
        }
    }
    assert!(missing.is_empty(), "no script of tests/dis is compiled to {missing:?}");
}

#[test]
fn a_script_may_come_from_anywhere() {
    let text = "println(1)\n";
    let code = harn(&["dis", "-e", text]);
    let stdin = harn_with_input(&["dis", "-"], text.as_bytes(), &[]);
    assert_eq!((code.code, stdin.code), (Some(0), Some(0)));
    assert_eq!(code.out.lines().next(), Some("main, <command line>:1"));
    assert_eq!(code.out.replace("<command line>", "<stdin>"), stdin.out);
    assert_eq!(code.err, "");
}

#[test]
fn what_does_not_compile_is_reported_as_by_check() {
    let [dis, check] = ["dis", "check"].map(|command| harn(&[command, "tests/dis/broken.harn"]));
    assert_eq!((dis.code, &dis.err), (check.code, &check.err));
    assert_eq!((dis.code, dis.out.as_str()), (Some(1), ""));
    let json = harn(&["dis", "--format", "json", "tests/dis/broken.harn"]);
    assert!(json.code == Some(1) && json.err.starts_with('{'), "{}", json.err);
    let missing = harn(&["dis", "tests/dis/none.harn"]);
    assert!(missing.code == Some(1) && missing.drawn("error") == 1, "{}", missing.err);
}

#[test]
fn wrong_usage_is_told_apart() {
    for args in [&["dis"][..], &["dis", "-e", "1", "a.harn"], &["dis", "a.rhai"]] {
        let outcome = harn(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(outcome.err.starts_with("error:"), "{}", outcome.err);
    }
}

/// Control characters of a text would be obeyed by a terminal.
#[test]
fn texts_are_shown_and_not_obeyed() {
    let outcome = harn(&["dis", "-e", "println(\"\\u{1b}[31m\\n\")"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.out.contains("k0 = ") && !outcome.out.contains('\u{1b}'), "{}", outcome.out);
}

/// Distances that an instruction has no room for lie in a table beside the code.
#[test]
fn a_jump_over_a_long_way_leads_to_its_target() {
    let file = scratch("dis").join("long.harn");
    let body = "  n += x\n".repeat(33_000);
    fs::write(&file, format!("var n = 0\nfor x in [1] {{\n{body}}}\nprintln(n)\n")).unwrap();
    let outcome = harn(&["dis", file.to_str().unwrap()]);
    let lines: Vec<&str> = outcome.out.lines().collect();
    let next = lines.iter().find(|line| line.contains("ForNext")).expect("a loop");
    let target = next.rsplit_once("-> ").unwrap().1;
    let at = lines.iter().position(|line| line.trim_start().starts_with(&format!("{target} "))).expect("its end");
    assert!(target.parse::<usize>().unwrap() > 33_000 && lines[at - 1].contains("Loop"), "{next}\n{}", lines[at - 1]);
}

#[test]
fn the_page_shows_what_its_script_gives() {
    let page = fs::read_to_string(root().join("docs/reference/bytecode.md")).unwrap();
    let block = |language: &str| {
        page.split_once(&format!("```{language}\n")).unwrap().1.split_once("```").unwrap().0.to_owned()
    };
    let found = harn_with_input(&["dis", "-"], block("harn").as_bytes(), &[]);
    assert_eq!(diff(&block("text"), &found.out), None);
}
