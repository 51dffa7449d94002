//! Asking for an answer in pieces, and how each wire sends them.

use runtime::capabilities::Wire;
use serde_json::{Value, json};

use super::http::{Framing, Pieces};
use super::{anthropic, gemini, ollama, openai, responses};

/// Writes into a body that the answer is wanted in pieces, and says how they are read.
pub(super) fn ask_for_pieces(wire: Wire, body: &mut Value) -> Pieces {
    if wire == Wire::OpenaiChat && body.get("stream_options").is_none() {
        body["stream_options"] = json!({"include_usage": true});
    }
    // Gemini has a URL of its own for it.
    if wire != Wire::Gemini {
        body["stream"] = true.into();
    }
    Pieces {
        framing: if wire == Wire::Ollama { Framing::Lines } else { Framing::ServerSentEvents },
        assembly: match wire {
            Wire::Anthropic => || Box::new(anthropic::AnthropicAssembly::default()),
            Wire::OpenaiChat => || Box::new(openai::ChatAssembly::default()),
            Wire::OpenaiResponses => || Box::new(responses::ResponsesAssembly::default()),
            Wire::Gemini => || Box::new(gemini::GeminiAssembly::default()),
            Wire::Ollama => || Box::new(ollama::OllamaAssembly::default()),
        },
    }
}
