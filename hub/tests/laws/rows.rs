//! The rows that the state machine alone decides.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hub::broker::{
    BrokerOptions, Caller, Claim, Command, ErrorKind, Finish, ListTasks, Progress, PutArtifact, RecentTasks, Register,
    Reject, Renew, Reply, UpdateStatus,
};
use hub::proto::a2a::{AgentCard, Artifact, Message, TaskState};
use hub::proto::agenthub::{AgentEventMetadata, TaskArtifactUpdateEvent};
use hub::proto::worker::RejectionReason;
use prost_types::{Struct, Timestamp, Value, value::Kind};

use crate::common::{Bench, PublishExt, START, fails, message, published, status, text_of, text_part};

fn at(ms: u64) -> String {
    jiff::Timestamp::from_millisecond(i64::try_from(ms).unwrap()).unwrap().to_string()
}

#[test]
fn priority_is_weighted_8_4_2_1_and_critical_is_first() {
    let mut bench = Bench::new(BrokerOptions::default());
    for number in 0..400 {
        bench.publish(message(&format!("t{number}"), "boss", "").with("queue", "q").priority(number % 4 + 1)).unwrap();
    }
    let order: Vec<i32> = (0..150).map(|_| bench.claim("w", "q").unwrap().routing.priority).collect();
    assert_eq!(order[0], 4);
    let count = |wanted| order.iter().filter(|priority| **priority == wanted).count();
    assert_eq!([1, 2, 3, 4].map(count), [10, 20, 40, 80]);
}

#[test]
fn priority_unspecified_is_medium_and_low_does_not_starve() {
    let mut bench = Bench::new(BrokerOptions { ageing_ms: 1_000, ..BrokerOptions::default() });
    bench.publish(message("low", "boss", "").with("queue", "q").priority(1)).unwrap();
    bench.advance(3_000);
    for number in 0..100 {
        bench.publish(message(&format!("c{number}"), "boss", "").with("queue", "q").priority(4)).unwrap();
    }
    bench.publish(message("medium", "boss", "").with("queue", "q")).unwrap();
    let depths = bench.broker.stats().queues[0].depths;
    assert_eq!(depths, [1, 1, 0, 100]);
    let place = (0..102).position(|_| {
        bench.now_ms += 1_000;
        bench.claim("w", "q").unwrap().task.id == "low"
    });
    assert!(place.unwrap() <= 5, "{place:?}");
}

#[test]
fn competition_has_one_winner_with_a_lease_of_30_s() {
    let mut bench = Bench::with(&["w1", "w2"]);
    bench.queue("t", "q");
    let first = bench.claim("w1", "q").unwrap();
    assert_eq!((first.attempt, first.max_attempts, first.lease_until_ms), (1, 3, START + 30_000));
    assert_eq!(bench.claim("w2", "q"), None);
    fails(bench.status("w2", "t", TaskState::Working), ErrorKind::FailedPrecondition, "another worker");
    bench.leased("w1", "t", TaskState::Working, &first.lease_id).unwrap();
    bench.leased("w1", "t", TaskState::Completed, &first.lease_id).unwrap();
    assert_eq!(bench.state("t"), TaskState::Completed);
}

#[test]
fn competition_by_publishing_working_has_one_winner() {
    let mut bench = Bench::new(BrokerOptions::default());
    bench.register("w1", &["q"]);
    bench.register("w2", &["q"]);
    bench.queue("t", "q");
    bench.status("w1", "t", TaskState::Working).unwrap();
    fails(bench.status("w2", "t", TaskState::Working), ErrorKind::FailedPrecondition, "another worker");
    assert_eq!(bench.claim("w2", "q"), None);
    // It named no lease, so none ends.
    bench.advance(3_600_000);
    bench.status("w1", "t", TaskState::Completed).unwrap();
    assert_eq!(bench.broker.task("t").unwrap().attempt, 1);
}

#[test]
fn a_lost_worker_returns_the_task_with_the_next_attempt_until_it_is_a_dead_letter() {
    let mut bench = Bench::with(&[]);
    bench.queue("t", "q");
    for attempt in 1..=3 {
        let claimed = bench.claim("w", "q").unwrap();
        assert_eq!(claimed.attempt, attempt);
        bench.advance(29_999);
        assert_eq!(bench.claim("w", "q"), None);
        bench.advance(1);
    }
    assert_eq!(bench.state("t"), TaskState::Failed);
    assert_eq!(bench.text("t"), "dead letter after 3 attempts: worker `w` lost: its lease expired");
    let page = bench.broker.dead_letters("q", 0, "").unwrap();
    assert_eq!(page.dead_letters.len(), 1);
    assert_eq!((page.dead_letters[0].attempts, page.dead_letters[0].queue.as_str()), (3, "q"));
    assert!(page.dead_letters[0].reason.contains("its lease expired"));
    assert_eq!(bench.broker.dead_letters("other", 0, "").unwrap().dead_letters, []);
    assert_eq!(bench.broker.stats().dead_letters, 1);
}

#[test]
fn a_stale_lease_is_aborted_and_changes_nothing() {
    let mut bench = Bench::with(&[]);
    bench.queue("t", "q");
    let first = bench.claim("w", "q").unwrap();
    bench.leased("w", "t", TaskState::Working, &first.lease_id).unwrap();
    bench.advance(30_000);
    fails(bench.leased("w", "t", TaskState::Completed, &first.lease_id), ErrorKind::Aborted, "lease");
    // The same worker again: its id alone would not tell the attempts apart.
    let second = bench.claim("w", "q").unwrap();
    assert_ne!(first.lease_id, second.lease_id);
    fails(bench.leased("w", "t", TaskState::Working, &first.lease_id), ErrorKind::Aborted, "attempt 2 of 3");
    let renew = |lease: &str| {
        let (agent_id, task_id, lease) = ("w".to_owned(), "t".to_owned(), Some(lease.to_owned()));
        Command::Renew(Renew { agent_id, task_id, lease, duration: Some(Duration::from_secs(60)) })
    };
    fails(bench.run(renew(&first.lease_id)), ErrorKind::Aborted, "lease");
    assert_eq!(bench.run(renew(&second.lease_id)), Ok(Reply::Renewed(bench.now_ms + 60_000)));
    bench.leased("w", "t", TaskState::Working, &second.lease_id).unwrap();
    bench.leased("w", "t", TaskState::Completed, &second.lease_id).unwrap();
}

