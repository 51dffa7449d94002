//! Executes requests.

use a2a::{Frame, SendMessage, Version};
use jsonrpc::Id;
use runtime::data::Data;
use serde::Serialize;

use super::answer;
use super::envelope::Request;
use super::method::Method;
use super::stream::{Frames, Source, event_of};
use super::version::Said;
use super::written::Written;
use crate::a2a::A2aCode;
use crate::a2a::Refusal;
use crate::a2a::desk::{Asker, Desk};
use crate::a2a::error::{Fault, code};
use crate::a2a::injection;
use crate::a2a::places::{Place, Places};
use crate::a2a::reminder::Spelling;

/// The sender of a request, as its headers describe it.
#[derive(Debug, Clone)]
pub(in crate::a2a) struct Caller {
    /// The version that it names.
    pub(in crate::a2a) said: Said,
    /// Whether it requests reminder notifications.
    pub(in crate::a2a) reminders: bool,
}

/// The state that all streams share.
#[derive(Clone)]
pub(in crate::a2a) struct Streams {
    /// The limit on streams.
    pub(in crate::a2a) places: Places,
    /// The most recently written frames.
    pub(in crate::a2a) written: Written,
}

/// The result of a request.
pub(in crate::a2a) enum Reply {
    /// The text of a response.
    Text(String),
    /// A stream of a task's updates.
    Stream(Box<Frames>),
    /// A stream with one event.
    Event(String),
    /// No response, as the request was a notification.
    Nothing,
}

/// Executes a request.
pub(in crate::a2a) async fn call(desk: &Desk, streams: &Streams, request: Request, caller: Caller) -> Reply {
    let Request { id, method, params } = request;
    let params = params.unwrap_or(Data::Nil);
    let is_notification = id.is_none();
    let mut call =
        Call { desk, streams, id: id.unwrap_or_else(Id::null), is_notification, version: caller.said.nearest() };
    let reply = call.meet(&method, &params, &caller).await;
    match reply {
        _ if is_notification => Reply::Nothing,
        Ok(reply) => reply,
        Err(fault) => {
            let text = answer::refused(&call.id, &fault, call.version);
            // A client of version 0.3 that requests a stream reads only events.
            let wants_events = call.version != Version::V1_0 && Method::of(&method).is_ok_and(Method::is_stream);
            if wants_events { Reply::Event(event_of(&text)) } else { Reply::Text(text) }
        }
    }
}

struct Call<'a> {
    desk: &'a Desk,
    streams: &'a Streams,
    id: Id,
    is_notification: bool,
    /// The version of the response.
    version: Version,
}

