//! The methods of a connection to a hub.

use crate::a2a::client::{reminder, shown};
use crate::codes::HubClientCode;
use crate::convert::{to_data, to_value};
use crate::here;
use crate::hub::client::incomplete;
use crate::hub::convert::{message_to_proto, milliseconds, task_of};
use crate::hub::stream::{Claims, HubSource, HubStream, HubSubscription, WAIT};
use crate::hub::{HubConnection, HubTask, HubValue, bounds};
use crate::lint;
use crate::options::{
    HubCardOptions, HubClaimOptions, HubDeadLetterOptions, HubEventsOptions, HubGetOptions, HubLeaseOptions,
    HubListOptions, HubMessageOptions, HubPriority, HubPublishOptions, HubRegisterOptions, HubRequestOptions, HubSkill,
    HubState, HubTasksOptions, HubWaitOptions, OptionSet,
};
use crate::table::a2a::message::{fresh, merged, message, specs};
use crate::world::World;
use a2a::{Message, Role};
use base::data::Data;
use base::moment::rfc3339;
use hub::proto::a2a::{AgentCapabilities, AgentCard, AgentSkill, Task, TaskState};
use hub::proto::agenthub::{
    AgentEventMetadata, CancelTaskRequest, GetTaskRequest, ListTasksRequest, Priority, PublishMessageRequest,
    RegisterAgentRequest, SubscribeToAgentEventsRequest, SubscribeToMessagesRequest, SubscribeToTasksRequest,
};
use hub::proto::worker::subscribe_with_cursors_request::Selection;
use hub::proto::worker::{
    ClaimRequest, ListAgentsRequest, ListDeadLettersRequest, UnregisterAgentRequest, WaitRequest,
};
use lang::builtins::args;
use lang::check::CheckCode;
use lang::value::Value;
use lang::vm::{Cx, Raise, Wait};
use runtime::workers::propagation;
use sha2::{Digest as _, Sha256};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

