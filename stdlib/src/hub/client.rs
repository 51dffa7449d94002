//! [`HubConnection`]: requests to a hub as one agent.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hub::Hub;
use hub::broker::BrokerOptions;
use hub::grpc::{LEASE, OPERATION, routes};
use hub::proto::agenthub::RegisterAgentRequest;
use hub::proto::agenthub::agent_hub_client::AgentHubClient;
use hub::proto::worker::hub_worker_client::HubWorkerClient;
use hub::proto::worker::{ListAgentsRequest, RenewRequest};
use lang::value::{HostBox, HostObject, Str, Value};
use lang::vm::Raise;
use runtime::spans::TraceContext;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, StdError, http};
use tonic::service::Routes;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Response, Status};
use uuid::Uuid;

use super::renewal::{LeaseRenewal, RenewalRequests};
use crate::codes::HubClientCode;
use crate::output::Output;

/// The first and the longest pause between two attempts.
pub(super) const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// The time for which the first request is retried if the option `timeout_ms` is not set: a hub may be starting, but a wrong
/// address is reported soon.
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);

/// The time for which a request is retried if the option `timeout_ms` is not set, once the hub has answered.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The time after which a line says that the first answer of a hub takes long, and the longest wait for it.
const FIRST_ANSWER: (Duration, Duration) = (Duration::from_millis(1_500), Duration::from_secs(10));

/// The maximum size of a response in bytes: a page of tasks, each of which can have 16 MiB.
const MAX_RESPONSE: usize = 64 << 20;

/// The transport to a hub.
#[derive(Clone)]
pub(crate) enum Transport {
    /// Over gRPC.
    Remote(Channel),
    /// In this process.
    Local(Routes),
}

impl Service<http::Request<Body>> for Transport {
    type Response = http::Response<Body>;
    type Error = StdError;
    type Future = BoxFuture<Self::Response, StdError>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        match self {
            Transport::Remote(channel) => Service::poll_ready(channel, cx).map_err(Into::into),
            Transport::Local(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match self {
            Transport::Remote(channel) => {
                let response = channel.call(request);
                Box::pin(async move { response.await.map_err(Into::into) })
            }
            Transport::Local(routes) => {
                let response = routes.call(request);
                Box::pin(async move { response.await.map_err(|never| match never {}) })
            }
        }
    }
}

impl Transport {
    /// Returns the transport to the hub of this process, and creates the hub if there is none.
    pub(crate) fn local(hub: &std::cell::OnceCell<Hub>) -> Transport {
        let hub = hub.get_or_init(|| {
            let hub = Hub::memory(BrokerOptions::default());
            // It ends with the last clone of the hub.
            tokio::spawn(hub.drive());
            hub
        });
        Transport::Local(routes(hub))
    }

    /// Returns the transport to a hub over gRPC. Connections are opened when they are needed.
    pub(crate) fn remote(url: &str, ca: Option<Vec<u8>>) -> Result<Transport, String> {
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|error| describe(&error))?;
        let endpoint = endpoint.connect_timeout(Duration::from_secs(10)).http2_keep_alive_interval(KEEPALIVE);
        let endpoint = if url.starts_with("https://") {
            let tls = match ca {
                Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
                None => ClientTlsConfig::new().trust_anchors(providers::trusted_roots().roots),
            };
            endpoint.tls_config(tls).map_err(|error| describe(&error))?
        } else {
            endpoint
        };
        Ok(Transport::Remote(endpoint.connect_lazy()))
    }
}

/// The interval of checks of an open connection.
const KEEPALIVE: Duration = Duration::from_secs(30);

fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

/// The settings of a connection.
pub(crate) struct ConnectSettings {
    pub(crate) transport: Transport,
    /// The URL, or `local`.
    pub(crate) url: Arc<str>,
    pub(crate) token: Option<Arc<str>>,
    pub(crate) agent: Option<Arc<str>>,
    /// The time for which a request is retried; `None` means the default.
    pub(crate) timeout: Option<Duration>,
    /// Shows that the hub is not reachable.
    pub(crate) output: Rc<dyn Output>,
}

