//! Observing a loop at work: observers are notified of what happens and cannot change it. Unlike a handler, an observer
//! is native, returns at once and adds no reminders.

use std::sync::Arc;

use base::data::Data;

use crate::hooks::event::ToolResult;
use crate::message::ToolCall;
use crate::model::{Delta, ModelReply};
use crate::reminder::bridge::Injection;
use crate::seam::Turn;

use super::{LoopResult, RunningLoop};

/// An observable event of a loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopObservation<'a> {
    /// The session, its turn, and the scope of the loop.
    pub turn: Turn<'a>,
    /// The iteration, from 1; 0 before the first.
    pub iteration: u32,
    /// The observed event.
    pub seen: LoopEvent<'a>,
}

/// An event that an observer of a loop can see.
#[derive(Debug, Clone, Copy)]
pub enum LoopEvent<'a> {
    /// The loop begins.
    Began,
    /// The model is called.
    Asked,
    /// A piece of the answer, without the word by which the model says that it is done.
    Piece(Delta<'a>),
    /// The answer is complete.
    Answered {
        /// The answer.
        reply: &'a ModelReply,
        /// Its text, without the word by which the model says that it is done.
        text: &'a Arc<str>,
        /// Context window of the model in tokens, if known.
        context_window: Option<u64>,
    },
    /// The model call failed or was abandoned.
    Unanswered {
        /// Kind of the failure.
        error_kind: &'static str,
    },
    /// The call was abandoned in the middle of an answer. The text received is in the transcript.
    Interrupted {
        /// The end of the message, which marks the interruption.
        mark: &'a str,
    },
    /// The answer requests a call. All calls of an answer are shown before the first is processed.
    ToolWanted {
        /// The call.
        call: &'a ToolCall,
        /// The tool's annotations; nil if it has none or is unknown.
        annotations: &'a Data,
    },
    /// A tool starts.
    ToolBegan(&'a ToolCall),
    /// A tool has stopped running. The text that the model sees is shown once handlers have processed it.
    ToolEnded(&'a ToolCall),
    /// The call has its result: the tool's output as handlers left it, or the reason it was not run. Results of
    /// parallel calls come in the order of the calls.
    ToolAnswered {
        /// The call.
        call: &'a ToolCall,
        /// The result.
        result: &'a ToolResult,
    },
    /// A bridge injection was delivered for the model to see.
    Delivered(&'a Injection),
    /// The loop has nothing to do and sleeps.
    Idle,
    /// The loop is over.
    Ended(&'a LoopResult),
}

impl RunningLoop<'_> {
    /// Shows an event to the observers.
    pub(super) fn let_see(&self, iteration: u32, seen: LoopEvent<'_>) {
        (self.parts.live)(LoopObservation { turn: self.turn(), iteration, seen });
    }
}
