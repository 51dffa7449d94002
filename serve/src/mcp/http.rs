//! Streamable HTTP: each request is a POST, answered by JSON or by server-sent events.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use base::data::Data;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::stream;
use hyper::Request;
use hyper::body::Incoming;
use jsonrpc::{Answer, Id, Message, code};
use mcp::{Era, LEGACY_VERSIONS, STATELESS};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::client::{ClientSession, McpClient, MessageSender, WAITING};
use super::fault::{HEADER_MISMATCH, McpFault, shortened};
use super::serve::McpLimits;
use super::server::{McpServer, era_of, unsupported};
use super::sessions::{McpSessions, SessionRefusal};
use super::stdio::{RULES, failed, malformed, refused};
use crate::count_limit::share_of_one;
use crate::http::body::{self, BodyError};
use crate::http::{AccessError, FullBody, GuardError, HttpConnection, RequestGuard, Token, challenge};
use crate::probe::{self, HEALTH, METRICS, READY};

/// The paths for requests.
const PATHS: [&str; 2] = ["/mcp", "/"];
/// The timeout for reading a body.
const BODY: Duration = Duration::from_secs(10);
/// The pause after which a stream shows that it is alive.
const PING: Duration = Duration::from_secs(15);

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The header that tells proxies not to buffer events.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The state shared by all requests.
pub(super) struct McpHttpState {
    server: Arc<McpServer>,
    guard: RequestGuard,
    token: Option<Token>,
    bounds: McpLimits,
    sessions: McpSessions,
}

impl McpHttpState {
    pub(super) fn new(
        server: Arc<McpServer>,
        guard: RequestGuard,
        token: Option<Token>,
        bounds: McpLimits,
    ) -> McpHttpState {
        let of_peer = bounds.peer_sessions.unwrap_or_else(|| share_of_one(bounds.sessions));
        let sessions = McpSessions::new(bounds.sessions, of_peer, bounds.session_idle);
        McpHttpState { server, guard, token, bounds, sessions }
    }

    fn session(&self, headers: &HeaderMap) -> Result<Arc<ClientSession>, (StatusCode, McpFault)> {
        let Some(id) = headers.get(SESSION) else {
            let message = "missing `Mcp-Session-Id`: begin with `initialize`, or describe the request in `_meta`";
            return Err((StatusCode::BAD_REQUEST, McpFault::new(code::INVALID_REQUEST, message)));
        };
        let found = id.to_str().ok().and_then(|id| self.sessions.find(id, Instant::now()));
        found.ok_or_else(|| {
            let message = "session not found: it has ended, or its id is wrong; begin with `initialize`";
            (StatusCode::NOT_FOUND, McpFault::new(code::INVALID_REQUEST, message))
        })
    }
}

/// Answers requests. Clones share their state.
#[derive(Clone)]
pub(super) struct RequestAnswerer(Arc<McpHttpState>);

impl RequestAnswerer {
    pub(super) fn new(state: McpHttpState) -> RequestAnswerer {
        RequestAnswerer(Arc::new(state))
    }

    /// Ends idle sessions. Never returns.
    pub(super) async fn end_idle_sessions(&self) -> Infallible {
        self.0.sessions.sweep().await
    }

    /// Responds to a request.
    pub(super) async fn answer(self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let state = &self.0;
        let origin = match state.guard.admit(request.version(), request.uri(), request.headers()) {
            Ok(origin) => origin,
            Err(error) => return Ok(refusal(error.status(), &Id::null(), &not_allowed(&error))),
        };
        let mut response = if origin.is_some() && request.method() == Method::OPTIONS {
            preflight()
        } else {
            state.clone().route(request).await
        };
        if let Some(origin) = origin {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
            let shown = HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate");
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown);
        }
        Ok(response)
    }
}

