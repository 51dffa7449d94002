//! The port of the daemon: events as server-sent events, and actions.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use base::data::Data;
use bytes::Bytes;
use futures_util::stream;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::action_error::status_of;
use super::daemon::ChannelDaemon;
use super::event_connection::{EventConnection, NextEvents};
use super::events::ReadEvents;
use super::ingress::ActionReceipt;
use super::ledger::ActionStatus;
use super::peer_agents::PeerAgents;
use super::websocket::{self, UpgradeRequest};
use super::{Action, ActionError, ChannelScope, ChannelTransport, EnrolledChannel};
use crate::a2a::A2aEndpoint;
use crate::count_limit::CountLimit;
use crate::http::body::{self, BodyError};
use crate::http::{FullBody, GuardError, HttpConnection, RequestGuard, challenge};
use crate::metrics::Exposition;
use crate::probe::{self, HEALTH, METRICS, Probed, READY};
use crate::spawn::spawn;

/// The path of the events of a session.
const EVENTS: &str = "/events";
/// The path of WebSockets of ACP.
const ACP: &str = "/acp";
/// The path for actions.
const ACTIONS: &str = "/actions";
/// The path of the list of sessions.
const SESSIONS: &str = "/sessions";
/// The timeout for reading a body.
const BODY: Duration = Duration::from_secs(10);
/// The header with the cursor after which a browser continues.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The header that tells proxies not to buffer events.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// The time after which a browser connects again, in milliseconds.
const RETRY_MS: u64 = 1_000;

/// Answers requests to the daemon. Clones share their state.
#[derive(Clone)]
pub(super) struct ChannelAnswerer(Arc<ChannelHttpState>);

pub(super) struct ChannelHttpState {
    pub(super) daemon: Arc<ChannelDaemon>,
    pub(super) guard: RequestGuard,
    /// The limit of WebSockets.
    pub(super) websockets: CountLimit,
    /// A2A on this port, if it is served.
    pub(super) peer_agents: Option<PeerAgents>,
}

/// A refusal of a request, before it is known what it wants.
struct HttpRefusal {
    status: StatusCode,
    reason: &'static str,
    message: String,
}

impl ChannelAnswerer {
    pub(super) fn new(state: ChannelHttpState) -> ChannelAnswerer {
        ChannelAnswerer(Arc::new(state))
    }

    /// Responds to a request.
    pub(super) async fn answer(self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let state = &self.0;
        let origin = match state.guard.admit(request.version(), request.uri(), request.headers()) {
            Ok(origin) => origin,
            Err(error) => return Ok(state.refuse_caller(&not_allowed(&error), request.headers())),
        };
        let mut response = if origin.is_some() && request.method() == Method::OPTIONS {
            preflight()
        } else {
            state.route(request).await
        };
        if let Some(origin) = origin {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        Ok(response)
    }
}

impl ChannelHttpState {
    async fn route(&self, request: Request<Incoming>) -> Response<Body> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match request.uri().path() {
            HEALTH if is_read => return probe::health(),
            READY if is_read => return probe::readiness(&self.daemon.host),
            path => {
                if let Some(agents) = self.peer_agents.as_ref().filter(|_| is_read && A2aEndpoint::is_card(path)) {
                    return agents.endpoint.card(request.map(Body::new)).await;
                }
            }
        }
        let channel = match self.channel(request.headers()).await {
            Ok(channel) => channel,
            Err(response) => return *response,
        };
        self.daemon.seen(&channel, ChannelTransport::HttpJson);
        if !self.daemon.core().presence.may_request(&channel) {
            return self.refused(&channel, None, &ActionError::RateLimited);
        }
        if let Some(agents) = &self.peer_agents
            && A2aEndpoint::is_request(request.uri().path())
        {
            return match *request.method() {
                Method::POST => agents.answer(&self.daemon, &channel, request).await,
                _ => only("POST"),
            };
        }
        match (request.uri().path(), request.method()) {
            (EVENTS, &Method::GET) => self.events(&channel, &request).await,
            (ACP, &Method::GET) => self.acp(&channel, request).await,
            (ACTIONS, &Method::POST) => self.action(&channel, request).await,
            (SESSIONS, &Method::GET) => self.sessions(&channel, &request).await,
            (METRICS, &Method::GET) => self.metrics(&channel),
            (ACP | EVENTS | SESSIONS | METRICS | HEALTH | READY, _) => only("GET"),
            (ACTIONS, _) => only("POST"),
            (path, _) => {
                let shown: String = path.chars().take(80).collect();
                let message =
                    format!("unknown path `{shown}`; use {ACP}, {EVENTS}, {ACTIONS}, {SESSIONS} or {METRICS}");
                refusal(StatusCode::NOT_FOUND, "unknown_path", &message)
            }
        }
    }

