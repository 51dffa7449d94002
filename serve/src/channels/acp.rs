//! [`AcpChannel`]: ACP over a WebSocket, for the sessions that channels share.
//!
//! Requests become actions, as those of any other channel. Updates are made from the records of the log alone, in their
//! order, and each has its cursor in `_meta.harn.sequence`: a client that resumes after it misses nothing and gets
//! nothing twice. A prompt is answered by the record of its end, after all updates of the turn.

mod requests;
mod updates;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use base::data::Data;
use base::failures::{FailedOperation, report};
use futures_util::future::select_all;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use jsonrpc::{Id, IdRule, Message as Envelope, Request, Rules};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message};

use super::connection::ChannelConnection;
use super::daemon::ChannelDaemon;
use super::{Action, ActionError, ActionKind, Caller, ChannelTransport, DisconnectReason, websocket};
use crate::acp::error::ErrorResponse;
use crate::acp::method::{AcpMethod, AcpTransport};
use crate::acp::transport;
use crate::acp::update::{UpdateConverter, WantedUpdates};
use crate::gateway::{ActionReceipt, EventReader, FeedLag, ReadEvents};
use crate::spawn::spawn_in;

/// Messages of ACP.
const RULES: Rules = Rules { ids: IdRule::Integers, max_id_len: 256, positional_params: false, answers: true };

/// An event that ACP has no update for.
const EVENT: &str = "_channel/event";

/// The maximum number of requests that are executed at one time. No more input is taken meanwhile.
const MAX_REQUESTS: usize = 64;
/// The maximum number of sessions of a connection.
const MAX_SESSIONS: usize = 64;
/// The number of missed pongs after which a client is gone.
const MISSED: u32 = 3;
/// The number of bytes that are written at once.
const BATCH: usize = 64 * 1024;

type ClientSocket = WebSocketStream<TokioIo<Upgraded>>;

/// A client of ACP.
pub(super) struct AcpChannel {
    daemon: Arc<ChannelDaemon>,
    channel: Arc<Caller>,
    connection_id: Arc<str>,
    is_initialized: bool,
    /// Whether the client wants the events that ACP has no update for.
    wants_events: bool,
    wants: WantedUpdates,
    sessions: HashMap<Arc<str>, AttachedSession>,
    /// The sessions that are being loaded or resumed.
    attaching: HashMap<Arc<str>, AttachingSession>,
    news: mpsc::Sender<SessionNews>,
    work: JoinSet<WorkDone>,
    /// The questions to the client, by the ids of the requests.
    asked: HashMap<i64, AskedPermission>,
    last_action: u64,
    out: Vec<OutgoingFrame>,
}

/// A session whose events the client gets.
struct AttachedSession {
    connection: ChannelConnection,
    updates: UpdateConverter,
    pump: AbortHandle,
    /// The number of its attachment: a session can be attached again.
    number: u64,
    /// Tells whether the client has missed events.
    lag: FeedLag,
    /// The end of the log when the attachment began. The events up to it are history.
    head: u64,
    /// Whether it continues an earlier attachment, also of another connection.
    resumed: bool,
    /// The request that is answered once the history was sent.
    loading: Option<(Id, Value)>,
    prompts: Vec<SubmittedPrompt>,
}

impl Drop for AttachedSession {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

/// A session that is being loaded or resumed. Its prompts wait: a prompt to a session that is not attached would attach
/// it too, and the client would get events twice.
#[derive(Default)]
struct AttachingSession {
    /// The number of requests that attach it.
    requests: usize,
    prompts: Vec<(Id, Action)>,
}

/// A prompt that has no answer yet.
struct SubmittedPrompt {
    id: Id,
    /// The name of its action in records.
    action: String,
    /// Its turn, once its record came.
    turn_id: Option<Arc<str>>,
    /// Whether the action was known before, so that its record may have come before this connection.
    is_repeat: bool,
}

/// A message to the client.
struct OutgoingFrame {
    text: String,
    /// The session and the cursor of the event that it is about.
    event: Option<(Arc<str>, u64)>,
}

/// A question to the client.
struct AskedPermission {
    session_id: Arc<str>,
    request: Arc<str>,
}

/// The beginning of the events of a session.
struct Attachment {
    session_id: Arc<str>,
    cwd: PathBuf,
    /// The cursor after which the events begin.
    after: u64,
    /// Whether the client has the events up to this cursor.
    resumed: bool,
    /// The end of the log.
    head: u64,
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
        answer: Value,
        /// Whether the answer comes after the history.
        loads: bool,
        attachment: Attachment,
    },
    /// A session could not be loaded or resumed.
    NotAttached {
        id: Id,
        session_id: Arc<str>,
        error: ErrorResponse,
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

    /// Returns the end of a connection that broke, or on which the client sent something invalid.
    fn broken(error: &tungstenite::Error) -> ConnectionEnd {
        let limit = websocket::MAX_MESSAGE;
        match error {
            tungstenite::Error::Capacity(_) => {
                let text = format!("a message is larger than the limit of {limit} bytes");
                ConnectionEnd::new(DisconnectReason::Protocol, CloseCode::Size, text)
            }
            tungstenite::Error::Utf8(_) => {
                ConnectionEnd::new(DisconnectReason::Protocol, CloseCode::Invalid, "a text frame is not UTF-8")
            }
            tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)
            | tungstenite::Error::Io(_)
            | tungstenite::Error::ConnectionClosed
            | tungstenite::Error::AlreadyClosed => ConnectionEnd::new(DisconnectReason::Closed, CloseCode::Normal, ""),
            error => {
                let text = format!("invalid frame: {error}");
                ConnectionEnd::new(DisconnectReason::Protocol, CloseCode::Protocol, text)
            }
        }
    }

