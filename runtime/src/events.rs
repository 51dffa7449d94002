//! [`EventKind`]: the names of the events of a loop, and the handlers that may subscribe to each.

use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use base::words::{UnknownWord, words};

words! {
    /// The kind of an event.
    pub enum EventKind {
        /// A loop begins.
        SessionStart = "session_start",
        /// A loop has ended.
        SessionEnd = "session_end",
        /// A prompt was submitted.
        UserPromptSubmit = "user_prompt_submit",
        /// Before compaction.
        PreCompact = "pre_compact",
        /// After compaction.
        PostCompact = "post_compact",
        /// A turn is over.
        PostTurn = "post_turn",
        /// A tool needs a permission.
        PermissionAsked = "permission_asked",
        /// A permission was granted or denied.
        PermissionReplied = "permission_replied",
        /// A file changed.
        FileEdited = "file_edited",
        /// A loop failed.
        SessionError = "session_error",
        /// A daemon has nothing to do.
        SessionIdle = "session_idle",
        /// Before a worker is suspended.
        PreSuspend = "pre_suspend",
        /// After a worker was suspended.
        PostSuspend = "post_suspend",
        /// Before a worker is resumed.
        PreResume = "pre_resume",
        /// After a worker was resumed.
        PostResume = "post_resume",
        /// A piece of an answer has arrived.
        ModelDelta = "model_delta",
        /// A seam of the loop is passed.
        LoopCheckpoint = "loop_checkpoint",
        /// Before a step of a persona.
        PreStep = "pre_step",
        /// After a step of a persona.
        PostStep = "post_step",
        /// The usage of a turn is known.
        OnBudgetThreshold = "on_budget_threshold",
        /// An approval is requested.
        OnApprovalRequested = "on_approval_requested",
        /// A handoff was made.
        OnHandoffEmitted = "on_handoff_emitted",
        /// A persona was paused.
        OnPersonaPaused = "on_persona_paused",
        /// A persona was resumed.
        OnPersonaResumed = "on_persona_resumed",
        /// A worker began.
        WorkerSpawned = "worker_spawned",
        /// A worker made progress.
        WorkerProgressed = "worker_progressed",
        /// A worker waits for input.
        WorkerWaitingForInput = "worker_waiting_for_input",
        /// A worker was suspended.
        WorkerSuspended = "worker_suspended",
        /// A worker was resumed.
        WorkerResumed = "worker_resumed",
        /// A worker is done.
        WorkerCompleted = "worker_completed",
        /// A worker failed.
        WorkerFailed = "worker_failed",
        /// A worker was stopped.
        WorkerStopped = "worker_stopped",
        /// A worker was cancelled.
        WorkerCancelled = "worker_cancelled",
        /// Before a tool is called.
        PreToolUse = "pre_tool_use",
        /// After a tool was called.
        PostToolUse = "post_tool_use",
        /// The model's turn and its tools are done.
        PostAgentTurn = "post_agent_turn",
    }
}

impl EventKind {
    /// Returns the name in PascalCase, as payloads and the log carry it.
    #[must_use]
    pub fn pascal(self) -> &'static Arc<str> {
        static NAMES: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| {
            let name = |kind: &EventKind| kind.as_str().split('_').map(capitalise).collect::<String>().into();
            EventKind::ALL.iter().map(name).collect()
        });
        &NAMES[self as usize]
    }

    /// Reads a name in either case.
    pub fn parse(name: &str) -> Result<EventKind, UnknownWord> {
        let by_pascal = || EventKind::ALL.iter().copied().find(|kind| kind.pascal().as_ref() == name);
        EventKind::from_str(name).or_else(|error| by_pascal().ok_or(error))
    }

    /// Returns whether the event concerns a worker. Worker events are only observed: hooks add no reminder effects to
    /// them.
    #[must_use]
    pub fn is_worker(self) -> bool {
        self.as_str().starts_with("worker_")
    }

    /// Returns whether `register_session_hook` accepts it.
    #[must_use]
    pub fn is_session(self) -> bool {
        self <= EventKind::LoopCheckpoint
    }

    /// Returns whether step and persona hooks accept it.
    #[must_use]
    pub fn is_step(self) -> bool {
        (EventKind::PreStep..=EventKind::OnPersonaResumed).contains(&self)
    }

    /// Returns whether it belongs to a step of an iteration; the payload names it.
    #[must_use]
    pub fn has_step(self) -> bool {
        use EventKind as K;
        matches!(self, K::PreStep | K::PostStep | K::OnBudgetThreshold | K::OnApprovalRequested)
    }

    /// Returns whether reminder providers may subscribe to it.
    #[must_use]
    pub fn is_for_providers(self) -> bool {
        use EventKind as K;
        self.is_session()
            || self.is_worker()
            || matches!(self, K::PostToolUse | K::PostStep | K::PostAgentTurn | K::OnBudgetThreshold)
    }

    /// Returns whether a handler may block it or change its payload.
    #[must_use]
    pub fn can_be_vetoed(self) -> bool {
        matches!(self, EventKind::UserPromptSubmit | EventKind::PreCompact | EventKind::PreToolUse)
    }
}

fn capitalise(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A set of event kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventSet(u64);

impl EventSet {
    /// Creates the set of these kinds.
    #[must_use]
    pub const fn of(kinds: &[EventKind]) -> EventSet {
        let mut bits = 0;
        let mut index = 0;
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u32;
            index += 1;
        }
        EventSet(bits)
    }

    /// Returns whether a kind is in the set.
    #[must_use]
    pub const fn contains(self, kind: EventKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    /// Returns the set with one more kind.
    #[must_use]
    pub const fn with(self, kind: EventKind) -> EventSet {
        EventSet(self.0 | 1 << kind as u32)
    }

    /// Returns whether it is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<EventSet> for EventSet {
    fn from_iter<I: IntoIterator<Item = EventSet>>(sets: I) -> EventSet {
        EventSet(sets.into_iter().fold(0, |bits, set| bits | set.0))
    }
}

impl FromIterator<EventKind> for EventSet {
    fn from_iter<I: IntoIterator<Item = EventKind>>(kinds: I) -> EventSet {
        EventSet(kinds.into_iter().fold(0, |bits, kind| bits | 1 << kind as u32))
    }
}

words! {
    /// The steps of an iteration; each is reported before and after.
    pub enum IterationStep {
        /// The prompt is built.
        Prompt = "prompt",
        /// The model answers.
        Model = "model",
        /// The requested tools run.
        Tools = "tools",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_both_cases() {
        assert_eq!(EventKind::parse("post_tool_use").unwrap(), EventKind::PostToolUse);
        assert_eq!(EventKind::parse("OnBudgetThreshold").unwrap(), EventKind::OnBudgetThreshold);
        assert_eq!(EventKind::parse("sesion_start").unwrap_err().suggestion, Some("session_start"));
        assert!(EventKind::ALL.len() <= 64, "an EventSet has 64 bits");
    }
}