    /// Returns the channel whose secret a request has.
    async fn channel(&self, headers: &HeaderMap) -> Result<Arc<EnrolledChannel>, Box<Response<Body>>> {
        let refused = |reason: &'static str, message: String| {
            let refusal = HttpRefusal { status: StatusCode::UNAUTHORIZED, reason, message };
            Box::new(self.refuse_caller(&refusal, headers))
        };
        if let Some(secret) = websocket::secret_of(headers).filter(|_| !headers.contains_key(header::AUTHORIZATION)) {
            let known = self.daemon.core().authenticate(secret).await;
            return known.map_err(|error| refused(error.reason(), error.to_string()));
        }
        let mut offered = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(first), None) = (offered.next(), offered.next()) else {
            let message = "missing secret: send the header `Authorization: Bearer SECRET`".to_owned();
            return Err(refused("missing_secret", message));
        };
        let secret = first.to_str().ok().and_then(|value| value.split_once(' '));
        let Some((_, secret)) = secret.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) else {
            let message = "invalid authorization scheme: send `Authorization: Bearer SECRET`".to_owned();
            return Err(refused("scheme", message));
        };
        let known = self.daemon.core().authenticate(secret.trim()).await;
        known.map_err(|error| refused(error.reason(), error.to_string()))
    }

    /// Refuses a caller that is not a channel. Beyond a rate, such callers are only counted.
    fn refuse_caller(&self, found: &HttpRefusal, headers: &HeaderMap) -> Response<Body> {
        if !self.daemon.core().refuse_caller(found.reason) {
            let mut response =
                refusal(StatusCode::TOO_MANY_REQUESTS, "rate_limited", "too many refused requests; try again later");
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return response;
        }
        let mut response = refusal(found.status, found.reason, &found.message);
        if found.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge(headers));
        }
        response
    }

    /// Refuses a request of a channel, and records it.
    fn refused(
        &self,
        channel: &Arc<EnrolledChannel>,
        session_id: Option<&Arc<str>>,
        error: &ActionError,
    ) -> Response<Body> {
        self.daemon.refuse(channel, None, session_id, error);
        of_error(error)
    }

    async fn events(&self, channel: &Arc<EnrolledChannel>, request: &Request<Incoming>) -> Response<Body> {
        let query = request.uri().query().unwrap_or_default();
        let (session_id, after) = match events_query(query, request.headers()) {
            Ok(wanted) => wanted,
            Err(error) => return self.refused(channel, None, &error),
        };
        let connected = self.daemon.connect(channel, &session_id, ChannelTransport::Sse, after).await;
        let events = match connected {
            Ok(events) => events,
            Err(error) => return self.refused(channel, Some(&session_id), &error),
        };
        if let Some(connection) = request.extensions().get::<HttpConnection>() {
            connection.batch_writes();
            events.connection.watch(connection.clone(), Some(events.lag()));
        }
        let mut response = Response::new(stream_of(events));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
        response
    }

    async fn action(&self, channel: &Arc<EnrolledChannel>, request: Request<Incoming>) -> Response<Body> {
        let (head, incoming) = request.into_parts();
        let most = self.daemon.limits.body;
        let media_type = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.and_then(|written| written.split(';').next()).map(str::trim);
        // A web page cannot send JSON to another origin without a preflight request.
        if !media_type.is_some_and(|it| it.eq_ignore_ascii_case("application/json")) {
            body::skip(Body::new(incoming), most, BODY).await;
            let message = "the `Content-Type` must be `application/json`";
            return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", message);
        }
        let bytes = match body::read(Body::new(incoming), most, BODY).await {
            Ok(bytes) => bytes,
            Err(error) => return of_body(&error, most),
        };
        let read = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned());
        let read = read.and_then(|text| Data::from_json(text).map_err(|error| error.to_string()));
        let action = match read {
            Ok(read) => Action::from_data(&read, &channel.id),
            Err(why) => Err(ActionError::invalid("", format!("invalid JSON body: {why}"))),
        };
        let action = match action {
            Ok(action) => action,
            Err(error) => return self.refused(channel, None, &error),
        };
        let action_id = action.action_id.clone();
        match self.daemon.submit(channel, action).await {
            Ok(receipt) => of_receipt(&action_id, &receipt),
            Err(error) => of_error(&error),
        }
    }

    /// Upgrades a request to a WebSocket with the frames of ACP.
    async fn acp(&self, channel: &Arc<EnrolledChannel>, mut request: Request<Incoming>) -> Response<Body> {
        if !channel.scopes.has(ChannelScope::View) {
            return self.refused(channel, None, &ActionError::Scope(ChannelScope::View));
        }
        let upgrade = match UpgradeRequest::read(request.headers()) {
            Ok(upgrade) => upgrade,
            Err(problem) => return refusal(StatusCode::UPGRADE_REQUIRED, "upgrade", problem),
        };
        let Some(permit) = self.websockets.take() else {
            let message = format!("too many WebSockets: {} are open, which is the limit", self.websockets.most());
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "too_many_connections", &message);
        };
        let connection_id: Arc<str> = uuid::Uuid::new_v4().to_string().into();
        let (daemon, channel, id) = (self.daemon.clone(), channel.clone(), connection_id.clone());
        let upgraded = hyper::upgrade::on(&mut request);
        spawn(async move {
            // The client hung up before the response.
            let Ok(upgraded) = upgraded.await else { return };
            let config = Some(websocket::config());
            let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, config).await;
            super::acp::serve(daemon, channel, id, socket).await;
            drop(permit);
        });
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, upgrade.accept);
        if upgrade.has_subprotocol {
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(websocket::SUBPROTOCOL));
        }
        if let Ok(id) = HeaderValue::from_str(&connection_id) {
            headers.insert(websocket::CONNECTION_ID, id);
        }
        response
    }

    async fn sessions(&self, channel: &Arc<EnrolledChannel>, request: &Request<Incoming>) -> Response<Body> {
        let cursor = query_value(request.uri().query().unwrap_or_default(), "cursor");
        match self.daemon.sessions(channel, cursor.as_deref()).await {
            Ok(page) => json(StatusCode::OK, page.to_json()),
            Err(error) => self.refused(channel, None, &error),
        }
    }

    fn metrics(&self, channel: &Arc<EnrolledChannel>) -> Response<Body> {
        if !channel.scopes.has(ChannelScope::Admin) {
            return self.refused(channel, None, &ActionError::Scope(ChannelScope::Admin));
        }
        probe::metrics(&*self.daemon)
    }
}

