//! `a2a.…`: asking other agents by the Agent2Agent protocol.

pub(crate) mod deadline;
mod linked;
pub(crate) mod message;
mod peer_stream;
pub(crate) mod settings;
use base::data::Data;

use crate::a2a::client::{Access, Method, Peer, PeerError, reminder, shown};
use crate::capability::Capability;
use crate::convert::to_value;
use crate::fault::{of_peer, of_reminder};
use crate::here;
use crate::lint;
use crate::options::{
    A2aGetOptions, A2aInjectOptions, A2aOptions, A2aSendOptions, A2aStreamOptions, A2aSubscribeOptions, InjectFallback,
    OptionSet, PeerAccess, label_of,
};
use crate::world::World;
use a2a::{Frame, Task};
use deadline::by;
use lang::builtins::{Right, args};
use lang::value::{Str, Value};
use lang::vm::{Cx, Raise, Wait};
use linked::LinkedTask;
use message::{Sending, sending};
use peer_stream::PeerStream;
use providers::web::Web;
#[cfg(feature = "hub")]
pub(crate) use settings::token;
use settings::{PeerSettings, peer_of};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const NET: &[Right] = &[Capability::Net.right()];

lang::builtins! { "a2a" =>
    /// The card of the agent at a URL, with what is read from it under `harn`: `{version, endpoint, streaming, reminders}`.
    waits "card(url: string, options: A2aOptions = nil) -> A2aCard" [caps = NET] card;
    /// Says something to an agent and waits until the task is over or waits for an answer: `{task_id, context_id, state, text,
    /// data, artifacts, status_text, status_data, history, metadata}`. `message` is a text, a list of parts as `task.artifact`
    /// takes them, or `{parts, metadata?}`; the option `task_id` answers a task that waits.
    waits "send(url: string, message: string | list<string | MessagePart> | PeerMessage, options: A2aSendOptions = nil) -> A2aTask" [caps = NET, lint = lint::a2a_message] send;
    /// Sends a message like `a2a.send`, and yields the events of its task: `for event in
    /// a2a.stream(…)`, each with `event`: "task", "status", "artifact", "reminder" or "message".
    /// Leaving the loop leaves the task alone.
    waits "stream(url: string, message: string | list<string | MessagePart> | PeerMessage, options: A2aStreamOptions = nil) -> stream" [caps = NET, lint = lint::a2a_message] stream;
    /// Yields the events of a task from now on, the task as it is first; as `a2a.stream`.
    waits "subscribe(url: string, task_id: string, options: A2aSubscribeOptions = nil) -> stream" [caps = NET] subscribe;
    /// Returns a task as it is now; as `a2a.send` returns it.
    waits "get(url: string, task_id: string, options: A2aGetOptions = nil) -> A2aTask" [caps = NET] get;
    /// Cancels a task and returns it as it is then.
    waits "cancel(url: string, task_id: string, options: A2aOptions = nil) -> A2aTask" [caps = NET] cancel;
    /// Injects a reminder into the session of a task: `{via: "method" | "metadata" | "suppressed",
    /// reminder_id?, deduped_count?}`. If the agent accepts none, `fallback: "metadata"` sends it
    /// along with a message to the task; "suppress" (the default) does not.
    waits "inject_reminder(url: string, task_id: string, spec: ReminderSpec, options: A2aInjectOptions = nil) -> A2aReminder" [caps = NET, lint = lint::a2a_reminder] inject_reminder;
}

fn card(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let options = A2aOptions::read(cx, args, 1)?;
    let asked = PeerSettings::read(cx, args, 1, &options.access, options.timeout_ms)?;
    let world = here::world(cx)?;
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        Ok(to_value(&peer_of(&world, asked.access).await?.card.to_data()))
    }))
}

