//! The locations of the log.

use super::*;

const TWO: &str = "println(event_log.emit(\"a\", \"x\"), event_log.emit(\"a\", \"x\"), event_log.latest(\"a\"))\n";

#[test]
fn a_file_keeps_the_log_from_run_to_run() {
    let project = Project::new("kept");
    assert_eq!(printed(project.run(TWO)), "1 2 2\n");
    assert_eq!(printed(project.run(TWO)), "3 4 4\n");
    let files: Vec<_> = fs::read_dir(&project.0).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files.len(), 2, "nothing is left beside the script and the log: {files:?}");
}

#[test]
fn without_a_word_the_log_is_in_memory() {
    let project = Project::new("memory");
    for options in [&[][..], &["--event-log", "memory"][..]] {
        assert_eq!(printed(project.run_with(TWO, options, &[])), "1 2 2\n");
    }
    assert_eq!(fs::read_dir(&project.0).unwrap().count(), 1);
}

#[test]
fn the_option_goes_before_the_environment_and_that_before_the_file_of_the_project() {
    let project = Project::saying("precedence", "home = \"sqlite:of-the-file.db\"");
    let [option, environment] = ["option.db", "environment.db"].map(|name| project.path(name));
    let [option, environment] = [option, environment].map(|path| format!("sqlite:{}", path.display()));
    let there = || ["option.db", "environment.db", "of-the-file.db"].map(|name| project.path(name).exists());
    printed(project.run_with(TWO, &["--event-log", &option], &[("HARN_EVENT_LOG", &environment)]));
    assert_eq!(there(), [true, false, false]);
    printed(project.run_with(TWO, &[], &[("HARN_EVENT_LOG", &environment)]));
    assert_eq!(there(), [true, true, false]);
    // Commands are run at the root of the repository: the path is one from the folder of `harn.toml`.
    printed(project.run_with(TWO, &[], &[]));
    assert_eq!(there(), [true, true, true]);
    printed(project.run_with(TWO, &["--event-log", "memory"], &[("HARN_EVENT_LOG", "rubbish://")]));
}

#[test]
fn a_name_that_is_no_home_is_refused_before_anything_runs() {
    let project = Project::new("no-home");
    for (name, says) in [
        ("nats://localhost/events", "planned but not implemented"),
        ("sqlit:events.db", "did you mean `sqlite:PATH`?"),
        ("sqlite:", "needs the path of a file"),
        ("postgres://x", "unknown event log backend `postgres`"),
    ] {
        let outcome = project.run_with(TWO, &["--event-log", name], &[]);
        failed(&outcome, "HARN-LOG-001", says);
        assert_eq!(outcome.out, "");
        failed(&project.run_with(TWO, &[], &[("HARN_EVENT_LOG", name)]), "HARN-LOG-001", says);
    }
}

#[test]
fn a_session_of_statements_has_a_log_as_well() {
    let project = Project::new("repl");
    let typed = b"event_log.emit(\"a\", \"x\")\nevent_log.emit(\"a\", \"x\")\n";
    let outcome = harn_with_input(&["repl", "--event-log", &project.home()], typed, &[]);
    assert_eq!(printed(outcome), "1\n2\n");
    assert_eq!(project.records().len(), 2);
}

/// Reminders are logged without anybody who waits for them.
const REMINDER: &str = "transcript.inject_reminder(transcript(), {body: \"Test first.\", ttl_turns: 1})\n";

#[test]
fn what_was_logged_is_written_however_the_run_ends() {
    for (name, end, code) in [
        ("end", "", 0),
        ("exit", "exit(3)\n", 3),
        ("error", "println(1 / 0)\n", 1),
        ("thrown", "throw \"enough\"\n", 1),
        ("fuel", "while true { }\n", 3),
    ] {
        let project = Project::new(name);
        let home = project.home();
        let script = REMINDER.repeat(50) + end;
        let outcome = project.run_with(&script, &["--event-log", &home, "--fuel", "100000"], &[]);
        assert_eq!(outcome.code, Some(code), "{name}: {}", outcome.err);
        assert_eq!(project.records().len(), 50, "{name}");
    }
}

#[test]
fn a_loop_writes_its_records_to_the_file() {
    let project = Project::new("loop");
    let script = format!("{REMINDER}agent_loop(\"hello\", nil, {{provider: \"mock\"}})\n");
    printed(project.run(&script));
    let kinds: Vec<String> = project.records().iter().map(|record| record.kind.to_string()).collect();
    assert_eq!(kinds[0], "transcript.reminder.injected");
    assert!(kinds.iter().any(|kind| kind == "transcript.reminder.provider_evaluated"), "{kinds:?}");
}

#[test]
fn times_may_jump_back_and_the_order_stays() {
    let project = Project::new("clock");
    let script = "
for at in [3000, 1000, 2000] {
  mock_time(at)
  event_log.emit(\"a\", \"x\", {at: at})
}
for record in event_log.read(\"a\") { println(record.id, record.occurred_at_ms) }
";
    for outcome in [project.run(script), project.run_with(script, &[], &[])] {
        assert_eq!(printed(outcome), "1 3000\n2 1000\n3 2000\n");
    }
}