lang::builtins! { "<hub>" =>
    /// Registers an agent and returns the connection, which acts as this agent from now on. The id is the card's name, or that of
    /// the token. `subscriptions` are the tags of broadcasts and the queues that it works for.
    ///
    /// ```harn
    /// hub.local().register({name: "coder", description: "Writes code."}).agent // => "coder"
    /// ```
    waits "register(hub: Hub, card: HubCard, options: HubRegisterOptions = nil) -> Hub" register;
    /// Removes the agent of this connection from the hub.
    ///
    /// ```harn
    /// let me = hub.local().register({name: "coder"})
    /// me.unregister() // => nil
    /// ```
    waits "unregister(hub: Hub) -> nil" unregister;
    /// Publishes a message and returns without waiting. It becomes a task for the agent `to`, for one worker of `queue`, or for
    /// every agent with one of the `tags`; with `task_id` it is added to that task, and with `task: false` it stays a message.
    ///
    /// ```harn
    /// let hub_of_me = hub.local({agent: "me"})
    /// hub_of_me.publish("Fix it.", {queue: "work"}).task_id == "" // => false
    /// ```
    waits "publish(hub: Hub, message: string | list<string | MessagePart> | PeerMessage, options: HubPublishOptions = nil) -> HubReceipt" [lint = lint::hub_message] publish;
    /// Publishes a task like `publish`, waits until it is over or waits for input, and returns it.
    ///
    /// ```harn
    /// let me = hub.local({agent: "me"})
    /// let worker = spawn { me.claim("work").complete("fixed") }
    /// me.request("Fix it.", {queue: "work"}).state // => "completed"
    /// ```
    waits "request(hub: Hub, message: string | list<string | MessagePart> | PeerMessage, options: HubRequestOptions = nil) -> A2aTask" [lint = lint::hub_message] request;
    /// Waits until a task is over or waits for input, and returns it.
    ///
    /// ```harn
    /// let me = hub.local({agent: "me"})
    /// let task = me.publish("Fix it.", {queue: "work"})
    /// me.cancel(task.task_id).state // => "canceled"
    /// me.wait(task.task_id).state // => "canceled"
    /// ```
    waits "wait(hub: Hub, task_id: string, options: HubWaitOptions = nil) -> A2aTask" wait;
    /// Waits for a task of a queue, or without one for a task that was sent to this agent, and leases it. Nil if none arrives
    /// within `wait_ms`; without it the wait has no limit.
    ///
    /// ```harn
    /// let me = hub.local({agent: "me"})
    /// me.publish("Fix it.", {queue: "work"}).task_id == "" // => false
    /// me.claim("work").text // => "Fix it."
    /// ```
    waits "claim(hub: Hub, queue: string = \"\", options: HubClaimOptions = nil) -> HubTask | nil" claim;
    /// Yields the tasks that are sent to this agent, or those of `queue`, each leased to it: `for task in broker.tasks()`. Tasks of
    /// other types than `types` are rejected. The stream ends after `idle_ms` without a task, by default never.
    plain "tasks(hub: Hub, options: HubTasksOptions = nil) -> stream<HubTask>" tasks;
    /// Yields tasks, their statuses and their artifacts as events, for the agent that sent them and for the one that does them. It
    /// begins now, or after the `cursor` of an earlier event.
    waits "updates(hub: Hub, options: HubEventsOptions = nil) -> stream" updates;
    /// Yields the messages to this agent, of some `contexts` or `types` only.
    waits "messages(hub: Hub, options: HubEventsOptions = nil) -> stream" messages;
    /// Yields everything that concerns this agent, and registrations of agents.
    waits "events(hub: Hub, options: HubEventsOptions = nil) -> stream" events;
    /// Returns a task as it is now.
    waits "get(hub: Hub, task_id: string, options: HubGetOptions = nil) -> A2aTask" get;
    /// Cancels a task and returns it.
    waits "cancel(hub: Hub, task_id: string, reason: string = \"\") -> A2aTask" cancel;
    /// Returns a page of tasks, the oldest first, and the token of the next page or nil.
    waits "list(hub: Hub, options: HubListOptions = nil) -> HubTaskPage" list;
    /// Returns the registered agents: `{agent, description, subscriptions, healthy}`.
    waits "agents(hub: Hub) -> list<any>" agents;
    /// Returns a page of the tasks that failed in every attempt, the newest first: `{task, queue, attempts, reason, at_ms}`, and the
    /// token of the next page or nil.
    waits "dead_letters(hub: Hub, options: HubDeadLetterOptions = nil) -> HubDeadLetterPage" dead_letters;
    /// Returns the card of the hub: `{name, description, url, version, protocol_version, skills}`. The skills are those of the
    /// registered agents.
    waits "card(hub: Hub) -> HubCardView" card;
}

/// The argument of `publish` and `request` that has the options.
const OPTIONS: usize = 2;

/// The number of agents that one request lists.
const AGENTS: i32 = 500;

/// Returns the connection in the first argument, if the others are not too large.
fn connection(cx: &Cx<'_>, args: &[Value]) -> Result<Rc<HubConnection>, Box<Raise>> {
    let Some(hub) = args.first().and_then(Value::as_host::<HubValue>) else {
        return Err(args::mismatch(args, 0, "a hub").help("open a connection with `hub.connect(url)`"));
    };
    bounds::check_size(args)?;
    let world = here::world(cx)?;
    Ok(hub.0.traced(here::trace(cx, &world)))
}

/// Runs requests over a connection.
fn run<F, T>(cx: &Cx<'_>, work: F) -> Result<Wait, Box<Raise>>
where
    F: FnOnce(Rc<World>) -> T + 'static,
    T: Future<Output = Result<Value, Box<Raise>>>,
{
    let world = here::world(cx)?;
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        work(world.clone()).await
    }))
}

/// Sends a request to a service of the hub.
macro_rules! ask {
    ($hub:expr, $service:ident.$method:ident, $message:expr) => {
        ask!($hub, $service.$method, $message, None)
    };
    ($hub:expr, $service:ident.$method:ident, $message:expr, $lease:expr) => {
        $hub.call($message, $lease, |request| {
            let mut client = $hub.$service();
            async move { client.$method(request).await }
        })
        .await
    };
}
pub(super) use ask;

