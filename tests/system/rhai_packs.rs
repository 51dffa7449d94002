//! Provider packs: their allowed actions, and the failure of hostile ones. The scripts are in
//! `tests/rhai/packs`; the first line of each has the expected outcome, the second describes the
//! attempt.
//!
//! | first line | |
//! |---|---|
//! | `// load CODE` | the run does not start, with this code |
//! | `// run CODE [words]` | the run is what it is without the pack, and the code and the words are reported |
//! | `// run fine` | the run is what it is without the pack |

use crate::harn::{Outcome, harn, root, scratch, trust};
use std::fs;
use std::path::{Path, PathBuf};

/// The loop that runs beside each pack.
const BESIDE: &str = "tests/rhai/packs/beside.harn";

fn packs() -> Vec<PathBuf> {
    let folder = root().join("tests/rhai/packs");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut packs: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "rhai")).collect();
    packs.sort();
    packs
}

fn beside(more: &[&str]) -> Outcome {
    harn(&[&["run", "--seed", "1", BESIDE], more].concat())
}

/// Returns the expected outcome that a script states.
fn expected(pack: &Path) -> (String, Vec<String>) {
    let text = fs::read_to_string(pack).unwrap();
    let line = text.lines().next().unwrap().strip_prefix("// ").unwrap();
    let mut words = line.split_whitespace().map(str::to_owned);
    (words.next().unwrap(), words.filter(|word| word != "fine").collect())
}

/// Returns the problem with the outcome of a pack, if any.
fn misbehaviour(pack: &Path, with: &Outcome, without: &Outcome, patient: bool) -> Option<String> {
    let (when, said) = expected(pack);
    let name = pack.file_name().unwrap().to_str().unwrap();
    let as_without = with.code == Some(0) && with.out == without.out;
    let refused = with.code == Some(1) && with.out.is_empty();
    let changed = if when == "load" { !refused } else { !as_without };
    // In 50 ms some do not come as far as the limit that they are after.
    let late = !patient && with.err.contains("timeout_ms");
    let told = late || (with.err.contains(name) && said.iter().all(|word| with.err.contains(word)));
    let quiet = late || with.drawn("error") == 0;
    let reported = if said.is_empty() { quiet } else { told };
    let steers = with.err.contains('\u{1b}');
    (changed || !reported || steers).then(|| {
        let err: String = with.err.chars().take(1500).collect();
        format!("{name}: {when} {said:?}, patient {patient}: {:?}\n{}\n{err}", with.code, with.out)
    })
}

