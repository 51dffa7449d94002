//! [`Peer`]: a peer whose card has been read, and calls of its methods.

use std::sync::Arc;
use std::time::Duration;

use a2a::{Frame, ShapeError, Task, Version};
use base::data::Data;
use jsonrpc::{Answer, IdRule, Message, Rules};
use providers::web::{Method as HttpMethod, Opened, Question, Web, too_many_values};

use super::access::{Access, has, shown};
use super::card::{Card, REMINDERS};
use super::stream::Stream;
use super::{ErrorKind, PeerError};

/// The largest body, and the largest event of a stream, in bytes.
pub(crate) const MOST_BODY: usize = 16 << 20;

/// The maximum excerpt of an invalid body in a message, in characters.
const EXCERPT: usize = 120;

/// A peer sends responses, and on a stream notifications. Their ids are not compared: each connection has one request.
const RULES: Rules = Rules { ids: IdRule::Numbers, max_id_len: 16 << 10, positional_params: true, answers: true };

/// Reads a response or a notification. Returns `None` for any other text, and for one that would take far more memory than its bytes.
pub(super) fn read(json: &[u8]) -> Option<Message<Data>> {
    if too_many_values(json) { None } else { jsonrpc::read(json, &RULES).ok() }
}

/// A method of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Send,
    Stream,
    Get,
    Cancel,
    Subscribe,
    InjectReminder,
}

impl Method {
    /// Returns the name of the method in a version.
    fn name(self, version: Version) -> &'static str {
        use Version::{V0_3, V1_0};
        match (self, version) {
            (Method::Send, V1_0) => "SendMessage",
            (Method::Send, V0_3) => "message/send",
            (Method::Stream, V1_0) => "SendStreamingMessage",
            (Method::Stream, V0_3) => "message/stream",
            (Method::Get, V1_0) => "GetTask",
            (Method::Get, V0_3) => "tasks/get",
            (Method::Cancel, V1_0) => "CancelTask",
            (Method::Cancel, V0_3) => "tasks/cancel",
            (Method::Subscribe, V1_0) => "SubscribeToTask",
            (Method::Subscribe, V0_3) => "tasks/resubscribe",
            (Method::InjectReminder, _) => "tasks/inject_reminder",
        }
    }

    /// Returns whether the extensions of an agent apply to the request or its events.
    fn follows_extensions(self) -> bool {
        matches!(self, Method::Send | Method::Stream | Method::Subscribe)
    }
}

/// A peer whose card has been read.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) card: Card,
    pub(crate) access: Access,
}

impl Peer {
    /// Returns the peer's name in messages.
    pub(crate) fn shown(&self) -> String {
        format!("{} at {}", self.card.name, shown(self.card.endpoint.as_str()))
    }

    /// Returns the address of the peer for records: without credentials.
    pub(crate) fn address(&self) -> String {
        shown(self.card.endpoint.as_str())
    }

    /// Calls a method and returns its result.
    pub(crate) async fn call(&self, web: &Web, method: Method, params: Data) -> Result<Data, PeerError> {
        let opened = self.open(web, method, params, false).await?;
        self.result(opened).await
    }

    /// Calls a method whose result is a task, or a message.
    pub(crate) async fn call_for_frame(&self, web: &Web, method: Method, params: Data) -> Result<Frame, PeerError> {
        let result = self.call(web, method, params).await?;
        self.card.version.read_frame_of_peer(&result).map_err(|misfit| self.unfit(&misfit))
    }

    /// Calls a method whose result is a task.
    pub(crate) async fn call_for_task(&self, web: &Web, method: Method, params: Data) -> Result<Task, PeerError> {
        let result = self.call(web, method, params).await?;
        self.card.version.read_task_of_peer(&result).map_err(|misfit| self.unfit(&misfit))
    }