fn send(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let A2aSendOptions { sending: options, wait, reminders, timeout_ms } = A2aSendOptions::read(cx, args, 2)?;
    let mut asked = PeerSettings::read(cx, args, 2, &options.access, timeout_ms)?;
    asked.access.extensions.clone_from(&options.extensions);
    let sending = sending(cx, args, &options, reminders.as_ref(), wait)?;
    let world = here::world(cx)?;
    let linked = LinkedTask::new(cx, &world);
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        let (deadline, task_id) = (sending.deadline, OnceCell::new());
        let who = asked.access.shown();
        let sent = sent(&world, asked.access, sending, linked, &task_id);
        let frame = by(deadline, &world.clock, sent)
            .await
            .unwrap_or_else(|deadline| Err(of_peer(&deadline.error(&who).fact("task_id", task_id.get().into()))))?;
        Ok(to_value(&shown::outcome(&frame)))
    }))
}

/// Sends a message and returns the result; the id of its task is stored in `task_id` as soon as it
/// is known.
async fn sent(
    world: &Rc<World>,
    access: Access,
    sending: Sending,
    mut linked: LinkedTask,
    task_id: &OnceCell<Arc<str>>,
) -> Result<Frame, Box<Raise>> {
    let peer = peer_of(world, access).await?;
    linked.with(&peer, sending.request.message.task_id.as_ref()).await?;
    let wait = sending.wait;
    let timeout = Duration::from_millis(peer.access.timeout_ms);
    let sent = async {
        let frame = sending.send(world, &peer).await?;
        linked.take(&frame);
        match frame {
            Frame::Task(task) if wait => {
                let _ = task_id.set(task.id.clone());
                settled(&world.services.web, &peer, task, &mut linked).await.map(Frame::Task)
            }
            frame => Ok(frame),
        }
    };
    let frame = tokio::time::timeout(timeout, sent).await;
    let frame = frame.unwrap_or_else(|_| Err(too_slow(&peer).fact("task_id", task_id.get().into())));
    frame.map_err(|error| {
        linked.failed(&error);
        failed(world, &peer, &error)
    })
}

/// The first and the longest interval between requests for the state of a task that an agent did
/// not wait for.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// The task once it is over or waits for its caller: not every agent waits with its answer until then.
async fn settled(web: &Web, peer: &Peer, task: Arc<Task>, linked: &mut LinkedTask) -> Result<Arc<Task>, PeerError> {
    let (mut task, mut pause) = (task, LOOK_AGAIN.0);
    while !(task.status.state.is_terminal() || task.status.state.is_interrupted()) {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_AGAIN.1);
        let params = Peer::task_params(&task.id, None);
        let asked = peer.call_for_task(web, Method::Get, params).await;
        task = Arc::new(asked.map_err(|error| error.fact("task_id", (&task.id).into()))?);
        linked.take(&Frame::Task(task.clone()));
    }
    Ok(task)
}

fn too_slow(peer: &Peer) -> PeerError {
    let message = format!("{} did not finish the task within {} ms", peer.shown(), peer.access.timeout_ms);
    PeerError::new(crate::a2a::client::ErrorKind::Timeout, message)
        .help("allow more time with `timeout_ms`, or pass `wait: false` and use `a2a.get` later")
}

fn stream(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let A2aStreamOptions { sending: options, reminders, timeout_ms } = A2aStreamOptions::read(cx, args, 2)?;
    let mut asked = PeerSettings::read(cx, args, 2, &options.access, timeout_ms)?;
    asked.access.extensions.clone_from(&options.extensions);
    if !matches!(reminders, Some(Value::Bool(false))) {
        asked.wants_reminders();
    }
    let sending = sending(cx, args, &options, reminders.as_ref(), true)?;
    let world = here::world(cx)?;
    let mut linked = LinkedTask::new(cx, &world);
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        let (deadline, who) = (sending.deadline, asked.access.shown());
        let opened = async {
            let peer = peer_of(&world, asked.access).await?;
            linked.with(&peer, sending.request.message.task_id.as_ref()).await?;
            sending.stream(&world, &peer).await.map_err(|error| {
                linked.failed(&error);
                failed(&world, &peer, &error)
            })
        };
        let stream = by(deadline, &world.clock, opened).await;
        let stream = stream.unwrap_or_else(|deadline| Err(of_peer(&deadline.error(&who))))?;
        Ok(PeerStream::value(stream, world.clock.clone(), deadline, linked))
    }))
}

