//! Runs a task from its acceptance to its end, on the server's thread.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use a2a::Message;
use base::data::Data;
use eventlog::LogError;
use tokio::sync::oneshot;

use super::inheritance::inherited;
use super::shared::ManagerState;
use super::shared_task::SharedTask;
use super::state_machine::{HaltReason, TaskEnd, answered as answered_before};
use crate::a2a::context::{SessionLease, prompt};
use crate::clock::now_ms;
use crate::host::{EndedPrompt, HostError, Prompt, PromptOutcome, SessionHandle};

/// A task to run.
pub(super) struct TaskRun {
    pub(super) message: Message,
    /// The merged metadata of the request and the message.
    pub(super) metadata: Data,
    /// The deadline, in milliseconds since 1970-01-01 UTC.
    pub(super) deadline: Option<u64>,
    /// The task's lease in a session.
    pub(super) lease: SessionLease,
    /// Notified once the task is durable.
    pub(super) created: oneshot::Sender<Result<(), LogError>>,
    /// Whether an ended process left the task unfinished.
    pub(super) resumed: bool,
}

/// The timeout for a session that was told to stop, beyond its grace period.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs a task until it is over.
pub(super) async fn run(shared: Arc<ManagerState>, shared_task: Arc<SharedTask>, start: TaskRun) {
    let TaskRun { message, metadata, deadline, mut lease, created, resumed } = start;
    let session_id = lease.session_id().clone();
    let mut watch = TaskGuard { shared: &shared, shared_task: &shared_task, session_id, is_over: false };
    if let Err(error) = shared_task.durable().await {
        watch.is_over = true;
        shared.directory().forget(&shared_task);
        shared_task.end_now(TaskEnd::Lost, &shared.agent_id);
        let _ = created.send(Err(error));
        return;
    }
    // A caller that no longer waits does not stop the task.
    let _ = created.send(Ok(()));
    let how = tokio::select! {
        biased;
        how = work(&shared, &shared_task, &mut lease, &message, metadata, resumed) => how,
        () = alarm(&shared_task, deadline) => TaskEnd::Lost,
    };
    shared.sessions.end(lease.session_id(), &shared_task);
    match &how {
        // If the task itself was not cancelled, its session was closed.
        TaskEnd::Ended(ended) if ended.stop != PromptOutcome::Cancelled || shared_task.is_halted() => lease.rests(),
        // The session may not have received the cancellation yet.
        TaskEnd::Halted => {}
        _ => lease.spoil(),
    }
    // Free the lease first: the next task may arrive as soon as the end of this one is reported.
    drop(lease);
    watch.is_over = true;
    shared.over(&shared_task);
    shared_task.end(how, &shared.agent_id).await;
    shared.count(&shared_task);
}

/// Tells the task to stop once its deadline is reached. Never returns.
async fn alarm(shared_task: &SharedTask, deadline: Option<u64>) {
    if let Some(deadline) = deadline {
        // The system clock may be set back, and timers have a maximum duration.
        while let left @ 1.. = deadline.saturating_sub(now_ms()) {
            tokio::time::sleep(Duration::from_millis(left.min(60_000))).await;
        }
        // The task may be over by now.
        let _ = shared_task.halt(HaltReason::Deadline);
    }
    std::future::pending::<()>().await;
}

