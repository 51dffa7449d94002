//! [`McpTasks`]: calls that outlive their request (SEP-1686 in the form with sessions, SEP-2663 in the one without).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::data::Data;
use mcp::Era;
use tokio::sync::watch;

use super::calls::{CallError, CallStep, RunningCall};
use super::client::McpClient;
use super::fault::{McpFault, UNAVAILABLE};
use super::peer::CallFeed;
use super::question::{self, PendingQuestion};
use crate::clock::now_ms;
use crate::spawn::spawn;
use jsonrpc::code;

/// The time for which a task is kept after its creation unless the client wishes a shorter one, in milliseconds.
const TTL_MS: u64 = 3_600_000;
/// The pause that clients are asked to make between two polls, in milliseconds.
const POLL_MS: i64 = 1_000;
/// The key of the task that a result belongs to.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// The tasks of all clients.
pub(super) struct McpTasks {
    most: usize,
    all: Mutex<HashMap<Arc<str>, Arc<McpTask>>>,
}

/// A call that can be followed by its id, which cannot be guessed.
pub(super) struct McpTask {
    id: Arc<str>,
    /// The session that began it; `None` in the form without sessions.
    owner: Option<Arc<str>>,
    created_ms: u64,
    ttl_ms: u64,
    feed: Arc<CallFeed>,
    cancel: watch::Sender<bool>,
    /// The question that it waits for.
    question: watch::Sender<Option<Arc<AskedByTask>>>,
    end: watch::Sender<Option<FinishedTask>>,
}

/// A question of a task.
struct AskedByTask {
    /// Its key in `inputRequests`; no other question of the task has it.
    key: String,
    text: Arc<str>,
    /// The question as an entry of `inputRequests`.
    request: Data,
    /// The question until it is answered.
    pending: Mutex<Option<PendingQuestion>>,
}

/// The end of a task.
#[derive(Clone)]
struct FinishedTask {
    at_ms: u64,
    result: TaskResult,
}

#[derive(Clone)]
enum TaskResult {
    /// The result of the tool, which may say that the tool failed.
    Completed(Data),
    Cancelled,
}

impl McpTasks {
    pub(super) fn new(most: usize) -> McpTasks {
        McpTasks { most, all: Mutex::default() }
    }

    /// Locks the tasks. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<McpTask>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of tasks that are not over.
    pub(super) fn open(&self) -> usize {
        self.lock().values().filter(|task| task.end.borrow().is_none()).count()
    }

    /// Makes a task of a running call. `result` converts the end of the call to the result of the tool.
    ///
    /// # Errors
    /// Too many tasks are kept.
    pub(super) fn begin(
        &self,
        mut call: RunningCall,
        feed: Arc<CallFeed>,
        owner: Option<Arc<str>>,
        ttl: &Data,
        result: impl FnOnce(Result<Data, CallError>) -> Data + Send + 'static,
    ) -> Result<Arc<McpTask>, McpFault> {
        let created_ms = now_ms();
        let wished = ttl.as_int().and_then(|ms| u64::try_from(ms).ok()).unwrap_or(TTL_MS);
        let task = Arc::new(McpTask {
            id: uuid::Uuid::new_v4().to_string().into(),
            owner,
            created_ms,
            ttl_ms: wished.min(TTL_MS),
            feed,
            cancel: call.canceller(),
            question: watch::Sender::new(None),
            end: watch::Sender::new(None),
        });
        {
            let mut all = self.lock();
            all.retain(|_, task| !task.is_expired(created_ms));
            if all.len() >= self.most {
                let message = format!("too many tasks: {} are kept, which is the limit; try again later", self.most);
                return Err(McpFault::new(UNAVAILABLE, message));
            }
            all.insert(task.id.clone(), task.clone());
        }
        let ended = task.clone();
        spawn(async move {
            let mut asked = 0;
            let came = loop {
                match call.next().await {
                    CallStep::Ended(came) => break came,
                    CallStep::Asked(question) if ended.feed.client().takes_forms() => {
                        asked += 1;
                        ended.question.send_replace(Some(Arc::new(AskedByTask::new(asked, question))));
                    }
                    // Dropping the question ends the call.
                    CallStep::Asked(_) => {}
                }
            };
            ended.question.send_replace(None);
            let end = match came {
                Err(CallError::Cancelled) => TaskResult::Cancelled,
                other => TaskResult::Completed(result(other)),
            };
            ended.end.send_replace(Some(FinishedTask { at_ms: now_ms(), result: end }));
        });
        Ok(task)
    }

    /// Returns the task that the parameters name, if this client may see it.
    pub(super) fn find(&self, params: &Data, owner: Option<&Arc<str>>) -> Result<Arc<McpTask>, McpFault> {
        let id = params.get("taskId").as_str().unwrap_or_default();
        let found = self.lock().get(id).cloned();
        let now = now_ms();
        found
            .filter(|task| task.owner.as_ref() == owner && !task.is_expired(now))
            .ok_or_else(|| McpFault::params("task not found: it has expired, or its id is wrong"))
    }