/// The state of a connection.
#[derive(Default)]
struct ConnectionState {
    agent: RefCell<Option<Arc<str>>>,
    /// The last registration of the agent over this connection.
    registration: RefCell<Option<RegisterAgentRequest>>,
    /// Whether the hub has answered once.
    is_reached: Cell<bool>,
    /// Whether it did not answer last, which was reported.
    is_lost: Cell<bool>,
}

/// A connection to a hub, which acts as one agent.
pub(crate) struct HubConnection {
    settings: Rc<ConnectSettings>,
    state: Rc<ConnectionState>,
    /// The span that makes the requests.
    trace: Option<TraceContext>,
}

impl HubConnection {
    pub(crate) fn new(mut settings: ConnectSettings) -> HubConnection {
        let agent = RefCell::new(settings.agent.take());
        let state = Rc::new(ConnectionState { agent, ..ConnectionState::default() });
        HubConnection { settings: Rc::new(settings), state, trace: None }
    }

    /// Returns the same connection for the requests of a span.
    pub(crate) fn traced(&self, trace: Option<TraceContext>) -> Rc<HubConnection> {
        Rc::new(HubConnection { settings: self.settings.clone(), state: self.state.clone(), trace })
    }

    pub(crate) fn url(&self) -> &Arc<str> {
        &self.settings.url
    }

    /// Returns the agent as which it acts, if it is known.
    pub(crate) fn agent(&self) -> Option<Arc<str>> {
        self.state.agent.borrow().clone()
    }

    /// Returns the agent for a request. The hub knows it by the token, if there is one.
    pub(crate) fn acting(&self) -> Result<String, Box<Raise>> {
        match (self.agent(), &self.settings.token) {
            (Some(agent), _) => Ok(agent.to_string()),
            (None, Some(_)) => Ok(String::new()),
            (None, None) => Err(Raise::error(HubClientCode::NoAgent, "this connection acts as no agent yet")
                .help("call `register` first, or pass the option `agent` when you connect")),
        }
    }

    /// Makes it act as an agent that was registered, and keeps the registration.
    pub(crate) fn registered(&self, agent: &str, registration: RegisterAgentRequest) {
        *self.state.agent.borrow_mut() = Some(agent.into());
        *self.state.registration.borrow_mut() = Some(registration);
    }

    /// Forgets the registration.
    pub(crate) fn unregistered(&self) {
        *self.state.registration.borrow_mut() = None;
    }

    /// Begins to renew the lease of a task.
    pub(crate) fn renew(&self, request: RenewRequest, lease: Duration, renew_for: Duration) -> Arc<LeaseRenewal> {
        let ConnectSettings { transport, token, .. } = &*self.settings;
        let requests = RenewalRequests { transport: transport.clone(), token: token.clone(), request };
        LeaseRenewal::start(requests, lease, renew_for)
    }

    pub(crate) fn hub(&self) -> AgentHubClient<Transport> {
        AgentHubClient::new(self.settings.transport.clone()).max_decoding_message_size(MAX_RESPONSE)
    }

    pub(crate) fn worker(&self) -> HubWorkerClient<Transport> {
        HubWorkerClient::new(self.settings.transport.clone()).max_decoding_message_size(MAX_RESPONSE)
    }

    /// Returns a request with the token and the trace.
    pub(crate) fn signed<T>(&self, message: T) -> Result<Request<T>, Status> {
        let mut request = Request::new(message);
        sign(&mut request, self.settings.token.as_deref())?;
        if let Some(value) = self.trace.and_then(|trace| trace.traceparent().parse().ok()) {
            request.metadata_mut().insert("traceparent", value);
        }
        Ok(request)
    }