fn register(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let (hub, whole) = (connection(cx, args)?, args[0].clone());
    let card = HubCardOptions::read(cx, args, 1)?;
    let options = HubRegisterOptions::read(cx, args, 2)?;
    let name = text(&card.name);
    if name.is_empty() {
        return Err(Raise::error(CheckCode::Key, "a card needs a `name`").about(1, "`name` is missing"));
    }
    if let Some(agent) = hub.agent().filter(|agent| **agent != *name) {
        let message = format!("this connection acts as `{agent}`, so it cannot register `{name}`");
        return Err(Raise::error(HubClientCode::NoAgent, message).help("open another connection for each agent"));
    }
    let request = RegisterAgentRequest {
        agent_card: Some(AgentCard {
            name,
            description: text(&card.description),
            url: text(&card.url),
            version: text(&card.version),
            capabilities: Some(AgentCapabilities { streaming: true, ..AgentCapabilities::default() }),
            skills: card.skills.iter().map(skill).collect(),
            ..AgentCard::default()
        }),
        subscriptions: texts(&options.subscriptions),
        health_check_url: text(&options.health_check_url),
    };
    run(cx, |_| async move {
        let response = ask!(hub, hub.register_agent, request.clone())?;
        hub.registered(&response.agent_id, request);
        Ok(whole)
    })
}

fn skill(skill: &HubSkill) -> AgentSkill {
    let name = skill.name.as_ref().filter(|name| !name.is_empty()).unwrap_or(&skill.id);
    AgentSkill {
        id: skill.id.to_string(),
        name: name.to_string(),
        description: text(&skill.description),
        tags: texts(&skill.tags),
        examples: texts(&skill.examples),
        ..AgentSkill::default()
    }
}

/// Returns a text as the wire has it: empty if it is not given.
fn text(text: &Option<Arc<str>>) -> String {
    text.as_deref().unwrap_or_default().to_owned()
}

