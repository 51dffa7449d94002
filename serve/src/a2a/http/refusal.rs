//! Refusals as JSON-RPC errors. Clients expect them with any status.

use a2a::Version;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use jsonrpc::Id;

use crate::a2a::A2aCode;
use crate::a2a::error::{RpcError, code, shortened};
use crate::a2a::rpc::{RequestedVersion, refused};
use crate::http::{BodyError, GuardError, HttpRefusal, RefusalBody};
use crate::probe::METRICS;

/// Returns the version that the headers name, or the query if they name none.
pub(crate) fn said(headers: &HeaderMap, query: Option<&str>) -> RequestedVersion {
    let in_query = || query?.split('&').find_map(|pair| pair.strip_prefix("A2A-Version="));
    let header = headers.get("a2a-version").map(|value| value.to_str().unwrap_or("?"));
    RequestedVersion::of(header.or_else(in_query))
}

/// Returns an error as the body of a response, in the version of the request.
pub(crate) fn refusal_body(head: Option<&Parts>, fault: &RpcError) -> RefusalBody {
    let version = match head {
        None => Version::V0_3,
        // Operators know no versions.
        Some(head) if head.uri.path() == METRICS && fault.word() == NO_TOKEN => Version::V1_0,
        Some(head) => said(&head.headers, head.uri.query()).nearest(),
    };
    RefusalBody::json(refused(&Id::null(), fault, version))
}

/// The reason of a caller without a token.
const NO_TOKEN: &str = "unauthenticated";

/// Returns the error for a refusal.
pub(crate) fn fault_of(refusal: &HttpRefusal) -> RpcError {
    let of_body = |reason| RpcError::new(code::REQUEST, A2aCode::Body, refusal.to_string()).reason(reason);
    match refusal {
        HttpRefusal::Guard(error) => not_allowed(error),
        HttpRefusal::Denied { message, .. } => {
            RpcError::new(code::SERVER, A2aCode::NoToken, message.as_str()).reason(NO_TOKEN).field("Authorization")
        }
        HttpRefusal::MediaType(found) => {
            let message = match found {
                None => "missing `Content-Type`: it must be `application/json`".to_owned(),
                Some(other) => {
                    format!("the `Content-Type` must be `application/json`, not `{}`", shortened(other))
                }
            };
            RpcError::new(code::CONTENT_TYPE, A2aCode::NotFound, message).field("Content-Type")
        }
        HttpRefusal::Body(BodyError::TooLarge, most) => of_body("body_too_large").with("limit", *most),
        HttpRefusal::Body(BodyError::TooSlow, _) => of_body("body_too_slow"),
        HttpRefusal::Body(BodyError::Broken, _) => of_body("body_broken"),
        HttpRefusal::Full(_) => {
            RpcError::new(code::SERVER, A2aCode::TooMany, refusal.to_string()).reason("too_many_connections")
        }
        other => RpcError::new(code::REQUEST, A2aCode::NotFound, other.to_string()),
    }
}

/// Returns the error for a request whose host or origin is not allowed.
fn not_allowed(error: &GuardError) -> RpcError {
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
        GuardError::Origin(_) => forbidden(error.to_string(), "origin_not_allowed").field("Origin"),
    }
}