impl Call<'_> {
    async fn meet(&mut self, name: &str, params: &Data, caller: &Caller) -> Result<Reply, Fault> {
        let said = caller.said.known()?;
        let method = Method::of(name)?;
        self.version = said.unwrap_or(Version::V0_3);
        let version = self.version;
        Ok(match method {
            Method::Send => self.send(params, caller).await?,
            Method::Stream => self.stream(params, caller).await?,
            Method::Get => {
                let asked = version.read_get(params)?;
                let task = self.desk.task(&asked.id).await?;
                self.result(&version.task(&task, asked.history_length))
            }
            Method::List => {
                let asked = version.read_list(params)?;
                let page = self.desk.list(asked.clone()).await?;
                self.result(&version.page(&page, &asked))
            }
            Method::Cancel => {
                let asked = version.read_get(params)?;
                let task = self.desk.cancel(&asked.id).await?;
                self.result(&version.task(&task, asked.history_length))
            }
            Method::Subscribe => self.subscribe(params, caller).await?,
            Method::Push => return Err(no_push()),
            Method::ExtendedCard => {
                let message = "this agent has a single public card";
                // In 1.0 the other code is for agents whose card declares an extended card.
                let is_1_0 = version == Version::V1_0 || name == "GetExtendedAgentCard";
                let rpc = if is_1_0 { code::UNSUPPORTED } else { code::NO_EXTENDED_CARD };
                return Err(Fault::new(rpc, A2aCode::NotOffered, message));
            }
            Method::Reminders(name) => {
                let result = injection::call(name, params, self.desk).await;
                self.result(&result.map_err(Fault::of_extension)?)
            }
        })
    }

    /// Reads the parameters of a message. A request for push notifications is refused before anything begins.
    fn sent(&self, params: &Data) -> Result<SendMessage, Fault> {
        let request = self.version.read_send(params)?;
        let field = match self.version {
            Version::V1_0 => "configuration.taskPushNotificationConfig",
            Version::V0_3 => "configuration.pushNotificationConfig",
        };
        if request.configuration.push { Err(no_push().field(field)) } else { Ok(request) }
    }

    fn result(&self, result: &impl Serialize) -> Reply {
        Reply::Text(jsonrpc::result(&self.id, result))
    }

    /// Returns the sender of a message. A client with reminder notifications identifies them by their task, so it gets
    /// no message in its place.
    fn asker(&self, request: &SendMessage, caller: &Caller) -> Asker {
        let waits = !request.configuration.return_immediately && !self.is_notification;
        Asker { version: self.version, takes_message: waits && !caller.reminders }
    }

    async fn send(&self, params: &Data, caller: &Caller) -> Result<Reply, Fault> {
        let version = self.version;
        let request = self.sent(params)?;
        let wanted = request.configuration.clone();
        let asker = self.asker(&request, caller);
        let (id, followed) = self.desk.send(request, asker).await?;
        drop(followed);
        let task = if wanted.return_immediately || self.is_notification {
            self.desk.task(&id).await?
        } else {
            self.desk.settled(&id).await?
        };
        Ok(match self.desk.message(&task, asker) {
            Some(message) => self.result(&version.frame(&Frame::Message(message.into()), true)),
            None => self.result(&version.sent(&task, wanted.history_length)),
        })
    }

    async fn stream(&self, params: &Data, caller: &Caller) -> Result<Reply, Fault> {
        let request = self.sent(params)?;
        let history = request.configuration.history_length;
        let place = self.place()?;
        // The response to an answer in a task is always a stream of that task.
        let mut asker = self.asker(&request, caller);
        asker.takes_message &= request.message.task_id.is_none();
        let (id, followed) = self.desk.send(request, asker).await?;
        let mut source = Source::Told(followed);
        if asker.takes_message && self.desk.replies_with_messages() {
            let desk = self.desk.clone();
            source = Source::Open(Box::pin(async move { desk.follow_or_message(&id, asker).await }));
        }
        Ok(self.frames(source, caller, history, place))
    }

    async fn subscribe(&self, params: &Data, caller: &Caller) -> Result<Reply, Fault> {
        let asked = self.version.read_get(params)?;
        let state = self.desk.task(&asked.id).await?.status.state;
        if state.is_terminal() {
            let message = format!("the task is {state} and has no more events; request the task instead");
            let fault = Fault::new(code::UNSUPPORTED, A2aCode::NotTaken, message);
            return Err(fault.with("taskId", &*asked.id).with("state", state.as_str()));
        }
        let place = self.place()?;
        let followed = self.desk.follow(&asked.id).await?;
        Ok(self.frames(Source::Told(followed), caller, asked.history_length, place))
    }

    /// Takes a place for a stream, before anything begins.
    fn place(&self) -> Result<Place, Refusal> {
        let places = &self.streams.places;
        places.take().ok_or(Refusal::TooManyStreams(places.most()))
    }

    fn frames(&self, source: Source, caller: &Caller, history: Option<u32>, place: Place) -> Reply {
        let written = self.streams.written.clone();
        let spelling = Spelling::new(caller.reminders);
        let frames = Frames::new(self.id.clone(), self.version, spelling, history, source, written, place);
        Reply::Stream(Box::new(frames))
    }
}

fn no_push() -> Fault {
    let message = "this agent does not support push notifications; follow the task's stream, or request the task";
    Fault::new(code::NO_PUSH, A2aCode::NotOffered, message)
}
