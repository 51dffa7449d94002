//! The row of the guide, structured evidence, and real outputs of verification commands: [`outputs`](../outputs) holds them as
//! they were printed, but for folders and stack traces.

use runtime::hooks::event::ToolResult;
use runtime::message::ToolCall;

use super::*;
use crate::testing::{TestSession, block_on, fire, fire_raw};
use runtime::events::EventKind;
use runtime::hooks::HookEvent;
use runtime::reminder_providers::ReminderProvider;

macro_rules! output {
    ($name:literal) => {
        include_str!(concat!("outputs/", $name, ".txt"))
    };
}

/// A shell tool that ran a command.
fn ran(command: &str, output: &str, config: &Data) -> Vec<String> {
    let call = ToolCall::new("c1", "bash", Data::dict([("command", Data::from(command))]));
    let result = ToolResult { text: output.into(), truncated: false, ok: true, value: Data::from(output) };
    let event = HookEvent::PostToolUse { call: &call, result: &result, iteration: 1 };
    lines(&fire(&GroundedReview, &event, config).unwrap())
}

/// The findings of reminders.
fn lines(specs: &[ReminderSpec]) -> Vec<String> {
    let bodies = specs.iter().flat_map(|spec| spec.body.lines());
    bodies.filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

fn said(json: &str) -> Vec<String> {
    lines(&fire_raw(&GroundedReview, EventKind::PostToolUse, json, &Data::Nil).unwrap())
}

fn warnings() -> Data {
    Data::dict([("include_warnings", Data::from(true)), ("max_findings", Data::from(20))])
}

/// The beginning of each expected finding; the command is the one that was run.
type FindingCase = (&'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const FAILING: &[FindingCase] = &[
    ("cargo check", output!("cargo_check_fails"), &[
        "verified:undefined_name src/lib.rs:2:12: error[E0425]: cannot find value `sied` in this scope",
        "verified:diagnostic src/lib.rs:6:5: error[E0308]: mismatched types",
    ]),
    ("cargo check --color always", output!("cargo_check_colour"), &[
        "verified:undefined_name src/lib.rs:2:12: error[E0425]: cannot find value `sied`",
        "verified:diagnostic src/lib.rs:6:5: error[E0308]: mismatched types",
    ]),
    ("cargo check --message-format=json", output!("cargo_json_fails"), &[
        "verified:undefined_name src/lib.rs:2:12: cannot find value `sied`",
        "verified:diagnostic src/lib.rs:6:5: mismatched types",
    ]),
    ("cargo build", output!("cargo_syntax_fails"), &[
        "verified:parse_error src/lib.rs:2:12: error: mismatched closing delimiter: `}`",
    ]),
    ("cargo clippy -- -D warnings", output!("clippy_fails"), &[
        "verified:diagnostic src/lib.rs:2:5: error: this if-then-else expression returns a bool literal",
        "verified:diagnostic src/lib.rs:2:8: error: equality checks against true are unnecessary",
    ]),
    ("cargo test", output!("cargo_test_fails"), &[
        "verified:test_failure test tests::nothing_has_no_errors failed: panicked at src/lib.rs:18:9: assertion `left == right` failed: an empty text: left: 0: right: 1",
    ]),
    ("cargo test -- --nocapture", output!("cargo_test_nocapture_fails"), &[
        "verified:test_failure test tests::nothing_has_no_errors failed: panicked at src/lib.rs:18:9",
    ]),
    ("pytest", output!("pytest_fails"), &[
        "verified:test_failure test_bad.py::test_sum failed: assert 3 == 4",
        "verified:undefined_name test_bad.py::test_name failed: NameError: name 'totl' is not defined",
    ]),
    ("pytest -v --tb=no", output!("pytest_verbose_fails"), &[
        "verified:test_failure test_bad.py::test_sum failed",
        "verified:test_failure test_bad.py::test_name failed",
    ]),
    ("pytest -q", output!("pytest_quiet_fails"), &["verified:test_failure 2 failed, 1 passed"]),
    ("pytest", output!("pytest_collection_fails"), &[
        "verified:parse_error test_syntax.py error: SyntaxError: invalid syntax",
        "verified:test_failure test_import.py error: ModuleNotFoundError: No module named 'nothing_here'",
    ]),
    ("pytest nothing.py", output!("pytest_usage_fails"), &[
        "verified:diagnostic ERROR: file or directory not found: nothing.py",
    ]),
    ("go test ./b", output!("go_test_fails"), &["verified:test_failure TestSum/two failed: b_test.go:8: got 2, want 3"]),
    ("go test -v ./a ./b", output!("go_test_verbose_fails"), &["verified:test_failure TestSum/two failed"]),
    ("go test ./c", output!("go_test_build_fails"), &["verified:undefined_name c/c.go:3:23: undefined: total"]),
    ("go build ./c", output!("go_build_fails"), &["verified:undefined_name c/c.go:3:23: undefined: total"]),
    ("go vet ./c", output!("go_vet_fails"), &["verified:undefined_name c/c.go:3:23: undeclared name: total"]),
    ("go vet ./d", output!("go_syntax_fails"), &["verified:parse_error d/d.go:3:26: expected ')', found '}'"]),
    ("go test ./e", output!("go_panic_fails"), &[
        "verified:test_failure TestP failed",
        "verified:diagnostic panic: assignment to entry in nil map",
    ]),
    ("go test -json ./b", output!("go_json_fails"), &[
        "verified:test_failure example.com/g/b TestSum/two failed",
        "verified:test_failure example.com/g/b TestSum failed",
    ]),
    ("tsc --noEmit", output!("tsc_fails"), &[
        "verified:undefined_name a.ts:1:42: error TS2304: Cannot find name 'totl'.",
        "verified:diagnostic a.ts:2:7: error TS2322: Type 'number' is not assignable to type 'string'.",
    ]),
    ("tsc --pretty", output!("tsc_pretty_fails"), &[
        "verified:undefined_name a.ts:1:42: error TS2304: Cannot find name 'totl'.",
        "verified:diagnostic a.ts:2:7: error TS2322",
    ]),
    ("tsc", output!("tsc_syntax_fails"), &["verified:parse_error c.ts:1:20: error TS1005: ')' expected."]),
    ("tsc", output!("tsc_nofile_fails"), &["verified:diagnostic error TS6053: File 'nope.ts' not found."]),
    ("mypy m.py", output!("mypy_fails"), &[
        "verified:diagnostic m.py:2: error: Incompatible return value type",
        "verified:undefined_name m.py:3: error: Name \"totl\" is not defined",
    ]),
    ("harn check bad.harn", output!("harn_check_fails"), &[
        "verified:undefined_name bad.harn:2:9: error[HARN-NAM-001]: nothing called `b` is in scope",
    ]),
    ("harn lint syn.harn", output!("harn_syntax_fails"), &[
        "verified:parse_error syn.harn:1:9: error[HARN-LEX-004]: this `(` is never closed",
    ]),
    ("pyright", "/src/a.py\n  /src/a.py:3:5 - error: \"x\" is not defined (reportUndefinedVariable)\n1 error, 0 warnings, 0 informations\n", &[
        "verified:undefined_name /src/a.py:3:5: error: \"x\" is not defined",
    ]),
    ("npx eslint .", "\n/src/a.js\n  3:5  error    'x' is not defined  no-undef\n  4:1  warning  Unexpected console statement  no-console\n\n✖ 2 problems (1 error, 1 warning)\n", &[
        "verified:undefined_name /src/a.js:3:5: error: 'x' is not defined",
    ]),
    ("cargo nextest run", "    Starting 2 tests across 1 binary\n        FAIL [   0.004s] lang parse::error_is_found\n        PASS [   0.004s] lang parse::error_two\n────────────\n     Summary [   0.005s] 2 tests run: 1 passed, 1 failed, 0 skipped\n        FAIL [   0.004s] lang parse::error_is_found\nerror: test run failed\n", &[
        "verified:test_failure test lang parse::error_is_found failed",
    ]),
    ("cargo build", "error: failed to parse manifest at `/src/Cargo.toml`\n\nCaused by:\n  no targets specified in the manifest\n", &[
        "verified:parse_error error: failed to parse manifest at `/src/Cargo.toml`",
    ]),
];

#[rustfmt::skip]
const PASSING: &[(&str, &str)] = &[
    ("cargo check", output!("cargo_check_warns")),
    ("cargo clippy", output!("clippy_warns")),
    ("cargo test -- --nocapture", output!("cargo_test_passes")),
    ("cargo nextest run", "     Summary [   0.005s] 2 tests run: 2 passed, 0 skipped\nerror: printed\n --> src/a.rs:1:1\n"),
    ("pytest -s", output!("pytest_passes")),
    ("pytest -q -rA", output!("pytest_quiet_passes")),
    ("pytest -k zzz", output!("pytest_none")),
    ("go test ./a", output!("go_test_passes")),
    ("go test -v", output!("go_test_verbose_passes")),
    ("tsc", output!("tsc_passes")),
    ("mypy n.py", output!("mypy_passes")),
    ("harn check warn.harn", output!("harn_check_warns")),
    ("tsc", "Found 0 errors. Watching for file changes.\n"),
    // Not the output of a verification command, whatever it says.
    ("cat build.log", output!("cargo_check_fails")),
    ("grep -rn 'cargo test' .", "a.md:3:error: could not compile `x`\ntest a ... FAILED\n"),
    ("git log -p", output!("cargo_test_fails")),
    ("echo 'cargo check'", "error[E0425]: cannot find value\n --> src/lib.rs:1:1\n"),
    ("", output!("cargo_check_fails")),
];

#[test]
fn failure_lines_of_verification_commands_are_found() {
    for (command, output, expected) in FAILING {
        let found = ran(command, output, &Data::dict([("limit", Data::from(20))]));
        let by = format!("(command={})", command.trim_start_matches("npx "));
        assert_eq!(found.len(), expected.len(), "{command}: {found:#?}");
        for (line, begin) in found.iter().zip(*expected) {
            assert!(line.starts_with(begin), "{command}\n found {line}\n wants {begin}");
            assert!(line.ends_with(&by), "{command}\n found {line}\n wants {by}");
        }
    }
}

#[test]
fn runs_that_pass_and_texts_that_are_shown_are_silent() {
    for (command, output) in PASSING {
        assert_eq!(ran(command, output, &Data::Nil), Vec::<String>::new(), "{command}");
    }
}

#[test]
fn no_failing_output_speaks_through_a_tool_that_shows_files() {
    for (_, output, _) in FAILING {
        for name in ["read_file", "cat", "grep", "view", "get_log", "mcp__fs__read_text_file"] {
            let call = ToolCall::new("c1", name, Data::dict([("path", Data::from("build.log"))]));
            for ok in [true, false] {
                let result = ToolResult { text: (*output).into(), truncated: false, ok, value: Data::Nil };
                let event = HookEvent::PostToolUse { call: &call, result: &result, iteration: 1 };
                assert!(fire(&GroundedReview, &event, &Data::Nil).unwrap().is_empty(), "{name}: {output}");
            }
        }
    }
}

#[test]
fn cut_at_any_line_a_passing_output_stays_silent_about_tests_that_pass() {
    // The end of an output may be cut off: then no summary says that it passed.
    for (command, output) in [
        ("go test -v", output!("go_test_verbose_passes")),
        ("pytest -v", "a.py::test_error PASSED [ 50%]\nb.py::test_failed_login PASSED [100%]\n"),
        ("cargo test", "running 2 tests\ntest error::tests::fails ... ok\ntest parse_error_FAILED ... ok\n"),
    ] {
        let lines: Vec<&str> = output.lines().filter(|line| !line.starts_with("--- FAIL")).collect();
        for end in 0..=lines.len() {
            let text = lines[..end].join("\n");
            assert!(ran(command, &text, &Data::Nil).is_empty(), "{command}\n{text}");
        }
    }
}

#[test]
fn warnings_count_only_when_they_are_asked_for() {
    for (command, output, first) in [
        (
            "cargo check",
            output!("cargo_check_warns"),
            "verified:warning src/lib.rs:2:9: warning: unused variable: `unused`",
        ),
        (
            "cargo clippy",
            output!("clippy_warns"),
            "verified:warning src/lib.rs:2:5: warning: this if-then-else expression",
        ),
        (
            "harn check a",
            output!("harn_check_warns"),
            "verified:warning warn.harn:1:42: warning[HARN-RMD-004]: this reminder",
        ),
    ] {
        assert!(ran(command, output, &Data::Nil).is_empty(), "{command}");
        let found = ran(command, output, &warnings());
        assert!(found.first().is_some_and(|line| line.starts_with(first)), "{command}: {found:?}");
    }
    let diagnostic =
        |severity: &str| format!(r#"{{"diagnostics":[{{"severity":"{severity}","message":"line too long"}}]}}"#);
    for (severity, plain, with) in [("error", 1, 1), ("warning", 0, 1), ("style", 0, 1), ("hint", 0, 0), ("info", 0, 0)]
    {
        let fired = |config: &Data| {
            fire_raw(&GroundedReview, EventKind::PostToolUse, &diagnostic(severity), config).unwrap().len()
        };
        assert_eq!((fired(&Data::Nil), fired(&warnings())), (plain, with), "{severity}");
    }
}

#[test]
fn without_text_scan_only_what_is_said_outright_counts() {
    let config = Data::dict([("text_scan", Data::from(false))]);
    assert!(ran("cargo check", output!("cargo_check_fails"), &config).is_empty());
    let payload = r#"{"tool":{"name":"bash","args":{"command":"cargo check"}},"result":{"text":"error: x"},"parse_errors":["a.rs: unclosed"]}"#;
    let fired = fire_raw(&GroundedReview, EventKind::PostToolUse, payload, &config).unwrap();
    assert_eq!(lines(&fired), ["verified:parse_error a.rs: unclosed"]);
}

#[test]
fn evidence_that_payloads_say_outright() {
    for (json, expected) in [
        (
            r#"{"verifier_signals":[{"name":"types","kind":"typecheck","signal":"reject","reason":"E0308"}]}"#,
            Some("verified:typecheck types: reject: E0308"),
        ),
        (r#"{"verifier_signals":[{"name":"types","kind":"typecheck","signal":"accept"}]}"#, None),
        (
            r#"{"verifier_signals":[{"name":"types","signal":"Accepted"},{"name":"b","signal":"skipped"},{"name":"c"}]}"#,
            None,
        ),
        (r#"{"verifier_signals":{"name":"tests","signal":"escalate"}}"#, Some("verified:verifier tests: escalate")),
        (r#"{"verifier_signals":[{"name":"x","signal":false}]}"#, Some("verified:verifier x: rejected")),
        (
            r#"{"parse_errors":[{"path":"a.py","line":3,"message":"unexpected indent"}]}"#,
            Some("verified:parse_error a.py:3: unexpected indent"),
        ),
        (r#"{"undefined_names":["total"]}"#, Some("verified:undefined_name undefined name `total`")),
        (
            r#"{"undefined_names":[{"name":"total","path":"a.py","line":3,"column":7}]}"#,
            Some("verified:undefined_name a.py:3:7: undefined name `total`"),
        ),
        (
            r#"{"diagnostics":[{"severity":"error","message":"mismatched types","code":"E0308","file":"a.rs","line":1}]}"#,
            Some("verified:diagnostic a.rs:1: error[E0308]: mismatched types"),
        ),
        (
            r#"{"diagnostics":[{"severity":1,"message":"x","code":{"value":"no-undef"}}]}"#,
            Some("verified:undefined_name error[no-undef]: x"),
        ),
        (
            r#"{"diagnostics":[{"severity":"warning","message":"undefined name 'os'","code":"F821"}]}"#,
            Some("verified:undefined_name warning[F821]: undefined name 'os'"),
        ),
        (r#"{"diagnostics":[{"severity":"warning","message":"unused import"}]}"#, None),
        (r#"{"diagnostics":[{"message":"the word error in a message without a severity"}]}"#, None),
        (r#"{"diagnostics":[],"parse_errors":[],"undefined_names":[],"verifier_signals":[]}"#, None),
        (r#"{"result":{"diagnostics":[{"level":"error","message":"boom"}]}}"#, Some("verified:diagnostic error: boom")),
        (
            r#"{"tool":{"name":"deploy"},"result":{"ok":false,"text":"error: no such host"}}"#,
            Some("verified:tool_error `deploy` failed: no such host"),
        ),
        (
            r#"{"tool":"deploy","result":{"text":"","error":{"message":"no such host"}}}"#,
            Some("verified:tool_error `deploy` failed: no such host"),
        ),
        (
            r#"{"tool":"deploy","result":{"is_error":true,"text":"gone"}}"#,
            Some("verified:tool_error `deploy` failed: gone"),
        ),
        (r#"{"tool":"deploy","result":{"ok":false,"text":"not run: permission denied: x"}}"#, None),
        (r#"{"tool":"deploy","result":{"ok":true,"text":"error: this word alone proves nothing"}}"#, None),
        (
            r#"{"tool":"ask_reviewer","result":{"ok":true,"text":"There is an error in line 3: undefined name x. Tests FAILED."}}"#,
            None,
        ),
        (r#"{"text":"I think the code has an error[E0425]: cannot find value"}"#, None),
        ("{}", None),
    ] {
        assert_eq!(said(json).first().map(String::as_str), expected, "{json}");
    }
}

#[test]
fn payloads_name_their_command_in_many_ways() {
    let output = "a.ts(1,2): error TS2304: Cannot find name 'x'.";
    for (json, command) in [
        (
            r#"{"tool":{"name":"bash","args":{"command":"cd web && npx tsc -p . | head"}},"result":{"text":"OUT"}}"#,
            "tsc -p .",
        ),
        (
            r#"{"tool":{"name":"exec","args":{"command":"tsc","args":["-p","."]}},"result":{"stdout":"OUT","code":2}}"#,
            "tsc -p .",
        ),
        (r#"{"tool":"tsc","result":{"text":"OUT"}}"#, "tsc"),
        (r#"{"tool_name":"run_tsc","result":"OUT"}"#, "tsc"),
        (r#"{"tool":"shell","command":"tsc","result":{"output":"OUT"}}"#, "tsc"),
        (r#"{"tool":"shell","result":{"text":"$ tsc --noEmit\nOUT"}}"#, "tsc --noEmit"),
        (r#"{"tool":"shell","result":{"text":"OUT"}}"#, "tsc"),
        (
            r#"{"tool":{"name":"shell","args":{"cmd":["bash","-lc","tsc"]}},"result":{"text":"{\"code\":2,\"stdout\":\"OUT\",\"stderr\":\"\"}"}}"#,
            "tsc",
        ),
    ] {
        let found = said(&json.replace("OUT", output));
        assert_eq!(
            found,
            [format!("verified:undefined_name a.ts:1:2: error TS2304: Cannot find name 'x'. (command={command})")],
            "{json}"
        );
    }
}

#[test]
fn an_exit_code_speaks_where_no_line_does_and_silences_a_run_that_passed() {
    let shell = |command: &str, code: i64, text: &str| {
        let json = Data::dict([
            (
                "tool",
                Data::dict([("name", Data::from("bash")), ("args", Data::dict([("command", Data::from(command))]))]),
            ),
            ("result", Data::dict([("text", Data::from(text)), ("code", Data::from(code))])),
        ]);
        said(&json.to_json())
    };
    assert_eq!(shell("tsc", 2, "").len(), 1);
    assert!(shell("tsc", 2, "")[0].starts_with("verified:command_failure exit code 2"));
    assert!(shell("pytest", 5, "no tests ran in 0.01s").is_empty(), "no tests are no failure");
    assert!(shell("ls | tsc", 2, "").is_empty(), "whose code it is, is not known");
    assert!(shell("make", 2, "it broke").is_empty(), "no verification command");
    assert!(shell("tsc", 0, "a.ts(1,2): error TS2304: x").is_empty());
    assert_eq!(shell("tsc | head", 0, "a.ts(1,2): error TS2304: x").len(), 1, "the code is that of `head`");
}

#[test]
fn the_reminder_is_that_of_the_guide() {
    let payload = r#"{"parse_errors":["a.rs: unclosed delimiter"]}"#;
    let spec = fire_raw(&GroundedReview, EventKind::PostStep, payload, &Data::Nil).unwrap().remove(0);
    assert_eq!(spec.tags, ["grounded_review".into(), "code_review".into()]);
    assert_eq!((spec.dedupe_key.as_deref(), spec.ttl_turns), (Some("grounded_review"), Some(2)));
    assert_eq!((spec.role_hint, spec.propagate), (RoleHint::Developer, Propagate::None));
    assert!(!spec.preserve_on_compact);
    let events = GroundedReview.subscribes_to();
    let reached: Vec<_> = EventKind::ALL.iter().filter(|kind| events.contains(**kind)).copied().collect();
    assert_eq!(reached, [EventKind::PostStep, EventKind::PostToolUse, EventKind::PostAgentTurn]);
}

#[test]
fn one_reminder_lists_so_many_findings_and_counts_the_rest() {
    let payload = r#"{"undefined_names":["a","b","c","d","e","f","a"]}"#;
    let fired =
        |config: &Data| fire_raw(&GroundedReview, EventKind::PostToolUse, payload, config).unwrap().remove(0).body;
    let body = fired(&Data::Nil);
    assert_eq!(body.lines().filter(|line| line.starts_with("- ")).count(), 5);
    assert!(body.contains("\n1 more is not listed"), "{body}");
    for key in ["max_findings", "limit"] {
        let body = fired(&Data::dict([(key, Data::from(2))]));
        assert_eq!(body.lines().filter(|line| line.starts_with("- ")).count(), 2, "{key}");
    }
}

#[test]
fn however_many_there_are_all_are_counted() {
    let signals: Vec<Data> = (0..10_000)
        .map(|i| {
            Data::dict([("name", Data::from(i)), ("signal", "reject".into()), ("reason", Data::from(format!("{i}")))])
        })
        .collect();
    let payload = Data::dict([("verifier_signals", Data::from(signals))]).to_json();
    let body = fire_raw(&GroundedReview, EventKind::PostToolUse, &payload, &Data::Nil).unwrap().remove(0).body;
    assert!(body.contains("\n9995 more are not listed"), "{body}");
    let output: String = (0..3_000).map(|i| format!("a.ts({i},1): error TS1005: ';' expected.\n")).collect();
    let call = ToolCall::new("c1", "bash", Data::dict([("command", Data::from("tsc"))]));
    let result = ToolResult { text: output.into(), truncated: false, ok: true, value: Data::Nil };
    let event = HookEvent::PostToolUse { call: &call, result: &result, iteration: 1 };
    let body = fire(&GroundedReview, &event, &Data::Nil).unwrap().remove(0).body;
    assert!(body.contains("\n2995 more are not listed"), "{body}");
}

#[test]
fn what_the_end_of_a_turn_sees_again_is_not_told_again() {
    let place = TestSession::new();
    let look = |kind: EventKind, json: &str| {
        let payload = Data::from_json(json).unwrap();
        let event = HookEvent::Raw { kind, payload: &payload };
        block_on(GroundedReview.evaluate(place.turn(), &event, &Data::Nil).get()).unwrap().len()
    };
    let tool = r#"{"tool":"deploy","result":{"ok":false,"text":"error: no host"}}"#;
    let rows = r#"{"tool_results":[{"name":"deploy","ok":false,"text":"error: no host"}],"text":"All is well."}"#;
    let other = r#"{"tool_results":[{"name":"deploy","ok":false,"text":"error: no route"}]}"#;
    assert_eq!(look(EventKind::PostToolUse, tool), 1);
    assert_eq!(look(EventKind::PostAgentTurn, rows), 0);
    assert_eq!(look(EventKind::PostAgentTurn, other), 1);
    assert_eq!(look(EventKind::PostToolUse, tool), 1, "a second call that fails alike is news");
}

#[test]
fn the_configuration_is_read_strictly() {
    for (json, field) in [
        (r#"{"max_finding":1}"#, "grounded_review.max_finding"),
        (r#"{"max_findings":0}"#, "grounded_review.max_findings"),
        (r#"{"limit":51}"#, "grounded_review.limit"),
        (r#"{"limit":2,"max_findings":3}"#, "grounded_review.limit"),
        (r#"{"text_scan":"yes"}"#, "grounded_review.text_scan"),
        (r#"{"include_warnings":1}"#, "grounded_review.include_warnings"),
    ] {
        assert_eq!(GroundedReviewConfig::read(&Data::from_json(json).unwrap()).unwrap_err().field, field, "{json}");
    }
    let read = GroundedReviewConfig::read(&Data::Nil).unwrap();
    assert_eq!((read.max_findings, read.text_scan, read.include_warnings), (5, true, false));
}

#[test]
fn a_huge_output_is_read_in_time_and_its_reminder_is_small() {
    let line = "src/a.ts(1,2): error TS2304: Cannot find name 'x'. \u{1b}[31m";
    let output: String = (0..100_000).map(|i| format!("{line}{i}\n")).collect();
    let call = ToolCall::new("c1", "bash", Data::dict([("command", Data::from("tsc"))]));
    let result = ToolResult { text: output.into(), truncated: false, ok: true, value: Data::Nil };
    let fired =
        fire(&GroundedReview, &HookEvent::PostToolUse { call: &call, result: &result, iteration: 1 }, &Data::Nil);
    let fired = fired.unwrap();
    assert!(fired[0].body.len() < 4_000, "{}", fired[0].body.len());
}

#[test]
fn each_tool_and_target_has_one_key() {
    let key = |name: &str, args: &str, value: &str| {
        let call = ToolCall::new("c1", name, Data::from_json(args).unwrap());
        let value = Data::from_json(value).unwrap();
        let result = ToolResult { text: value.to_text(), truncated: false, ok: value.as_str().is_none(), value };
        let event = HookEvent::PostToolUse { call: &call, result: &result, iteration: 1 };
        let specs = fire(&GroundedReview, &event, &Data::Nil).unwrap();
        specs.first().map(|spec| (specs.len(), spec.dedupe_key.as_deref().unwrap_or_default().to_owned()))
    };
    let one = |key: &str| Some((1, key.to_owned()));
    for (name, args, value, expected) in [
        ("shell", r#"{"command":"make x"}"#, r#""error: no rule""#, one("grounded_review:shell:make x")),
        ("edit_file", r#"{"path":"a.rs"}"#, r#""error: no match""#, one("grounded_review:edit_file:a.rs")),
        ("deploy", "{}", r#"{"ok":false,"error":"no host"}"#, one("grounded_review:deploy")),
        ("deploy", "{}", r#"{"ok":true,"error":null}"#, None),
        ("shell", r#"{"command":"rm x"}"#, r#""`rm x` is not allowed. Allowed commands: `ls`""#, None),
        ("shell", r#"{"command":"ls /"}"#, r#""`/` is refused: it is outside of the root""#, None),
        ("shell", r#"{"command":"ls /"}"#, r#""not run: permission denied""#, None),
    ] {
        assert_eq!(key(name, args, value), expected, "{name} {args} {value}");
    }
}

#[test]
fn the_end_of_a_turn_does_not_repeat_what_its_tools_gave() {
    let call = ToolCall::new("c1", "shell", Data::dict([("command", Data::from("make"))]));
    let result = ToolResult { text: "[exit code 2]".into(), truncated: false, ok: false, value: Data::Nil };
    let rows = vec![runtime::hooks::event::ToolRow::new(&call, result)].into();
    let text = "".into();
    let event = HookEvent::PostAgentTurn { iteration: 1, has_tool_calls: true, tool_results: &rows, text: &text };
    assert!(fire(&GroundedReview, &event, &Data::Nil).unwrap().is_empty());
}

#[test]
fn what_fails_because_the_run_ends_is_no_finding() {
    let call = ToolCall::new("c1", "stop", Data::empty_dict());
    let result = ToolResult { text: "stopped: exit(0)".into(), truncated: false, ok: false, value: Data::Nil };
    let event = HookEvent::PostToolUse { call: &call, result: &result, iteration: 1 };
    let place = TestSession::new();
    let fired = || block_on(GroundedReview.evaluate(place.turn(), &event, &Data::Nil).get()).unwrap();
    assert_eq!(fired().len(), 1, "a tool's own words prove nothing");
    place.scope.cancel.cancel("exit(0)");
    assert_eq!(fired(), Vec::new());
}
