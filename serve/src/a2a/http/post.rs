//! Handles JSON-RPC requests.

use std::sync::Arc;
use std::time::Duration;

use a2a::Version;
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use bytes::Bytes;

use super::refusal::{json, refusal, said, with};
use super::router::A2aState;
use super::sse;
use crate::a2a::A2aCode;
use crate::a2a::error::{RpcError, code};
use crate::a2a::extension::RequestedExtension;
use crate::a2a::rpc::{BadRequest, CallResult, Caller, RpcRequest, StreamContext, call, read, refused};
use crate::a2a::tasks::TaskManager;
use crate::http::body::{self, BodyError};
use crate::http::{AccessError, challenge};

/// The timeout for reading a body.
const BODY: Duration = Duration::from_secs(10);

/// An error with its status.
pub(crate) type HttpError = (StatusCode, RpcError);

/// Responds to a JSON-RPC request.
pub(super) async fn post(State(state): State<Arc<A2aState>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let version = said(&head.headers, head.uri.query()).nearest();
    let body = match receive(&head.headers, body, version, state.body, state.admit(&head.headers)).await {
        Ok(body) => body,
        Err(refused) => return *refused,
    };
    respond(&state.manager, &state.streams, &head, read(&body)).await
}

/// Executes a request, and returns its response.
pub(super) async fn respond(
    manager: &TaskManager,
    streams: &StreamContext,
    head: &Parts,
    request: Result<RpcRequest, Box<BadRequest>>,
) -> Response<Body> {
    let said = said(&head.headers, head.uri.query());
    let version = said.nearest();
    let asked = RequestedExtension::of(&head.headers);
    let reply = match request {
        Ok(request) => {
            let caller = Caller { said, asked };
            call(manager, streams, request, caller).await
        }
        Err(bad) => CallResult::Text(refused(&bad.id, &bad.fault, version)),
    };
    let mut response = match reply {
        CallResult::Text(text) => json(StatusCode::OK, text),
        CallResult::Stream(frames) => sse::response(frames),
        CallResult::Event(text) => sse::of(Body::from(text)),
        CallResult::Nothing => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
    };
    asked.confirm(response.headers_mut());
    response
}

/// Reads the body of a request that is admitted.
///
/// # Errors
/// The response to a request that is not admitted, or whose body cannot be read.
pub(crate) async fn receive(
    headers: &HeaderMap,
    body: Body,
    version: Version,
    most: usize,
    admitted: Result<(), HttpError>,
) -> Result<Bytes, Box<Response<Body>>> {
    if let Err((status, fault)) = admitted {
        // A client that waits for permission to send the body need not send it.
        if !headers.contains_key(header::EXPECT) {
            body::skip(body, most, BODY).await;
        }
        let response = refusal(status, &fault, version);
        return Err(
            if status == StatusCode::UNAUTHORIZED { with_challenge(response, headers) } else { response }.into()
        );
    }
    read_body(body, most).await.map_err(|(status, fault)| closing(refusal(status, &fault, version)).into())
}

/// Reads the body of a request.
///
/// # Errors
/// The body is too large, too slow, or incomplete. The connection must be closed then.
pub(crate) async fn read_body(body: Body, most: usize) -> Result<Bytes, HttpError> {
    body::read(body, most, BODY).await.map_err(|missing| unread(&missing, most))
}

/// Returns a response after which the connection is closed.
pub(crate) fn closing(response: Response<Body>) -> Response<Body> {
    with(response, header::CONNECTION, "close")
}

impl A2aState {
    /// Checks the headers of a request.
    fn admit(&self, headers: &HeaderMap) -> Result<(), HttpError> {
        if let Some(token) = &self.token {
            token.admit(headers).map_err(denied)?;
        }
        content_type(headers.get(header::CONTENT_TYPE))
    }
}

pub(crate) fn denied(denied: AccessError) -> HttpError {
    let fault = RpcError::new(code::SERVER, A2aCode::NoToken, denied.to_string())
        .reason("unauthenticated")
        .field("Authorization");
    (StatusCode::UNAUTHORIZED, fault)
}

pub(crate) fn with_challenge(mut response: Response<Body>, headers: &HeaderMap) -> Response<Body> {
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge(headers));
    response
}

/// Checks that the content type is JSON. Web pages cannot send that without a preflight request, which is refused.
pub(crate) fn content_type(value: Option<&HeaderValue>) -> Result<(), HttpError> {
    let written = value.map(|value| value.to_str().unwrap_or("?"));
    let media_type = written.and_then(|written| written.split(';').next()).map(str::trim);
    if media_type.is_some_and(|it| it.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let message = match written {
        None => "missing `Content-Type`: it must be `application/json`".to_owned(),
        Some(other) => {
            let other = crate::a2a::error::shortened(other);
            format!("the `Content-Type` must be `application/json`, not `{other}`")
        }
    };
    let fault = RpcError::new(code::CONTENT_TYPE, A2aCode::NotFound, message).field("Content-Type");
    Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, fault))
}

fn unread(missing: &BodyError, most: usize) -> HttpError {
    let fault = |message, reason| RpcError::new(code::REQUEST, A2aCode::Body, message).reason(reason);
    match missing {
        BodyError::TooLarge => {
            let message = format!("the body is larger than the limit of {most} bytes");
            (StatusCode::PAYLOAD_TOO_LARGE, fault(message, "body_too_large").with("limit", most))
        }
        BodyError::TooSlow => {
            let message = format!("the body did not arrive within {} seconds", BODY.as_secs());
            (StatusCode::REQUEST_TIMEOUT, fault(message, "body_too_slow"))
        }
        BodyError::Broken => (StatusCode::BAD_REQUEST, fault("the body is incomplete".to_owned(), "body_broken")),
    }
}
