//! `harn check`: its formats, its fixes, the paths that it takes, and `--watch`.

use crate::harn::{harn_in, root, scratch};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use stdlib::{Engine, Files, RunOptions, read_source};

const MISSPELT: &str = "let total = 3\nprintln(null)\n";
const FIXED: &str = "let total = 3\nprintln(nil)\n";

/// A folder with a script that can be fixed, one that cannot, one that is right, and one that `.gitignore` excludes.
fn project(name: &str) -> std::path::PathBuf {
    let folder = scratch(name);
    fs::create_dir_all(folder.join("src/inner")).unwrap();
    fs::create_dir_all(folder.join("generated")).unwrap();
    fs::write(folder.join(".gitignore"), "generated/\n").unwrap();
    fs::write(folder.join("src/a.harn"), MISSPELT).unwrap();
    fs::write(folder.join("src/inner/b.harn"), "println(unknown_name)\n").unwrap();
    fs::write(folder.join("src/inner/c.harn"), "println(1)\n").unwrap();
    fs::write(folder.join("generated/d.harn"), MISSPELT).unwrap();
    folder
}

fn check(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let args: Vec<&str> = [&["check"], args].concat();
    let found = harn_in(folder, &args, b"", &[]);
    (found.code, found.out, found.err)
}

#[test]
fn a_short_line_for_each_diagnostic() {
    let folder = project("check-short");
    let (code, out, err) = check(&folder, &["src", "--format", "short"]);
    assert_eq!((code, err.as_str()), (Some(1), ""));
    assert_eq!(
        out,
        "src/a.harn:2:9: error[HARN-NAM-001]: unknown name `null`\n\
         src/inner/b.harn:1:9: error[HARN-NAM-001]: unknown name `unknown_name`\n"
    );
}

