//! Questions of scripts to servers of any kind, over the same connections, certificates and proxies as the routes to models.

use crate::model::http::failure::root_cause;
use crate::model::http::{Client, MAX_BODY, client::Proxies};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Url, redirect};
use std::time::Duration;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
}

/// A request.
#[derive(Debug, Clone)]
pub struct Question {
    /// What is done.
    pub method: Method,
    /// With its scheme.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// May be empty.
    pub body: Vec<u8>,
    /// For the whole answer.
    pub timeout_ms: u64,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub struct Reply {
    /// 200, 404 …
    pub status: u16,
    /// Names in small letters; one may come several times.
    pub headers: Vec<(String, String)>,
    /// At most 32 MiB.
    pub body: Vec<u8>,
}

/// Which way it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The URL or a header is none.
    Address,
    /// No connection, or it broke off.
    Connection,
    /// No whole answer in time.
    Timeout,
    /// More than 32 MiB.
    TooLarge,
}

/// Why there is no answer.
#[derive(Debug)]
pub struct Failure {
    /// Which way.
    pub kind: FailureKind,
    /// One sentence that names the server.
    pub message: String,
}

/// The way to servers; nothing is opened before the first question.
pub struct Web {
    client: Client,
}

impl Web {
    /// With the proxies that an environment names.
    pub fn new(env: impl Fn(&str) -> Option<String> + 'static) -> Self {
        // Ten times, as browsers do it; a chain of more is a circle.
        Self { client: Client::new(Proxies::from_env(&env)).following(|| redirect::Policy::limited(10)) }
    }

    /// Asks, once.
    ///
    /// # Errors
    /// What kept the answer from being whole. A status that says no is an answer.
    pub async fn ask(&self, question: &Question) -> Result<Reply, Failure> {
        let url = address(&question.url)?;
        let host = shown(&url);
        let failed = |error: reqwest::Error| of_network(&host, &error, question.timeout_ms);
        let refused = |error: crate::model::http::client::ClientError| Failure {
            kind: FailureKind::Connection,
            message: format!("cannot ask {host}: {error}"),
        };
        let client = self.client.get(&url).map_err(refused)?;
        let request = match question.method {
            Method::Get => client.get(url),
            Method::Post => client.post(url),
        };
        let request = request.timeout(Duration::from_millis(question.timeout_ms)).headers(headers(&question.headers)?);
        let mut response = request.body(question.body.clone()).send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_BODY {
                let message = format!("the answer of {host} is larger than {} MiB", MAX_BODY >> 20);
                return Err(Failure { kind: FailureKind::TooLarge, message });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Reply { status, headers, body })
    }
}

fn address(written: &str) -> Result<Url, Failure> {
    let wrong =
        |why: String| Failure { kind: FailureKind::Address, message: format!("`{written}` is no address: {why}") };
    let url = Url::parse(written).map_err(|e| wrong(e.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(wrong(format!("`{scheme}` is neither http nor https"))),
    }
}

/// Scheme, host and path; what stands in front of an `@` or behind a `?` may be a secret.
fn shown(url: &Url) -> String {
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, Failure> {
    let mut map = HeaderMap::new();
    for (name, value) in given {
        let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        let (Ok(key), Ok(value)) = pair else {
            let message = format!("the header `{name}` has a name or a value that HTTP has no room for");
            return Err(Failure { kind: FailureKind::Address, message });
        };
        map.append(key, value);
    }
    Ok(map)
}

fn of_network(host: &str, error: &reqwest::Error, timeout_ms: u64) -> Failure {
    let (kind, message) = if error.is_timeout() {
        (FailureKind::Timeout, format!("{host} gave no whole answer within {timeout_ms} ms"))
    } else if error.is_redirect() {
        (FailureKind::Connection, format!("{host} leads from one address to the next without an end"))
    } else if error.is_connect() {
        (FailureKind::Connection, format!("cannot connect to {host}: {}", root_cause(error)))
    } else {
        (FailureKind::Connection, format!("the connection to {host} broke off: {}", root_cause(error)))
    };
    Failure { kind, message }
}
