//! A piece of an answer that is kept for later.

use super::Delta;

/// A [`Delta`] of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // as in `Delta`
pub enum Piece {
    Text(String),
    Reasoning(String),
    ToolCallStart { index: usize, id: String, name: String },
    ToolCallArguments { index: usize, json: String },
    Restart,
}

impl Piece {
    /// Keeps a delta.
    #[must_use]
    pub fn of(delta: Delta<'_>) -> Piece {
        match delta {
            Delta::Text(text) => Piece::Text(text.to_owned()),
            Delta::Reasoning(text) => Piece::Reasoning(text.to_owned()),
            Delta::ToolCallStart { index, id, name } => {
                Piece::ToolCallStart { index, id: id.to_owned(), name: name.to_owned() }
            }
            Delta::ToolCallArguments { index, json } => Piece::ToolCallArguments { index, json: json.to_owned() },
            Delta::Restart => Piece::Restart,
        }
    }

    /// Returns the piece as a delta.
    #[must_use]
    pub fn as_delta(&self) -> Delta<'_> {
        match self {
            Piece::Text(text) => Delta::Text(text),
            Piece::Reasoning(text) => Delta::Reasoning(text),
            Piece::ToolCallStart { index, id, name } => Delta::ToolCallStart { index: *index, id, name },
            Piece::ToolCallArguments { index, json } => Delta::ToolCallArguments { index: *index, json },
            Piece::Restart => Delta::Restart,
        }
    }
}