#[test]
fn a_hostile_pack_changes_nothing_but_what_is_reported_of_it() {
    let without = beside(&[]);
    assert_eq!(without.code, Some(0), "{}", without.err);
    assert!(without.out.contains("from the other provider"), "{}", without.out);
    let mut wrong = Vec::new();
    for pack in packs() {
        let with = beside(&["--provider", pack.to_str().unwrap()]);
        wrong.extend(misbehaviour(&pack, &with, &without, false));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn with_all_the_time_there_is_each_hits_the_limit_that_it_is_after() {
    let without = beside(&[]);
    let dir = scratch("packs-patient");
    let main = dir.join("main.harn");
    fs::copy(root().join(BESIDE), &main).unwrap();
    let mut wrong = Vec::new();
    for pack in packs() {
        let toml = format!("[providers]\npacks = [{{file = {:?}, timeout_ms = 60_000}}]\n", pack.to_str().unwrap());
        fs::write(dir.join("harn.toml"), toml).unwrap();
        trust(&dir);
        let with = harn(&["run", "--seed", "1", main.to_str().unwrap()]);
        wrong.extend(misbehaviour(&pack, &with, &without, true));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_pack_that_strict_reminders_do_not_bear_ends_the_loop() {
    let dir = scratch("packs-strict");
    let script = dir.join("strict.harn");
    let text = "let r = try { agent_loop(\"go\", nil, {llm_caller: { a -> \"x\" }, reminders: {strict: true, packs: \
                [\"loop.rhai\"]}}) }\nprintln(unwrap_err(r).code)\n";
    fs::write(&script, text).unwrap();
    fs::copy(root().join("tests/rhai/packs/loop-forever.rhai"), dir.join("loop.rhai")).unwrap();
    let outcome = harn(&["run", script.to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "HARN-PCK-002\n"), "{}", outcome.err);
}

/// A pack that says what it can read, and a script that shows it, in a folder that is trusted if its `harn.toml` is valid.
fn project(name: &str, toml: &str, pack: &str, script: &str) -> PathBuf {
    let dir = scratch(name);
    fs::write(dir.join("harn.toml"), toml).unwrap();
    fs::write(dir.join("pack.rhai"), pack).unwrap();
    fs::write(dir.join("main.harn"), script).unwrap();
    fs::write(dir.join("note.txt"), "the note").unwrap();
    harn(&["trust", dir.to_str().unwrap()]);
    dir
}

const SHOWS: &str = "let r = agent_loop(\"go\", nil, {llm_caller: { a -> \"x\" }})\nprintln(transcript.reminders(r.transcript).\
                     map({ m -> m.body }))\n";

/// Returns a provider whose reminder is the value of an expression.
fn gives(expression: &str) -> String {
    format!(
        "register_reminder_provider(#{{id: \"mine\", subscribes_to: [\"post_turn\"], evaluate: |ctx| #{{body: {expression}, \
         ttl_turns: 9}}}});\n"
    )
}

#[test]
fn only_the_project_grants_and_never_more_than_the_run_has() {
    let dir = scratch("packs-grants-file");
    let note = dir.join("note.txt");
    fs::write(&note, "the note").unwrap();
    let pack = gives(&format!("read_file({:?})", note.to_str().unwrap()));
    let granted = "[providers]\npacks = [{file = \"pack.rhai\", allow = [\"fs.read\"]}]\n";
    let plain = "[providers]\npacks = [\"pack.rhai\"]\n";
    for (name, toml, more, bodies) in [
        ("granted", granted, &[][..], "[the note]\n"),
        ("plain", plain, &[], "[]\n"),
        ("denied", granted, &["--deny", "fs.read"], "[]\n"),
        ("other-right", "[providers]\npacks = [{file = \"pack.rhai\", allow = [\"env\"]}]\n", &[], "[]\n"),
    ] {
        let dir = project(&format!("packs-grants-{name}"), toml, &pack, SHOWS);
        let main = dir.join("main.harn");
        let outcome = harn(&[&["run", main.to_str().unwrap()][..], more].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), bodies), "{name}: {}", outcome.err);
        assert_eq!(outcome.err.contains("HARN-PCK-003"), bodies == "[]\n", "{name}: {}", outcome.err);
    }
}

#[test]
fn a_project_sets_the_budget_of_a_pack() {
    let pack = "fn spend() { let n = 0; for i in 0..2000 { n += i; } let s = \"0123456789\"; s += s; let a = []; for i in 0..8 { a.push(i); } \"spent\" }\n"
        .to_owned()
        + gives("spend()").as_str();
    for (toml, bodies, says) in [
        ("packs = [\"pack.rhai\"]", "[spent]\n", ""),
        ("packs = [{file = \"pack.rhai\", max_operations = 500}]", "[]\n", "500 operations"),
        ("packs = [{file = \"pack.rhai\", max_string = \"12\"}]", "[]\n", "12 bytes of text"),
        ("packs = [{file = \"pack.rhai\", max_elements = 5}]", "[]\n", "5 elements"),
    ] {
        let dir = project("packs-budget", &format!("[providers]\n{toml}\n"), &pack, SHOWS);
        let outcome = harn(&["run", dir.join("main.harn").to_str().unwrap()]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), bodies), "{toml}: {}", outcome.err);
        assert!(outcome.err.contains(says), "{toml}: {}", outcome.err);
    }
}

