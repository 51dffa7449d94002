//! The caller of a request, which its headers name before its message is read, and its trace.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::spans::TraceContext;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{self, HeaderMap};
use tonic::server::NamedService;
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

/// A service that answers known callers only. The others are refused by their headers; their messages are not read.
#[derive(Clone)]
pub(super) struct IdentifiedService<S> {
    pub(super) inner: S,
    pub(super) authenticate: Arc<dyn Authenticate>,
}

impl<S: NamedService> NamedService for IdentifiedService<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for IdentifiedService<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        match self.authenticate.caller(request.headers()) {
            Ok(caller) => {
                request.extensions_mut().insert(caller);
                Box::pin(self.inner.call(request))
            }
            Err(why) => Box::pin(ready(Ok(Status::unauthenticated(why).into_http()))),
        }
    }
}

/// Returns the caller of a request that [`IdentifiedService`] passed on.
pub(super) fn identify<R>(request: &Request<R>) -> Result<Caller, Status> {
    request.extensions().get().cloned().ok_or_else(|| Status::unauthenticated("the caller is not known"))
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
