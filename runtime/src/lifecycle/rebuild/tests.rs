use std::sync::Arc;

use base::data::Data;
use base::ids::{IdStream, SharedIds};
use eventlog::{NewRecord, RUN_ID};

use crate::capabilities::Capabilities;
use crate::event_log::Topic;
use crate::lifecycle::*;
use crate::reminder::ExpireReason;
use crate::reminder::{ReminderSource, ReminderSpec};
use crate::render::{RenderOptions, render};
use crate::transcript::Transcript;

use super::*;

/// Transcripts whose records are collected.
struct RebuildBench {
    ids: SharedIds,
    records: Vec<Record>,
}

impl RebuildBench {
    fn new() -> RebuildBench {
        RebuildBench { ids: SharedIds::new(IdStream::new(1, "s")), records: Vec::new() }
    }

    fn push(&mut self, new: NewRecord) {
        let NewRecord { topic, kind, payload, headers, occurred_at_ms } = new;
        let cursor = self.records.len() as u64 + 1;
        self.records.push(Record { topic, kind, payload, headers, occurred_at_ms, id: cursor, cursor });
    }

    fn apply(&mut self, t: &mut Transcript, turn: u32, command: LifecycleCommand) {
        let session_id = t.id().clone();
        let at = LifecycleContext {
            session_id: &session_id,
            task_id: None,
            agent_id: None,
            turn,
            now_ms: 7,
            ids: &self.ids,
        };
        let (next, records) = apply(t.clone(), command, &at);
        *t = next;
        let logged: Vec<_> = records.iter().map(|record| record.to_log(&at)).collect();
        logged.into_iter().for_each(|record| self.push(record));
    }

    fn inject(&mut self, t: &mut Transcript, turn: u32, body: &str, key: Option<&str>, ttl: Option<u32>) {
        let spec = ReminderSpec { dedupe_key: key.map(Into::into), ttl_turns: ttl, ..ReminderSpec::new(body) };
        self.apply(t, turn, LifecycleCommand::Inject(spec, ReminderSource::InPipeline));
    }

    fn fire(&mut self, t: &mut Transcript, turn: u32, charges: bool) {
        let pending: Vec<_> = t.pending().map(|pending| pending.reminder.as_ref()).collect();
        let rendered = render(pending, &Capabilities::default(), RenderOptions::default());
        self.apply(t, turn, LifecycleCommand::Fire(rendered, charges));
    }

    fn rebuilt(&self) -> Rebuilt {
        rebuild(&self.records)
    }

    /// Returns bodies and current TTLs of the pending reminders.
    fn pending(&self, id: &str) -> Vec<(String, Option<u32>)> {
        let rebuilt = self.rebuilt();
        let lives = rebuilt.session(id).into_iter().flat_map(SessionLife::pending);
        lives.map(|life| (life.reminder.body.to_string(), life.ttl_left)).collect()
    }
}

#[test]
fn a_biography_tells_the_whole_life() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    bench.inject(&mut t, 0, "a", Some("k"), Some(2));
    bench.fire(&mut t, 1, true);
    bench.apply(&mut t, 1, LifecycleCommand::PostTurn);
    bench.inject(&mut t, 1, "b", Some("k"), Some(1));
    bench.fire(&mut t, 2, true);
    bench.apply(&mut t, 2, LifecycleCommand::PostTurn);
    let rebuilt = bench.rebuilt();
    let life = rebuilt.session("s").unwrap();
    let [a, b] = &life.reminders[..] else { panic!("{:?}", life.reminders) };
    assert_eq!((a.birth.by, a.birth.turn, a.carried.len(), a.ttl_left), (BirthKind::Injected, 0, 1, Some(1)));
    assert_eq!(a.end.as_ref().unwrap().how, LifeEndReason::Deduped { by: b.reminder.id.clone() });
    let end = b.end.as_ref().unwrap();
    assert_eq!((end.how.clone(), end.turn, b.carried[0].turn), (LifeEndReason::Expired(ExpireReason::Ttl), 2, 2));
    assert_eq!((life.turns, life.tally().admitted(), life.tally().holds()), (2, 2, true));
}

#[test]
fn any_cursor_gives_the_pending_set_of_that_point() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    bench.inject(&mut t, 0, "a", None, Some(3));
    bench.fire(&mut t, 1, true);
    bench.apply(&mut t, 1, LifecycleCommand::PostTurn);
    let at = |cursor| {
        let rebuilt = rebuild_until(&bench.records, cursor);
        rebuilt.session("s").map(|life| life.pending().map(|life| life.ttl_left).collect::<Vec<_>>())
    };
    assert_eq!([at(0), at(1), at(2), at(3)], [None, Some(vec![Some(3)]), Some(vec![Some(3)]), Some(vec![Some(2)])]);
}

