//! `harn test`: tests are found, run, reported and measured.
//!
//! The scripts are in `tests/testing`; `failing.txt` is what a run of `failing_test.harn` prints. `UPDATE=1 cargo test --test
//! system test_command` writes it.

use crate::diff::diff;
use crate::harn::{Outcome, harn, harn_in, root, scratch};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPTS: &str = "tests/testing";

/// Runs `harn test` in a folder, on no CI system unless `env` says otherwise.
fn test_in(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Outcome {
    let line: Vec<&str> = ["test"].into_iter().chain(args.iter().copied()).collect();
    harn_in(folder, &line, b"", &[&[("CI", ""), ("HARN_LLM_PROVIDER", "")], env].concat())
}

fn folder(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
    let folder = scratch(name);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The examples use the folder for temporary files.
#[test]
fn the_tests_of_the_examples_pass() {
    let temporary = scratch("test-examples").display().to_string();
    let ran = test_in(root(), &["examples"], &[("TMPDIR", &temporary)]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert!(ran.out.ends_with("96 passed (44 files)\n"), "{}", ran.out);
}

/// Every folder with examples has tests beside them, and so has every program at the top.
#[test]
fn every_example_has_tests() {
    let examples = root().join("examples");
    let scripts = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|end| end == "harn")).collect::<Vec<_>>()
    };
    let is_tests = |path: &Path| path.to_str().unwrap().ends_with("_test.harn");
    let mut missing = Vec::new();
    for entry in fs::read_dir(&examples).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let scripts = scripts(&path);
            // What these print is compared by `everyday`.
            if path.ends_with("everyday") {
                continue;
            }
            if !scripts.is_empty() && !scripts.iter().any(|script| is_tests(script)) {
                missing.push(path);
            }
        }
    }
    let tests_of =
        |path: &Path| path.with_file_name(format!("{}_test.harn", path.file_stem().unwrap().to_str().unwrap()));
    missing.extend(scripts(&examples).into_iter().filter(|path| !is_tests(path) && !tests_of(path).exists()));
    assert!(missing.is_empty(), "without tests: {missing:?}");
}

#[test]
fn every_kind_of_test_runs() {
    let ran = test_in(root(), &[&format!("{SCRIPTS}/passing_test.harn")], &[]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    for line in ["  ok   a_function\n", "  ok   several_parameters [2: [2, 2, 4]]\n", "  ok   a raw \\name\n"] {
        assert!(ran.out.contains(line), "{}", ran.out);
    }
    assert!(!ran.out.contains("not shown"), "{}", ran.out);
    let shown = test_in(root(), &[&format!("{SCRIPTS}/passing_test.harn"), "--show-output", "--filter", "raw"], &[]);
    assert!(shown.out.contains("    │ not shown, because it passes\n"), "{}", shown.out);
    assert!(shown.out.ends_with("1 passed (1 file)\n"), "{}", shown.out);
}

#[test]
fn a_failure_shows_source_values_difference_reminders_and_output() {
    let expected = root().join(SCRIPTS).join("failing.txt");
    let ran = test_in(&root().join(SCRIPTS), &["failing_test.harn"], &[("CI", "1")]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&expected, &ran.out).unwrap();
    }
    assert_eq!(diff(&fs::read_to_string(&expected).unwrap(), &ran.out), None, "-expected, +found");
    assert!(!root().join(SCRIPTS).join("snapshots").exists(), "written on a CI system");
}