    /// Calls a method whose result is a stream. A peer that answers with one document has said all in it.
    pub(crate) async fn stream(&self, web: &Web, method: Method, params: Data) -> Result<Stream, PeerError> {
        let opened = self.open(web, method, params, true).await?;
        let kind = opened.header("content-type").unwrap_or_default();
        let is_stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
        let until_over = method == Method::Stream;
        if opened.status() == 200 && is_stream {
            let silence = Duration::from_millis(self.access.timeout_ms);
            return Ok(Stream::of_events(self.clone(), opened.events(silence, MOST_BODY), until_over));
        }
        let result = self.result(opened).await?;
        Ok(Stream::of_document(self.clone(), result))
    }

    /// The parameters of what names nothing but a task.
    pub(crate) fn task_params(task_id: &str, history_length: Option<u32>) -> Data {
        let mut params = Data::dict([("id", Data::from(task_id))]);
        if let Some(length) = history_length {
            params.set("historyLength", i64::from(length).into());
        }
        params
    }

    /// Returns the extensions to activate: those that the caller requests, and those that the agent requires.
    ///
    /// # Errors
    /// The agent requires an extension for messages that is neither requested nor supported.
    fn activated(&self, method: Method) -> Result<Vec<Arc<str>>, PeerError> {
        let mut asked = self.access.extensions.clone();
        let required = self.card.required_extensions.iter().filter(|uri| !self.access.extensions.contains(uri));
        let (supported, others): (Vec<_>, Vec<_>) = required.cloned().partition(|uri| **uri == *REMINDERS);
        asked.extend(supported);
        if others.is_empty() || !method.follows_extensions() {
            return Ok(asked);
        }
        let quoted = |mark: char| others.iter().map(|uri| format!("{mark}{uri}{mark}")).collect::<Vec<_>>().join(", ");
        let (what, is) = if others.len() == 1 { ("extension", "is") } else { ("extensions", "are") };
        let message = format!("{} requires the {what} {}, which {is} not supported", self.shown(), quoted('`'));
        Err(PeerError::new(ErrorKind::Extension, message)
            .fact("extensions", others.iter().map(Data::from).collect())
            .help(format!("if your messages follow it, request it with the option `extensions: [{}]`", quoted('"'))))
    }

    async fn open(&self, web: &Web, method: Method, params: Data, streams: bool) -> Result<Opened, PeerError> {
        self.access.allow(&self.card.endpoint)?;
        let version = self.card.version;
        let mut params = params;
        if let Some(tenant) = &self.card.tenant {
            params.set("tenant", tenant.into());
        }
        let body = Data::dict([
            ("jsonrpc", Data::from("2.0")),
            ("id", "1".into()),
            ("method", method.name(version).into()),
            ("params", params),
        ]);
        let mut headers = self.access.secret_headers();
        let accept = if streams { "text/event-stream, application/json" } else { "application/json" };
        let extensions = if version == Version::V1_0 { "a2a-extensions" } else { "x-a2a-extensions" };
        let asked = self.activated(method)?.join(", ");
        for (name, value) in [
            ("content-type", "application/json"),
            ("accept", accept),
            ("a2a-version", version.as_str()),
            (extensions, asked.as_str()),
        ] {
            if !value.is_empty() && !has(&headers, name) {
                headers.push((name.to_owned(), value.to_owned()));
            }
        }
        let question = Question {
            method: HttpMethod::Post,
            url: self.card.endpoint.to_string(),
            headers,
            body: body.to_json().into_bytes(),
            timeout_ms: self.access.timeout_ms,
        };
        web.open(&question).await.map_err(PeerError::from)
    }

    async fn result(&self, opened: Opened) -> Result<Data, PeerError> {
        let (status, location) = (opened.status(), opened.header("location"));
        let refuse = || refused(&self.access, status, location.clone(), &self.shown());
        if matches!(status, 401 | 403) || (300..400).contains(&status) {
            return Err(refuse());
        }
        let body = opened.body(MOST_BODY).await?;
        match read(&body) {
            Some(Message::Answer(Answer { error: Some(error @ Data::Dict(_)), .. })) => Err(self.answered(&error)),
            Some(Message::Answer(Answer { result: Some(result), .. })) => Ok(result),
            _ if !(200..300).contains(&status) => {
                let said = excerpt(&self.access, &body);
                let error = refuse();
                Err(PeerError { message: format!("{}: {said}", error.message), ..error })
            }
            _ => {
                let message =
                    format!("{} did not answer with JSON-RPC: {}", self.shown(), excerpt(&self.access, &body));
                Err(PeerError::new(ErrorKind::NotAgent, message))
            }
        }
    }

