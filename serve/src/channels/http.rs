//! The port of the daemon: events as server-sent events, and actions.

use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use base::data::Data;
use bytes::Bytes;

use super::daemon::ChannelDaemon;
use super::event_connection::{EventConnection, NextEvents};
use super::peer_agents::PeerAgents;
use super::websocket;
use super::{Action, ActionError, Caller, ChannelScope, ChannelTransport};
use crate::a2a::{CARDS, RPC, fault_of, refusal_body};
use crate::count_limit::CountLimit;
use crate::gateway::{ActionReceipt, ActionStatus, ReadEvents, status_of};
use crate::http::response::{event_stream, json};
use crate::http::websocket::UpgradeRequest;
use crate::http::{
    BodyError, CorsHeaders, GuardError, HttpProtocol, HttpRefusal, HttpRequest, RefusalBody, Route, RouteMethods,
};
use crate::metrics::Exposition;
use crate::probe::{METRICS, Probed};

/// The path of the events of a session.
const EVENTS: &str = "/events";
/// The path of WebSockets of ACP.
const ACP: &str = "/acp";
/// The path for actions.
const ACTIONS: &str = "/actions";
/// The path of the list of sessions.
const SESSIONS: &str = "/sessions";
/// The header with the cursor after which a browser continues.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The time after which a browser connects again, in milliseconds.
const RETRY_MS: u64 = 1_000;

/// The daemon over HTTP.
pub(super) struct ChannelHttp {
    pub(super) daemon: Arc<ChannelDaemon>,
    /// The limit of WebSockets.
    pub(super) websockets: CountLimit,
    /// A2A on this port, if it is served.
    pub(super) peer_agents: Option<PeerAgents>,
}

/// The target of a route.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChannelEndpoint {
    Acp,
    Events,
    Actions,
    Sessions,
    /// The agent card.
    Card,
    /// Requests of peer agents.
    Rpc,
}

impl HttpProtocol for ChannelHttp {
    type Caller = Arc<Caller>;
    type Endpoint = ChannelEndpoint;
    const CALLER_FIRST: bool = true;
    const CORS: Option<CorsHeaders> = Some(CorsHeaders {
        methods: "GET, POST",
        headers: "Authorization, Content-Type, Last-Event-ID",
        exposed: None,
    });

    fn routes(&self) -> Vec<Route<ChannelEndpoint>> {
        let mut routes = vec![
            Route::new(EVENTS, RouteMethods::Get, ChannelEndpoint::Events),
            Route::new(ACP, RouteMethods::Get, ChannelEndpoint::Acp),
            Route::new(ACTIONS, RouteMethods::Post, ChannelEndpoint::Actions),
            Route::new(SESSIONS, RouteMethods::Get, ChannelEndpoint::Sessions),
        ];
        if self.peer_agents.is_some() {
            routes.extend(RPC.map(|path| Route::new(path, RouteMethods::Post, ChannelEndpoint::Rpc)));
            routes.extend(CARDS.map(|path| Route::public(path, RouteMethods::Read, ChannelEndpoint::Card)));
        }
        routes
    }

    fn max_body(&self) -> usize {
        self.daemon.limits.body
    }

    /// Returns the channel whose secret a request has, unless it has sent too many.
    async fn caller(&self, head: &Parts) -> Result<Arc<Caller>, HttpRefusal> {
        let core = self.daemon.core();
        let secret = secret_of(&head.headers).map_err(|refusal| self.count(refusal))?;
        let channel = core
            .authenticate(secret)
            .await
            .map_err(|error| self.count(HttpRefusal::Denied { reason: error.reason(), message: error.to_string() }))?;
        self.daemon.seen(&channel, ChannelTransport::HttpJson);
        match core.presence.may_request(&channel) {
            true => Ok(channel),
            false => Err(self.refused(&channel, None, &ActionError::RateLimited)),
        }
    }

    fn admit_metrics(&self, channel: Option<&Arc<Caller>>) -> Result<(), HttpRefusal> {
        match channel {
            Some(channel) if channel.scopes.has(ChannelScope::Admin) => Ok(()),
            Some(channel) => Err(self.refused(channel, None, &ActionError::Scope(ChannelScope::Admin))),
            None => Err(missing_secret()),
        }
    }