fn texts(texts: &[Arc<str>]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn unregister(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    let request = UnregisterAgentRequest { agent_id: hub.acting()? };
    run(cx, |_| async move {
        ask!(hub, worker.unregister_agent, request)?;
        hub.unregistered();
        Ok(Value::Nil)
    })
}

/// Reads a publication: the message and the options in the arguments 1 and 2.
fn publication(
    cx: &Cx<'_>,
    args: &[Value],
    hub: &HubConnection,
    options: &HubMessageOptions,
    is_task: bool,
) -> Result<PublishMessageRequest, Box<Raise>> {
    let world = here::world(cx)?;
    let (parts, metadata) = message(&args[1], 1, "a message")?;
    let mut metadata = merged(metadata, &options.metadata);
    let own = Data::dict_of_present([
        ("queue", options.queue.as_ref().into()),
        ("parent_task_id", options.parent_task_id.as_ref().into()),
        ("max_attempts", options.max_attempts.into()),
        ("deadline", deadline(options.deadline.as_ref())?.into()),
    ]);
    if own.as_dict().is_some_and(|own| !own.is_empty()) {
        metadata = merged(metadata, &own);
    }
    let mut reminders = specs(options.reminders.as_ref(), OPTIONS)?;
    if options.task_id.is_none() && options.inherit {
        let session = here::session(cx).or_else(|| world.current_session());
        let handed = session.map(|session| propagation::hand_over(&session)).unwrap_or_default();
        reminders.splice(0..0, reminder::inherited(&handed));
    }
    let agent = hub.acting()?;
    let named = &options.message_id;
    // A repeated message names the task of the first one, since the hub does not say what it was.
    let new = |kind: &str| named.as_deref().map_or_else(|| fresh(kind), |id| derived(kind, &agent, id));
    let id = named.as_deref().map_or_else(|| fresh("msg"), ToOwned::to_owned);
    let mut said = Message::new(Role::User, id, parts);
    said.metadata = reminder::attach(metadata, reminders);
    said.context_id = Some(options.context_id.clone().unwrap_or_else(|| new("ctx").into()));
    said.task_id = match &options.task_id {
        // The task has a context already.
        Some(known) => {
            said.context_id = options.context_id.clone();
            Some(known.clone())
        }
        None => is_task.then(|| new("task").into()),
    };
    let routing = AgentEventMetadata {
        from_agent_id: agent.clone(),
        to_agent_id: text(&options.to),
        event_type: text(&options.r#type),
        subscriptions: texts(&options.tags),
        priority: priority(options.priority) as i32,
    };
    Ok(PublishMessageRequest { message: Some(message_to_proto(&said)), routing: Some(routing) })
}

/// Returns the id that belongs to a message of an agent.
fn derived(kind: &str, agent: &str, message_id: &str) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::new().chain_update(agent).chain_update([0]).chain_update(message_id).finalize();
    digest.iter().take(16).fold(format!("{kind}_"), |mut id, byte| {
        // Writing to a string does not fail.
        let _ = write!(id, "{byte:02x}");
        id
    })
}

fn priority(given: Option<HubPriority>) -> Priority {
    match given {
        None => Priority::Unspecified,
        Some(HubPriority::Low) => Priority::Low,
        Some(HubPriority::Medium) => Priority::Medium,
        Some(HubPriority::High) => Priority::High,
        Some(HubPriority::Critical) => Priority::Critical,
    }
}

/// Reads the option `deadline` as RFC 3339.
fn deadline(given: Option<&Value>) -> Result<Option<String>, Box<Raise>> {
    match given {
        None => Ok(None),
        Some(Value::Int(ms)) if *ms >= 0 => Ok(Some(rfc3339(ms.unsigned_abs()))),
        Some(Value::Str(text)) => Ok(Some(text.to_string())),
        Some(_) => Err(Raise::error(CheckCode::Type, "`deadline` is not a time")
            .about(OPTIONS, "invalid `deadline`")
            .help("write milliseconds since 1970, such as `now_ms() + 60000`, or RFC 3339")),
    }
}

async fn send(hub: &HubConnection, request: PublishMessageRequest) -> Result<Data, Box<Raise>> {
    let id = |of: fn(&hub::proto::a2a::Message) -> &String| request.message.as_ref().map(of).cloned();
    let (task_id, message_id, context_id) =
        (id(|sent| &sent.task_id), id(|sent| &sent.message_id), id(|sent| &sent.context_id));
    let response = ask!(hub, hub.publish_message, request)?;
    Ok(Data::dict([
        ("task_id", Data::from(task_id.filter(|id| !id.is_empty()))),
        ("message_id", message_id.into()),
        ("context_id", context_id.into()),
        ("event_id", response.event_id.into()),
    ]))
}

fn publish(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    let options = HubPublishOptions::read(cx, args, OPTIONS)?;
    let request = publication(cx, args, &hub, &options.message, options.task)?;
    run(cx, |_| async move { Ok(to_value(&send(&hub, request).await?)) })
}

fn request(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    let HubRequestOptions { message, timeout_ms } = HubRequestOptions::read(cx, args, OPTIONS)?;
    let request = publication(cx, args, &hub, &message, true)?;
    run(cx, move |_| async move {
        let receipt = send(&hub, request).await?;
        let task_id = receipt.get("task_id").as_str().unwrap_or_default().to_owned();
        settled(&hub, task_id, timeout_ms).await
    })
}

fn wait(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let (hub, task_id) = (connection(cx, args)?, bounds::id(args, 1)?);
    let timeout_ms = HubWaitOptions::read(cx, args, 2)?.timeout_ms;
    run(cx, move |_| async move { settled(&hub, task_id, timeout_ms).await })
}

/// Waits until a task is over, or waits for its requester.
async fn settled(hub: &HubConnection, task_id: String, timeout_ms: u64) -> Result<Value, Box<Raise>> {
    let end = Instant::now() + Duration::from_millis(timeout_ms.min(u64::from(u32::MAX)));
    loop {
        let left = end.saturating_duration_since(Instant::now()).min(WAIT);
        let wait = prost_types::Duration::try_from(left).ok();
        let response = ask!(hub, worker.wait, WaitRequest { task_id: task_id.clone(), wait })?;
        let task = task_of(response.task.ok_or_else(|| lacks(hub, "task"))?);
        if response.settled {
            return Ok(to_value(&shown::of_task(&task)));
        }
        if Instant::now() >= end {
            let message = format!("timed out after {timeout_ms} ms: the task is still {}", task.status.state);
            return Err(Raise::error(HubClientCode::Timeout, message)
                .field("task_id", task_id.as_str())
                .help("allow more time with `timeout_ms`, or wait for it again with `wait`"));
        }
    }
}

/// Reads the options of claims.
fn claims(hub: Rc<HubConnection>, queue: String, options: &HubLeaseOptions) -> Result<Claims, Box<Raise>> {
    let time = |ms: Option<u64>| ms.and_then(|ms| prost_types::Duration::try_from(Duration::from_millis(ms)).ok());
    let request = ClaimRequest {
        agent_id: hub.acting()?,
        queue,
        lease: time(options.lease_ms),
        estimate: time(options.estimate_ms),
        wait: None,
    };
    let renew_for = Duration::from_millis(options.renew_for_ms);
    Ok(Claims { connection: hub, request, types: Vec::new(), renew_for, idle: None })
}

fn claim(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    let queue = args::opt_str(args, 1)?.map(ToString::to_string).unwrap_or_default();
    let HubClaimOptions { lease, wait_ms } = HubClaimOptions::read(cx, args, 2)?;
    let mut claims = claims(hub, queue, &lease)?;
    claims.idle = wait_ms.map(Duration::from_millis);
    run(cx, |_| async move { Ok(claims.next().await?.map_or(Value::Nil, HubTask::value)) })
}

fn tasks(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let hub = connection(cx, args)?;
    let options = HubTasksOptions::read(cx, args, 1)?;
    let mut claims = claims(hub, text(&options.queue), &options.lease)?;
    claims.types = texts(&options.types);
    claims.idle = options.idle_ms.map(Duration::from_millis);
    Ok(HubStream::value(HubSource::Claims(claims), here::world(cx)?.clock.clone()))
}

/// Opens a subscription.
fn subscribe(
    cx: &Cx<'_>,
    args: &[Value],
    select: impl FnOnce(String, &HubEventsOptions) -> Selection,
) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    let options = HubEventsOptions::read(cx, args, 1)?;
    let selection = select(hub.acting()?, &options);
    let cursor = options.cursor.map(|cursor| cursor.to_string());
    run(cx, |world| async move {
        let subscription = HubSubscription::open(hub, selection, cursor).await?;
        Ok(HubStream::value(HubSource::Events(Box::new(subscription)), world.clock.clone()))
    })
}

