//! Prompts and answers in the form of the semantic conventions: `[{role, parts: [{type, …}]}]`, as JSON.

use std::sync::Arc;

use base::data::Data;

/// Returns `gen_ai.system_instructions` of a system text.
pub(crate) fn system_instructions(text: &Arc<str>) -> String {
    Data::list([text_part("text", text.into())]).to_json()
}

/// Returns `gen_ai.input.messages` of a prompt.
pub(crate) fn input_messages(messages: &[Data]) -> String {
    let messages = messages.iter().map(|message| Data::dict_of_present(fields(message)));
    Data::list(messages).to_json()
}

/// Returns `gen_ai.output.messages` of an answer.
pub(crate) fn output_messages(message: &Data, stop_reason: Option<&str>) -> String {
    let calls_tools = message.get("tool_calls").as_list().is_some_and(|calls| !calls.is_empty());
    let reason = finish_reason(stop_reason, calls_tools);
    let fields = fields(message).into_iter().chain([("finish_reason", reason.into())]);
    Data::list([Data::dict_of_present(fields)]).to_json()
}

fn fields(message: &Data) -> Vec<(&'static str, Data)> {
    let role = message.get("role").clone();
    let name = if role.as_str() == Some("tool") { Data::Nil } else { message.get("name").clone() };
    vec![("role", role), ("name", name), ("parts", Data::list(parts(message)))]
}

fn parts(message: &Data) -> Vec<Data> {
    let content = message.get("content");
    if message.get("role").as_str() == Some("tool") {
        return vec![Data::dict_of_present([
            ("type", Data::from("tool_call_response")),
            ("id", message.get("tool_call_id").clone()),
            ("response", content.clone()),
        ])];
    }
    let mut parts = Vec::new();
    if let Some(reasoning) = message.get("reasoning").as_shared_str() {
        parts.push(text_part("reasoning", reasoning.into()));
    }
    match content {
        Data::Str(text) if text.is_empty() => {}
        Data::Str(text) => parts.push(text_part("text", text.into())),
        Data::List(blocks) => parts.extend(blocks.iter().map(of_block)),
        _ => {}
    }
    let calls = message.get("tool_calls").as_list().unwrap_or_default();
    parts.extend(calls.iter().map(|call| {
        Data::dict([
            ("type", Data::from("tool_call")),
            ("id", call.get("id").clone()),
            ("name", call.get("name").clone()),
            ("arguments", call.get("arguments").clone()),
        ])
    }));
    parts
}

/// Converts a block of a message. One that the conventions do not define is kept: they allow further types.
fn of_block(block: &Data) -> Data {
    let source = block.get("source");
    match (block.get("type").as_str(), source.get("type").as_str()) {
        (Some("text"), _) => text_part("text", block.get("text").clone()),
        (Some("thinking"), _) => text_part("reasoning", block.get("thinking").clone()),
        (Some("image"), Some("base64")) => Data::dict_of_present([
            ("type", Data::from("blob")),
            ("modality", "image".into()),
            ("mime_type", source.get("media_type").clone()),
            ("content", source.get("data").clone()),
        ]),
        (Some("image"), Some("url")) => Data::dict_of_present([
            ("type", Data::from("uri")),
            ("modality", "image".into()),
            ("uri", source.get("url").clone()),
        ]),
        _ => block.clone(),
    }
}

fn text_part(kind: &str, content: Data) -> Data {
    Data::dict([("type", Data::from(kind)), ("content", content)])
}

/// Returns the conventions' word for the reason that a model stopped; one they do not define is kept.
fn finish_reason(stop_reason: Option<&str>, calls_tools: bool) -> &str {
    match stop_reason.map(str::to_ascii_lowercase).as_deref() {
        Some("tool_use" | "tool_calls" | "function_call") => "tool_call",
        None | Some("stop" | "end_turn" | "stop_sequence" | "completed") => {
            if calls_tools {
                "tool_call"
            } else {
                "stop"
            }
        }
        Some("max_tokens" | "length" | "max_output_tokens") => "length",
        Some("content_filter" | "safety" | "refusal") => "content_filter",
        Some(_) => stop_reason.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(json: &str) -> Data {
        Data::from_json(json).unwrap()
    }

    #[test]
    fn a_prompt_has_a_part_for_each_text_call_and_result() {
        let messages = [
            data(
                r#"{"role": "user", "name": "ann", "content": [{"type": "text", "text": "a"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}, {"type": "document", "title": "t"}]}"#,
            ),
            data(
                r#"{"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": [{"id": "c", "name": "look", "arguments": {"at": 1}}]}"#,
            ),
            data(r#"{"role": "tool", "content": "seen", "tool_call_id": "c", "name": "look"}"#),
        ];
        assert_eq!(
            data(&input_messages(&messages)),
            data(concat!(
                r#"[{"role":"user","name":"ann","parts":[{"type":"text","content":"a"},"#,
                r#"{"type":"blob","modality":"image","mime_type":"image/png","content":"AA=="},{"type":"document","title":"t"}]},"#,
                r#"{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},"#,
                r#"{"type":"tool_call","id":"c","name":"look","arguments":{"at":1}}]},"#,
                r#"{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"seen"}]}]"#
            ))
        );
        let system = system_instructions(&"be brief".into());
        assert_eq!(data(&system), data(r#"[{"type":"text","content":"be brief"}]"#));
    }

    #[test]
    fn an_answer_says_why_it_ended() {
        let answer = data(r#"{"role": "assistant", "content": "yes"}"#);
        assert_eq!(
            data(&output_messages(&answer, Some("max_tokens"))),
            data(r#"[{"role":"assistant","parts":[{"type":"text","content":"yes"}],"finish_reason":"length"}]"#)
        );
        let reasons =
            [(None, "stop"), (Some("end_turn"), "stop"), (Some("tool_use"), "tool_call"), (Some("odd"), "odd")];
        for (stop_reason, expected) in reasons {
            assert_eq!(finish_reason(stop_reason, false), expected, "{stop_reason:?}");
        }
        assert_eq!(finish_reason(Some("STOP"), true), "tool_call");
    }
}
