//! The caller of a request, and its trace.

use runtime::activity::TraceContext;
use tonic::codegen::http::HeaderMap;
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};

use crate::broker::{Caller, TraceIds};

/// The metadata with the lease of a task, in a request of the published service, which has no field for it.
pub const LEASE: &str = "hub-lease";

/// The metadata with the id of a request. One that is repeated is answered with the first result.
pub const OPERATION: &str = "hub-operation";

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

/// Returns the text of a metadata key; `None` if it is missing or empty.
pub(super) fn text<R>(request: &Request<R>, key: &'static str) -> Result<Option<String>, Status> {
    let Some(value) = request.metadata().get(key) else { return Ok(None) };
    let text = value.to_str().map_err(|_| Status::invalid_argument(format!("invalid metadata `{key}`")))?;
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// Returns the id of a request; empty if it has none.
pub(super) fn operation<R>(request: &Request<R>) -> Result<String, Status> {
    text(request, OPERATION).map(Option::unwrap_or_default)
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
