//! Resuming after a suspension. Everything here happens before the first resumed turn.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use base::call::{Outcome, call_error};
use base::data::Data;

use crate::agent_loop::snapshot::{SnapshotError, Suspension};
use crate::events::EventKind;
use crate::lifecycle::{CompactionCharge, compact, preserve_only};
use crate::message::{Message, Messages, Role};
use crate::scope::Scope;
use crate::session::Session;
use crate::stop::{GRACE_MS, until_stopped};

use super::{Worker, WorkerError, WorkerStatus};

/// Number of last messages that a digest includes.
const DIGEST_MESSAGES: usize = 12;
/// Maximum length of each, in characters.
const DIGEST_CHARS: usize = 400;

/// The options to resume a worker.
#[derive(Debug, Clone)]
pub struct Resumption {
    /// The initiator, as reported to the worker: `operator`, `parent`.
    pub initiator: Arc<str>,
    /// New input for it to read; nil for none.
    pub input: Data,
    /// Whether it continues its conversation. Otherwise it restarts with its task; it keeps the pending reminders that
    /// compaction would preserve, and a digest summarises the previous conversation.
    pub continue_transcript: bool,
}

/// Makes a suspended worker ready to work again and emits the event. It works once [`super::work()`] runs.
pub async fn resume(worker: &Rc<Worker>, scope: &Scope, how: &Resumption) -> Outcome<()> {
    let state = |status| WorkerError::State { name: worker.name.clone(), status, what: "be resumed" };
    let Some(suspension) = worker.suspension().filter(|_| worker.status() == WorkerStatus::Suspended) else {
        return Err(call_error(state(worker.status())));
    };
    let input = || Data::dict([("resume_input", how.input.clone())]);
    if !worker.begin_resuming() {
        return Err(call_error(state(WorkerStatus::Running)));
    }
    // Its snapshot is void from here on, so that it cannot be resumed elsewhere as well.
    let path = worker.snapshot_path();
    let path = path.as_deref().map(Path::new);
    let from_file = worker.has_claimed();
    let mut attempt = ResumptionAttempt { worker, has_claim: from_file, is_over: false };
    if let Some(path) = path.filter(|_| !from_file) {
        match until_stopped(scope, GRACE_MS, worker.storage.claim(path)).await.map_err(call_error)? {
            // A file that was removed cannot be resumed elsewhere either.
            Ok(()) | Err(SnapshotError::Missing(_)) => attempt.has_claim = true,
            Err(error) => return Err(call_error(error)),
        }
    }
    let resumed = async {
        worker.tell_session(scope, EventKind::PreResume, input()).await?;
        // An observer of the event may have closed it.
        worker.turn_to(WorkerStatus::Running, "be resumed").map_err(call_error)?;
        let digest = if how.continue_transcript { Data::Nil } else { Data::from(begin_anew(worker, scope)) };
        let fields = input().with("suspension", suspension.to_data()).with("resume", cause(how, digest));
        worker.tell(scope, EventKind::WorkerResumed, fields).await?;
        let persona = input().with("persona", (&worker.options.persona).into());
        worker.tell_session(scope, EventKind::OnPersonaResumed, persona).await?;
        if !how.input.is_nil() {
            let message = Arc::new(Message::user(how.input.to_text()));
            worker.session.with(|state| state.transcript.push_message(message));
        }
        worker.tell_session(scope, EventKind::PostResume, input()).await
    };
    let resumed = resumed.await;
    attempt.is_over = true;
    drop(attempt);
    match &resumed {
        Ok(()) => {
            worker.unpark();
            worker.parking.clear();
            // For a worker from a file the claimed file stays, so that resuming can be retried.
            if let Some(path) = path.filter(|_| !from_file) {
                let _ = until_stopped(scope, GRACE_MS, worker.storage.discard(path)).await;
            }
        }
        Err(_) if worker.status() == WorkerStatus::Cancelled => {}
        Err(_) => {
            worker.become_for_certain(WorkerStatus::Suspended);
            worker.rest();
            if let Some(path) = path {
                let _ = until_stopped(scope, GRACE_MS, worker.storage.unclaim(path)).await;
            }
        }
    }
    resumed
}

/// The attempt to resume a worker. If it is dropped half way, the worker is suspended as before and keeps its claim.
struct ResumptionAttempt<'a> {
    worker: &'a Worker,
    has_claim: bool,
    is_over: bool,
}

impl Drop for ResumptionAttempt<'_> {
    fn drop(&mut self) {
        self.worker.end_resuming();
        if self.is_over || self.worker.status() == WorkerStatus::Cancelled {
            return;
        }
        if self.has_claim {
            self.worker.claim();
        }
        self.worker.become_for_certain(WorkerStatus::Suspended);
        self.worker.rest();
    }
}

/// Builds the cause that the provider `resume_continuity` reports.
fn cause(how: &Resumption, digest: Data) -> Data {
    Data::dict_of_present([
        ("initiator", Data::from(&how.initiator)),
        ("input_present", (!how.input.is_nil()).into()),
        ("input_rendered", if how.input.is_nil() { Data::Nil } else { how.input.to_text().into() }),
        ("continue_transcript", how.continue_transcript.into()),
        ("digest", digest),
    ])
}

/// Replaces the conversation by the task alone and returns a digest of the conversation. Reminders are compacted with
/// the charge of the loop's own compaction.
fn begin_anew(worker: &Rc<Worker>, scope: &Scope) -> String {
    let digest = digest(&worker.session);
    worker.session.apply(
        scope,
        |transcript, _| {
            let mut records = compact(transcript, CompactionCharge::Carried).records;
            records.extend(preserve_only(transcript));
            records
        },
        std::mem::take,
    );
    let mut task: Arc<str> = worker.task.clone();
    worker.with_left(|left| {
        task = left.task.clone();
        (left.nudges, left.unseen, left.context_tokens) = (0, 0, 0);
    });
    let messages = if task.is_empty() { Messages::new() } else { Messages::unit(Arc::new(Message::user(task))) };
    worker.session.with(|state| state.transcript.set_messages(messages));
    digest
}

/// Returns the last messages of a conversation, a line for each.
fn digest(session: &Session) -> String {
    let transcript = session.transcript();
    let messages = transcript.messages();
    let skipped = messages.len().saturating_sub(DIGEST_MESSAGES);
    let mut lines = Vec::new();
    if skipped > 0 {
        lines.push(format!("({skipped} earlier messages)"));
    }
    lines.extend(messages.iter().skip(skipped).map(|message| line(message)));
    lines.join("\n")
}

fn line(message: &Message) -> String {
    let calls: Vec<&str> = message.tool_calls.iter().map(|call| call.name.as_ref()).collect();
    let text = message.text();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match text.char_indices().nth(DIGEST_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    let who =
        if message.role == Role::Tool { message.name.as_deref().unwrap_or("tool") } else { message.role.as_str() };
    match calls.as_slice() {
        [] => format!("{who}: {text}"),
        calls if text.is_empty() => format!("{who}: (calls {})", calls.join(", ")),
        calls => format!("{who}: {text} (calls {})", calls.join(", ")),
    }
}

impl Worker {
    /// Restores a suspended worker of another process from its loop's state and its suspension.
    pub fn restore(&self, left: Box<crate::agent_loop::LoopState>, suspension: Suspension) {
        self.park(left, suspension);
        self.claim();
        self.become_for_certain(WorkerStatus::Suspended);
        self.rest();
    }
}
