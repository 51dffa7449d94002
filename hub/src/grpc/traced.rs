//! [`TracedService`]: a service whose requests are spans.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use runtime::spans::{TraceContext, digest};
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{HeaderMap, HeaderValue, Request, Response};
use tonic::server::NamedService;

/// The header of W3C Trace Context.
const TRACEPARENT: &str = "traceparent";

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredRequest {
    /// The method, such as `agenthub.AgentHub/PublishMessage` or `message/send`.
    pub method: String,
    /// Whether it came over gRPC; else over HTTP.
    pub is_grpc: bool,
    /// Its own span. Tasks that it submits name it as their cause.
    pub context: TraceContext,
    /// The span of the caller.
    pub cause: Option<TraceContext>,
    /// Time at which it came, in milliseconds since 1970-01-01 UTC.
    pub began_ms: u64,
    /// Time of the answer, or of the beginning of a stream.
    pub ended_ms: u64,
    /// The code of the error; `None` if it succeeded.
    pub error: Option<String>,
}

/// A function that gets the answered requests.
pub type RequestObserver = Arc<dyn Fn(AnsweredRequest) + Send + Sync>;

/// The span of a request that is being answered.
pub struct RequestSpan(AnsweredRequest);

impl RequestSpan {
    /// Begins the span of a request, and makes it the trace in its headers.
    #[must_use]
    pub fn begin(method: &str, is_grpc: bool, headers: &mut HeaderMap) -> RequestSpan {
        let named = headers.get(TRACEPARENT).and_then(|value| value.to_str().ok());
        let cause = named.and_then(TraceContext::parse);
        let unique = uuid::Uuid::now_v7();
        let context = TraceContext {
            trace_id: cause.map_or_else(|| digest(&[b"request trace", unique.as_bytes()]), |cause| cause.trace_id),
            span_id: digest(&[b"request", unique.as_bytes()]),
        };
        if let Ok(value) = HeaderValue::from_str(&context.traceparent()) {
            headers.insert(TRACEPARENT, value);
        }
        let began_ms = now_ms();
        let method = method.to_owned();
        RequestSpan(AnsweredRequest { method, is_grpc, context, cause, began_ms, ended_ms: began_ms, error: None })
    }

    /// Names the method, once it is known.
    #[must_use]
    pub fn named(mut self, method: &str) -> RequestSpan {
        self.0.method = method.to_owned();
        self
    }

    /// Ends the span.
    #[must_use]
    pub fn end(self, error: Option<String>) -> AnsweredRequest {
        AnsweredRequest { ended_ms: now_ms().max(self.0.began_ms), error, ..self.0 }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The methods of the published service. Names of unknown methods come from clients, so they name no spans.
pub(super) const PUBLISHED: [&str; 11] = [
    "PublishMessage",
    "PublishTaskUpdate",
    "PublishTaskArtifact",
    "SubscribeToMessages",
    "SubscribeToTasks",
    "SubscribeToAgentEvents",
    "GetTask",
    "CancelTask",
    "ListTasks",
    "GetAgentCard",
    "RegisterAgent",
];

/// The methods of the service for workers.
pub(super) const WORKERS: [&str; 11] = [
    "Claim",
    "Renew",
    "Progress",
    "Reject",
    "Finish",
    "Acknowledge",
    "Wait",
    "SubscribeWithCursors",
    "ListDeadLetters",
    "ListAgents",
    "UnregisterAgent",
];

/// Returns the name of the span of a request.
fn span_name(service: &str, path: &str, methods: &[&str]) -> String {
    let method = path.rsplit('/').next().unwrap_or_default();
    let known = methods.iter().find(|known| **known == method);
    format!("{service}/{}", known.unwrap_or(&"unknown"))
}

/// A service whose requests are spans.
#[derive(Clone)]
pub(super) struct TracedService<S> {
    pub(super) inner: S,
    /// The names of its methods.
    pub(super) methods: &'static [&'static str],
    pub(super) observer: RequestObserver,
}

impl<S: NamedService> NamedService for TracedService<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for TracedService<S>
where
    S: NamedService + Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let method = span_name(S::NAME, request.uri().path(), self.methods);
        let span = RequestSpan::begin(&method, true, request.headers_mut());
        let (answer, observer) = (self.inner.call(request), self.observer.clone());
        Box::pin(async move {
            let response = answer.await;
            let error = response.as_ref().ok().and_then(|response| {
                let code = response.headers().get("grpc-status")?.to_str().ok()?;
                (code != "0").then(|| code.to_owned())
            });
            observer(span.end(error));
            response
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the methods that a file defines.
    fn defined(proto: &str) -> Vec<&str> {
        let names = proto.lines().filter_map(|line| line.trim().strip_prefix("rpc ")?.split('(').next());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn every_method_names_its_span_and_others_do_not() {
        for (proto, methods) in [
            (include_str!("../../proto/agenthub.proto"), PUBLISHED),
            (include_str!("../../proto/worker.proto"), WORKERS),
        ] {
            let mut sorted = methods.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, defined(proto));
        }
        assert_eq!(
            span_name("agenthub.AgentHub", "/agenthub.AgentHub/GetTask", &PUBLISHED),
            "agenthub.AgentHub/GetTask"
        );
        for path in ["/agenthub.AgentHub/Get-123", "/agenthub.AgentHub/", "/", ""] {
            assert_eq!(span_name("agenthub.AgentHub", path, &PUBLISHED), "agenthub.AgentHub/unknown", "{path}");
        }
    }
}
