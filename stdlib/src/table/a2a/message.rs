//! Messages to a peer, from the arguments of a call.

use super::deadline::Deadline;
use crate::a2a::client::{Lease, Method, Peer, PeerError, Stream, reminder};
use crate::codes::PeerCode;
use crate::convert::to_data;
use crate::fault::of_reminder;
use crate::here;
use crate::hosting;
use crate::options::{PeerMessageOptions, label_of};
use crate::table::task;
use crate::world::World;
use a2a::{Configuration, Content, Frame, Message, Part, Role, SendMessage};
use base::data::Data;
use lang::value::{Value, article};
use lang::vm::{Cx, Raise};
use runtime::workers::propagation;
use std::rc::Rc;
use std::sync::Arc;

/// A message on its way.
pub(super) struct Sending {
    pub(super) request: SendMessage,
    /// Whether the task is waited for.
    pub(super) wait: bool,
    /// The deadline.
    pub(super) deadline: Option<Deadline>,
}

/// The argument that has the options.
const OPTIONS: usize = 2;

/// Reads the message, which is the second argument, and the options that go with it.
pub(super) fn sending(
    cx: &Cx<'_>,
    args: &[Value],
    options: &PeerMessageOptions,
    reminders: Option<&Value>,
    wait: bool,
) -> Result<Sending, Box<Raise>> {
    let (parts, metadata) = message(&args[1], 1, "a message")?;
    let mut message = Message::new(Role::User, fresh("msg"), parts);
    message.context_id = options.context_id.clone();
    message.task_id = options.task_id.clone();
    message.reference_task_ids = options.reference_task_ids.clone();
    message.extensions = options.extensions.clone();
    let world = here::world(cx)?;
    let mut more = merged(metadata, &options.metadata);
    let deadline = Deadline::read(options.deadline.as_ref(), OPTIONS, &world.clock)?;
    if let Some(deadline) = &options.deadline {
        more = merged(more, &Data::dict([("deadline", to_data(deadline)?)]));
    }
    let mut reminders = specs(reminders, OPTIONS)?;
    let is_new = message.task_id.is_none();
    if is_new && options.inherit {
        more = of_parent(more, &world);
        let session = here::session(cx).or_else(|| world.current_session());
        let handed = session.map(|session| propagation::hand_over(&session)).unwrap_or_default();
        reminders.splice(0..0, reminder::inherited(&handed));
    }
    message.metadata = reminder::attach(more, reminders);
    let configuration =
        Configuration { history_length: options.history_length, return_immediately: !wait, ..Configuration::default() };
    Ok(Sending { request: SendMessage { message, configuration, metadata: Data::Nil }, wait, deadline })
}

/// The task at hand, where this run is served to another agent.
fn of_parent(metadata: Data, world: &World) -> Data {
    let task = world.hosting.as_ref().filter(|hosting| hosting.protocol == "a2a").and_then(|hosting| hosting.task_id());
    match task {
        Some(task) if metadata.get("parent_task_id").is_nil() => {
            merged(metadata, &Data::dict([("parent_task_id", Data::from(task))]))
        }
        _ => metadata,
    }
}

impl Sending {
    /// An answer to a task that waits.
    pub(super) fn answer(task_id: Arc<str>, parts: Vec<Part>, metadata: Data) -> Sending {
        let mut message = Message::new(Role::User, fresh("msg"), parts);
        message.task_id = Some(task_id);
        message.metadata = metadata;
        let configuration = Configuration { return_immediately: true, ..Configuration::default() };
        Sending { request: SendMessage { message, configuration, metadata: Data::Nil }, wait: false, deadline: None }
    }

    /// Sends it.
    pub(super) async fn send(self, world: &Rc<World>, peer: &Peer) -> Result<Frame, PeerError> {
        let Going { params, waiting } = self.go(world, peer).await;
        let sent = peer.call_for_frame(&world.services.web, Method::Send, params).await?;
        waiting.into_iter().for_each(Lease::delivered);
        Ok(sent)
    }

    /// Sends the message and streams its task's updates. An agent that does not stream answers
    /// once.
    pub(super) async fn stream(self, world: &Rc<World>, peer: &Peer) -> Result<Stream, PeerError> {
        let method = if peer.card.streaming { Method::Stream } else { Method::Send };
        let Going { params, waiting } = self.go(world, peer).await;
        let stream = peer.stream(&world.services.web, method, params).await?;
        // Its head says nothing of the message: the first event may be a refusal.
        Ok(stream.carrying(waiting))
    }

    /// The parameters, with the reminders that wait for a message to the task.
    async fn go(mut self, world: &Rc<World>, peer: &Peer) -> Going {
        let message = &mut self.request.message;
        let (outbox, endpoint) = (&world.services.peers.outbox, peer.card.endpoint.as_str());
        if message.task_id.as_deref().is_some_and(|task_id| outbox.has_lent(endpoint, task_id)) {
            // A task that was cancelled just now holds what it has until it is its turn.
            tokio::task::yield_now().await;
        }
        let waiting = message.task_id.as_deref().map(|task_id| outbox.lend(endpoint, task_id));
        let waiting = waiting.filter(|lease| !lease.reminders().is_empty());
        if let Some(waiting) = &waiting {
            let own = match message.metadata.get(reminder::KEY) {
                Data::Nil => Vec::new(),
                Data::List(own) => own.to_vec(),
                own => vec![own.clone()],
            };
            let all = waiting.reminders().iter().cloned().chain(own).collect();
            message.metadata = reminder::attach(message.metadata.clone(), all);
        }
        let params = peer.card.version.send(&self.request);
        Going { params, waiting }
    }
}