    /// Answers `tasks/list`, which only the form with sessions has.
    pub(super) fn list(&self, owner: Option<&Arc<str>>) -> Data {
        let now = now_ms();
        let mut own: Vec<_> = self.lock().values().filter(|task| task.owner.as_ref() == owner).cloned().collect();
        own.retain(|task| !task.is_expired(now));
        own.sort_by(|a, b| (b.created_ms, &b.id).cmp(&(a.created_ms, &a.id)));
        Data::dict([("tasks", Data::list(own.iter().map(|task| task.to_data(Era::Sessions))))])
    }
}

impl McpTask {
    /// Returns whether it is over and its time has come. A task that runs is kept.
    fn is_expired(&self, now: u64) -> bool {
        self.end.borrow().is_some() && now.saturating_sub(self.created_ms) > self.ttl_ms
    }

    /// Returns its state.
    pub(super) fn to_data(&self, era: Era) -> Data {
        let end = self.end.borrow().clone();
        let question = self.question.borrow().clone().filter(|_| end.is_none());
        let status = match &end {
            None if question.is_some() => "input_required",
            None => "working",
            Some(FinishedTask { result: TaskResult::Cancelled, .. }) => "cancelled",
            // The form with sessions calls a tool that failed a failed task.
            Some(FinishedTask { result: TaskResult::Completed(result), .. })
                if era == Era::Sessions && result.get("isError").truthy() =>
            {
                "failed"
            }
            Some(_) => "completed",
        };
        let (ttl, poll) = match era {
            Era::Sessions => ("ttl", "pollInterval"),
            Era::Stateless => ("ttlMs", "pollIntervalMs"),
        };
        let updated_ms = end.as_ref().map_or_else(now_ms, |end| end.at_ms);
        let mut state = Data::dict_of_present([
            ("taskId", Data::from(&self.id)),
            ("status", status.into()),
            ("statusMessage", self.feed.status().into()),
            ("createdAt", stdlib::rfc3339(self.created_ms).into()),
            ("lastUpdatedAt", stdlib::rfc3339(updated_ms).into()),
            (ttl, i64::try_from(self.ttl_ms).unwrap_or(i64::MAX).into()),
            (poll, POLL_MS.into()),
        ]);
        if let (Era::Stateless, Some(question)) = (era, question) {
            state.set("inputRequests", Data::dict([(&*question.key, question.request.clone())]));
        }
        if let (Era::Stateless, Some(FinishedTask { result: TaskResult::Completed(result), .. })) = (era, end) {
            state.set("result", result);
        }
        state
    }

    /// Returns the `_meta` of messages that belong to the task.
    fn related(&self) -> Data {
        Data::dict([(RELATED, Data::dict([("taskId", Data::from(&self.id))]))])
    }

    /// Takes answers to its question (`tasks/update`). Answers to other questions, such as earlier ones, are ignored.
    pub(super) fn update(&self, responses: &Data) {
        let Some(question) = self.question.borrow().clone() else { return };
        let reply = responses.get(&question.key);
        if !reply.is_nil() {
            self.answer(&question, |pending| pending.answer(question::answer_of(reply)));
        }
    }

    fn answer(&self, question: &AskedByTask, answer: impl FnOnce(PendingQuestion)) {
        let pending = question.pending.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(pending) = pending {
            // The next question comes after the answer.
            self.question.send_replace(None);
            answer(pending);
        }
    }

    /// Waits for its end, and returns the result of the tool (`tasks/result`). Until then, the client is asked its questions.
    pub(super) async fn result(&self, client: &McpClient) -> Result<Data, McpFault> {
        let (mut end, mut asking) = (self.end.subscribe(), self.question.subscribe());
        let end = loop {
            let question = tokio::select! {
                biased;
                end = end.wait_for(Option::is_some) => break end.ok().and_then(|end| end.clone()),
                question = asking.wait_for(Option::is_some) => question.ok().and_then(|question| question.clone()),
            };
            let Some(question) = question else { continue };
            let answer = tokio::select! {
                answer = client.ask(&question.text, self.related()) => answer,
                // Another request has the answer, or the task was cancelled.
                _ = asking.changed() => continue,
            };
            // Dropping the question ends the call.
            self.answer(&question, |pending| {
                if let Ok(answer) = answer {
                    pending.answer(answer);
                }
            });
        };
        match end.map(|end| end.result) {
            Some(TaskResult::Completed(mut result)) => {
                result.set("_meta", self.related());
                Ok(result)
            }
            _ => Err(McpFault::new(code::INTERNAL_ERROR, "the task was cancelled")),
        }
    }

    /// Cancels it.
    ///
    /// # Errors
    /// It is over; the form with sessions reports that.
    pub(super) async fn cancel(&self, era: Era) -> Result<(), McpFault> {
        if self.end.borrow().is_some() {
            return match era {
                Era::Sessions => Err(McpFault::params("the task is over and cannot be cancelled")),
                Era::Stateless => Ok(()),
            };
        }
        self.cancel.send_replace(true);
        let mut end = self.end.subscribe();
        let _ = end.wait_for(Option::is_some).await;
        Ok(())
    }
}

impl AskedByTask {
    fn new(number: u32, question: PendingQuestion) -> AskedByTask {
        AskedByTask {
            key: format!("question-{number}"),
            text: question.text.clone(),
            request: question.to_input_request(),
            pending: Mutex::new(Some(question)),
        }
    }
}