#[test]
fn a_bare_call_and_a_void_prompt_charge_nothing() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    bench.inject(&mut t, 0, "a", None, Some(2));
    bench.fire(&mut t, 0, false);
    bench.fire(&mut t, 1, true);
    bench.inject(&mut t, 1, "late", None, Some(2));
    bench.apply(&mut t, 1, LifecycleCommand::Void);
    bench.apply(&mut t, 1, LifecycleCommand::PostTurn);
    assert_eq!(bench.pending("s"), [("a".to_owned(), Some(2)), ("late".to_owned(), Some(2))]);
    let carried = &bench.rebuilt().session("s").unwrap().reminders[0].carried.clone();
    assert_eq!(carried.iter().map(|c| (c.charges, c.void)).collect::<Vec<_>>(), [(false, false), (true, true)]);
}

#[test]
fn a_pass_by_hand_charges_what_was_made_by_then() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    bench.inject(&mut t, 0, "old", None, Some(3));
    bench.inject(&mut t, 2, "new", None, Some(3));
    bench.apply(&mut t, 2, LifecycleCommand::PostTurnByHand(1));
    assert_eq!(bench.pending("s"), [("old".to_owned(), Some(2)), ("new".to_owned(), Some(3))]);
    // While a prompt is open both charge.
    bench.fire(&mut t, 3, true);
    bench.apply(&mut t, 3, LifecycleCommand::PostTurnByHand(1));
    bench.apply(&mut t, 3, LifecycleCommand::PostTurn);
    assert_eq!(bench.pending("s"), [("new".to_owned(), Some(2))]);
}

#[test]
fn both_compactions_charge_as_they_say() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    for (body, ttl) in [("carried", 3), ("lost", 3)] {
        let preserve_on_compact = body == "carried";
        let spec = ReminderSpec { ttl_turns: Some(ttl), preserve_on_compact, ..ReminderSpec::new(body) };
        bench.apply(&mut t, 0, LifecycleCommand::Inject(spec, ReminderSource::Hook));
    }
    bench.apply(&mut t, 0, LifecycleCommand::Compact(CompactionCharge::Carried));
    assert_eq!(bench.pending("s"), [("carried".to_owned(), Some(3))]);
    bench.apply(&mut t, 0, LifecycleCommand::Compact(CompactionCharge::All));
    assert_eq!(bench.pending("s"), [("carried".to_owned(), Some(2))]);
    let how = bench.rebuilt().session("s").unwrap().reminders[1].end.clone().unwrap().how;
    assert_eq!(how, LifeEndReason::Expired(ExpireReason::Compaction));
}

#[test]
fn a_fork_begins_with_what_was_left_and_an_open_turn_is_the_parents() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    bench.inject(&mut t, 0, "a", None, Some(4));
    bench.fire(&mut t, 1, true);
    bench.apply(&mut t, 1, LifecycleCommand::PostTurn);
    bench.fire(&mut t, 2, true);
    let mut copy = t.clone().renamed("c".into());
    let session_id = copy.id().clone();
    let records = fork(&mut copy);
    let ids = SharedIds::new(IdStream::new(2, "c"));
    let at = LifecycleContext { session_id: &session_id, task_id: None, agent_id: None, turn: 2, now_ms: 7, ids: &ids };
    records.iter().for_each(|record| bench.push(record.to_log(&at)));
    bench.fire(&mut copy, 3, true);
    bench.apply(&mut copy, 3, LifecycleCommand::PostTurn);
    bench.apply(&mut t, 2, LifecycleCommand::PostTurn);
    let left = |t: &Transcript| t.pending().map(|p| t.ttl_left(p)).collect::<Vec<_>>();
    assert_eq!((left(&copy), left(&t)), (vec![Some(2)], vec![Some(2)]));
    assert_eq!((bench.pending("c"), bench.pending("s")), (vec![("a".into(), Some(2))], vec![("a".into(), Some(2))]));
}

