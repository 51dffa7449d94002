//! The caller of a request, and its trace.

use tonic::Status;
use tonic::codegen::http::HeaderMap;
use tonic::metadata::MetadataMap;

use crate::broker::{Caller, TraceIds};

/// Determines the caller of a request by its metadata.
pub trait Authenticate: Send + Sync {
    /// Returns the caller by the headers of its request.
    ///
    /// # Errors
    /// The reason why the caller is unknown. The response has the code `UNAUTHENTICATED`.
    fn caller(&self, headers: &HeaderMap) -> Result<Caller, String>;
}

/// Accepts every caller as the operator. Only for hubs that other machines cannot reach.
#[derive(Debug, Clone, Copy)]
pub struct NoAuthentication;

impl Authenticate for NoAuthentication {
    fn caller(&self, _: &HeaderMap) -> Result<Caller, String> {
        Ok(Caller::Operator)
    }
}

/// Returns the caller of a request.
pub(super) fn identify(authenticate: &dyn Authenticate, metadata: &MetadataMap) -> Result<Caller, Box<Status>> {
    authenticate.caller(metadata.as_ref()).map_err(|why| Box::new(Status::unauthenticated(why)))
}

/// Returns the trace of a request: that of the header `traceparent` (W3C Trace Context). An invalid one is ignored, as
/// the standard requires.
pub(super) fn trace(metadata: &MetadataMap) -> TraceIds {
    let parsed = metadata.get("traceparent").and_then(|value| value.to_str().ok()).and_then(parse_traceparent);
    let (trace_id, span_id) = parsed.unwrap_or_default();
    TraceIds { trace_id, span_id }
}

fn parse_traceparent(text: &str) -> Option<(String, String)> {
    let mut parts = text.split('-');
    let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let is_set = |part: &str| part.bytes().any(|byte| byte != b'0');
    let is_valid = is_hex(version, 2) && version != "ff" && is_hex(trace_id, 32) && is_hex(span_id, 16);
    // Only later versions have more parts.
    let fits = is_hex(flags, 2) && (version != "00" || parts.next().is_none());
    (is_valid && fits && is_set(trace_id) && is_set(span_id)).then(|| (trace_id.to_owned(), span_id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn a_valid_traceparent_is_read() {
        for text in [format!("00-{TRACE}-{SPAN}-01"), format!("01-{TRACE}-{SPAN}-01-more")] {
            assert_eq!(parse_traceparent(&text), Some((TRACE.to_owned(), SPAN.to_owned())), "{text}");
        }
    }

    #[test]
    fn an_invalid_traceparent_is_ignored() {
        let zero = "0".repeat(32);
        for text in [
            String::new(),
            "00".to_owned(),
            format!("00-{TRACE}-{SPAN}"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{zero}-{SPAN}-01"),
            format!("00-{TRACE}-0000000000000000-01"),
        ] {
            assert_eq!(parse_traceparent(&text), None, "{text}");
        }
    }
}
