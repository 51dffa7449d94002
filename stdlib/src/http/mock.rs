//! [`HttpMock`]: answers in place of servers. Once there is one, no request reaches the network.

use super::query::query_values;
use super::reading::BodySource;
use super::request::{HttpHead, text_or_bytes};
use crate::bind::ScriptFn;
use crate::codes::TestCode;
use crate::options::{HttpMockReply, MockFailure, OptionSet};
use crate::world::World;
use base::clock::Clock;
use lang::builtins::json_text;
use lang::value::{Dict, Str, Value, article};
use lang::vm::{Context, Cx, Isolate, Raise, RunCode};
use providers::web::{Cookies, Failure, FailureKind, Method, Question, Url};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// Requests that are kept for `http_mock_calls`; the oldest are forgotten.
const MOST_CALLS: usize = 10_000;

/// Routes that an error lists.
const MOST_LISTED: usize = 5;

/// The mock of a run.
#[derive(Default)]
pub(crate) struct HttpMock {
    routes: RefCell<Vec<Rc<MockRoute>>>,
    calls: RefCell<VecDeque<Value>>,
}

/// Requests of a kind, and their answers.
pub(crate) struct MockRoute {
    /// The request as it is written in the script.
    written: String,
    method: Option<Method>,
    url: String,
    answers: MockAnswers,
    isolate: Rc<Isolate>,
    context: Rc<Context>,
}

enum MockAnswers {
    /// One answer for all requests.
    Same(Value),
    /// One after the other; the number of those that were given.
    InTurn(Rc<Vec<Value>>, Cell<usize>),
    /// The results of a function of the request.
    Made(ScriptFn),
}

impl MockRoute {
    /// Creates a route for requests like `GET https://example.com/*`.
    pub(crate) fn new(cx: &Cx<'_>, written: &str, answer: &Value) -> Result<Self, Box<Raise>> {
        let (method, url) = match written.split_once(' ') {
            None => (None, written),
            Some((method, url)) => (Some(method_of(method)?), url.trim()),
        };
        if url != "*" && !url.starts_with("http://") && !url.starts_with("https://") && !url.starts_with("*") {
            let message = format!("`{url}` is not a URL or a pattern of URLs");
            return Err(Raise::error(RunCode::Value, message)
                .help("write the method and the full URL: `\"GET https://example.com/items/*\"`"));
        }
        let answers = match answer {
            Value::List(several) => MockAnswers::InTurn(Rc::new(several.items.clone()), Cell::new(0)),
            answer => match ScriptFn::of(cx, answer) {
                Some(function) => MockAnswers::Made(function),
                None => MockAnswers::Same(answer.clone()),
            },
        };
        let (isolate, context) = (cx.isolate.clone(), cx.context.clone());
        let route = Self { written: written.to_owned(), method, url: url.to_owned(), answers, isolate, context };
        // A mistake is found where the mock is set up.
        match &route.answers {
            MockAnswers::Same(answer) => drop(MockedReply::read(cx, answer)?),
            MockAnswers::InTurn(several, _) => {
                for answer in several.iter() {
                    drop(MockedReply::read(cx, answer)?);
                }
            }
            MockAnswers::Made(_) => {}
        }
        Ok(route)
    }

    fn is_for(&self, question: &Question) -> bool {
        let url = question.url.split('#').next().unwrap_or_default();
        let url = if self.url.contains('?') { url } else { url.split('?').next().unwrap_or_default() };
        self.method.is_none_or(|method| method == question.method) && matches(&self.url, url)
    }

    fn is_used_up(&self) -> bool {
        matches!(&self.answers, MockAnswers::InTurn(several, given) if given.get() >= several.len())
    }

    async fn reply(&self, call: &Value) -> Result<MockedReply, Box<Raise>> {
        let answer = match &self.answers {
            MockAnswers::Same(answer) => answer.clone(),
            MockAnswers::InTurn(several, given) => {
                let answer = several.get(given.get()).cloned().unwrap_or_default();
                given.set(given.get() + 1);
                answer
            }
            MockAnswers::Made(function) => function.call_with([call.clone()]).get().await?,
        };
        let cx = Cx { isolate: &self.isolate, context: &self.context };
        MockedReply::read(&cx, &answer).map_err(|raise| {
            let message = format!("invalid answer of the mock `{}`: {}", self.written, raise.message);
            Raise::error(raise.code, message)
        })
    }
}

