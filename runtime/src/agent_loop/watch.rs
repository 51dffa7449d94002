//! Watching a loop at work: who watches is told what happens and cannot change it. Unlike a handler it is native, answers at
//! once and adds no reminders.

use crate::message::ToolCall;
use crate::model::{Delta, Usage};
use crate::seam::Turn;

use super::{LoopResult, Run};

/// Something that can be seen of a loop.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// The session, its turn, and what surrounds the loop.
    pub turn: Turn<'a>,
    /// The iteration, from 1; 0 before the first.
    pub iteration: u32,
    /// What is seen.
    pub seen: Seen<'a>,
}

/// What can be seen of a loop.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// It begins.
    Began,
    /// The model is asked.
    Asked,
    /// A piece of the answer.
    Piece(Delta<'a>),
    /// The answer is there; the tokens of this call.
    Answered(Usage),
    /// The model could not be asked, or the call was given up.
    Unanswered,
    /// A tool begins.
    ToolBegan(&'a ToolCall),
    /// A tool has ended.
    ToolEnded(&'a ToolCall),
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
