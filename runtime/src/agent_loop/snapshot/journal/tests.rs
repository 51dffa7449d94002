use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::clock::ManualClock;
use base::data::Data;
use eventlog::MemoryLog;
use proptest::prelude::*;

use crate::agent_loop::LoopOptions;
use crate::agent_loop::snapshot::Recipe;
use crate::lifecycle::Selector;
use crate::message::Message;
use crate::reminder::bridge::{DeliveryMode, MessagePayload, Seam};
use crate::reminder::{ReminderSource, ReminderSpec};
use crate::scope::Scope;
use crate::session::Sessions;

use super::*;

/// An operation on a session between two steps.
#[derive(Debug, Clone)]
enum SessionOperation {
    Say(String),
    /// Compaction, a trim or a reset: this many messages stay, and one follows them.
    Replace(usize),
    Remind {
        key: Option<u8>,
        ttl_turns: Option<u32>,
    },
    Turn,
    Clear(u8),
    Queue,
    Deliver,
    Remember(i64),
    Describe(i64),
    Anchor,
}

fn act() -> impl Strategy<Value = SessionOperation> {
    prop_oneof![
        4 => ".{0,12}".prop_map(SessionOperation::Say),
        1 => (0..4_usize).prop_map(SessionOperation::Replace),
        3 => (prop::option::of(0..3_u8), prop::option::of(1..4_u32)).prop_map(|(key, ttl_turns)| SessionOperation::Remind { key, ttl_turns }),
        3 => Just(SessionOperation::Turn),
        1 => (0..3_u8).prop_map(SessionOperation::Clear),
        1 => Just(SessionOperation::Queue),
        1 => Just(SessionOperation::Deliver),
        1 => any::<i64>().prop_map(SessionOperation::Remember),
        1 => any::<i64>().prop_map(SessionOperation::Describe),
        1 => Just(SessionOperation::Anchor),
    ]
}

struct JournalBench {
    session: Rc<Session>,
    scope: Scope,
    folder: PathBuf,
}

