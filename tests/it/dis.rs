//! `harn dis`: what scripts are compiled to.
//!
//! Each script of `tests/dis` has the listing that the command gives in the `.txt` beside it. `UPDATE=1 cargo test --test it
//! dis` writes them; `cargo test --test it dis::calls` is one of them. A listing changes when the compiler does: read the
//! change, and see that the code became what was wanted.

use crate::diff::diff;
use crate::harn::{Outcome, harn, harn_with_input, root, scratch};
use std::collections::BTreeSet;
use std::fs;

macro_rules! listings {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            listing(stringify!($name));
        })*

        const LISTINGS: &[&str] = &[$(stringify!($name)),*];
    };
}

listings! { broken calls collections errors imports iterators jumps operators types }

/// What is printed, and the exit code where it is not 0.
fn shown(outcome: &Outcome) -> String {
    let code = outcome.code.map_or("[ended by a signal]\n".to_owned(), |code| format!("[exit code {code}]\n"));
    let code = if outcome.code == Some(0) { String::new() } else { code };
    format!("{}{}{code}", outcome.out, outcome.err)
}

fn listing(name: &str) {
    let found = shown(&harn(&["dis", &format!("tests/dis/{name}.harn")]));
    let file = root().join(format!("tests/dis/{name}.txt"));
    if std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
        fs::write(&file, &found).unwrap();
    }
    let wanted = fs::read_to_string(&file).unwrap_or_default();
    if let Some(diff) = diff(&wanted, &found) {
        panic!("tests/dis/{name}.txt (-expected, +found)\n{diff}");
    }
}

#[test]
fn every_script_has_its_test() {
    let files = fs::read_dir(root().join("tests/dis")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<String> = files
        .filter(|path| path.is_file())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    found.sort();
    found.dedup();
    assert_eq!(found, LISTINGS);
}

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
    for name in LISTINGS {
        let text = fs::read_to_string(root().join(format!("tests/dis/{name}.txt"))).unwrap();
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
    assert_eq!(diff(&block("text"), &shown(&found)), None);
}
