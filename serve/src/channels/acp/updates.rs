//! The records of sessions, as updates for a client of ACP.

use std::path::PathBuf;
use std::sync::Arc;

use base::failures::{FailedOperation, report};
use eventlog::Record;
use runtime::event_log::Topic;
use serde_json::json;

use super::super::connection::ChannelConnection;
use super::super::{
    ActionStatus, ChannelEvent, ChannelScope, ChannelTransport, DisconnectReason, RecordedChannelEvent,
};
use super::requests::{failed, refusal};
use super::{
    AcpChannel, AskedPermission, AttachedSession, Attachment, ConnectionEnd, EVENT, OutgoingFrame, SessionNews,
    SubmittedPrompt, WorkDone, pump,
};
use crate::acp::answer;
use crate::acp::error::ErrorResponse;
use crate::acp::permission::{self, AlwaysHolds};
use crate::acp::update::UpdateConverter;
use crate::gateway::{ActionReceipt, ChannelFrame, FrameOrigin, INTERRUPTION, ReadEvents, UndecidedQuestion};
use crate::spawn::spawn;
use crate::store::{INTERRUPTED, shown_event};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

impl AcpChannel {
    /// Takes the end of a request.
    pub(super) fn finish(&mut self, done: WorkDone) {
        match done {
            WorkDone::Nothing => {}
            WorkDone::Answered(id, answer) => self.answer(&id, answer),
            WorkDone::Attach { id, answer, loads, attachment } => {
                let session_id = attachment.session_id.clone();
                self.attach(attachment);
                match self.sessions.get_mut(&session_id).filter(|_| loads) {
                    Some(attached) => attached.loading = Some((id, answer)),
                    None => self.answer(&id, Ok(answer)),
                }
                self.submit_waiting(&session_id);
            }
            WorkDone::NotAttached { id, session_id, error } => {
                self.answer(&id, Err(error));
                self.submit_waiting(&session_id);
            }
            WorkDone::Reached { id, action, session_id, head } => {
                if !self.sessions.contains_key(&session_id) {
                    let (session_id, cwd) = (session_id.clone(), PathBuf::from("/"));
                    self.attach(Attachment { session_id, cwd, after: head, resumed: false, head });
                }
                self.submit_prompt(id, session_id, action);
            }
            WorkDone::Prompted { id, session_id, receipt } => {
                let Some(attached) = self.sessions.get_mut(&session_id) else { return };
                let Some(place) = attached.prompts.iter().position(|prompt| prompt.id == id) else { return };
                let answer = match receipt {
                    Err(error) | Ok(ActionReceipt { refusal: Some(error), .. }) => Err(refusal(&error)),
                    Ok(ActionReceipt { outcome, is_repeat, .. }) => match outcome.status {
                        ActionStatus::Failed => Err(failed(&outcome.result)),
                        // The result of an earlier prompt with the same id.
                        ActionStatus::Done => Ok(answer::of_record(&outcome.result)),
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
    fn attach(&mut self, attachment: Attachment) {
        let Attachment { session_id, cwd, after, resumed, head } = attachment;
        let prompts = self.sessions.remove(&session_id).map(|mut earlier| std::mem::take(&mut earlier.prompts));
        let connection = ChannelConnection::begin(
            &self.daemon,
            &self.channel,
            Some(&session_id),
            ChannelTransport::WebSocket,
            Some("acp"),
            resumed.then_some(after),
        );
        self.last_action += 1;
        let number = self.last_action;
        let reader = self.daemon.gateway.events(&session_id, Some(after));
        let lag = reader.lag();
        let pump = spawn(pump(reader, session_id.clone(), number, self.news.clone())).abort_handle();
        let updates = UpdateConverter::new(session_id.clone(), cwd, self.wants);
        let prompts = prompts.unwrap_or_default();
        let attached =
            AttachedSession { connection, updates, pump, number, lag, head, resumed, loading: None, prompts };
        self.sessions.insert(session_id, attached);
    }

    /// Takes the events of a session.
    pub(super) fn take_news(&mut self, news: SessionNews) -> Result<(), ConnectionEnd> {
        let SessionNews { session_id, number, read, cursor } = news;
        if self.sessions.get(&session_id).is_none_or(|attached| attached.number != number) {
            return Ok(());
        }
        let frames = match read {
            Ok(ReadEvents::Frames(frames)) => frames,
            Ok(ReadEvents::Slow) => {
                report(FailedOperation::Delivery, "slow channel", "disconnected a channel: it read too slowly");
                let text = format!("slow; resume after {cursor}");
                return Err(ConnectionEnd::new(DisconnectReason::Slow, CloseCode::Again, text));
            }
            Err(error) => {
                report(
                    FailedOperation::Read,
                    "channel events",
                    format_args!("cannot read the events of a session: {error}"),
                );
                return Err(ConnectionEnd::new(DisconnectReason::Protocol, CloseCode::Error, "log"));
            }
        };
        for frame in &frames {
            match &frame.origin {
                FrameOrigin::Record(record) => self.take_record(&session_id, frame, record),
                FrameOrigin::Stream if frame.cursor.is_some() => self.take_notice(frame),
                // The log has the text too: in its order, with a cursor.
                FrameOrigin::Stream | FrameOrigin::Live(_) => {}
            }
        }
        Ok(())
    }

    /// Sends a notice about the stream: a snapshot, or missing events.
    fn take_notice(&mut self, frame: &ChannelFrame) {
        if let Some(event) = event_of(frame) {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"{EVENT}","params":{event}}}"#);
            self.out.push(OutgoingFrame { text, event: None });
        }
    }

    fn take_record(&mut self, session_id: &Arc<str>, frame: &ChannelFrame, record: &Record) {
        let Some(attached) = self.sessions.get_mut(session_id) else { return };
        let mut texts = Vec::new();
        if let Some(event) = shown_event(record) {
            for update in attached.updates.frames(event) {
                let mut params = update.params;
                params["_meta"]["harn"]["sequence"] = record.cursor.into();
                texts.push(json!({"jsonrpc": "2.0", "method": update.method, "params": params}).to_string());
            }
        }
        if texts.is_empty()
            && self.wants_events
            && let Some(event) = event_of(frame)
        {
            texts.push(format!(r#"{{"jsonrpc":"2.0","method":"{EVENT}","params":{event}}}"#));
        }
        let event = Some((session_id.clone(), record.cursor));
        self.out.extend(texts.into_iter().map(|text| OutgoingFrame { text, event: event.clone() }));
        if let Some(Ok(recorded)) = RecordedChannelEvent::read(record) {
            self.take_channel_event(session_id, record.cursor, recorded);
        }
        if Topic::named(&record.topic) == Some(Topic::Life) {
            self.take_life(session_id, record);
        }
    }

    fn take_channel_event(&mut self, session_id: &Arc<str>, cursor: u64, recorded: RecordedChannelEvent) {
        match recorded.event {
            // A question that was decided meanwhile is not asked.
            ChannelEvent::PermissionForwarded(forwarded) => {
                // A question that was decided meanwhile is not asked.
                if let Some(question) = self.daemon.core().gateway.permissions.open_question(&forwarded.request) {
                    self.ask(session_id, &question, Some(cursor));
                }
            }
            ChannelEvent::PermissionReturned(returned) => {
                let id = request_id(&returned.request);
                // An earlier connection may have asked a client that resumes.
                let is_of_earlier = self.channel.scopes.has(ChannelScope::Permit)
                    && self.sessions.get(session_id).is_some_and(|it| it.resumed && cursor <= it.head);
                if self.asked.remove(&id).is_some() || is_of_earlier {
                    self.put(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}));
                }
            }
            ChannelEvent::Connected(_) | ChannelEvent::Resumed(_)
                if recorded.channel_id.as_ref() == Some(&self.channel.id) =>
            {
                let Some(attached) = self.sessions.get_mut(session_id).filter(|it| cursor > it.head) else { return };
                let loading = attached.loading.take();
                // A question of the history may not be in the events that the client gets.
                for question in self.daemon.core().gateway.permissions.open_questions(session_id) {
                    self.ask(session_id, &question, None);
                }
                if let Some((id, answer)) = loading {
                    self.answer(&id, Ok(answer));
                }
            }
            _ => {}
        }
    }

    /// Asks the client a permission question, unless it has it.
    fn ask(&mut self, session_id: &Arc<str>, undecided: &UndecidedQuestion, cursor: Option<u64>) {
        let UndecidedQuestion { request, question } = undecided;
        let id = request_id(request);
        if !self.channel.scopes.has(ChannelScope::Permit) || self.asked.contains_key(&id) {
            return;
        }
        let Some(attached) = self.sessions.get(session_id) else { return };
        let shown = attached.updates.tool_call(&question.call, &question.annotations);
        let holds = match self.channel.scopes.has(ChannelScope::PermitSession) {
            true => AlwaysHolds::Session,
            false => AlwaysHolds::Channel,
        };
        let mut params = match permission::params(question, shown, holds) {
            Ok(params) => params,
            Err(error) => return tracing::error!("cannot ask a client for a permission: {error}"),
        };
        if let Some(cursor) = cursor {
            params["_meta"]["harn"]["sequence"] = cursor.into();
        }
        params["_meta"]["harn"]["request"] = (**request).into();
        params["_meta"]["harn"]["requestedBy"] = (*question.requested_by).into();
        self.asked.insert(id, AskedPermission { session_id: session_id.clone(), request: request.clone() });
        self.put(&json!({"jsonrpc": "2.0", "id": id, "method": permission::METHOD, "params": params}));
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
                let is_its = |prompt: &SubmittedPrompt| match &prompt.turn_id {
                    Some(known) => Some(known) == turn_id.as_ref(),
                    None => prompt.is_repeat,
                };
                let (ended, open) = std::mem::take(&mut attached.prompts).into_iter().partition(is_its);
                attached.prompts = open;
                let ended: Vec<SubmittedPrompt> = ended;
                for prompt in ended {
                    let answer = match payload.get("stop").as_str() {
                        Some("failed") if payload.get("reason").as_str() == Some(INTERRUPTED) => {
                            Err(ErrorResponse::not_now(INTERRUPTED, INTERRUPTION))
                        }
                        Some("failed") => Err(ErrorResponse::broken("the script failed")
                            .reason("script_failed")
                            .with("detail", payload.get("reason").as_str().unwrap_or_default())),
                        _ => Ok(answer::of_record(payload)),
                    };
                    self.answer(&prompt.id, answer);
                }
            }
            _ => {}
        }
    }
}

/// Returns the event of a frame as JSON, which was written once for all connections.
fn event_of(frame: &ChannelFrame) -> Option<&str> {
    std::str::from_utf8(&frame.sse).ok()?.lines().find_map(|line| line.strip_prefix("data: "))
}

/// Returns the id of the request with a permission question. It is the same on every connection, so that the answer to a
/// question of an earlier connection never counts for another question. Every number in JSON can have its 52 bits.
fn request_id(request: &str) -> i64 {
    let digits = request.rsplit_once('-').map_or(request, |(_, digits)| digits);
    digits.get(..13).and_then(|digits| i64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}
