//! Waiting for a durable log.

use base::call::LocalFuture;
use eventlog::{LogError, LogReader, NewRecord, RecordPosition, Subscription, Ticket};

use super::*;

/// A log that records how much of it would survive, and that can fail.
#[derive(Default)]
struct DurabilityLog {
    inner: MemoryLog,
    appended: Cell<usize>,
    safe: Cell<usize>,
    /// Index of the wait, from 1, from which on it fails; 0 means never.
    breaks_at: Cell<usize>,
    waits: Cell<usize>,
}

impl DurabilityLog {
    fn is_safe(&self) -> bool {
        self.safe.get() == self.appended.get()
    }
}

impl EventLog for DurabilityLog {
    fn append(&self, record: NewRecord) -> Ticket {
        self.appended.set(self.appended.get() + 1);
        self.inner.append(record)
    }

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<RecordPosition>> {
        self.inner.emit(record)
    }

    fn reader(&self) -> LogReader {
        self.inner.reader()
    }

    fn durable(&self, _: Ticket) -> LocalFuture<'_, Outcome<()>> {
        self.waits.set(self.waits.get() + 1);
        let breaks_at = self.breaks_at.get();
        if breaks_at > 0 && self.waits.get() >= breaks_at {
            let path = Arc::from(std::path::Path::new("events.db"));
            let full = LogError::NotWritten { path, why: "the disk is full".to_owned() };
            return Box::pin(std::future::ready(Err(call_error(full))));
        }
        self.safe.set(self.appended.get());
        Box::pin(std::future::ready(Ok(())))
    }

    fn subscribe(&self, filter: RecordFilter) -> Box<dyn Subscription> {
        self.inner.subscribe(filter)
    }
}

fn watched(replies: impl IntoIterator<Item = ModelReply>) -> (LoopBench, Rc<DurabilityLog>) {
    let log = Rc::new(DurabilityLog::default());
    let bench = LoopBench::new(replies);
    (LoopBench { scope: Scope { log: log.clone(), ..bench.scope.clone() }, ..bench }, log)
}

/// Returns a handler that injects while a call is about to run.
fn injecting() -> Rc<dyn Hook> {
    handler(|turn, _| {
        turn.session.inject_reminder(turn.scope, spec("mind the step"), ReminderSource::Hook, None);
        Ok(Verdict::default())
    })
}

#[test]
fn a_tool_runs_once_the_log_is_safe_what_its_handlers_added_included() {
    let (mut bench, log) = watched([calls(&["look", "look"]), says("ok")]);
    bench.on_tool(Some(injecting()), None);
    let (seen, at_hand) = (Rc::new(RefCell::new(Vec::new())), log.clone());
    let found = seen.clone();
    bench.parts.tools = vec![tool("look", move |_, _| {
        found.borrow_mut().push((at_hand.is_safe(), at_hand.appended.get() > 0));
        Ok(Output::of("looked".into()))
    })];
    bench.run();
    assert_eq!(*seen.borrow(), [(true, true), (true, true)]);
}

#[test]
fn whoever_hears_of_a_delivery_may_rely_on_its_record() {
    let (bench, log) = watched([says("ok"), says("seen")]);
    bench.push(spec("from the host"), DeliveryMode::FinishStep);
    let (seen, at_hand) = (Rc::new(RefCell::new(Vec::new())), log.clone());
    let found = seen.clone();
    bench.on(EventKind::LoopCheckpoint, move |_, event| {
        if matches!(event, HookEvent::LoopCheckpoint { delivered: 1.., .. }) {
            found.borrow_mut().push(at_hand.is_safe());
        }
        Ok(Verdict::default())
    });
    bench.run();
    assert_eq!(*seen.borrow(), [true]);
}

#[test]
fn a_loop_ends_once_the_log_is_safe() {
    let (bench, log) = watched([says("ok")]);
    bench.on(EventKind::SessionEnd, |turn, _| {
        turn.session.inject_reminder(turn.scope, spec("next time"), ReminderSource::Hook, None);
        Ok(Verdict::default())
    });
    bench.run();
    assert!(log.is_safe() && log.appended.get() > 0);
}

#[test]
fn a_log_that_cannot_be_written_keeps_tools_from_running_and_leaves_no_call_without_an_answer() {
    let (mut bench, log) = watched([calls(&["look", "look"]), says("ok")]);
    log.breaks_at.set(1);
    let ran = Rc::new(Cell::new(0));
    let count = ran.clone();
    bench.parts.tools = vec![tool("look", move |_, _| {
        count.set(count.get() + 1);
        Ok(Output::of("looked".into()))
    })];
    assert_eq!(bench.try_run().unwrap_err().code().map(base::codes::CodeRef::as_str), Some("HARN-LOG-006"));
    assert_eq!(ran.get(), 0);
    assert_eq!(bench.roles(), [Role::User, Role::Assistant, Role::Tool, Role::Tool]);
}

#[test]
fn a_loop_whose_log_cannot_be_written_does_not_end_well() {
    let (bench, log) = watched([says("ok")]);
    log.breaks_at.set(1);
    assert_eq!(bench.try_run().unwrap_err().code().map(base::codes::CodeRef::as_str), Some("HARN-LOG-006"));
}