    /// Sends a request, and retries while the hub cannot be reached. Every attempt has the same id, so that the hub does
    /// not execute a request again whose response was lost. The lease is that of a task, if the message has no field for it.
    pub(crate) async fn call<T, R, F>(
        &self,
        message: T,
        lease: Option<&str>,
        send: impl Fn(Request<T>) -> F,
    ) -> Result<R, Box<Raise>>
    where
        T: Clone,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        let operation = new_operation();
        let send = &send;
        self.retry(|| {
            let request = self.signed(message.clone()).and_then(|mut request| {
                add(&mut request, OPERATION, &operation)?;
                lease.map_or(Ok(()), |lease| add(&mut request, LEASE, lease))?;
                Ok(request)
            });
            async move { send(request?).await.map(Response::into_inner) }
        })
        .await
        .map_err(|status| of_status(self.url(), &status))
    }

    /// Repeats an attempt while the hub cannot be reached, until the timeout of the connection.
    pub(crate) async fn retry<R, F>(&self, attempt: impl Fn() -> F) -> Result<R, Status>
    where
        F: Future<Output = Result<R, Status>>,
    {
        let mut lost = LostTime { begun: Instant::now(), lost: None, pause: PAUSES.0 };
        loop {
            let result = match self.prepare().await {
                Ok(()) => attempt().await,
                Err(status) => Err(status),
            };
            match result {
                Err(status) if is_transient(&status) => self.pause(&mut lost, status).await?,
                answered => {
                    if !is_unreachable(answered.as_ref().err()) {
                        self.note_answer();
                    }
                    return answered;
                }
            }
        }
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// The timeout leaves no time for one: the error of the last attempt.
    async fn pause(&self, time: &mut LostTime, status: Status) -> Result<(), Status> {
        // A request may wait for long before its connection is lost; the first one only finds out whether there is a hub.
        let is_reached = self.state.is_reached.get();
        let since = if is_reached { *time.lost.get_or_insert_with(Instant::now) } else { time.begun };
        let timeout = self.timeout();
        if since.elapsed() + time.pause > timeout {
            return Err(status);
        }
        if is_reached || self.settings.timeout.is_some() {
            let rest = timeout.saturating_sub(since.elapsed()).as_secs_f64().ceil();
            self.note_loss(&status, format_args!("retrying for {rest} s"));
        }
        tokio::time::sleep(time.pause).await;
        time.pause = (time.pause * 2).min(PAUSES.1);
        Ok(())
    }

    /// Returns the time for which a request is retried now.
    fn timeout(&self) -> Duration {
        let usual = if self.state.is_reached.get() { TIMEOUT } else { FIRST_TIMEOUT };
        self.settings.timeout.unwrap_or(usual)
    }

    /// Prepares a request: the first one finds out whether the hub answers at all, since others may wait for long. After a
    /// lost connection, the agent is registered again: a hub without a store forgot it when it was restarted.
    pub(crate) async fn prepare(&self) -> Result<(), Status> {
        if matches!(self.settings.transport, Transport::Local(_)) {
            return Ok(());
        }
        let is_known = self.state.is_reached.get() && !self.state.is_lost.get();
        if !is_known && !self.register_again().await? {
            self.first_answer().await?;
        }
        self.note_answer();
        Ok(())
    }

    /// Sends a request that the hub answers at once.
    async fn first_answer(&self) -> Result<(), Status> {
        let (slow, longest) = FIRST_ANSWER;
        let longest = self.settings.timeout.map_or(longest, |timeout| timeout.min(longest));
        let request = self.signed(ListAgentsRequest { page_size: 1, page_token: String::new() })?;
        let mut worker = self.worker();
        let answer = worker.list_agents(request);
        let waits = async {
            let seconds = longest.as_secs_f64();
            let shown = slow.min(longest);
            tokio::time::sleep(shown).await;
            if shown < longest {
                self.say(format_args!("the hub {} has not answered yet; waiting for at most {seconds} s", self.url()));
                tokio::time::sleep(longest - shown).await;
            }
            let why = std::io::Error::new(std::io::ErrorKind::TimedOut, format!("no answer within {seconds} s"));
            Err(Status::from_error(Box::new(why)))
        };
        let answer = tokio::select! {
            answer = answer => answer.map(drop),
            never = waits => never,
        };
        match answer {
            Err(status) if is_unreachable(Some(&status)) => Err(status),
            // The request itself reports what the hub refuses.
            _ => Ok(()),
        }
    }

    /// Registers the agent of the connection again. Returns whether it was registered over this connection.
    pub(crate) async fn register_again(&self) -> Result<bool, Status> {
        let Some(registration) = self.state.registration.borrow().clone() else { return Ok(false) };
        let request = self.signed(registration)?;
        self.hub().register_agent(request).await?;
        Ok(true)
    }

    /// Repeats an attempt like [`HubConnection::retry`]. If the hub does not know the agent of the connection any more, it
    /// is registered again, once.
    pub(crate) async fn retry_as_agent<R, F>(&self, attempt: impl Fn() -> F) -> Result<R, Box<Raise>>
    where
        F: Future<Output = Result<R, Status>>,
    {
        let refused = |status: Status| of_status(self.url(), &status);
        match self.retry(&attempt).await {
            Err(status) if status.code() == Code::NotFound => {
                if !self.register_again().await.map_err(refused)? {
                    return Err(refused(status));
                }
                let agent = self.agent().unwrap_or_default();
                let url = self.url();
                self.say(format_args!("the hub {url} did not know the agent `{agent}`: it was registered again"));
                self.retry(attempt).await.map_err(refused)
            }
            result => result.map_err(refused),
        }
    }

    /// Notes that the hub answered, and reports it if it did not before.
    pub(crate) fn note_answer(&self) {
        self.state.is_reached.set(true);
        if self.state.is_lost.replace(false) {
            self.say(format_args!("the hub {} is reachable again", self.url()));
        }
    }

    /// Notes that the hub did not answer, and reports it once until it does.
    pub(crate) fn note_loss(&self, status: &Status, what_follows: std::fmt::Arguments<'_>) {
        if !self.state.is_lost.replace(true) {
            self.say(format_args!("{}; {what_follows}", unreachable(self.url(), status)));
        }
    }

    fn say(&self, text: std::fmt::Arguments<'_>) {
        self.settings.output.err(&format!("harn: {text}\n"));
    }
}

