//! A script in place of the model: `llm_caller`.

use super::ScriptFn;
use crate::convert::{to_data, to_data_lossy, to_value};
use base::call::{Answer, Outcome, call_error};
use base::data::Data;
use lang::value::Value;
use lang::value::article;
use runtime::budget::Quote;
use runtime::message::ToolCall;
use runtime::model::{Delta, Destination, ModelError, ModelErrorKind, ModelReply, Request};
use runtime::scope::Scope;
use runtime::seam::{Model, Turn};
use runtime::timeout::{is_timeout, with_timeout};
use runtime::usage::Usage;
use std::sync::Arc;

/// A function that answers in the model's place.
pub(crate) struct ScriptModel {
    pub(crate) function: ScriptFn,
}

impl Model for ScriptModel {
    fn destination(&self, request: &Request) -> Destination {
        Destination { provider: Some("llm_caller".into()), model: request.model.clone() }
    }

    fn quote(&self, request: &Request) -> Outcome<Quote> {
        let model = request.model.clone().unwrap_or_else(|| "llm_caller".into());
        let to = Destination { model: Some(model), ..self.destination(request) };
        Ok(Quote { is_delegated: true, ..Quote::unknown(to, request) })
    }

    fn grace_ms(&self) -> u64 {
        runtime::stop::GRACE_MS
    }

    fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        let conversation = request.conversation();
        let prompt = conversation.iter().rev().find(|m| m.role == runtime::message::Role::User).map(|m| m.text());
        let asked = Value::record([
            ("prompt", prompt.map_or(Value::Nil, |p| Value::str(&p))),
            ("system", request.system_text().map_or(Value::Nil, Value::from)),
            ("messages", Value::list(conversation.iter().map(|m| to_value(&m.to_data())).collect())),
            ("turn", Value::Int(i64::from(turn.number))),
            ("opts", to_value(&turn.scope.options)),
        ]);
        let read = move |value: Value| {
            let reply = answer(&value).map_err(call_error)?;
            if let Some(reasoning) = &reply.reasoning {
                live(Delta::Reasoning(reasoning));
            }
            if !reply.text.is_empty() {
                live(Delta::Text(&reply.text));
            }
            for (index, call) in reply.tool_calls.iter().enumerate() {
                live(Delta::ToolCallStart { index, id: &call.id, name: &call.name });
                live(Delta::ToolCallArguments { index, json: &call.arguments.to_json() });
            }
            Ok(reply)
        };
        match request.timeout_ms {
            None => self.function.call(turn, vec![asked], read),
            Some(ms) => Answer::later(self.within(ms, turn, asked, read)),
        }
    }
}

impl ScriptModel {
    /// Asks within the timeout of one attempt; a function that takes longer is told to stop.
    async fn within(
        &self,
        ms: u64,
        turn: Turn<'_>,
        asked: Value,
        read: impl FnOnce(Value) -> Outcome<ModelReply>,
    ) -> Outcome<ModelReply> {
        let cancel = turn.scope.cancel.child();
        let scope = Scope { cancel: cancel.clone(), ..turn.scope.clone() };
        let limit = Scope { hook_timeout_ms: ms, ..turn.scope.clone() };
        let call = self.function.call(Turn { scope: &scope, ..turn }, vec![asked], read);
        with_timeout(&limit, &cancel, call).await.map_err(|thrown| {
            if !is_timeout(&thrown) {
                return thrown;
            }
            let message = format!("`llm_caller` timed out after {ms} ms");
            call_error(ModelError::new(ModelErrorKind::Timeout, message))
        })
    }
}

const EXPECTED: &str =
    "a string, `{text?, tool_calls?}`, `{ok: true, value}` or `{ok: false, error: {category, message}}`";

fn answer(value: &Value) -> Result<ModelReply, ModelError> {
    match value.as_result() {
        Some(Err(error)) => Err(failure(&to_data_lossy(error))),
        Some(Ok(inner)) => answer(inner),
        None => read(&to_data(value).map_err(|raise| unusable(&raise.message))?),
    }
}

/// `{ok, value: {text, tool_calls, …}}`, the value alone, or a text.
fn read(data: &Data) -> Result<ModelReply, ModelError> {
    match data.get("ok") {
        Data::Bool(false) => return Err(failure(data.get("error"))),
        Data::Bool(true) | Data::Nil => {}
        other => return Err(wrong("ok", "a bool", other)),
    }
    let value = if data.get("value").is_nil() { data } else { data.get("value") };
    if let Some(text) = value.as_shared_str() {
        return Ok(ModelReply {
            text,
            model: "llm_caller".into(),
            provider: "llm_caller".into(),
            ..ModelReply::default()
        });
    }
    let Some(entries) = value.as_dict() else {
        return Err(unusable(&format!("found {}", article(value.type_name()))));
    };
    let (text, calls) = (value.get("text"), value.get("tool_calls"));
    if text.is_nil() && calls.is_nil() {
        let keys: Vec<_> = entries.keys().map(|key| format!("`{key}`")).collect();
        let found = if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") };
        return Err(unusable(&format!("found a dict with {found}")));
    }
    if !text.is_nil() && text.as_str().is_none() {
        return Err(wrong("text", "a string", text));
    }
    let count = |key: &str| value.get(key).as_int().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    Ok(ModelReply {
        text: text.as_shared_str().unwrap_or_else(|| Arc::from("")),
        tool_calls: read_calls(calls)?,
        reasoning: value.get("reasoning").as_shared_str().filter(|reasoning| !reasoning.is_empty()),
        usage: Usage { input_tokens: count("input_tokens"), output_tokens: count("output_tokens"), ..Usage::default() },
        stop_reason: value.get("stop_reason").as_shared_str(),
        model: value.get("model").as_shared_str().unwrap_or_else(|| Arc::from("llm_caller")),
        provider: "llm_caller".into(),
        ..ModelReply::default()
    })
}