#[test]
fn progress_renews_the_lease_and_a_new_attempt_gets_the_last_resume_token() {
    let mut bench = Bench::with(&[]);
    bench.queue("t", "q");
    let first = bench.claim("w1", "q").unwrap();
    assert_eq!(first.resume_token, "");
    bench.status("w1", "t", TaskState::Working).unwrap();
    bench.advance(20_000);
    bench.progress("w1", "t", 0.25, "page-1").unwrap();
    bench.advance(20_000);
    bench.progress("w1", "t", 0.5, "page-2").unwrap();
    bench.progress("w1", "t", 0.6, "").unwrap();
    assert_eq!(bench.text("t"), "60 % done");
    fails(bench.progress("w1", "t", 1.5, ""), ErrorKind::InvalidArgument, "portion");
    fails(bench.progress("w2", "t", 0.5, ""), ErrorKind::FailedPrecondition, "another worker");
    bench.advance(29_999);
    assert_eq!(bench.state("t"), TaskState::Working);
    bench.advance(1);
    let second = bench.claim("w2", "q").unwrap();
    assert_eq!((second.attempt, second.resume_token.as_str()), (2, "page-2"));
    fails(bench.progress("w1", "t", 0.7, "page-3"), ErrorKind::FailedPrecondition, "another worker");
}

#[test]
fn an_unknown_task_in_an_update_is_not_found() {
    let mut bench = Bench::with(&["w"]);
    fails(bench.status("w", "missing", TaskState::Working), ErrorKind::NotFound, "task not found: `missing`");
    fails(bench.artifact("w", "missing", "a", &["x"], false), ErrorKind::NotFound, "missing");
    fails(bench.progress("w", "missing", 0.1, ""), ErrorKind::NotFound, "missing");
    let cancel = Command::Cancel { task_id: "missing".to_owned(), reason: String::new() };
    fails(bench.run(cancel), ErrorKind::NotFound, "missing");
    fails(bench.broker.task_with_history("missing", 0), ErrorKind::NotFound, "missing");
    fails(bench.publish(message("t", "boss", "stranger")), ErrorKind::NotFound, "agent not found: `stranger`");
}

#[test]
fn history_length_is_honoured() {
    let mut bench = Bench::with(&["w"]);
    bench.send("t", "w");
    for text in ["second", "third"] {
        let mut publish = message("t", "boss", "w");
        publish.message.content = vec![text_part(text)];
        bench.publish(publish).unwrap();
    }
    let texts = |length| {
        let task = bench.broker.task_with_history("t", length).unwrap();
        task.history.iter().map(text_of).collect::<Vec<_>>()
    };
    assert_eq!(texts(0), ["work", "second", "third"]);
    assert_eq!(texts(2), ["second", "third"]);
    assert_eq!(texts(9), ["work", "second", "third"]);
    fails(bench.broker.task_with_history("t", -1), ErrorKind::InvalidArgument, "history_length");
}

