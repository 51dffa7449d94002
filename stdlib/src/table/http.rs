//! Requests over HTTP.

use crate::capability::Capability;
use crate::cookies::CookieJarValue;
use crate::here;
use crate::http::{
    BodyLines, BodyPieces, HttpHead, HttpRequest, Pages, body_of, method_of, query_of, response, text_or_bytes,
};
use crate::options::{BodyForm, HttpOptions, HttpPageOptions, OptionSet};
use crate::values::ItemStream;
use lang::builtins::{Right, args, parse_json};
use lang::value::{HostBox, Value};
use lang::vm::{Cx, Raise, RunCode, Wait};
use providers::web::Method;
use std::rc::Rc;

const NET: &[Right] = &[Capability::Net.right()];

lang::builtins! { "" =>
    /// Asks a server: `{status, ok, headers, body}`. `ok` says whether the status is one of success, and `r.json()` parses the body.
    /// With the option `stream` the body is read as it comes.
    ///
    /// ```harn
    /// http_mock("GET https://example.com/items*", {json: [{id: 7}]})
    /// let r = http_get("https://example.com/items", {query: {tag: "a b"}})
    /// [r.status, r.ok, r.json()[0].id] // => [200, true, 7]
    /// http_mock_calls()[0].query // => {tag: "a b"}
    /// ```
    waits "http_get(url: string, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_get;
    /// Sends a body: a string or bytes as they are, anything else as JSON. The options `form`, `json` and `multipart` are other bodies;
    /// `multipart` uploads files.
    ///
    /// ```harn
    /// http_mock("POST https://example.com/items", {status: 201})
    /// http_post("https://example.com/items", {name: "a"}).status // => 201
    /// http_mock_calls()[0].json() // => {name: "a"}
    /// ```
    waits "http_post(url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_post;
    /// Sends a body with the method `PUT`, as `http_post` does.
    ///
    /// ```harn
    /// http_mock("PUT https://example.com/items/7", "changed")
    /// http_put("https://example.com/items/7", {name: "b"}).body // => "changed"
    /// ```
    waits "http_put(url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_put;
    /// Sends a body with the method `PATCH`, as `http_post` does.
    ///
    /// ```harn
    /// http_mock("PATCH https://example.com/items/7", {json: {id: 7, name: "c"}})
    /// http_patch("https://example.com/items/7", {name: "c"}).json() // => {id: 7, name: "c"}
    /// ```
    waits "http_patch(url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_patch;
    /// Asks a server with the method `DELETE`.
    ///
    /// ```harn
    /// http_mock("DELETE https://example.com/items/*", nil)
    /// http_delete("https://example.com/items/7").status // => 204
    /// ```
    waits "http_delete(url: string, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_delete;
    /// Asks a server for the headers of a response only.
    ///
    /// ```harn
    /// http_mock("HEAD https://example.com/big.zip", {headers: {"Content-Length": "5000000"}})
    /// http_head("https://example.com/big.zip").headers["content-length"] // => "5000000"
    /// ```
    waits "http_head(url: string, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_head;
    /// Sends a request with a method: `GET`, `POST`, `PUT`, `PATCH`, `DELETE`, `HEAD` or `OPTIONS`. The proxy of the environment is used.
    ///
    /// ```harn
    /// http_mock("OPTIONS https://example.com/*", {headers: {allow: "GET, POST"}})
    /// http_request("OPTIONS", "https://example.com/items").headers.allow // => "GET, POST"
    /// ```
    waits "http_request(method: string, url: string, body: any = nil, options: HttpOptions = nil) -> {status: int, ok: bool, headers: dict, body: any, ...}" [caps = NET] http_request;
    /// Reads the items of a response that comes in several pages, as a stream (pagination): a page is asked for when its items are
    /// needed. The next page is that of the `Link` header, of a `cursor` in the page, or of a `page` number in the query.
    ///
    /// ```harn
    /// http_mock("https://example.com/items", [{json: {data: [1, 2], next: "b"}}, {json: {data: [3], next: nil}}])
    /// http_paginate("https://example.com/items", {items: "data", cursor: "next"}).to_list() // => [1, 2, 3]
    /// http_mock_calls()[1].query // => {cursor: "b"}
    /// ```
    plain "http_paginate(url: string, options: HttpPageOptions = nil) -> stream<any>" [caps = NET] http_paginate;
    /// Creates an empty jar of cookies. Requests with the option `cookies: jar` send its cookies and keep those of the responses. It
    /// reads like a list of `{name, value, domain, path, expires, secure}`.
    ///
    /// ```harn
    /// http_mock("https://example.com/*", {headers: {"Set-Cookie": "session=abc; Path=/"}})
    /// let jar = cookie_jar()
    /// http_post("https://example.com/login", nil, {form: {user: "a"}, cookies: jar}).ok // => true
    /// jar[0].value // => "abc"
    /// http_get("https://example.com/home", {cookies: jar}).ok // => true
    /// http_mock_calls()[1].headers.cookie // => "session=abc"
    /// ```
    plain "cookie_jar() -> cookie_jar" cookie_jar;
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
    let method = method_of(args::str(args, 0)?).map_err(|raise| raise.about(0, ""))?;
    send(cx, args, method, Places { url: 1, body: Some(2), options: 3 })
}

/// The arguments of a call.
#[derive(Clone, Copy)]
struct Places {
    url: usize,
    body: Option<usize>,
    options: usize,
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
    let mut options = HttpOptions::read(cx, args, places.options)?;
    let url = with_query(cx, args::str(args, places.url)?, options.base.query.as_ref(), places.options)?;
    let argument = places.body.map(|at| (at, &args[at]));
    let (body, kind) = match body_of(cx, argument, (places.options, &options))? {
        Some((body, kind)) => (body, Some(kind)),
        None => (Vec::new(), None),
    };
    let headers = &mut options.base.headers;
    let said = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if let Some(kind) = kind.filter(|_| !said) {
        headers.push(("content-type".to_owned(), kind.into_owned()));
    }
    let request = HttpRequest::new(method, url, body, options.base);
    let world = here::world(cx)?;
    Ok(Wait::new(async move {
        let Some(form) = options.stream else {
            let reply = request.reply(&world).await?;
            return Ok(response(reply.status, reply.headers, text_or_bytes(reply.body)));
        };
        let HttpHead { status, headers, body } = request.head(&world).await?;
        let (question, clock) = (request.question, world.clock.clone());
        let body = match form {
            BodyForm::Lines => ItemStream::value(BodyLines::new(body, question, clock)),
            BodyForm::Bytes => ItemStream::value(BodyPieces::new(body, question, clock)),
        };
        Ok(response(status, headers, body))
    }))
}

fn http_paginate(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let options = HttpPageOptions::read(cx, args, 1)?;
    let url = with_query(cx, args::str(args, 0)?, options.base.query.as_ref(), 1)?;
    let pages = Pages::new(cx, here::world(cx)?, url, options).map_err(|raise| raise.about(1, ""))?;
    Ok(ItemStream::value(pages))
}

fn cookie_jar(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let clock = here::world(cx)?.clock.clone();
    Ok(HostBox::value(CookieJarValue { jar: Rc::default(), clock }))
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