    /// Returns the end of a connection whose channel must be disconnected.
    fn closed(reason: DisconnectReason) -> ConnectionEnd {
        let code = if reason == DisconnectReason::Stopping { CloseCode::Away } else { CloseCode::Policy };
        ConnectionEnd::new(reason, code, reason.as_str())
    }
}

/// Serves a client until its connection ends.
pub(super) async fn serve(
    daemon: Arc<ChannelDaemon>,
    channel: Arc<Caller>,
    connection_id: Arc<str>,
    mut socket: ClientSocket,
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
        attaching: HashMap::new(),
        news,
        work: JoinSet::new(),
        asked: HashMap::new(),
        last_action: 0,
        out: Vec::new(),
    };
    let mut missed = 0;
    // The time until which no frame is read: a client that sends more than its rate waits, and loses nothing.
    let mut pause = None;
    let mut pulse = tokio::time::interval(heartbeat);
    pulse.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let end = loop {
        if let Err(end) = acp.flush(&mut socket, &mut connection).await {
            break end;
        }
        tokio::select! {
            reason = connection.closed() => break ConnectionEnd::closed(reason),
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
            message = frame_after(pause, &mut socket), if acp.requests() < MAX_REQUESTS => {
                missed = 0;
                let most = acp.daemon.core().presence.pause_after_frame(&acp.channel);
                pause = (!most.is_zero()).then(|| tokio::time::Instant::now() + most);
                match message {
                    Some(Ok(Message::Text(text))) => acp.receive(&text),
                    Some(Ok(Message::Close(_))) | None => {
                        break ConnectionEnd::new(DisconnectReason::Closed, CloseCode::Normal, "");
                    }
                    // Pings are answered by the crate; binary frames are ignored, as the draft says.
                    Some(Ok(_)) => acp.seen(),
                    Some(Err(error)) => {
                        break ConnectionEnd::broken(&error);
                    }
                }
            }
            _ = pulse.tick() => {
                missed += 1;
                if missed > MISSED {
                    break ConnectionEnd::new(DisconnectReason::Stale, CloseCode::Policy, "no pong");
                }
                let ping = Message::Ping(Vec::new().into());
                if let Err(end) = acp.deliver(&mut connection, socket.send(ping)).await {
                    break end;
                }
            }
        }
    };
    connection.reason = end.reason;
    for attached in acp.sessions.values_mut() {
        attached.connection.reason = end.reason;
    }
    // Their ends are recorded before the client takes the last frame.
    drop((connection, acp));
    let frame = CloseFrame { code: end.code, reason: clipped(&end.text).into() };
    let close = async {
        let _ = socket.close(Some(frame)).await;
    };
    // A client that does not read is not waited for.
    let _ = tokio::time::timeout(websocket::CLOSE, close).await;
    if end.reason == DisconnectReason::Protocol {
        // While a client still sends a message that is too large, it reads no frame, and a connection with unread bytes
        // loses it.
        let mut sink = tokio::io::sink();
        let drained = tokio::io::copy(socket.get_mut(), &mut sink);
        let _ = tokio::time::timeout(websocket::DRAIN, drained).await;
    }
}

/// Returns a text that fits into a frame that closes a connection, beside the code.
fn clipped(text: &str) -> &str {
    const MOST: usize = 123;
    &text[..text.floor_char_boundary(MOST)]
}

