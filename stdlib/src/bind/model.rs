//! A script in place of the model: `llm_caller`.

use super::ScriptFn;
use super::function::data_of;
use crate::convert::to_value;
use lang::value::Value;
use runtime::data::Data;
use runtime::message::ToolCall;
use runtime::model::{Delta, ModelError, ModelErrorKind, Reply, Request, Usage};
use runtime::seam::{Answer, Model, Outcome, Turn, fault};
use std::sync::Arc;

/// A function that answers in the model's place.
pub(crate) struct ScriptModel {
    pub(crate) function: ScriptFn,
}

impl Model for ScriptModel {
    fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<Reply>> {
        let conversation = request.conversation();
        let prompt = conversation.iter().rev().find(|m| m.role == runtime::message::Role::User).map(|m| m.text());
        let asked = Value::record([
            ("prompt", prompt.map_or(Value::Nil, |p| Value::str(&p))),
            ("system", request.system_text().map_or(Value::Nil, Value::from)),
            ("messages", Value::list(conversation.iter().map(|m| to_value(&m.to_data())).collect())),
            ("turn", Value::Int(i64::from(turn.number))),
            ("opts", to_value(&turn.scope.options)),
        ]);
        self.function.call(turn, vec![asked], move |value| {
            let reply = read(&data_of(&value)?)?;
            if !reply.text.is_empty() {
                live(Delta::Text(&reply.text));
            }
            Ok(reply)
        })
    }
}

/// `{ok, value: {text, tool_calls, …}}`, the value alone, or a text.
fn read(data: &Data) -> Outcome<Reply> {
    if let Some(text) = data.as_shared_str() {
        return Ok(Reply { text, provider: "llm_caller".into(), ..Reply::default() });
    }
    if data.get("ok").as_bool() == Some(false) {
        let error = data.get("error");
        let message = error.get("message").as_shared_str().unwrap_or_else(|| error.to_text());
        return Err(fault(ModelError::new(ModelErrorKind::Server, message.to_string())));
    }
    let value = if data.get("value").is_nil() { data } else { data.get("value") };
    if let Some(text) = value.as_shared_str() {
        return Ok(Reply { text, provider: "llm_caller".into(), ..Reply::default() });
    }
    let calls = match value.get("tool_calls") {
        Data::List(calls) => calls.iter().filter_map(ToolCall::from_data).collect(),
        _ => Vec::new(),
    };
    let count = |key: &str| value.get(key).as_int().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    Ok(Reply {
        text: value.get("text").as_shared_str().unwrap_or_else(|| Arc::from("")),
        tool_calls: calls,
        usage: Usage { input_tokens: count("input_tokens"), output_tokens: count("output_tokens"), ..Usage::default() },
        stop_reason: value.get("stop_reason").as_shared_str(),
        model: value.get("model").as_shared_str().unwrap_or_else(|| Arc::from("llm_caller")),
        provider: "llm_caller".into(),
        ..Reply::default()
    })
}