/// The time that a request has been without an answer.
struct LostTime {
    begun: Instant,
    /// Since when the hub that was reached is lost.
    lost: Option<Instant>,
    /// The pause before the next attempt.
    pause: Duration,
}

/// Returns the id of a request, which its attempts share.
pub(super) fn new_operation() -> String {
    format!("op_{}", Uuid::now_v7().simple())
}

/// Adds metadata to a request.
pub(super) fn add<T>(request: &mut Request<T>, key: &'static str, text: &str) -> Result<(), Status> {
    let value = text.parse().map_err(|_| Status::invalid_argument(format!("invalid metadata `{key}`")))?;
    request.metadata_mut().insert(key, value);
    Ok(())
}

/// Adds the token to a request.
pub(super) fn sign<T>(request: &mut Request<T>, token: Option<&str>) -> Result<(), Status> {
    if let Some(token) = token {
        let value = format!("Bearer {token}").parse();
        let value = value.map_err(|_| Status::unauthenticated("the token contains invalid characters"))?;
        request.metadata_mut().insert("authorization", value);
    }
    Ok(())
}

/// Returns whether the same request may succeed later: the hub is not reachable, or restarts.
pub(super) fn is_transient(status: &Status) -> bool {
    is_unreachable(Some(status)) && !is_untrusted(status)
}

fn is_unreachable(status: Option<&Status>) -> bool {
    status.is_some_and(|status| {
        status.code() == Code::Unavailable || (status.code() == Code::Unknown && has_source(status))
    })
}

/// Returns whether a status is an error of this side, and not an answer.
fn has_source(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
}

/// Returns the sentence about a hub that does not answer, or cannot serve requests now.
fn unreachable(url: &str, status: &Status) -> String {
    let Some(mut cause) = std::error::Error::source(status) else {
        return format!("the hub {url} cannot serve requests: {}", status.message());
    };
    // The innermost error is that of the system; those around it repeat it.
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    format!("the hub {url} is not reachable: {cause}")
}

/// Returns whether the certificate of the hub was refused.
fn is_untrusted(status: &Status) -> bool {
    // The words of `rustls`, whose errors are hidden below those of the transport.
    std::error::Error::source(status).is_some_and(|source| describe(source).contains("invalid peer certificate"))
}

