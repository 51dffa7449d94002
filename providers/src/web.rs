//! Questions of scripts to servers of any kind, over the same connections, certificates and proxies as the routes to models.
//!
//! - [`Web::ask`]: a question and its whole answer.
//! - [`HealthProbe`]: whether a server works.
//! - [`Web::open`]: a question to a peer, whose answer is read as it comes: [`Opened`], [`ResponseEvents`].
//! - [`CookieJar`]: cookies of servers.

mod cookies;
mod health;
mod opened;

pub use cookies::{Cookie, CookieJar};
pub use health::HealthProbe;
pub use opened::{Opened, ResponseEvents};
pub use reqwest::Url;

use crate::model::http::failure::root_cause;
use crate::model::http::{Client, MAX_BODY, client::Proxies};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use reqwest::{StatusCode, redirect};
use std::borrow::Cow;
use std::cell::RefCell;
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

impl Method {
    const ALL: [Method; 7] = [Self::Get, Self::Post, Self::Delete, Self::Put, Self::Patch, Self::Head, Self::Options];

    /// Returns the name, in capitals.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
        }
    }

    /// Returns the method of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Method> {
        Self::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(name))
    }
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
    /// The client for peers, which follows no redirects to other origins.
    client: Client,
    /// The client for questions, which follows none.
    direct: Client,
}

/// The cookies of a question, and the present moment.
#[derive(Clone, Copy)]
pub struct Cookies<'a> {
    /// The jar, in which those of the answers are kept.
    pub jar: &'a RefCell<CookieJar>,
    /// The time of the run, in milliseconds.
    pub now_ms: u64,
}

impl Web {
    /// Creates the client with the proxies of an environment.
    pub fn new(env: impl Fn(&str) -> Option<String> + 'static) -> Self {
        let proxies = Proxies::from_env(&env);
        let client = Client::new(proxies.clone()).following(within_origin);
        Self { client, direct: Client::new(proxies) }
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
    pub async fn ask(&self, question: &Question, cookies: Option<Cookies<'_>>) -> Result<Reply, Failure> {
        let opened = self.begin(question, cookies).await?;
        let (status, headers) = (opened.status(), opened.all_headers());
        let body = opened.body(MAX_BODY).await?;
        Ok(Reply { status, headers, body })
    }

    /// Asks as [`Web::ask`] does; the body is read from [`Opened`].
    ///
    /// # Errors
    /// Fails if the head of the answer does not arrive.
    pub async fn begin(&self, question: &Question, cookies: Option<Cookies<'_>>) -> Result<Opened, Failure> {
        let timeout_ms = question.timeout_ms;
        let until = Instant::now() + Duration::from_millis(timeout_ms);
        let (mut url, mut question) = (address(&question.url)?, Cow::Borrowed(question));
        for _ in 0..=MOST_REDIRECTS {
            let host = shown(&url);
            let cookie = cookies.and_then(|of| of.jar.borrow().header(&url, of.now_ms));
            let asked = match cookie {
                Some(cookie) => Cow::Owned(question.with_cookie(&cookie)),
                None => Cow::Borrowed(&*question),
            };
            let request = request(&self.direct, &asked, url.clone(), &host)?;
            let sent = timeout_at(until, request.send()).await;
            let response = sent.map_err(|_| too_slow(&host, timeout_ms))?;
            let response = response.map_err(|error| of_network(&host, &error, timeout_ms))?;
            if let Some(cookies) = cookies {
                let set = response.headers().get_all(SET_COOKIE).iter().map(HeaderValue::as_bytes);
                let mut jar = cookies.jar.borrow_mut();
                set.for_each(|header| jar.take_in(&url, &String::from_utf8_lossy(header), cookies.now_ms));
            }
            let Some(next) = redirect_of(&response) else { return Ok(Opened { response, host, until, timeout_ms }) };
            question = Cow::Owned(question.redirected(response.status(), next.origin() == url.origin()));
            url = next;
        }
        let message = format!("{}: too many redirects", shown(&url));
        Err(Failure { kind: FailureKind::Connection, message })
    }
}

/// The maximum number of redirects: ten, as in browsers; a longer chain is a loop.
const MOST_REDIRECTS: usize = 10;

/// Returns the URL that an answer redirects to.
fn redirect_of(response: &reqwest::Response) -> Option<Url> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    let next = response.url().join(location.to_str().ok()?).ok()?;
    (matches!(next.scheme(), "http" | "https") && next.has_host()).then_some(next)
}

impl Question {
    /// Returns the URL, if it and the headers are valid.
    ///
    /// # Errors
    /// Fails with the kind `Address`.
    pub fn checked_url(&self) -> Result<Url, Failure> {
        headers(&self.headers)?;
        address(&self.url)
    }

    /// Returns the request with cookies, after those of its own header.
    #[must_use]
    pub fn with_cookie(&self, cookie: &str) -> Question {
        let mut question = self.clone();
        match question.headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            Some((_, own)) => *own = format!("{own}; {cookie}"),
            None => question.headers.push(("cookie".to_owned(), cookie.to_owned())),
        }
        question
    }

    /// Returns the request after a redirect with this status. One to another origin has none of the headers but the type of
    /// the body, if it has the body.
    fn redirected(&self, status: StatusCode, is_same_origin: bool) -> Question {
        let is_get = match status.as_u16() {
            303 => self.method != Method::Head,
            // As browsers do; another server does not get a request that changes something.
            301 | 302 => self.method == Method::Post || (!is_same_origin && self.method != Method::Head),
            _ => false,
        };
        let is_kept = |(name, _): &&(String, String)| {
            let is_of_body = BODY_HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header));
            let is_type = name.eq_ignore_ascii_case("content-type");
            if is_same_origin { !(is_get && is_of_body) } else { !is_get && is_type }
        };
        Question {
            method: if is_get { Method::Get } else { self.method },
            headers: self.headers.iter().filter(is_kept).cloned().collect(),
            body: if is_get { Vec::new() } else { self.body.clone() },
            ..self.clone()
        }
    }
}

/// Headers about a body.
const BODY_HEADERS: [&str; 4] = ["content-type", "content-length", "content-encoding", "transfer-encoding"];

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