    /// Beyond a rate, refused callers are only counted.
    fn count(&self, refusal: HttpRefusal) -> HttpRefusal {
        if self.daemon.core().refuse_caller(reason_of(&refusal)) { refusal } else { HttpRefusal::TooManyRefused }
    }

    fn refuse(&self, head: Option<&Parts>, refusal: &HttpRefusal) -> RefusalBody {
        let path = head.map_or("", |head| head.uri.path());
        let message = match refusal {
            HttpRefusal::MediaType(_) | HttpRefusal::Body(..) if self.peer_agents.is_some() && RPC.contains(&path) => {
                return refusal_body(head, &fault_of(refusal));
            }
            HttpRefusal::NotFound => {
                let shown: String = path.chars().take(80).collect();
                format!("unknown path `{shown}`; use {ACP}, {EVENTS}, {ACTIONS}, {SESSIONS} or {METRICS}")
            }
            refusal => refusal.to_string(),
        };
        RefusalBody::json(error_body(reason_of(refusal), &message, Data::Nil))
    }

    async fn answer(
        &self,
        endpoint: ChannelEndpoint,
        channel: Option<Arc<Caller>>,
        request: &mut HttpRequest,
    ) -> Result<Response<Body>, HttpRefusal> {
        let channel = &match (endpoint, &self.peer_agents, channel) {
            (ChannelEndpoint::Card, Some(agents), _) => return Ok(agents.service.get_card(&request.head)),
            (_, _, Some(channel)) => channel,
            (_, _, None) => return Err(missing_secret()),
        };
        match (endpoint, &self.peer_agents) {
            (ChannelEndpoint::Acp, _) => self.acp(channel, request),
            (ChannelEndpoint::Events, _) => self.events(channel, request).await,
            (ChannelEndpoint::Actions, _) => self.action(channel, request).await,
            (ChannelEndpoint::Sessions, _) => self.sessions(channel, &request.head).await,
            (ChannelEndpoint::Rpc, Some(agents)) => agents.answer(&self.daemon, channel, request).await,
            (ChannelEndpoint::Card | ChannelEndpoint::Rpc, _) => Err(HttpRefusal::NotFound),
        }
    }
}

impl ChannelHttp {
    /// Refuses a request of a channel, and records it.
    fn refused(&self, channel: &Arc<Caller>, session_id: Option<&Arc<str>>, error: &ActionError) -> HttpRefusal {
        self.daemon.gateway.refuse(channel, None, session_id, error);
        of_error(error).into()
    }

    async fn events(&self, channel: &Arc<Caller>, request: &mut HttpRequest) -> Result<Response<Body>, HttpRefusal> {
        let head = &request.head;
        let wanted = events_query(head.uri.query().unwrap_or_default(), &head.headers);
        let (session_id, after) = wanted.map_err(|error| self.refused(channel, None, &error))?;
        let connected = self.daemon.connect(channel, &session_id, ChannelTransport::Sse, after).await;
        let events = connected.map_err(|error| self.refused(channel, Some(&session_id), &error))?;
        if let Some(connection) = request.connection() {
            connection.batch_writes();
            events.connection.watch(connection.clone(), Some(events.lag()));
        }
        Ok(response_of(events))
    }

