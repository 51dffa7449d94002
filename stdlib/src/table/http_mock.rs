//! Answers in place of servers, for tests.

use crate::here;
use crate::http::{HttpMock, MockRoute};
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise};

lang::builtins! { "" =>
    /// Answers requests in place of servers: from then on no request of this run reaches the network, and one without a mock is an
    /// error. `request` is a URL, or a method and a URL; `*` stands for any characters, and the query counts only if the pattern has
    /// one. `reply` is a body, a dict, a list of replies that are given in turn, or a function of the request. The first mock that
    /// fits answers.
    ///
    /// ```harn
    /// http_mock("GET https://example.com/items/*", { call -> {json: {path: call.path}} })
    /// http_mock("POST https://example.com/items", [{status: 201}, {status: 409, body: "exists"}])
    /// http_get("https://example.com/items/7").json() // => {path: "/items/7"}
    /// http_post("https://example.com/items", {id: 7}).status // => 201
    /// http_post("https://example.com/items", {id: 7}).body // => "exists"
    /// http_get("https://example.com/other") // => error: no mock answers `GET https://example.com/other`
    /// ```
    plain "http_mock(request: string, reply: string | bytes | list | HttpMockReply | nil | fn(HttpCall) -> any) -> nil" http_mock;
    /// Returns the requests that were made since the first `http_mock`.
    ///
    /// ```harn
    /// http_mock("*", "hello")
    /// http_post("https://example.com/a?x=1", "text", {headers: {"X-Key": "k"}}).body // => "hello"
    /// let call = http_mock_calls()[0]
    /// [call.method, call.path, call.query.x, call.headers["x-key"], call.body] // => ["POST", "/a", "1", "k", "text"]
    /// ```
    plain "http_mock_calls() -> list<HttpCall>" http_mock_calls;
    /// Forgets the mocks of requests and the past calls: requests reach the network again.
    ///
    /// ```harn
    /// http_mock("*", "hello")
    /// http_mock_clear()
    /// http_mock_calls() // => []
    /// ```
    plain "http_mock_clear() -> nil" http_mock_clear;
}

fn http_mock(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let route = MockRoute::new(cx, args::str(args, 0)?, &args[1])?;
    HttpMock::of(&world).add(route);
    Ok(Value::Nil)
}

fn http_mock_calls(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::list(HttpMock::of(&*here::world(cx)?).calls()))
}

fn http_mock_clear(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    HttpMock::of(&*here::world(cx)?).clear();
    Ok(Value::Nil)
}