#[test]
fn a_pattern_means_the_files_that_match_and_are_not_ignored() {
    let folder = project("check-pattern");
    let (_, out, _) = check(&folder, &["src/*.harn", "--format", "short"]);
    assert_eq!(out.lines().count(), 1, "{out}");
    let (_, out, _) = check(&folder, &["**/*.harn", "--format", "short"]);
    assert_eq!(out.lines().count(), 2, "{out}");
    let (code, out, err) = check(&folder, &["nothing/**/*.harn"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("HARN-SRC-001"), "{err}");
    // Named twice, checked once.
    let (_, out, _) = check(&folder, &["src", "src/a.harn", "./src/a.harn", "--format", "short"]);
    assert_eq!(out.lines().count(), 2, "{out}");
}

#[test]
fn fixes_are_written_where_they_belong_and_the_rest_is_reported() {
    let folder = project("check-fix");
    let script = folder.join("src/a.harn");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    let (code, out, err) = check(&folder, &["src", "--fix"]);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(err.starts_with("fixed 1 problem in 1 file\n"), "{err}");
    assert!(err.contains("unknown_name") && !err.contains("null"), "{err}");
    assert_eq!(fs::read_to_string(&script).unwrap(), FIXED);
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(fs::read_to_string(folder.join("src/inner/b.harn")).unwrap(), "println(unknown_name)\n");
    assert_eq!(fs::read_to_string(folder.join("generated/d.harn")).unwrap(), MISSPELT);
    assert_eq!(check(&folder, &["src/a.harn", "--fix"]), (Some(0), String::new(), String::new()));
}

#[test]
fn an_imported_file_is_fixed_only_if_it_is_named() {
    let folder = scratch("check-fix-import");
    let module = "pub fn area(side) {\n  if side == null { return 0 }\n  return side * side\n}\n";
    fs::write(folder.join("shapes.harn"), module).unwrap();
    fs::write(folder.join("main.harn"), "import {area} from \"shapes\"\nprintln(area(2))\n").unwrap();
    let (code, _, err) = check(&folder, &["main.harn", "--fix"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("null"), "{err}");
    assert_eq!(fs::read_to_string(folder.join("shapes.harn")).unwrap(), module);
    let (code, _, err) = check(&folder, &["main.harn", "shapes.harn", "--fix"]);
    assert_eq!((code, err.as_str()), (Some(0), "fixed 1 problem in 1 file\n"));
    assert_eq!(fs::read_to_string(folder.join("shapes.harn")).unwrap(), module.replace("null", "nil"));
}

#[test]
fn a_difference_changes_nothing() {
    let folder = project("check-diff");
    let (code, out, err) = check(&folder, &["src/a.harn", "--fix", "--diff"]);
    assert_eq!((code, err.as_str()), (Some(1), "would fix 1 problem in 1 file\n"));
    assert_eq!(out, "--- src/a.harn\n+++ src/a.harn\n@@ -1,2 +1,2 @@\n let total = 3\n-println(null)\n+println(nil)\n");
    assert_eq!(fs::read_to_string(folder.join("src/a.harn")).unwrap(), MISSPELT);
    assert_eq!(check(&folder, &["src/a.harn", "--diff"]).0, Some(2), "--diff needs --fix");
}

#[test]
fn unsafe_fixes_are_applied_only_if_they_are_asked_for() {
    let folder = scratch("check-unsafe");
    let text = "pub fn half(n) {\n  let rest = n % 2\n  return n / 2\n}\n";
    fs::write(folder.join("a.harn"), text).unwrap();
    let (code, _, err) = check(&folder, &["a.harn", "--fix"]);
    assert_eq!(code, Some(0));
    assert!(err.contains("HARN-NAM-005"), "{err}");
    assert_eq!(fs::read_to_string(folder.join("a.harn")).unwrap(), text);
    assert_eq!(check(&folder, &["a.harn", "--fix=unsafe"]).0, Some(0));
    assert_eq!(fs::read_to_string(folder.join("a.harn")).unwrap(), text.replace("rest", "_rest"));
}

#[test]
fn standard_input_is_printed_fixed() {
    let folder = scratch("check-stdin");
    let found = harn_in(&folder, &["check", "-", "--fix"], MISSPELT.as_bytes(), &[]);
    assert_eq!((found.code, found.out.as_str(), found.err.as_str()), (Some(0), FIXED, "fixed 1 problem in 1 file\n"));
    let found = harn_in(&folder, &["check", "-", "--fix"], b"println(nothing_near)\n", &[]);
    assert_eq!((found.code, found.out.as_str()), (Some(1), "println(nothing_near)\n"));
    let found = harn_in(&folder, &["check", "-", "--fix", "--format", "json"], b"", &[]);
    assert_eq!((found.code, found.out.as_str()), (Some(2), ""));
}

#[test]
fn a_fix_that_makes_a_new_error_is_not_written() {
    let folder = scratch("check-new-error");
    // The near name is a number, and calling it is an error of its own.
    let text = "let total = 3\nprintln(totl(1))\n";
    fs::write(folder.join("a.harn"), text).unwrap();
    let (code, _, err) = check(&folder, &["a.harn", "--fix"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("HARN-NAM-001") && !err.contains("fixed"), "{err}");
    assert_eq!(fs::read_to_string(folder.join("a.harn")).unwrap(), text);
}

#[test]
fn a_json_diagnostic_fits_its_schema() {
    let folder = project("check-json");
    let (_, out, _) = check(&folder, &["src", "--format", "json"]);
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let file = root().join("docs/reference/schemas/diagnostic.json");
    let schema = compiler.compile(file.to_str().unwrap(), &mut schemas).unwrap();
    let mut fixes = 0;
    for line in out.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        if let Err(error) = schemas.validate(&value, schema) {
            panic!("{error}\n{line}");
        }
        fixes += value["fixes"].as_array().unwrap().len();
    }
    assert_eq!((out.lines().count(), fixes), (2, 1));
}

/// A folder is checked by one engine: a file is checked as a script before another one imports it.
#[test]
fn a_file_can_be_checked_before_it_is_imported() {
    let folder = scratch("check-import-after-script");
    let (lib, test) = (folder.join("lib.harn"), folder.join("lib_test.harn"));
    fs::write(&lib, "let a = env(\"A\", \"\")\nlet b = env(\"B\", \"\")\n").unwrap();
    fs::write(&test, "import {a, b} from \"lib\"\n\n@test\nfn c() {\n  assert_eq(a, b)\n}\n").unwrap();
    let options = RunOptions { loader: Rc::new(Files::of(&test)), ..RunOptions::default() };
    let engine = Engine::new(options);
    for file in [&lib, &test, &lib, &test] {
        let found = engine.check(&read_source(file).unwrap());
        assert!(found.is_empty(), "{}: {}", file.display(), found[0].message);
    }
}

#[test]
fn watching_checks_again_after_a_change() {
    let folder = project("check-watch");
    let mut child = Command::new(env!("CARGO_BIN_EXE_harn"))
        .args(["check", "src", "--watch"])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut round = || lines.by_ref().take_while(|line| !line.ends_with("Ctrl-C stops")).collect::<Vec<_>>();
    let first = round();
    assert_eq!(first.iter().filter(|line| line.starts_with("error[")).count(), 2, "{first:?}");
    fs::write(folder.join("src/a.harn"), FIXED).unwrap();
    let second = round();
    assert_eq!(second.iter().filter(|line| line.starts_with("error[")).count(), 1, "{second:?}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn warnings_are_a_failure_only_if_they_are_denied() {
    let folder = scratch("check-deny-warnings");
    fs::write(folder.join("unused.harn"), "fn f() {\n  let a = 1\n  return 2\n}\nprintln(f())\n").unwrap();
    fs::write(folder.join("good.harn"), "println(1)\n").unwrap();
    let (code, _, err) = check(&folder, &["."]);
    assert!(code == Some(0) && err.contains("warning[HARN-NAM-005]"), "{err}");
    let (code, _, err) = check(&folder, &["--deny-warnings", "."]);
    assert!(code == Some(1) && err.ends_with("error: 1 warning denied by `--deny-warnings`\n"), "{err}");
    assert_eq!(check(&folder, &["--deny-warnings", "good.harn"]), (Some(0), String::new(), String::new()));
    // A document for tools says the same in both cases.
    for format in ["short", "json", "sarif", "github"] {
        let (plain, denied) =
            (check(&folder, &[".", "--format", format]), check(&folder, &[".", "--format", format, "--deny-warnings"]));
        assert_eq!((plain.0, denied.0), (Some(0), Some(1)), "{format}");
        assert_eq!((plain.1, plain.2), (denied.1, denied.2), "{format}");
    }
    // What is fixed is not left.
    let (code, _, err) = check(&folder, &["--deny-warnings", "--fix=unsafe", "."]);
    assert_eq!((code, err.as_str()), (Some(0), "fixed 1 problem in 1 file\n"));
}