/// Opens the session and runs the task's prompts.
async fn work(
    shared: &ManagerState,
    shared_task: &Arc<SharedTask>,
    lease: &mut SessionLease,
    message: &Message,
    metadata: Data,
    resumed: bool,
) -> TaskEnd {
    let handle = match opened(shared, shared_task, lease, resumed).await {
        Ok(handle) => handle,
        Err(how) => return how,
    };
    shared_task.opened(&handle);
    let ready = async {
        // A resumed task gets its inherited reminders from the log.
        let inherits = if resumed { Vec::new() } else { inherited(shared, shared_task, message, &metadata).await };
        shared_task.put_held().await;
        inherits
    };
    let inherits = tokio::select! {
        biased;
        _ = shared_task.halted() => {
            // No prompt has begun.
            lease.rests();
            return TaskEnd::Halted;
        }
        inherits = ready => inherits,
    };
    if shared_task.asks() {
        // An ended process asked a question. The pipeline runs again only once the answer is there.
        tokio::select! {
            biased;
            _ = shared_task.halted() => return TaskEnd::Halted,
            _ = shared_task.replied() => {}
        }
        shared_task.put_held().await;
    }
    let task = shared_task.task();
    let answers = match resumed {
        true => {
            let answers =
                answered_before(&task).filter(|(_, reply)| !shared_task.injections.has_sent(&reply.message_id));
            answers.map(|(asked, reply)| (asked, prompt(reply, &task, Data::Nil).text)).collect()
        }
        false => Vec::new(),
    };
    let first = Prompt { resumed, inherits, answers, ..prompt(message, &task, metadata.clone()) };
    let mut came = loop {
        let came = until_halted(shared_task, &handle, handle.prompt(first.clone())).await;
        match came {
            Err(UnfinishedPrompt::Host(HostError::Busy(_))) if shared.contexts.shares_sessions() => {
                // Events of another client's turn do not belong to the task.
                shared.sessions.end(lease.session_id(), shared_task);
                tokio::select! {
                    biased;
                    _ = shared_task.halted() => {
                        lease.rests();
                        return TaskEnd::Halted;
                    }
                    // The turn is another client's.
                    () = handle.turn_over() => {}
                }
                shared.sessions.begin(lease.session_id(), shared_task);
            }
            came => break came,
        }
    };
    loop {
        match came {
            Ok(EndedPrompt { stop: PromptOutcome::Asked(question), .. }) => {
                shared_task.ask(&question);
                came = answered(shared_task, &handle, |reply| prompt(reply, &task, metadata.clone())).await;
            }
            Ok(ended) => return TaskEnd::Ended(Box::new(ended)),
            Err(UnfinishedPrompt::Host(error)) => return TaskEnd::Gone(error),
            Err(UnfinishedPrompt::Stuck) => return TaskEnd::Halted,
        }
    }
}

/// Opens the task's session. Closes an earlier session with this id first: its events do not belong to the task.
async fn opened(
    shared: &ManagerState,
    shared_task: &Arc<SharedTask>,
    lease: &mut SessionLease,
    resumed: bool,
) -> Result<SessionHandle, TaskEnd> {
    let opening = async {
        lease.make_way().await;
        if shared.contexts.shares_sessions() {
            let handle = lease.open(resumed).await?;
            handle.turn_over().await;
            shared.sessions.begin(lease.session_id(), shared_task);
            return Ok(handle);
        }
        shared.sessions.begin(lease.session_id(), shared_task);
        lease.open(resumed).await
    };
    tokio::select! {
        biased;
        _ = shared_task.halted() => Err(TaskEnd::Halted),
        opened = opening => opened.map_err(TaskEnd::Gone),
    }
}

/// The reason why a prompt did not end.
enum UnfinishedPrompt {
    Host(HostError),
    /// It did not stop when told to.
    Stuck,
}

/// Waits for the caller's answer, and for the end of the prompt that it continues.
async fn answered(
    shared_task: &SharedTask,
    handle: &SessionHandle,
    prompt: impl Fn(&Message) -> Prompt,
) -> Result<EndedPrompt, UnfinishedPrompt> {
    let asked = async {
        let reply = tokio::select! {
            biased;
            ended = handle.unheard() => return ended,
            reply = shared_task.replied() => reply,
        };
        shared_task.put_held().await;
        match handle.answer(prompt(&reply)).await {
            // The question ended at this moment.
            Err(HostError::NotAsking(_)) => handle.unheard().await,
            ended => ended,
        }
    };
    until_halted(shared_task, handle, asked).await
}

/// Waits for the end of a prompt. If the task must stop, tells the prompt to and waits for a grace period.
async fn until_halted(
    shared_task: &SharedTask,
    handle: &SessionHandle,
    end: impl Future<Output = Result<EndedPrompt, HostError>>,
) -> Result<EndedPrompt, UnfinishedPrompt> {
    let mut end = pin!(end);
    let halt = tokio::select! {
        biased;
        ended = &mut end => return ended.map_err(UnfinishedPrompt::Host),
        halt = shared_task.halted() => halt,
    };
    handle.cancel(halt.reason());
    let grace = Duration::from_millis(runtime::stop::GRACE_MS) + STOP_TIMEOUT;
    match tokio::time::timeout(grace, end).await {
        Ok(ended) => ended.map_err(UnfinishedPrompt::Host),
        Err(_) => Err(UnfinishedPrompt::Stuck),
    }
}

/// Guards a running task. If the future is dropped early, the task still ends.
struct TaskGuard<'a> {
    shared: &'a Arc<ManagerState>,
    shared_task: &'a Arc<SharedTask>,
    /// The id of the session that runs the task.
    session_id: Arc<str>,
    is_over: bool,
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.shared.sessions.end(&self.session_id, self.shared_task);
            self.shared_task.end_now(TaskEnd::Lost, &self.shared.agent_id);
            self.shared.over(self.shared_task);
            self.shared.count(self.shared_task);
        }
    }
}