/// A message that has been written.
struct Going {
    params: Data,
    /// The reminders that go with it. Dropped before the message is known to have arrived, they wait on.
    waiting: Option<Lease>,
}

/// An id that nothing else has, in this run or another.
pub(crate) fn fresh(kind: &str) -> String {
    format!("{kind}_{}", uuid::Uuid::now_v7().simple())
}

/// Returns a script's message: its parts, and metadata.
pub(crate) fn message(value: &Value, arg: usize, what: &str) -> Result<(Vec<Part>, Data), Box<Raise>> {
    const EXPECTED: &str = "a text, a list of parts or `{parts, metadata?}`";
    let nothing = || {
        Raise::error(PeerCode::Unsendable, format!("{what} is empty"))
            .about(arg, "empty")
            .help("write what the agent should do")
    };
    let data = to_data(value).map_err(|raise| raise.about(arg, ""))?;
    let (parts, metadata) = match &data {
        Data::Str(text) if text.trim().is_empty() => return Err(nothing()),
        Data::Str(text) => return Ok((vec![Part::text(text.clone())], Data::Nil)),
        Data::List(_) => (&data, Data::Nil),
        Data::Dict(entries) => {
            if let Some(key) = entries.keys().find(|key| !matches!(key.as_ref(), "parts" | "metadata")) {
                let message = format!("{what} is {EXPECTED}; unknown field `{key}`");
                let raise = Raise::error(lang::check::CheckCode::Key, message).about(arg, format!("has `{key}`"));
                let help = match key.as_ref() {
                    "text" | "data" | "file" => format!("put it into a list: `[{{{key}: …}}]`"),
                    key => match lang::diagnostic::nearest(key, ["parts", "metadata"]) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "pass the options of the call as the next argument".to_owned(),
                    },
                };
                return Err(raise.help(help));
            }
            (data.get("parts"), data.get("metadata").clone())
        }
        _ => {
            let message = format!("{what} is {EXPECTED}, not {}", article(value.type_name()));
            return Err(Raise::error(lang::check::CheckCode::Type, message).about(arg, ""));
        }
    };
    let Some(list) = parts.as_list() else {
        let message = format!("`parts` of {what} must be a list, found {}", parts.type_name());
        return Err(Raise::error(lang::check::CheckCode::Type, message).about(arg, "invalid `parts`"));
    };
    if list.is_empty() {
        return Err(nothing());
    }
    if !metadata.is_nil() && metadata.as_dict().is_none() {
        let message = format!("`metadata` of {what} must be a dict, found {}", metadata.type_name());
        return Err(Raise::error(lang::check::CheckCode::Type, message).about(arg, "invalid `metadata`"));
    }
    let part = |(i, data): (usize, &Data)| task::part(data, &format!("parts[{i}]")).map(of_said);
    let parts = list.iter().enumerate().map(part).collect::<Result<_, _>>().map_err(|raise| raise.about(arg, ""))?;
    Ok((parts, metadata))
}

/// A part as the protocol has it.
fn of_said(part: hosting::Part) -> Part {
    match part {
        hosting::Part::Text(text) => Part::text(text),
        hosting::Part::Data(data) => Part::data(data),
        hosting::Part::File { name, mime_type, bytes, uri } => {
            let content = bytes.map(Content::Raw).or(uri.map(Content::Url)).unwrap_or(Content::Text("".into()));
            Part { filename: name, media_type: mime_type, ..Part::new(content) }
        }
    }
}

/// Returns the reminders that go with the message, from an option of argument `arg`.
pub(crate) fn specs(given: Option<&Value>, arg: usize) -> Result<Vec<Data>, Box<Raise>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let Some(list) = given.as_list() else {
        return match given {
            Value::Bool(_) => Ok(Vec::new()),
            other => {
                let message = format!("`reminders` must be a list of reminders, found {}", article(other.type_name()));
                Err(Raise::error(lang::check::CheckCode::Type, message).about(arg, "invalid `reminders`"))
            }
        };
    };
    let read = |(i, spec): (usize, &Value)| {
        let spec = to_data(spec).map_err(|raise| raise.about(arg, "invalid `reminders`"))?;
        reminder::to_wire(&spec, &[]).map_err(|error| {
            let error = error.under(&format!("reminders.{i}"));
            of_reminder(&error).about(arg, label_of(&error))
        })
    };
    list.iter().enumerate().map(read).collect()
}

/// Two dicts in one; the second one's word counts.
pub(crate) fn merged(first: Data, second: &Data) -> Data {
    let Some(entries) = second.as_dict() else { return first };
    let first = if first.is_nil() { Data::empty_dict() } else { first };
    entries.iter().fold(first, |all, (key, value)| all.with(key.clone(), value.clone()))
}
