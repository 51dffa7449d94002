//! The result of a loop.

use std::sync::Arc;

use base::data::Data;
use base::words::words;

use crate::loop_status::{LoopStatus, StopReason};
use crate::model::AnswerEnd;
use crate::note::Note;
use crate::reminder::cost::ReminderCosts;
use crate::transcript::Transcript;
use crate::usage::Usage;

use super::LoopState;

words! {
    /// Transport of tool calls to and from the model.
    pub enum ToolMode {
        /// By the route's native tools.
        Native = "native",
        /// Written into the text.
        Text = "text",
    }
}

/// The names of the tools that were called, one for each call, in the order of the calls. At most
/// [`ToolNames::CAPACITY`] of each kind are kept, the newest: a daemon calls tools for months, and each snapshot
/// contains the names.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolNames {
    /// Requested by the model.
    #[serde(deserialize_with = "read_names")]
    pub calls: Vec<Arc<str>>,
    /// Run successfully.
    #[serde(deserialize_with = "read_names")]
    pub successful: Vec<Arc<str>>,
    /// Not run: refused, unknown, malformed or interrupted.
    #[serde(deserialize_with = "read_names")]
    pub rejected: Vec<Arc<str>>,
}

impl ToolNames {
    /// Maximum number of names of each kind.
    pub const CAPACITY: usize = 10_000;

    /// Adds a name. Above the capacity the older half is dropped, which keeps the average cost of a call low.
    pub(super) fn push(names: &mut Vec<Arc<str>>, name: Arc<str>) {
        if names.len() >= Self::CAPACITY {
            names.drain(..Self::CAPACITY / 2);
        }
        names.push(name);
    }
}

/// Reads names. Snapshots up to version 2 hold a count instead; the names it counted are lost.
fn read_names<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<str>>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum StoredToolNames {
        Names(Vec<Arc<str>>),
        Count(serde::de::IgnoredAny),
    }
    Ok(match serde::Deserialize::deserialize(deserializer)? {
        StoredToolNames::Names(names) => names,
        StoredToolNames::Count(_) => Vec::new(),
    })
}

/// The result of a loop.
#[derive(Debug, Clone)]
pub struct LoopResult {
    /// The loop's outcome.
    pub status: LoopStatus,
    /// The reason.
    pub stop_reason: StopReason,
    /// The reason that the last answer ended; `None` if there was none.
    pub answer_end: Option<AnswerEnd>,
    /// The last text of the model.
    pub text: Arc<str>,
    /// The text without the sentinel.
    pub visible_text: Arc<str>,
    /// The failure: a dict with `category` and `message`, else nil.
    pub error: Data,
    /// Number of iterations.
    pub iterations: u32,
    /// Duration of the loop, in milliseconds.
    pub duration_ms: u64,
    /// Tokens of all calls.
    pub usage: Usage,
    /// Costs of the reminders in all prompts.
    pub reminder_costs: ReminderCosts,
    /// The loop's own budget, and what was spent of it: a dict as scripts see it; nil without one.
    pub budget: Data,
    /// The tools that were called.
    pub tools: ToolNames,
    /// Transport of the tool calls.
    pub tool_mode: ToolMode,
    /// The answer in the shape of `output_schema`, if there is one and the answer fits; else nil.
    pub data: Data,
    /// Id of the session.
    pub session_id: Arc<str>,
    /// The transcript at the end.
    pub transcript: Transcript,
    /// Diagnostics that did not end the loop.
    pub diagnostics: Vec<Note>,
    /// The reason it was suspended, if it was.
    pub suspension: Option<Arc<str>>,
    /// State of a daemon's naps: a dict as scripts see it; nil for other loops.
    pub daemon_state: Data,
    /// State the loop needs to go on, if it was suspended and can be resumed.
    pub left: Option<Box<LoopState>>,
}

impl LoopResult {
    /// Returns whether the loop failed: it has no answer, none of the shape that was asked for, or no budget for another
    /// request. A loop that another limit, a handler or a cancellation ended has not failed; its status says how far it
    /// came.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        matches!(self.status, LoopStatus::ProviderError | LoopStatus::Error | LoopStatus::Refused)
            || matches!(self.stop_reason, StopReason::OutputSchema | StopReason::Budget)
    }

    /// Converts the result to the dict that scripts see, without `transcript`, which they get as a separate value.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let mut llm = Data::dict([
            ("iterations", Data::from(self.iterations)),
            ("duration_ms", self.duration_ms.into()),
            ("input_tokens", self.usage.input_tokens.into()),
            ("output_tokens", self.usage.output_tokens.into()),
            ("cache_read_tokens", self.usage.cache_read_tokens.into()),
            ("cache_write_tokens", self.usage.cache_write_tokens.into()),
        ]);
        if let Some(cost) = self.usage.cost_usd() {
            llm.set("cost_usd", cost.into());
        }
        let names = |names: &[Arc<str>]| names.iter().map(Data::from).collect::<Data>();
        let tools = Data::dict([
            ("calls", names(&self.tools.calls)),
            ("successful", names(&self.tools.successful)),
            ("rejected", names(&self.tools.rejected)),
            ("mode", self.tool_mode.as_str().into()),
        ]);
        let suspension = self.suspension.as_ref().map(|reason| Data::dict([("reason", Data::from(reason))]));
        let mut data = Data::dict([
            ("status", Data::from(self.status.as_str())),
            ("stop_reason", self.stop_reason.as_str().into()),
            ("answer_end", self.answer_end.map(AnswerEnd::as_str).into()),
            ("text", (&self.text).into()),
            ("visible_text", (&self.visible_text).into()),
            ("error", self.error.clone()),
            ("llm", llm),
            ("tools", tools),
            ("session_id", (&self.session_id).into()),
            ("diagnostics", counted(&self.diagnostics)),
        ]);
        if !self.data.is_nil() {
            data.set("data", self.data.clone());
        }
        if !self.reminder_costs.is_empty() {
            data.set("reminders", self.reminder_costs.to_data());
        }
        if !self.budget.is_nil() {
            data.set("budget", self.budget.clone());
        }
        if let Some(suspension) = suspension {
            data.set("suspension", suspension);
        }
        if !self.daemon_state.is_nil() {
            data.set("daemon_state", self.daemon_state.clone());
        }
        data
    }
}

/// Merges equal diagnostics and adds how often each occurred.
fn counted(notes: &[Note]) -> Data {
    let mut rows: Vec<(Data, i64)> = Vec::new();
    for row in notes.iter().map(Note::to_data) {
        match rows.iter_mut().find(|(known, _)| *known == row) {
            Some((_, count)) => *count += 1,
            None => rows.push((row, 1)),
        }
    }
    rows.into_iter().map(|(row, count)| if count > 1 { row.with("times", count.into()) } else { row }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_names_are_kept_up_to_the_capacity() {
        let mut names = Vec::new();
        for n in 0..3 * ToolNames::CAPACITY {
            ToolNames::push(&mut names, n.to_string().into());
            assert!(names.len() <= ToolNames::CAPACITY);
        }
        assert!(names.len() > ToolNames::CAPACITY / 2);
        assert_eq!(names.last().map(|name| &**name), Some("29999"));
    }
}
