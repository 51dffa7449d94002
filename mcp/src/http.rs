//! A server behind a URL: streamable HTTP. Each request is a POST, whose response is a JSON document or a stream of events.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use providers::web::{FailureKind, Method, Opened, Question, ResponseEvents, Web};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::sleep;

use crate::auth::Authorizer;
use crate::error::{McpError, McpErrorKind, excerpt};
use crate::exchange::{Answered, Entered, Exchange, Taken};
use crate::stdio::{EndState, MAX_MESSAGE};

/// The address of a server, and the headers of each request.
#[derive(Clone)]
pub struct HttpEndpoint {
    /// The connections, with the certificates and proxies of all requests.
    pub web: Rc<Web>,
    /// The URL.
    pub url: Arc<str>,
    /// Names and values; they may be secrets.
    pub headers: Vec<(String, String)>,
    /// The source of tokens; `None` if the headers have one.
    pub auth: Option<Rc<Authorizer>>,
}

/// The number of times that a request is sent again with another token.
const MAX_TOKENS: usize = 2;
/// The longest time without a byte in a stream of notifications.
const SILENCE: Duration = Duration::from_secs(3600);
/// The first and the longest pause before a stream of notifications is opened again.
const REOPEN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// The pause before a stream is resumed, unless the server names one, and the shortest one.
const RESUME: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(10));
/// The largest body of an error that is read.
const MAX_ERROR: usize = 64 << 10;
/// The number of messages without an answer that wait to be sent.
const MAX_WAITING: usize = 64;

/// The parts of a connection that its tasks share.
struct HttpShared {
    endpoint: HttpEndpoint,
    exchange: Rc<Exchange>,
    /// The id of the session that the server opened.
    session: RefCell<Option<String>>,
    /// The version, once it is known.
    version: RefCell<Option<Arc<str>>>,
    end: EndState,
}

/// The place in a stream that may be resumed.
#[derive(Default)]
struct StreamPlace {
    /// The id of the last event that has one.
    last_id: Option<String>,
    /// The pause that the server asks for.
    retry: Option<Duration>,
}

impl StreamPlace {
    /// Notes how far a stream has come. A resumed stream may end before an event with an id.
    fn note(&mut self, events: &ResponseEvents) {
        if let Some(id) = events.last_id() {
            self.last_id = Some(id.to_owned());
        }
        self.retry = events.retry().or(self.retry);
    }

    fn headers(&self) -> Vec<(String, String)> {
        self.last_id.iter().map(|id| ("last-event-id".to_owned(), id.clone())).collect()
    }
}

/// The end of a response.
enum ResponseEnd {
    /// The answer has come.
    Answered(Answered),
    /// The stream ended or broke off before the answer.
    Early(McpError),
}

/// The connection to a URL. Nothing is open while no request is under way, except a stream of notifications.
pub(crate) struct HttpLink {
    shared: Rc<HttpShared>,
    outgoing: mpsc::Sender<String>,
    tasks: RefCell<Vec<AbortHandle>>,
}

impl HttpLink {
    pub(crate) fn new(endpoint: HttpEndpoint, exchange: &Rc<Exchange>) -> HttpLink {
        let shared = Rc::new(HttpShared {
            endpoint,
            exchange: exchange.clone(),
            session: RefCell::default(),
            version: RefCell::default(),
            end: EndState::default(),
        });
        let (outgoing, mut waiting) = mpsc::channel::<String>(MAX_WAITING);
        let sender = shared.clone();
        let courier = spawn_local(async move {
            while let Some(text) = waiting.recv().await {
                // A message without an answer: what becomes of it is not known.
                let _ = sender.post(text, Vec::new(), 10_000).await;
            }
        });
        HttpLink { shared, outgoing, tasks: RefCell::new(vec![courier.abort_handle()]) }
    }

    pub(crate) fn end(&self) -> &EndState {
        &self.shared.end
    }

