//! A piece of an answer that is stored for later.

use super::Delta;

/// An owned [`Delta`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // as in `Delta`
pub enum OwnedDelta {
    Text(String),
    Reasoning(String),
    ToolCallStart { index: usize, id: String, name: String },
    ToolCallArguments { index: usize, json: String },
    Restart { why: String },
}

impl OwnedDelta {
    /// Copies a delta.
    #[must_use]
    pub fn of(delta: Delta<'_>) -> OwnedDelta {
        match delta {
            Delta::Text(text) => OwnedDelta::Text(text.to_owned()),
            Delta::Reasoning(text) => OwnedDelta::Reasoning(text.to_owned()),
            Delta::ToolCallStart { index, id, name } => {
                OwnedDelta::ToolCallStart { index, id: id.to_owned(), name: name.to_owned() }
            }
            Delta::ToolCallArguments { index, json } => OwnedDelta::ToolCallArguments { index, json: json.to_owned() },
            Delta::Restart { why } => OwnedDelta::Restart { why: why.to_owned() },
        }
    }

    /// Returns the piece as a delta.
    #[must_use]
    pub fn as_delta(&self) -> Delta<'_> {
        match self {
            OwnedDelta::Text(text) => Delta::Text(text),
            OwnedDelta::Reasoning(text) => Delta::Reasoning(text),
            OwnedDelta::ToolCallStart { index, id, name } => Delta::ToolCallStart { index: *index, id, name },
            OwnedDelta::ToolCallArguments { index, json } => Delta::ToolCallArguments { index: *index, json },
            OwnedDelta::Restart { why } => Delta::Restart { why },
        }
    }
}