/// Reads a frame, after a pause.
async fn frame_after(
    pause: Option<tokio::time::Instant>,
    socket: &mut ClientSocket,
) -> Option<Result<Message, tungstenite::Error>> {
    if let Some(until) = pause {
        tokio::time::sleep_until(until).await;
    }
    socket.next().await
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
    async fn flush(
        &mut self,
        socket: &mut ClientSocket,
        connection: &mut ChannelConnection,
    ) -> Result<(), ConnectionEnd> {
        let mut due = std::mem::take(&mut self.out).into_iter().peekable();
        while due.peek().is_some() {
            let (mut sent, mut bytes) = (HashMap::new(), 0);
            while bytes < BATCH
                && let Some(OutgoingFrame { text, event }) = due.next()
            {
                bytes += text.len();
                sent.extend(event);
                self.deliver(connection, socket.feed(Message::Text(text.into()))).await?;
            }
            self.deliver(connection, socket.flush()).await?;
            for (session_id, cursor) in sent {
                if let Some(attached) = self.sessions.get_mut(&session_id) {
                    attached.connection.cursor = Some(cursor);
                }
            }
        }
        Ok(())
    }

    /// Waits until the client takes what is sent, unless the channel must be disconnected before.
    async fn deliver(
        &self,
        connection: &mut ChannelConnection,
        sending: impl Future<Output = Result<(), tungstenite::Error>>,
    ) -> Result<(), ConnectionEnd> {
        let slow = || {
            report(FailedOperation::Delivery, "slow channel", "disconnected a channel: it read too slowly");
            ConnectionEnd::new(DisconnectReason::Slow, CloseCode::Again, "slow")
        };
        tokio::select! {
            biased;
            sent = sending => sent.map_err(|_| ConnectionEnd::new(DisconnectReason::Closed, CloseCode::Normal, "")),
            reason = connection.closed() => Err(ConnectionEnd::closed(reason)),
            () = self.lagged() => Err(slow()),
            () = tokio::time::sleep(websocket::WRITE) => Err(slow()),
        }
    }

    /// Waits until the client has missed events of a session.
    async fn lagged(&self) {
        if self.sessions.is_empty() {
            return std::future::pending().await;
        }
        select_all(self.sessions.values().map(|attached| Box::pin(attached.lag.lagged()))).await;
    }

    fn put(&mut self, message: &Value) {
        self.out.push(OutgoingFrame { text: message.to_string(), event: None });
    }

    fn answer(&mut self, id: &Id, answer: Result<Value, ErrorResponse>) {
        let text = match answer {
            Ok(result) => jsonrpc::result(id, &result),
            Err(error) => jsonrpc::error(id, &error.into_json()),
        };
        self.out.push(OutgoingFrame { text, event: None });
    }

    /// Returns the number of requests that are executed or wait.
    fn requests(&self) -> usize {
        self.work.len() + self.attaching.values().map(|session| session.prompts.len()).sum::<usize>()
    }

    /// Takes a sign of life.
    fn seen(&self) {
        self.daemon.core().presence.alive(&self.channel);
    }

    fn receive(&mut self, text: &str) {
        self.seen();
        match transport::read_message(text, &RULES) {
            Ok(Some(Envelope::Request(Request { id: Some(id), method, params }))) => {
                self.request(&id, &method, params.unwrap_or_default());
            }
            Ok(Some(Envelope::Request(Request { method, params, .. }))) => {
                self.notification(&method, &params.unwrap_or_default());
            }
            Ok(Some(Envelope::Answer(answer))) => self.answered(answer),
            Ok(None) => {}
            Err(bad) => self.out.push(OutgoingFrame { text: bad.answer(), event: None }),
        }
    }

    fn request(&mut self, id: &Id, method: &str, params: Value) {
        let begun =
            AcpMethod::of(method, AcpTransport::WebSocket, self.is_initialized).and_then(|method| match method {
                AcpMethod::Initialize => {
                    let answer = self.initialize(&params)?;
                    self.answer(id, Ok(answer));
                    Ok(())
                }
                AcpMethod::Authenticate => Err(ErrorResponse::no_authentication()),
                // Only the table of standard input has it: channels inject by actions.
                AcpMethod::Bridge(method) => Err(ErrorResponse::not_offered(method.name())),
                AcpMethod::New => self.open(id.clone(), &params),
                AcpMethod::Load => self.load(id.clone(), &params, true),
                AcpMethod::Resume => self.load(id.clone(), &params, false),
                AcpMethod::ResumeEvents => self.resume(id.clone(), &params),
                AcpMethod::Prompt => self.prompt(id.clone(), &params),
                AcpMethod::SetMode => self.set_mode(id.clone(), &params),
                AcpMethod::Close => self.simple(id.clone(), &params, ActionKind::Close, Data::empty_dict()),
                AcpMethod::List => self.list(id.clone(), params),
            });
        if let Err(error) = begun {
            self.answer(id, Err(error));
        }
    }

    fn notification(&mut self, method: &str, params: &Value) {
        if method != "session/cancel" || !self.is_initialized {
            return;
        }
        let Some(session_id) = params["sessionId"].as_str() else { return };
        let action = self.action(ActionKind::Cancel, Some(session_id.into()), Data::empty_dict(), params);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            // A refusal is on the log; a notification has no answer.
            let _ = daemon.gateway.submit(&channel, action).await;
            WorkDone::Nothing
        });
    }
}