fn subscribe(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let options = A2aSubscribeOptions::read(cx, args, 2)?;
    let mut asked = PeerSettings::read(cx, args, 2, &options.access, options.timeout_ms)?;
    asked.access.extensions = options.extensions;
    if options.reminders {
        asked.wants_reminders();
    }
    let task_id = task_id(args)?;
    let world = here::world(cx)?;
    let mut linked = LinkedTask::new(cx, &world);
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        let peer = peer_of(&world, asked.access).await?;
        linked.with(&peer, Some(&task_id)).await?;
        let params = Peer::task_params(&task_id, None);
        let stream = peer.stream(&world.services.web, Method::Subscribe, params).await;
        let stream = stream.map_err(|error| {
            linked.failed(&error);
            failed(&world, &peer, &error)
        })?;
        Ok(PeerStream::value(stream, world.clock.clone(), None, linked))
    }))
}

fn get(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let A2aGetOptions { access, history_length, timeout_ms } = A2aGetOptions::read(cx, args, 2)?;
    about_task(cx, args, (&access, timeout_ms), Method::Get, history_length)
}

fn cancel(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let A2aOptions { access, timeout_ms } = A2aOptions::read(cx, args, 2)?;
    about_task(cx, args, (&access, timeout_ms), Method::Cancel, None)
}

/// Calls a method whose only parameter is a task's id, and returns the task.
fn about_task(
    cx: &Cx<'_>,
    args: &[Value],
    (access, timeout_ms): (&PeerAccess, u64),
    method: Method,
    history_length: Option<u32>,
) -> Result<Wait, Box<Raise>> {
    let asked = PeerSettings::read(cx, args, 2, access, timeout_ms)?;
    let task_id = task_id(args)?;
    let world = here::world(cx)?;
    let mut linked = LinkedTask::new(cx, &world);
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        let peer = peer_of(&world, asked.access).await?;
        linked.with(&peer, Some(&task_id)).await?;
        let params = Peer::task_params(&task_id, history_length);
        let task = peer.call_for_task(&world.services.web, method, params).await.map(Arc::new);
        match task {
            Ok(task) => {
                linked.take(&Frame::Task(task.clone()));
                Ok(to_value(&shown::of_task(&task)))
            }
            Err(error) => {
                linked.failed(&error);
                Err(failed(&world, &peer, &error))
            }
        }
    }))
}

fn inject_reminder(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let options = A2aInjectOptions::read(cx, args, 3)?;
    let asked = PeerSettings::read(cx, args, 3, &options.access, options.timeout_ms)?;
    let task_id = task_id(args)?;
    let spec = crate::convert::to_data(&args[2]).map_err(|raise| raise.about(2, ""))?;
    let more = [("id", options.id.unwrap_or_default()), ("source", options.source.unwrap_or_default())];
    let wire = reminder::to_wire(&spec, &more).map_err(|error| of_reminder(&error).about(2, label_of(&error)))?;
    let is_metadata = options.fallback == Some(InjectFallback::Metadata);
    let message = options.message.map(|message| message::message(&message, 3, "message")).transpose()?;
    let metadata = options.metadata;
    let world = here::world(cx)?;
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        let peer = peer_of(&world, asked.access).await?;
        let injecting = Injecting { task_id, wire, metadata, is_metadata, message };
        let injected = injecting.inject(&world, &peer).await;
        injected.map(|answer| to_value(&answer)).map_err(|error| failed(&world, &peer, &error))
    }))
}

/// A reminder on its way.
struct Injecting {
    task_id: Arc<str>,
    /// The reminder as the wire has it.
    wire: Data,
    metadata: Data,
    /// Whether it goes with a message where the agent takes none by itself.
    is_metadata: bool,
    /// The message.
    message: Option<(Vec<a2a::Part>, Data)>,
}

