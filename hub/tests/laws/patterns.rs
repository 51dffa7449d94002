//! The five patterns on the state machine.

use hub::broker::{Command, ErrorKind};
use hub::proto::a2a::TaskState;
use hub::proto::worker::RejectionReason;

use crate::common::{Bench, PublishExt, fails, message};

#[test]
fn broadcast_makes_a_copy_with_its_own_status_for_each_matching_agent() {
    let mut bench = Bench::with(&["boss"]);
    bench.register("a", &["text"]);
    bench.register("b", &["text", "audio"]);
    bench.register("c", &["audio"]);
    bench.publish(message("t", "boss", "").tags(&["text"])).unwrap();
    assert_eq!(bench.broker.task("t").unwrap().copies, ["t.a", "t.b"]);
    assert_eq!(bench.claim("c", ""), None);
    bench.status("a", "t.a", TaskState::Working).unwrap();
    assert_eq!((bench.state("t"), bench.state("t.b")), (TaskState::Working, TaskState::Submitted));
    bench.status("a", "t.a", TaskState::Completed).unwrap();
    assert_eq!(bench.state("t"), TaskState::Working);
    bench.status("b", "t.b", TaskState::Working).unwrap();
    bench.status("b", "t.b", TaskState::Completed).unwrap();
    assert_eq!(bench.state("t"), TaskState::Completed);
    assert_eq!(bench.text("t"), "2 completed, 0 failed, 0 cancelled, 0 rejected of 2 copies");
    let metadata = bench.task("t.a").metadata.unwrap();
    assert!(format!("{metadata:?}").contains("parent_task_id"));
}

#[test]
fn a_message_to_a_broadcast_task_reaches_its_open_copies() {
    let mut bench = Bench::with(&["boss", "a", "b"]);
    bench.publish(message("t", "boss", "")).unwrap();
    bench.status("a", "t.a", TaskState::Working).unwrap();
    bench.status("a", "t.a", TaskState::Completed).unwrap();
    let mut more = message("t", "boss", "");
    more.message.message_id = "more".to_owned();
    bench.publish(more.clone()).unwrap();
    // The parent also has the notice that a copy is at work.
    let lengths = |bench: &Bench| ["t", "t.a", "t.b"].map(|id| bench.task(id).history.len());
    assert_eq!(lengths(&bench), [3, 1, 2]);
    let copy = bench.task("t.b").history.pop().unwrap();
    assert_eq!((copy.task_id.as_str(), copy.message_id.as_str()), ("t.b", "more"));
    // A repeated message changes nothing, and a replay has the same result.
    bench.publish(more).unwrap();
    assert_eq!(lengths(&bench), [3, 1, 2]);
    assert_eq!(bench.replayed().task("t.b").unwrap().task.history.len(), 2);
    // A copy without room refuses the message for all of them.
    let mut large = message("t", "boss", "");
    large.message.content = vec![crate::common::text_part(&"x".repeat(17 << 20))];
    fails(bench.publish(large), ErrorKind::ResourceExhausted, "larger than");
    assert_eq!(lengths(&bench), [3, 1, 2]);
}

#[test]
fn broadcast_without_tags_goes_to_all_others_and_failures_are_not_hidden() {
    let mut bench = Bench::with(&["boss", "a", "b", "c"]);
    bench.publish(message("t", "boss", "")).unwrap();
    assert_eq!(bench.broker.task("t").unwrap().copies.len(), 3);
    bench.reject("a", "t.a", RejectionReason::CapacityExceeded).unwrap();
    assert_eq!(bench.state("t"), TaskState::Submitted);
    for (agent, state) in [("b", TaskState::Completed), ("c", TaskState::Failed)] {
        bench.status(agent, &format!("t.{agent}"), TaskState::Working).unwrap();
        bench.status(agent, &format!("t.{agent}"), state).unwrap();
    }
    assert_eq!((bench.state("t"), bench.text("t").contains("1 failed")), (TaskState::Failed, true));
    // All reject.
    bench.publish(message("u", "boss", "")).unwrap();
    for agent in ["a", "b", "c"] {
        bench.reject(agent, &format!("u.{agent}"), RejectionReason::UnsupportedTaskType).unwrap();
    }
    assert_eq!(bench.state("u"), TaskState::Rejected);
    // A cancelled parent cancels its copies.
    bench.publish(message("v", "boss", "")).unwrap();
    bench.run(Command::Cancel { task_id: "v".to_owned(), reason: "enough".to_owned() }).unwrap();
    for id in ["v", "v.a", "v.b", "v.c"] {
        assert_eq!((bench.state(id), bench.text(id).as_str()), (TaskState::Cancelled, "cancelled: enough"));
    }
}

#[test]
fn request_response_with_a_question() {
    let mut bench = Bench::with(&["boss", "w"]);
    bench.send("t", "w");
    let claimed = bench.claim("w", "").unwrap();
    bench.leased("w", "t", TaskState::Working, &claimed.lease_id).unwrap();
    bench.leased("w", "t", TaskState::InputRequired, &claimed.lease_id).unwrap();
    // The lease does not end while the requester thinks.
    bench.advance(600_000);
    assert_eq!(bench.state("t"), TaskState::InputRequired);
    bench.send("t", "w");
    bench.leased("w", "t", TaskState::Working, &claimed.lease_id).unwrap();
    bench.leased("w", "t", TaskState::Completed, &claimed.lease_id).unwrap();
    assert_eq!(bench.task("t").history.len(), 2);
    fails(bench.publish(message("t", "boss", "w")), ErrorKind::FailedPrecondition, "COMPLETED");
}

#[test]
fn a_message_with_a_known_task_is_appended_and_its_context_must_match() {
    let mut bench = Bench::with(&["boss", "w"]);
    bench.publish(message("t", "boss", "w").context("c")).unwrap();
    bench.publish(message("t", "w", "boss")).unwrap();
    assert_eq!(bench.task("t").history[1].context_id, "c");
    fails(bench.publish(message("t", "boss", "w").context("d")), ErrorKind::InvalidArgument, "another context");
}
