//! Requests over HTTP.

use super::url::query_of;
use crate::Capability;
use crate::options::{HttpOptions, OptionSet};
use crate::{here, system};
use base::clock::Clock;
use lang::builtins::{Right, args, json_text, parse_json};
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Raise, RunCode, Wait};
use providers::web::{Failure, FailureKind, Method, Question, Reply};
use std::rc::Rc;

const NET: &[Right] = &[Capability::Net.right()];

lang::builtins! { "" =>
    /// Asks a server: `{status, ok, headers, body}`. `ok` says whether the status is one of success, and `r.json()` parses the body.
    waits "http_get(url: string, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_get;
    /// Sends a body: a string or bytes as they are, anything else as JSON.
    waits "http_post(url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_post;
    /// Sends a body with the method `PUT`, as `http_post` does.
    waits "http_put(url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_put;
    /// Sends a body with the method `PATCH`, as `http_post` does.
    waits "http_patch(url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_patch;
    /// Asks a server with the method `DELETE`.
    waits "http_delete(url: string, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_delete;
    /// Asks a server for the headers of a response only.
    waits "http_head(url: string, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_head;
    /// Sends a request with a method: `GET`, `POST`, `PUT`, `PATCH`, `DELETE`, `HEAD` or `OPTIONS`.
    waits "http_request(method: string, url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_request;
}

/// Methods of the dict that a response is.
pub(super) mod of_responses {
    use super::response_json;

    lang::builtins! { "<dict>" =>
        /// Parses the JSON in the body of a response.
        ///
        /// ```harn
        /// let r = {status: 200, ok: true, body: "{\"n\": 1}"}
        /// r.json() // => {n: 1}
        /// ```
        plain "json(self: dict) -> any" response_json;
    }
}

/// The first wait before another attempt, and the longest one, in milliseconds.
const FIRST_WAIT_MS: u64 = 500;
const LONGEST_WAIT_MS: u64 = 30_000;

fn http_get(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    send(cx, args, Method::Get, Places { url: 0, body: None, options: 1 })
}

fn http_post(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    send(cx, args, Method::Post, Places { url: 0, body: Some(1), options: 2 })
}

fn http_put(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    send(cx, args, Method::Put, Places { url: 0, body: Some(1), options: 2 })
}

fn http_patch(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    send(cx, args, Method::Patch, Places { url: 0, body: Some(1), options: 2 })
}

fn http_delete(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    send(cx, args, Method::Delete, Places { url: 0, body: None, options: 1 })
}

fn http_head(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    send(cx, args, Method::Head, Places { url: 0, body: None, options: 1 })
}

fn http_request(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let name = args::str(args, 0)?;
    let method = match name.to_ascii_uppercase().as_str() {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        "DELETE" => Method::Delete,
        "HEAD" => Method::Head,
        "OPTIONS" => Method::Options,
        _ => {
            let shown: String = name.chars().take(40).collect();
            return Err(Raise::error(RunCode::Value, format!("unknown HTTP method `{shown}`"))
                .about(0, "")
                .help("use `GET`, `POST`, `PUT`, `PATCH`, `DELETE`, `HEAD` or `OPTIONS`"));
        }
    };
    send(cx, args, method, Places { url: 1, body: Some(2), options: 3 })
}

/// The arguments of a call.
#[derive(Clone, Copy)]
struct Places {
    url: usize,
    body: Option<usize>,
    options: usize,
}

