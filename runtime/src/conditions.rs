//! Conditions of reminders: functions that a script gives as `when`, `until` and `expect`. The core stores only their names; the
//! run that made them evaluates them before each prompt of a loop, and a name it does not know is lost.

use std::rc::Rc;

use base::call::{Answer, CallError, Outcome, call_error};

use crate::hooks::event::ToolResults;
use crate::message::ToolCall;
use crate::reminder::Reminder;
use crate::seam::Turn;
use crate::timeout::TimedOut;

/// The situation in which a condition is evaluated: before a prompt of a loop.
#[derive(Debug, Clone, Copy)]
pub struct ConditionFacts<'a> {
    /// The reminder.
    pub reminder: &'a Reminder,
    /// Number of prompts that carried its key.
    pub times: u32,
    /// Iteration of the loop, from 1.
    pub iteration: u32,
    /// The task of the loop.
    pub task: &'a str,
    /// The last answer of the model.
    pub text: &'a str,
    /// Tokens of the last request and its answer.
    pub context_tokens: u64,
    /// Tokens that the model can take, if known.
    pub context_window: Option<u64>,
}

/// A turn whose prompt carried a reminder, as its expectation sees it.
#[derive(Debug, Clone, Copy)]
pub struct TurnFacts<'a> {
    /// The facts that are known before a prompt as well; `text` is the answer of this turn.
    pub facts: ConditionFacts<'a>,
    /// The calls that the answer requests.
    pub tool_calls: &'a [ToolCall],
    /// Their results.
    pub tool_results: &'a ToolResults,
}

/// The conditions of a run.
pub trait Conditions {
    /// Evaluates a condition; `None` if the run does not have it.
    fn evaluate<'a>(
        &'a self,
        name: &'a str,
        turn: Turn<'a>,
        facts: ConditionFacts<'a>,
    ) -> Option<Answer<'a, Outcome<bool>>>;

    /// Decides whether a turn followed a reminder; the decision is `None` if the turn does not show it either way. Returns
    /// `None` if the run does not have the function.
    fn follows<'a>(
        &'a self,
        _name: &'a str,
        _turn: Turn<'a>,
        _facts: TurnFacts<'a>,
    ) -> Option<Answer<'a, Outcome<Option<bool>>>> {
        None
    }

    /// Returns the diagnostic for a condition that took longer than `ms` milliseconds.
    fn late(&self, _name: &str, ms: u64) -> Rc<dyn CallError> {
        call_error(TimedOut { ms })
    }
}

/// A run without conditions.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoConditions;

impl Conditions for NoConditions {
    fn evaluate<'a>(&'a self, _: &'a str, _: Turn<'a>, _: ConditionFacts<'a>) -> Option<Answer<'a, Outcome<bool>>> {
        None
    }
}
