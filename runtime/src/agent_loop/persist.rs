//! Persistence of a loop across processes: the loop writes the state it needs to go on whenever no work is half done:
//!
//! - at the start of each iteration and before its tools run, so that a killed process loses at most the current step;
//! - before each nap of a daemon;
//! - at its end.
//!
//! Another process resumes it from there. The script provides again what a file cannot hold (tools, functions).

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use base::call::{BlockingPool, Outcome, call_error, run_blocking};
use base::codes::Severity;
use base::data::Data;
use base::lock::LockFile;

use crate::agent_loop::snapshot::{Journal, Recipe, Snapshot, SnapshotError, StoredEnd, Suspension, WrittenLoop};
use crate::events::EventKind;
use crate::hooks::HookEvent;
use crate::loop_status::LoopStatus;
use crate::message::{Message, Role};
use crate::note::Note;
use crate::session::Session;

use super::prompt::interruption_mark;
use super::{LoopEnd, LoopState, RunningLoop};

/// Storage for a loop's state.
pub struct LoopStorage {
    path: Arc<str>,
    recipe: Recipe,
    /// Lock that keeps other loops from writing there or resuming from there; `None` once the loop is over. A write in
    /// progress holds it too.
    lock: RefCell<Option<Arc<LockFile>>>,
    /// Pool that runs the writes; without it they run on the session's own thread.
    pool: Option<Rc<dyn BlockingPool>>,
    /// `None` while a write is under way.
    journal: Cell<Option<Journal>>,
    written: RefCell<Option<WrittenLoop>>,
    /// Whether it has been written once; later failures do not end the loop.
    works: Cell<bool>,
}

impl LoopStorage {
    /// Creates the storage at a path whose lock is held. `recipe` is the description of the loop.
    #[must_use]
    pub fn new(path: Arc<str>, recipe: Recipe, lock: LockFile, pool: Option<Rc<dyn BlockingPool>>) -> LoopStorage {
        LoopStorage {
            path,
            recipe,
            lock: RefCell::new(Some(Arc::new(lock))),
            pool,
            journal: Cell::default(),
            written: RefCell::default(),
            works: Cell::default(),
        }
    }

    /// Returns the line of the step that was just done, if a line can express it.
    fn line(&self, session: &Session, suspension: &Suspension, state: &LoopState) -> Option<Vec<u8>> {
        let mut written = self.written.borrow_mut();
        written.as_mut().filter(|_| self.takes_lines())?.line(session, suspension, state)
    }

    /// Appends a line to the journal. Returns whether it was written; otherwise a snapshot must be written.
    async fn append(&self, line: Vec<u8>) -> bool {
        self.write(line, Journal::append).await.unwrap_or(false)
    }

    /// Replaces the file with a snapshot.
    async fn replace(&self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let mut text = snapshot.to_json().into_bytes();
        text.push(b'\n');
        let id = snapshot.id.clone();
        self.write(text, move |journal, text| journal.write_snapshot(text, &id)).await?
    }

    async fn write<T: Send + 'static>(
        &self,
        bytes: Vec<u8>,
        write: impl FnOnce(&mut Journal, &[u8]) -> T + Send + 'static,
    ) -> Result<T, SnapshotError> {
        let mut journal = self.journal.take().unwrap_or_else(|| Journal::new(Path::new(self.path.as_ref())));
        let lock = self.lock.borrow().clone();
        let work = move || {
            let done = write(&mut journal, &bytes);
            // Memory is counted per thread, so the values that were moved to the pool come back to be freed.
            (journal, bytes, lock, done)
        };
        let (journal, _bytes, _lock, done) = match &self.pool {
            None => work(),
            Some(pool) => run_blocking(pool.as_ref(), work)
                .await
                .map_err(|error| SnapshotError::Io { path: self.path.to_string(), why: error.to_string() })?,
        };
        self.journal.set(Some(journal));
        Ok(done)
    }

    /// Releases the lock after the last write. That removes a file, so it waits for the disk.
    pub(super) async fn release(&self) {
        let lock = self.lock.take();
        if let (Some(pool), Some(lock)) = (&self.pool, lock) {
            // Without a thread it is released here.
            let _ = run_blocking(pool.as_ref(), move || drop(lock)).await;
        }
    }

    fn takes_lines(&self) -> bool {
        let journal = self.journal.take();
        let takes = journal.as_ref().is_some_and(Journal::takes_lines);
        self.journal.set(journal);
        takes
    }
}

impl std::fmt::Debug for LoopStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Persist").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Information about a loop that another process has left.
#[derive(Debug, Clone)]
pub struct ResumedLoop {
    /// Reason and time of the suspension.
    pub suspension: Suspension,
    /// New input for it to read.
    pub input: Option<Arc<str>>,
    /// Remarks for the user about what differs from before.
    pub remarks: Vec<String>,
}

/// The point a loop has reached when its state is written.
#[derive(Clone, Copy)]
pub(super) enum Checkpoint<'a> {
    Working,
    Idle,
    Over(&'a LoopEnd),
}

