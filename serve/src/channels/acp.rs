//! [`AcpChannel`]: ACP over a WebSocket, for the sessions that channels share.
//!
//! Requests become actions, as those of any other channel. Updates are made from the records of the log alone, in their
//! order, and each has its cursor in `_meta.harn.sequence`: a client that resumes after it misses nothing and gets
//! nothing twice. A prompt is answered by the record of its end, after all updates of the turn.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use jsonrpc::{Answer, Id, IdRule, Message as Envelope, Request, Rules};
use runtime::data::Data;
use runtime::event_log::{Record, Topic};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message};

use super::connection::ChannelConnection;
use super::daemon::ChannelDaemon;
use super::events::{EventReader, ReadEvents};
use super::feed::{ChannelFrame, FrameOrigin};
use super::ingress::ActionReceipt;
use super::{
    Action, ActionError, ActionKind, ActionStatus, ChannelEvent, ChannelScope, ChannelTransport, DisconnectReason,
    EnrolledChannel, EventEnvelope, RecordedChannelEvent, websocket,
};
use crate::acp::error::ErrorResponse;
use crate::acp::params::Params;
use crate::acp::update::{ReminderUpdates, UpdateConverter, WantedUpdates};
use crate::acp::{content, initialize, mode, permission};
use crate::host::{HostError, Verdict};
use crate::store::shown_event;

/// Messages of ACP.
const RULES: Rules = Rules { ids: IdRule::Integers, max_id_len: 256, positional_params: false, answers: true };

/// The supported requests.
const REQUESTS: [&str; 9] = [
    "initialize",
    "session/new",
    "session/load",
    "session/resume",
    "session/list",
    "session/prompt",
    "session/set_mode",
    "session/close",
    RESUME,
];

/// Continues the events of a session after a cursor.
const RESUME: &str = "_channel/resume";
/// An event that ACP has no update for.
const EVENT: &str = "_channel/event";

/// The maximum number of requests that are executed at one time. No more input is taken meanwhile.
const MAX_REQUESTS: usize = 64;
/// The maximum number of sessions of a connection.
const MAX_SESSIONS: usize = 64;
/// The number of missed pongs after which a client is gone.
const MISSED: u32 = 3;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// A client of ACP.
pub(super) struct AcpChannel {
    daemon: Arc<ChannelDaemon>,
    channel: Arc<EnrolledChannel>,
    connection_id: Arc<str>,
    is_initialized: bool,
    /// Whether the client wants the events that ACP has no update for.
    wants_events: bool,
    wants: WantedUpdates,
    sessions: HashMap<Arc<str>, AttachedSession>,
    news: mpsc::Sender<SessionNews>,
    work: JoinSet<WorkDone>,
    /// The questions to the client, by the ids of the requests.
    asked: HashMap<i64, AskedPermission>,
    last_request: i64,
    last_action: u64,
    out: Vec<String>,
}

/// A session whose events the client gets.
struct AttachedSession {
    connection: ChannelConnection,
    updates: UpdateConverter,
    pump: AbortHandle,
    /// The number of its attachment: a session can be attached again.
    number: u64,
    /// The request that is answered once the events up to a cursor were sent.
    loading: Option<(Id, Value, u64)>,
    prompts: Vec<PendingPrompt>,
}