    /// Sets the version that further requests name in a header.
    pub(crate) fn set_version(&self, version: &Arc<str>) {
        *self.shared.version.borrow_mut() = Some(version.clone());
    }

    /// Sends a request and reads its response up to the answer. If the stream of the response ends before, after an event with an
    /// id, it is resumed as often as needed; the request is not sent again.
    pub(crate) async fn exchange(
        &self,
        text: String,
        headers: Vec<(String, String)>,
        mut entered: Entered,
        timeout_ms: u64,
    ) -> Answered {
        let mut opened = self.shared.post(text, headers, timeout_ms).await?;
        if let Some(session) = opened.header("mcp-session-id") {
            *self.shared.session.borrow_mut() = Some(session);
        }
        let mut place = StreamPlace::default();
        loop {
            match self.read_answer(opened, &mut entered, &mut place, timeout_ms).await? {
                ResponseEnd::Answered(answer) => return answer,
                ResponseEnd::Early(error) if place.last_id.is_none() => return Err(error),
                ResponseEnd::Early(_) => opened = self.resume(&place, timeout_ms).await?,
            }
        }
    }

    /// Reads a response up to the answer.
    async fn read_answer(
        &self,
        opened: Opened,
        entered: &mut Entered,
        place: &mut StreamPlace,
        timeout_ms: u64,
    ) -> Result<ResponseEnd, McpError> {
        let early = || self.shared.exchange.invalid("the response ended without an answer to the request");
        if !is_stream(&opened) {
            let body = opened.body(MAX_MESSAGE).await.map_err(|failure| self.shared.failed(&failure))?;
            self.take(&body)?;
            return Ok(match entered.answer.try_recv() {
                Ok(answer) => ResponseEnd::Answered(answer),
                Err(_) => ResponseEnd::Early(early()),
            });
        }
        let mut events = opened.events(Duration::from_millis(timeout_ms), MAX_MESSAGE);
        loop {
            if let Ok(answer) = entered.answer.try_recv() {
                return Ok(ResponseEnd::Answered(answer));
            }
            let event = events.next().await;
            place.note(&events);
            match event {
                Ok(Some(event)) => self.take(event.as_bytes())?,
                Ok(None) => return Ok(ResponseEnd::Early(early())),
                Err(failure) if failure.kind == FailureKind::Connection => {
                    return Ok(ResponseEnd::Early(self.shared.failed(&failure)));
                }
                Err(failure) => return Err(self.shared.failed(&failure)),
            }
        }
    }