impl JournalBench {
    fn new() -> JournalBench {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let name = format!("harn-journal-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let scope = Scope::new(Rc::new(ManualClock::new(5)), Rc::new(MemoryLog::new()));
        JournalBench { session: Sessions::new(7).open(Some("s"), 5), scope, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    fn play(&self, act: &SessionOperation) {
        let (session, scope) = (&self.session, &self.scope);
        match act {
            SessionOperation::Say(text) => {
                session.with(|s| s.transcript.push_message(Arc::new(Message::user(text.as_str()))));
            }
            SessionOperation::Replace(keep) => session.with(|s| {
                let mut messages = s.transcript.messages().take(*keep);
                messages.push_back(Arc::new(Message::user("summed up")));
                s.transcript.set_messages(messages);
            }),
            SessionOperation::Remind { key, ttl_turns } => {
                let mut spec = ReminderSpec::new("Mind the gap.");
                spec.dedupe_key = key.map(|key| key.to_string().into());
                spec.ttl_turns = *ttl_turns;
                session.inject_reminder(scope, spec, ReminderSource::InPipeline, None);
            }
            SessionOperation::Turn => {
                let turn = session.with(|s| {
                    s.turns += 1;
                    s.turns
                });
                session.post_turn_by_hand(scope, turn);
            }
            SessionOperation::Clear(key) => {
                let selector = Selector { dedupe_key: Some(key.to_string().into()), ..Selector::default() };
                session.clear_reminders(scope, &selector);
            }
            SessionOperation::Queue => {
                let message = Arc::new(Message::user("from a host"));
                let payload = MessagePayload { message, mode: DeliveryMode::FinishStep, meta: Data::Nil };
                // A full queue accepts none.
                let _ = session.accept_message(scope, payload);
            }
            SessionOperation::Deliver => drop(session.deliver(scope, Seam::IterationStart)),
            SessionOperation::Remember(n) => {
                session.with(|s| drop(s.provider_memory.insert("p".into(), Data::from(*n))));
            }
            SessionOperation::Describe(n) => {
                session.with(|s| s.transcript.metadata = Data::dict([("n", Data::from(*n))]));
            }
            SessionOperation::Anchor => {
                session.with(|s| s.workspace_anchor = Data::dict([("primary", Data::from("src"))]));
            }
        }
    }

    fn suspension(&self) -> Suspension {
        let suspended_at_turn = self.session.with(|s| s.turns);
        Suspension { reason: "at work".into(), suspended_at_turn, suspended_at_ms: 7, by_itself: false }
    }

    fn state(&self) -> LoopState {
        LoopState { iteration: self.session.with(|s| s.turns), ..LoopState::default() }
    }

    fn snapshot(&self) -> Snapshot {
        let (options, recipe) = (LoopOptions::new("dig"), Recipe::default());
        Snapshot::of_loop(&self.session, &options, &recipe, &[], self.suspension(), self.state(), None)
    }

    /// Writes a step like a loop. Returns whether it was a line.
    fn step(&self, journal: &mut Journal, written: &mut Option<WrittenLoop>) -> bool {
        let known = written.as_mut().filter(|_| journal.takes_lines());
        let line = known.and_then(|known| known.line(&self.session, &self.suspension(), &self.state()));
        if line.is_some_and(|line| journal.append(&line)) {
            return true;
        }
        journal.write_snapshot(format!("{}\n", self.snapshot().to_json()).as_bytes(), "s").unwrap();
        *written = Some(WrittenLoop::of(&self.session));
        false
    }

    fn read(&self) -> Snapshot {
        Snapshot::from_json(&fs::read_to_string(self.path()).unwrap()).unwrap()
    }
}

impl Drop for JournalBench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_file_comes_to_a_snapshot_of_now(steps in prop::collection::vec(prop::collection::vec(act(), 0..5), 1..20)) {
        let bench = JournalBench::new();
        let (mut journal, mut written) = (Journal::new(&bench.path()), None);
        let mut before: Option<(usize, String)> = None;
        for acts in &steps {
            acts.iter().for_each(|act| bench.play(act));
            let is_line = bench.step(&mut journal, &mut written);
            let (read, now) = (bench.read().to_json(), bench.snapshot().to_json());
            prop_assert_eq!(&read, &now);
            let text = fs::read_to_string(bench.path()).unwrap();
            // A killed process may leave any part of the line.
            if let Some((length, earlier)) = before.filter(|_| is_line) {
                for end in (length..text.len()).filter(|end| text.is_char_boundary(*end)).step_by(97) {
                    prop_assert_eq!(&Snapshot::from_json(&text[..end]).unwrap().to_json(), &earlier);
                }
            }
            before = Some((text.len(), now));
        }
        prop_assert!(bench.read().session.restore().is_ok());
    }
}

#[test]
fn a_step_costs_what_it_changes() {
    let bench = JournalBench::new();
    bench.play(&SessionOperation::Say("x".repeat(1 << 20)));
    let (mut journal, mut written) = (Journal::new(&bench.path()), None);
    assert!(!bench.step(&mut journal, &mut written));
    let length = || fs::metadata(bench.path()).unwrap().len();
    let whole = length();
    for n in 0..100 {
        bench.play(&SessionOperation::Say(n.to_string()));
        bench.play(&SessionOperation::Turn);
        assert!(bench.step(&mut journal, &mut written));
    }
    let each = (length() - whole) / 100;
    assert!(each < 2_000, "{each} bytes for each step after {whole}");
}

#[test]
fn lines_that_outgrow_the_snapshot_become_one() {
    let bench = JournalBench::new();
    let (mut journal, mut written) = (Journal::new(&bench.path()), None);
    let steps = 400;
    let wholes = (0..steps).filter(|n| {
        bench.play(&SessionOperation::Say(format!("{n}{}", "x".repeat(500))));
        !bench.step(&mut journal, &mut written)
    });
    let wholes = wholes.count();
    assert!((2..8).contains(&wholes), "{wholes} snapshots in {steps} steps");
    assert_eq!(bench.read().to_json(), bench.snapshot().to_json());
}

#[test]
fn a_file_that_was_taken_away_or_replaced_is_written_anew() {
    let bench = JournalBench::new();
    let (mut journal, mut written) = (Journal::new(&bench.path()), None);
    bench.step(&mut journal, &mut written);
    bench.play(&SessionOperation::Say("one".into()));
    fs::remove_file(bench.path()).unwrap();
    assert!(!bench.step(&mut journal, &mut written));
    assert_eq!(bench.read().to_json(), bench.snapshot().to_json());
    bench.play(&SessionOperation::Say("two".into()));
    fs::remove_file(bench.path()).unwrap();
    fs::write(bench.path(), "something else").unwrap();
    assert!(!bench.step(&mut journal, &mut written));
    assert_eq!(bench.read().to_json(), bench.snapshot().to_json());
}

#[test]
fn what_follows_a_snapshot_and_is_no_step_is_refused() {
    let bench = JournalBench::new();
    let whole = bench.snapshot().to_json();
    let why = |rest: &str| Snapshot::from_json(&format!("{whole}\n{rest}")).unwrap_err().to_string();
    assert!(why("more").contains("unexpected data after the snapshot"));
    assert!(why("{}\n").contains("step 1: missing field"));
    let mut written = WrittenLoop::of(&bench.session);
    let line = written.line(&bench.session, &bench.suspension(), &bench.state()).unwrap();
    let line = String::from_utf8(line).unwrap();
    let removes = line.replace("\"queue_ids\"", "\"events\":{\"removed\":[7]},\"queue_ids\"");
    assert!(why(&removes).contains("step 1: event 7 not found"));
    let turns = line.replace("\"turns\":0", "\"turns\":4294967295");
    assert!(why(&turns).contains("`session.turns` cannot be"), "{}", why(&turns));
}