impl McpHttpState {
    async fn route(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path();
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match path {
            HEALTH if is_read => return probe::health(),
            READY if is_read => return probe::readiness(&*self.server),
            _ => {}
        }
        if let Err(denied) = self.token.as_ref().map_or(Ok(()), |token| token.admit(request.headers())) {
            let mut response = refusal(StatusCode::UNAUTHORIZED, &Id::null(), &no_access(denied));
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge(request.headers()));
            return response;
        }
        match path {
            METRICS if is_read => probe::metrics(&*self.server),
            HEALTH | READY | METRICS => only("GET, HEAD"),
            path if PATHS.contains(&path) => match *request.method() {
                Method::POST => self.post(request).await,
                Method::DELETE => self.delete(request.headers()),
                // The server has no stream of its own: everything belongs to a request.
                _ => only("POST, DELETE"),
            },
            path => {
                let message = format!("`{}` not found: send requests to `{}`", shortened(path), PATHS[0]);
                refusal(StatusCode::NOT_FOUND, &Id::null(), &McpFault::new(code::INVALID_REQUEST, message))
            }
        }
    }

    fn delete(&self, headers: &HeaderMap) -> Response<Body> {
        match self.session(headers) {
            Ok(session) => {
                self.sessions.end(&session);
                empty(StatusCode::NO_CONTENT)
            }
            Err((status, fault)) => refusal(status, &Id::null(), &fault),
        }
    }

    /// Takes a client's answer to a question, which a call of its session asked.
    fn answered(&self, headers: &HeaderMap, answer: &Answer<Data>) -> Response<Body> {
        // Clients without a session are asked by results.
        if !headers.contains_key(SESSION) {
            return empty(StatusCode::ACCEPTED);
        }
        match self.session(headers) {
            Ok(session) => {
                session.replied(answer);
                empty(StatusCode::ACCEPTED)
            }
            Err((status, fault)) => refusal(status, &Id::null(), &fault),
        }
    }

    async fn post(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let (head, incoming) = request.into_parts();
        if let Err((status, message)) = media_types(&head.headers) {
            body::skip(Body::new(incoming), self.bounds.body, BODY).await;
            return refusal(status, &Id::null(), &McpFault::new(code::INVALID_REQUEST, message));
        }
        let bytes = match body::read(Body::new(incoming), self.bounds.body, BODY).await {
            Ok(bytes) => bytes,
            Err(missing) => {
                let (status, message) = match missing {
                    BodyError::TooLarge => {
                        let message = format!("the body is larger than the limit of {} bytes", self.bounds.body);
                        (StatusCode::PAYLOAD_TOO_LARGE, message)
                    }
                    BodyError::TooSlow => {
                        let message = format!("the body did not arrive within {} seconds", BODY.as_secs());
                        (StatusCode::REQUEST_TIMEOUT, message)
                    }
                    BodyError::Broken => (StatusCode::BAD_REQUEST, "the body is incomplete".to_owned()),
                };
                let mut response = refusal(status, &Id::null(), &McpFault::new(code::INVALID_REQUEST, message));
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                return response;
            }
        };
        let request = match jsonrpc::read::<Data>(&bytes, &RULES) {
            Ok(Message::Request(request)) => request,
            Ok(Message::Answer(answer)) => return self.answered(&head.headers, &answer),
            Err(error) if error.is_answer => {
                let answered = self.answered(&head.headers, &failed(error.id, &error.problem.to_string()));
                let is_taken = answered.status() == StatusCode::ACCEPTED;
                return if is_taken {
                    refusal(StatusCode::BAD_REQUEST, &Id::null(), &malformed(&error.problem))
                } else {
                    answered
                };
            }
            Err(error) => return refusal(StatusCode::BAD_REQUEST, &error.id, &malformed(&error.problem)),
        };
        let params = request.params.unwrap_or_default();
        // A request over HTTP is cancelled by the end of its connection.
        let Some(id) = request.id else { return empty(StatusCode::ACCEPTED) };
        let client = head.extensions.get::<HttpConnection>().and_then(HttpConnection::client);
        match self.begin(&head.headers, client, &request.method, &params) {
            Err((status, fault)) => refusal(status, &id, &fault),
            Ok(Begun::Initialized(session, result)) => {
                let mut response = json(StatusCode::OK, jsonrpc::result(&id, &result));
                if let Ok(value) = HeaderValue::from_str(&session.id) {
                    response.headers_mut().insert(SESSION, value);
                }
                response
            }
            Ok(Begun::Request(session)) => self.reply(id, request.method, params, session, &head.headers).await,
        }
    }

    /// Checks the headers of a request, and finds its session.
    fn begin(
        &self,
        headers: &HeaderMap,
        client: Option<IpAddr>,
        method: &str,
        params: &Data,
    ) -> Result<Begun, (StatusCode, McpFault)> {
        let bad = |fault: McpFault| (StatusCode::BAD_REQUEST, fault);
        let said = headers.get(VERSION).map(|value| value.to_str().unwrap_or("?"));
        let is_stateless = era_of(method, params) == Era::Stateless || said == Some(STATELESS);
        if is_stateless {
            check_headers(headers, method, params).map_err(bad)?;
            return Ok(Begun::Request(None));
        }
        if let Some(version) = said.filter(|version| !LEGACY_VERSIONS.contains(version)) {
            return Err(bad(unsupported(version)));
        }
        if method == "initialize" {
            let (session, result) = self.server.initialize(params).map_err(bad)?;
            let session = self.sessions.open(session, client, Instant::now()).map_err(|error| no_session(&error))?;
            return Ok(Begun::Initialized(session, result));
        }
        self.session(headers).map(|session| Begun::Request(Some(session)))
    }

    /// Answers a request: by JSON if nothing else is to be sent, else by events.
    async fn reply(
        self: Arc<Self>,
        id: Id,
        method: String,
        params: Data,
        session: Option<Arc<ClientSession>>,
        headers: &HeaderMap,
    ) -> Response<Body> {
        let takes_events = accepts(headers, "text/event-stream");
        let (sender, mut waiting) = mpsc::channel(WAITING);
        let outbox = if takes_events { MessageSender::new(sender) } else { MessageSender::default() };
        let request_id = Data::from_json(id.as_json()).unwrap_or_default();
        let kept = session.as_ref().filter(|_| takes_events).map(|session| session.take_kept()).unwrap_or_default();
        let client = match session {
            Some(session) => McpClient::of_session(session, request_id, &params, outbox),
            None => McpClient::stateless(request_id, &params, outbox),
        };
        let era = client.era;
        let at_work = client.session.as_ref().map(|session| session.begin_work());
        let server = self.server.clone();
        let mut work: Work = Box::pin(async move {
            let _at_work = at_work;
            server.answer(&method, &params, &client).await
        });
        if kept.is_empty() {
            let first = tokio::select! {
                biased;
                Some(first) = waiting.recv() => First::Notification(first),
                result = &mut work => First::Result(result),
                () = tokio::time::sleep(PING), if takes_events => First::Nothing,
            };
            match first {
                First::Result(Ok(result)) => {
                    // What was sent at the end belongs before the result.
                    let Ok(last) = waiting.try_recv() else {
                        return json(StatusCode::OK, jsonrpc::result(&id, &result));
                    };
                    let mut events = event(&last);
                    while let Ok(more) = waiting.try_recv() {
                        events.push_str(&event(&more));
                    }
                    events.push_str(&event(&jsonrpc::result(&id, &result)));
                    return of_events(Body::from(events));
                }
                First::Result(Err(fault)) => return refusal(status_of(era, &fault), &id, &fault),
                First::Notification(text) => return of_events(events(vec![text], id, work, waiting)),
                First::Nothing => return of_events(events(Vec::new(), id, work, waiting)),
            }
        }
        of_events(events(kept, id, work, waiting))
    }
}