#[test]
fn paging_is_opaque_and_stable() {
    let mut bench = Bench::with(&["w", "other"]);
    (0..7).for_each(|number| bench.send(&format!("t{number}"), if number == 3 { "other" } else { "w" }));
    let mut request = ListTasks { agent_id: "w".to_owned(), page_size: 2, ..ListTasks::default() };
    let mut seen = Vec::new();
    loop {
        let page = bench.broker.list(&request).unwrap();
        assert!(page.tasks.len() <= 2);
        seen.extend(page.tasks.into_iter().map(|task| task.id));
        // Neither a new task nor a finished one moves the next page.
        bench.send(&format!("new{}", seen.len()), "other");
        bench.run(Command::Cancel { task_id: "t0".to_owned(), reason: String::new() }).ok();
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    assert_eq!(seen, ["t0", "t1", "t2", "t4", "t5", "t6"]);
    let first = bench.broker.list(&ListTasks { page_size: 2, ..ListTasks::default() }).unwrap();
    let other = ListTasks { context_id: "c".to_owned(), page_token: first.next_page_token, ..ListTasks::default() };
    fails(bench.broker.list(&other), ErrorKind::InvalidArgument, "another filter");
    let invalid = ListTasks { page_token: "2".to_owned(), ..ListTasks::default() };
    fails(bench.broker.list(&invalid), ErrorKind::InvalidArgument, "page_token");
    let states = ListTasks { states: vec![TaskState::Cancelled], ..ListTasks::default() };
    assert_eq!(bench.broker.list(&states).unwrap().tasks.len(), 1);
}

#[test]
fn a_message_id_is_the_dedupe_key_for_24_hours() {
    let mut bench = Bench::with(&["w"]);
    let first = bench.publish(message("t", "boss", "w").id("m1")).unwrap();
    let again = bench.publish(message("t", "boss", "w").id("m1")).unwrap();
    assert_eq!(first, again);
    assert_eq!(bench.task("t").history.len(), 1);
    // Another sender has its own ids.
    assert_ne!(bench.publish(message("t", "w", "boss").id("m1")).map_err(|error| error.kind), Ok(first.clone()));
    bench.now_ms = START + 24 * 3_600_000 - 1;
    assert_eq!(bench.publish(message("t", "boss", "w").id("m1")).unwrap(), first);
    assert_eq!(bench.replayed().task_with_history("t", 0), bench.broker.task_with_history("t", 0));
    bench.now_ms += 1;
    assert_ne!(bench.publish(message("t", "boss", "w").id("m1")).unwrap(), first);
    assert_eq!(bench.task("t").history.len(), 2);
}

#[test]
fn a_restart_keeps_the_result_of_a_reused_message_id() {
    const DAY: u64 = 24 * 3_600_000;
    let mut bench = Bench::new(BrokerOptions { max_dedupe: 2, ..BrokerOptions::default() });
    bench.register("w", &[]);
    let reused = || message("", "boss", "w").id("m");
    let first = bench.publish(reused()).unwrap();
    bench.now_ms = START + DAY;
    let other = bench.publish(message("", "boss", "w").id("other")).unwrap();
    let second = bench.publish(reused()).unwrap();
    assert_ne!(first, second);
    for dedupe_ms in [DAY, 2 * DAY - 2] {
        let mut restarted = Bench::new(BrokerOptions { dedupe_ms, ..bench.broker.options().clone() });
        bench.batches.iter().for_each(|batch| restarted.broker.replay(batch, |_| {}));
        restarted.now_ms = START + 2 * DAY - 1;
        assert_eq!(restarted.publish(reused()).unwrap(), second, "deduplicated for {dedupe_ms} ms");
        // The oldest result makes room, which is not that of the reused id.
        restarted.publish(message("", "boss", "w").id("third")).unwrap();
        assert_eq!(restarted.publish(reused()).unwrap(), second, "deduplicated for {dedupe_ms} ms");
        assert_ne!(restarted.publish(message("", "boss", "w").id("other")).unwrap(), other);
    }
}

#[test]
fn a_repeated_update_answers_with_the_first_result() {
    let mut bench = Bench::with(&["w"]);
    bench.send("t", "w");
    bench.status("w", "t", TaskState::Working).unwrap();
    let mut done = status("w", "t", TaskState::Completed, None);
    done.update.status.as_mut().unwrap().update = Some(Message { message_id: "done".to_owned(), ..Message::default() });
    let first = bench.run(Command::UpdateStatus(done.clone())).map(published).unwrap();
    assert_eq!(bench.run(Command::UpdateStatus(done)).map(published).unwrap(), first);
    fails(
        bench.status("w", "t", TaskState::Completed),
        ErrorKind::FailedPrecondition,
        "the task `t` cannot change from COMPLETED to COMPLETED",
    );
}

#[test]
fn the_kept_results_are_bounded() {
    let mut bench = Bench::new(BrokerOptions { max_dedupe: 2, ..BrokerOptions::default() });
    bench.register("w", &[]);
    for id in ["a", "b", "c"] {
        bench.publish(message("", "boss", "w").id(id)).unwrap();
    }
    assert_eq!(bench.broker.stats().receipts, 2);
}

#[test]
fn the_memory_of_the_kept_results_is_bounded() {
    let most = 64 << 10;
    let mut bench = Bench::new(BrokerOptions { dedupe_bytes: most, ..BrokerOptions::default() });
    bench.register("w", &[]);
    let publish = |bench: &mut Bench, id: u32| bench.publish(message("", "boss", "w").id(&format!("m{id}"))).unwrap();
    let first = publish(&mut bench, 0);
    (1..1_000).for_each(|id| drop(publish(&mut bench, id)));
    let last = publish(&mut bench, 1_000);
    let stats = bench.broker.stats();
    assert!((most * 3 / 4..=most).contains(&stats.receipt_bytes), "{stats:?}");
    assert!((50..500).contains(&stats.receipts), "{stats:?}");
    assert_eq!(publish(&mut bench, 1_000), last);
    assert_ne!(publish(&mut bench, 0), first, "the oldest is dropped first");
    let replayed = bench.replayed().stats();
    let now = bench.broker.stats();
    assert_eq!((replayed.receipts, replayed.receipt_bytes), (now.receipts, now.receipt_bytes));
    bench.advance(25 * 3_600_000);
    assert_eq!(bench.broker.stats().receipt_bytes, 0);
}

/// Completes tasks of a size, and returns the broker's bench after each is old enough to be dropped.
fn with_finished(options: BrokerOptions, ids: std::ops::Range<u32>, text: &str) -> Bench {
    let mut bench = Bench::new(options);
    bench.register("w", &[]);
    for id in ids.map(|id| format!("t{id}")) {
        bench.send(&id, "w");
        bench.status("w", &id, TaskState::Working).unwrap();
        bench.artifact("w", &id, "answer", &[text], false).unwrap();
        bench.status("w", &id, TaskState::Completed).unwrap();
    }
    bench
}

#[test]
fn the_memory_of_finished_tasks_is_bounded() {
    let most = 256 << 10;
    let mut bench = Bench::new(BrokerOptions { finished_bytes: most, ..BrokerOptions::default() });
    bench.register("w", &[]);
    for id in (0..200).map(|id| format!("t{id}")) {
        bench.send(&id, "w");
        bench.status("w", &id, TaskState::Working).unwrap();
        bench.artifact("w", &id, "answer", &[&"x".repeat(10 << 10)], false).unwrap();
        bench.status("w", &id, TaskState::Completed).unwrap();
        bench.advance(1_000);
    }
    let stats = bench.broker.stats();
    assert!((most / 2..=most).contains(&stats.finished_bytes), "{stats:?}");
    assert!((12..=24).contains(&bench.broker.tasks().count()));
    assert!(bench.broker.task("t0").is_none() && bench.broker.task("t199").is_some());
    assert_eq!(bench.replayed().stats().finished_bytes, stats.finished_bytes);
    bench.advance(8 * 24 * 3_600_000);
    assert_eq!(bench.broker.stats().finished_bytes, 0);
}

#[test]
fn small_finished_tasks_count_with_the_memory_that_they_take() {
    let bench = with_finished(BrokerOptions::default(), 0..100, "done");
    let bytes = bench.broker.stats().finished_bytes / 100;
    assert!((2_000..8_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_finished_task_is_kept_until_its_requester_has_read_it() {
    let (most, text) = (64 << 10, "x".repeat(10 << 10));
    let options = BrokerOptions { finished_bytes: most, ..BrokerOptions::default() };
    let mut bench = with_finished(options.clone(), 0..12, &text);
    bench.advance(9_999);
    assert_eq!(bench.broker.tasks().count(), 12, "beyond the limit for a moment");
    bench.advance(1);
    assert!((4..=6).contains(&bench.broker.tasks().count()));
    let mut bench = with_finished(options.clone(), 0..100, &text);
    bench.advance(1);
    let stats = bench.broker.stats();
    assert!(stats.finished_bytes <= 4 * most, "a flood is bounded at once: {stats:?}");
    // Not even the last one fits.
    let mut bench = with_finished(options, 0..2, &"x".repeat(1 << 20));
    bench.advance(1);
    assert!(bench.broker.task("t0").is_none() && bench.broker.task("t1").is_some());
    bench.advance(10_000);
    assert_eq!(bench.broker.tasks().count(), 0);
}

#[test]
fn deadlines_fail_the_task_and_both_sides_are_notified() {
    let mut bench = Bench::with(&["boss", "w"]);
    bench.publish(message("t", "boss", "w").with("deadline", &at(START + 5_000))).unwrap();
    bench.status("w", "t", TaskState::Working).unwrap();
    bench.events.clear();
    bench.advance(4_999);
    assert_eq!(bench.state("t"), TaskState::Working);
    bench.advance(1);
    assert_eq!((bench.state("t"), bench.text("t").as_str()), (TaskState::Failed, "deadline exceeded"));
    let audience = format!("{:?}", bench.events[0].audience);
    assert!(audience.contains("boss") && audience.contains("\"w\""), "{audience}");
    fails(bench.status("w", "t", TaskState::Completed), ErrorKind::FailedPrecondition, "from FAILED to COMPLETED");
    assert_eq!(bench.broker.stats().deadlines_exceeded, 1);
    // A task that nobody took fails too.
    bench.publish(message("idle", "boss", "").with("queue", "q").with("deadline", &at(START + 9_000))).unwrap();
    bench.advance(4_000);
    assert_eq!(bench.state("idle"), TaskState::Failed);
    assert_eq!(bench.claim("w", "q"), None);
    let invalid = message("x", "boss", "w").with("deadline", "tomorrow");
    fails(bench.publish(invalid), ErrorKind::InvalidArgument, "RFC 3339");
    fails(bench.publish(message("x", "boss", "w").with("deadline", &at(START))), ErrorKind::InvalidArgument, "past");
}

#[test]
fn an_estimate_beyond_the_deadline_is_deadline_impossible() {
    let mut bench = Bench::with(&[]);
    bench.publish(message("t", "boss", "").with("queue", "q").with("deadline", &at(START + 5_000))).unwrap();
    let claim = |ms| {
        let (agent_id, queue, estimate) = ("w".to_owned(), "q".to_owned(), Some(Duration::from_millis(ms)));
        Command::Claim(Claim { agent_id, queue, estimate, ..Claim::default() })
    };
    fails(bench.run(claim(5_001)), ErrorKind::DeadlineImpossible, "DEADLINE_IMPOSSIBLE");
    // A later deadline is possible.
    bench.publish(message("later", "boss", "").with("queue", "q").with("deadline", &at(START + 60_000))).unwrap();
    let Ok(Reply::Claimed(Some(claimed))) = bench.run(claim(5_001)) else { panic!("nothing claimed") };
    assert_eq!(claimed.task.id, "later");
    let Ok(Reply::Claimed(Some(claimed))) = bench.run(claim(5_000)) else { panic!("nothing claimed") };
    assert_eq!(claimed.task.id, "t");
}

#[test]
fn a_rejected_competitive_task_goes_to_the_next_candidate() {
    let mut bench = Bench::new(BrokerOptions::default());
    bench.register("w1", &["q"]);
    bench.register("w2", &["q"]);
    bench.queue("t", "q");
    assert_eq!(bench.claim("w1", "q").unwrap().attempt, 1);
    bench.reject("w1", "t", RejectionReason::CapacityExceeded).unwrap();
    assert_eq!(bench.state("t"), TaskState::Submitted);
    assert_eq!(bench.claim("w1", "q"), None);
    // A rejection is not an attempt.
    assert_eq!(bench.claim("w2", "q").unwrap().attempt, 1);
    bench.reject("w2", "t", RejectionReason::UnsupportedTaskType).unwrap();
    assert_eq!(bench.state("t"), TaskState::Rejected);
    let text = bench.text("t");
    assert!(text.contains("w1: CAPACITY_EXCEEDED: no") && text.contains("w2: UNSUPPORTED_TASK_TYPE"), "{text}");
    let message = bench.task("t").status.unwrap().update.unwrap();
    assert_eq!(rejection_data(&message), [("rejection_reason".to_owned(), "UNSUPPORTED_TASK_TYPE".to_owned())]);
}

/// The fields of the only data part of a message.
fn rejection_data(message: &Message) -> Vec<(String, String)> {
    let parts = message.content.iter().filter_map(|part| match &part.part {
        Some(hub::proto::a2a::part::Part::Data(data)) => data.data.as_ref(),
        _ => None,
    });
    let parts: Vec<&Struct> = parts.collect();
    assert_eq!(parts.len(), 1, "{message:?}");
    let text = |value: &Value| match &value.kind {
        Some(Kind::StringValue(text)) => text.clone(),
        other => panic!("{other:?}"),
    };
    parts[0].fields.iter().map(|(key, value)| (key.clone(), text(value))).collect()
}

#[test]
fn a_rejection_has_its_reason_in_a_data_part() {
    let mut bench = Bench::with(&["w"]);
    bench.send("t", "w");
    fails(bench.reject("w", "t", RejectionReason::Unspecified), ErrorKind::InvalidArgument, "reason");
    bench.reject("w", "t", RejectionReason::InvalidParameters).unwrap();
    assert_eq!(bench.state("t"), TaskState::Rejected);
    let message = bench.task("t").status.unwrap().update.unwrap();
    let named = |word: &str| Value { kind: Some(Kind::StringValue(word.to_owned())) };
    let expected = [("agent_id", "w"), ("rejection_reason", "INVALID_PARAMETERS"), ("text", "no")];
    assert_eq!(rejection_data(&message), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert_eq!(text_of(&message), "INVALID_PARAMETERS: no");
    // Published agents write FAILED with the reason in a data part.
    bench.send("u", "w");
    let data = Struct { fields: [("rejection_reason".to_owned(), named("CAPACITY_EXCEEDED"))].into() };
    let data = hub::proto::a2a::part::Part::Data(hub::proto::a2a::DataPart { data: Some(data) });
    let part = hub::proto::a2a::Part { part: Some(data), metadata: None };
    let mut failed = status("w", "u", TaskState::Failed, None);
    failed.update.status.as_mut().unwrap().update = Some(Message { content: vec![part], ..Message::default() });
    bench.run(Command::UpdateStatus(failed)).unwrap();
    assert_eq!(bench.state("u"), TaskState::Rejected);
    let message = bench.task("u").status.unwrap().update.unwrap();
    assert_eq!(rejection_data(&message), [("rejection_reason".to_owned(), "CAPACITY_EXCEEDED".to_owned())]);
    // Not after work has begun.
    bench.send("v", "w");
    bench.status("w", "v", TaskState::Working).unwrap();
    fails(
        bench.reject("w", "v", RejectionReason::CapacityExceeded),
        ErrorKind::FailedPrecondition,
        "from WORKING to REJECTED",
    );
}

#[test]
fn messages_of_one_sender_stay_in_order_within_a_context() {
    let mut bench = Bench::with(&[]);
    // The later ones are more urgent, and still come later.
    for (place, priority) in [(0, 1), (1, 4), (2, 2), (3, 4)] {
        let task = message(&format!("t{place}"), "boss", "").with("queue", "q").context("c").priority(priority);
        bench.publish(task).unwrap();
    }
    bench.publish(message("other", "else", "").with("queue", "q").context("c").priority(3)).unwrap();
    let order: Vec<String> = (0..5).map(|_| bench.claim("w", "q").unwrap().task.id).collect();
    let own: Vec<&String> = order.iter().filter(|id| *id != "other").collect();
    assert_eq!(own, ["t0", "t1", "t2", "t3"]);
    // A task that returns comes before the later ones of its context.
    let mut bench = Bench::with(&[]);
    for place in 0..3 {
        bench.publish(message(&format!("t{place}"), "boss", "").with("queue", "q").context("c")).unwrap();
    }
    assert_eq!(bench.claim("w", "q").unwrap().task.id, "t0");
    bench.advance(30_000);
    assert_eq!(bench.claim("w", "q").unwrap().task.id, "t0");
    assert_eq!(bench.claim("w", "q").unwrap().task.id, "t1");
}

#[test]
fn an_agent_publishes_only_as_itself() {
    let mut bench = Bench::with(&["boss", "w", "thief"]);
    bench.send("t", "w");
    let thief = Caller::Agent("thief".to_owned());
    let denied = ErrorKind::PermissionDenied;
    fails(bench.as_caller(&thief, Command::Publish(message("u", "boss", "w"))), denied, "`thief` cannot act as `boss`");
    let update = Command::UpdateStatus(status("w", "t", TaskState::Working, None));
    fails(bench.as_caller(&thief, update), denied, "cannot act as `w`");
    fails(bench.status("thief", "t", TaskState::Working), denied, "does not take part");
    let claim = Claim { agent_id: "w".to_owned(), ..Claim::default() };
    fails(bench.as_caller(&thief, Command::Claim(claim)), denied, "cannot act as");
    let cancel = Command::Cancel { task_id: "t".to_owned(), reason: String::new() };
    fails(bench.as_caller(&thief, cancel), denied, "does not take part");
    let register = hub::broker::Register { agent_id: "w".to_owned(), ..Default::default() };
    fails(bench.as_caller(&thief, Command::Register(register)), denied, "cannot act as");
    // A message without a sender is the caller's.
    bench.as_caller(&thief, Command::Publish(message("mine", "", "w"))).unwrap();
    assert_eq!(bench.broker.task("mine").unwrap().requester(), "thief");
    fails(bench.publish(message("x", "", "w")), ErrorKind::InvalidArgument, "from_agent_id");
    assert_eq!(bench.state("t"), TaskState::Submitted);
}

#[test]
fn trace_ids_are_carried_by_all_events_of_a_task() {
    let mut bench = Bench::with(&["boss", "w"]);
    let mut publish = message("t", "boss", "w");
    publish.trace.trace_id = "trace".to_owned();
    publish.trace.span_id = "span".to_owned();
    bench.events.clear();
    bench.publish(publish).unwrap();
    bench.status("w", "t", TaskState::Working).unwrap();
    bench.artifact("w", "t", "a", &["x"], false).unwrap();
    assert!(bench.events.len() >= 4);
    for event in &bench.events {
        assert_eq!((event.event.trace_id.as_str(), event.event.span_id.as_str()), ("trace", "span"));
        assert!(event.event.event_id.starts_with("evt_"));
    }
}

#[test]
fn artifacts_are_appended_or_replaced_by_their_id() {
    let mut bench = Bench::with(&["w"]);
    bench.send("t", "w");
    fails(bench.artifact("w", "t", "a", &["x"], false), ErrorKind::PermissionDenied, "take part");
    bench.status("w", "t", TaskState::Working).unwrap();
    let parts = |bench: &Bench| {
        let artifacts = bench.task("t").artifacts;
        artifacts.iter().map(|artifact| (artifact.artifact_id.clone(), artifact.parts.len())).collect::<Vec<_>>()
    };
    bench.artifact("w", "t", "a", &["1", "2"], false).unwrap();
    bench.artifact("w", "t", "a", &["3"], true).unwrap();
    bench.artifact("w", "t", "b", &["1"], false).unwrap();
    assert_eq!(parts(&bench), [("a".to_owned(), 3), ("b".to_owned(), 1)]);
    bench.artifact("w", "t", "a", &["new"], false).unwrap();
    assert_eq!(parts(&bench), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    bench.status("w", "t", TaskState::Completed).unwrap();
    for (agent, id) in [("w", "late"), ("w", "a"), ("boss", "x")] {
        let late = bench.artifact(agent, "t", id, &["1"], false);
        fails(late, ErrorKind::FailedPrecondition, "the task `t` is COMPLETED and takes no more artifacts");
    }
}

#[test]
fn agents_of_the_published_service_may_send_the_result_after_the_end_and_never_change_it() {
    let mut bench = Bench::with(&["w", "v"]);
    let done = |bench: &mut Bench, task: &str, end| {
        bench.send(task, "w");
        bench.status("w", task, TaskState::Working).unwrap();
        bench.status("w", task, end).unwrap();
    };
    done(&mut bench, "t", TaskState::Completed);
    fails(bench.artifact("v", "t", "a", &["1"], false), ErrorKind::FailedPrecondition, "COMPLETED");
    bench.artifact("w", "t", "a", &["1"], false).unwrap();
    for (id, append) in [("a", false), ("a", true), ("b", false)] {
        fails(bench.artifact("w", "t", id, &["2"], append), ErrorKind::FailedPrecondition, "COMPLETED");
    }
    done(&mut bench, "failed", TaskState::Failed);
    fails(bench.artifact("w", "failed", "a", &["1"], false), ErrorKind::FailedPrecondition, "FAILED");
    // A worker with a lease ends the task with its result, or sends the result before.
    bench.queue("leased", "q");
    bench.claim("w", "q").unwrap();
    bench.status("w", "leased", TaskState::Working).unwrap();
    bench.status("w", "leased", TaskState::Completed).unwrap();
    fails(bench.artifact("w", "leased", "a", &["1"], false), ErrorKind::FailedPrecondition, "COMPLETED");
}

#[test]
fn a_task_ends_with_its_artifacts_as_a_whole_or_not_at_all() {
    let mut bench = Bench::with(&[]);
    bench.queue("t", "q");
    let lease = bench.claim("w", "q").unwrap().lease_id;
    let artifact = |id: &str, text: &str| Artifact {
        artifact_id: id.to_owned(),
        parts: vec![text_part(text)],
        ..Artifact::default()
    };
    let finish = |state, text: &str, operation: &str| Finish {
        agent_id: "w".to_owned(),
        task_id: "t".to_owned(),
        lease: Some(lease.clone()),
        state,
        artifacts: vec![artifact("log", text), artifact("answer", text)],
        operation: operation.to_owned(),
        ..Finish::default()
    };
    let run = |bench: &mut Bench, finish: Finish| bench.run(Command::Finish(finish));
    let precondition = ErrorKind::FailedPrecondition;
    fails(run(&mut bench, finish(TaskState::Completed, "early", "o1")), precondition, "from SUBMITTED to COMPLETED");
    assert_eq!(bench.task("t").artifacts, []);
    bench.leased("w", "t", TaskState::Working, &lease).unwrap();
    let mut large = finish(TaskState::Completed, "x", "o2");
    large.artifacts.push(artifact("large", &"x".repeat(17 << 20)));
    fails(run(&mut bench, large), ErrorKind::ResourceExhausted, "16777216 bytes");
    assert_eq!((bench.task("t").artifacts.len(), bench.state("t")), (0, TaskState::Working));
    let first = run(&mut bench, finish(TaskState::Completed, "first", "o3")).unwrap();
    assert_eq!(run(&mut bench, finish(TaskState::Completed, "first", "o3")).unwrap(), first);
    // The request again with another answer, and another request.
    fails(run(&mut bench, finish(TaskState::Completed, "twice", "o3")), ErrorKind::AlreadyExists, "request id `o3`");
    fails(run(&mut bench, finish(TaskState::Completed, "twice", "o4")), precondition, "from COMPLETED to COMPLETED");
    fails(run(&mut bench, finish(TaskState::Failed, "twice", "")), precondition, "from COMPLETED to FAILED");
    let Reply::Task(task) = first else { panic!("{first:?}") };
    let texts = task.artifacts.iter().map(|artifact| (artifact.artifact_id.as_str(), artifact.parts[0].clone()));
    assert_eq!(texts.collect::<Vec<_>>(), [("log", text_part("first")), ("answer", text_part("first"))]);
    assert_eq!(bench.task("t"), *task);
}

#[test]
fn another_message_with_a_used_id_is_refused() {
    let mut bench = Bench::with(&["w", "v"]);
    let sent = || message("t", "boss", "w").id("m1");
    let first = bench.publish(sent()).unwrap();
    let text = |text: &str| {
        let mut publish = sent();
        publish.message.content = vec![text_part(text)];
        publish
    };
    let used = "the message id `m1` was used before with other content; use a new id";
    for other in [
        text("other"),
        sent().context("c"),
        sent().priority(4),
        sent().tags(&["x"]),
        sent().with("queue", "q"),
        message("t", "boss", "v").id("m1"),
        message("u", "boss", "w").id("m1"),
        message("", "boss", "w").id("m1"),
    ] {
        fails(bench.publish(other), ErrorKind::AlreadyExists, used);
    }
    let mut report = status("boss", "t", TaskState::Cancelled, None);
    report.update.status.as_mut().unwrap().update = Some(Message { message_id: "m1".to_owned(), ..Message::default() });
    fails(bench.run(Command::UpdateStatus(report)).map(|_| ()), ErrorKind::AlreadyExists, used);
    assert_eq!(bench.publish(sent()).unwrap(), first);
    assert_eq!((bench.task("t").history.len(), bench.broker.tasks().count()), (1, 1));
    // A restart keeps what was sent.
    let mut restarted = Bench::new(bench.broker.options().clone());
    bench.batches.iter().for_each(|batch| restarted.broker.replay(batch, |_| {}));
    assert_eq!(restarted.publish(sent()).unwrap(), first);
    fails(restarted.publish(text("other")), ErrorKind::AlreadyExists, used);
    // So does a worker that reports two states with one id.
    let reported = |state| {
        let mut report = status("w", "t", state, None);
        report.update.status.as_mut().unwrap().update =
            Some(Message { message_id: "s1".to_owned(), ..Message::default() });
        Command::UpdateStatus(report)
    };
    bench.run(reported(TaskState::Working)).unwrap();
    bench.run(reported(TaskState::Working)).unwrap();
    fails(bench.run(reported(TaskState::Completed)).map(|_| ()), ErrorKind::AlreadyExists, "message id `s1`");
    assert_eq!(bench.state("t"), TaskState::Working);
}

#[test]
fn the_hub_names_a_task_whose_message_names_none_and_repeats_the_name() {
    let mut bench = Bench::with(&["w"]);
    let sent = |id: &str| {
        let mut publish = message("", "boss", "w").id(id);
        publish.submits = true;
        publish
    };
    let first = bench.publish(sent("m1")).unwrap();
    assert!(first.task_id.starts_with("task_") && bench.task(&first.task_id).context_id.starts_with("ctx_"));
    assert_eq!(bench.publish(sent("m1")).unwrap(), first);
    assert_ne!(bench.publish(sent("m2")).unwrap().task_id, first.task_id);
    fails(bench.publish(sent("m1").context("c")), ErrorKind::AlreadyExists, "message id `m1`");
    let mut queue = message("q", "boss", "");
    let number = Value { kind: Some(Kind::NumberValue(1.0)) };
    queue.message.metadata.get_or_insert_with(Struct::default).fields.insert("queue".to_owned(), number);
    fails(bench.publish(queue), ErrorKind::InvalidArgument, "`metadata.queue` is not a string");
}

#[test]
fn every_list_is_bounded() {
    let options = BrokerOptions {
        max_tasks: 2,
        max_agents: 2,
        max_history: 2,
        max_task_bytes: 300,
        max_finished: 1,
        ..BrokerOptions::default()
    };
    let mut bench = Bench::new(options);
    bench.register("w", &[]);
    bench.register("v", &[]);
    let third = hub::broker::Register { agent_id: "third".to_owned(), ..Default::default() };
    let full = ErrorKind::ResourceExhausted;
    fails(bench.run(Command::Register(third)), full, "too many agents: the limit is 2");
    bench.send("t1", "w");
    bench.send("t2", "w");
    fails(bench.publish(message("t3", "boss", "w")), full, "too many unfinished tasks: the limit is 2");
    bench.send("t1", "w");
    fails(bench.publish(message("t1", "boss", "w")), full, "too many messages of the task `t1`: the limit is 2");
    let mut large = message("t2", "boss", "w");
    large.message.content = vec![text_part(&"x".repeat(280))];
    fails(bench.publish(large), full, "300 bytes");
    for id in ["t1", "t2"] {
        bench.run(Command::Cancel { task_id: id.to_owned(), reason: String::new() }).unwrap();
    }
    bench.advance(1);
    fails(bench.broker.task_with_history("t1", 0), ErrorKind::NotFound, "t1");
    assert_eq!(bench.state("t2"), TaskState::Cancelled);
    bench.advance(7 * 24 * 3_600_000);
    assert_eq!(bench.broker.tasks().count(), 0);
    let long = "x".repeat(257);
    fails(bench.publish(message(&long, "boss", "w")), ErrorKind::InvalidArgument, "task_id");
}

#[test]
fn agents_register_update_fail_checks_and_leave_with_events() {
    let mut bench = Bench::with(&["w"]);
    bench.register("w", &["tag"]);
    bench.send("t", "w");
    bench.status("w", "t", TaskState::Working).unwrap();
    bench.run(Command::ReportHealth { agent_id: "w".to_owned(), healthy: false }).unwrap();
    // It had no lease that could end.
    assert_eq!(bench.state("t"), TaskState::Submitted);
    fails(bench.publish(message("b", "boss", "")), ErrorKind::NotFound, "no registered agent");
    bench.run(Command::ReportHealth { agent_id: "w".to_owned(), healthy: true }).unwrap();
    bench.run(Command::Unregister { agent_id: "w".to_owned() }).unwrap();
    fails(bench.run(Command::Unregister { agent_id: "w".to_owned() }), ErrorKind::NotFound, "agent not found");
    let kinds: Vec<&str> = bench.events.iter().map(hub::broker::RoutedEvent::event_type).collect();
    let cards: Vec<&str> = kinds.into_iter().filter(|kind| kind.starts_with("agent.")).collect();
    assert_eq!(cards, ["agent.registered", "agent.updated", "agent.updated", "agent.updated", "agent.unregistered"]);
}

#[test]
fn only_agents_of_a_task_add_messages_to_it() {
    let mut bench = Bench::with(&["w", "eve"]);
    bench.send("t", "w");
    fails(bench.publish(message("t", "eve", "").id("m2")), ErrorKind::PermissionDenied, "does not take part");
    bench.publish(message("t", "boss", "").id("m3")).unwrap();
    bench.publish(message("t", "w", "").id("m4")).unwrap();
    assert_eq!(bench.task("t").history.len(), 3);
}

#[test]
fn an_agent_rejects_a_queued_task_once_by_any_call() {
    let mut bench = Bench::with(&["eve"]);
    bench.queue("t", "q");
    bench.status("eve", "t", TaskState::Rejected).unwrap();
    fails(bench.status("eve", "t", TaskState::Rejected), ErrorKind::PermissionDenied, "does not take part");
    fails(
        bench.reject("eve", "t", RejectionReason::CapacityExceeded).map(|_| ()),
        ErrorKind::PermissionDenied,
        "does not take part",
    );
    assert_eq!(bench.broker.task("t").unwrap().rejections.len(), 1);
}

#[test]
fn a_failed_copy_counts_although_many_other_tasks_are_finished() {
    let mut bench = Bench::new(BrokerOptions { max_finished: 1, ..BrokerOptions::default() });
    ["a", "b", "c"].iter().for_each(|agent| bench.register(agent, &["tag"]));
    let mut broadcast = message("t", "boss", "");
    broadcast.routing.subscriptions = vec!["tag".to_owned()];
    bench.publish(broadcast).unwrap();
    let copies = bench.broker.task("t").unwrap().copies.clone();
    for (copy, end) in copies.iter().zip([TaskState::Failed, TaskState::Completed, TaskState::Completed]) {
        let agent = copy.rsplit_once(|letter: char| !letter.is_alphanumeric()).unwrap().1.to_owned();
        bench.advance(1);
        bench.status(&agent, copy, TaskState::Working).unwrap();
        bench.status(&agent, copy, end).unwrap();
    }
    assert_eq!(bench.state("t"), TaskState::Failed);
    bench.advance(1);
    assert!(bench.broker.task(&copies[0]).is_none(), "copies are forgotten after their broadcast");
}

#[test]
fn a_broadcast_whose_copies_would_have_too_long_ids_is_refused() {
    let mut bench = Bench::new(BrokerOptions::default());
    let agent = "a".repeat(100);
    bench.register(&agent, &["tag"]);
    let mut broadcast = message(&"t".repeat(200), "boss", "");
    broadcast.routing.subscriptions = vec!["tag".to_owned()];
    fails(bench.publish(broadcast), ErrorKind::InvalidArgument, "use a shorter `task_id`");
}

#[test]
fn artifacts_of_an_earlier_attempt_are_aborted() {
    let mut bench = Bench::with(&[]);
    bench.queue("t", "q");
    let first = bench.claim("w", "q").unwrap();
    bench.advance(30_000);
    let second = bench.claim("w", "q").unwrap();
    bench.leased("w", "t", TaskState::Working, &second.lease_id).unwrap();
    let put =
        |lease: &str| Command::PutArtifact(PutArtifact { lease: Some(lease.to_owned()), ..put("w", "t", "a", "") });
    fails(bench.run(put(&first.lease_id)), ErrorKind::Aborted, "attempt 2 of 3");
    bench.run(put(&second.lease_id)).unwrap();
    // After the end as well.
    bench.leased("w", "t", TaskState::Completed, &second.lease_id).unwrap();
    fails(bench.run(put(&first.lease_id)), ErrorKind::Aborted, "attempt 2 of 3");
    fails(bench.run(put(&second.lease_id)), ErrorKind::FailedPrecondition, "takes no more artifacts");
}

/// A part of the artifact `id`, which is appended.
fn put(agent: &str, task: &str, id: &str, operation: &str) -> PutArtifact {
    let artifact = Artifact { artifact_id: id.to_owned(), parts: vec![text_part("x")], ..Artifact::default() };
    let update = TaskArtifactUpdateEvent {
        task_id: task.to_owned(),
        artifact: Some(artifact),
        append: true,
        ..TaskArtifactUpdateEvent::default()
    };
    let routing = AgentEventMetadata { from_agent_id: agent.to_owned(), ..AgentEventMetadata::default() };
    PutArtifact { update, routing, operation: operation.to_owned(), ..PutArtifact::default() }
}

#[test]
fn a_repeated_request_of_a_worker_changes_nothing() {
    let mut bench = Bench::with(&[]);
    bench.queue("t", "q");
    let claim = |operation: &str| {
        let (agent_id, queue) = ("w".to_owned(), "q".to_owned());
        Command::Claim(Claim { agent_id, queue, operation: operation.to_owned(), ..Claim::default() })
    };
    let claimed = |reply: Reply| match reply {
        Reply::Claimed(Some(claimed)) => (claimed.lease_id, claimed.attempt),
        other => panic!("{other:?}"),
    };
    let first = claimed(bench.run(claim("c1")).unwrap());
    assert_eq!(claimed(bench.run(claim("c1")).unwrap()), first);
    assert_eq!(bench.run(claim("c2")), Ok(Reply::Claimed(None)));
    let other =
        Claim { agent_id: "w".to_owned(), queue: "other".to_owned(), operation: "c1".to_owned(), ..Claim::default() };
    fails(bench.run(Command::Claim(other)), ErrorKind::AlreadyExists, "request id `c1`");
    let report = |bench: &mut Bench, state, operation: &str| {
        let update = UpdateStatus { operation: operation.to_owned(), ..status("w", "t", state, Some(&first.0)) };
        bench.run(Command::UpdateStatus(update)).map(published)
    };
    report(&mut bench, TaskState::Working, "o1").unwrap();
    let progress = Progress {
        agent_id: "w".to_owned(),
        task_id: "t".to_owned(),
        lease: Some(first.0.clone()),
        operation: "o2".to_owned(),
        ..Progress::default()
    };
    let until = Reply::Renewed(bench.now_ms + 30_000);
    assert_eq!(bench.run(Command::Progress(progress.clone())), Ok(until.clone()));
    let events = bench.events.len();
    assert_eq!(bench.run(Command::Progress(progress)), Ok(until));
    // The id of a request is that of one request.
    fails(report(&mut bench, TaskState::Completed, "o2"), ErrorKind::AlreadyExists, "request id `o2`");
    let put = Command::PutArtifact(put("w", "t", "a", "o3"));
    let stored = published(bench.run(put.clone()).unwrap());
    assert_eq!(published(bench.run(put.clone()).unwrap()), stored);
    assert_eq!(bench.task("t").artifacts[0].parts.len(), 1);
    let done = report(&mut bench, TaskState::Completed, "o4").unwrap();
    assert_eq!(report(&mut bench, TaskState::Completed, "o4").unwrap(), done);
    // Late, as well: it is not stored again.
    assert_eq!(published(bench.run(put).unwrap()), stored);
    assert_eq!(bench.events.len(), events + 2);
    fails(report(&mut bench, TaskState::Completed, "o5"), ErrorKind::FailedPrecondition, "COMPLETED");
}

#[test]
fn a_repeated_rejection_rejects_once() {
    let mut bench = Bench::new(BrokerOptions::default());
    bench.register("w", &["q"]);
    bench.register("v", &["q"]);
    bench.queue("t", "q");
    let lease = bench.claim("w", "q").map(|claimed| claimed.lease_id);
    let reject = Command::Reject(Reject {
        agent_id: "w".to_owned(),
        task_id: "t".to_owned(),
        lease,
        reason: RejectionReason::CapacityExceeded,
        text: String::new(),
        operation: "o1".to_owned(),
    });
    bench.run(reject.clone()).unwrap();
    // Another worker has it already.
    bench.claim("v", "q").unwrap();
    bench.run(reject).unwrap();
    let entry = bench.broker.task("t").unwrap();
    assert_eq!((entry.worker.as_deref(), entry.rejections.len()), (Some("v"), 1));
}

#[test]
fn progress_keeps_the_lease_of_the_task_and_begins_none() {
    let mut bench = Bench::with(&["w"]);
    bench.send("t", "w");
    bench.status("w", "t", TaskState::Working).unwrap();
    assert_eq!(bench.progress("w", "t", 0.5, ""), Ok(Reply::Renewed(0)));
    bench.advance(24 * 3_600_000);
    assert_eq!(bench.state("t"), TaskState::Working);
    bench.queue("long", "q");
    let claim = Claim {
        agent_id: "w".to_owned(),
        queue: "q".to_owned(),
        lease: Some(Duration::from_secs(600)),
        ..Claim::default()
    };
    bench.run(Command::Claim(claim)).unwrap();
    bench.advance(1_000);
    assert_eq!(bench.progress("w", "long", 0.5, ""), Ok(Reply::Renewed(bench.now_ms + 600_000)));
}

#[test]
fn a_lease_is_from_1_ms_to_1_hour() {
    let mut bench = Bench::with(&[]);
    bench.queue("t", "q");
    let claim = |lease: Duration| {
        Command::Claim(Claim {
            agent_id: "w".to_owned(),
            queue: "q".to_owned(),
            lease: Some(lease),
            ..Claim::default()
        })
    };
    for (lease, shown) in [
        (Duration::ZERO, "invalid lease of 0 ms: use 1 to 3600000 ms"),
        (Duration::from_millis(3_600_001), "invalid lease of 3600001 ms: use 1 to 3600000 ms"),
        (Duration::MAX, "use 1 to 3600000 ms"),
    ] {
        fails(bench.run(claim(lease)), ErrorKind::InvalidArgument, shown);
    }
    let Ok(Reply::Claimed(Some(claimed))) = bench.run(claim(Duration::from_secs(3_600))) else { panic!("not claimed") };
    assert_eq!(claimed.lease_until_ms, START + 3_600_000);
    let renew = |ms| {
        let (agent_id, task_id, duration) = ("w".to_owned(), "t".to_owned(), Some(Duration::from_millis(ms)));
        Command::Renew(Renew { agent_id, task_id, lease: None, duration })
    };
    fails(bench.run(renew(3_600_001)), ErrorKind::InvalidArgument, "use 1 to 3600000 ms");
}

#[test]
fn the_clock_of_a_worker_does_not_order_tasks() {
    let mut bench = Bench::with(&["w"]);
    bench.send("t", "w");
    bench.advance(5);
    let mut update = status("w", "t", TaskState::Working, None);
    update.update.status.as_mut().unwrap().timestamp = Some(Timestamp { seconds: 4_000_000_000, nanos: 0 });
    bench.run(Command::UpdateStatus(update)).unwrap();
    let timestamp = bench.task("t").status.unwrap().timestamp.unwrap();
    assert_eq!((timestamp.seconds, timestamp.nanos), ((START / 1_000) as i64, 5_000_000));
}

#[test]
fn a_page_token_of_any_number_is_read() {
    let mut bench = Bench::with(&["w"]);
    (0..3).for_each(|number| bench.send(&format!("t{number}"), "w"));
    let token = bench.broker.list(&ListTasks { page_size: 1, ..ListTasks::default() }).unwrap().next_page_token;
    let mut bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
    for (first, count) in [(0xff, 0), (0, 3)] {
        bytes[..8].fill(first);
        let page_token = URL_SAFE_NO_PAD.encode(&bytes);
        let page = bench.broker.list(&ListTasks { page_token, ..ListTasks::default() }).unwrap();
        assert_eq!((page.tasks.len(), page.next_page_token), (count, String::new()));
    }
    bytes.push(0);
    for page_token in [URL_SAFE_NO_PAD.encode(&bytes), format!("{token}="), "\u{ff}".repeat(22), "x".repeat(1 << 20)] {
        let invalid = bench.broker.list(&ListTasks { page_token, ..ListTasks::default() });
        fails(invalid, ErrorKind::InvalidArgument, "invalid `page_token`");
    }
    fails(bench.broker.agent_page(0, "*"), ErrorKind::InvalidArgument, "invalid `page_token`");
    fails(bench.broker.dead_letters("", 0, &token), ErrorKind::InvalidArgument, "another filter");
}

#[test]
fn pages_are_bounded_by_size() {
    let mut bench = Bench::with(&["w"]);
    for number in 0..5 {
        let mut publish = message(&format!("t{number}"), "boss", "w");
        publish.message.content = vec![text_part(&"x".repeat(450 << 10))];
        bench.publish(publish).unwrap();
    }
    let (mut request, mut counts) = (ListTasks::default(), Vec::new());
    loop {
        let page = bench.broker.list(&request).unwrap();
        counts.push(page.tasks.len());
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    assert_eq!(counts, [2, 2, 1]);
    let recent = |after| bench.broker.recent(&RecentTasks { size: 100, after, ..RecentTasks::default() });
    let (first, rest) = (recent(None), recent(Some((START, "t1".to_owned()))));
    assert_eq!((first.tasks.len(), first.is_last, first.total), (2, false, 5));
    assert_eq!((rest.tasks.len(), rest.is_last), (1, true));
    for number in 0..10 {
        let card = AgentCard { description: "x".repeat(255 << 10), ..AgentCard::default() };
        let register = Register { agent_id: format!("a{number}"), card, ..Register::default() };
        bench.run(Command::Register(register)).unwrap();
    }
    let first = bench.broker.agent_page(0, "").unwrap();
    let rest = bench.broker.agent_page(0, &first.next_page_token).unwrap();
    assert_eq!((first.agents.len(), rest.agents.len(), rest.next_page_token), (8, 3, String::new()));
    let card = AgentCard { description: "x".repeat(257 << 10), ..AgentCard::default() };
    let register = Register { agent_id: "large".to_owned(), card, ..Register::default() };
    fails(bench.run(Command::Register(register)), ErrorKind::ResourceExhausted, "agent card is larger than 262144");
}
