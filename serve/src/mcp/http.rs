//! Streamable HTTP: each request is a POST, answered by JSON or by server-sent events.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use base::data::Data;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use jsonrpc::{Answer, Id, Message, code};
use mcp::{Era, LEGACY_VERSIONS, STATELESS};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::client::{ClientSession, McpClient, MessageSender, WAITING};
use super::fault::{HEADER_MISMATCH, McpFault, UNAVAILABLE, shortened};
use super::serve::McpLimits;
use super::server::{McpServer, era_of, unsupported};
use super::sessions::{McpSessions, SessionRefusal};
use super::stdio::{RULES, failed, malformed, refused};
use crate::count_limit::share_of_one;
use crate::http::response::{empty, event_stream, events, json};
use crate::http::{
    CorsHeaders, HttpConnection, HttpProtocol, HttpRefusal, HttpRequest, RefusalBody, Route, RouteMethods, Token,
};
use crate::metrics::Exposition;
use crate::probe::Probed;

/// The paths for requests.
const PATHS: [&str; 2] = ["/mcp", "/"];
/// The pause after which a stream shows that it is alive.
const PING: Duration = Duration::from_secs(15);

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The server over HTTP.
pub(super) struct McpHttp {
    server: Arc<McpServer>,
    token: Option<Token>,
    bounds: McpLimits,
    sessions: McpSessions,
}

/// The target of a route.
#[derive(Debug, Clone, Copy)]
pub(super) enum McpEndpoint {
    Request,
    /// The end of a session.
    End,
}

impl HttpProtocol for McpHttp {
    type Caller = ();
    type Endpoint = McpEndpoint;
    const CALLER_FIRST: bool = true;
    const CORS: Option<CorsHeaders> = Some(CorsHeaders {
        methods: "GET, HEAD, POST, DELETE",
        headers: "Authorization, Content-Type, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name",
        exposed: Some("Mcp-Session-Id, WWW-Authenticate"),
    });

    // The server has no stream of its own, which would be a `GET`: everything belongs to a request.
    fn routes(&self) -> Vec<Route<McpEndpoint>> {
        let at = |path| {
            [
                Route::new(path, RouteMethods::Post, McpEndpoint::Request),
                Route::new(path, RouteMethods::Delete, McpEndpoint::End),
            ]
        };
        PATHS.into_iter().flat_map(at).collect()
    }

    fn max_body(&self) -> usize {
        self.bounds.body
    }

    async fn caller(&self, head: &Parts) -> Result<(), HttpRefusal> {
        self.token.as_ref().map_or(Ok(()), |token| Ok(token.admit(&head.headers)?))
    }

    fn refuse(&self, head: Option<&Parts>, refusal: &HttpRefusal) -> RefusalBody {
        let message = match (refusal, head) {
            (HttpRefusal::NotFound, Some(head)) => {
                format!("`{}` not found: send requests to `{}`", shortened(head.uri.path()), PATHS[0])
            }
            (refusal, _) => refusal.to_string(),
        };
        let code = match refusal {
            HttpRefusal::Denied { .. } | HttpRefusal::Full(_) => UNAVAILABLE,
            _ => code::INVALID_REQUEST,
        };
        RefusalBody::json(refused(&Id::null(), &McpFault::new(code, message)))
    }

    async fn answer(
        &self,
        endpoint: McpEndpoint,
        _caller: Option<()>,
        request: &mut HttpRequest,
    ) -> Result<Response<Body>, HttpRefusal> {
        match endpoint {
            McpEndpoint::Request => self.post(request).await,
            McpEndpoint::End => Ok(self.delete(&request.head.headers)),
        }
    }
}

impl Probed for McpHttp {
    fn readiness(&self) -> Result<(), &'static str> {
        self.server.readiness()
    }

    fn expose(&self, to: &mut Exposition) {
        self.server.expose(to);
    }
}

impl McpHttp {
    pub(super) fn new(server: Arc<McpServer>, token: Option<Token>, bounds: McpLimits) -> McpHttp {
        let of_peer = bounds.peer_sessions.unwrap_or_else(|| share_of_one(bounds.sessions));
        let sessions = McpSessions::new(bounds.sessions, of_peer, bounds.session_idle);
        McpHttp { server, token, bounds, sessions }
    }