/// A body and its type.
type TypedBody = (Vec<u8>, &'static str);

/// Returns the body of the argument, or of an option.
fn body(cx: &Cx<'_>, args: &[Value], options: &HttpOptions, places: Places) -> Result<Option<TypedBody>, Box<Raise>> {
    let json = |value: &Value, at: usize| -> Result<TypedBody, Box<Raise>> {
        let json = json_text(value).map_err(|raise| raise.about(at, "this value cannot be sent as a body"))?;
        Ok((json.into_bytes(), "application/json"))
    };
    let mut bodies = Vec::new();
    match places.body.map(|at| (at, &args[at])) {
        None | Some((_, Value::Nil)) => {}
        Some((_, Value::Str(text))) => bodies.push((text.as_bytes().to_vec(), "text/plain; charset=utf-8")),
        Some((_, Value::Bytes(bytes))) => bodies.push((bytes.to_vec(), "application/octet-stream")),
        Some((at, value)) => bodies.push(json(value, at)?),
    }
    match &options.form {
        None => {}
        Some(Value::Dict(values)) => {
            let form = query_of(cx, places.options, &values.dict)?;
            bodies.push((form.into_bytes(), "application/x-www-form-urlencoded"));
        }
        Some(other) => {
            let message = format!("`form` must be a dict, found {}", lang::value::article(other.type_name()));
            return Err(Raise::error(RunCode::Type, message).about(places.options, "invalid `form`"));
        }
    }
    if let Some(value) = &options.json {
        bodies.push(json(value, places.options)?);
    }
    if bodies.len() > 1 {
        return Err(Raise::error(RunCode::Value, "a request has one body: pass the argument, `form` or `json`")
            .about(places.options, ""));
    }
    Ok(bodies.pop())
}

/// Returns the URL with the values of the option `query`.
fn with_query(cx: &Cx<'_>, url: &str, query: Option<&Value>, options: usize) -> Result<String, Box<Raise>> {
    let values = match query {
        None => return Ok(url.to_owned()),
        Some(Value::Dict(values)) => values,
        Some(other) => {
            let message = format!("`query` must be a dict, found {}", lang::value::article(other.type_name()));
            return Err(Raise::error(RunCode::Type, message).about(options, "invalid `query`"));
        }
    };
    let query = query_of(cx, options, &values.dict)?;
    if query.is_empty() {
        return Ok(url.to_owned());
    }
    let (address, fragment) = url.split_once('#').map_or((url, None), |(address, fragment)| (address, Some(fragment)));
    let joint = match address.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    let fragment = fragment.map_or(String::new(), |fragment| format!("#{fragment}"));
    Ok(format!("{address}{joint}{query}{fragment}"))
}

fn send(cx: &Cx<'_>, args: &[Value], method: Method, places: Places) -> Result<Wait, Box<Raise>> {
    let options = HttpOptions::read(cx, args, places.options)?;
    let url = with_query(cx, args::str(args, places.url)?, options.query.as_ref(), places.options)?;
    let (body, kind) = match body(cx, args, &options, places)? {
        Some((body, kind)) => (body, Some(kind)),
        None => (Vec::new(), None),
    };
    let HttpOptions { mut headers, timeout_ms, retries, .. } = options;
    let said = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if let Some(kind) = kind.filter(|_| !said) {
        headers.push(("content-type".to_owned(), kind.to_owned()));
    }
    ask(cx, Question { method, url, headers, body, timeout_ms }, retries)
}

fn ask(cx: &Cx<'_>, question: Question, retries: u32) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    Ok(Wait::new(async move {
        let mut attempt = 0;
        loop {
            let reply = {
                let _outside = world.clock.outside();
                world.services.web.ask(&question).await
            };
            let wait_ms = wait_after(&reply, attempt).filter(|_| attempt < retries);
            let Some(wait_ms) = wait_ms else {
                return reply.map(answer).map_err(|failure| failed(&question, &failure));
            };
            attempt += 1;
            world.clock.sleep_until(world.clock.now_ms().saturating_add(wait_ms)).await;
        }
    }))
}

/// Returns the milliseconds to wait before another attempt, if one may have another result.
fn wait_after(reply: &Result<Reply, Failure>, attempt: u32) -> Option<u64> {
    let doubled = FIRST_WAIT_MS.saturating_mul(1 << attempt.min(16)).min(LONGEST_WAIT_MS);
    match reply {
        Ok(reply) if matches!(reply.status, 429 | 502 | 503 | 504) => {
            let after = reply.headers.iter().find(|(name, _)| name == "retry-after");
            let seconds = after.and_then(|(_, text)| text.trim().parse::<u64>().ok());
            Some(seconds.map_or(doubled, |seconds| seconds.saturating_mul(1000).min(LONGEST_WAIT_MS)))
        }
        Err(failure) if matches!(failure.kind, FailureKind::Connection | FailureKind::Timeout) => Some(doubled),
        _ => None,
    }
}

fn response_json(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let body = args::dict(args, 0)?.get_str("body").cloned().unwrap_or_default();
    let Value::Str(text) = &body else {
        let found = lang::value::article(body.type_name());
        return Err(Raise::error(
            RunCode::Type,
            format!("expected a response whose `body` is a string, found {found}"),
        )
        .about(0, "not a response with text"));
    };
    // Values are larger than their texts.
    cx.check_room(text.len().saturating_mul(4))?;
    cx.charge(text.len(), 4);
    parse_json(text).map_err(|raise| {
        let raise = raise.about(0, "its body is not JSON");
        match args::dict(args, 0).ok().and_then(|response| response.get_str("status")).and_then(Value::as_int) {
            Some(status) => raise.note(format!("the status of the response is {status}")),
            None => raise,
        }
    })
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