/// Returns the method of a name.
pub(crate) fn method_of(name: &str) -> Result<Method, Box<Raise>> {
    Method::of_name(name).ok_or_else(|| {
        let shown: String = name.chars().take(40).collect();
        Raise::error(RunCode::Value, format!("unknown HTTP method `{shown}`"))
            .help("use `GET`, `POST`, `PUT`, `PATCH`, `DELETE`, `HEAD` or `OPTIONS`")
    })
}

/// Returns whether a text is as a pattern says, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // The place after the last `*`, and where its text ends so far.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, t));
        } else if pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((after, end)) = star {
            (p, t) = (after, end + 1);
            star = Some((after, end + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// An answer of the mock.
struct MockedReply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    failure: Option<MockFailure>,
    delay_ms: u64,
}

impl MockedReply {
    /// Reads an answer: a body, options, or nil for an empty one.
    fn read(cx: &Cx<'_>, value: &Value) -> Result<Self, Box<Raise>> {
        let of_body = |status, body| Self { status, headers: Vec::new(), body, failure: None, delay_ms: 0 };
        match value {
            Value::Nil => return Ok(of_body(204, Vec::new())),
            Value::Str(text) => return Ok(of_body(200, text.as_bytes().to_vec())),
            Value::Bytes(bytes) => return Ok(of_body(200, bytes.to_vec())),
            Value::Dict(_) => {}
            other => {
                let message = format!(
                    "expected a string, bytes, or a dict with `status`, `headers`, `body` or `json`, found {}",
                    article(other.type_name())
                );
                return Err(Raise::error(RunCode::Type, message));
            }
        }
        let options = HttpMockReply::read(cx, std::slice::from_ref(value), 0)?;
        let mut headers = headers_of(options.headers.as_ref())?;
        let body = match (&options.body, &options.json) {
            (Some(_), Some(_)) => {
                return Err(Raise::error(RunCode::Value, "an answer has one body: pass `body` or `json`"));
            }
            (None, None) => Vec::new(),
            (Some(Value::Str(text)), None) => text.as_bytes().to_vec(),
            (Some(Value::Bytes(bytes)), None) => bytes.to_vec(),
            (Some(other), None) => {
                let message = format!("`body` must be a string or bytes, found {}", article(other.type_name()));
                return Err(Raise::error(RunCode::Type, message).help("use `json` for other values"));
            }
            (None, Some(value)) => {
                if headers.iter().all(|(name, _)| name != "content-type") {
                    headers.push(("content-type".to_owned(), "application/json".to_owned()));
                }
                json_text(value)?.into_bytes()
            }
        };
        if !(100..=999).contains(&options.status) {
            let message = format!("`status` must be from 100 to 999, found {}", options.status);
            return Err(Raise::error(RunCode::Value, message));
        }
        Ok(Self { status: options.status, headers, body, failure: options.error, delay_ms: options.delay_ms })
    }
}

/// Returns headers with their names in small letters. One with a list comes several times.
fn headers_of(value: Option<&Value>) -> Result<Vec<(String, String)>, Box<Raise>> {
    let mut headers = Vec::new();
    let wrong = |found: &Value| {
        let message = format!("`headers` has strings and lists of strings, found {}", article(found.type_name()));
        Raise::error(RunCode::Type, message)
    };
    let Some(value) = value else { return Ok(headers) };
    for (name, value) in value.as_dict().ok_or_else(|| wrong(value))?.iter() {
        let values = value.as_list().unwrap_or(std::slice::from_ref(value));
        for value in values {
            let text = value.as_str().ok_or_else(|| wrong(value))?;
            headers.push((name.to_ascii_lowercase(), text.to_owned()));
        }
    }
    Ok(headers)
}

impl HttpMock {
    /// Returns the mock of a run.
    pub(crate) fn of(world: &World) -> Rc<HttpMock> {
        world.part(HttpMock::default)
    }

    /// Whether requests are answered here.
    pub(crate) fn is_active(&self) -> bool {
        !self.routes.borrow().is_empty()
    }

    /// Adds a route; those before it are asked first.
    pub(crate) fn add(&self, route: MockRoute) {
        self.routes.borrow_mut().push(Rc::new(route));
    }

    /// Returns the requests so far.
    pub(crate) fn calls(&self) -> Vec<Value> {
        self.calls.borrow().iter().cloned().collect()
    }

    /// Forgets the routes and the requests.
    pub(crate) fn clear(&self) {
        self.routes.take();
        self.calls.take();
    }

    /// Answers a request.
    pub(crate) async fn answer(
        world: &Rc<World>,
        question: &Question,
        cookies: Option<Cookies<'_>>,
    ) -> Result<Result<HttpHead, Failure>, Box<Raise>> {
        let mock = HttpMock::of(world);
        let url = match question.checked_url() {
            Ok(url) => url,
            Err(failure) => return Ok(Err(failure)),
        };
        let cookie = cookies.and_then(|of| of.jar.borrow().header(&url, of.now_ms));
        let call = match cookie {
            Some(cookie) => call_of(&question.with_cookie(&cookie), &url),
            None => call_of(question, &url),
        };
        mock.record(call.clone());
        let routes = mock.routes.borrow().clone();
        let found = routes.iter().find(|route| route.is_for(question) && !route.is_used_up());
        let route = found.ok_or_else(|| unexpected(question, &routes))?;
        let reply = route.reply(&call).await?;
        let delay_ms = reply.delay_ms.min(question.timeout_ms);
        if delay_ms > 0 {
            world.clock.sleep_until(world.clock.now_ms().saturating_add(delay_ms)).await;
        }
        let is_late = reply.delay_ms >= question.timeout_ms && reply.delay_ms > 0;
        if let Some(failure) = reply.failure.or(is_late.then_some(MockFailure::Timeout)) {
            return Ok(Err(failure_of(failure, question, &url)));
        }
        if let Some(cookies) = cookies {
            let set = reply.headers.iter().filter(|(name, _)| name == "set-cookie");
            set.for_each(|(_, header)| cookies.jar.borrow_mut().take_in(&url, header, cookies.now_ms));
        }
        let body = if question.method == Method::Head { Vec::new() } else { reply.body };
        Ok(Ok(HttpHead { status: reply.status, headers: reply.headers, body: BodySource::Mock(Some(body)) }))
    }

    fn record(&self, call: Value) {
        let mut calls = self.calls.borrow_mut();
        if calls.len() == MOST_CALLS {
            calls.pop_front();
        }
        calls.push_back(call);
    }
}

fn failure_of(failure: MockFailure, question: &Question, url: &Url) -> Failure {
    let host = url.host_str().unwrap_or_default();
    let (kind, message) = match failure {
        MockFailure::Connection => (FailureKind::Connection, format!("cannot connect to {host}: mocked failure")),
        MockFailure::Timeout => (FailureKind::Timeout, format!("{host} timed out after {} ms", question.timeout_ms)),
        MockFailure::TooLarge => (FailureKind::TooLarge, format!("the response of {host} is larger than 32 MiB")),
    };
    Failure { kind, message }
}

/// Returns a request as scripts see it.
fn call_of(question: &Question, url: &Url) -> Value {
    let headers: Dict = question
        .headers
        .iter()
        .map(|(name, value)| (Str::new(&name.to_ascii_lowercase()), Value::str(value)))
        .collect();
    let body = if question.body.is_empty() { Value::Nil } else { text_or_bytes(question.body.clone()) };
    Value::record([
        ("method", Value::str(question.method.name())),
        ("url", Value::str(&question.url)),
        ("path", Value::str(url.path())),
        ("query", query_values(url)),
        ("headers", Value::dict(headers)),
        ("body", body),
    ])
}

/// The error of a request that no route is for.
fn unexpected(question: &Question, routes: &[Rc<MockRoute>]) -> Box<Raise> {
    let request = format!("{} {}", question.method.name(), question.url);
    let used_up = routes.iter().find(|route| route.is_for(question));
    let message = match used_up {
        Some(route) => format!("the answers of the mock `{}` are used up", route.written),
        None => format!("no mock answers `{request}`"),
    };
    let mut listed: Vec<String> = routes.iter().take(MOST_LISTED).map(|route| format!("`{}`", route.written)).collect();
    if routes.len() > MOST_LISTED {
        listed.push(format!("{} more", routes.len() - MOST_LISTED));
    }
    Raise::error(TestCode::Unmocked, message)
        .field("url", question.url.as_str())
        .note(format!("the mocks are {}", listed.join(", ")))
        .help(format!("add one: `http_mock(\"{request}\", {{json: {{}}}})`"))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, wanted) in [
            ("*", "", true),
            ("*", "https://a/b", true),
            ("https://a/*", "https://a/", true),
            ("https://a/*", "https://a/b/c", true),
            ("https://a/*", "https://b/a/", false),
            ("https://a/*/c", "https://a/b/c/c", true),
            ("https://a/*/c", "https://a/b/d", false),
            ("*/b?x=1", "https://a/b?x=1", true),
            ("*/b?x=1", "https://a/b?x=11", false),
            ("https://a", "https://a/", false),
        ] {
            assert_eq!(matches(pattern, text), wanted, "{pattern} {text}");
        }
    }
}
