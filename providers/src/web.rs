//! Questions of scripts to servers of any kind, over the same connections, certificates and proxies as the routes to models.
//!
//! - [`Web::ask`]: a question and its whole answer.
//! - [`HealthProbe`]: whether a server works.
//! - [`Web::open`]: a question to a peer, whose answer is read as it comes: [`Opened`], [`ResponseEvents`].

mod health;
mod opened;

pub use health::HealthProbe;
pub use opened::{Opened, ResponseEvents};
pub use reqwest::Url;

use crate::model::http::failure::root_cause;
use crate::model::http::{Client, MAX_BODY, client::Proxies};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{StatusCode, redirect};
use std::borrow::Cow;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Returns a client for a URL, with the certificates and proxies of all other requests. It follows no redirects.
///
/// # Errors
/// A sentence: the URL is invalid, or TLS or a proxy cannot be set up.
pub fn http_client(url: &str) -> Result<reqwest::Client, String> {
    let url = Url::parse(url).map_err(|error| format!("invalid URL: {error}"))?;
    let proxies = Proxies::from_env(&|name: &str| std::env::var(name).ok());
    Client::new(proxies).get(&url).cloned().map_err(|error| error.to_string())
}

/// The HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
    /// `HEAD`
    Head,
    /// `OPTIONS`
    Options,
}

/// A request.
#[derive(Debug, Clone)]
pub struct Question {
    /// The HTTP method.
    pub method: Method,
    /// The URL, with its scheme.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// May be empty.
    pub body: Vec<u8>,
    /// The timeout of the whole answer, in milliseconds.
    pub timeout_ms: u64,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub struct Reply {
    /// 200, 404 …
    pub status: u16,
    /// Names in small letters; one may come several times.
    pub headers: Vec<(String, String)>,
    /// The body, at most 32 MiB.
    pub body: Vec<u8>,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The URL or a header is none.
    Address,
    /// The connection failed or broke off.
    Connection,
    /// The answer was not complete in time.
    Timeout,
    /// The body exceeds 32 MiB.
    TooLarge,
    /// An event is not UTF-8.
    NotText,
}

/// The reason why there is no answer.
#[derive(Debug)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// One sentence that names the server.
    pub message: String,
}

/// Whether a JSON document has so many values that reading it would take far more memory than its text.
#[must_use]
pub fn too_many_values(json: &[u8]) -> bool {
    crate::model::http::values::too_many(json)
}

/// The way to servers; nothing is opened before the first question.
pub struct Web {
    /// The client, which follows no redirects to other origins.
    client: Client,
}

impl Web {
    /// Creates the client with the proxies of an environment.
    pub fn new(env: impl Fn(&str) -> Option<String> + 'static) -> Self {
        let proxies = Proxies::from_env(&env);
        Self { client: Client::new(proxies).following(within_origin) }
    }

    /// Sends one request to a peer; the answer is read from [`Opened`]. Redirects are followed
    /// within the same origin only, since the token and the message are meant for that peer; a
    /// redirect elsewhere is returned as an answer with its status and its `location`. The timeout
    /// covers everything up to the end of the body; if events are read, it covers the head only.
    ///
    /// # Errors
    /// Fails if the head of the answer does not arrive.
    pub async fn open(&self, question: &Question) -> Result<Opened, Failure> {
        let url = address(&question.url)?;
        let host = shown(&url);
        let until = Instant::now() + Duration::from_millis(question.timeout_ms);
        let request = request(&self.client, question, url, &host)?;
        let sent = timeout_at(until, request.send()).await;
        let response = sent.map_err(|_| too_slow(&host, question.timeout_ms))?;
        let response = response.map_err(|error| of_network(&host, &error, question.timeout_ms))?;
        Ok(Opened { response, host, until, timeout_ms: question.timeout_ms })
    }

    /// Asks, once. Redirects are followed; headers are meant for the origin that was asked, so one to another origin gets
    /// none of them.
    ///
    /// # Errors
    /// Fails if the answer is not complete. An error status is an answer.
    pub async fn ask(&self, question: &Question) -> Result<Reply, Failure> {
        let until = Instant::now() + Duration::from_millis(question.timeout_ms);
        let (mut url, mut question) = (address(&question.url)?, Cow::Borrowed(question));
        let mut hops = 0;
        let (mut response, host) = loop {
            let host = shown(&url);
            let request = request(&self.client, &question, url, &host)?;
            let request = request.timeout(until.saturating_duration_since(Instant::now()));
            let response = request.send().await.map_err(|error| of_network(&host, &error, question.timeout_ms))?;
            match elsewhere(&response) {
                None => break (response, host),
                Some(_) if hops == MOST_REDIRECTS => {
                    let message = format!("{host}: too many redirects");
                    return Err(Failure { kind: FailureKind::Connection, message });
                }
                Some(next) => {
                    hops += 1;
                    question = Cow::Owned(question.redirected(response.status()));
                    url = next;
                }
            }
        };
        let failed = |error: reqwest::Error| of_network(&host, &error, question.timeout_ms);
        let status = response.status().as_u16();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(too_large(&host, MAX_BODY));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Reply { status, headers, body })
    }
}