fn updates(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    subscribe(cx, args, |agent_id, options| {
        let (task_types, states) = (texts(&options.types), states(&options.states));
        Selection::Tasks(SubscribeToTasksRequest { agent_id, task_types, states })
    })
}

fn messages(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    subscribe(cx, args, |agent_id, options| {
        let (message_types, contexts) = (texts(&options.types), texts(&options.contexts));
        Selection::Messages(SubscribeToMessagesRequest { agent_id, message_types, contexts })
    })
}

fn events(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    subscribe(cx, args, |agent_id, options| {
        let event_types = texts(&options.types);
        Selection::Events(SubscribeToAgentEventsRequest { agent_id, event_types })
    })
}

/// Returns states as the wire has them.
fn states(states: &[HubState]) -> Vec<i32> {
    let of = |state: &HubState| match state {
        HubState::Submitted => TaskState::Submitted,
        HubState::Working => TaskState::Working,
        HubState::Completed => TaskState::Completed,
        HubState::Failed => TaskState::Failed,
        HubState::Canceled => TaskState::Cancelled,
        HubState::InputRequired => TaskState::InputRequired,
        HubState::Rejected => TaskState::Rejected,
        HubState::AuthRequired => TaskState::AuthRequired,
    };
    states.iter().map(|state| of(state) as i32).collect()
}

fn shown_task(task: Task) -> Data {
    shown::of_task(&task_of(task))
}

fn get(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let (hub, task_id) = (connection(cx, args)?, bounds::id(args, 1)?);
    let history_length = HubGetOptions::read(cx, args, 2)?.history_length;
    let request = GetTaskRequest { task_id, history_length };
    run(cx, |_| async move { Ok(to_value(&shown_task(ask!(hub, hub.get_task, request)?))) })
}

