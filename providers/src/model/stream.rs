//! Asking for an answer in pieces, and how each wire sends them.

use runtime::capabilities::WireFormat;
use serde_json::{Value, json};

use super::http::{Framing, Pieces};
use super::{anthropic, gemini, ollama, openai, responses};

/// Writes into a body that the answer is wanted in pieces, and says how they are read.
pub(super) fn ask_for_pieces(wire: WireFormat, body: &mut Value) -> Pieces {
    if wire == WireFormat::OpenaiChat && body.get("stream_options").is_none() {
        body["stream_options"] = json!({"include_usage": true});
    }
    // Gemini has a URL of its own for it.
    if wire != WireFormat::Gemini {
        body["stream"] = true.into();
    }
    Pieces {
        framing: if wire == WireFormat::Ollama { Framing::Lines } else { Framing::ServerSentEvents },
        assembly: match wire {
            WireFormat::Anthropic => || Box::new(anthropic::AnthropicAssembly::default()),
            WireFormat::OpenaiChat => || Box::new(openai::ChatAssembly::default()),
            WireFormat::OpenaiResponses => || Box::new(responses::ResponsesAssembly::default()),
            WireFormat::Gemini => || Box::new(gemini::GeminiAssembly::default()),
            WireFormat::Ollama => || Box::new(ollama::OllamaAssembly::default()),
        },
    }
}
