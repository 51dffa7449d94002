//! Actions: the effects that a handler may request at an event. Each event has a type of its own, so a handler cannot
//! request an effect that its event does not offer, and the code that raises an event handles every answer to it.
//!
//! A script's answer is untyped until it is read; [`Verdict::from_data`] reads it. A handler in Rust answers with a
//! [`HookReply`]:
//!
//! ```
//! use runtime::hooks::{PreToolUse, PostTurn, HookReply, ToolCallAction, TurnAction};
//!
//! let refuse: HookReply<PreToolUse> = HookReply::act(ToolCallAction::Refuse { reason: "read only".into() });
//! let end: HookReply<PostTurn> = HookReply::act(TurnAction::End);
//! ```
//!
//! The action of another event does not compile:
//!
//! ```compile_fail,E0308
//! use runtime::hooks::{PostTurn, HookReply, ToolCallAction};
//!
//! let refuse: HookReply<PostTurn> = HookReply::act(ToolCallAction::Refuse { reason: "read only".into() });
//! ```
//!
//! Nor does an action that the event does not offer, such as refusing a call that has run:
//!
//! ```compile_fail,E0599
//! use runtime::hooks::{PostToolUse, HookReply, ToolResultAction};
//!
//! let refuse: HookReply<PostToolUse> = HookReply::act(ToolResultAction::Refuse { reason: "too late".into() });
//! ```

use std::sync::Arc;

use base::data::Data;

use crate::events::EventKind;
use crate::lifecycle::Selector;
use crate::reminder::ReminderSpec;

use super::verdict::{Decision, Verdict};

/// An event that a handler may act on.
pub trait ActionableEvent {
    /// The event.
    const KIND: EventKind;
    /// The actions that the event accepts.
    type Action: HookAction;
}

/// An action that an event accepts. The default goes on as if no handler had answered.
pub trait HookAction: Default + sealed::Sealed {
    /// Converts a decision for this event. A decision that the event does not offer has no effect.
    #[doc(hidden)]
    fn of(decision: Decision) -> Self;
    /// Returns the same as any handler may decide it.
    #[doc(hidden)]
    fn into_decision(self) -> Decision;
}

mod sealed {
    /// Seals the set of actions.
    pub trait Sealed {}
}

/// Defines the events that can be acted on, each with its action.
macro_rules! actionable {
    ($( $(#[$doc:meta])* $event:ident => $action:ident; )+) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $event {}

        impl ActionableEvent for $event {
            const KIND: EventKind = EventKind::$event;
            type Action = $action;
        }

        impl sealed::Sealed for $action {}
    )+ };
}

actionable! {
    /// The event `user_prompt_submit`.
    UserPromptSubmit => PromptAction;
    /// The event `pre_compact`.
    PreCompact => CompactionAction;
    /// The event `pre_tool_use`.
    PreToolUse => ToolCallAction;
    /// The event `post_tool_use`.
    PostToolUse => ToolResultAction;
    /// The callback `post_turn_callback` of a loop.
    PostTurn => TurnAction;
}

/// Actions on a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PromptAction {
    /// Submits it.
    #[default]
    Submit,
    /// Submits a different text instead.
    Replace(Arc<str>),
    /// Refuses it.
    Refuse {
        /// The reason.
        reason: Arc<str>,
    },
}

/// Actions on a compaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum CompactionAction {
    /// Compacts.
    #[default]
    Compact,
    /// Compacts with other options: a dict.
    Change(Data),
    /// Leaves the transcript unchanged.
    Skip {
        /// The reason.
        reason: Arc<str>,
    },
}

/// Actions on a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ToolCallAction {
    /// Runs it.
    #[default]
    Run,
    /// Runs it with other arguments.
    ReplaceArguments(Data),
    /// Refuses it.
    Refuse {
        /// The reason.
        reason: Arc<str>,
    },
}

/// Actions on the result of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ToolResultAction {
    /// Keeps it.
    #[default]
    Keep,
    /// Replaces the result.
    Replace(Data),
}

/// Actions at the end of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TurnAction {
    /// Goes on.
    #[default]
    GoOn,
    /// Ends the loop.
    End,
}