impl Probed for ChannelDaemon {
    fn readiness(&self) -> Result<(), &'static str> {
        self.host.readiness()
    }

    fn expose(&self, to: &mut Exposition) {
        let open = self.core().presence.connections();
        to.value("harn_channel_connections_open", "gauge", "Open connections of channels.", open);
        self.host.expose(to);
    }
}

/// Returns the events of a session as a response.
fn stream_of(events: EventConnection) -> Body {
    let first = Some(Bytes::from(format!("retry: {RETRY_MS}\n\n")));
    Body::from_stream(stream::unfold((events, first), async |(mut events, mut first)| {
        let piece = match first.take() {
            Some(first) => first,
            None => match events.next().await? {
                NextEvents::Frames(frames) => {
                    events.sent_all();
                    ReadEvents::sse(&frames)
                }
                NextEvents::Last(frame) => frame.sse.clone(),
                NextEvents::Pulse => Bytes::from_static(b": ping\n\n"),
            },
        };
        Some((Ok::<Bytes, Infallible>(piece), (events, None)))
    }))
}

/// Reads the session and the cursor of a request for events.
fn events_query(query: &str, headers: &HeaderMap) -> Result<(Arc<str>, Option<u64>), ActionError> {
    let session = query_value(query, "session").filter(|session| !session.is_empty());
    let session = session.ok_or_else(|| ActionError::invalid("session", "the query needs a `session`"))?;
    // A browser that connects again sends the header, and the query of its first request.
    let last = headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?").to_owned());
    let named = if last.is_some() { "Last-Event-ID" } else { "after" };
    let after = match last.or_else(|| query_value(query, "after")) {
        None => None,
        Some(text) => Some(
            text.parse::<u64>()
                .map_err(|_| ActionError::invalid(named, format!("`{named}` must be the `sequence` of an event")))?,
        ),
    };
    Ok((session.into(), after))
}