    /// Ends idle sessions. Never returns.
    pub(super) async fn end_idle_sessions(&self) -> Infallible {
        self.sessions.sweep().await
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

    async fn post(&self, request: &mut HttpRequest) -> Result<Response<Body>, HttpRefusal> {
        request.check_json()?;
        let headers = &request.head.headers;
        if headers.contains_key(header::ACCEPT) && !accepts(headers, "application/json") {
            return Err(HttpRefusal::NotAcceptable);
        }
        let bytes = request.bytes().await?;
        let head = &request.head;
        let request = match jsonrpc::read::<Data>(&bytes, &RULES) {
            Ok(Message::Request(request)) => request,
            Ok(Message::Answer(answer)) => return Ok(self.answered(&head.headers, &answer)),
            Err(error) if error.is_answer => {
                let answered = self.answered(&head.headers, &failed(error.id, &error.problem.to_string()));
                let is_taken = answered.status() == StatusCode::ACCEPTED;
                return Ok(if is_taken {
                    refusal(StatusCode::BAD_REQUEST, &Id::null(), &malformed(&error.problem))
                } else {
                    answered
                });
            }
            Err(error) => return Ok(refusal(StatusCode::BAD_REQUEST, &error.id, &malformed(&error.problem))),
        };
        let params = request.params.unwrap_or_default();
        // A request over HTTP is cancelled by the end of its connection.
        let Some(id) = request.id else { return Ok(empty(StatusCode::ACCEPTED)) };
        let client = head.extensions.get::<HttpConnection>().and_then(HttpConnection::client);
        Ok(match self.begin(&head.headers, client, &request.method, &params) {
            Err((status, fault)) => refusal(status, &id, &fault),
            Ok(Begun::Initialized(session, result)) => {
                let mut response = json(StatusCode::OK, jsonrpc::result(&id, &result));
                if let Ok(value) = HeaderValue::from_str(&session.id) {
                    response.headers_mut().insert(SESSION, value);
                }
                response
            }
            Ok(Begun::Request(session)) => self.reply(id, request.method, params, session, &head.headers).await,
        })
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
        &self,
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
                    let mut text = event(&last);
                    while let Ok(more) = waiting.try_recv() {
                        text.push_str(&event(&more));
                    }
                    text.push_str(&event(&jsonrpc::result(&id, &result)));
                    return events(text);
                }
                First::Result(Err(fault)) => return refusal(status_of(era, &fault), &id, &fault),
                First::Notification(text) => return response_of(vec![text], id, work, waiting),
                First::Nothing => return response_of(Vec::new(), id, work, waiting),
            }
        }
        response_of(kept, id, work, waiting)
    }
}

/// Returns the error for a client that gets no session.
fn no_session(error: &SessionRefusal) -> (StatusCode, McpFault) {
    let (status, reason) = match error {
        SessionRefusal::Full(_) => (StatusCode::SERVICE_UNAVAILABLE, "sessions_full"),
        SessionRefusal::PeerFull(_) => (StatusCode::TOO_MANY_REQUESTS, "peer_sessions_full"),
    };
    (status, McpFault::new(UNAVAILABLE, error.to_string()).with("reason", reason))
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

/// Returns the response to a request as events: notifications, and then the response. If the client disconnects, the body is dropped,
/// and with it the request.
fn response_of(first: Vec<String>, id: Id, work: Work, waiting: mpsc::Receiver<String>) -> Response<Body> {
    struct State {
        first: Vec<String>,
        id: Id,
        work: Option<Work>,
        waiting: mpsc::Receiver<String>,
    }
    let state = State { first, id, work: Some(work), waiting };
    event_stream(state, async |mut state| {
        if !state.first.is_empty() {
            let text: String = state.first.drain(..).map(|text| event(&text)).collect();
            return Some((Bytes::from(text), state));
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
        Some((text.into(), state))
    })
}

fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// Returns the status of an error. The form with sessions reports errors of requests with status 200.
fn status_of(era: Era, fault: &McpFault) -> StatusCode {
    match (era, fault.code) {
        (Era::Sessions, _) | (_, code::INTERNAL_ERROR) => StatusCode::OK,
        (_, code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        (_, UNAVAILABLE) => StatusCode::SERVICE_UNAVAILABLE,
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

fn refusal(status: StatusCode, id: &Id, fault: &McpFault) -> Response<Body> {
    json(status, refused(id, fault))
}