    async fn action(&self, channel: &Arc<Caller>, request: &mut HttpRequest) -> Result<Response<Body>, HttpRefusal> {
        let bytes = request.json().await?;
        let read = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned());
        let read = read.and_then(|text| Data::from_json(text).map_err(|error| error.to_string()));
        let action = match read {
            Ok(read) => Action::from_data(&read, &channel.id),
            Err(why) => Err(ActionError::invalid("", format!("invalid JSON body: {why}"))),
        };
        let action = action.map_err(|error| self.refused(channel, None, &error))?;
        let action_id = action.action_id.clone();
        match self.daemon.gateway.submit(channel, action).await {
            Ok(receipt) => Ok(of_receipt(&action_id, &receipt)),
            Err(error) => Ok(of_error(&error)),
        }
    }

    /// Upgrades a request to a WebSocket with the frames of ACP.
    fn acp(&self, channel: &Arc<Caller>, request: &mut HttpRequest) -> Result<Response<Body>, HttpRefusal> {
        if !channel.scopes.has(ChannelScope::View) {
            return Err(self.refused(channel, None, &ActionError::Scope(ChannelScope::View)));
        }
        let own = |status, reason, message: &str| json(status, error_body(reason, message, Data::Nil));
        let upgrade =
            UpgradeRequest::take(request).map_err(|problem| own(StatusCode::UPGRADE_REQUIRED, "upgrade", problem))?;
        let Some(permit) = self.websockets.take() else {
            let message = format!("too many WebSockets: {} are open, which is the limit", self.websockets.most());
            return Ok(own(StatusCode::SERVICE_UNAVAILABLE, "too_many_connections", &message));
        };
        let connection_id: Arc<str> = uuid::Uuid::new_v4().to_string().into();
        let (daemon, channel, id) = (self.daemon.clone(), channel.clone(), connection_id.clone());
        let subprotocol = websocket::subprotocol(&request.head.headers);
        let mut response = upgrade.accept(subprotocol, websocket::config(), async move |socket| {
            super::acp::serve(daemon, channel, id, socket).await;
            drop(permit);
        });
        if let Ok(id) = HeaderValue::from_str(&connection_id) {
            response.headers_mut().insert(websocket::CONNECTION_ID, id);
        }
        Ok(response)
    }

    async fn sessions(&self, channel: &Arc<Caller>, head: &Parts) -> Result<Response<Body>, HttpRefusal> {
        let cursor = query_value(head.uri.query().unwrap_or_default(), "cursor");
        match self.daemon.sessions(channel, cursor.as_deref()).await {
            Ok(page) => Ok(json(StatusCode::OK, page.to_json())),
            Err(error) => Err(self.refused(channel, None, &error)),
        }
    }
}

impl Probed for ChannelHttp {
    fn readiness(&self) -> Result<(), &'static str> {
        self.daemon.gateway.host.readiness()
    }

    fn expose(&self, to: &mut Exposition) {
        let open = self.daemon.core().presence.connections();
        to.value("harn_channel_connections_open", "gauge", "Open connections of channels.", open);
        self.daemon.gateway.host.expose(to);
    }
}

/// Returns the secret of a request.
fn secret_of(headers: &HeaderMap) -> Result<&str, HttpRefusal> {
    if let Some(secret) = websocket::secret_of(headers).filter(|_| !headers.contains_key(header::AUTHORIZATION)) {
        return Ok(secret);
    }
    let mut offered = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(first), None) = (offered.next(), offered.next()) else { return Err(missing_secret()) };
    let secret = first.to_str().ok().and_then(|value| value.split_once(' '));
    match secret.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) {
        Some((_, secret)) => Ok(secret.trim()),
        None => {
            let message = "invalid authorization scheme: send `Authorization: Bearer SECRET`".to_owned();
            Err(HttpRefusal::Denied { reason: "scheme", message })
        }
    }
}

fn missing_secret() -> HttpRefusal {
    let message = "missing secret: send the header `Authorization: Bearer SECRET`".to_owned();
    HttpRefusal::Denied { reason: "missing_secret", message }
}

/// Returns the word for a refusal, in responses and records.
fn reason_of(refusal: &HttpRefusal) -> &'static str {
    match refusal {
        HttpRefusal::Guard(GuardError::Origin(_)) => "origin",
        HttpRefusal::Guard(_) => "host",
        HttpRefusal::Denied { reason, .. } => reason,
        HttpRefusal::TooManyRefused => "rate_limited",
        HttpRefusal::NotFound => "unknown_path",
        HttpRefusal::Method(_) => "method_not_allowed",
        HttpRefusal::MediaType(_) => "content_type",
        HttpRefusal::Body(BodyError::TooLarge, _) => "too_large",
        HttpRefusal::Body(BodyError::TooSlow, _) => "too_slow",
        HttpRefusal::Body(BodyError::Broken, _) => "incomplete",
        HttpRefusal::Full(_) => "too_many_connections",
        HttpRefusal::NotAcceptable | HttpRefusal::Own(_) => "invalid",
    }
}

/// Returns the events of a session as a response.
fn response_of(events: EventConnection) -> Response<Body> {
    let first = Some(Bytes::from(format!("retry: {RETRY_MS}\n\n")));
    event_stream((events, first), async |(mut events, mut first)| {
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
        Some((piece, (events, None)))
    })
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

fn error_body(reason: &str, message: &str, field: Data) -> String {
    let error = Data::dict_of_present([("reason", Data::from(reason)), ("message", message.into()), ("field", field)]);
    Data::dict([("error", error)]).to_json()
}