/// Returns an error of a hub as a raise.
pub(crate) fn of_status(url: &str, status: &Status) -> Box<Raise> {
    let code = match status.code() {
        _ if is_unreachable(Some(status)) => HubClientCode::Unreachable,
        Code::Aborted => HubClientCode::LeaseLost,
        Code::Unauthenticated | Code::PermissionDenied => HubClientCode::Credentials,
        Code::Unimplemented | Code::Internal => HubClientCode::Unreachable,
        _ => HubClientCode::Refused,
    };
    let category = category(status.code());
    let message = match code {
        HubClientCode::Unreachable => unreachable(url, status),
        _ => status.message().to_owned(),
    };
    let raise = Raise::error(code, message).field("category", category);
    match code {
        HubClientCode::Unreachable if is_untrusted(status) => {
            raise.help("set `ca_file` to the certificate of the authority that signed the hub's certificate")
        }
        // A hub that says why it cannot serve requests is one.
        HubClientCode::Unreachable if status.code() == Code::Unavailable && !has_source(status) => raise,
        HubClientCode::Unreachable => raise.help("check the URL, and that `harn serve hub` is running"),
        HubClientCode::LeaseLost => raise.help("stop the work on this task: another attempt may be running"),
        _ => raise,
    }
}

/// Returns the name of a code of gRPC in snake_case.
fn category(code: Code) -> &'static str {
    match code {
        Code::NotFound => "not_found",
        Code::InvalidArgument => "invalid_argument",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::PermissionDenied => "permission_denied",
        Code::Unauthenticated => "unauthenticated",
        Code::ResourceExhausted => "resource_exhausted",
        Code::OutOfRange => "out_of_range",
        Code::Unavailable => "unavailable",
        Code::AlreadyExists => "already_exists",
        Code::DeadlineExceeded => "deadline_exceeded",
        _ => "unknown",
    }
}

/// Returns the error of an unexpected response.
pub(crate) fn incomplete(url: &str, field: impl Display) -> Box<Raise> {
    Raise::error(HubClientCode::Unreachable, format!("the hub {url} sent a response without `{field}`"))
}

/// A connection as a value.
pub(crate) struct HubValue(pub(crate) Rc<HubConnection>);

impl HubValue {
    pub(crate) fn value(connection: Rc<HubConnection>) -> Value {
        HostBox::value(HubValue(connection))
    }
}

impl HostObject for HubValue {
    fn type_name(&self) -> &'static str {
        "hub"
    }

    fn get(&self, key: &str) -> Option<Value> {
        match key {
            "agent" => Some(self.0.agent().map_or(Value::Nil, |agent| Value::str(&agent))),
            "url" => Some(Value::str(self.0.url())),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<Str> {
        vec![Str::new("agent"), Str::new("url")]
    }

    fn size(&self) -> Option<usize> {
        Some(2)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Captured;

    fn connection(output: &Rc<Captured>, timeout: Option<Duration>) -> HubConnection {
        let transport = Transport::Local(routes(&Hub::memory(BrokerOptions::default())));
        let output: Rc<dyn Output> = output.clone();
        HubConnection::new(ConnectSettings {
            transport,
            url: "http://hub".into(),
            token: None,
            agent: None,
            timeout,
            output,
        })
    }

    #[test]
    fn the_first_request_is_given_up_soon_unless_an_option_says_otherwise() {
        let usual = connection(&Rc::default(), None);
        assert!(usual.timeout() < Duration::from_secs(2));
        usual.note_answer();
        assert_eq!(usual.timeout(), TIMEOUT);
        let patient = connection(&Rc::default(), Some(Duration::from_secs(90)));
        assert_eq!(patient.timeout(), Duration::from_secs(90));
    }

    #[test]
    fn an_outage_is_reported_when_it_begins_and_when_it_ends() {
        let output = Rc::new(Captured::default());
        let hub = connection(&output, None);
        let refused = || Status::from_error(Box::new(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)));
        for _ in 0..2 {
            hub.note_loss(&refused(), format_args!("retrying for 30 s"));
        }
        hub.note_answer();
        hub.note_answer();
        hub.note_loss(&Status::unavailable("the hub is shutting down"), format_args!("the stream waits for it"));
        let expected = [
            "harn: the hub http://hub is not reachable: connection refused; retrying for 30 s",
            "harn: the hub http://hub is reachable again",
            "harn: the hub http://hub cannot serve requests: the hub is shutting down; the stream waits for it",
        ];
        assert_eq!(output.stderr().lines().collect::<Vec<_>>(), expected);
    }
}
