//! Answers of each API.

use super::memory::Memory;
use super::{Api, CLAUDE_BOUND, TEMPLATE, Wire};
use serde_json::{Value, json};

/// Numbers that follow from a seed.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed ^ 0x9e37_79b9_7f4a_7c15);
        dice.roll(2);
        dice
    }

    /// A number below another one.
    pub fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.roll(from.len() as u64)).unwrap()]
    }
}

/// The way in which an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Done,
    Calls,
    /// The output limit was reached within the text.
    CutOff,
    /// The output limit was reached within a call.
    CutCall,
    /// The output limit was reached before any text.
    CutThought,
    Pause,
    Refusal,
    /// The request does not fit the context window; this is an error.
    Overflow,
    Empty,
}

/// An answer to a body that was accepted.
pub struct Answer {
    pub status: u16,
    pub body: Value,
    pub end: End,
}

/// The ends, each as often as it is to come.
const ENDS: &[End] = &[
    End::Calls,
    End::Calls,
    End::Calls,
    End::Calls,
    End::Calls,
    End::Calls,
    End::Calls,
    End::Calls,
    End::Done,
    End::Done,
    End::Done,
    End::Done,
    End::CutOff,
    End::CutCall,
    End::CutThought,
    End::Pause,
    End::Refusal,
    End::Overflow,
    End::Empty,
];

/// One call of an answer: a name and arguments.
type Call = (&'static str, Value);

/// Answers a body that was accepted. `wanted` is the end, otherwise the dice decide.
pub fn answer(
    api: &Api,
    nth: usize,
    body: &Value,
    memory: &mut Memory,
    dice: &mut Dice,
    wanted: Option<End>,
) -> Answer {
    let offers = body.to_string().contains("\"look\"");
    let end = match wanted.unwrap_or_else(|| dice.pick(ENDS)) {
        End::Pause if api.wire != Wire::Anthropic => End::Done,
        // This API has no word for it.
        End::Refusal if api.wire == Wire::Ollama => End::Empty,
        End::Calls | End::CutCall if !offers => End::Done,
        end => end,
    };
    if end == End::Overflow {
        return overflow(api);
    }
    let count = match end {
        End::Calls => 1 + dice.roll(3),
        End::CutCall => 1 + dice.roll(2),
        _ => 0,
    };
    let calls: Vec<Call> = (0..count).map(|place| ("look", json!({"n": nth as u64 * 3 + place}))).collect();
    let text = match end {
        End::Done | End::CutOff | End::Pause => format!("turn {nth}"),
        End::Calls if dice.chance(40) => format!("turn {nth}"),
        _ => String::new(),
    };
    let made = Made { nth, text: &text, calls: &calls, end };
    let body = match api.wire {
        Wire::Anthropic => anthropic(api, &made, body, memory, dice),
        Wire::Chat => chat(api, &made, dice),
        Wire::Responses => responses(&made, memory, dice),
        Wire::Gemini => gemini(&made, dice),
        Wire::Ollama => ollama(&made),
    };
    Answer { status: 200, body, end }
}

struct Made<'a> {
    nth: usize,
    text: &'a str,
    calls: &'a [Call],
    end: End,
}

fn overflow(api: &Api) -> Answer {
    let words = match api.wire {
        Wire::Anthropic => "prompt is too long: 210000 tokens > 200000 maximum",
        Wire::Chat if *api == TEMPLATE => {
            "This model's maximum context length is 8192 tokens. However, you requested 9000"
        }
        Wire::Chat => "This model's maximum context length is 128000 tokens",
        Wire::Responses => "Your input exceeds the context window of this model",
        Wire::Gemini => "The input token count exceeds the maximum number of tokens allowed",
        Wire::Ollama => "input length exceeds maximum context length",
    };
    Answer {
        status: 400,
        body: json!({"error": {"type": "invalid_request_error", "message": words}}),
        end: End::Overflow,
    }
}

