//! [`HttpRequest`]: a request to a server, or to the mock in its place, with further attempts.

use super::mock::HttpMock;
use super::reading::BodySource;
use crate::codes::SystemCode;
use crate::options::HttpBaseOptions;
use crate::world::World;
use base::clock::Clock;
use lang::value::{Dict, Str, Value, display};
use lang::vm::Raise;
use providers::web::{CookieJar, Cookies, Failure, FailureKind, Method, Question, Reply};
use std::cell::RefCell;
use std::rc::Rc;

/// The first wait before another attempt, and the longest one, in milliseconds.
const FIRST_WAIT_MS: u64 = 500;
const LONGEST_WAIT_MS: u64 = 30_000;

/// A request with what its options say about it.
#[derive(Clone)]
pub(crate) struct HttpRequest {
    pub(crate) question: Question,
    retries: u32,
    jar: Option<Rc<RefCell<CookieJar>>>,
}

/// An answer whose body is still to be read.
pub(crate) struct HttpHead {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: BodySource,
}

impl HttpRequest {
    /// Creates a request; its URL has the query already.
    pub(crate) fn new(method: Method, url: String, body: Vec<u8>, options: HttpBaseOptions) -> Self {
        let HttpBaseOptions { mut headers, timeout_ms, retries, cookies, .. } = options;
        let jar = cookies.and_then(|cookies| cookies.jar_or_header(&mut headers));
        Self { question: Question { method, url, headers, body, timeout_ms }, retries, jar }
    }

    /// Returns the same request to another URL.
    pub(crate) fn to(&self, url: String) -> Self {
        Self { question: Question { url, ..self.question.clone() }, ..self.clone() }
    }

    /// Returns the whole answer.
    pub(crate) async fn reply(&self, world: &Rc<World>) -> Result<Reply, Box<Raise>> {
        self.attempts(world, async || {
            let head = match self.begin(world).await? {
                Ok(head) => head,
                Err(failure) => return Ok(Err(failure)),
            };
            let _outside = world.clock.outside();
            Ok(head.body.whole().await.map(|body| Reply { status: head.status, headers: head.headers, body }))
        })
        .await
    }

    /// Returns the answer once its head has come.
    pub(crate) async fn head(&self, world: &Rc<World>) -> Result<HttpHead, Box<Raise>> {
        self.attempts(world, async || self.begin(world).await).await
    }

    /// Asks until there is an answer, or no attempt is left.
    async fn attempts<T: HttpAnswer>(
        &self,
        world: &Rc<World>,
        ask: impl AsyncFn() -> Result<Result<T, Failure>, Box<Raise>>,
    ) -> Result<T, Box<Raise>> {
        let mut attempt = 0;
        loop {
            let answer = ask().await?;
            let wait_ms = wait_after(&answer, attempt).filter(|_| attempt < self.retries);
            let Some(wait_ms) = wait_ms else {
                return answer.map_err(|failure| failed(&self.question, &failure));
            };
            attempt += 1;
            world.clock.sleep_until(world.clock.now_ms().saturating_add(wait_ms)).await;
        }
    }

    async fn begin(&self, world: &Rc<World>) -> Result<Result<HttpHead, Failure>, Box<Raise>> {
        let cookies = self.jar.as_ref().map(|jar| Cookies { jar, now_ms: world.clock.now_ms() });
        if HttpMock::of(world).is_active() {
            return HttpMock::answer(world, &self.question, cookies).await;
        }
        let _outside = world.clock.outside();
        Ok(world.services.web.begin(&self.question, cookies).await.map(|opened| HttpHead {
            status: opened.status(),
            headers: opened.all_headers(),
            body: BodySource::Network(opened),
        }))
    }
}

/// An answer with its head.
trait HttpAnswer {
    fn status(&self) -> u16;
    fn headers(&self) -> &[(String, String)];
}

impl HttpAnswer for Reply {
    fn status(&self) -> u16 {
        self.status
    }

    fn headers(&self) -> &[(String, String)] {
        &self.headers
    }
}

impl HttpAnswer for HttpHead {
    fn status(&self) -> u16 {
        self.status
    }

    fn headers(&self) -> &[(String, String)] {
        &self.headers
    }
}

/// Returns the milliseconds to wait before another attempt, if one may have another result.
fn wait_after(answer: &Result<impl HttpAnswer, Failure>, attempt: u32) -> Option<u64> {
    let doubled = FIRST_WAIT_MS.saturating_mul(1 << attempt.min(16)).min(LONGEST_WAIT_MS);
    match answer {
        Ok(answer) if matches!(answer.status(), 429 | 502 | 503 | 504) => {
            let after = answer.headers().iter().find(|(name, _)| name == "retry-after");
            let seconds = after.and_then(|(_, text)| text.trim().parse::<u64>().ok());
            Some(seconds.map_or(doubled, |seconds| seconds.saturating_mul(1000).min(LONGEST_WAIT_MS)))
        }
        Err(failure) if matches!(failure.kind, FailureKind::Connection | FailureKind::Timeout) => Some(doubled),
        _ => None,
    }
}

/// Returns an answer as scripts see it.
pub(crate) fn response(status: u16, headers: Vec<(String, String)>, body: Value) -> Value {
    let mut shown = Dict::new();
    for (name, value) in headers {
        // A header may come several times; a list with commas says the same.
        let whole = match shown.get_str(&name) {
            Some(before) => format!("{}, {value}", display(before)),
            None => value,
        };
        shown.insert(Str::new(&name), Value::from(whole));
    }
    Value::record([
        ("status", Value::Int(i64::from(status))),
        ("ok", Value::Bool((200..300).contains(&status))),
        ("headers", Value::dict(shown)),
        ("body", body),
    ])
}

/// Returns a body as text, or as bytes if it is none.
pub(crate) fn text_or_bytes(body: Vec<u8>) -> Value {
    match String::from_utf8(body) {
        Ok(text) => Value::from(text),
        Err(e) => Value::Bytes(Rc::new(e.into_bytes())),
    }
}

/// Returns the error of a request without an answer.
pub(crate) fn failed(question: &Question, failure: &Failure) -> Box<Raise> {
    let (code, category, help) = match failure.kind {
        FailureKind::Address => (SystemCode::Address, "address", "write the full URL: `https://example.com/path`"),
        FailureKind::Connection | FailureKind::NotText => {
            (SystemCode::Connection, "connection", "catch this error if the server may be unavailable")
        }
        FailureKind::Timeout => (SystemCode::Slow, "timeout", "allow more time with the option `timeout_ms`"),
        FailureKind::TooLarge => {
            (SystemCode::Large, "too_large", "request only a part of it, or read it with the option `stream`")
        }
    };
    let raise = Raise::error(code, failure.message.clone()).field("category", category);
    raise.field("url", question.url.as_str()).help(help)
}
