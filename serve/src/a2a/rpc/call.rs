//! Executes requests.

use a2a::{Frame, SendMessage, Version};
use base::data::Data;
use jsonrpc::Id;
use serde::Serialize;

use super::answer;
use super::envelope::RpcRequest;
use super::frame_cache::FrameCache;
use super::legacy;
use super::method::A2aMethod;
use super::stream::{StreamEnvelope, StreamSource, TaskEventStream, event_of};
use super::version::RequestedVersion;
use crate::a2a::A2aCode;
use crate::a2a::Refusal;
use crate::a2a::error::{RpcError, code};
use crate::a2a::extension::RequestedExtension;
use crate::a2a::injection;
use crate::a2a::reminder::ReminderFormat;
use crate::a2a::tasks::{TaskCaller, TaskManager};
use crate::count_limit::{CountLimit, CountPermit};

/// The sender of a request, as its headers describe it.
#[derive(Debug, Clone)]
pub(in crate::a2a) struct RequestSender {
    /// The version that it names.
    pub(in crate::a2a) said: RequestedVersion,
    /// The parts of the reminder extension that it requests.
    pub(in crate::a2a) asked: RequestedExtension,
}

/// The state that all streams share.
#[derive(Clone)]
pub(crate) struct StreamContext {
    /// The limit on streams.
    pub(crate) permits: CountLimit,
    /// The most recently written frames.
    pub(crate) written: FrameCache,
}

/// The result of a request.
pub(crate) enum CallResult {
    /// The text of a response.
    Text(String),
    /// A stream of a task's updates.
    Stream(Box<TaskEventStream>),
    /// A stream with one event.
    Event(String),
    /// No response, as the request was a notification.
    Nothing,
}

/// Executes a request.
pub(in crate::a2a) async fn call(
    manager: &TaskManager,
    streams: &StreamContext,
    request: RpcRequest,
    caller: RequestSender,
) -> CallResult {
    let RpcRequest { id, method, params } = request;
    let params = params.unwrap_or(Data::Nil);
    let is_notification = id.is_none();
    let mut call = MethodCall {
        manager,
        streams,
        id: id.unwrap_or_else(Id::null),
        is_notification,
        version: caller.said.nearest(),
        is_legacy: legacy::is_legacy(&method),
    };
    let reply = call.meet(&method, &params, &caller).await;
    match reply {
        _ if is_notification => CallResult::Nothing,
        Ok(reply) => reply,
        Err(fault) => {
            let text = answer::refused(&call.id, &fault, call.version);
            // A client of version 0.3 that requests a stream reads only events.
            let wants_events = call.version != Version::V1_0 && A2aMethod::of(&method).is_ok_and(A2aMethod::is_stream);
            if wants_events { CallResult::Event(event_of(&text)) } else { CallResult::Text(text) }
        }
    }
}

struct MethodCall<'a> {
    manager: &'a TaskManager,
    streams: &'a StreamContext,
    id: Id,
    is_notification: bool,
    /// The version of the response.
    version: Version,
    /// Whether the method's name is one from before version 0.3.
    is_legacy: bool,
}