impl Drop for AttachedSession {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

/// A prompt that has no answer yet.
struct PendingPrompt {
    id: Id,
    /// The name of its action in records.
    action: String,
    /// Its turn, once its record came.
    turn_id: Option<Arc<str>>,
    /// Whether the action was known before, so that its record may have come before this connection.
    is_repeat: bool,
}

/// A question to the client.
struct AskedPermission {
    session_id: Arc<str>,
    request: Arc<str>,
}

/// Events of a session.
struct SessionNews {
    session_id: Arc<str>,
    number: u64,
    read: Result<ReadEvents, ActionError>,
    cursor: u64,
}

/// A request that was executed.
enum WorkDone {
    Answered(Id, Result<Value, ErrorResponse>),
    /// A session was opened, loaded or resumed.
    Attach {
        id: Id,
        session_id: Arc<str>,
        cwd: PathBuf,
        after: u64,
        resumed: bool,
        answer: Value,
        load: Option<u64>,
    },
    /// A session that the client did not attach is attached before its prompt is submitted.
    Reached {
        id: Id,
        action: Action,
        session_id: Arc<str>,
        head: u64,
    },
    Prompted {
        id: Id,
        session_id: Arc<str>,
        receipt: Result<ActionReceipt, ActionError>,
    },
    /// A notification, or an answer to a question.
    Nothing,
}

/// The reason for the end of a connection.
struct ConnectionEnd {
    reason: DisconnectReason,
    code: CloseCode,
    text: String,
}

impl ConnectionEnd {
    fn new(reason: DisconnectReason, code: CloseCode, text: impl Into<String>) -> ConnectionEnd {
        ConnectionEnd { reason, code, text: text.into() }
    }
}

/// Serves a client until its connection ends.
pub(super) async fn serve(
    daemon: Arc<ChannelDaemon>,
    channel: Arc<EnrolledChannel>,
    connection_id: Arc<str>,
    mut socket: Socket,
) {
    let transport = ChannelTransport::WebSocket;
    let mut connection = ChannelConnection::begin(&daemon, &channel, None, transport, Some("acp"), None);
    let heartbeat = daemon.limits.heartbeat;
    let (news, mut came) = mpsc::channel(1);
    let mut acp = AcpChannel {
        daemon,
        channel,
        connection_id,
        is_initialized: false,
        wants_events: false,
        wants: WantedUpdates::default(),
        sessions: HashMap::new(),
        news,
        work: JoinSet::new(),
        asked: HashMap::new(),
        last_request: 0,
        last_action: 0,
        out: Vec::new(),
    };
    let mut missed = 0;
    let mut pulse = tokio::time::interval(heartbeat);
    pulse.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let end = loop {
        if let Err(end) = acp.flush(&mut socket).await {
            break end;
        }
        tokio::select! {
            biased;
            reason = connection.closed() => {
                let code = if reason == DisconnectReason::Stopping { CloseCode::Away } else { CloseCode::Policy };
                break ConnectionEnd::new(reason, code, reason.as_str());
            }
            done = acp.work.join_next(), if !acp.work.is_empty() => {
                // A panic or an abort of a request answers nothing.
                if let Some(Ok(done)) = done {
                    acp.finish(done);
                }
            }
            Some(news) = came.recv() => {
                if let Err(end) = acp.take_news(news) {
                    break end;
                }
            }
            message = socket.next(), if acp.work.len() < MAX_REQUESTS => {
                missed = 0;
                match message {
                    Some(Ok(Message::Text(text))) => acp.receive(&text),
                    Some(Ok(Message::Close(_))) | None => {
                        break ConnectionEnd::new(DisconnectReason::Closed, CloseCode::Normal, "");
                    }
                    // Pings are answered by the crate; binary frames are ignored, as the draft says.
                    Some(Ok(_)) => acp.seen(),
                    Some(Err(error)) => {
                        let text = format!("invalid frame: {error}");
                        break ConnectionEnd::new(DisconnectReason::Protocol, CloseCode::Protocol, text);
                    }
                }
            }
            _ = pulse.tick() => {
                missed += 1;
                if missed > MISSED {
                    break ConnectionEnd::new(DisconnectReason::Stale, CloseCode::Away, "no pong");
                }
                if send(&mut socket, Message::Ping(Vec::new().into())).await.is_err() {
                    break ConnectionEnd::new(DisconnectReason::Slow, CloseCode::Again, "slow");
                }
            }
        }
    };
    connection.reason = end.reason;
    for attached in acp.sessions.values_mut() {
        attached.connection.reason = end.reason;
    }
    let frame = CloseFrame { code: end.code, reason: clipped(&end.text).into() };
    let close = async {
        let _ = socket.close(Some(frame)).await;
    };
    // A client that does not read is not waited for.
    let _ = tokio::time::timeout(Duration::from_secs(1), close).await;
}

/// Returns a text that fits into a frame that closes a connection.
fn clipped(text: &str) -> String {
    text.chars().take(40).collect()
}

async fn send(socket: &mut Socket, message: Message) -> Result<(), std::io::Error> {
    match tokio::time::timeout(websocket::WRITE, socket.send(message)).await {
        Ok(sent) => sent.map_err(std::io::Error::other),
        Err(_) => Err(websocket::too_slow()),
    }
}

/// Reads the events of a session, until the connection ends.
async fn pump(mut reader: EventReader, session_id: Arc<str>, number: u64, news: mpsc::Sender<SessionNews>) {
    loop {
        let read = reader.read().await;
        let is_over = !matches!(read, Ok(ReadEvents::Frames(_)));
        let sent = SessionNews { session_id: session_id.clone(), number, read, cursor: reader.cursor };
        if news.send(sent).await.is_err() || is_over {
            return;
        }
    }
}

impl AcpChannel {
    /// Sends what is due.
    async fn flush(&mut self, socket: &mut Socket) -> Result<(), ConnectionEnd> {
        for text in std::mem::take(&mut self.out) {
            if let Err(error) = send(socket, Message::Text(text.into())).await {
                let reason = match error.kind() {
                    std::io::ErrorKind::TimedOut => DisconnectReason::Slow,
                    _ => DisconnectReason::Closed,
                };
                return Err(ConnectionEnd::new(reason, CloseCode::Again, "slow"));
            }
        }
        Ok(())
    }

