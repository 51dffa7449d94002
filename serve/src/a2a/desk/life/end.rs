//! The end of a task.

use std::sync::Arc;

use a2a::{Message, TaskState};
use runtime::data::Data;
use runtime::model::Usage;
use stdlib::Diagnostic;

use super::super::say::{self, Reported};
use super::{Halt, Life, Out};
use crate::host::{Ended, HostError, Stop};

/// The ways in which a task ends.
pub(in crate::a2a::desk) enum How {
    /// Its last prompt has ended.
    Ended(Box<Ended>),
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

impl Life {
    /// Returns whether only the server's stop ends the task, so that another process could continue it.
    pub(in crate::a2a::desk) fn is_stopped(&self, how: &How) -> bool {
        let is_cut = match how {
            How::Ended(ended) => matches!(ended.stop, Stop::Cancelled),
            How::Gone(error) => matches!(error, HostError::Closed(_) | HostError::Stopping),
            How::Halted | How::Lost => true,
            How::Rejected { .. } => false,
        };
        is_cut && !self.is_over() && self.halt == Some(Halt::Stopping)
    }

    /// Ends the task. Returns an empty list if it was already over. `agent_id` is the name used in a rejection.
    pub(in crate::a2a::desk) fn end(&mut self, how: How, agent_id: &str, now: u64) -> Vec<Out> {
        if self.is_over() {
            return Vec::new();
        }
        self.forget_questions();
        let mut metadata = Data::Nil;
        let mut log = Vec::new();
        let (state, message) = match how {
            How::Ended(ended) => {
                let told = ended.diagnostics.iter().map(|told| {
                    Data::dict_of_present([
                        ("code", Data::from(told.code.as_str())),
                        ("severity", told.severity.word().into()),
                        ("message", told.code.row().title.into()),
                    ])
                });
                let told: Vec<_> = told.collect();
                if !told.is_empty() {
                    metadata.set("harn.diagnostics", told.into());
                }
                // The error of the clean-up is the first diagnostic, and is logged with its id.
                let beside = ended.diagnostics.iter().skip(usize::from(ended.uncleaned.is_some()));
                log.extend(beside.map(|told| stdlib::draw(told, false)));
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
            How::Gone(error) => self.of_error(&error, &mut log, agent_id, now),
            How::Halted => self.of_halt(),
            How::Lost => (TaskState::Failed, Some(say::sentence("the server lost the task"))),
            How::Rejected { reason, detail } => {
                (TaskState::Rejected, Some(say::rejection(&reason, detail.as_deref(), agent_id, now)))
            }
        };
        if state == TaskState::Completed && message.is_none() && self.may_be_message {
            self.become_message(&mut metadata);
        }
        let mut out: Vec<_> =
            (state == TaskState::Completed).then(|| self.answer_whole()).flatten().into_iter().collect();
        self.keep_answer();
        if self.usage != Usage::default() {
            metadata.set("harn.usage", usage(self.usage));
        }
        out.extend(self.stand(state, message, metadata, now));
        out.extend(log.into_iter().map(Out::Log));
        out
    }

    fn of_stop(
        &self,
        stop: Stop,
        closing: Option<&str>,
        metadata: &mut Data,
        log: &mut Vec<String>,
        agent_id: &str,
        now: u64,
    ) -> (TaskState, Option<Message>) {
        let mut cut = |word: &str, text: &str| {
            metadata.set("harn.stop", word.into());
            (TaskState::Completed, Some(say::sentence(text)))
        };
        match stop {
            Stop::Done => (TaskState::Completed, closing.map(say::sentence)),
            Stop::MaxTokens => {
                cut("max_tokens", "The agent has reached its token limit; the answer contains its results so far.")
            }
            Stop::MaxTurns => cut(
                "max_turns",
                "The agent has reached its turn limit; the answer contains its \
                results so far.",
            ),
            Stop::Cancelled => self.of_halt(),
            Stop::Refused(reason) => {
                let (reason, detail) = match reason.split_once(": ") {
                    Some((word, detail)) if is_word(word) => (word, Some(detail)),
                    _ => (&*reason, None),
                };
                (TaskState::Rejected, Some(say::rejection(reason, detail, agent_id, now)))
            }
            Stop::Failed(failure) => failed(say::failure(&failure), log),
            // Questions are handled while the task runs; none can be answered here.
            Stop::Asked(_) => (TaskState::Failed, Some(say::sentence("no client was attached to answer"))),
        }
    }

    fn of_halt(&self) -> (TaskState, Option<Message>) {
        match self.halt {
            Some(Halt::Cancelled) => (TaskState::Canceled, None),
            Some(Halt::Stopping) => (TaskState::Failed, Some(stopped())),
            None => (TaskState::Failed, Some(say::sentence("its session was closed"))),
            Some(Halt::Deadline) => (TaskState::Failed, Some(say::failed("DEADLINE_EXCEEDED", "Deadline exceeded"))),
            Some(Halt::TooMuch) => {
                let text =
                    format!("The output of the task exceeds {} MiB, the limit for one task.", super::made::MOST >> 20);
                (TaskState::Failed, Some(say::failed("ARTIFACTS_TOO_LARGE", &text)))
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
            HostError::Failed(failure) => failed(say::failure(failure), log),
            HostError::Full(_) => {
                let detail = error.to_string();
                (TaskState::Rejected, Some(say::rejection("CAPACITY_EXCEEDED", Some(&detail), agent_id, now)))
            }
            HostError::Store(stored) => {
                failed(say::reported(say::FAILED, stored.code(), None, &stored.to_string()), log)
            }
            error => failed(say::fault(&error.to_string()), log),
        }
    }
}

/// Returns a failure; the details go to the log.
fn failed(reported: Reported, log: &mut Vec<String>) -> (TaskState, Option<Message>) {
    log.push(reported.log);
    (TaskState::Failed, Some(reported.message))
}

/// Reports an error in the clean-up of a task that its caller cancelled.
fn uncleaned(failed: &Diagnostic) -> Reported {
    let about = "the task was cancelled, and its clean-up failed";
    say::reported(about, failed.code, None, &stdlib::draw(failed, false))
}

/// Returns the message for a task that ended because the server stopped.
fn stopped() -> Message {
    say::failed("SERVER_STOPPED", "the server was stopped; the results so far are kept")
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