#[test]
fn an_old_version_continued_is_told_and_the_union_is_given() {
    let (mut bench, mut old) = (RebuildBench::new(), Transcript::new("t".into()));
    bench.inject(&mut old, 0, "both", None, None);
    let clear = || LifecycleCommand::Clear(Selector { tag: None, id: None, dedupe_key: Some("k".into()) });
    bench.inject(&mut old, 0, "keyed", Some("k"), None);
    let (mut one, mut other) = (old.clone(), old);
    bench.apply(&mut one, 0, clear());
    bench.inject(&mut one, 0, "one", None, None);
    bench.apply(&mut other, 0, clear());
    bench.inject(&mut other, 0, "other", None, None);
    let bodies: Vec<_> = bench.pending("t").into_iter().map(|(body, _)| body).collect();
    assert_eq!(bodies, ["both", "one", "other"]);
    let rebuilt = bench.rebuilt();
    assert!(rebuilt.session("t").unwrap().branched);
    assert!(rebuilt.notes[0].message.contains("ends a second time"), "{:?}", rebuilt.notes);
}

#[test]
fn what_cannot_be_read_is_told_and_skipped() {
    let mut bench = RebuildBench::new();
    for (topic, kind, payload) in [
        ("mine", "transcript.reminder.injected", "{}"),
        (Topic::Reminder.as_str(), "transcript.reminder.injected", r#"{"session_id":"s","reminder_id":"x"}"#),
        (Topic::Reminder.as_str(), "transcript.reminder.invented", r#"{"session_id":"s"}"#),
        (
            Topic::Reminder.as_str(),
            "transcript.reminder.expired",
            r#"{"session_id":"s","reminder_id":"x","reason":"ttl"}"#,
        ),
        (
            Topic::Reminder.as_str(),
            "transcript.reminder.expired",
            r#"{"session_id":"s","reminder_id":"x","reason":"bored"}"#,
        ),
        (Topic::Turn.as_str(), "transcript.turn.passed", r#"{"session_id":"s","pass":"odd","charges":"all"}"#),
        (Topic::Turn.as_str(), "transcript.turn.void", "null"),
    ] {
        let payload = Data::from_json(payload).unwrap().into();
        let (topic, kind) = (Arc::from(topic), Arc::from(kind));
        bench.push(NewRecord { topic, kind, payload, headers: Data::Nil, occurred_at_ms: 0 });
    }
    let rebuilt = bench.rebuilt();
    assert_eq!(
        (rebuilt.foreign, rebuilt.notes.iter().map(|note| note.cursor).collect::<Vec<_>>()),
        (1, vec![2, 3, 4, 5, 6, 7])
    );
    assert!(rebuilt.notes[2].message.contains("does not contain its start"), "{:?}", rebuilt.notes[2]);
    assert!(rebuilt.session("s").unwrap().tally().holds());
}

#[test]
fn what_is_done_to_a_copy_is_no_part_of_the_life() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    bench.inject(&mut t, 0, "mine", None, Some(2));
    let before = bench.records.len();
    let mut copy = t.clone();
    bench.inject(&mut copy, 0, "in the copy", None, None);
    bench.apply(&mut copy, 0, LifecycleCommand::Discard(DiscardReason::Reset));
    for record in &mut bench.records[before..] {
        record.payload.set("detached", true.into());
    }
    assert_eq!(bench.pending("s"), [("mine".to_owned(), Some(2))]);
    let rebuilt = bench.rebuilt();
    let life = rebuilt.session("s").unwrap();
    assert_eq!((life.detached, life.branched, life.tally().holds()), (3, false, true));
}

#[test]
fn a_void_prompt_is_marked_and_one_that_was_charged_is_not() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    let prompt = |turn: i64| NewRecord {
        topic: Topic::Turn.into(),
        kind: "transcript.turn.prompt".into(),
        payload: Data::dict([
            ("session_id", Data::from("s")),
            ("turn", turn.into()),
            ("charges", true.into()),
            ("message_count", 1.into()),
        ])
        .into(),
        headers: Data::Nil,
        occurred_at_ms: 7,
    };
    bench.inject(&mut t, 0, "a", None, Some(5));
    for turn in [1, 2] {
        bench.fire(&mut t, turn, true);
        bench.push(prompt(turn.into()));
        bench.apply(&mut t, turn, if turn == 1 { LifecycleCommand::PostTurn } else { LifecycleCommand::Void });
    }
    bench.apply(&mut t, 2, LifecycleCommand::Void);
    let rebuilt = bench.rebuilt();
    let voids: Vec<bool> = rebuilt.session("s").unwrap().prompts.iter().map(|prompt| prompt.void).collect();
    assert_eq!((voids, bench.pending("s")[0].1), (vec![false, true], Some(4)));
}

#[test]
fn each_run_has_sessions_of_its_own() {
    let mut bench = RebuildBench::new();
    for run in ["first", "second"] {
        let (mut t, before) = (Transcript::new("s".into()), bench.records.len());
        bench.inject(&mut t, 0, run, Some("k"), Some(2));
        bench.fire(&mut t, 1, true);
        bench.apply(&mut t, 1, LifecycleCommand::PostTurn);
        for record in &mut bench.records[before..] {
            record.headers = Data::dict([(RUN_ID, Data::from(run))]);
        }
    }
    // Both write at once.
    let half = bench.records.len() / 2;
    let (one, other) = bench.records.split_at(half);
    bench.records = one.iter().zip(other).flat_map(|(one, other)| [one.clone(), other.clone()]).collect();
    let rebuilt = bench.rebuilt();
    let lives: Vec<_> =
        rebuilt.sessions().map(|life| (life.run, life.branched, life.pending_to_data().to_json())).collect();
    assert_eq!((lives.len(), rebuilt.runs("s"), rebuilt.notes.len()), (2, 2, 0));
    assert!(lives.iter().all(|(_, branched, pending)| !branched && pending.contains("\"ttl_turns\":1")), "{lives:?}");
    assert_eq!(rebuilt.session("s").unwrap().run_id.as_deref(), Some("second"));
}

#[test]
fn a_session_that_goes_on_in_another_run_has_one_life() {
    let (mut bench, mut t) = (RebuildBench::new(), Transcript::new("s".into()));
    bench.inject(&mut t, 0, "a", Some("k"), Some(3));
    bench.fire(&mut t, 1, true);
    bench.apply(&mut t, 1, LifecycleCommand::PostTurn);
    // This request was sent after the session was stored.
    bench.fire(&mut t.clone(), 2, true);
    let first = bench.records.len();
    let (session_id, ids) = (t.id().clone(), SharedIds::new(IdStream::new(2, "s")));
    let at = LifecycleContext { session_id: &session_id, task_id: None, agent_id: None, turn: 1, now_ms: 7, ids: &ids };
    let left = t.pending().map(|pending| (pending.reminder.id.clone(), t.ttl_left(pending))).collect();
    bench.push(LifecycleRecord::Resumed(left).to_log(&at));
    for turn in [2, 3] {
        bench.fire(&mut t, turn, true);
        bench.apply(&mut t, turn, LifecycleCommand::PostTurn);
    }
    for (place, record) in bench.records.iter_mut().enumerate() {
        record.headers = Data::dict([(RUN_ID, Data::from(if place < first { "one" } else { "two" }))]);
    }
    let rebuilt = bench.rebuilt();
    assert_eq!((rebuilt.runs("s"), &rebuilt.notes[..]), (1, &[][..]));
    let life = rebuilt.session("s").unwrap();
    let end = life.reminders[0].end.as_ref().map(|end| (end.how.clone(), end.turn));
    assert_eq!(end, Some((LifeEndReason::Expired(ExpireReason::Ttl), 3)));
    assert_eq!((life.resumptions.len(), life.branched, life.tally().holds()), (1, false, true));
}

#[test]
fn what_leaves_the_queue_undelivered_is_kept() {
    let mut bench = RebuildBench::new();
    for (word, payload) in [
        ("queued", r#"{"session_id":"s","id":"a","mode":"finish_step"}"#),
        ("replaced", r#"{"session_id":"s","id":"a","replaced_by":"b"}"#),
        ("delivered", r#"{"session_id":"s","id":"b"}"#),
        ("expired", r#"{"session_id":"s","id":"c","reason":"cleared"}"#),
        ("revoked", r#"{"session_id":"s"}"#),
    ] {
        let kind = format!("session.injection.{word}").into();
        let payload = Data::from_json(payload).unwrap().into();
        bench.push(NewRecord {
            topic: "session.injection".into(),
            kind,
            payload,
            headers: Data::Nil,
            occurred_at_ms: 0,
        });
    }
    let rebuilt = bench.rebuilt();
    let ends = &rebuilt.session("s").unwrap().queue_ends;
    let told: Vec<_> = ends.iter().map(|end| (&*end.id, end.word, end.replaced_by.as_deref())).collect();
    assert_eq!(told, [("a", "replaced", Some("b")), ("c", "expired", None)]);
    assert_eq!((rebuilt.foreign, rebuilt.notes.len()), (2, 1));
}