impl RunningLoop<'_> {
    /// Writes the changes of the state; at the end of the loop, the whole state as one snapshot. If the first write
    /// fails, the loop does not begin; later failures are noted, because the loop's work is worth more than its copy.
    pub(super) async fn persist(&self, state: &LoopState, at: Checkpoint<'_>) -> Outcome<()> {
        let Some(persist) = &self.options.continuity.persist else { return Ok(()) };
        let (reason, by_itself) = self.why_left(at);
        let suspension = Suspension {
            reason,
            by_itself,
            suspended_at_turn: self.turn().number,
            suspended_at_ms: self.scope.clock.now_ms(),
        };
        if !matches!(at, Checkpoint::Over(_))
            && let Some(line) = persist.line(self.session, &suspension, state)
            && persist.append(line).await
        {
            return Ok(());
        }
        let ended = match at {
            Checkpoint::Over(ended) if !may_go_on(ended.status) => {
                Some(StoredEnd { status: ended.status, stop_reason: ended.stop_reason })
            }
            _ => None,
        };
        let (session, options, recipe) = (self.session, &self.options, &persist.recipe);
        let tools: Vec<_> = self.parts.tools.iter().map(|tool| tool.spec().clone()).collect();
        let snapshot = Snapshot::of_loop(session, options, recipe, &tools, suspension, state.clone(), ended);
        let now = WrittenLoop::of(session);
        *persist.written.borrow_mut() = None;
        match persist.replace(&snapshot).await {
            Ok(()) => {
                *persist.written.borrow_mut() = Some(now);
                persist.works.set(true);
            }
            Err(error) if !persist.works.get() => return Err(call_error(error)),
            Err(error) => self.note(Note::of_fault("persist_path", call_error(error))),
        }
        Ok(())
    }

    /// Returns the reason recorded for the case that this is the loop's last write.
    fn why_left(&self, at: Checkpoint<'_>) -> (Arc<str>, bool) {
        match at {
            Checkpoint::Working => ("the process ended while the loop was running".into(), false),
            Checkpoint::Idle => ("the process ended while the loop was idle".into(), false),
            Checkpoint::Over(ended) => match self.parking.requested() {
                Some(request) if ended.status == LoopStatus::Suspended => (request.reason, request.by_itself),
                _ => (ended.stop_reason.as_str().into(), false),
            },
        }
    }

    /// Notes the differences from the state in which the loop was left.
    pub(super) fn remark_on_resumption(&self) {
        let remarks = self.options.continuity.resumed.iter().flat_map(|resumed| &resumed.remarks);
        for message in remarks.cloned() {
            let (severity, about) = (Severity::Warning, Some("resume_path".into()));
            self.note(Note { code: None, severity, message, about, fault: None });
        }
    }

    /// Notifies handlers and providers that the loop goes on, and adds the new input.
    pub(super) async fn go_on(&self, state: &mut LoopState) -> Outcome<Option<LoopEnd>> {
        let Some(resumed) = &self.options.continuity.resumed else { return Ok(None) };
        let input: Data = resumed.input.as_ref().into();
        let worker = Data::dict([
            ("id", Data::from(self.session.id())),
            ("name", (&self.options.persona).into()),
            ("task", (&state.task).into()),
            ("status", "running".into()),
        ]);
        let payload = Data::dict([("worker", worker), ("resume_input", input)]);
        self.emit(&HookEvent::Raw { kind: EventKind::PreResume, payload: &payload }).await?;
        if let Some(input) = &resumed.input {
            let mut new = LoopState { task: input.clone(), ..LoopState::default() };
            if let Some(blocked) = self.user_prompt_submit(&mut new).await? {
                return Ok(Some(blocked));
            }
            let message = Arc::new(Message::user(new.task));
            self.session.with(|s| s.transcript.push_message(message));
        } else if self.ends_interrupted() {
            // Several vendors refuse a conversation that ends with an assistant message.
            let message = Arc::new(Message::user("Your last answer was interrupted. Continue with the task."));
            self.session.with(|s| s.transcript.push_message(message));
        }
        let told = payload.clone().with("suspension", resumed.suspension.to_data()).with("resume", cause(resumed));
        self.evaluate(&HookEvent::Raw { kind: EventKind::WorkerResumed, payload: &told }).await?;
        self.emit(&HookEvent::Raw { kind: EventKind::PostResume, payload: &payload }).await?;
        Ok(None)
    }

    /// Returns whether the last message is an interrupted answer.
    fn ends_interrupted(&self) -> bool {
        let marks = ["cancelled", "deadline"].map(interruption_mark);
        let is_interrupted = |message: &Arc<Message>| {
            let text = message.content.to_text();
            message.role == Role::Assistant && marks.iter().any(|mark| text.ends_with(mark.as_str()))
        };
        self.session.with(|s| s.transcript.messages().iter().next_back().is_some_and(is_interrupted))
    }
}

/// Builds the cause that the provider `resume_continuity` reports.
fn cause(resumed: &ResumedLoop) -> Data {
    Data::dict_of_present([
        ("initiator", Data::from("operator")),
        ("input_present", resumed.input.is_some().into()),
        ("input_rendered", resumed.input.as_ref().into()),
        ("continue_transcript", true.into()),
    ])
}

/// Returns whether a loop with this outcome continues where it was. Any other is over, and a new loop in the same
/// conversation follows.
fn may_go_on(status: LoopStatus) -> bool {
    matches!(status, LoopStatus::Suspended | LoopStatus::Cancelled)
}
