//! [`Connection`]: one connection to a server, from its handshake to its end.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::data::Data;
use tokio::time::{Instant, sleep_until, timeout};

use crate::client::{ClientSettings, Endpoint};
use crate::error::{McpError, McpErrorKind};
use crate::exchange::{Answered, Entered, Exchange, request_text};
use crate::headers;
use crate::http::HttpLink;
use crate::observer::{CallObserver, Listener, SilentObserver};
use crate::stdio::{EndState, StdioLink};
use crate::version::{
    Era, LEGACY, LEGACY_VERSIONS, STATELESS, ServerInfo, client_capabilities, client_info, request_meta,
};

/// The time that a server has to answer the first question; one that does not know it may say nothing at all.
const PROBE: Duration = Duration::from_secs(5);
/// The maximum number of times that a server may ask for more before it answers a request.
const MAX_ROUNDS: usize = 10;
/// The maximum number of questions in one round.
const MAX_QUESTIONS: usize = 16;
/// A request that reports progress may take this many times its timeout.
const MAX_EXTENSIONS: u32 = 10;
/// The error of a server that does not know the version.
const UNSUPPORTED_VERSION: i64 = -32022;

enum Link {
    Stdio(StdioLink),
    Http(HttpLink),
}

/// A request as the caller states it.
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Data,
    /// Arguments that are repeated in headers.
    pub(crate) mirrored: Vec<(String, String)>,
    pub(crate) timeout: Duration,
    pub(crate) observer: &'a dyn CallObserver,
}

/// A connection to a server.
pub(crate) struct Connection {
    exchange: Rc<Exchange>,
    link: Link,
    pub(crate) info: ServerInfo,
    /// The `_meta` of each request; nil in a session.
    meta: Data,
}

/// The connection before its version is known.
struct Opening<'a> {
    settings: &'a ClientSettings,
    connection: Connection,
}

impl Connection {
    /// Starts or contacts the server and agrees on a version. `known` is the form that it spoke before.
    pub(crate) async fn open(
        settings: &ClientSettings,
        endpoint: &Endpoint,
        listener: &Rc<dyn Listener>,
        known: Option<Era>,
    ) -> Result<Connection, McpError> {
        let wanted = settings.era.or(known);
        let opening = Opening::new(settings, endpoint, listener)?;
        if wanted == Some(Era::Sessions) {
            return opening.initialize().await;
        }
        let (opening, refusal) = match opening.discover().await {
            Ok(connection) => return Ok(connection),
            Err((_, error)) if settings.era == Some(Era::Stateless) || !may_be_older(&error) => return Err(error),
            Err(refused) => refused,
        };
        // An older server may end because of a request that it does not expect.
        let opening = match opening.connection.end().error() {
            Some(_) => Opening::new(settings, endpoint, listener)?,
            None => opening,
        };
        opening.initialize().await.map_err(|error| match error.kind {
            // Both failed: the first says more if the server is not one at all.
            McpErrorKind::Status if refusal.kind == McpErrorKind::Status => refusal,
            _ => error,
        })
    }

    pub(crate) fn end(&self) -> &EndState {
        match &self.link {
            Link::Stdio(link) => link.end(),
            Link::Http(link) => link.end(),
        }
    }

    /// Ends the connection in order.
    pub(crate) async fn close(&self) {
        match &self.link {
            Link::Stdio(link) => link.close().await,
            Link::Http(link) => link.close().await,
        }
    }

    fn send(&self, text: String) {
        match &self.link {
            Link::Stdio(link) => link.send(text),
            Link::Http(link) => link.send(text),
        }
    }

    /// Sends a request and waits for the answer; the server may ask for more first.
    pub(crate) async fn request(&self, call: Call<'_>) -> Answered {
        let mut params = call.params.clone();
        for _ in 0..MAX_ROUNDS {
            let result = self.round(&call, params.clone()).await?;
            if result.get("resultType").as_str() != Some("input_required") {
                return Ok(result);
            }
            params = call.params.clone().with("inputResponses", self.inputs(&result, call.observer).await?);
            if !result.get("requestState").is_nil() {
                params.set("requestState", result.get("requestState").clone());
            }
        }
        Err(self.exchange.invalid(&format!("it asked for input {MAX_ROUNDS} times without an answer")))
    }

    /// Answers the questions in a result that asks for input.
    async fn inputs(&self, result: &Data, observer: &dyn CallObserver) -> Answered {
        let mut replies = Data::empty_dict();
        let asked = result.get("inputRequests").as_dict();
        for (key, question) in asked.into_iter().flat_map(base::data::Entries::iter).take(MAX_QUESTIONS) {
            let method = question.get("method").as_str().unwrap_or_default();
            if method != "elicitation/create" {
                return Err(self
                    .exchange
                    .invalid(&format!("it asks the client for `{method}`, which is not supported")));
            }
            let question = self.exchange.elicitation(question.get("params"));
            replies.set(key.clone(), observer.elicit(&question).await.to_data());
        }
        Ok(replies)
    }