impl MethodCall<'_> {
    async fn meet(&mut self, name: &str, params: &Data, caller: &RequestSender) -> Result<CallResult, RpcError> {
        let said = caller.said.known()?;
        let method = A2aMethod::of(name)?;
        self.version = said.unwrap_or(Version::V0_3);
        let version = self.version;
        Ok(match method {
            A2aMethod::Send => self.send(params, caller).await?,
            A2aMethod::Stream => self.stream(params, caller).await?,
            A2aMethod::Get => {
                let asked = version.read_get(params)?;
                let task = self.manager.task(&asked.id).await?;
                self.result(&version.task(&task, asked.history_length))
            }
            A2aMethod::List => {
                let asked = version.read_list(params)?;
                let page = self.manager.list(asked.clone()).await?;
                self.result(&version.page(&page, &asked))
            }
            A2aMethod::Cancel => {
                let asked = version.read_get(params)?;
                let task = self.manager.cancel(&asked.id).await?;
                self.result(&version.task(&task, asked.history_length))
            }
            A2aMethod::Subscribe => self.subscribe(params, caller).await?,
            A2aMethod::Push => return Err(no_push()),
            A2aMethod::ExtendedCard => {
                return Err(no_extended_card(version, name));
            }
            A2aMethod::Reminders(name) => {
                let result = injection::call(name, params, self.manager).await;
                self.result(&result.map_err(RpcError::of_extension)?)
            }
        })
    }

    /// Reads the parameters of a message. A request for push notifications is refused before anything begins.
    fn sent(&self, params: &Data) -> Result<SendMessage, RpcError> {
        let request = match self.is_legacy {
            true => self.version.read_send(&legacy::converted(params, self.version))?,
            false => self.version.read_send(params)?,
        };
        let field = match self.version {
            Version::V1_0 => "configuration.taskPushNotificationConfig",
            Version::V0_3 => "configuration.pushNotificationConfig",
        };
        if request.configuration.push { Err(no_push().field(field)) } else { Ok(request) }
    }

    fn result(&self, result: &impl Serialize) -> CallResult {
        CallResult::Text(jsonrpc::result(&self.id, result))
    }

    /// Returns the sender of a message. A client with reminder events identifies them by their task, and one that names
    /// a task expects it, so they get no message in its place.
    fn asker(&self, request: &SendMessage, caller: &RequestSender) -> TaskCaller {
        let waits = !request.configuration.return_immediately && !self.is_notification;
        let takes_message = waits && !caller.asked.is_any() && request.message.task_id.is_none();
        TaskCaller { version: self.version, takes_message, names_tasks: self.is_legacy }
    }

    async fn send(&self, params: &Data, caller: &RequestSender) -> Result<CallResult, RpcError> {
        let version = self.version;
        let request = self.sent(params)?;
        let wanted = request.configuration.clone();
        let asker = self.asker(&request, caller);
        let (id, followed) = self.manager.send(request, asker).await?;
        drop(followed);
        let task = if wanted.return_immediately || self.is_notification {
            self.manager.task(&id).await?
        } else {
            self.manager.settled(&id).await?
        };
        Ok(match self.manager.message(&task, asker) {
            Some(message) => self.result(&version.frame(&Frame::Message(message.into()), true)),
            None => self.result(&version.sent(&task, wanted.history_length)),
        })
    }

    async fn stream(&self, params: &Data, caller: &RequestSender) -> Result<CallResult, RpcError> {
        let request = self.sent(params)?;
        let history = request.configuration.history_length;
        let permit = self.permit()?;
        let asker = self.asker(&request, caller);
        let (id, followed) = self.manager.send(request, asker).await?;
        let source = if asker.takes_message && self.manager.replies_with_messages() {
            let manager = self.manager.clone();
            StreamSource::Open(Box::pin(async move { manager.follow_or_message(&id, followed, asker).await }))
        } else {
            StreamSource::Subscription(followed)
        };
        Ok(self.frames(source, caller, history, permit))
    }

    async fn subscribe(&self, params: &Data, caller: &RequestSender) -> Result<CallResult, RpcError> {
        let asked = self.version.read_get(params)?;
        let state = self.manager.task(&asked.id).await?.status.state;
        if state.is_terminal() {
            let message = format!("the task is {state} and has no more events; request the task instead");
            let fault = RpcError::new(code::UNSUPPORTED, A2aCode::NotTaken, message);
            return Err(fault.with("taskId", &*asked.id).with("state", state.as_str()));
        }
        let permit = self.permit()?;
        let followed = self.manager.follow(&asked.id).await?;
        Ok(self.frames(StreamSource::Subscription(followed), caller, asked.history_length, permit))
    }

    /// Takes a place for a stream, before anything begins.
    fn permit(&self) -> Result<CountPermit, Refusal> {
        let permits = &self.streams.permits;
        permits.take().ok_or(Refusal::TooManyStreams(permits.most()))
    }

    fn frames(
        &self,
        source: StreamSource,
        caller: &RequestSender,
        history: Option<u32>,
        permit: CountPermit,
    ) -> CallResult {
        let written = self.streams.written.clone();
        // The draft sends its notifications on the streams of `tasks/sendSubscribe`; before it, they had the nested form.
        let notifies = caller.asked.wants_notifications() || self.is_legacy && caller.asked.is_any();
        let spelling = ReminderFormat::new(notifies).nested(self.is_legacy);
        let frames = TaskEventStream::new(
            StreamEnvelope::JsonRpc(self.id.clone()),
            self.version,
            spelling,
            history,
            source,
            written,
            permit,
        );
        CallResult::Stream(Box::new(frames))
    }
}

/// Returns the error for a request for the extended card by a method of this name.
pub(crate) fn no_extended_card(version: Version, name: &str) -> RpcError {
    // In 1.0 the other code is for agents whose card declares an extended card.
    let is_1_0 = version == Version::V1_0 || name == "GetExtendedAgentCard";
    let rpc = if is_1_0 { code::UNSUPPORTED } else { code::NO_EXTENDED_CARD };
    RpcError::new(rpc, A2aCode::NotOffered, "this agent has a single public card")
}

/// Returns the error for a request for push notifications.
pub(crate) fn no_push() -> RpcError {
    let message = "this agent does not support push notifications; follow the task's stream, or request the task";
    RpcError::new(code::NO_PUSH, A2aCode::NotOffered, message)
}