#[test]
fn what_is_wrong_with_packs_in_the_project_is_found_with_its_place() {
    let pack = gives("\"x\"");
    for (toml, says) in [
        ("packs = \"pack.rhai\"", "`packs` must be a list of files"),
        ("packs = [3]", "this must be a quoted string"),
        ("packs = [{allow = []}]", "does not name a file"),
        ("packs = [{file = \"pack.rhai\", alow = []}]", "did you mean `allow`"),
        ("packs = [{file = \"pack.rhai\", allow = [\"fs.raed\"]}]", "did you mean \"fs.read\""),
        ("packs = [{file = \"pack.rhai\", allow = [\"net\"]}]", "`net` cannot be granted"),
        ("packs = [{file = \"pack.rhai\", timeout_ms = 0}]", "integer above 0"),
        ("packs = [{file = \"pack.rhai\", max_depth = 100000}]", "at most 256"),
        ("packs = [\"pakc.rhai\"]", "HARN-PCK-001"),
        ("packs = [\"pack.rhai\"]\n[providers.openai]\nbase_url = 3", "`base_url` must be a string"),
    ] {
        let dir = project("packs-toml", &format!("[providers]\n{toml}\n"), &pack, "println(\"ran\")\n");
        for command in ["run", "check"] {
            let outcome = harn(&[command, dir.join("main.harn").to_str().unwrap()]);
            assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{command} {toml}: {}", outcome.err);
            assert!(outcome.err.contains(says), "{command} {toml}: {}", outcome.err);
        }
    }
    let dir = project("packs-toml", "[providers]\npacks = [\"pack.rhai\"]\n", &pack, "println(\"ran\")\n");
    let outcome = harn(&["run", dir.join("main.harn").to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "ran\n"), "{}", outcome.err);
}

#[test]
fn the_example_guards_a_loop() {
    let args = ["run", "--seed", "1", "--provider", "examples/packs/secrets.rhai", "examples/packs/secrets.harn"];
    let outcome = harn(&args);
    let said = "What look gave looks as if it held a secret (password). Do not repeat it. (for 3 turns)\n";
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.err.as_str()), (Some(0), said, ""));
    // Without the pack there is no warning.
    let outcome = harn(&["run", "--seed", "1", "examples/packs/secrets.harn"]);
    assert!(outcome.code == Some(1) && outcome.err.contains("HARN-RMD-001"), "{}", outcome.err);
}