    async fn round(&self, call: &Call<'_>, params: Data) -> Answered {
        let entered = self.exchange.enter();
        let guard = RequestGuard { connection: self, id: entered.id };
        let progress = entered.progress.clone();
        let params = self.with_meta(params, entered.id);
        let mut answer = std::pin::pin!(self.transmit(call, params, entered));
        let (mut until, latest) = (Instant::now() + call.timeout, Instant::now() + call.timeout * MAX_EXTENSIONS);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => {
                    drop(guard);
                    // A report that came together with the answer.
                    let report = progress.latest.borrow_mut().take();
                    if let Some(report) = report {
                        call.observer.progress(&report).await;
                    }
                    return answer;
                }
                () = progress.arrived.notified() => {
                    let report = progress.latest.borrow_mut().take();
                    if let Some(report) = report {
                        until = (Instant::now() + call.timeout).min(latest);
                        call.observer.progress(&report).await;
                    }
                }
                () = self.exchange.asked.notified() => {
                    if let Some(question) = self.exchange.question() {
                        let began = Instant::now();
                        let reply = call.observer.elicit(&question.elicitation).await;
                        self.send(jsonrpc::result(&question.id, &reply.to_data()));
                        // The server waited for the user, not the user for the server.
                        until += began.elapsed();
                    }
                }
                () = sleep_until(until) => {
                    let (name, ms) = (&self.exchange.name, call.timeout.as_millis());
                    let strange = self.exchange.strange();
                    let message = format!("MCP server `{name}` did not answer `{}` within {ms} ms{strange}", call.method);
                    return Err(McpError::new(McpErrorKind::Timeout, message).help("allow more time with `timeout_ms`"));
                }
            }
        }
    }

    fn with_meta(&self, mut params: Data, id: i64) -> Data {
        let own = params.get("_meta").clone();
        let mut meta = self.meta.clone();
        for (key, value) in own.as_dict().into_iter().flat_map(base::data::Entries::iter) {
            meta.set(key.clone(), value.clone());
        }
        meta.set("progressToken", id.into());
        params.set("_meta", meta);
        params
    }

    async fn transmit(&self, call: &Call<'_>, params: Data, entered: Entered) -> Answered {
        match &self.link {
            Link::Stdio(link) => {
                let text = request_text(Some(entered.id), call.method, params);
                link.exchange(text, entered).await
            }
            Link::Http(link) => {
                let headers = self.headers(call.method, &params, &call.mirrored);
                let text = request_text(Some(entered.id), call.method, params);
                let most = call.timeout * (MAX_EXTENSIONS + 1);
                let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
                link.exchange(text, headers, entered, most).await
            }
        }
    }

    fn headers(&self, method: &str, params: &Data, mirrored: &[(String, String)]) -> Vec<(String, String)> {
        match self.info.era {
            Era::Sessions => Vec::new(),
            Era::Stateless => headers::of_request(method, params, mirrored),
        }
    }

    /// Follows changes of lists.
    fn follow_changes(&self) {
        let changes = self.info.capabilities.get("tools").get("listChanged").truthy();
        match (&self.link, self.info.era) {
            (Link::Http(link), Era::Sessions) => link.listen(),
            (link, Era::Stateless) if changes => {
                let filter = Data::dict([("toolsListChanged", Data::from(true))]);
                // Its answer comes when the server ends it, and means nothing.
                let id = self.exchange.enter().id;
                self.exchange.leave(id);
                let params = self.with_meta(Data::dict([("notifications", filter)]), id);
                let headers = self.headers("subscriptions/listen", &params, &[]);
                let text = request_text(Some(id), "subscriptions/listen", params);
                match link {
                    Link::Stdio(link) => link.send(text),
                    Link::Http(link) => link.listen_by(text, headers),
                }
            }
            _ => {}
        }
    }
}

/// A request that was sent. If the caller gives it up, the server is told to stop.
struct RequestGuard<'a> {
    connection: &'a Connection,
    id: i64,
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        if !self.connection.exchange.leave(self.id) {
            return;
        }
        // Without sessions, HTTP has the end of the connection for this.
        if matches!(self.connection.link, Link::Http(_)) && self.connection.info.era == Era::Stateless {
            return;
        }
        let reason = Data::from("the client no longer waits for the answer");
        let params = Data::dict([("requestId", Data::from(self.id)), ("reason", reason)]);
        self.connection.send(request_text(None, "notifications/cancelled", params));
    }
}

/// Whether an error is what an older server says to `server/discover`.
fn may_be_older(error: &McpError) -> bool {
    match error.kind {
        McpErrorKind::Answer => true,
        McpErrorKind::Timeout | McpErrorKind::Ended | McpErrorKind::Protocol => error.status.is_none(),
        McpErrorKind::Status => error.status.is_some_and(|status| (400..500).contains(&status)),
        _ => false,
    }
}