/// The maximum number of redirects: ten, as in browsers; a longer chain is a loop.
const MOST_REDIRECTS: usize = 10;

/// Returns where an answer redirects to, if that is another origin.
fn elsewhere(response: &reqwest::Response) -> Option<Url> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    let next = response.url().join(location.to_str().ok()?).ok()?;
    (matches!(next.scheme(), "http" | "https") && next.has_host() && next.origin() != response.url().origin())
        .then_some(next)
}

impl Question {
    /// Returns the request to another origin after a redirect with this status. Of the headers it has the type of the body,
    /// if it has the body.
    fn redirected(&self, status: StatusCode) -> Question {
        let keeps_body = matches!(status.as_u16(), 307 | 308);
        let is_type = |(name, _): &&(String, String)| keeps_body && name.eq_ignore_ascii_case("content-type");
        Question {
            method: if keeps_body { self.method } else { Method::Get },
            headers: self.headers.iter().filter(is_type).cloned().collect(),
            body: if keeps_body { self.body.clone() } else { Vec::new() },
            ..self.clone()
        }
    }
}

/// Follows redirects to the server that was asked, and stops at one that leads to another.
fn within_origin() -> redirect::Policy {
    redirect::Policy::custom(|attempt| match attempt.previous().last() {
        Some(from) if from.origin() != attempt.url().origin() => attempt.stop(),
        _ if attempt.previous().len() > MOST_REDIRECTS => attempt.error("too many redirects"),
        _ => attempt.follow(),
    })
}

fn request(client: &Client, question: &Question, url: Url, host: &str) -> Result<reqwest::RequestBuilder, Failure> {
    let refused = |error: crate::model::http::client::ClientError| Failure {
        kind: FailureKind::Connection,
        message: format!("cannot send a request to {host}: {error}"),
    };
    let client = client.get(&url).map_err(refused)?;
    let request = match question.method {
        Method::Get => client.get(url),
        Method::Post => client.post(url),
        Method::Delete => client.delete(url),
        Method::Put => client.put(url),
        Method::Patch => client.patch(url),
        Method::Head => client.head(url),
        Method::Options => client.request(reqwest::Method::OPTIONS, url),
    };
    Ok(request.headers(headers(&question.headers)?).body(question.body.clone()))
}

fn too_large(host: &str, most: usize) -> Failure {
    Failure {
        kind: FailureKind::TooLarge,
        message: format!("the response of {host} is larger than {} MiB", most >> 20),
    }
}

fn too_slow(host: &str, timeout_ms: u64) -> Failure {
    Failure { kind: FailureKind::Timeout, message: format!("{host} timed out after {timeout_ms} ms") }
}

fn address(written: &str) -> Result<Url, Failure> {
    let wrong =
        |why: String| Failure { kind: FailureKind::Address, message: format!("invalid URL `{written}`: {why}") };
    let url = Url::parse(written).map_err(|e| wrong(e.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(wrong(format!("`{scheme}` is neither http nor https"))),
    }
}

/// Returns scheme, host and path; the user part and the query may contain secrets.
fn shown(url: &Url) -> String {
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, Failure> {
    let mut map = HeaderMap::new();
    for (name, value) in given {
        let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        let (Ok(key), Ok(value)) = pair else {
            let message = format!("the header `{name}` has an invalid name or value");
            return Err(Failure { kind: FailureKind::Address, message });
        };
        map.append(key, value);
    }
    Ok(map)
}

fn of_network(host: &str, error: &reqwest::Error, timeout_ms: u64) -> Failure {
    if error.is_timeout() {
        return too_slow(host, timeout_ms);
    }
    let (kind, message) = if error.is_redirect() {
        (FailureKind::Connection, format!("{host} redirects endlessly"))
    } else if error.is_connect() {
        (FailureKind::Connection, format!("cannot connect to {host}: {}", root_cause(error)))
    } else {
        (FailureKind::Connection, format!("the connection to {host} was lost: {}", root_cause(error)))
    };
    Failure { kind, message }
}
