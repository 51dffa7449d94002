//! The end of a task.

use std::sync::Arc;

use a2a::{Message, TaskState};
use base::data::Data;
use runtime::usage::Usage;
use stdlib::Diagnostic;

use super::super::agent_message::{self, ReportedError};
use super::{HaltReason, TaskEffect, TaskStateMachine};
use crate::host::{EndedPrompt, HostError, PromptOutcome};

/// The ways in which a task ends.
pub(in crate::a2a::tasks) enum TaskEnd {
    /// Its last prompt has ended.
    Ended(Box<EndedPrompt>),
    /// Its session could not be opened, or was lost.
    Gone(HostError),
    /// It was told to stop, and nothing of it runs.
    Halted,
    /// The code that ran it is gone.
    Lost,
    /// It is rejected.
    Rejected {
        /// The reason: a word such as `CAPACITY_EXCEEDED`, or a sentence.
        reason: Arc<str>,
        /// Details of the reason.
        detail: Option<Arc<str>>,
    },
}

impl TaskStateMachine {
    /// Returns whether only the server's stop ends the task, so that another process could continue it.
    pub(in crate::a2a::tasks) fn is_stopped(&self, how: &TaskEnd) -> bool {
        let is_cut = match how {
            TaskEnd::Ended(ended) => matches!(ended.stop, PromptOutcome::Cancelled),
            TaskEnd::Gone(error) => matches!(error, HostError::Closed(_) | HostError::Stopping),
            TaskEnd::Halted | TaskEnd::Lost => true,
            TaskEnd::Rejected { .. } => false,
        };
        is_cut && !self.is_over() && self.halt == Some(HaltReason::Stopping)
    }

    /// Ends the task. Returns an empty list if it was already over. `agent_id` is the name used in a rejection.
    pub(in crate::a2a::tasks) fn end(&mut self, how: TaskEnd, agent_id: &str, now: u64) -> Vec<TaskEffect> {
        if self.is_over() {
            return Vec::new();
        }
        self.forget_questions();
        let mut metadata = Data::Nil;
        let mut log = Vec::new();
        let (state, message) = match how {
            TaskEnd::Ended(ended) => {
                let diagnostics = ended.diagnostics.iter().map(|diagnostic| {
                    Data::dict_of_present([
                        ("code", Data::from(diagnostic.code.as_str())),
                        ("severity", diagnostic.severity.word().into()),
                        ("message", diagnostic.code.row().title.into()),
                    ])
                });
                let diagnostics: Vec<_> = diagnostics.collect();
                if !diagnostics.is_empty() {
                    metadata.set("harn.diagnostics", diagnostics.into());
                }
                // The error of the clean-up is the first diagnostic, and is logged with its id.
                let beside = ended.diagnostics.iter().skip(usize::from(ended.uncleaned.is_some()));
                log.extend(beside.map(|diagnostic| stdlib::draw(diagnostic, false)));
                match (
                    self.of_stop(ended.stop, ended.closing.as_deref(), &mut metadata, &mut log, agent_id, now),
                    ended.uncleaned,
                ) {
                    ((TaskState::Canceled, None), Some(failed)) => {
                        let reported = uncleaned(&failed);
                        log.push(reported.log);
                        (TaskState::Canceled, Some(reported.message))
                    }
                    (ended, _) => ended,
                }
            }
            TaskEnd::Gone(error) => self.of_error(&error, &mut log, agent_id, now),
            TaskEnd::Halted => self.of_halt(),
            TaskEnd::Lost => (TaskState::Failed, Some(agent_message::sentence("the server lost the task"))),
            TaskEnd::Rejected { reason, detail } => {
                (TaskState::Rejected, Some(agent_message::rejection(&reason, detail.as_deref(), agent_id, now)))
            }
        };
        if state == TaskState::Completed && message.is_none() && self.may_be_message {
            self.become_message(&mut metadata);
        }
        let mut out: Vec<_> =
            (state == TaskState::Completed).then(|| self.answer_whole()).flatten().into_iter().collect();
        self.keep_answer();
        if !self.undelivered.is_empty() {
            let ids = std::mem::take(&mut self.undelivered);
            metadata.set("harn.undelivered", ids.iter().map(Data::from).collect());
        }
        if self.usage != Usage::default() {
            metadata.set("harn.usage", usage(self.usage));
        }
        out.extend(self.stand(state, message, metadata, now));
        out.extend(log.into_iter().map(TaskEffect::Log));
        out
    }

