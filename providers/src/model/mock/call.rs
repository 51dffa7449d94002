//! [`MockCall`]: what the mock was sent.

use std::sync::Arc;

use base::data::Data;
use runtime::message::ToolSpec;
use runtime::model::Request;

/// A request that the mock received. It shares history and tools with the request, so keeping one
/// costs the same however long the history is.
#[derive(Debug, Clone)]
pub struct MockCall {
    /// The request.
    pub request: Request,
    /// The model that was asked.
    pub model: Arc<str>,
    /// The session.
    pub session_id: Arc<str>,
    /// The turn of the session.
    pub turn: u32,
}

impl MockCall {
    /// Returns the call for scripts: `{provider, model, session_id, turn, system, messages, tools,
    /// …}`. `system` is the whole system text and `messages` the conversation, both with the
    /// reminders in place.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let request = &self.request;
        Data::dict_of_present([
            ("provider", Data::from("mock")),
            ("model", (&self.model).into()),
            ("session_id", (&self.session_id).into()),
            ("turn", self.turn.into()),
            ("system", request.system_text().into()),
            ("messages", request.conversation().iter().map(|message| message.to_data()).collect()),
            ("tools", request.tools.iter().map(ToolSpec::to_data).collect()),
            ("tool_choice", request.tool_choice.clone()),
            ("temperature", request.temperature.into()),
            ("top_p", request.top_p.into()),
            ("stop", if request.stop.is_empty() { Data::Nil } else { request.stop.iter().map(Data::from).collect() }),
            ("seed", request.seed.into()),
            ("max_tokens", request.max_tokens.into()),
            ("output_schema", request.output_schema.clone()),
            ("thinking", request.thinking.clone()),
            ("extra", if request.extra.is_empty() { Data::Nil } else { Data::from(request.extra.clone()) }),
        ])
    }
}