#[test]
fn the_packs_of_the_reference_are_loaded() {
    let page = fs::read_to_string(root().join("docs/reference/reminder-providers.md")).unwrap();
    let dir = scratch("packs-reference");
    let blocks: Vec<&str> = page.split("\n```rhai\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let pack = dir.join("block.rhai");
        fs::write(&pack, block).unwrap();
        let outcome = beside(&["--provider", pack.to_str().unwrap()]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{block}");
    }
}

/// Scripts with the pack `pack.rhai` beside them, and what they print.
const SCRIPTS: &[(&str, &str, &str)] = &[
    (
        "a loop alone has the packs that its options name",
        "let caller = { a -> \"x\" }\nfor packs in [[\"pack.rhai\"], []] {\n  let r = agent_loop(\"go\", nil, {llm_caller: caller, \
         reminders: {packs: packs}})\n  println(transcript.reminders(r.transcript).map({ m -> m.body }))\n}\n",
        "[1]\n[]\n",
    ),
    (
        "a pack keeps its state from one loop to the next",
        "let caller = { a -> \"x\" }\nfor _ in 1 to 3 {\n  let r = agent_loop(\"go\", nil, {llm_caller: caller, reminders: {packs: \
         [\"pack.rhai\"]}})\n  println(transcript.reminders(r.transcript).map({ m -> m.body }))\n}\n",
        "[1]\n[2]\n[3]\n",
    ),
    (
        "a provider of a pack is turned off by its id",
        "let r = agent_loop(\"go\", nil, {llm_caller: { a -> \"x\" }, reminders: {packs: [\"pack.rhai\"], providers: \
         [\"-mine\"]}})\nprintln(transcript.reminders(r.transcript).count)\n",
        "0\n",
    ),
    (
        "it is fired by hand",
        "let id = agent_session_open(\"s\")\nlet fired = agent_reminder_providers_fire(id, \"post_turn\", {}, {reminders: {packs: \
         [\"pack.rhai\"]}})\nprintln(fired.reports.map({ r -> r.provider }))\n",
        "[mine]\n",
    ),
    (
        "a sub-agent has those of its own options",
        "let r = sub_agent_run(\"go\", {llm_caller: { a -> \"x\" }, reminders: {packs: [\"pack.rhai\"]}})\nprintln(r.status)\n\
         let on = agent_loop(\"go\", nil, {llm_caller: { a -> \"x\" }, reminders: {packs: [\"pack.rhai\"]}})\n\
         println(transcript.reminders(on.transcript).map({ m -> m.body }))\n",
        "done\n[2]\n",
    ),
    (
        "a pack that is not there keeps the loop from starting, and says so where it is named",
        "let file = \"gone.rhai\"\nlet r = try { agent_loop(\"go\", nil, {llm_caller: { a -> println(\"asked\") }, reminders: {packs: \
         [file + \"\"]}}) }\nprintln(unwrap_err(r).code)\n",
        "HARN-PCK-001\n",
    ),
    (
        "a script cannot take the id of a pack's provider",
        "let r = try { agent_loop(\"go\", nil, {llm_caller: { a -> \"x\" }, reminders: {packs: [\"pack\" + \".rhai\"]}}) }\n\
         register_reminder_provider({id: \"mine\", subscribes_to: [\"post_turn\"], evaluate: { c -> nil }})\n\
         let s = try { agent_loop(\"go\", nil, {llm_caller: { a -> \"x\" }, reminders: {packs: [\"pack\" + \".rhai\"]}}) }\n\
         println(\"${is_ok(r)} ${unwrap_err(s).code}\")\n",
        "true HARN-PCK-003\n",
    ),
];

#[test]
fn packs_are_providers_like_others() {
    let pack = "let asked = 0;\nregister_reminder_provider(#{id: \"mine\", subscribes_to: [\"post_turn\"], evaluate: |ctx| { asked += 1; \
                #{body: \"\" + asked, ttl_turns: 9} }});\n";
    for (what, script, printed) in SCRIPTS {
        let dir = project("packs-options", "", pack, script);
        let outcome = harn(&["run", "--seed", "1", dir.join("main.harn").to_str().unwrap()]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), *printed), "{what}: {}", outcome.err);
    }
}

#[test]
fn a_pack_does_not_decide_that_a_model_is_asked() {
    let judge = "\"b\", expect: #{judge: \"Did it?\", provider: \"mock\"}";
    let dir = project("packs-judge", "[providers]\npacks = [\"pack.rhai\"]\n", &gives(judge), SHOWS);
    let outcome = harn(&["run", dir.join("main.harn").to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "[]\n"), "{}", outcome.err);
    assert!(outcome.err.contains("HARN-PCK-003") && outcome.err.contains("cannot set `expect`"), "{}", outcome.err);
}

#[test]
fn a_script_that_forgets_its_providers_keeps_those_of_the_run() {
    let script = format!("clear_reminder_providers()\n{SHOWS}");
    let dir = project("packs-clear", "[providers]\npacks = [\"pack.rhai\"]\n", &gives("\"kept\""), &script);
    let outcome = harn(&["run", dir.join("main.harn").to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "[kept]\n"), "{}", outcome.err);
}

#[test]
fn literal_options_are_checked_with_the_packs_that_they_name() {
    let script = "agent_loop(\"go\", nil, {provider: \"mock\", reminders: {packs: [\"pack.rhai\"]}})\n";
    for (pack, code) in [("let f = || 1;\n", "HARN-PCK-003"), ("fn (", "HARN-PCK-001"), (&*gives("\"x\""), "")] {
        let dir = project("packs-literal", "", pack, script);
        let outcome = harn(&["check", dir.join("main.harn").to_str().unwrap()]);
        assert_eq!(outcome.code, Some(i32::from(!code.is_empty())), "{pack}: {}", outcome.err);
        assert!(outcome.err.contains(code), "{pack}: {}", outcome.err);
    }
}
