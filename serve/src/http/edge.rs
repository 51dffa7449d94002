//! [`HttpEdge`]: takes each request to its protocol. [`HttpServer`]: an edge with a port.
//!
//! The order of checks: host and origin, preflight requests, callers (of a protocol that knows them first), the path,
//! the method, other callers. Then the protocol executes the request.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use hyper::body::Incoming;
use tracing::Instrument as _;

use super::bind::HttpPort;
use super::body;
use super::guard::RequestGuard;
use super::listener::{HttpConnection, HttpListener, OpenConnections};
use super::observe::RequestLog;
use super::refusal::{HttpRefusal, RefusalBody};
use super::response::empty;
use super::route::{Route, RouteMatch, RouteTable, RouteTarget};
use crate::probe::{self, Probed};

/// The timeout for writing the last responses after all work is over.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// The time for which browsers keep the answer to a preflight request, in seconds.
const PREFLIGHT_AGE: &str = "600";

/// The protocol of a server.
pub(crate) trait HttpProtocol: Probed + Send + Sync + 'static {
    /// A known caller.
    type Caller: Send;
    /// The target of a route.
    type Endpoint: Copy + Send + Sync + 'static;
    /// Whether callers are checked before paths and methods.
    const CALLER_FIRST: bool = false;
    /// The rules for web pages; without them, pages of other origins can do nothing.
    const CORS: Option<CorsHeaders> = None;

    /// Returns the paths and methods.
    fn routes(&self) -> Vec<Route<Self::Endpoint>>;

    /// Returns the maximum size of a body in bytes.
    fn max_body(&self) -> usize;

    /// Identifies the caller of a request.
    fn caller(&self, head: &Parts) -> impl Future<Output = Result<Self::Caller, HttpRefusal>> + Send;

    /// Checks that a caller may read the metrics.
    fn admit_metrics(&self, _caller: Option<&Self::Caller>) -> Result<(), HttpRefusal> {
        Ok(())
    }

    /// Counts the refusal of a host or an origin, or replaces it if there were too many.
    fn count(&self, refusal: HttpRefusal) -> HttpRefusal {
        refusal
    }

    /// Words a refusal. A connection that is refused has no request.
    fn refuse(&self, head: Option<&Parts>, refusal: &HttpRefusal) -> RefusalBody;

    /// Executes a request. The caller is known if the route asks for one.
    fn answer(
        &self,
        endpoint: Self::Endpoint,
        caller: Option<Self::Caller>,
        request: &mut HttpRequest,
    ) -> impl Future<Output = Result<Response<Body>, HttpRefusal>> + Send;
}

/// The methods and headers for web pages of an allowed origin.
pub(crate) struct CorsHeaders {
    pub(crate) methods: &'static str,
    pub(crate) headers: &'static str,
    /// The response headers that they may read.
    pub(crate) exposed: Option<&'static str>,
}

/// An admitted request.
pub(crate) struct HttpRequest {
    pub(crate) head: Parts,
    /// The body, until it is read.
    body: Option<Body>,
    max_body: usize,
}

impl HttpRequest {
    /// Returns its connection.
    pub(crate) fn connection(&self) -> Option<&HttpConnection> {
        self.head.extensions.get()
    }

    /// Checks that the body is JSON. Web pages cannot send that without a preflight request.
    pub(crate) fn check_json(&self) -> Result<(), HttpRefusal> {
        let written = self.head.headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
        let media_type = written.and_then(|written| written.split(';').next()).map(str::trim);
        if media_type.is_some_and(|it| it.eq_ignore_ascii_case("application/json")) {
            return Ok(());
        }
        Err(HttpRefusal::MediaType(written.map(ToOwned::to_owned)))
    }

    /// Reads the body.
    pub(crate) async fn bytes(&mut self) -> Result<Bytes, HttpRefusal> {
        let body = self.body.take().unwrap_or_default();
        body::read(body, self.max_body).await.map_err(|error| HttpRefusal::Body(error, self.max_body))
    }

    /// Reads the body, which must be JSON.
    pub(crate) async fn json(&mut self) -> Result<Bytes, HttpRefusal> {
        self.check_json()?;
        self.bytes().await
    }

    /// Discards the body, so that the client reads the response. One that waits for permission to send it need not.
    async fn discard(&mut self) {
        let waits = self.head.headers.contains_key(header::EXPECT);
        if let Some(body) = self.body.take().filter(|body| !waits && !body.is_end_stream()) {
            body::skip(body, self.max_body).await;
        }
    }
}

/// Takes each request to its protocol.
pub(crate) struct HttpEdge<P: HttpProtocol> {
    protocol: Arc<P>,
    guard: RequestGuard,
    routes: RouteTable<P::Endpoint>,
    log: RequestLog,
}

impl<P: HttpProtocol> HttpEdge<P> {
    pub(crate) fn new(protocol: Arc<P>, guard: RequestGuard) -> HttpEdge<P> {
        let routes = RouteTable::new(&protocol.routes());
        let log = RequestLog::new(routes.labels());
        HttpEdge { protocol, guard, routes, log }
    }

