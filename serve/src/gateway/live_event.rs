//! Live events: what a session shows that is not on the log, such as pieces of a text.

use std::sync::Arc;

use base::data::Data;
use runtime::usage::Usage;

use super::frame::of_envelope;
use super::window::{ChannelFrame, FrameOrigin, LiveText};
use super::{EventEnvelope, EventType};
use crate::host::SessionEvent;

/// Returns the type and the payload of a live event; `None` for events that the log has, and for those that are not for
/// channels.
pub(crate) fn content(event: &SessionEvent) -> Option<(EventType, Data)> {
    let status = |payload: Data| (EventType::RunStatus, payload);
    Some(match event {
        SessionEvent::ToolBegan { id } => {
            status(Data::dict([("toolCallId", Data::from(id)), ("status", "running".into())]))
        }
        SessionEvent::Usage { call, context_window } => status(Data::dict([("usage", usage(*call, *context_window))])),
        SessionEvent::Status { message_id, text, partial } => {
            let fields = [("messageId", Data::from(message_id)), ("text", text.into()), ("partial", partial.clone())];
            status(Data::dict_of_present(fields))
        }
        SessionEvent::Log(text) => status(Data::dict([("log", Data::from(text))])),
        // Pieces of text have positions, and the log has records of the others.
        SessionEvent::Text { .. }
        | SessionEvent::Thought { .. }
        | SessionEvent::UserMessage { .. }
        | SessionEvent::Data { .. }
        | SessionEvent::ToolCall { .. }
        | SessionEvent::ToolEnded { .. }
        | SessionEvent::Plan(_)
        | SessionEvent::Mode(_)
        | SessionEvent::Title(_)
        | SessionEvent::Artifact { .. }
        | SessionEvent::Question { .. }
        | SessionEvent::Reminder(_)
        | SessionEvent::Remind(_) => return None,
    })
}

fn usage(call: Usage, context_window: Option<u64>) -> Data {
    Data::dict_of_present([
        ("inputTokens", Data::from(call.input_tokens)),
        ("outputTokens", call.output_tokens.into()),
        ("cacheReadTokens", call.cache_read_tokens.into()),
        ("cacheWriteTokens", call.cache_write_tokens.into()),
        ("contextWindow", context_window.into()),
    ])
}

/// Returns the frame of a live event.
pub(crate) fn frame(session_id: &Arc<str>, r#type: EventType, payload: Data, origin: FrameOrigin) -> Arc<ChannelFrame> {
    let envelope = EventEnvelope::transient(r#type, session_id, payload, crate::a2a::now_ms());
    Arc::new(ChannelFrame { cursor: None, sse: of_envelope(&envelope), origin })
}

/// Returns the type and the payload of a piece of text. Its offset is its position in the message, in characters.
pub(crate) fn piece(message_id: &Arc<str>, is_thought: bool, offset: usize, text: &str) -> (EventType, Data) {
    let r#type = if is_thought { EventType::ReasoningDelta } else { EventType::ModelDelta };
    (r#type, Data::dict([("messageId", Data::from(message_id)), ("offset", offset.into()), ("text", text.into())]))
}

/// Returns the event with the text so far of the current message, for a connection that begins.
pub(crate) fn text_so_far(session_id: &Arc<str>, live: &LiveText) -> Arc<ChannelFrame> {
    let (r#type, payload) = piece(&live.message_id, live.is_thought, 0, &live.text);
    frame(session_id, r#type, payload, FrameOrigin::Stream)
}
