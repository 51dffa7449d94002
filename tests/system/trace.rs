//! `harn trace`: what scripts did is run for real, its log is read, and each form is compared with a picture in
//! `tests/trace`. `UPDATE=1 cargo test --test system trace` writes the pictures; read them before you commit.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::diff::diff;
use crate::harn::{Outcome, harn, harn_with_input, root, scratch};
use crate::vendors::answers::End;
use crate::vendors::server::Vendors;
use serde_json::Value;

/// Runs a script of `tests/trace`; its log and what it printed.
fn log_of(script: &str) -> (PathBuf, String) {
    // Each test has a folder of its own, since they run side by side.
    let test = std::thread::current().name().unwrap_or("test").replace("::", "-");
    let log = scratch(&format!("{test}-{script}")).join("log.db");
    let home = format!("sqlite:{}", log.display());
    let outcome = harn(&["run", "--seed", "1", "--event-log", &home, &format!("tests/trace/{script}.harn")]);
    // A script may have loops that fail.
    assert_eq!((outcome.code, outcome.drawn("error")), (Some(0), 0), "{}{}", outcome.out, outcome.err);
    (log, outcome.out)
}

fn trace(log: &Path, more: &[&str]) -> Outcome {
    let path = log.display().to_string();
    harn(&[&["trace", &path], more].concat())
}

/// The output of a trace that goes well.
fn traced(log: &Path, more: &[&str]) -> String {
    let outcome = trace(log, more);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
    outcome.out
}

fn document(log: &Path, more: &[&str]) -> Value {
    serde_json::from_str(&traced(log, &[&["--json"], more].concat())).unwrap()
}

fn session<'a>(document: &'a Value, id: &str) -> &'a Value {
    let all = document["sessions"].as_array().unwrap();
    all.iter().find(|session| session["id"] == id).unwrap_or_else(|| panic!("no session {id}"))
}

/// Compares with a file of `tests/trace`.
fn picture(name: &str, found: &str) {
    same_as(&root().join("tests/trace").join(name), found);
}

fn same_as(file: &Path, found: &str) {
    if std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
        fs::write(file, found).unwrap();
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    if let Some(diff) = diff(&expected, found) {
        panic!("{} (-expected, +found)\n{diff}", file.strip_prefix(root()).unwrap().display());
    }
}

#[test]
fn a_log_may_be_named_as_the_run_names_it() {
    let (log, _) = log_of("day");
    let home = format!("sqlite:{}", log.display());
    assert_eq!(traced(Path::new(&home), &[]), traced(&log, &[]));
}

#[test]
fn the_text_tells_each_turn() {
    let (log, _) = log_of("day");
    picture("day.txt", &traced(&log, &[]));
    picture("day-verbose.txt", &traced(&log, &["--verbose", "--session", "reviewer"]));
}

#[test]
fn any_cursor_shows_what_was_pending_then() {
    let (log, _) = log_of("day");
    let at = |cursor: &str| traced(&log, &["--at", cursor]);
    picture("day-at.txt", &[at("0"), at("2"), at("20")].join("\n"));
}

#[test]
fn the_document_holds_all_of_it() {
    let (log, _) = log_of("day");
    let text = traced(&log, &["--json", "--session", "coder"]);
    // Each run has its own.
    let (before, rest) = text.split_once("\"run_id\": \"").unwrap();
    let (run_id, after) = rest.split_once('"').unwrap();
    assert!(!run_id.is_empty());
    picture("day.json", &format!("{before}\"run_id\": \"RUN\"{after}"));
}

#[test]
fn the_page_needs_nothing_and_obeys_nothing() {
    let (log, _) = log_of("day");
    let page = log.with_file_name("day.html");
    let said = traced(&log, &["--html", page.to_str().unwrap()]);
    assert!(said.starts_with("10 reminders of 3 sessions in "), "{said}");
    let html = fs::read_to_string(&page).unwrap();
    for forbidden in ["<script", "</script", "http:", "https:", "url(", "@import", "<b>", "\u{1b}"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("&lt;/script&gt;&lt;b&gt;") && html.contains("default-src 'none'"));
    // The style is not what is pictured.
    let (head, rest) = html.split_once("<style nonce=\"page\">").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    picture("day.html", &format!("{head}<style></style>{body}"));
    assert_eq!(html.matches("<details class=\"lane\">").count(), 10);
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
}