    fn put(&mut self, message: &Value) {
        self.out.push(message.to_string());
    }

    fn answer(&mut self, id: &Id, answer: Result<Value, ErrorResponse>) {
        let id: Value = serde_json::from_str(id.as_json()).unwrap_or_default();
        let message = match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error.into_json()}),
        };
        self.put(&message);
    }

    /// Takes a sign of life.
    fn seen(&self) {
        self.daemon.core().presence.alive(&self.channel);
    }

    fn receive(&mut self, text: &str) {
        self.seen();
        match jsonrpc::read_text::<Data>(text, &RULES) {
            Ok(Envelope::Request(Request { id: Some(id), method, params })) => {
                self.request(id, &method, Value::from(&params.unwrap_or_default()));
            }
            Ok(Envelope::Request(Request { method, params, .. })) => {
                self.notification(&method, &Value::from(&params.unwrap_or_default()));
            }
            Ok(Envelope::Answer(answer)) => self.answered(answer),
            Err(error) if error.is_answer => {}
            Err(error) => {
                let refusal = ErrorResponse::no_json(&format!("{:?}", error.problem));
                self.answer(&error.id.clone(), Err(refusal));
            }
        }
    }

    fn request(&mut self, id: Id, method: &str, params: Value) {
        if !self.is_initialized && method != "initialize" {
            return self.answer(&id, Err(ErrorResponse::not_initialized(method)));
        }
        let begun = match method {
            "initialize" => {
                let answer = self.initialize(&params);
                return self.answer(&id, answer);
            }
            "session/new" => self.open(id.clone(), &params),
            "session/load" => self.load(id.clone(), &params, true),
            "session/resume" => self.load(id.clone(), &params, false),
            RESUME => self.resume(id.clone(), &params),
            "session/prompt" => self.prompt(id.clone(), &params),
            "session/set_mode" => self.set_mode(id.clone(), &params),
            "session/close" => self.simple(id.clone(), &params, ActionKind::Close, Data::empty_dict()),
            "session/list" => self.list(id.clone(), params),
            other => Err(ErrorResponse::unknown_method(other, REQUESTS)),
        };
        if let Err(error) = begun {
            self.answer(&id, Err(error));
        }
    }

    fn notification(&mut self, method: &str, params: &Value) {
        if method != "session/cancel" || !self.is_initialized {
            return;
        }
        let Some(session_id) = params["sessionId"].as_str() else { return };
        let action = self.action(ActionKind::Cancel, Some(session_id.into()), Data::empty_dict(), params);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            // A refusal is on the log; a notification has no answer.
            let _ = daemon.submit(&channel, action).await;
            WorkDone::Nothing
        });
    }

    fn initialize(&mut self, params: &Value) -> Result<Value, ErrorResponse> {
        let client = initialize::read(params)?;
        self.wants = WantedUpdates::of(&client, ReminderUpdates::Never);
        let harn = client.meta.as_ref().and_then(|meta| meta.get("harn"));
        self.wants_events = harn.and_then(|harn| harn.get("channelEvents")).and_then(Value::as_bool) == Some(true);
        self.is_initialized = true;
        let broken = |error: serde_json::Error| ErrorResponse::broken(error.to_string());
        let mut answer = initialize::answer(true, &Value::Null).map_err(broken)?;
        answer["agentCapabilities"]["_meta"]["harn"]["channel"] = json!({
            "channelId": &*self.channel.id,
            "connectionId": &*self.connection_id,
            "resume": true,
            "scopes": self.channel.scopes.words().collect::<Vec<_>>(),
        });
        Ok(answer)
    }

    /// Creates an action. The client's own id of it makes a repeat harmless.
    fn action(&mut self, kind: ActionKind, session: Option<Arc<str>>, params: Data, request: &Value) -> Action {
        self.last_action += 1;
        let given = request.pointer("/_meta/harn/actionId").and_then(Value::as_str);
        let action_id = match given {
            Some(id) if !id.is_empty() && id.len() <= 100 => format!("acp:{id}").into(),
            _ => format!("{}:{}", self.connection_id, self.last_action).into(),
        };
        Action { action_id, session, kind, params }
    }

    fn has_room(&self) -> Result<(), ErrorResponse> {
        match self.sessions.len() < MAX_SESSIONS {
            true => Ok(()),
            false => Err(ErrorResponse::not_now("sessions_full", "this connection has too many sessions")),
        }
    }

    fn open(&mut self, id: Id, params: &Value) -> Result<(), ErrorResponse> {
        self.has_room()?;
        let read = Params::of(params)?;
        let cwd = absolute(&read)?;
        let given =
            Data::dict_of_present([("cwd", Data::from(&*cwd.to_string_lossy())), ("metadata", content::meta(&read)?)]);
        let action = self.action(ActionKind::Open, None, given, params);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            let opened = async {
                let head = head(&daemon).await?;
                let result = done(daemon.submit(&channel, action).await)?;
                let session_id = result.get("sessionId").as_shared_str().unwrap_or_default();
                Ok((session_id, mode_of(&result), head))
            };
            match opened.await {
                Ok((session_id, modes, after)) => {
                    let answer = json!({"sessionId": &*session_id, "modes": modes});
                    WorkDone::Attach { id, session_id, cwd, after, resumed: false, answer, load: None }
                }
                Err(error) => WorkDone::Answered(id, Err(error)),
            }
        });
        Ok(())
    }

    /// Loads a session: its events are sent from the beginning, or only those from now on.
    fn load(&mut self, id: Id, params: &Value, shows: bool) -> Result<(), ErrorResponse> {
        self.has_room()?;
        let read = Params::of(params)?;
        let (session_id, cwd): (Arc<str>, _) = (read.str("sessionId")?.into(), absolute(&read)?);
        let action = self.action(ActionKind::Load, Some(session_id.clone()), Data::empty_dict(), params);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            let loaded = async {
                let result = done(daemon.submit(&channel, action).await)?;
                Ok((mode_of(&result), head(&daemon).await?))
            };
            match loaded.await {
                Ok((modes, head)) => {
                    let (after, load) = if shows { (0, Some(head)) } else { (head, None) };
                    let answer = json!({"modes": modes});
                    WorkDone::Attach { id, session_id, cwd, after, resumed: false, answer, load }
                }
                Err(error) => WorkDone::Answered(id, Err(error)),
            }
        });
        Ok(())
    }

    /// Continues the events of a session after a cursor.
    fn resume(&mut self, id: Id, params: &Value) -> Result<(), ErrorResponse> {
        self.has_room()?;
        let read = Params::of(params)?;
        let session_id: Arc<str> = read.str("sessionId")?.into();
        let cwd = PathBuf::from(read.optional_str("cwd")?.unwrap_or("/"));
        let after = params["after"].as_u64();
        let after = after.ok_or_else(|| read.refuse("after", "must be an integer of at least 0"))?;
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            let reaches = match channel.scopes.has(ChannelScope::View) {
                true => daemon.reaches(&channel, &session_id).await,
                false => Err(ActionError::Scope(ChannelScope::View)),
            };
            match reaches {
                Ok(()) => {
                    let answer = json!({"after": after});
                    WorkDone::Attach { id, session_id, cwd, after, resumed: true, answer, load: None }
                }
                Err(error) => {
                    daemon.refuse(&channel, None, Some(&session_id), &error);
                    WorkDone::Answered(id, Err(refusal(&error)))
                }
            }
        });
        Ok(())
    }

    fn prompt(&mut self, id: Id, params: &Value) -> Result<(), ErrorResponse> {
        let read = Params::of(params)?;
        let session_id: Arc<str> = read.str("sessionId")?.into();
        if !self.sessions.contains_key(&session_id) {
            self.has_room()?;
        }
        let text = content::read(&read, "prompt")?.text;
        let given = Data::dict([("text", Data::from(text))]);
        let action = self.action(ActionKind::Prompt, Some(session_id.clone()), given, params);
        if self.sessions.contains_key(&session_id) {
            self.submit_prompt(id, session_id, action);
            return Ok(());
        }
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            let head = match daemon.reaches(&channel, &session_id).await {
                Ok(()) => head(&daemon).await,
                Err(error) => {
                    daemon.refuse(&channel, None, Some(&session_id), &error);
                    Err(refusal(&error))
                }
            };
            match head {
                Ok(head) => WorkDone::Reached { id, action, session_id, head },
                Err(error) => WorkDone::Answered(id, Err(error)),
            }
        });
        Ok(())
    }

    /// Submits a prompt. It is remembered first, since its end can be on the log before it is known to be accepted.
    fn submit_prompt(&mut self, id: Id, session_id: Arc<str>, action: Action) {
        let Some(attached) = self.sessions.get_mut(&session_id) else { return };
        let name = format!("{}/{}", self.channel.id, action.action_id);
        attached.prompts.push(PendingPrompt { id: id.clone(), action: name, turn_id: None, is_repeat: false });
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            let receipt = daemon.submit(&channel, action).await;
            WorkDone::Prompted { id, session_id, receipt }
        });
    }

    fn set_mode(&mut self, id: Id, params: &Value) -> Result<(), ErrorResponse> {
        let word = mode::read(&Params::of(params)?)?;
        self.simple(id, params, ActionKind::Mode, Data::dict([("mode", Data::from(word))]))
    }

    /// Executes an action whose answer is empty.
    fn simple(&mut self, id: Id, params: &Value, kind: ActionKind, given: Data) -> Result<(), ErrorResponse> {
        let session_id: Arc<str> = Params::of(params)?.str("sessionId")?.into();
        let action = self.action(kind, Some(session_id), given, params);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            let done = done(daemon.submit(&channel, action).await);
            WorkDone::Answered(id, done.map(|_| json!({})))
        });
        Ok(())
    }

    fn list(&mut self, id: Id, params: Value) -> Result<(), ErrorResponse> {
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            let listed = async {
                if !channel.scopes.has(ChannelScope::View) {
                    let error = ActionError::Scope(ChannelScope::View);
                    daemon.refuse(&channel, None, None, &error);
                    return Err(refusal(&error));
                }
                let page = daemon.host.list(None, params["cursor"].as_str()).await?;
                let accounts = &daemon.core().accounts;
                let own = page.rows.iter().filter(|row| accounts.of(&row.id) == channel.account);
                let rows: Vec<Value> = own.map(crate::acp::listed).collect();
                let mut answer = json!({"sessions": rows});
                if let Some(next) = page.next {
                    answer["nextCursor"] = next.into();
                }
                Ok(answer)
            };
            WorkDone::Answered(id, listed.await)
        });
        Ok(())
    }

    /// Takes an answer of the client to a question.
    fn answered(&mut self, answer: Answer<Data>) {
        let id = answer.id.and_then(|id| id.as_json().parse::<i64>().ok());
        let Some(asked) = id.and_then(|id| self.asked.remove(&id)) else { return };
        let given = match answer.result {
            Some(result) => permission::verdict(Ok(Value::from(&result))),
            None => return,
        };
        // Another channel may still answer a question that this client cancels or does not understand.
        if matches!(given, Verdict::Cancelled | Verdict::Unusable(_)) {
            return;
        }
        let params = Data::dict([("request", Data::from(&asked.request)), ("verdict", given.word().into())]);
        let action = self.action(ActionKind::Permit, Some(asked.session_id), params, &Value::Null);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        self.work.spawn(async move {
            // A refusal is on the log, and the decision is an event.
            let _ = daemon.submit(&channel, action).await;
            WorkDone::Nothing
        });
    }

    /// Takes the end of a request.
    fn finish(&mut self, done: WorkDone) {
        match done {
            WorkDone::Nothing => {}
            WorkDone::Answered(id, answer) => self.answer(&id, answer),
            WorkDone::Attach { id, session_id, cwd, after, resumed, answer, load } => {
                self.attach(&session_id, cwd, after, resumed);
                match (load, self.sessions.get_mut(&session_id)) {
                    (Some(head), Some(attached)) => attached.loading = Some((id, answer, head)),
                    _ => self.answer(&id, Ok(answer)),
                }
            }
            WorkDone::Reached { id, action, session_id, head } => {
                if !self.sessions.contains_key(&session_id) {
                    self.attach(&session_id, PathBuf::from("/"), head, false);
                }
                self.submit_prompt(id, session_id, action);
            }
            WorkDone::Prompted { id, session_id, receipt } => {
                let Some(attached) = self.sessions.get_mut(&session_id) else { return };
                let Some(place) = attached.prompts.iter().position(|prompt| prompt.id == id) else { return };
                let answer = match receipt {
                    Err(error) => Err(refusal(&error)),
                    Ok(ActionReceipt { outcome, is_repeat, .. }) => match outcome.status {
                        ActionStatus::Failed => Err(failed(&outcome.result)),
                        // The result of an earlier prompt with the same id.
                        ActionStatus::Done => Ok(stop_of(&outcome.result)),
                        ActionStatus::Accepted => {
                            if let Some(prompt) = attached.prompts.get_mut(place) {
                                prompt.is_repeat = is_repeat;
                            }
                            return;
                        }
                    },
                };
                attached.prompts.remove(place);
                self.answer(&id, answer);
            }
        }
    }

    /// Begins to send the events of a session after a cursor.
    fn attach(&mut self, session_id: &Arc<str>, cwd: PathBuf, after: u64, resumed: bool) {
        let prompts = self.sessions.remove(session_id).map(|mut earlier| std::mem::take(&mut earlier.prompts));
        let connection = ChannelConnection::begin(
            &self.daemon,
            &self.channel,
            Some(session_id),
            ChannelTransport::WebSocket,
            Some("acp"),
            resumed.then_some(after),
        );
        self.last_action += 1;
        let number = self.last_action;
        let reader = self.daemon.events(session_id, Some(after));
        let pump = tokio::spawn(pump(reader, session_id.clone(), number, self.news.clone())).abort_handle();
        let updates = UpdateConverter::new(session_id.clone(), cwd, self.wants);
        let prompts = prompts.unwrap_or_default();
        let attached = AttachedSession { connection, updates, pump, number, loading: None, prompts };
        self.sessions.insert(session_id.clone(), attached);
    }

    /// Takes the events of a session.
    fn take_news(&mut self, news: SessionNews) -> Result<(), ConnectionEnd> {
        let SessionNews { session_id, number, read, cursor } = news;
        if self.sessions.get(&session_id).is_none_or(|attached| attached.number != number) {
            return Ok(());
        }
        let frames = match read {
            Ok(ReadEvents::Frames(frames)) => frames,
            Ok(ReadEvents::Slow) => {
                let text = format!("slow; resume after {cursor}");
                return Err(ConnectionEnd::new(DisconnectReason::Slow, CloseCode::Again, text));
            }
            Err(error) => {
                tracing::error!("cannot read the events of a session: {error}");
                return Err(ConnectionEnd::new(DisconnectReason::Protocol, CloseCode::Error, "log"));
            }
        };
        // A question that was decided meanwhile is not asked.
        let decided: HashSet<Arc<str>> = frames.iter().filter_map(|frame| returned(frame)).collect();
        for frame in &frames {
            match &frame.origin {
                FrameOrigin::Record(record) => self.take_record(&session_id, record, &decided),
                FrameOrigin::Stream if frame.cursor.is_some() => self.take_notice(frame),
                // The log has the text too: in its order, with a cursor.
                FrameOrigin::Stream | FrameOrigin::Live(_) => {}
            }
        }
        if let Some(attached) = self.sessions.get_mut(&session_id) {
            attached.connection.cursor = Some(cursor);
        }
        Ok(())
    }

    /// Sends a notice about the stream: a snapshot, or missing events.
    fn take_notice(&mut self, frame: &ChannelFrame) {
        let text = String::from_utf8_lossy(&frame.sse);
        let data = text.lines().find_map(|line| line.strip_prefix("data: "));
        if let Some(Ok(event)) = data.map(serde_json::from_str::<Value>) {
            self.put(&json!({"jsonrpc": "2.0", "method": EVENT, "params": event}));
        }
    }

    fn take_record(&mut self, session_id: &Arc<str>, record: &Record, decided: &HashSet<Arc<str>>) {
        let Some(attached) = self.sessions.get_mut(session_id) else { return };
        let mut sent = Vec::new();
        if let Some(event) = shown_event(record) {
            for update in attached.updates.frames(event) {
                let mut params = update.params;
                params["_meta"]["harn"]["sequence"] = record.cursor.into();
                sent.push(json!({"jsonrpc": "2.0", "method": update.method, "params": params}));
            }
        }
        let is_update = !sent.is_empty();
        self.out.extend(sent.iter().map(Value::to_string));
        if !is_update
            && self.wants_events
            && let Some(envelope) = EventEnvelope::of(record)
        {
            self.out.push(format!(r#"{{"jsonrpc":"2.0","method":"{EVENT}","params":{}}}"#, envelope.to_json()));
        }
        if let Some(Ok(recorded)) = RecordedChannelEvent::read(record) {
            self.take_channel_event(session_id, record.cursor, recorded, decided);
        }
        if Topic::named(&record.topic) == Some(Topic::Life) {
            self.take_life(session_id, record);
        }
    }

    fn take_channel_event(
        &mut self,
        session_id: &Arc<str>,
        cursor: u64,
        recorded: RecordedChannelEvent,
        decided: &HashSet<Arc<str>>,
    ) {
        match recorded.event {
            ChannelEvent::PermissionForwarded(forwarded) => {
                let may = self.channel.scopes.has(ChannelScope::Permit) && !decided.contains(&forwarded.request);
                if !may || self.asked.values().any(|asked| asked.request == forwarded.request) {
                    return;
                }
                self.last_request += 1;
                let id = self.last_request;
                let params = permission::forwarded(session_id, &forwarded.applies_to, forwarded.reason.as_deref());
                let mut params = params;
                params["_meta"]["harn"]["sequence"] = cursor.into();
                params["_meta"]["harn"]["request"] = (*forwarded.request).into();
                self.asked.insert(id, AskedPermission { session_id: session_id.clone(), request: forwarded.request });
                self.put(&json!({"jsonrpc": "2.0", "id": id, "method": permission::METHOD, "params": params}));
            }
            ChannelEvent::PermissionReturned(returned) => {
                let ids: Vec<i64> = self
                    .asked
                    .iter()
                    .filter(|(_, asked)| asked.request == returned.request)
                    .map(|(id, _)| *id)
                    .collect();
                for id in ids {
                    self.asked.remove(&id);
                    self.put(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}));
                }
            }
            ChannelEvent::Connected(identity) if identity.channel_id == self.channel.id => {
                let attached = self.sessions.get_mut(session_id);
                let loading = attached.and_then(|attached| attached.loading.take_if(|(.., head)| cursor > *head));
                if let Some((id, answer, _)) = loading {
                    self.answer(&id, Ok(answer));
                }
            }
            _ => {}
        }
    }

    /// Takes a record of the lifecycle: the beginning and the end of prompts.
    fn take_life(&mut self, session_id: &Arc<str>, record: &Record) {
        let Some(attached) = self.sessions.get_mut(session_id) else { return };
        let payload = &*record.payload;
        let turn_id = payload.get("turn_id").as_shared_str();
        match Topic::Life.word_of(&record.kind) {
            Some("prompted") => {
                let action = payload.get("action").as_str();
                for prompt in attached.prompts.iter_mut().filter(|prompt| action == Some(&prompt.action)) {
                    prompt.turn_id.clone_from(&turn_id);
                }
            }
            Some("answered") => {
                let is_its = |prompt: &PendingPrompt| match &prompt.turn_id {
                    Some(known) => Some(known) == turn_id.as_ref(),
                    None => prompt.is_repeat,
                };
                let (ended, open) = std::mem::take(&mut attached.prompts).into_iter().partition(is_its);
                attached.prompts = open;
                let ended: Vec<PendingPrompt> = ended;
                for prompt in ended {
                    let answer = match payload.get("stop").as_str() {
                        Some("failed") => Err(ErrorResponse::broken("the script failed")
                            .reason("script_failed")
                            .with("detail", payload.get("reason").as_str().unwrap_or_default())),
                        _ => Ok(stop_of(payload)),
                    };
                    self.answer(&prompt.id, answer);
                }
            }
            _ => {}
        }
    }
}