fn cancel(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let (hub, task_id) = (connection(cx, args)?, bounds::id(args, 1)?);
    let reason = args::opt_str(args, 2)?.map(ToString::to_string).unwrap_or_default();
    let request = CancelTaskRequest { task_id, reason };
    run(cx, |_| async move { Ok(to_value(&shown_task(ask!(hub, hub.cancel_task, request)?))) })
}

fn list(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    let options = HubListOptions::read(cx, args, 1)?;
    let request = ListTasksRequest {
        agent_id: text(&options.agent),
        context_id: text(&options.context_id),
        states: states(&options.states),
        page_size: options.page_size.unwrap_or(0),
        page_token: text(&options.page_token),
    };
    run(cx, |_| async move {
        let page = ask!(hub, hub.list_tasks, request)?;
        let token = Some(page.next_page_token).filter(|token| !token.is_empty());
        let tasks: Vec<Data> = page.tasks.into_iter().map(shown_task).collect();
        Ok(to_value(&Data::dict([("tasks", Data::list(tasks)), ("next_page_token", token.into())])))
    })
}

fn agents(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    run(cx, |_| async move {
        let (mut listed, mut page_token) = (Vec::new(), String::new());
        loop {
            let page = ask!(hub, worker.list_agents, ListAgentsRequest { page_size: AGENTS, page_token })?;
            listed.extend(page.agents);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
        let agent = |agent: hub::proto::worker::RegisteredAgent| {
            let subscriptions = agent.subscriptions.into_iter().map(Data::from);
            Data::dict([
                ("agent", Data::from(agent.agent_id)),
                ("description", agent.agent_card.unwrap_or_default().description.into()),
                ("subscriptions", Data::list(subscriptions)),
                ("healthy", agent.healthy.into()),
            ])
        };
        Ok(to_value(&Data::list(listed.into_iter().map(agent))))
    })
}

fn dead_letters(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    let options = HubDeadLetterOptions::read(cx, args, 1)?;
    let request = ListDeadLettersRequest {
        page_size: options.page_size.unwrap_or(0),
        page_token: text(&options.page_token),
        queue: text(&options.queue),
    };
    run(cx, |_| async move {
        let page = ask!(hub, worker.list_dead_letters, request)?;
        let token = Some(page.next_page_token).filter(|token| !token.is_empty());
        let letters = page.dead_letters.into_iter().map(|letter| {
            let at_ms = letter.timestamp.and_then(milliseconds).and_then(|ms| i64::try_from(ms).ok());
            Data::dict([
                ("task", shown_task(letter.task.unwrap_or_default())),
                ("queue", letter.queue.into()),
                ("attempts", i64::from(letter.attempts).into()),
                ("reason", letter.reason.into()),
                ("at_ms", at_ms.into()),
            ])
        });
        Ok(to_value(&Data::dict([("dead_letters", Data::list(letters)), ("next_page_token", token.into())])))
    })
}

fn card(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let hub = connection(cx, args)?;
    run(cx, |_| async move {
        let card = ask!(hub, hub.get_agent_card, ())?;
        let skills = card.skills.into_iter().map(|skill| {
            Data::dict([
                ("id", Data::from(skill.id)),
                ("name", skill.name.into()),
                ("description", skill.description.into()),
                ("tags", Data::list(skill.tags.into_iter().map(Data::from))),
                ("examples", Data::list(skill.examples.into_iter().map(Data::from))),
            ])
        });
        Ok(to_value(&Data::dict([
            ("name", Data::from(card.name)),
            ("description", card.description.into()),
            ("url", card.url.into()),
            ("version", card.version.into()),
            ("protocol_version", card.protocol_version.into()),
            ("skills", Data::list(skills)),
        ])))
    })
}

/// Returns the parts and the metadata of a result that a script wrote, as data.
pub(super) fn result(value: &Value, arg: usize) -> Result<Vec<a2a::Part>, Box<Raise>> {
    let _ = to_data(value).map_err(|raise| raise.about(arg, ""))?;
    Ok(message(value, arg, "a result")?.0)
}

/// Returns the error of a response without a field.
pub(super) fn lacks(hub: &HubConnection, field: &str) -> Box<Raise> {
    incomplete(hub.url(), field)
}