/// The picture that `--svg` writes.
fn svg(log: &Path) -> String {
    let file = log.with_file_name("log.svg");
    traced(log, &["--svg", file.to_str().unwrap()]);
    fs::read_to_string(&file).unwrap()
}

#[test]
fn an_svg_picture_needs_nothing_and_obeys_nothing() {
    let (log, _) = log_of("day");
    let svg = svg(&log);
    for forbidden in ["<script", "<b>", "https:", "href", "url(", "@import", "\u{1b}"] {
        assert!(!svg.contains(forbidden), "{forbidden}");
    }
    let (head, rest) = svg.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    picture("day.svg", &format!("{head}<style></style>{body}"));
    let empty = log.with_file_name("empty.jsonl");
    fs::write(&empty, "").unwrap();
    traced(&empty, &["--svg", log.with_file_name("empty.svg").to_str().unwrap()]);
    assert!(fs::read_to_string(log.with_file_name("empty.svg")).unwrap().contains(">no reminders</text>"));
}

#[test]
fn the_picture_of_the_readme_is_that_of_the_quick_start() {
    let log = scratch("readme-picture").join("log.db");
    let home = format!("sqlite:{}", log.display());
    let outcome = harn(&["run", "--seed", "1", "--event-log", &home, "examples/quickstart.harn"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    same_as(&root().join("docs/quickstart.svg"), &svg(&log));
}

#[test]
fn records_are_lines_that_can_be_read_again() {
    let (log, _) = log_of("day");
    let lines = log.with_file_name("day.jsonl");
    fs::write(&lines, traced(&log, &["--records"])).unwrap();
    for form in [&[][..], &["--json"], &["--at", "30"], &["--records"]] {
        assert_eq!(traced(&lines, form), traced(&log, form), "{form:?}");
    }
    assert_eq!(traced(&log, &["--records", "--at", "5"]).lines().count(), 5);
    let of_one = traced(&log, &["--records", "--session", "reviewer"]);
    assert!(of_one.lines().count() > 3 && of_one.lines().all(|line| line.contains(r#""session_id":"reviewer""#)));
}

#[test]
fn the_log_alone_knows_what_is_pending() {
    let (log, printed) = log_of("lives");
    let document = document(&log, &[]);
    assert_eq!(printed.lines().count(), 8);
    for line in printed.lines() {
        let (id, pending) = line.split_once(' ').unwrap();
        let pending: Value = serde_json::from_str(pending).unwrap();
        let life = session(&document, id);
        assert_eq!(life["pending"], pending, "{id}");
        assert_eq!(life["conservation"]["holds"], true, "{id}");
    }
    assert_eq!(document["notes"], Value::Array(Vec::new()));
    picture("lives.txt", &traced(&log, &[]));
}

#[test]
fn a_tail_shares_more_of_the_prefix() {
    let (log, _) = log_of("tail");
    let document = document(&log, &[]);
    let last = |id: &str| {
        let prompts = session(&document, id)["prompts"].as_array().unwrap();
        let [.., before, last] = &prompts[..] else { panic!("{prompts:?}") };
        (last["shared_prefix_bytes"].as_u64().unwrap(), before["total_bytes"].as_u64().unwrap())
    };
    let ((head, of_head), (tail, of_tail)) = (last("head"), last("tail"));
    assert!(head * 5 < of_head && tail * 10 > of_tail * 9, "{head} of {of_head}, {tail} of {of_tail}");
}

/// A run that has made a reminder in the session `s` and waits for a line.
struct WaitingRun {
    run: Child,
    // Held, so that the run can still print.
    _out: BufReader<ChildStdout>,
}

impl WaitingRun {
    fn begin(log: &Path) -> WaitingRun {
        let script = log.with_file_name("wait.harn");
        let text = "agent_session_inject(agent_session_open(\"s\"), transcript_reminder_event({body: \"still running\", ttl_turns: 1}))\n\
                    event_log.emit(\"mine\", \"ready\")\nprintln(\"ready\")\nread_line()\n\
                    agent_session_close(\"s\")\n";
        fs::write(&script, text).unwrap();
        let mut run = Command::new(env!("CARGO_BIN_EXE_harn"))
            .args(["run", "--seed", "1", "--event-log", &format!("sqlite:{}", log.display())])
            .arg(&script)
            .env("HARN_LLM_PROVIDER", "mock")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut line, mut out) = (String::new(), BufReader::new(run.stdout.take().unwrap()));
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        WaitingRun { run, _out: out }
    }

    fn end(mut self) {
        self.run.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert!(self.run.wait().unwrap().success());
    }
}

#[test]
fn a_thought_that_a_request_lost_is_counted_with_the_reminder_that_went() {
    let vendors = Vendors::start();
    vendors.open_with("thoughts", &[End::Calls, End::Done, End::CutOff]);
    let script = scratch("lost-thoughts").join("thoughts.harn");
    let log = script.with_extension("db");
    let options = "{provider: \"anthropic\", model: \"claude-fable-5-1\", session_id: s, tools: [look], stream: false}";
    let text = format!(
        "tool look(n: int) -> string {{\n  description \"Looks.\"\n  \"seen\"\n}}\nlet s = agent_session_open()\n\
        agent_session_inject_reminder(s, {{body: \"Be brief.\", ttl_turns: 1, dedupe_key: \"brief\"}})\n\
        println(agent_loop(\"Look.\", nil, {options}).status)\nprintln(agent_loop(\"And?\", nil, {options}).status)\n"
    );
    fs::write(&script, text).unwrap();
    let home = format!("sqlite:{}", log.display());
    let env = [("ANTHROPIC_BASE_URL", &*vendors.url("thoughts")), ("ANTHROPIC_API_KEY", "a-key-that-opens-nothing")];
    let args = ["run", "--seed", "1", "--event-log", &home, script.to_str().unwrap()];
    let outcome = harn_with_input(&args, b"", &env);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "done\ncut_off\n"), "{}", outcome.err);
    let text = traced(&log, &[]);
    let lost: Vec<&str> = text.lines().filter(|line| line.contains("earlier thought")).collect();
    assert!(lost.len() == 2 && lost[0].contains("1 earlier thought left out, since #"), "{text}");
    assert!(lost[0].ends_with("is gone") && !lost[1].contains("since"), "{text}");
    assert!(lost[1].contains("the output limit cut the answer off (max_tokens)"), "{text}");
    let document = document(&log, &[]);
    let prompts = document["sessions"][0]["prompts"].as_array().unwrap();
    let told: Vec<_> = prompts.iter().map(|it| (&it["answer_end"], &it["thoughts_left_out"])).collect();
    assert_eq!(told, [(&Value::Null, &0.into()), (&"end".into(), &1.into()), (&"max_tokens".into(), &1.into())]);
}

#[test]
fn a_log_is_read_while_a_run_writes_it() {
    let log = scratch("trace-while-running").join("log.db");
    let run = WaitingRun::begin(&log);
    let seen = trace(&log, &[]);
    run.end();
    assert!(seen.code == Some(0) && seen.out.contains("still running"), "{seen:?}");
}

#[test]
fn processes_that_share_a_log_and_a_session_id_are_told_apart() {
    let log = scratch("trace-two-at-once").join("log.db");
    let (one, other) = (WaitingRun::begin(&log), WaitingRun::begin(&log));
    let during = document(&log, &[]);
    one.end();
    other.end();
    for (document, pending) in [(during, 1), (document(&log, &[]), 0)] {
        let lives = document["sessions"].as_array().unwrap();
        assert_eq!(lives.len(), 2, "{document}");
        for life in lives {
            assert_eq!((&life["id"], &life["branched"]), (&"s".into(), &false.into()));
            assert_eq!(
                (&life["conservation"]["pending"], &life["conservation"]["holds"]),
                (&pending.into(), &true.into())
            );
        }
        assert_ne!(lives[0]["run_id"], lives[1]["run_id"]);
        assert_eq!(document["notes"], Value::Array(Vec::new()));
    }
}

#[test]
fn a_script_that_runs_again_begins_anew() {
    let (log, _) = log_of("lives");
    let home = format!("sqlite:{}", log.display());
    assert_eq!(harn(&["run", "--seed", "1", "--event-log", &home, "tests/trace/lives.harn"]).code, Some(0));
    let text = traced(&log, &["--session", "void"]);
    assert!(text.contains("session void · run 1 of 2 ·") && text.contains("session void · run 2 of 2 ·"), "{text}");
    assert!(text.contains("1 pending at the last record of this run; a later run starts over"), "{text}");
    assert!(!text.contains("two histories for one id"), "{text}");
    let document = document(&log, &[]);
    for life in document["sessions"].as_array().unwrap() {
        assert_eq!(
            (&life["branched"], &life["conservation"]["holds"]),
            (&false.into(), &true.into()),
            "{}",
            life["id"]
        );
    }
}

#[test]
fn a_page_never_takes_the_place_of_the_log() {
    let (log, _) = log_of("day");
    let before = traced(&log, &["--records"]);
    let (link, hard) = (log.with_file_name("link"), log.with_file_name("hard"));
    std::os::unix::fs::symlink(&log, &link).unwrap();
    fs::hard_link(&log, &hard).unwrap();
    let wal = log.with_file_name("log.db-wal");
    for target in [&log, &link, &hard, &wal] {
        if target == &wal && !wal.exists() {
            continue;
        }
        let outcome = trace(&log, &["--html", target.to_str().unwrap()]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.err.contains("it is the log itself"), "{}", outcome.err);
    }
    assert_eq!(traced(&log, &["--records"]), before);
}

#[test]
fn links_stay_links_rights_stay_and_devices_stay_devices() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (log, _) = log_of("day");
    let folder = log.parent().unwrap();
    let (file, link, dangling) = (folder.join("page.html"), folder.join("link.html"), folder.join("dangling.html"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    symlink(folder.join("made.html"), &dangling).unwrap();
    for target in [link.as_path(), dangling.as_path(), Path::new("/dev/null")] {
        traced(&log, &["--html", target.to_str().unwrap()]);
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && fs::symlink_metadata(&dangling).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("</html>") && folder.join("made.html").is_file());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(!fs::symlink_metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_trace_that_cannot_be_printed_fails() {
    let (log, _) = log_of("day");
    for form in [&[][..], &["--json"], &["--records"], &["--at", "3"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_harn")).arg("trace").arg(&log).args(form).stdout(full).output();
        let run = run.unwrap();
        let err = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(1) && err.contains("cannot write to standard output"), "{form:?}: {err}");
    }
}

#[test]
fn a_page_is_written_whole_or_not_at_all() {
    let (log, _) = log_of("day");
    let folder = log.parent().unwrap().to_path_buf();
    let (missing, taken) = (folder.join("no/such/page.html"), folder.join("taken"));
    fs::create_dir(&taken).unwrap();
    for target in [&missing, &taken] {
        let outcome = trace(&log, &["--html", target.to_str().unwrap()]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.err.contains("cannot write"), "{}", outcome.err);
    }
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".part")), "{left:?}");
}

#[test]
fn input_that_is_no_log_is_told_in_a_sentence() {
    let (log, _) = log_of("day");
    let folder = log.parent().unwrap().to_path_buf();
    let records = traced(&log, &["--records"]);
    let (whole, _) = records.split_at(records.match_indices('\n').nth(3).unwrap().0 + 1);
    let put = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    put("empty", b"");
    put("blank", b"\n\n");
    put("half.jsonl", [whole.as_bytes(), br#"{"topic":"transcript.rem"#].concat().as_slice());
    put("middle.jsonl", [whole.as_bytes(), b"oops\n", whole.as_bytes()].concat().as_slice());
    put("binary", b"\x00\xff\xfe\x01");
    put("latin1.jsonl", [whole.as_bytes(), b"{\"topic\":\"\xe9\"}\n"].concat().as_slice());
    put("text", b"# Notes\nnothing here\n");
    put(
        "other.jsonl",
        br#"{"topic":"mine","kind":"k","payload":{},"headers":null,"id":1,"cursor":1,"occurred_at_ms":5}"#,
    );
    put("deep", "[".repeat(100_000).as_bytes());
    put("odd.jsonl", br#"{"topic":"transcript.reminder.lifecycle","kind":"transcript.reminder.injected","payload":{"session_id":"s"}}"#);
    put("fake.db", b"SQLite format 3\0 and then nothing like it");
    let cases: &[(&str, &[&str])] = &[
        ("missing", &[]),
        ("", &[]),
        ("empty", &[]),
        ("blank", &["--at", "0"]),
        ("half.jsonl", &["--at", "4"]),
        ("middle.jsonl", &["--at", "0"]),
        ("binary", &[]),
        ("latin1.jsonl", &["--at", "0"]),
        ("text", &[]),
        ("other.jsonl", &[]),
        ("other.jsonl", &["--json"]),
        ("deep", &[]),
        ("odd.jsonl", &[]),
        ("fake.db", &[]),
        ("log.db", &["--at", "99999"]),
        ("log.db", &["--at", "-1"]),
        ("log.db", &["--session", "codr"]),
        ("log.db", &["--session", "nobody"]),
        ("log.db", &["--json", "--records"]),
    ];
    let mut told = String::new();
    for (name, more) in cases {
        let outcome = trace(&folder.join(name), more);
        let hide = |text: &str| text.replace(&folder.display().to_string(), "DIR");
        told += &format!("$ harn trace {name} {}\n", more.join(" "));
        told += &format!("{}{}[exit code {}]\n\n", hide(&outcome.out), hide(&outcome.err), outcome.code.unwrap());
    }
    picture("bad-input.txt", &told);
}

#[test]
fn the_quick_start_and_its_trace_agree_on_what_is_pending() {
    for language in ["harn", "rhai"] {
        let log = scratch(&format!("quickstart-{language}")).join("log.db");
        let home = format!("sqlite:{}", log.display());
        let script = format!("examples/quickstart.{language}");
        let said = harn(&["run", "--seed", "1", "--event-log", &home, &script]).out;
        let left = said.lines().find_map(|line| line.split_once("still pending: ")).expect("it says what is left").1;
        let found = document(&log, &[]);
        let keys = found["sessions"][0]["pending"].as_array().unwrap().iter();
        let keys: Vec<&str> = keys.map(|reminder| reminder["dedupe_key"].as_str().unwrap()).collect();
        assert_eq!(keys.join(", "), left);
    }
}

#[test]
fn a_loop_that_goes_on_in_another_process_has_one_life() {
    let folder = scratch("trace-resumed");
    let (log, state) = (folder.join("log.db"), folder.join("state.json"));
    let home = format!("sqlite:{}", log.display());
    for more in [&[][..], &["--", "Approved by Kim."]] {
        let args = [&["run", "--event-log", &home, "examples/suspend/release.harn"], more].concat();
        let run = harn_with_input(&args, b"", &[("HARN_STATE", state.to_str().unwrap())]);
        assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    }
    let found = document(&log, &[]);
    assert_eq!((found["sessions"].as_array().unwrap().len(), &found["notes"]), (1, &serde_json::json!([])), "{found}");
    let life = &found["sessions"][0];
    assert_eq!((&life["conservation"]["holds"], &life["turns"]), (&Value::from(true), &Value::from(4)));
    let carried =
        |reminder: &Value| reminder["carried"].as_array().unwrap().iter().map(|c| c["turn"].as_i64()).collect();
    let turns: Vec<Vec<Option<i64>>> = life["reminders"].as_array().unwrap().iter().map(carried).collect();
    assert_eq!(turns, [vec![Some(2), Some(3), Some(4)], vec![Some(3)]]);
    // Its four turns are not over.
    assert_eq!(
        (life["reminders"][0]["ttl_left"].as_i64(), &life["reminders"][1]["end"]["reason"]),
        (Some(1), &"ttl".into())
    );
    let text = traced(&log, &[]);
    assert!(text.contains("the session continues from its stored state") && !text.contains("starts over"), "{text}");
}

/// The files in the folder of a log, with their bytes.
fn files_beside(log: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(log.parent().unwrap()).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        // The index is memory that readers share.
        .map(|(name, bytes)| if name.ends_with("-shm") { (name, Vec::new()) } else { (name, bytes) })
        .collect();
    files.sort();
    files
}

#[test]
fn a_log_that_is_read_stays_alone_and_unchanged() {
    let (log, _) = log_of("day");
    let before = files_beside(&log);
    assert_eq!(before.len(), 1, "a run that ended leaves one file");
    for more in [&[][..], &["--json"], &["--records"], &["--at", "3"]] {
        traced(&log, more);
        assert_eq!(files_beside(&log), before, "{more:?}");
    }
}

#[test]
fn a_log_that_is_written_keeps_its_files() {
    let (log, _) = log_of("day");
    let writer = rusqlite::Connection::open(&log).unwrap();
    writer.execute("UPDATE head SET last_cursor = last_cursor", []).unwrap();
    let before = files_beside(&log);
    assert_eq!(before.len(), 3, "a write-ahead log and its index");
    traced(&log, &[]);
    assert_eq!(files_beside(&log), before);
}
