//! Reading a reply.

use base::data::Data;
use runtime::message::{Block, ToolCall};
use runtime::model::ModelReply;
use runtime::usage::Usage;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::choice::{call_id, said_besides, without_nulls};
use crate::model::content::GEMINI_PART;
use crate::model::count::Count;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody {
    #[serde(default)]
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Feedback>,
    model_version: Option<String>,
    response_id: Option<String>,
    usage_metadata: Option<GeminiUsage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GeminiUsage {
    prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    tool_use_prompt_token_count: Count,
    cached_content_token_count: Count,
}

/// The reply that a body holds; otherwise what it lacks.
///
/// A stream is a row of such bodies: their parts joined into one list, and the last values of all other fields, are one.
pub(in crate::model) fn reply(body: Value, model: &str) -> Result<ModelReply, String> {
    let body: GeminiBody = serde_json::from_value(body).map_err(|error| error.to_string())?;
    let candidate = body.candidates.unwrap_or_default().into_iter().next();
    let blocked = body.prompt_feedback.and_then(|feedback| feedback.block_reason);
    let (parts, finish, message) = match candidate {
        Some(candidate) => {
            let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
            (parts, candidate.finish_reason, candidate.finish_message)
        }
        // The vendor refused to pass the prompt on to the model, and said so.
        None if blocked.is_some() => (Vec::new(), None, None),
        None => return Err("`candidates` is empty".to_owned()),
    };
    let mut said = GeminiParts::default();
    for part in joined(parts.into_iter().map(without_nulls).collect()) {
        said.part(part)?;
    }
    Ok(ModelReply {
        text: said.text.into(),
        tool_calls: said.tool_calls,
        // Text and calls say it all, unless there is something that must go back as it came.
        blocks: if said.signed { said.blocks } else { Vec::new() },
        reasoning: (!said.reasoning.is_empty()).then(|| said.reasoning.into()),
        usage: usage(&body.usage_metadata.unwrap_or_default()),
        stop_reason: finish.or(blocked).map(Into::into),
        model: body.model_version.map_or_else(|| model.into(), Into::into),
        provider: "gemini".into(),
        extra: said_besides([("id", body.response_id), ("finish_message", message)]),
    })
}

/// Pieces of one text, or of one thought, joined: a stream cuts them anywhere. A signature ends its piece.
fn joined(parts: Vec<Value>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for part in parts {
        let grows = out.last().is_some_and(|last| {
            is_text(last)
                && is_text(&part)
                && last.get("thoughtSignature").is_none()
                && is_thought(last) == is_thought(&part)
        });
        match (out.last_mut(), grows) {
            (Some(last), true) => {
                if let (Some(Value::String(text)), Some(more)) = (last.get_mut("text"), part["text"].as_str()) {
                    text.push_str(more);
                }
                if let Some(signature) = part.get("thoughtSignature") {
                    last["thoughtSignature"] = signature.clone();
                }
            }
            _ => out.push(part),
        }
    }
    out
}

fn is_text(part: &Value) -> bool {
    part.as_object().is_some_and(|part| {
        part.get("text").is_some_and(Value::is_string)
            && part.keys().all(|key| matches!(key.as_str(), "text" | "thought" | "thoughtSignature"))
    })
}

fn is_thought(part: &Value) -> bool {
    part["thought"] == true
}

/// The parts read so far.
#[derive(Default)]
struct GeminiParts {
    text: String,
    reasoning: String,
    tool_calls: Vec<ToolCall>,
    blocks: Vec<Block>,
    /// Whether a part must be returned unchanged.
    signed: bool,
}

impl GeminiParts {
    fn part(&mut self, mut part: Value) -> Result<(), String> {
        self.signed |= part.get("thoughtSignature").is_some();
        if is_thought(&part) {
            // A summary for people. The vendor does not want it back, unless it is signed.
            self.reasoning.push_str(part["text"].as_str().unwrap_or_default());
            if part.get("thoughtSignature").is_some() {
                self.block([("part", Data::from(part))]);
            }
        } else if let Some(call) = part.get_mut("functionCall").map(Value::take).map(without_nulls) {
            let name = call["name"].as_str().ok_or("a functionCall without `name`")?;
            let args = call.get("args").filter(|args| !args.is_null()).cloned().unwrap_or_else(|| json!({}));
            let id = call["id"].as_str().filter(|id| !id.is_empty());
            let index = self.tool_calls.len();
            let id = id.map_or_else(|| call_id(index), str::to_owned);
            self.tool_calls.push(ToolCall::new(id, name, Data::from(args)));
            part["functionCall"] = call;
            self.block([("part", Data::from(part)), ("call", index.into())]);
        } else if is_text(&part) {
            let text = part["text"].as_str().unwrap_or_default().to_owned();
            if let Some(part) = part.as_object_mut() {
                part.remove("text");
            }
            self.text.push_str(&text);
            let data = [("type", "text".into()), ("text", text.into()), (GEMINI_PART, Data::from(part))];
            self.blocks.push(Block::Other(Data::dict(data)));
        } else {
            self.signed = true;
            self.block([("part", Data::from(part))]);
        }
        Ok(())
    }

    fn block<const N: usize>(&mut self, fields: [(&'static str, Data); N]) {
        let kind = [("type", GEMINI_PART.into())];
        self.blocks.push(Block::Other(Data::dict(kind.into_iter().chain(fields))));
    }
}

/// The vendor counts thoughts apart, and cached tokens within those of the prompt.
fn usage(tokens: &GeminiUsage) -> Usage {
    let (answer, thoughts) = (tokens.candidates_token_count.0, tokens.thoughts_token_count.0);
    let (prompt, of_tools) = (tokens.prompt_token_count.0, tokens.tool_use_prompt_token_count.0);
    Usage {
        input_tokens: prompt.saturating_add(of_tools),
        output_tokens: answer.saturating_add(thoughts),
        cache_read_tokens: tokens.cached_content_token_count.0,
        ..Usage::default()
    }
}