    fn of_stop(
        &self,
        stop: PromptOutcome,
        closing: Option<&str>,
        metadata: &mut Data,
        log: &mut Vec<String>,
        agent_id: &str,
        now: u64,
    ) -> (TaskState, Option<Message>) {
        let mut cut = |word: &str, text: &str| {
            metadata.set("harn.stop", word.into());
            (TaskState::Completed, Some(agent_message::sentence(text)))
        };
        match stop {
            PromptOutcome::Done => (TaskState::Completed, closing.map(agent_message::sentence)),
            PromptOutcome::MaxTokens => {
                cut("max_tokens", "The agent has reached its token limit; the answer contains its results so far.")
            }
            PromptOutcome::MaxTurns => cut(
                "max_turns",
                "The agent has reached its turn limit; the answer contains its \
                results so far.",
            ),
            PromptOutcome::Cancelled => self.of_halt(),
            PromptOutcome::Refused(reason) => {
                let (reason, detail) = match reason.split_once(": ") {
                    Some((word, detail)) if is_word(word) => (word, Some(detail)),
                    _ => (&*reason, None),
                };
                (TaskState::Rejected, Some(agent_message::rejection(reason, detail, agent_id, now)))
            }
            PromptOutcome::Failed(failure) => failed(agent_message::failure(&failure), log),
            // Questions are handled while the task runs; none can be answered here.
            PromptOutcome::Asked(_) => {
                (TaskState::Failed, Some(agent_message::sentence("no client was attached to answer")))
            }
        }
    }

    fn of_halt(&self) -> (TaskState, Option<Message>) {
        match self.halt {
            Some(HaltReason::Cancelled) => (TaskState::Canceled, None),
            Some(HaltReason::Stopping) => (TaskState::Failed, Some(stopped())),
            None => (TaskState::Failed, Some(agent_message::sentence("its session was closed"))),
            Some(HaltReason::Deadline) => {
                (TaskState::Failed, Some(agent_message::failed("DEADLINE_EXCEEDED", "Deadline exceeded")))
            }
            Some(HaltReason::TooMuch) => {
                let text = format!(
                    "The output of the task exceeds {} MiB, the limit for one task.",
                    super::artifacts::MOST >> 20
                );
                (TaskState::Failed, Some(agent_message::failed("ARTIFACTS_TOO_LARGE", &text)))
            }
        }
    }

    fn of_error(
        &self,
        error: &HostError,
        log: &mut Vec<String>,
        agent_id: &str,
        now: u64,
    ) -> (TaskState, Option<Message>) {
        match error {
            HostError::Stopping if self.halt.is_none() => (TaskState::Failed, Some(stopped())),
            HostError::Closed(_) | HostError::Stopping => self.of_halt(),
            HostError::Failed(failure) => failed(agent_message::failure(failure), log),
            HostError::Full(_) | HostError::AccountFull(_) => {
                let detail = error.to_string();
                (TaskState::Rejected, Some(agent_message::rejection("CAPACITY_EXCEEDED", Some(&detail), agent_id, now)))
            }
            HostError::Store(stored) => {
                failed(agent_message::reported(agent_message::FAILED, stored.code(), None, &stored.to_string()), log)
            }
            error => failed(agent_message::fault(&error.to_string()), log),
        }
    }
}

/// Returns a failure; the details go to the log.
fn failed(reported: ReportedError, log: &mut Vec<String>) -> (TaskState, Option<Message>) {
    log.push(reported.log);
    (TaskState::Failed, Some(reported.message))
}

/// Reports an error in the clean-up of a task that its caller cancelled.
fn uncleaned(failed: &Diagnostic) -> ReportedError {
    let about = "the task was cancelled, and its clean-up failed";
    agent_message::reported(about, failed.code, None, &stdlib::draw(failed, false))
}

/// Returns the message for a task that ended because the server stopped.
fn stopped() -> Message {
    agent_message::failed("SERVER_STOPPED", "the server was stopped; the results so far are kept")
}

/// Returns whether a reason is a word for programs, such as `CAPACITY_EXCEEDED`.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Returns the token usage of all calls.
fn usage(used: Usage) -> Data {
    let mut usage = Data::dict([
        ("input_tokens", Data::from(used.input_tokens)),
        ("output_tokens", used.output_tokens.into()),
        ("cache_read_tokens", used.cache_read_tokens.into()),
        ("cache_write_tokens", used.cache_write_tokens.into()),
    ]);
    if let Some(cost) = used.cost_usd() {
        usage.set("cost_usd", cost.into());
    }
    usage
}
