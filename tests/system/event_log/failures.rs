//! A log that cannot be opened or written.

use super::*;

const EMIT: &str = "println(event_log.emit(\"a\", \"x\"))\n";
const REMINDER: &str = "transcript.inject_reminder(transcript(), {body: \"Test first.\", ttl_turns: 1})\n";

fn refused(name: &str, make: impl FnOnce(&Project), code: &str, says: &str) {
    let project = Project::new(name);
    make(&project);
    let before = fs::read(project.path("events.db")).ok();
    let outcome = project.run(EMIT);
    failed(&outcome, code, says);
    assert_eq!(outcome.out, "", "nothing is run");
    assert_eq!(fs::read(project.path("events.db")).ok(), before, "nothing is changed");
}

#[test]
fn a_path_that_is_a_folder_is_refused() {
    refused("folder", |project| fs::create_dir(project.path("events.db")).unwrap(), "HARN-LOG-002", "it is a folder");
}

#[test]
fn a_path_in_a_folder_that_is_not_there_is_refused() {
    let project = Project::new("no-folder");
    let home = format!("sqlite:{}/no/events.db", project.0.display());
    failed(&project.run_with(EMIT, &["--event-log", &home], &[]), "HARN-LOG-002", "does not exist");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_may_only_be_read_is_refused() {
    // Not even an administrator may make a file in there.
    let outcome = Project::new("read-only").run_with(EMIT, &["--event-log", "sqlite:/proc/events.db"], &[]);
    failed(&outcome, "HARN-LOG-002", "unable to open");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_only_be_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new("read-only-file");
    printed(project.run(EMIT));
    fs::set_permissions(project.path("events.db"), fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().append(true).open(project.path("events.db")).is_ok() {
        // An administrator may write to it, and so may the run.
        assert_eq!(printed(project.run(EMIT)), "2\n");
        return;
    }
    failed(&project.run(EMIT), "HARN-LOG-002", "it is read-only");
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let letter = |project: &Project| fs::write(project.path("events.db"), "Dear reader,\n".repeat(100)).unwrap();
    refused("letter", letter, "HARN-LOG-003", "it is not a SQLite database");
}

#[test]
fn a_database_of_another_application_is_refused() {
    let other = |project: &Project| project.sqlite().execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    refused("other", other, "HARN-LOG-003", "a SQLite database with other tables");
}

#[test]
fn a_log_of_a_later_version_is_refused() {
    let later = |project: &Project| {
        printed(project.run(EMIT));
        project.sqlite().execute_batch("PRAGMA user_version = 7").unwrap();
    };
    refused("later", later, "HARN-LOG-004", "has layout 7; this version supports layouts up to 3");
}

#[test]
fn a_locked_file_is_waited_for_and_then_said_to_be_locked() {
    let project = Project::saying("locked", "lock_timeout = \"100ms\"");
    printed(project.run(EMIT));
    let holder = project.sqlite();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    failed(&project.run(EMIT), "HARN-LOG-005", "locked by another process for more than 100 ms");
    // Only the end of the run waits for this record.
    let outcome = project.run(&(REMINDER.to_owned() + "println(\"done\")\n"));
    assert_eq!(outcome.out, "done\n");
    failed(&outcome, "HARN-LOG-005", "locked by another process");
    let caught = "println(try { event_log.emit(\"a\", \"x\") } catch (e) { e.code })\n";
    assert_eq!(printed(project.run(caught)), "HARN-LOG-005\n");
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(printed(project.run(EMIT)), "2\n", "what was refused was not written");
}

#[test]
fn a_file_that_may_grow_no_more_fails_loudly_and_keeps_what_was_written() {
    let project = Project::saying("full", "max_file = \"256 KiB\"");
    let script = "
let body = \"x\".repeat(1000)
var last = 0
while true {
  let id = try { event_log.emit(\"a\", \"x\", {body: body}) } catch (e) { println(e.code, e.message); break }
  last = id
}
println(last)
";
    let outcome = project.run(script);
    let printed: Vec<&str> = outcome.out.lines().collect();
    assert!(printed[0].starts_with("HARN-LOG-006 ") && printed[0].contains("the disk is full"), "{printed:?}");
    assert_eq!(outcome.code, Some(0), "the script has heard of it: {}", outcome.err);
    let last: usize = printed[1].parse().unwrap();
    assert!(last > 50, "{last}");
    assert_eq!(project.records().len(), last);
    // Records that no call waits for make the end of the run fail.
    failed(&project.run(&REMINDER.repeat(200)), "HARN-LOG-006", "the disk is full");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_takes_no_more_bytes_fails_loudly_and_keeps_what_was_written() {
    let project = Project::new("disk");
    let script = "
let body = \"x\".repeat(1000)
for i in range(100000) { println(event_log.emit(\"a\", \"x\", {body: body})) }
";
    let line = format!(
        "trap '' XFSZ; ulimit -f 1000; exec '{}' run --event-log '{}' '{}'",
        env!("CARGO_BIN_EXE_harn"),
        project.home(),
        project.script(script)
    );
    let ran = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    let err = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{err}");
    assert!(err.contains("error[HARN-LOG-006]"), "{err}");
    let acknowledged = String::from_utf8(ran.stdout).unwrap().lines().count();
    assert!(acknowledged > 10, "{acknowledged}");
    assert_eq!(project.records().len(), acknowledged);
}

#[test]
fn a_log_that_is_deleted_while_it_is_written_ends_there_and_says_so() {
    let project = Project::new("gone");
    let delete = format!("exec(\"rm\", \"{}\")\n", project.path("events.db").display());
    failed(&project.run(&format!("{EMIT}{delete}{EMIT}")), "HARN-LOG-007", "was deleted or replaced");
    let outcome = project.run(&format!("{EMIT}{delete}{REMINDER}println(\"done\")\n"));
    assert_eq!(outcome.out, "1\ndone\n");
    failed(&outcome, "HARN-LOG-007", "1 records could not be written to the event log and are lost");
}

#[test]
fn a_damaged_file_is_said_to_be_damaged() {
    let project = Project::new("damaged");
    printed(project.run(EMIT));
    project.sqlite().execute("UPDATE records SET payload = '{'", []).unwrap();
    failed(&project.run("event_log.read(\"a\")\n"), "HARN-LOG-009", "the record with the cursor 1 cannot be read");
}

#[test]
fn a_record_that_is_too_large_is_refused_and_the_log_goes_on() {
    let project = Project::new("large");
    let script = "
let large = \"x\".repeat(64 * 1024 * 1024)
println(try { event_log.emit(\"a\", \"x\", large) } catch (e) { e.code })
println(event_log.emit(\"a\", \"x\"))
";
    for outcome in [project.run(script), project.run_with(script, &[], &[])] {
        assert_eq!(printed(outcome), "HARN-LOG-010\n1\n");
    }
}