    /// Opens a stream again after its last event, once the pause that the server asks for is over. The caller limits the time.
    async fn resume(&self, place: &StreamPlace, timeout_ms: u64) -> Result<Opened, McpError> {
        loop {
            sleep(place.retry.unwrap_or(RESUME.0).max(RESUME.1)).await;
            let question = self.shared.question(Method::Get, String::new(), place.headers(), timeout_ms);
            match self.shared.open(&question).await {
                Ok(opened) => match opened.status() {
                    200..=299 => return Ok(opened),
                    // The server may work again later.
                    408 | 429 | 500..=599 => {}
                    status => {
                        let why =
                            "the response ended without an answer to the request, and its stream cannot be resumed";
                        return Err(self.shared.exchange.invalid(&format!("{why} (HTTP status {status})")));
                    }
                },
                Err(error) if matches!(error.kind, McpErrorKind::Connection | McpErrorKind::Timeout) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a message that has no answer.
    pub(crate) fn send(&self, text: String) {
        let _ = self.outgoing.try_send(text);
    }

    /// Sends a message that has no answer, before anything else.
    pub(crate) async fn send_now(&self, text: String) -> Result<(), McpError> {
        self.shared.post(text, Vec::new(), 10_000).await.map(drop)
    }

    /// Takes a message in the response to a request.
    fn take(&self, message: &[u8]) -> Result<(), McpError> {
        match self.shared.exchange.take(message) {
            Taken::Reply(text) => self.send(text),
            // It belongs to this request alone.
            Taken::Invalid(reason) if !message.trim_ascii().is_empty() => {
                let said = excerpt(String::from_utf8_lossy(&message[..message.len().min(1024)]).trim());
                return Err(self.shared.exchange.invalid(&format!("{reason}: {said}")));
            }
            Taken::Answer | Taken::Quiet | Taken::Invalid(_) => {}
        }
        Ok(())
    }

    /// Follows the notifications of a session, which come on a stream of their own. Not every server has one.
    pub(crate) fn listen(&self) {
        let (shared, replies) = (self.shared.clone(), self.outgoing.clone());
        let task = spawn_local(async move {
            let (mut pause, mut place) = (REOPEN.0, StreamPlace::default());
            while let Some(()) = shared.follow(Method::Get, String::new(), place.headers(), &replies, &mut place).await
            {
                sleep(place.retry.map_or(pause, |retry| retry.max(RESUME.1))).await;
                pause = (pause * 2).min(REOPEN.1);
            }
        });
        self.tasks.borrow_mut().push(task.abort_handle());
    }

    /// Follows the notifications that a request asks for, whose response does not end.
    pub(crate) fn listen_by(&self, text: String, headers: Vec<(String, String)>) {
        let (shared, replies) = (self.shared.clone(), self.outgoing.clone());
        let task = spawn_local(async move {
            let (mut pause, mut place) = (REOPEN.0, StreamPlace::default());
            while let Some(()) = shared.follow(Method::Post, text.clone(), headers.clone(), &replies, &mut place).await
            {
                sleep(pause).await;
                pause = (pause * 2).min(REOPEN.1);
            }
        });
        self.tasks.borrow_mut().push(task.abort_handle());
    }

    /// Tells the server that the session is over.
    pub(crate) async fn close(&self) {
        if self.shared.session.borrow().is_some() {
            let question = self.shared.question(Method::Delete, String::new(), Vec::new(), 1_000);
            let _ = self.shared.open(&question).await;
        }
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        self.tasks.borrow().iter().for_each(AbortHandle::abort);
    }
}

/// Returns whether the body of a response is a stream of events.
fn is_stream(opened: &Opened) -> bool {
    opened.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
}

impl HttpShared {
    fn question(&self, method: Method, text: String, more: Vec<(String, String)>, timeout_ms: u64) -> Question {
        let mut headers = self.endpoint.headers.clone();
        let accept = if method == Method::Get { "text/event-stream" } else { "application/json, text/event-stream" };
        headers.push(("accept".to_owned(), accept.to_owned()));
        if method == Method::Post {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        let version =
            self.version.borrow().as_ref().map(|version| ("mcp-protocol-version".to_owned(), version.to_string()));
        headers.extend(version);
        headers.extend(self.session.borrow().clone().map(|session| ("mcp-session-id".to_owned(), session)));
        headers.extend(more);
        Question { method, url: self.endpoint.url.to_string(), headers, body: text.into_bytes(), timeout_ms }
    }

    async fn post(&self, text: String, more: Vec<(String, String)>, timeout_ms: u64) -> Result<Opened, McpError> {
        let opened = self.open(&self.question(Method::Post, text, more, timeout_ms)).await?;
        match opened.status() {
            200..=299 => Ok(opened),
            _ => Err(self.refused(opened).await),
        }
    }

    /// Sends a request with the token of the server. If it is rejected and there is another one, sends it again.
    async fn open(&self, question: &Question) -> Result<Opened, McpError> {
        let Some(auth) = &self.endpoint.auth else {
            return self.endpoint.web.open(question).await.map_err(|failure| self.failed(&failure));
        };
        for _ in 0..MAX_TOKENS {
            let (opened, used) = self.open_with_token(auth, question).await?;
            let status = opened.status();
            if !matches!(status, 401 | 403) {
                return Ok(opened);
            }
            let challenges = opened.headers("www-authenticate");
            drop(opened);
            auth.rejected(status, &challenges, used.as_deref())
                .await
                .map_err(|error| McpError { status: Some(status), ..error })?;
        }
        self.open_with_token(auth, question).await.map(|(opened, _)| opened)
    }

    async fn open_with_token(
        &self,
        auth: &Authorizer,
        question: &Question,
    ) -> Result<(Opened, Option<String>), McpError> {
        let token = auth.token().await;
        let mut question = question.clone();
        question.headers.extend(token.as_ref().map(|token| ("authorization".to_owned(), format!("Bearer {token}"))));
        let opened = self.endpoint.web.open(&question).await.map_err(|failure| self.failed(&failure))?;
        Ok((opened, token))
    }

    /// Opens a stream of notifications and reads it to its end. Returns `None` if it must not be opened again.
    async fn follow(
        &self,
        method: Method,
        text: String,
        more: Vec<(String, String)>,
        replies: &mpsc::Sender<String>,
        place: &mut StreamPlace,
    ) -> Option<()> {
        let question = self.question(method, text, more, 30_000);
        let opened = match self.open(&question).await {
            Ok(opened) => opened,
            // Without a token, it would be refused again.
            Err(error) if error.status.is_some() => return None,
            Err(_) => return Some(()),
        };
        if !is_stream(&opened) || opened.status() != 200 {
            return None;
        }
        let mut events = opened.events(SILENCE, MAX_MESSAGE);
        while let Ok(Some(event)) = events.next().await {
            match self.exchange.take(event.as_bytes()) {
                Taken::Reply(text) => drop(replies.try_send(text)),
                Taken::Invalid(reason) => {
                    tracing::warn!(server = &*self.exchange.name, reason, "invalid event of an MCP server");
                }
                Taken::Answer | Taken::Quiet => {}
            }
        }
        place.note(&events);
        Some(())
    }

    fn failed(&self, failure: &providers::web::Failure) -> McpError {
        McpError::of_web(&self.exchange.name, failure)
    }

    /// Returns the error for a response whose status is an error.
    async fn refused(&self, opened: Opened) -> McpError {
        let (status, name) = (opened.status(), self.exchange.name.clone());
        let location = opened.header("location");
        let had_session = self.session.borrow().is_some();
        let body = opened.body(MAX_ERROR).await.unwrap_or_default();
        let with_status = |error: McpError| McpError { status: Some(status), ..error };
        if status == 401 || status == 403 {
            let message = format!("MCP server `{name}` rejected the credentials (HTTP status {status})");
            let help = "pass a token with `token_env`, the name of the variable that holds it, or with `headers`";
            return with_status(McpError::new(McpErrorKind::Refused, message).help(help));
        }
        if status == 404 && had_session {
            let message = format!("MCP server `{name}` ended the session");
            let error = with_status(McpError::new(McpErrorKind::Ended, message));
            self.end.set(error.clone(), &self.exchange);
            return error;
        }
        if let Some(location) = location.filter(|_| (300..400).contains(&status)) {
            let message = format!("MCP server `{name}` refers to another server: {}", excerpt(&location));
            return with_status(McpError::new(McpErrorKind::Status, message).help("if that is intended, use its URL"));
        }
        let error = base::data::Data::from_json(&String::from_utf8_lossy(&body)).unwrap_or_default();
        let error = error.get("error");
        if error.get("code").as_int().is_some() {
            return with_status(McpError::of_answer(&name, error));
        }
        let said = excerpt(String::from_utf8_lossy(&body).trim());
        let said = if said.is_empty() { said } else { format!(": {said}") };
        with_status(McpError::new(
            McpErrorKind::Status,
            format!("MCP server `{name}` answered with HTTP status {status}{said}"),
        ))
    }
}
