//! The most that a request can use, read from the document that would be sent.

use runtime::budget::Quote;
use runtime::capabilities::WireFormat;
use runtime::model::{ModelError, Request};
use serde_json::Value;

use super::provider::Provider;
use super::route::Route;

/// Bytes of the document for which a token is estimated. English text has more, other scripts and code have fewer.
const BYTES_PER_TOKEN: u64 = 3;

/// Length from which on a text can be an image or a document in base64, in bytes.
const MEDIA: usize = 1_024;

/// Estimated tokens of an image.
const IMAGE_TOKENS: u64 = 5_000;

/// Bytes of base64 of a document for which a token is estimated.
const DOCUMENT_BYTES_PER_TOKEN: u64 = 16;

/// Limit that is assumed for an answer of the mock, in tokens: it answers what was scripted.
const MOCK_OUTPUT: u64 = 8_192;

impl Route {
    /// Returns the most that a request can use on this route.
    ///
    /// # Errors
    /// The request cannot be written in the format of the route.
    pub fn quote(&self, request: &Request) -> Result<Quote, ModelError> {
        let body = self.body(request)?;
        let capabilities = &self.capabilities;
        let known = output_limit(self.wire, &body).or(capabilities.output_limit).or(capabilities.context_window);
        let output_tokens = match (known, self.provider) {
            (None, Provider::Mock) => Some(MOCK_OUTPUT),
            (known, _) => known,
        };
        Ok(Quote {
            provider: self.provider.as_str().into(),
            model: self.model.clone(),
            input_tokens: input_tokens(&body),
            output_tokens: output_tokens.map(|tokens| tokens.saturating_mul(answers(self.wire, &body))),
            price: capabilities.price,
            is_delegated: false,
        })
    }
}

/// Returns the limit of the answer that a document states, in tokens.
fn output_limit(wire: WireFormat, body: &Value) -> Option<u64> {
    let stated = match wire {
        WireFormat::Anthropic => body.get("max_tokens"),
        WireFormat::OpenaiChat => body.get("max_completion_tokens").or_else(|| body.get("max_tokens")),
        WireFormat::OpenaiResponses => body.get("max_output_tokens"),
        WireFormat::Gemini => body.pointer("/generationConfig/maxOutputTokens"),
        // A negative number does not limit anything.
        WireFormat::Ollama => body.pointer("/options/num_predict"),
    };
    stated.and_then(Value::as_u64)
}

/// Returns the number of answers that a document asks for.
fn answers(wire: WireFormat, body: &Value) -> u64 {
    let count = match wire {
        WireFormat::OpenaiChat => body.get("n"),
        WireFormat::Gemini => body.pointer("/generationConfig/candidateCount"),
        WireFormat::Anthropic | WireFormat::OpenaiResponses | WireFormat::Ollama => None,
    };
    count.and_then(Value::as_u64).unwrap_or(1).max(1)
}

/// Returns an estimate of the tokens of a document.
fn input_tokens(body: &Value) -> u64 {
    let mut size = Size::default();
    size.add(body);
    size.bytes.div_ceil(BYTES_PER_TOKEN).saturating_add(size.media_tokens)
}

#[derive(Debug, Default)]
struct Size {
    /// Bytes of all but images and documents.
    bytes: u64,
    /// Tokens of images and documents.
    media_tokens: u64,
}

impl Size {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.bytes += 5,
            Value::String(text) => self.bytes += text.len() as u64 + 3,
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.bytes += key.len() as u64 + 4;
                    match value {
                        Value::String(text) if is_media(key, text) => {
                            self.media_tokens += media_tokens(text, value_kind(fields));
                        }
                        _ => self.add(value),
                    }
                }
            }
        }
    }
}

/// Returns whether a field contains base64.
fn is_media(key: &str, text: &str) -> bool {
    text.len() >= MEDIA && (text.starts_with("data:") || matches!(key, "data" | "file_data"))
}

/// Returns the media type that an object names.
fn value_kind(fields: &serde_json::Map<String, Value>) -> &str {
    let named = ["media_type", "mimeType", "mime_type"].into_iter().find_map(|key| fields.get(key));
    named.and_then(Value::as_str).unwrap_or_default()
}

fn media_tokens(text: &str, kind: &str) -> u64 {
    if text.starts_with("data:image/") || kind.starts_with("image/") {
        return IMAGE_TOKENS;
    }
    (text.len() as u64).div_ceil(DOCUMENT_BYTES_PER_TOKEN).max(IMAGE_TOKENS)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::data::Data;
    use runtime::message::Message;
    use serde_json::json;

    use super::*;
    use crate::model::CapabilityTable;
    use crate::model::Routes;

    fn quote(provider: &str, model: &str, request: &Request) -> Quote {
        let routes = Routes::new(|| CapabilityTable::built_in().unwrap(), |_| None).without_servers();
        routes.choose(Some(provider), Some(model)).unwrap().quote(request).unwrap()
    }

    fn asked(max_tokens: Option<u64>) -> Request {
        Request {
            messages: [Arc::new(Message::user("x".repeat(3_000)))].into_iter().collect(),
            max_tokens,
            ..Request::default()
        }
    }

    #[test]
    fn the_largest_answer_is_the_limit_that_is_sent_else_that_of_the_model() {
        for (provider, model, own, with_100) in [
            // The vendor demands a limit, so one is always sent.
            ("anthropic", "claude-sonnet-4-5", Some(8_192), Some(100)),
            ("openai", "gpt-5-mini", Some(128_000), Some(100)),
            ("openai", "gpt-5-pro", Some(272_000), Some(100)),
            ("gemini", "gemini-2.5-flash", Some(65_536), Some(100)),
            // The window of these is known, and their output limit is not.
            ("openai", "gpt-4-turbo", Some(128_000), Some(100)),
            ("ollama", "llama3.2", None, Some(100)),
            ("openai_compatible", "default", None, Some(100)),
            ("mock", "mock", Some(8_192), Some(100)),
            ("mock", "gpt-5-mini", Some(128_000), Some(100)),
        ] {
            assert_eq!(quote(provider, model, &asked(None)).output_tokens, own, "{provider} {model}");
            assert_eq!(quote(provider, model, &asked(Some(100))).output_tokens, with_100, "{provider} {model}");
        }
    }

    #[test]
    fn thinking_and_several_answers_count() {
        let mut request = asked(Some(100));
        request.thinking = Data::from(2_000);
        assert_eq!(quote("anthropic", "claude-sonnet-4-5", &request).output_tokens, Some(2_100));
        let mut request = asked(Some(100));
        request.extra = std::iter::once((Arc::from("n"), Data::from(3))).collect();
        assert_eq!(quote("openai", "gpt-4o", &request).output_tokens, Some(300));
    }

    #[test]
    fn a_token_is_estimated_for_three_bytes() {
        let tokens = quote("anthropic", "claude-sonnet-4-5", &asked(None)).input_tokens;
        assert!((1_000..1_100).contains(&tokens), "{tokens}");
    }

    #[test]
    fn images_count_by_number_and_documents_by_size() {
        let data = "A".repeat(3_000_000);
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
        let url = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}});
        let document = json!({"inlineData": {"mimeType": "application/pdf", "data": data}});
        for (body, tokens) in [(image, 5_000), (url, 5_000), (document, 187_500), (json!({"data": "short"}), 0)] {
            let found = input_tokens(&body);
            assert!((tokens..tokens + 60).contains(&found), "{tokens}: {found}");
        }
        assert!(input_tokens(&json!({"text": data})) > 900_000);
    }
}