/// Returns a value of a query.
fn query_value(query: &str, key: &str) -> Option<String> {
    let value = query.split('&').find_map(|pair| pair.split_once('=').filter(|(name, _)| *name == key))?.1;
    Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned())
}

fn of_receipt(action_id: &Arc<str>, receipt: &ActionReceipt) -> Response<Body> {
    let outcome = &receipt.outcome;
    let body = receipt.to_data(action_id);
    match (outcome.status, outcome.refused_for()) {
        (_, Some(reason)) => {
            let error = ["reason", "message", "field"].map(|key| (key, outcome.result.get(key).clone()));
            refused(status_of(reason), body.with("error", Data::dict_of_present(error)).to_json())
        }
        (ActionStatus::Accepted, None) => json(StatusCode::ACCEPTED, body.to_json()),
        (ActionStatus::Done | ActionStatus::Failed, None) => json(StatusCode::OK, body.to_json()),
    }
}

fn of_error(error: &ActionError) -> Response<Body> {
    let field = match error {
        ActionError::Invalid { field, .. } if !field.is_empty() => field.as_str().into(),
        _ => Data::Nil,
    };
    refused(error.status(), error_body(error.reason(), &error.to_string(), field))
}

fn refused(status: u16, body: String) -> Response<Body> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, body);
    if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn of_body(error: &BodyError, most: usize) -> Response<Body> {
    let (status, reason, message) = match error {
        BodyError::TooLarge => {
            (StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("the body is larger than the limit of {most} bytes"))
        }
        BodyError::TooSlow => (
            StatusCode::REQUEST_TIMEOUT,
            "too_slow",
            format!("the body did not arrive within {} seconds", BODY.as_secs()),
        ),
        BodyError::Broken => (StatusCode::BAD_REQUEST, "incomplete", "the body is incomplete".to_owned()),
    };
    let mut response = refusal(status, reason, &message);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn error_body(reason: &str, message: &str, field: Data) -> String {
    let error = Data::dict_of_present([("reason", Data::from(reason)), ("message", message.into()), ("field", field)]);
    Data::dict([("error", error)]).to_json()
}

fn refusal(status: StatusCode, reason: &str, message: &str) -> Response<Body> {
    json(status, error_body(reason, message, Data::Nil))
}

fn json(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn only(method: &'static str) -> Response<Body> {
    let mut response =
        refusal(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", &format!("method not allowed: use {method}"));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(method));
    response
}

/// Returns the response to a preflight request of a browser.
fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    let allowed = HeaderValue::from_static("Authorization, Content-Type, Last-Event-ID");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Returns the refusal of a request whose host or origin is not allowed.
fn not_allowed(error: &GuardError) -> HttpRefusal {
    let shown = |text: &str| text.chars().take(80).collect::<String>();
    let (reason, message) = match error {
        GuardError::NoHost => ("host", "missing header `Host`".to_owned()),
        GuardError::SeveralHosts => ("host", "repeated header `Host`".to_owned()),
        GuardError::Host(host) => {
            ("host", format!("this server serves only its own machine, and `{}` is not one of its names", shown(host)))
        }
        GuardError::Origin(origin) => {
            ("origin", format!("the origin `{}` is not allowed; `--allow-origin` allows it", shown(origin)))
        }
    };
    HttpRefusal { status: error.status(), reason, message }
}

/// Returns the body of the response to a connection beyond the limit.
pub(super) fn full(most: usize) -> FullBody {
    let message = format!("too many connections: {most} are open, which is the limit; try again later");
    FullBody { media_type: "application/json", text: error_body("too_many_connections", &message, Data::Nil) }
}
