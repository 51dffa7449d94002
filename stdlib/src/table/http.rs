//! Requests over HTTP.

use crate::Capability;
use crate::options::{HttpOptions, OptionSet};
use crate::{here, system};
use lang::builtins::{Right, args, json_text};
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Raise, Wait};
use providers::web::{Failure, FailureKind, Method, Question, Reply};
use std::rc::Rc;

const NET: &[Right] = &[Capability::Net.right()];

lang::builtins! { "" =>
    /// Asks a server: `{status, ok, headers, body}`. `ok` says whether the status is one of success.
    waits "http_get(url: string, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_get;
    /// Sends a body: a string or bytes as they are, anything else as JSON.
    waits "http_post(url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_post;
}

fn http_get(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let question = question(cx, args, Method::Get, 1)?;
    ask(cx, question)
}

fn http_post(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let mut question = question(cx, args, Method::Post, 2)?;
    let (body, kind) = match &args[1] {
        Value::Nil => (Vec::new(), None),
        Value::Str(text) => (text.as_bytes().to_vec(), Some("text/plain; charset=utf-8")),
        Value::Bytes(bytes) => (bytes.to_vec(), Some("application/octet-stream")),
        value => {
            let json = json_text(value).map_err(|raise| raise.about(1, "this value cannot be sent as a body"))?;
            (json.into_bytes(), Some("application/json"))
        }
    };
    let said = question.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if let Some(kind) = kind.filter(|_| !said) {
        question.headers.push(("content-type".to_owned(), kind.to_owned()));
    }
    question.body = body;
    ask(cx, question)
}

/// The URL in the first argument and the options in argument `options`.
fn question(cx: &Cx<'_>, args: &[Value], method: Method, options: usize) -> Result<Question, Box<Raise>> {
    let url = args::str(args, 0)?.to_string();
    let HttpOptions { headers, timeout_ms } = HttpOptions::read(cx, args, options)?;
    Ok(Question { method, url, headers, body: Vec::new(), timeout_ms })
}

fn ask(cx: &Cx<'_>, question: Question) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        let reply = world.services.web.ask(&question).await;
        reply.map(answer).map_err(|failure| failed(&question, &failure))
    }))
}

fn answer(reply: Reply) -> Value {
    let mut headers = Dict::new();
    for (name, value) in reply.headers {
        // A header may come several times; a list with commas says the same.
        let whole = match headers.get_str(&name) {
            Some(before) => format!("{}, {value}", lang::value::display(before)),
            None => value,
        };
        headers.insert(Str::new(&name), Value::from(whole));
    }
    let body = match String::from_utf8(reply.body) {
        Ok(text) => Value::from(text),
        Err(e) => Value::Bytes(Rc::new(e.into_bytes())),
    };
    Value::record([
        ("status", Value::Int(i64::from(reply.status))),
        ("ok", Value::Bool((200..300).contains(&reply.status))),
        ("headers", Value::dict(headers)),
        ("body", body),
    ])
}

fn failed(question: &Question, failure: &Failure) -> Box<Raise> {
    let (code, category, help) = match failure.kind {
        FailureKind::Address => {
            (system::SystemCode::Address, "address", "write the full URL: `https://example.com/path`")
        }
        FailureKind::Connection | FailureKind::NotText => {
            (system::SystemCode::Connection, "connection", "catch this error if the server may be unavailable")
        }
        FailureKind::Timeout => (system::SystemCode::Slow, "timeout", "allow more time with the option `timeout_ms`"),
        FailureKind::TooLarge => (system::SystemCode::Large, "too_large", "request only a part of it"),
    };
    let raise = Raise::error(code, failure.message.clone()).field("category", category);
    raise.field("url", question.url.as_str()).help(help)
}