    /// An error that the peer answered with.
    pub(super) fn answered(&self, error: &Data) -> PeerError {
        let (code, said) = (
            error.get("code").as_int(),
            error.get("message").as_str().unwrap_or(
                "no reason was \
            given",
            ),
        );
        let said = clipped(&self.access.redact(said), 2_000);
        let message = format!("{} returned an error: {said} ({})", self.shown(), code.unwrap_or_default());
        let data = error.get("data");
        // 1.0 has a list of details there, the versions before it what they like.
        let detail = data.as_list().and_then(|details| details.first()).unwrap_or(data);
        let more = |key: &str| match detail.get("metadata").get(key) {
            Data::Nil => detail.get(key).clone(),
            value => value.clone(),
        };
        let suggestion = more("suggestion");
        let help = suggestion
            .as_str()
            .map(|near| format!("did you mean `{near}`?"))
            .or_else(|| help_of(code).map(str::to_owned));
        let answered = PeerError::new(ErrorKind::Answer, message)
            .fact("rpc_code", code.map_or(Data::Nil, Data::from))
            .fact("rpc_message", said.into())
            .fact("data", data.clone())
            .fact("reason", detail.get("reason").clone())
            .fact("peer_code", more("code"))
            .fact("field", more("field"))
            .fact("suggestion", suggestion);
        match help {
            Some(help) => answered.help(help),
            None => answered,
        }
    }

    /// An answer that is not of the shape that the version promises.
    pub(super) fn unfit(&self, misfit: &ShapeError) -> PeerError {
        let at = if misfit.field.is_empty() { String::new() } else { format!("`{}`: ", misfit.field) };
        let version = self.card.version.as_str();
        let message =
            format!("the response of {} does not match version {version}: {at}{}", self.shown(), misfit.message);
        PeerError::new(ErrorKind::NotAgent, message)
            .fact("field", if misfit.field.is_empty() { Data::Nil } else { misfit.field.as_str().into() })
            .help("select another version of its card with the option `version`")
    }
}

fn help_of(code: Option<i64>) -> Option<&'static str> {
    Some(match code? {
        -32001 => "the agent does not have a task with this id, or no longer keeps it",
        -32002 => "the task is over: read its state with `a2a.get`",
        -32004 => "read the task's state with `a2a.get`: a task that is over does not accept messages",
        -32008 => "the agent requires an extension: see `capabilities.extensions` of its card",
        -32601 => "the agent does not support this method",
        _ => return None,
    })
}

/// A status that says no, or elsewhere.
pub(super) fn refused(access: &Access, status: u16, location: Option<String>, who: &str) -> PeerError {
    let code = Data::from(i64::from(status));
    match (status, location) {
        (401 | 403, _) => {
            let (what, help) = match (&access.token, status) {
                (None, 401) => (
                    "requires a token",
                    "pass one with the option `token`, or `token_env: \"NAME\"` for a variable that holds it",
                ),
                (_, 401) => ("rejected the token", "check that the token is correct and has not expired"),
                _ => ("denied access", "check what the token is allowed to do"),
            };
            PeerError::new(ErrorKind::Refused, format!("{who} {what} ({status})")).fact("status", code).help(help)
        }
        (300..=399, Some(location)) => {
            PeerError::new(ErrorKind::Moved, format!("{who} redirects to {}, another server", shown(&location)))
                .fact("status", code)
                .fact("location", location.as_str().into())
                .help("if that is intended, use that URL")
        }
        _ => PeerError::new(ErrorKind::Status, format!("{who} answered {status}"))
            .fact("status", code)
            .help("check the agent's log, or try again later"),
    }
}

/// The beginning of a body, for a message.
pub(super) fn excerpt(access: &Access, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * EXCERPT)]);
    let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    if text.is_empty() { "nothing".to_owned() } else { clipped(&access.redact(&text), EXCERPT) }
}

fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