    /// Responds to a request.
    pub(crate) async fn respond(&self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let max_body = self.protocol.max_body();
        let mut request = HttpRequest { head, body: Some(body), max_body };
        let (found, label) = self.routes.find(request.head.uri.path(), &request.head.method);
        let observed = self.log.begin(label, &request.head);
        let span = observed.span();
        let response = self.admit(found, &mut request).instrument(span).await;
        observed.end(response)
    }

    /// Responds to a request that the guard allows, and tells browsers which origins are allowed.
    async fn admit(&self, found: RouteMatch<'_, P::Endpoint>, request: &mut HttpRequest) -> Response<Body> {
        let head = &request.head;
        let origin = match self.guard.admit(head.version, &head.uri, &head.headers) {
            Ok(origin) => origin.zip(P::CORS),
            Err(error) => return self.refuse(head, self.protocol.count(HttpRefusal::Guard(error))),
        };
        let mut response = match &origin {
            Some((_, cors)) if head.method == Method::OPTIONS => preflight(cors),
            _ => match self.dispatch(found, request).await {
                Ok(response) => response,
                Err(refusal) => self.refuse(&request.head, refusal),
            },
        };
        if let Some((origin, cors)) = origin {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
            if let Some(exposed) = cors.exposed {
                headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
            }
        }
        response
    }

    async fn dispatch(
        &self,
        found: RouteMatch<'_, P::Endpoint>,
        request: &mut HttpRequest,
    ) -> Result<Response<Body>, HttpRefusal> {
        let is_public = matches!(found, RouteMatch::Found(Route { is_public: true, .. }));
        let mut caller = None;
        if P::CALLER_FIRST && !is_public {
            caller = Some(self.protocol.caller(&request.head).await?);
        }
        let route = match found {
            RouteMatch::Found(route) => route,
            RouteMatch::Method(allowed) => return Err(HttpRefusal::Method(allowed)),
            RouteMatch::Unknown => return Err(HttpRefusal::NotFound),
        };
        if !P::CALLER_FIRST && !is_public {
            match self.protocol.caller(&request.head).await {
                Ok(known) => caller = Some(known),
                Err(refusal) => {
                    request.discard().await;
                    return Err(refusal);
                }
            }
        }
        let result = match route.endpoint {
            RouteTarget::Health => return Ok(probe::health()),
            RouteTarget::Ready => return Ok(probe::readiness(&*self.protocol)),
            RouteTarget::Metrics => {
                self.protocol.admit_metrics(caller.as_ref())?;
                return Ok(probe::metrics(&*self.protocol, &self.log));
            }
            RouteTarget::Own(endpoint) => self.protocol.answer(endpoint, caller, request).await,
        };
        if matches!(result, Err(HttpRefusal::MediaType(_) | HttpRefusal::NotAcceptable)) {
            request.discard().await;
        }
        result
    }

    fn refuse(&self, head: &Parts, refusal: HttpRefusal) -> Response<Body> {
        match refusal {
            HttpRefusal::Own(response) => *response,
            refusal => {
                let body = self.protocol.refuse(Some(head), &refusal);
                refusal.respond(head, body)
            }
        }
    }
}

/// Returns the response to a preflight request of a browser.
fn preflight(cors: &CorsHeaders) -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, cors.methods),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, cors.headers),
        (header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_AGE),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A protocol on a port.
pub(crate) struct HttpServer<P: HttpProtocol> {
    listener: HttpListener,
    edge: Arc<HttpEdge<P>>,
}

impl<P: HttpProtocol> HttpServer<P> {
    /// Creates a server that accepts at most `connections` connections at one time.
    pub(crate) fn new(port: HttpPort, connections: u32, guard: RequestGuard, protocol: Arc<P>) -> HttpServer<P> {
        let full = |most| protocol.refuse(None, &HttpRefusal::Full(most));
        let listener = HttpListener::new(port, connections, full);
        HttpServer { listener, edge: Arc::new(HttpEdge::new(protocol, guard)) }
    }

    /// Serves requests until `end` is ready, and returns its result.
    pub(crate) async fn until<T>(&self, end: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            result = end => result,
            never = self.forever() => match never {},
        }
    }

    /// Serves requests, forever.
    pub(crate) async fn forever(&self) -> Infallible {
        let edge = self.edge.clone();
        let answer = move |request: Request<Incoming>| {
            let edge = edge.clone();
            async move { Ok(edge.respond(request.map(Body::new)).await) }
        };
        self.listener.take_all(answer).await
    }

    /// Stops accepting connections, and further requests on the open ones.
    pub(crate) fn close(self) -> OpenConnections {
        self.listener.close()
    }
}

impl OpenConnections {
    /// Waits until the last responses are written, but not for clients that do not read.
    pub(crate) async fn last_answers(&self) {
        let _ = tokio::time::timeout(LAST_ANSWERS, self.all_written()).await;
    }
}
