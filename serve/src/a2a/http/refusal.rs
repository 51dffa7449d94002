//! The response to a request that is not JSON-RPC or is not allowed. Clients expect JSON-RPC errors with any status.

use a2a::Version;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use jsonrpc::Id;

use crate::a2a::A2aCode;
use crate::a2a::error::{RpcError, code, shortened};
use crate::a2a::rpc::{RequestedVersion, refused};
use crate::http::{FullBody, GuardError};

/// Returns the version that the headers name, or the query if they name none.
pub(crate) fn said(headers: &HeaderMap, query: Option<&str>) -> RequestedVersion {
    let in_query = || query?.split('&').find_map(|pair| pair.strip_prefix("A2A-Version="));
    let header = headers.get("a2a-version").map(|value| value.to_str().unwrap_or("?"));
    RequestedVersion::of(header.or_else(in_query))
}

/// Returns a response that refuses the request with this status.
pub(crate) fn refusal(status: StatusCode, fault: &RpcError, version: Version) -> Response<Body> {
    json(status, refused(&Id::null(), fault, version))
}

/// Returns a JSON response.
pub(crate) fn json(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Adds a header to a response.
pub(super) fn with(mut response: Response<Body>, name: HeaderName, value: &'static str) -> Response<Body> {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}

/// Returns the error for a request whose host or origin is not allowed.
pub(crate) fn not_allowed(error: &GuardError) -> RpcError {
    let bad_host = |message| RpcError::new(code::REQUEST, A2aCode::NoRequest, message).field("Host");
    let forbidden = |message: String, reason| RpcError::new(code::SERVER, A2aCode::Forbidden, message).reason(reason);
    match error {
        GuardError::NoHost => bad_host("missing header `Host`: an HTTP/1.1 request must have one"),
        GuardError::SeveralHosts => bad_host("repeated header `Host`: a request must have exactly one"),
        GuardError::Host(host) => {
            let host = shortened(host);
            let message = format!(
                "this agent serves only its own machine, and `{host}` is not one of its names; if that name is \
                correct, set it with `--url`"
            );
            forbidden(message, "host_not_allowed").field("Host")
        }
        GuardError::Origin(origin) => {
            let message = format!("the origin `{}` is not allowed; `--allow-origin` allows it", shortened(origin));
            forbidden(message, "origin_not_allowed").field("Origin")
        }
    }
}

/// Returns the body of the response to a connection beyond the limit.
pub(in crate::a2a) fn full(most: usize) -> FullBody {
    let message = format!("too many connections: {most} are open, which is the limit; try again later");
    let fault = RpcError::new(code::SERVER, A2aCode::TooMany, message).reason("too_many_connections");
    FullBody { media_type: "application/json", text: refused(&Id::null(), &fault, Version::V0_3) }
}