impl HookAction for PromptAction {
    fn of(decision: Decision) -> PromptAction {
        match decision {
            Decision::Allow => PromptAction::Submit,
            Decision::Modify(changed) => new_prompt(&changed).map_or(PromptAction::Submit, PromptAction::Replace),
            Decision::Block { reason } => PromptAction::Refuse { reason },
        }
    }

    fn into_decision(self) -> Decision {
        match self {
            PromptAction::Submit => Decision::Allow,
            PromptAction::Replace(prompt) => Decision::Modify(prompt.into()),
            PromptAction::Refuse { reason } => Decision::Block { reason },
        }
    }
}

impl HookAction for CompactionAction {
    fn of(decision: Decision) -> CompactionAction {
        match decision {
            Decision::Allow => CompactionAction::Compact,
            Decision::Modify(changed) => CompactionAction::Change(changed),
            Decision::Block { reason } => CompactionAction::Skip { reason },
        }
    }

    fn into_decision(self) -> Decision {
        match self {
            CompactionAction::Compact => Decision::Allow,
            CompactionAction::Change(options) => Decision::Modify(options),
            CompactionAction::Skip { reason } => Decision::Block { reason },
        }
    }
}

impl HookAction for ToolCallAction {
    fn of(decision: Decision) -> ToolCallAction {
        match decision {
            Decision::Allow => ToolCallAction::Run,
            Decision::Modify(changed) => {
                // `{args}` holds the arguments themselves, `{modify}` may hold the payload that contains them.
                let inner = [changed.at("tool.args"), changed.get("args")].into_iter().find(|args| !args.is_nil());
                ToolCallAction::ReplaceArguments(inner.cloned().unwrap_or(changed))
            }
            Decision::Block { reason } => ToolCallAction::Refuse { reason },
        }
    }

    fn into_decision(self) -> Decision {
        match self {
            ToolCallAction::Run => Decision::Allow,
            ToolCallAction::ReplaceArguments(arguments) => Decision::Modify(Data::dict([("args", arguments)])),
            ToolCallAction::Refuse { reason } => Decision::Block { reason },
        }
    }
}

impl HookAction for ToolResultAction {
    fn of(decision: Decision) -> ToolResultAction {
        match decision {
            Decision::Modify(result) => ToolResultAction::Replace(result),
            Decision::Allow | Decision::Block { .. } => ToolResultAction::Keep,
        }
    }

    fn into_decision(self) -> Decision {
        match self {
            ToolResultAction::Keep => Decision::Allow,
            ToolResultAction::Replace(result) => Decision::Modify(result),
        }
    }
}

impl HookAction for TurnAction {
    fn of(decision: Decision) -> TurnAction {
        match decision {
            Decision::Block { .. } => TurnAction::End,
            Decision::Allow | Decision::Modify(_) => TurnAction::GoOn,
        }
    }

    fn into_decision(self) -> Decision {
        match self {
            TurnAction::GoOn => Decision::Allow,
            TurnAction::End => Decision::Block { reason: "the callback ended the loop".into() },
        }
    }
}

/// Returns the prompt in an answer to `user_prompt_submit`: a text, or a payload that contains it.
pub(crate) fn new_prompt(payload: &Data) -> Option<Arc<str>> {
    if payload.as_dict().is_some() { payload.get("prompt").as_shared_str() } else { payload.as_shared_str() }
}

/// The answer of a handler in Rust to an event that it may act on.
#[derive(Debug, Clone, PartialEq)]
pub struct HookReply<E: ActionableEvent> {
    /// The action to take.
    pub action: E::Action,
    /// Pending reminders to clear before any is added.
    pub clears: Vec<Selector>,
    /// Reminders to add.
    pub effects: Vec<ReminderSpec>,
}

impl<E: ActionableEvent> Default for HookReply<E> {
    fn default() -> HookReply<E> {
        HookReply::act(E::Action::default())
    }
}

impl<E: ActionableEvent> HookReply<E> {
    /// Returns a reply with only an action.
    #[must_use]
    pub fn act(action: E::Action) -> HookReply<E> {
        HookReply { action, clears: Vec::new(), effects: Vec::new() }
    }
}

impl<E: ActionableEvent> From<HookReply<E>> for Verdict {
    fn from(reply: HookReply<E>) -> Verdict {
        let HookReply { action, clears, effects } = reply;
        Verdict { decision: action.into_decision(), clears, effects, ..Verdict::default() }
    }
}
