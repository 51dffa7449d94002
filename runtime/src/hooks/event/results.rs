//! Results of tool calls, as handlers and providers see them.

use std::cell::OnceCell;
use std::sync::Arc;

use base::data::{Data, shared};

use crate::message::ToolCall;

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The text that the model will see.
    pub text: Arc<str>,
    /// Whether the runtime or the tool cut it short.
    pub truncated: bool,
    /// Whether the call succeeded.
    pub ok: bool,
    /// The value that the tool returned.
    pub value: Data,
}

impl ToolResult {
    /// Converts the result to the dict that scripts see: `{text, truncated, ok}`.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict(self.fields())
    }

    fn fields(&self) -> [(Arc<str>, Data); 3] {
        [
            (shared!("ok"), self.ok.into()),
            (shared!("text"), (&self.text).into()),
            (shared!("truncated"), self.truncated.into()),
        ]
    }
}

/// The result of one of a turn's calls.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRow {
    /// The tool.
    pub name: Arc<str>,
    /// The call.
    pub tool_call_id: Arc<str>,
    /// The call's result.
    pub result: ToolResult,
}

impl ToolRow {
    /// Creates the row of a call.
    #[must_use]
    pub fn new(call: &ToolCall, result: ToolResult) -> ToolRow {
        ToolRow { name: call.name.clone(), tool_call_id: call.id.clone(), result }
    }

    /// Converts the row to the dict that scripts see: the fields of the result, `name` and `tool_call_id`.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let named = [(shared!("name"), (&self.name).into()), (shared!("tool_call_id"), (&self.tool_call_id).into())];
        Data::dict(self.result.fields().into_iter().chain(named))
    }
}

/// The results of a turn's calls, in order. Several events of a turn carry them, and they are rarely converted for
/// scripts.
#[derive(Debug, Default)]
pub struct ToolResults {
    rows: Vec<ToolRow>,
    read: OnceCell<Data>,
}

impl ToolResults {
    /// Returns the rows.
    #[must_use]
    pub fn rows(&self) -> &[ToolRow] {
        &self.rows
    }

    /// Converts the results to the list of dicts that scripts see.
    #[must_use]
    pub fn to_data(&self) -> Data {
        self.read.get_or_init(|| self.rows.iter().map(ToolRow::to_data).collect()).clone()
    }
}

impl From<Vec<ToolRow>> for ToolResults {
    fn from(rows: Vec<ToolRow>) -> ToolResults {
        ToolResults { rows, read: OnceCell::new() }
    }
}