fn read_calls(calls: &Data) -> Result<Vec<ToolCall>, ModelError> {
    let items = match calls {
        Data::Nil => return Ok(Vec::new()),
        Data::List(items) => items,
        other => return Err(wrong("tool_calls", "a list", other)),
    };
    let read = |(index, item): (usize, &Data)| {
        let id_fits = item.get("id").is_nil() || item.get("id").as_str().is_some();
        let call = ToolCall::from_data(item).filter(|call| id_fits && !call.name.trim().is_empty());
        call.ok_or_else(|| wrong(&format!("tool_calls[{index}]"), "{id, name, arguments}", item))
    };
    items.iter().enumerate().map(read).collect()
}

/// Returns the failure that a script reports. A category that no model server has counts as a
/// failure of the server.
fn failure(error: &Data) -> ModelError {
    let kind = error.get("category").as_str().and_then(|word| word.parse().ok()).unwrap_or(ModelErrorKind::Server);
    let message = match error.get("message") {
        Data::Str(text) => text.to_string(),
        _ if error.is_nil() => "`llm_caller` failed without an error message".to_owned(),
        _ => error.to_text().to_string(),
    };
    let mut failure = ModelError::new(kind, message);
    if let Some(retryable) = error.get("retryable").as_bool() {
        failure.retryable = retryable;
    }
    failure.status = error.get("status").as_int().and_then(|status| u16::try_from(status).ok());
    failure.retry_after_ms = error.get("retry_after_ms").as_int().and_then(|ms| u64::try_from(ms).ok());
    failure
}

fn wrong(field: &str, expected: &str, found: &Data) -> ModelError {
    unusable(&format!("`{field}` must be {expected}, found {}", article(found.type_name())))
}

/// The script's mistake: trying again would not help.
fn unusable(why: &str) -> ModelError {
    let message = format!("invalid result of `llm_caller`: {why}; it may return {EXPECTED}");
    ModelError { retryable: false, ..ModelError::new(ModelErrorKind::BadResponse, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_json(json: &str) -> Result<ModelReply, ModelError> {
        read(&Data::from_json(json).unwrap())
    }

    #[test]
    fn what_is_no_answer_says_what_was_expected() {
        for (json, part) in [
            ("3", "found an int"),
            ("null", "found nil"),
            ("[]", "found a list"),
            ("{}", "found a dict with nothing"),
            (r#"{"txt":"x"}"#, "found a dict with `txt`"),
            (r#"{"ok":true}"#, "found a dict with `ok`"),
            (r#"{"ok":1,"text":"x"}"#, "`ok` must be a bool, found an int"),
            (r#"{"value":7}"#, "found an int"),
            (r#"{"text":7}"#, "`text` must be a string, found an int"),
            (r#"{"tool_calls":"x"}"#, "`tool_calls` must be a list, found a string"),
            (r#"{"tool_calls":[{"name":"a"},{"nam":"b"}]}"#, "`tool_calls[1]` must be {id, name, arguments}"),
            (r#"{"tool_calls":[{"name":"a","id":1}]}"#, "`tool_calls[0]`"),
        ] {
            let error = read_json(json).unwrap_err();
            assert_eq!((error.kind, error.retryable), (ModelErrorKind::BadResponse, false), "{json}");
            assert!(error.message.contains(part) && error.message.contains(EXPECTED), "{json}: {error}");
        }
    }

    #[test]
    fn answers_are_read_in_all_shapes() {
        for json in
            [r#""hi""#, r#"{"text":"hi"}"#, r#"{"ok":true,"value":"hi"}"#, r#"{"ok":true,"value":{"text":"hi"}}"#]
        {
            assert_eq!(read_json(json).unwrap().text.as_ref(), "hi", "{json}");
        }
        assert_eq!(read_json(r#"{"tool_calls":[{"id":"1","name":"a"}]}"#).unwrap().tool_calls.len(), 1);
    }

    #[test]
    fn a_failure_keeps_its_category() {
        let error = read_json(r#"{"ok":false,"error":{"category":"rate_limit","message":"slow down"}}"#).unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str(), error.retryable),
            (ModelErrorKind::RateLimit, "slow down", true)
        );
        let json = r#"{"ok":false,"error":{"category":"timeout","message":"m","retryable":false,"status":408}}"#;
        let error = read_json(json).unwrap_err();
        assert_eq!((error.kind, error.retryable, error.status), (ModelErrorKind::Timeout, false, Some(408)));
        assert_eq!(
            read_json(r#"{"ok":false,"error":{"category":"odd","message":"m"}}"#).unwrap_err().kind,
            ModelErrorKind::Server
        );
        assert_eq!(read_json(r#"{"ok":false,"error":"plain"}"#).unwrap_err().message, "plain");
        assert!(read_json(r#"{"ok":false}"#).unwrap_err().message.contains("failed without an error message"));
    }
}
