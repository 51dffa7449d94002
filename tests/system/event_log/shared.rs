//! Processes that share a file, and readers that are slow.

use super::*;
use std::thread;

#[test]
fn processes_that_write_at_the_same_time_give_no_id_twice_and_leave_none_out() {
    let project = Project::new("processes");
    let script = "
fn work(task) {
  for i in range(100) { event_log.emit(if i % 2 == 0 { \"even\" } else { \"odd\" }, \"x\", {i: i}) }
}
parallel 4 { task -> work(task) }
";
    let (script, home) = (project.script(script), project.home());
    let runs: Vec<_> = (0..3)
        .map(|_| {
            let args = ["run".to_owned(), "--event-log".to_owned(), home.clone(), script.clone()];
            thread::spawn(move || printed(harn_with_input(&args, b"", &[])))
        })
        .collect();
    runs.into_iter().for_each(|run| assert_eq!(run.join().unwrap(), ""));
    let records = project.records();
    assert_eq!(records.len(), 1200);
    assert!(records.iter().zip(1..).all(|(record, cursor)| record.cursor == cursor));
    for topic in ["even", "odd"] {
        let of_topic = records.iter().filter(|record| record.topic.as_ref() == topic);
        assert!(of_topic.zip(1..).all(|(record, id)| record.id == id), "{topic}");
    }
}

#[test]
fn a_subscriber_gets_history_and_then_what_another_process_writes() {
    let project = Project::new("subscriber");
    let (writer, reader) = (project.path("writer.harn"), project.path("reader.harn"));
    fs::write(&writer, "for i in range(300) { event_log.emit(\"news\", \"x\", {i: i}) }\n").unwrap();
    fs::write(
        &reader,
        "
let stream = event_log.subscribe(\"news\")
for expected in range(900) {
  let record = stream.next().value
  if record.id != expected + 1 { throw \"got ${record.id} in the place of ${expected + 1}\" }
}
println(\"all\")
",
    )
    .unwrap();
    let home = project.home();
    let run = |script: &PathBuf| {
        let args = ["run", "--event-log", &home, script.to_str().unwrap()].map(str::to_owned);
        thread::spawn(move || printed(harn_with_input(&args, b"", &[])))
    };
    assert_eq!(run(&writer).join().unwrap(), "");
    let reading = run(&reader);
    let writing = [run(&writer), run(&writer)];
    writing.into_iter().for_each(|run| assert_eq!(run.join().unwrap(), ""));
    assert_eq!(reading.join().unwrap(), "all\n");
}

const SLOW: &str = "
let stream = event_log.subscribe(\"a\")
for i in range(100) { event_log.emit(\"a\", \"x\") }
let first = try {
  stream.next().value.id
} catch (e) {
  \"${e.code}: ${e.lost} lost, go on from ${e.resume_from}; then ${stream.next().value.id}\"
}
println(first)
event_log.read({topic: \"a\", from_cursor: 5})
";

#[test]
fn a_reader_that_is_too_slow_for_a_log_in_memory_gets_an_error_and_no_gap() {
    let project = Project::saying("slow", "keep_records = 32");
    let outcome = project.run_with(SLOW, &[], &[]);
    assert_eq!(outcome.out, "HARN-LOG-008: 68 lost, go on from 68; then 69\n");
    failed(&outcome, "HARN-LOG-008", "continue with `from_cursor: 68`");
}

#[test]
fn a_reader_of_a_file_is_never_too_slow() {
    let project = Project::saying("patient", "keep_records = 32");
    assert_eq!(printed(project.run(SLOW)), "1\n");
}

#[test]
fn a_reader_whose_records_were_deleted_from_the_file_gets_an_error() {
    let project = Project::new("deleted-rows");
    printed(project.run("for i in range(10) { event_log.emit(\"a\", \"x\") }\n"));
    project.sqlite().execute("DELETE FROM records WHERE cursor <= 6", []).unwrap();
    let outcome = project.run("println(len(event_log.read(\"a\")))\nevent_log.read({from_cursor: 2})\n");
    assert_eq!(outcome.out, "4\n");
    failed(&outcome, "HARN-LOG-008", "4 records after cursor 2 are no longer in the event log");
}