impl<'a> Opening<'a> {
    fn new(settings: &'a ClientSettings, endpoint: &Endpoint, listener: &Rc<dyn Listener>) -> Result<Self, McpError> {
        let name = &settings.name;
        let exchange = Rc::new(Exchange::new(name.clone(), listener.clone()));
        let link = match endpoint {
            Endpoint::Process(launcher) => {
                let program = launcher.launch().map_err(|why| {
                    McpError::new(McpErrorKind::NotStarted, format!("MCP server `{name}` could not be started: {why}"))
                        .help("check `command`, and write each argument as an entry of `args`")
                })?;
                Link::Stdio(StdioLink::new(program, &exchange))
            }
            Endpoint::Http(endpoint) => Link::Http(HttpLink::new(endpoint.clone(), &exchange)),
        };
        let info = ServerInfo {
            era: Era::Stateless,
            version: STATELESS.into(),
            implementation: Data::Nil,
            capabilities: Data::Nil,
            instructions: None,
        };
        let connection = Connection { exchange, link, info, meta: Data::Nil };
        Ok(Opening { settings, connection })
    }

    fn set_version(&self, version: &str) {
        if let Link::Http(link) = &self.connection.link {
            link.set_version(&version.into());
        }
    }

    async fn ask(&self, method: &str, params: Data, within: Duration) -> Answered {
        let observer = &SilentObserver;
        self.connection
            .round(&Call { method, params: Data::Nil, mirrored: Vec::new(), timeout: within, observer }, params)
            .await
    }

    /// Asks the server about itself, without a session. On failure, the connection may still be used.
    async fn discover(mut self) -> Result<Connection, (Self, McpError)> {
        self.connection.meta = request_meta(self.settings.elicitation, self.settings.reminders);
        self.set_version(STATELESS);
        // Without a known version, a server that says nothing may be an older one.
        let within = match self.settings.era {
            Some(_) => self.settings.start_timeout,
            None => PROBE.min(self.settings.start_timeout),
        };
        let result = match self.ask("server/discover", Data::empty_dict(), within).await {
            Ok(result) => result,
            Err(error) => return Err((self, error)),
        };
        let offered = result.get("supportedVersions");
        let offers = |version: &str| offered.as_list().unwrap_or_default().iter().any(|v| v.as_str() == Some(version));
        if !offers(STATELESS) {
            let message = format!(
                "MCP server `{}` speaks the protocol versions {}, none of which is supported",
                self.settings.name,
                offered.to_json()
            );
            let kind = if LEGACY_VERSIONS.iter().any(|version| offers(version)) {
                McpErrorKind::Answer
            } else {
                McpErrorKind::NoVersion
            };
            let error = McpError { rpc_code: Some(UNSUPPORTED_VERSION), ..McpError::new(kind, message) };
            return Err((self, error));
        }
        Ok(self.opened(
            Era::Stateless,
            STATELESS,
            &result,
            result.get("_meta").get("io.modelcontextprotocol/serverInfo"),
        ))
    }

    /// Opens a session.
    async fn initialize(mut self) -> Result<Connection, McpError> {
        self.connection.info.era = Era::Sessions;
        self.connection.meta = Data::Nil;
        let (elicitation, reminders) = (self.settings.elicitation, self.settings.reminders);
        let params = Data::dict([
            ("protocolVersion", Data::from(LEGACY)),
            ("capabilities", client_capabilities(Era::Sessions, elicitation, reminders)),
            ("clientInfo", client_info()),
        ]);
        if let Link::Http(link) = &self.connection.link {
            link.set_version(&LEGACY.into());
        }
        let result = self.ask("initialize", params, self.settings.start_timeout).await.map_err(|error| {
            let is_late = error.kind == McpErrorKind::Timeout;
            if is_late { error.help("the program may not be an MCP server") } else { error }
        })?;
        let version = result.get("protocolVersion").as_str().unwrap_or_default();
        if !LEGACY_VERSIONS.contains(&version) {
            let name = &self.settings.name;
            let message = format!("MCP server `{name}` speaks protocol version {version:?}, which is not supported");
            return Err(McpError::new(McpErrorKind::NoVersion, message));
        }
        let connection = self.opened(Era::Sessions, version, &result, result.get("serverInfo"));
        let initialized = request_text(None, "notifications/initialized", Data::Nil);
        match &connection.link {
            Link::Stdio(link) => link.send(initialized),
            // Some servers refuse requests that arrive before it.
            Link::Http(link) => {
                link.set_version(&connection.info.version);
                timeout(PROBE, link.send_now(initialized)).await.unwrap_or(Ok(()))?;
            }
        }
        connection.follow_changes();
        Ok(connection)
    }

    fn opened(self, era: Era, version: &str, result: &Data, implementation: &Data) -> Connection {
        let info = ServerInfo {
            era,
            version: Arc::from(version),
            implementation: implementation.clone(),
            capabilities: result.get("capabilities").clone(),
            instructions: result.get("instructions").as_shared_str(),
        };
        tracing::debug!(server = &*self.settings.name, version, "connected to an MCP server");
        let connection = Connection { info, ..self.connection };
        if era == Era::Stateless {
            connection.follow_changes();
        }
        connection
    }
}
