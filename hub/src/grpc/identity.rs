//! The caller of a request, and its trace.

use runtime::activity::TraceContext;
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
#[must_use]
pub fn trace(headers: &HeaderMap) -> TraceIds {
    let context = headers.get("traceparent").and_then(|value| value.to_str().ok()).and_then(TraceContext::parse);
    context.map_or_else(TraceIds::default, |context| TraceIds {
        trace_id: context.trace_hex(),
        span_id: context.span_hex(),
    })
}