#[test]
fn the_counts_of_a_known_script_are_exact() {
    let folder = scratch("test-coverage");
    for file in ["counter.harn", "counter_test.harn"] {
        fs::copy(root().join(SCRIPTS).join(file), folder.join(file)).unwrap();
    }
    let ran = test_in(&folder, &["--coverage=lcov.info", "--coverage-html", "lines.html"], &[]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let lines = [(4, 3), (5, 0), (7, 3), (8, 1), (10, 2), (11, 2), (13, 0), (15, 3), (16, 6), (18, 3), (22, 0)];
    let counts: String = lines.iter().map(|(line, count)| format!("DA:{line},{count}\n")).collect();
    let wanted = format!("TN:\nSF:counter.harn\n{counts}LF:11\nLH:8\nend_of_record\n");
    assert_eq!(fs::read_to_string(folder.join("lcov.info")).unwrap(), wanted);
    let table = "\
coverage        lines      run   share  lines that did not run
counter.harn       11        8   72.7%  5, 13, 22
all files          11        8   72.7%
";
    assert!(ran.out.ends_with(table), "{}", ran.out);
    let page = fs::read_to_string(folder.join("lines.html")).unwrap();
    assert!(page.contains("<tr class=\"run\"><td>16</td><td>6</td><td>    kind.count</td></tr>"), "{page}");
    assert!(page.contains("<tr class=\"not\"><td>22</td><td>0</td><td>  n + 1</td></tr>"), "{page}");
    let without = test_in(&folder, &[], &[]);
    assert!(!without.out.contains("coverage"), "{}", without.out);
}

#[test]
fn files_that_no_test_imports_count() {
    let test = "import {one} from \"../src/used\"\ntest \"one\" { assert_eq(one(), 1) }\n";
    let folder = folder(
        "test-coverage-all",
        &[
            ("src/used.harn", "pub fn one() {\n  return 1\n}\n"),
            ("src/unused.harn", "pub fn two() {\n  let n = 2\n  return n\n}\n"),
            ("src/broken.harn", "let = 1\n"),
            ("generated/much.harn", "println(1)\n"),
            (".gitignore", "generated/\n"),
            ("tests/used_test.harn", test),
        ],
    );
    let ran = test_in(&folder, &["--coverage"], &[]);
    let table = "\
coverage           lines      run   share  lines that did not run
src/unused.harn        2        0    0.0%  2-3
src/used.harn          1        1  100.0%
all files              3        1   33.3%
";
    assert!(ran.code == Some(0) && ran.out.ends_with(table), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("HARN-TST-008") && ran.err.contains("src/broken.harn"), "{}", ran.err);
    // Only what is below the given folder counts.
    let ran = test_in(&folder, &["tests", "--coverage"], &[]);
    assert!(ran.out.contains("100.0%") && !ran.out.contains("unused"), "{}", ran.out);
    assert_eq!(ran.err, "");
}

#[test]
fn a_path_that_may_be_the_name_of_a_test_names_the_filter() {
    let folder = folder("test-name-as-path", &[("a_test.harn", "test \"adds\" { }\n")]);
    let ran = test_in(&folder, &["adds"], &[]);
    assert!(ran.code == Some(1) && ran.out.contains("use `--filter adds`"), "{}{}", ran.out, ran.err);
}

#[test]
fn watching_runs_the_tests_again_after_a_change() {
    let folder = folder(
        "test-watch",
        &[
            ("a.harn", "pub fn one() {\n  return 2\n}\n"),
            ("a_test.harn", "import {one} from \"a\"\ntest \"one\" { assert_eq(one(), 1) }\n"),
            ("notes.txt", ""),
            (".gitignore", "made.harn\n"),
        ],
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_harn"))
        .args(["test", "--watch", "."])
        .env("CI", "1")
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "tests failed; waiting for changes, Ctrl-C stops");
    // Neither of these is a change: a run after one of them would fail again.
    fs::write(folder.join("notes.txt"), "text").unwrap();
    fs::write(folder.join("made.harn"), "println(1)\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    fs::write(folder.join("a.harn"), "pub fn one() {\n  return 1\n}\n").unwrap();
    assert_eq!(lines.next().unwrap(), "all tests passed; waiting for changes, Ctrl-C stops");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn two_comparisons_with_one_snapshot_are_an_error() {
    let script = "test \"twice\" {\n  assert_snapshot(1, \"x\")\n  assert_snapshot(2, \"x\")\n}\n\
                  test \"same\" { assert_snapshot(1, \"x\") }\ntest \"other\" { assert_snapshot(3, \"x\") }\n";
    let folder = folder("test-snapshot-names", &[("a_test.harn", script)]);
    let ran = test_in(&folder, &["--update"], &[]);
    assert!(ran.code == Some(1) && ran.out.ends_with("1 passed, 2 failed (1 file)\n"), "{}", ran.out);
    assert!(ran.out.contains("the test uses the snapshot `x` twice"), "{}", ran.out);
    let other = "the snapshot `x` is used by the test `twice` with another value";
    assert!(ran.out.contains(other), "{}", ran.out);
    assert_eq!(fs::read_to_string(folder.join("snapshots/a_test/x.snap")).unwrap(), "1\n");
}

#[test]
fn snapshots_that_no_test_uses_are_reported_and_reviewed() {
    let script = "test \"a\" { assert_snapshot(1, \"one\") }\ntest \"b\" { assert_snapshot(2, \"two\") }\n";
    let folder = folder("test-snapshots-unused", &[("a_test.harn", script), ("b_test.harn", script)]);
    assert_eq!(test_in(&folder, &["--update"], &[]).code, Some(0));
    fs::write(folder.join("a_test.harn"), script.replace("two", "zwei")).unwrap();
    // Not all tests have run, or one has failed: nothing is known.
    for args in [&["a_test.harn", "--filter", "> a"][..], &["a_test.harn"]] {
        let ran = test_in(&folder, args, &[("CI", "1")]);
        assert!(!ran.out.contains("HARN-TST-007"), "{}", ran.out);
    }
    fs::write(folder.join("a_test.harn"), script.lines().next().unwrap()).unwrap();
    let (used, unused) = (folder.join("snapshots/a_test/one.snap"), folder.join("snapshots/a_test/two.snap"));
    let mark = folder.join("snapshots/a_test/two.snap.unused");
    let ran = test_in(&folder, &["a_test.harn"], &[("CI", "1")]);
    assert!(ran.code == Some(0) && ran.out.contains("no test uses 1 snapshot in snapshots/a_test"), "{}", ran.out);
    assert!(unused.exists() && !mark.exists(), "written on a CI system");
    // A test that uses it again takes it off the list.
    test_in(&folder, &["a_test.harn"], &[]);
    assert!(mark.exists());
    fs::write(folder.join("a_test.harn"), script).unwrap();
    test_in(&folder, &["a_test.harn"], &[]);
    assert!(unused.exists() && !mark.exists());
    // The file of the other tests is gone.
    fs::write(folder.join("a_test.harn"), script.lines().next().unwrap()).unwrap();
    fs::remove_file(folder.join("b_test.harn")).unwrap();
    let ran = test_in(&folder, &[], &[]);
    assert!(ran.err.contains("no test uses 2 snapshots in snapshots/b_test"), "{}", ran.err);
    let reviewed = harn_in(&folder, &["test", "--review"], b"a\nr\ns\n", &[]);
    assert!(reviewed.out.contains("3 of 3") && reviewed.out.contains("no test uses this snapshot"), "{}", reviewed.out);
    assert_eq!((reviewed.code, reviewed.err.as_str()), (Some(1), ""));
    assert!(used.exists() && !unused.exists() && !mark.exists());
    assert!(folder.join("snapshots/b_test/one.snap").exists());
    let ran = test_in(&folder, &["--update"], &[]);
    assert!(ran.code == Some(0) && ran.err.contains("removed 2 snapshots in snapshots/b_test"), "{}", ran.err);
    assert!(!folder.join("snapshots/b_test/one.snap").exists() && used.exists());
    assert_eq!(test_in(&folder, &[], &[]).err, "");
}

#[test]
fn a_run_without_tests_is_an_error() {
    let folder = folder("test-none", &[("a.harn", "println(1)\n"), ("b_test.harn", "test \"b\" { }\n")]);
    for (args, said) in [
        (&["a.harn"][..], "no tests in `a.harn`"),
        (&["b_test.harn", "--filter", "x"], "no tests found in b_test.harn"),
        (&["."], ""),
    ] {
        let ran = test_in(&folder, args, &[]);
        let printed = format!("{}{}", ran.out, ran.err);
        let wanted = if said.is_empty() { 0 } else { 1 };
        assert!(ran.code == Some(wanted) && printed.contains(said), "{args:?}: {printed}");
        assert_eq!(printed.contains("HARN-TST-006"), !said.is_empty(), "{args:?}: {printed}");
    }
    let gone = test_in(&folder, &["gone_test.harn"], &[]);
    assert!(gone.code == Some(1) && gone.out.contains("gone_test.harn"), "{}{}", gone.out, gone.err);
    fs::remove_file(folder.join("b_test.harn")).unwrap();
    let empty = test_in(&folder, &[], &[]);
    assert!(empty.code == Some(1) && empty.err.contains("no tests found in ."), "{}{}", empty.out, empty.err);
    assert!(empty.err.contains("help: tests are functions with `@test` and"), "{}", empty.err);
}

#[test]
fn each_test_begins_anew() {
    let script = "var n = 0\nlet id = agent_session_open(\"s\")\n\
                  test \"a\" {\n  n += 1\n  assert_eq(n, 1)\n}\ntest \"b\" {\n  n += 1\n  assert_eq(n, 1)\n}\n";
    let folder = folder("test-isolated", &[("a_test.harn", script)]);
    let ran = test_in(&folder, &[], &[]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
}

#[test]
fn functions_after_a_test_run_if_it_fails_and_can_fail_themselves() {
    let script = "@after\nfn check() {\n  println(\"after\")\n  assert(env(\"BAD\", \"\") == \"\", \"bad\")\n}\n\
                  test \"a\" { assert(false) }\ntest \"b\" { }\n";
    let folder = folder("test-after", &[("a_test.harn", script)]);
    let ran = test_in(&folder, &[], &[]);
    assert!(ran.out.contains("    │ after\n") && ran.out.ends_with("1 passed, 1 failed (1 file)\n"), "{}", ran.out);
    let ran = test_in(&folder, &[], &[("BAD", "1")]);
    assert!(ran.out.contains("bad: assertion failed"), "{}", ran.out);
    assert!(ran.out.ends_with("0 passed, 2 failed (1 file)\n"), "{}", ran.out);
}

#[test]
fn limits_and_capabilities_hold_for_each_test() {
    let script =
        "test \"loops\" { while true { } }\ntest \"reads\" { read_file(\"a_test.harn\") }\ntest \"good\" { }\n";
    let folder = folder("test-limits", &[("a_test.harn", script)]);
    let ran = test_in(&folder, &["--fuel", "100000", "--deny", "fs.read"], &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("HARN-RUN-003") || ran.out.contains("fuel"), "{}", ran.out);
    assert!(ran.out.contains("fs.read"), "{}", ran.out);
    assert!(ran.out.ends_with("1 passed, 2 failed (1 file)\n"), "{}", ran.out);
}

#[test]
fn cases_that_do_not_fit_are_an_error() {
    let script = "fn pairs() { return [[1, 2], 3] }\n@test(cases: pairs())\nfn adds(a, b) { assert(a < b) }\n";
    let folder = folder("test-cases", &[("a_test.harn", script), ("b_test.harn", "@test(cases: [])\nfn b(n) { n }\n")]);
    let ran = test_in(&folder, &[], &[]);
    assert!(ran.code == Some(1) && ran.out.matches("HARN-TST-005").count() == 2, "{}", ran.out);
    assert!(
        ran.out.contains("has 2 parameters, and this case is 3") && ran.out.contains("has no cases"),
        "{}",
        ran.out
    );
    assert!(ran.out.ends_with("1 passed, 1 failed, 1 file that cannot run (2 files)\n"), "{}", ran.out);
}

#[test]
fn after_a_failure_no_test_begins_if_that_is_asked_for() {
    let script = "test \"a\" { assert(false) }\ntest \"b\" { }\n";
    let folder = folder("test-fail-fast", &[("a_test.harn", script)]);
    let ran = test_in(&folder, &["--fail-fast"], &[]);
    assert!(ran.code == Some(1) && ran.out.ends_with("0 passed, 1 failed, 1 not run (1 file)\n"), "{}", ran.out);
}

#[test]
fn a_file_that_does_not_compile_is_a_failure() {
    let folder = folder(
        "test-broken",
        &[("a_test.harn", "test \"a\" { totl }\n"), ("b_test.harn", "test \"b\" { }\n"), ("c.harn", "let x = \n")],
    );
    let ran = test_in(&folder, &[], &[]);
    assert!(ran.code == Some(1) && ran.out.contains("a_test.harn:1:12"), "{}", ran.out);
    assert!(ran.out.ends_with("1 passed, 1 file that cannot run (2 files)\n"), "{}", ran.out);
}

#[test]
fn a_run_of_the_file_ignores_its_tests() {
    let script = "@test\nfn a() { assert(false) }\ntest \"b\" { assert(false) }\n@before\nfn c() { assert(false) }\n\
                  let test = 1\nprintln(test)\n";
    let folder = folder("test-run", &[("a.harn", script)]);
    let ran = harn_in(&folder, &["run", "a.harn"], b"", &[]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "1\n", ""));
    let checked = harn_in(&folder, &["check", "a.harn"], b"", &[]);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
}

#[test]
fn lines_of_json_have_each_result() {
    let script = "test \"a\" { println(1) }\ntest \"b\" { assert_eq([1], [2]) }\n";
    let folder = folder("test-json", &[("a_test.harn", script)]);
    let ran = test_in(&folder, &["--format", "json"], &[]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    let lines: Vec<serde_json::Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [a, b, end] = lines.as_slice() else { panic!("{}", ran.out) };
    assert_eq!((&a["name"], &a["status"], &a["output"]), (&"a".into(), &"passed".into(), &"1\n".into()));
    assert_eq!((&b["status"], &b["line"]), (&"failed".into(), &2.into()));
    assert_eq!(b["diagnostics"][0]["code"], "HARN-RUN-009");
    assert_eq!((&end["event"], &end["ok"], &end["failed"]), (&"summary".into(), &false.into(), &1.into()));
}

#[test]
fn snapshots_are_proposed_reviewed_and_never_accepted_by_themselves() {
    let script = "test \"greets\" { assert_snapshot({greeting: \"hello\", to: [1, 2, 3]}) }\n";
    let folder = folder("test-snapshots", &[("a_test.harn", script)]);
    let snapshot = folder.join("snapshots/a_test/greets.snap");
    let pending = folder.join("snapshots/a_test/greets.snap.new");
    // On a CI system nothing is written.
    let ran = test_in(&folder, &[], &[("CI", "true")]);
    assert!(ran.code == Some(1) && ran.out.contains("does not exist yet"), "{}", ran.out);
    assert!(!folder.join("snapshots").exists());
    // A new text waits for a review, as often as the tests run.
    for _ in 0..2 {
        let ran = test_in(&folder, &[], &[]);
        assert!(ran.code == Some(1) && ran.out.contains("HARN-TST-003"), "{}", ran.out);
        assert!(pending.exists() && !snapshot.exists());
    }
    let skipped = harn_in(&folder, &["test", "--review"], b"s\n", &[]);
    assert_eq!(skipped.code, Some(1), "{}", skipped.out);
    assert!(skipped.out.contains("+ {greeting: \"hello\", to: [1, 2, 3]}"), "{}", skipped.out);
    let accepted = harn_in(&folder, &["test", "--review"], b"x\na\n", &[]);
    assert_eq!((accepted.code, accepted.err.as_str()), (Some(0), ""), "{}", accepted.out);
    assert!(!pending.exists());
    assert_eq!(fs::read_to_string(&snapshot).unwrap(), "{greeting: \"hello\", to: [1, 2, 3]}\n");
    assert_eq!(test_in(&folder, &[], &[("CI", "true")]).code, Some(0));
    // A change is shown, and rejected.
    fs::write(folder.join("a_test.harn"), script.replace("hello", "hi")).unwrap();
    let ran = test_in(&folder, &[], &[]);
    let shown = "    - {greeting: \"hello\", to: [1, 2, 3]}\n    + {greeting: \"hi\", to: [1, 2, 3]}\n";
    assert!(ran.code == Some(1) && ran.out.contains(shown), "{}", ran.out);
    let rejected = harn_in(&folder, &["test", "--review", "a_test.harn"], b"r\n", &[]);
    assert!(rejected.code == Some(0) && !pending.exists() && snapshot.exists(), "{}", rejected.out);
    assert_eq!(harn(&["test", "--review", folder.to_str().unwrap()]).out, "no snapshots wait for a review\n");
    assert_eq!(test_in(&folder, &["--update"], &[]).code, Some(0));
    assert!(fs::read_to_string(&snapshot).unwrap().contains("\"hi\""));
}

#[test]
fn recorded_models_answer_without_a_network() {
    let script = "@test(recording: \"recordings/hello\")\nfn greets() {\n  \
                  with_llm_script([llm_text(\"Hello.\")], { -> agent_loop(\"Hi\", nil, {provider: \"mock\"}) })\n}\n";
    let folder = folder("test-recording", &[("a_test.harn", script)]);
    let missing = test_in(&folder, &[], &[]);
    assert!(missing.code == Some(1) && missing.out.contains("recordings/hello"), "{}", missing.out);
    let made = test_in(&folder, &["--record"], &[]);
    assert_eq!((made.code, made.err.as_str()), (Some(0), ""), "{}", made.out);
    assert!(folder.join("recordings/hello").is_dir());
    for _ in 0..2 {
        let ran = test_in(&folder, &[], &[]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    }
}

#[test]
fn failing_providers_and_short_scripts_are_warnings() {
    let script = r#"
register_reminder_provider({
  id: "broken",
  subscribes_to: ["session_start"],
  evaluate: { ctx -> ctx.config.limit.most },
})
fn run(reminders, replies) {
  return with_llm_script(replies, { -> agent_loop("go", nil, {provider: "mock", reminders: reminders}) })
}
test "goes on" { run(nil, ["done"]) }
test "is strict" { run({strict: true}, ["done"]) }
test "has too few replies" {
  with_llm_script(["one"], { -> [1, 2].each({ n -> llm_call("q ${n}", nil, {provider: "mock"}) }) })
}
test "makes replies up" { with_llm_script([], { -> llm_call("q", nil, {provider: "mock"}) }) }
"#
    .replace(".each(", ".for_each(");
    let folder = folder("test-warnings", &[("a_test.harn", &script)]);
    let ran = test_in(&folder, &[], &[]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{}", ran.out);
    let lines: Vec<&str> = ran.out.lines().collect();
    let below = |test: &str| {
        let at = lines.iter().position(|line| *line == test).unwrap_or_else(|| panic!("{test}: {}", ran.out));
        lines.get(at + 1).copied().unwrap_or_default()
    };
    assert!(below("  ok   goes on").starts_with("    warning[HARN-"), "{}", ran.out);
    assert!(below("  FAIL is strict").starts_with("  "), "{}", ran.out);
    let short = "the model was called 2 times, and `with_llm_script` had 1 reply";
    assert!(below("  ok   has too few replies").contains(short), "{}", ran.out);
    assert!(
        ran.out.contains("reported for `broken`") && ran.out.ends_with("3 passed, 1 failed (1 file)\n"),
        "{}",
        ran.out
    );
    let json = test_in(&folder, &["--format", "json", "--filter", "goes on"], &[]);
    let first: serde_json::Value = serde_json::from_str(json.out.lines().next().unwrap()).unwrap();
    assert_eq!(first["diagnostics"][0]["severity"], "warning", "{}", json.out);
    let junit = test_in(&folder, &["--format", "junit", "--filter", "goes on"], &[]);
    assert!(junit.out.contains("<system-err>warning[HARN-"), "{}", junit.out);
}

#[test]
fn a_test_that_does_not_handle_a_failed_loop_fails() {
    let script = r#"
fn run() {
  return agent_loop("go", nil, {reminders: false, llm_caller: { asked -> throw "out of order" }})
}
test "prints the status" { println("${run().status}: ${run().text}") }
test "handles it" { assert_eq(run().error.message, "out of order") }
test "raises it" { assert_eq(run()?.text, "x") }
"#;
    let ran = test_in(&folder("test-failed-loop", &[("a_test.harn", script)]), &[], &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    for line in ["  FAIL prints the status", "  ok   handles it", "  FAIL raises it"] {
        assert!(ran.out.lines().any(|found| found == line), "{line}: {}", ran.out);
    }
    assert!(ran.out.contains("error[HARN-RUN-001]: the agent loop failed: out of order"), "{}", ran.out);
}