/// Returns the permission request whose decision is in a frame.
fn returned(frame: &ChannelFrame) -> Option<Arc<str>> {
    let FrameOrigin::Record(record) = &frame.origin else { return None };
    match RecordedChannelEvent::read(record)?.ok()?.event {
        ChannelEvent::PermissionReturned(returned) => Some(returned.request),
        _ => None,
    }
}

/// Returns the cursor of the last record of the log.
async fn head(daemon: &ChannelDaemon) -> Result<u64, ErrorResponse> {
    let read = daemon.cursors("", 0).await;
    read.map(|cursors| cursors.head).map_err(|error| refusal(&error))
}

/// Returns the result of an action that was executed.
fn done(receipt: Result<ActionReceipt, ActionError>) -> Result<Data, ErrorResponse> {
    let outcome = receipt.map_err(|error| refusal(&error))?.outcome;
    match outcome.status {
        ActionStatus::Failed => Err(failed(&outcome.result)),
        ActionStatus::Accepted | ActionStatus::Done => Ok(outcome.result),
    }
}

fn failed(result: &Data) -> ErrorResponse {
    let reason = result.get("reason").as_str().unwrap_or("failed");
    ErrorResponse::not_now(reason, result.get("message").as_str().unwrap_or("the action failed"))
}

fn refusal(error: &ActionError) -> ErrorResponse {
    match error {
        ActionError::Host(error) => HostError::clone(error).into(),
        ActionError::Invalid { field, message } => ErrorResponse::params(field, message.clone()),
        error => ErrorResponse::not_now(error.reason(), error.to_string()),
    }
}

/// Returns the response to a prompt from the end of its turn.
fn stop_of(payload: &Data) -> Value {
    let reason = payload.get("reason").as_str();
    let (word, more) = match payload.get("stop").as_str() {
        Some("cancelled") => ("cancelled", Value::Null),
        Some("max_tokens") => ("max_tokens", Value::Null),
        Some("max_turns") => ("max_turn_requests", Value::Null),
        Some("refused") => ("refusal", json!({"reason": reason})),
        Some("asked") => ("end_turn", json!({"inputRequired": true, "question": reason})),
        _ => ("end_turn", Value::Null),
    };
    match more {
        Value::Null => json!({"stopReason": word}),
        more => json!({"stopReason": word, "_meta": {"harn": more}}),
    }
}

fn mode_of(result: &Data) -> Value {
    mode::state(&result.get("mode").as_shared_str().unwrap_or_else(|| "ask".into()))
}

fn absolute(params: &Params<'_>) -> Result<PathBuf, ErrorResponse> {
    let path = PathBuf::from(params.str("cwd")?);
    if path.is_absolute() { Ok(path) } else { Err(params.refuse("cwd", "must be an absolute path")) }
}
