//! The pieces of an answer that came while it was still coming.

use super::secrets::Secrets;
use base::data::Data;
use runtime::model::Delta;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A piece, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedPiece {
    /// A piece of text.
    Text(Arc<str>),
    /// A piece of reasoning.
    Reasoning(Arc<str>),
    /// A call has begun: its place among the calls, its id, its tool.
    ToolCallStart(usize, Arc<str>, Arc<str>),
    /// A piece of a call's arguments: its place among the calls, JSON text.
    ToolCallArguments(usize, Arc<str>),
    /// The answer so far is void.
    Restart,
}

impl RecordedPiece {
    /// A piece to keep.
    #[must_use]
    pub fn of(delta: Delta<'_>) -> RecordedPiece {
        match delta {
            Delta::Text(text) => RecordedPiece::Text(text.into()),
            Delta::Reasoning(text) => RecordedPiece::Reasoning(text.into()),
            Delta::ToolCallStart { index, id, name } => RecordedPiece::ToolCallStart(index, id.into(), name.into()),
            Delta::ToolCallArguments { index, json } => RecordedPiece::ToolCallArguments(index, json.into()),
            Delta::Restart { .. } => RecordedPiece::Restart,
        }
    }

    /// The piece as it came.
    #[must_use]
    pub fn as_delta(&self) -> Delta<'_> {
        match self {
            RecordedPiece::Text(text) => Delta::Text(text),
            RecordedPiece::Reasoning(text) => Delta::Reasoning(text),
            RecordedPiece::ToolCallStart(index, id, name) => Delta::ToolCallStart { index: *index, id, name },
            RecordedPiece::ToolCallArguments(index, json) => Delta::ToolCallArguments { index: *index, json },
            RecordedPiece::Restart => Delta::Restart { why: "" },
        }
    }
}

/// A piece and when it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedPiece {
    /// The time since the call on the run's clock, in milliseconds; `None` if the answer was
    /// immediate.
    pub after_ms: Option<u64>,
    /// The piece.
    pub piece: RecordedPiece,
}

impl TimedPiece {
    pub(super) fn to_data(&self) -> Data {
        let index = |index: &usize| Data::from(*index as u64);
        let (kind, text, more) = match &self.piece {
            RecordedPiece::Text(text) => ("text", Some(text), None),
            RecordedPiece::Reasoning(text) => ("reasoning", Some(text), None),
            RecordedPiece::ToolCallStart(at, id, name) => {
                ("tool_call_start", None, Some((index(at), Some((id, name)))))
            }
            RecordedPiece::ToolCallArguments(at, json) => ("tool_call_arguments", Some(json), Some((index(at), None))),
            RecordedPiece::Restart => ("restart", None, None),
        };
        let (at, start) = more.map_or((Data::Nil, None), |(at, start)| (at, start));
        Data::dict_of_present([
            ("after_ms", self.after_ms.into()),
            ("kind", kind.into()),
            ("text", text.into()),
            ("index", at),
            ("id", start.map(|(id, _)| id).into()),
            ("name", start.map(|(_, name)| name).into()),
        ])
    }

    pub(super) fn from_data(data: &Data) -> Option<TimedPiece> {
        let text = || data.get("text").as_shared_str();
        let index = || usize::try_from(data.get("index").as_int()?).ok();
        let piece = match data.get("kind").as_str()? {
            "text" => RecordedPiece::Text(text()?),
            "reasoning" => RecordedPiece::Reasoning(text()?),
            "tool_call_start" => RecordedPiece::ToolCallStart(
                index()?,
                data.get("id").as_shared_str()?,
                data.get("name").as_shared_str()?,
            ),
            "tool_call_arguments" => RecordedPiece::ToolCallArguments(index()?, text()?),
            "restart" => RecordedPiece::Restart,
            _ => return None,
        };
        let after_ms = match data.get("after_ms") {
            Data::Nil => None,
            ms => Some(u64::try_from(ms.as_int()?).ok()?),
        };
        Some(TimedPiece { after_ms, piece })
    }
}

/// Returns the pieces with values of secret variables replaced by their names. An answer may be cut
/// anywhere, so the text is searched as a whole: if a value spans several pieces, the first of them
/// gets the name and the others lose their part.
pub(super) fn hidden(mut pieces: Vec<TimedPiece>, secrets: &Secrets) -> Vec<TimedPiece> {
    if secrets.is_empty() {
        return pieces;
    }
    let mut texts: BTreeMap<PieceTarget, Vec<&mut Arc<str>>> = BTreeMap::new();
    for TimedPiece { piece, .. } in &mut pieces {
        let (said, text) = match piece {
            RecordedPiece::Text(text) => (PieceTarget::Text, text),
            RecordedPiece::Reasoning(text) => (PieceTarget::Reasoning, text),
            RecordedPiece::ToolCallArguments(index, json) => (PieceTarget::Arguments(*index), json),
            RecordedPiece::ToolCallStart(_, id, name) => {
                for text in [id, name] {
                    *text = secrets.hide_text(text).into();
                }
                continue;
            }
            RecordedPiece::Restart => {
                texts.values_mut().for_each(|texts| secrets.hide_across(texts));
                texts.clear();
                continue;
            }
        };
        texts.entry(said).or_default().push(text);
    }
    texts.values_mut().for_each(|texts| secrets.hide_across(texts));
    pieces
}

/// The text that a piece adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PieceTarget {
    Text,
    Reasoning,
    Arguments(usize),
}
