//! Observing a loop at work: observers are notified of what happens and cannot change it. Unlike a handler, an observer
//! is native, returns at once and adds no reminders.

use std::sync::Arc;

use crate::data::Data;
use crate::hooks::event::ToolResult;
use crate::message::ToolCall;
use crate::model::{Delta, Reply};
use crate::reminder::bridge::Injection;
use crate::seam::Turn;

use super::{LoopResult, Run};

/// Something that can be seen of a loop.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// The session, its turn, and what surrounds the loop.
    pub turn: Turn<'a>,
    /// The iteration, from 1; 0 before the first.
    pub iteration: u32,
    /// The observed event.
    pub seen: Seen<'a>,
}

/// An event that an observer of a loop can see.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// It begins.
    Began,
    /// The model is asked.
    Asked,
    /// A piece of the answer, without the word by which the model says that it is done.
    Piece(Delta<'a>),
    /// The answer is there, whole.
    Answered {
        /// The answer.
        reply: &'a Reply,
        /// Its text, without the word by which the model says that it is done.
        text: &'a Arc<str>,
        /// Context window of the model in tokens, if known.
        context_window: Option<u64>,
    },
    /// The model could not be asked, or the call was given up.
    Unanswered,
    /// The call was given up in the middle of an answer. What had come of it is in the transcript.
    Interrupted {
        /// The end of its message, which says so.
        mark: &'a str,
    },
    /// The answer asks for a call. All calls of an answer are seen before anything becomes of the first.
    ToolWanted {
        /// The call.
        call: &'a ToolCall,
        /// The tool's annotations; nil if it has none or is unknown.
        annotations: &'a Data,
    },
    /// A tool begins.
    ToolBegan(&'a ToolCall),
    /// A tool does not run any more. What the model sees of it is seen once handlers have looked at it.
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
    /// It has nothing to do and sleeps.
    Idle,
    /// It is over.
    Ended(&'a LoopResult),
}

impl Run<'_> {
    /// Lets those who watch see something.
    pub(super) fn let_see(&self, iteration: u32, seen: Seen<'_>) {
        (self.parts.live)(Sight { turn: self.turn(), iteration, seen });
    }
}
