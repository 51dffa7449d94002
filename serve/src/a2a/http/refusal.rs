//! The response to a request that is not JSON-RPC or is not allowed. Clients expect JSON-RPC errors with any status.

use a2a::Version;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use jsonrpc::Id;

use crate::a2a::error::RpcError;
use crate::a2a::rpc::{RequestedVersion, refused};

/// Returns the version that the headers name, or the query if they name none.
pub(super) fn said(headers: &HeaderMap, query: Option<&str>) -> RequestedVersion {
    let in_query = || query?.split('&').find_map(|pair| pair.strip_prefix("A2A-Version="));
    let header = headers.get("a2a-version").map(|value| value.to_str().unwrap_or("?"));
    RequestedVersion::of(header.or_else(in_query))
}

/// Returns a response that refuses the request with this status.
pub(super) fn refusal(status: StatusCode, fault: &RpcError, version: Version) -> Response<Body> {
    json(status, refused(&Id::null(), fault, version))
}

/// Returns a JSON response.
pub(super) fn json(status: StatusCode, text: String) -> Response<Body> {
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