fn anthropic(api: &Api, made: &Made<'_>, body: &Value, memory: &mut Memory, dice: &mut Dice) -> Value {
    let mut content = Vec::new();
    let thinks = *api == CLAUDE_BOUND || body["thinking"]["type"] == "enabled";
    if thinks && dice.chance(80) {
        content.push(json!({"type": "thinking", "thinking": "Hm.", "signature": memory.sign(api, body)}));
    }
    if !made.text.is_empty() {
        content.push(json!({"type": "text", "text": made.text}));
    }
    for (place, (name, arguments)) in made.calls.iter().enumerate() {
        let is_cut = made.end == End::CutCall && place + 1 == made.calls.len();
        let input = if is_cut { json!({}) } else { arguments.clone() };
        content.push(
            json!({"type": "tool_use", "id": format!("toolu_{}_{place}", made.nth), "name": name, "input": input}),
        );
    }
    if made.end == End::Pause {
        memory.pauses();
    }
    let stop = match made.end {
        End::Calls => "tool_use",
        End::CutOff | End::CutCall | End::CutThought => "max_tokens",
        End::Pause => "pause_turn",
        End::Refusal => "refusal",
        _ => "end_turn",
    };
    json!({"id": format!("msg_{}", made.nth), "type": "message", "role": "assistant", "model": api.model,
        "content": content, "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 5}})
}

fn chat(api: &Api, made: &Made<'_>, dice: &mut Dice) -> Value {
    let mut message =
        json!({"role": "assistant", "content": if made.text.is_empty() { Value::Null } else { made.text.into() }});
    let calls: Vec<Value> = made
        .calls
        .iter()
        .enumerate()
        .map(|(place, (name, arguments))| {
            let is_cut = made.end == End::CutCall && place + 1 == made.calls.len();
            let text = if is_cut { "{\"n".to_owned() } else { arguments.to_string() };
            // Mistral's have nine letters and digits; some servers have very long ones.
            let id = match api.provider {
                "openai" if dice.chance(20) => format!("call_{}_{place}", made.nth),
                "openai" => format!("call_{}_{place}_of_this_answer", made.nth),
                _ if *api == TEMPLATE => format!("chatcmpl-tool-{}-{place}-{}", made.nth, "f".repeat(60)),
                _ => format!("c{:07}{place}", made.nth),
            };
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": text}})
        })
        .collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let finish = match made.end {
        End::Calls => "tool_calls",
        End::CutOff | End::CutCall | End::CutThought => "length",
        End::Refusal => "content_filter",
        _ => "stop",
    };
    json!({"id": "c", "object": "chat.completion", "model": api.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
}

fn responses(made: &Made<'_>, memory: &mut Memory, dice: &mut Dice) -> Value {
    let nth = made.nth;
    let mut output = Vec::new();
    let reasoning = dice.chance(70).then(|| format!("rs_{nth}"));
    if let Some(id) = &reasoning {
        output
            .push(json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": format!("sealed {nth}")}));
    }
    if !made.text.is_empty() {
        let content = json!([{"type": "output_text", "text": made.text, "annotations": []}]);
        output.push(json!({"type": "message", "id": format!("msg_{nth}"), "role": "assistant", "status": "completed", "content": content}));
    }
    if made.end == End::Refusal {
        let content = json!([{"type": "refusal", "refusal": "I will not."}]);
        output.push(json!({"type": "message", "id": format!("msg_{nth}"), "role": "assistant", "status": "completed", "content": content}));
    }
    for (place, (name, arguments)) in made.calls.iter().enumerate() {
        let is_cut = made.end == End::CutCall && place + 1 == made.calls.len();
        let text = if is_cut { "{\"n".to_owned() } else { arguments.to_string() };
        output.push(
            json!({"type": "function_call", "id": format!("fc_{nth}_{place}"), "call_id": format!("call_{nth}_{place}"),
            "name": name, "arguments": text, "status": if is_cut { "incomplete" } else { "completed" }}),
        );
    }
    if let Some(reasoning) = &reasoning {
        // What comes next in the answer needs its reasoning.
        if let Some(item) = output.get(1).and_then(|item| item["id"].as_str()) {
            memory.reasons(reasoning, item);
        }
    }
    let is_cut = matches!(made.end, End::CutOff | End::CutCall | End::CutThought);
    let mut body = json!({"id": format!("resp_{nth}"), "object": "response", "model": "gpt-5-codex", "output": output,
        "status": if is_cut { "incomplete" } else { "completed" },
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}});
    if is_cut {
        body["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    body
}

fn gemini(made: &Made<'_>, dice: &mut Dice) -> Value {
    let mut parts = Vec::new();
    if !made.text.is_empty() {
        let mut part = json!({"text": made.text});
        if dice.chance(50) {
            part["thoughtSignature"] = "c2ln".into();
        }
        parts.push(part);
    }
    for (place, (name, arguments)) in made.calls.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": name, "args": arguments}});
        if place == 0 {
            part["thoughtSignature"] = "c2ln".into();
        }
        parts.push(part);
    }
    let finish = match made.end {
        End::CutOff | End::CutCall | End::CutThought => "MAX_TOKENS",
        End::Refusal => "SAFETY",
        _ => "STOP",
    };
    json!({"candidates": [{"index": 0, "finishReason": finish, "content": {"role": "model", "parts": parts}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, "modelVersion": "m"})
}

fn ollama(made: &Made<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": made.text});
    let calls = made.calls.iter().map(|(name, arguments)| json!({"function": {"name": name, "arguments": arguments}}));
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let is_cut = matches!(made.end, End::CutOff | End::CutCall | End::CutThought);
    json!({"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": true,
        "done_reason": if is_cut { "length" } else { "stop" }, "prompt_eval_count": 10, "eval_count": 5})
}