impl Injecting {
    async fn inject(self, world: &Rc<World>, peer: &Peer) -> Result<Data, PeerError> {
        if peer.card.reminders.as_ref().is_some_and(|known| known.inject) {
            let mut params = Data::dict([("taskId", Data::from(&self.task_id)), ("reminder", self.wire.clone())]);
            if !self.metadata.is_nil() {
                params.set("metadata", self.metadata.clone());
            }
            match peer.call(&world.services.web, Method::InjectReminder, params).await {
                Ok(result) => {
                    return Ok(Data::dict([
                        ("via", Data::from("method")),
                        ("reminder_id", result.get("reminderId").clone()),
                        ("deduped_count", result.get("dedupedCount").clone()),
                    ]));
                }
                // The card promises more than there is.
                Err(error) if error.rpc_code() == Some(METHOD_NOT_FOUND) => {}
                Err(error) => return Err(error),
            }
        }
        self.fall_back(world, peer).await
    }

    async fn fall_back(mut self, world: &Rc<World>, peer: &Peer) -> Result<Data, PeerError> {
        let said = |via: &str, why: &str| Data::dict([("via", Data::from(via)), ("reason", why.into())]);
        if !self.is_metadata {
            return Ok(said("suppressed", "the agent does not support reminders"));
        }
        // It may have to go twice, and is one.
        if self.wire.get("id").is_nil() {
            self.wire.set("id", message::fresh("rem").into());
        }
        let id = self.wire.get("id").clone();
        let params = Peer::task_params(&self.task_id, Some(0));
        let task = peer.call_for_task(&world.services.web, Method::Get, params).await?;
        let state = task.status.state;
        if state.is_terminal() {
            return Ok(said("suppressed", &format!("the task is {state}")));
        }
        let answer = self.message.filter(|_| state.is_interrupted());
        let is_sent = answer.is_some();
        // It goes with what is said to the task next, and waits on where that does not arrive.
        let deduped = world.services.peers.outbox.put(peer.card.endpoint.as_str(), &self.task_id, self.wire.clone());
        if deduped.is_none() && !is_sent {
            return Ok(said("suppressed", "too many reminders are waiting for a message"));
        }
        if let Some((parts, metadata)) = answer {
            // Without room to wait it is sent with this message or not at all.
            let own = if deduped.is_none() { vec![self.wire] } else { Vec::new() };
            let metadata = reminder::attach(metadata, own);
            let sent = Sending::answer(task.id, parts, metadata).send(world, peer).await;
            // A repeated call states the id, so that the reminder is recognized if it waits.
            let waits = deduped.map_or(Data::Nil, |_| id.clone());
            sent.map_err(|error| error.fact("reminder_id", waits))?;
        }
        Ok(Data::dict([
            ("via", Data::from("metadata")),
            ("sent", is_sent.into()),
            ("reminder_id", id),
            ("deduped_count", deduped.unwrap_or_default().into()),
        ]))
    }
}

/// JSON-RPC's code of a method that is not offered.
const METHOD_NOT_FOUND: i64 = -32601;

fn task_id(args: &[Value]) -> Result<Arc<str>, Box<Raise>> {
    let id: &Str = args::str(args, 1)?;
    if id.trim().is_empty() {
        return Err(Raise::error(lang::vm::RunCode::Value, "the task does not have an id").about(1, "blank"));
    }
    Ok(Arc::from(id.as_str()))
}

/// Returns the raise for a failed call. A card may be outdated: the next call reads it again.
fn failed(world: &World, peer: &Peer, error: &PeerError) -> Box<Raise> {
    use crate::a2a::client::ErrorKind as Kind;
    if matches!(error.kind, Kind::Connection | Kind::NotAgent | Kind::Moved | Kind::Status | Kind::Refused)
        || error.rpc_code() == Some(METHOD_NOT_FOUND)
    {
        world.services.peers.cards.forget(&peer.access);
    }
    of_peer(error)
}
