//! Asking for an answer in pieces, and how each wire sends them.

use runtime::capabilities::Wire;
use serde_json::{Value, json};

use super::http::{Framing, Pieces};
use super::{anthropic, openai};

/// Writes into a body that the answer is wanted in pieces, and says how they are read; nothing where the wire has none.
pub(super) fn ask_for_pieces(wire: Wire, body: &mut Value) -> Option<Pieces> {
    let Value::Object(fields) = body else { return None };
    let pieces = match wire {
        Wire::Anthropic => {
            Pieces { framing: Framing::ServerSentEvents, assembly: || Box::new(anthropic::Streamed::default()) }
        }
        Wire::OpenaiChat => {
            fields.entry("stream_options").or_insert_with(|| json!({"include_usage": true}));
            Pieces { framing: Framing::ServerSentEvents, assembly: || Box::new(openai::Streamed::default()) }
        }
        _ => return None,
    };
    fields.insert("stream".to_owned(), true.into());
    Some(pieces)
}
