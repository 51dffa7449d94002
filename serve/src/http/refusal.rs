//! [`HttpRefusal`]: a request that is refused before its protocol executes it.

use std::fmt;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, StatusCode, header};

use super::body::{BodyError, TIMEOUT};
use super::guard::GuardError;
use super::response::{self, typed};
use super::token::{AccessError, challenge};

/// A refusal of a request. Its text is for clients; a protocol can word it in its own way.
#[derive(Debug)]
pub(crate) enum HttpRefusal {
    /// The host or the origin is not allowed.
    Guard(GuardError),
    /// The caller is not known.
    Denied {
        /// A word for programs.
        reason: &'static str,
        message: String,
    },
    /// Too many such requests were refused.
    TooManyRefused,
    /// The path is unknown.
    NotFound,
    /// The path does not allow the method, only these.
    Method(String),
    /// The body is not JSON, but of this media type, if the request names one.
    MediaType(Option<String>),
    /// The client accepts no response of this server.
    NotAcceptable,
    /// The body could not be read; the second value is its maximum size.
    Body(BodyError, usize),
    /// All connections are taken.
    Full(usize),
    /// A response that the protocol has made itself.
    Own(Box<Response<Body>>),
}

/// The text of a refusal.
pub(crate) struct RefusalBody {
    pub(super) media_type: &'static str,
    pub(super) text: String,
}

impl RefusalBody {
    pub(crate) fn json(text: String) -> RefusalBody {
        RefusalBody { media_type: "application/json", text }
    }

    pub(crate) fn plain(text: String) -> RefusalBody {
        RefusalBody { media_type: "text/plain; charset=utf-8", text }
    }
}

impl HttpRefusal {
    /// Returns the status of the response.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            HttpRefusal::Guard(error) => error.status(),
            HttpRefusal::Denied { .. } => StatusCode::UNAUTHORIZED,
            HttpRefusal::TooManyRefused => StatusCode::TOO_MANY_REQUESTS,
            HttpRefusal::NotFound => StatusCode::NOT_FOUND,
            HttpRefusal::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            HttpRefusal::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            HttpRefusal::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            HttpRefusal::Body(BodyError::TooLarge, _) => StatusCode::PAYLOAD_TOO_LARGE,
            HttpRefusal::Body(BodyError::TooSlow, _) => StatusCode::REQUEST_TIMEOUT,
            HttpRefusal::Body(BodyError::Broken, _) => StatusCode::BAD_REQUEST,
            HttpRefusal::Full(_) => StatusCode::SERVICE_UNAVAILABLE,
            HttpRefusal::Own(response) => response.status(),
        }
    }

    /// Returns the response with this body, and the headers that belong to the refusal.
    pub(super) fn respond(self, head: &Parts, body: RefusalBody) -> Response<Body> {
        let is_plain = body.media_type.starts_with("text/plain");
        let mut response = match is_plain {
            true => response::plain(self.status(), body.text),
            false => typed(self.status(), body.media_type, body.text),
        };
        let headers = response.headers_mut();
        match self {
            HttpRefusal::Own(response) => return *response,
            HttpRefusal::Denied { .. } => drop(headers.insert(header::WWW_AUTHENTICATE, challenge(&head.headers))),
            HttpRefusal::TooManyRefused => drop(headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"))),
            HttpRefusal::Method(allowed) => {
                if let Ok(allowed) = HeaderValue::from_str(&allowed) {
                    headers.insert(header::ALLOW, allowed);
                }
            }
            // The rest of the body is not read.
            HttpRefusal::Body(..) => drop(headers.insert(header::CONNECTION, HeaderValue::from_static("close"))),
            _ => {}
        }
        response
    }
}

impl fmt::Display for HttpRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpRefusal::Guard(error) => error.fmt(f),
            HttpRefusal::Denied { message, .. } => f.write_str(message),
            HttpRefusal::TooManyRefused => f.write_str("too many refused requests; try again later"),
            HttpRefusal::NotFound => f.write_str("unknown path"),
            HttpRefusal::Method(allowed) => write!(f, "method not allowed: use {allowed}"),
            HttpRefusal::MediaType(_) => f.write_str("the `Content-Type` must be `application/json`"),
            HttpRefusal::NotAcceptable => {
                f.write_str("`Accept` must contain `application/json` and `text/event-stream`")
            }
            HttpRefusal::Body(BodyError::TooLarge, most) => {
                write!(f, "the body is larger than the limit of {most} bytes")
            }
            HttpRefusal::Body(BodyError::TooSlow, _) => {
                write!(f, "the body did not arrive within {} seconds", TIMEOUT.as_secs())
            }
            HttpRefusal::Body(BodyError::Broken, _) => f.write_str("the body is incomplete"),
            HttpRefusal::Full(most) => {
                write!(f, "too many connections: {most} are open, which is the limit; try again later")
            }
            HttpRefusal::Own(response) => write!(f, "refused with status {}", response.status()),
        }
    }
}

impl From<AccessError> for HttpRefusal {
    fn from(error: AccessError) -> HttpRefusal {
        HttpRefusal::Denied { reason: "unauthenticated", message: error.to_string() }
    }
}

impl From<Response<Body>> for HttpRefusal {
    fn from(response: Response<Body>) -> HttpRefusal {
        HttpRefusal::Own(Box::new(response))
    }
}