/// Returns the error for a client that gets no session.
fn no_session(error: &SessionRefusal) -> (StatusCode, McpFault) {
    let (status, reason) = match error {
        SessionRefusal::Full(_) => (StatusCode::SERVICE_UNAVAILABLE, "sessions_full"),
        SessionRefusal::PeerFull(_) => (StatusCode::TOO_MANY_REQUESTS, "peer_sessions_full"),
    };
    (status, McpFault::new(super::fault::UNAVAILABLE, error.to_string()).with("reason", reason))
}

enum Begun {
    Initialized(Arc<ClientSession>, Data),
    Request(Option<Arc<ClientSession>>),
}

enum First {
    Notification(String),
    Result(Result<Data, McpFault>),
    /// A client with a stream learns that the server is alive.
    Nothing,
}

/// The answer to a request that is being made. Dropping it cancels the request.
type Work = Pin<Box<dyn Future<Output = Result<Data, McpFault>> + Send>>;

/// Returns the events of a request: notifications, and then the response. If the client disconnects, the body is dropped,
/// and with it the request.
fn events(first: Vec<String>, id: Id, work: Work, waiting: mpsc::Receiver<String>) -> Body {
    struct State {
        first: Vec<String>,
        id: Id,
        work: Option<Work>,
        waiting: mpsc::Receiver<String>,
    }
    let state = State { first, id, work: Some(work), waiting };
    Body::from_stream(stream::unfold(state, async |mut state| {
        if !state.first.is_empty() {
            let text: String = state.first.drain(..).map(|text| event(&text)).collect();
            return Some((Ok::<Bytes, Infallible>(text.into()), state));
        }
        let work = state.work.as_mut()?;
        let text = tokio::select! {
            biased;
            Some(text) = state.waiting.recv() => event(&text),
            result = work => {
                state.work = None;
                let mut text = String::new();
                while let Ok(last) = state.waiting.try_recv() {
                    text.push_str(&event(&last));
                }
                let reply = match result {
                    Ok(result) => jsonrpc::result(&state.id, &result),
                    Err(fault) => refused(&state.id, &fault),
                };
                text.push_str(&event(&reply));
                text
            }
            () = tokio::time::sleep(PING) => ": ping\n\n".to_owned(),
        };
        Some((Ok(text.into()), state))
    }))
}

fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

fn of_events(events: Body) -> Response<Body> {
    let mut response = Response::new(events);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Returns the status of an error. The form with sessions reports errors of requests with status 200.
fn status_of(era: Era, fault: &McpFault) -> StatusCode {
    match (era, fault.code) {
        (Era::Sessions, _) | (_, code::INTERNAL_ERROR) => StatusCode::OK,
        (_, code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        (_, super::fault::UNAVAILABLE) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// Checks the headers that repeat parts of a request without a session, by which proxies route it.
fn check_headers(headers: &HeaderMap, method: &str, params: &Data) -> Result<(), McpFault> {
    let version = params.get("_meta").get("io.modelcontextprotocol/protocolVersion");
    let name = match method {
        "tools/call" | "prompts/get" => params.get("name").as_str(),
        "resources/read" => params.get("uri").as_str(),
        _ => None,
    };
    for (header, wanted) in [(VERSION, version.as_str()), (METHOD, Some(method)), (NAME, name)] {
        let mut found = headers.get_all(&header).iter();
        let first = found.next().map(|value| decoded(value.to_str().unwrap_or("?")));
        if found.next().is_some() {
            return Err(McpFault::new(HEADER_MISMATCH, format!("the header `{header}` is repeated")));
        }
        // A request whose version is missing is refused for that.
        if wanted.is_some() && first.as_deref() != wanted {
            return Err(McpFault::new(HEADER_MISMATCH, format!("the header `{header}` does not match the body")));
        }
    }
    Ok(())
}

/// Returns the text of a header, which may be in base64.
fn decoded(value: &str) -> String {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let text = inner.and_then(|inner| STANDARD.decode(inner).ok()).and_then(|bytes| String::from_utf8(bytes).ok());
    text.unwrap_or_else(|| value.to_owned())
}

fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let (kind, _) = media_type.split_once('/').unwrap_or((media_type, ""));
    let is_meant = |part: &str| {
        let part = part.split(';').next().unwrap_or_default().trim();
        part.eq_ignore_ascii_case(media_type) || part == "*/*" || part.strip_suffix("/*") == Some(kind)
    };
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|list| list.split(',').any(is_meant))
}

/// Checks the content type: web pages cannot send JSON without a preflight request. Checks also what the client accepts.
fn media_types(headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
    let written = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = written.and_then(|written| written.split(';').next()).map(str::trim);
    if !media_type.is_some_and(|it| it.eq_ignore_ascii_case("application/json")) {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "the `Content-Type` must be `application/json`"));
    }
    if headers.contains_key(header::ACCEPT) && !accepts(headers, "application/json") {
        return Err((StatusCode::NOT_ACCEPTABLE, "`Accept` must contain `application/json` and `text/event-stream`"));
    }
    Ok(())
}

fn refusal(status: StatusCode, id: &Id, fault: &McpFault) -> Response<Body> {
    json(status, refused(id, fault))
}

fn json(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn only(methods: &'static str) -> Response<Body> {
    let fault = McpFault::new(code::INVALID_REQUEST, format!("method not allowed: use {methods}"));
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, &Id::null(), &fault);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    response
}

/// Returns the response to a preflight request of a browser.
fn preflight() -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST, DELETE"));
    let allowed = "Authorization, Content-Type, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name";
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(allowed));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

fn no_access(denied: AccessError) -> McpFault {
    McpFault::new(
        super::fault::UNAVAILABLE,
        match denied {
            AccessError::Missing => "missing token: send the header `Authorization: Bearer TOKEN`",
            AccessError::Scheme => "invalid authorization scheme: send `Authorization: Bearer TOKEN`",
            AccessError::Wrong => "invalid token",
        },
    )
}

/// Returns the error for a request whose host or origin is not allowed.
fn not_allowed(error: &GuardError) -> McpFault {
    let message = match error {
        GuardError::NoHost => "missing header `Host`".to_owned(),
        GuardError::SeveralHosts => "repeated header `Host`".to_owned(),
        GuardError::Host(host) => {
            format!("this server serves only its own machine, and `{}` is not one of its names", shortened(host))
        }
        GuardError::Origin(origin) => {
            format!("the origin `{}` is not allowed; `--allow-origin` allows it", shortened(origin))
        }
    };
    McpFault::new(code::INVALID_REQUEST, message)
}

/// Returns the body of the response to a connection beyond the limit.
pub(super) fn full(most: usize) -> FullBody {
    let message = format!("too many connections: {most} are open, which is the limit; try again later");
    let text = refused(&Id::null(), &McpFault::new(super::fault::UNAVAILABLE, message));
    FullBody { media_type: "application/json", text }
}
