//! A broker with a clock of its own, and short forms of commands.

use hub::broker::change::ChangeBatch;
use hub::broker::{
    Broker, BrokerError, BrokerOptions, Caller, Claim, ClaimedTask, Command, ErrorKind, Progress, Publish,
    PublishReceipt, PutArtifact, Register, Reject, Reply, RoutedEvent, UpdateStatus,
};
use hub::proto::a2a::{Artifact, Message, Part, Role, Task, TaskState, TaskStatus, part};
use hub::proto::agenthub::{AgentEventMetadata, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
use hub::proto::worker::RejectionReason;
use prost_types::{Struct, Value, value::Kind};

pub(crate) const START: u64 = 1_800_000_000_000;

pub(crate) struct Bench {
    pub(crate) broker: Broker,
    pub(crate) now_ms: u64,
    pub(crate) batches: Vec<ChangeBatch>,
    pub(crate) events: Vec<RoutedEvent>,
    ids: u64,
}

impl Bench {
    pub(crate) fn new(options: BrokerOptions) -> Bench {
        Bench { broker: Broker::new(options), now_ms: START, batches: Vec::new(), events: Vec::new(), ids: 0 }
    }

    /// A broker with default options and registered agents.
    pub(crate) fn with(agents: &[&str]) -> Bench {
        let mut bench = Bench::new(BrokerOptions::default());
        agents.iter().for_each(|agent| bench.register(agent, &[]));
        bench
    }

    pub(crate) fn as_caller(&mut self, caller: &Caller, command: Command) -> Result<Reply, BrokerError> {
        let ids = &mut self.ids;
        let mut next = || {
            *ids += 1;
            format!("{ids:06}")
        };
        let executed = self.broker.execute(caller, command, self.now_ms, &mut next);
        self.batches.extend(executed.batch);
        self.events.extend(executed.events);
        executed.reply
    }

    pub(crate) fn run(&mut self, command: Command) -> Result<Reply, BrokerError> {
        self.as_caller(&Caller::Operator, command)
    }

    pub(crate) fn advance(&mut self, ms: u64) {
        self.now_ms += ms;
        self.run(Command::Tick).unwrap();
    }

    pub(crate) fn register(&mut self, agent: &str, tags: &[&str]) {
        let subscriptions = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let register = Register { agent_id: agent.to_owned(), subscriptions, ..Register::default() };
        self.run(Command::Register(register)).unwrap();
    }

    pub(crate) fn publish(&mut self, publish: Publish) -> Result<PublishReceipt, BrokerError> {
        self.run(Command::Publish(publish)).map(published)
    }

    /// Submits a task that is addressed to an agent.
    pub(crate) fn send(&mut self, task: &str, to: &str) {
        self.publish(message(task, "boss", to)).unwrap();
    }

    /// Submits a task to a queue.
    pub(crate) fn queue(&mut self, task: &str, queue: &str) {
        self.publish(message(task, "boss", "").with("queue", queue)).unwrap();
    }

    pub(crate) fn claim(&mut self, agent: &str, queue: &str) -> Option<ClaimedTask> {
        self.try_claim(agent, queue).unwrap()
    }

    pub(crate) fn try_claim(&mut self, agent: &str, queue: &str) -> Result<Option<ClaimedTask>, BrokerError> {
        let claim = Claim { agent_id: agent.to_owned(), queue: queue.to_owned(), ..Claim::default() };
        match self.run(Command::Claim(claim))? {
            Reply::Claimed(claimed) => Ok(claimed.map(|claimed| *claimed)),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn status(&mut self, agent: &str, task: &str, state: TaskState) -> Result<PublishReceipt, BrokerError> {
        self.run(Command::UpdateStatus(status(agent, task, state, None))).map(published)
    }

    pub(crate) fn leased(
        &mut self,
        agent: &str,
        task: &str,
        state: TaskState,
        lease: &str,
    ) -> Result<PublishReceipt, BrokerError> {
        self.run(Command::UpdateStatus(status(agent, task, state, Some(lease)))).map(published)
    }

    pub(crate) fn reject(&mut self, agent: &str, task: &str, reason: RejectionReason) -> Result<Reply, BrokerError> {
        let (agent_id, task_id) = (agent.to_owned(), task.to_owned());
        self.run(Command::Reject(Reject {
            agent_id,
            task_id,
            lease: None,
            reason,
            text: "no".to_owned(),
            operation: String::new(),
        }))
    }

    pub(crate) fn progress(
        &mut self,
        agent: &str,
        task: &str,
        portion: f64,
        token: &str,
    ) -> Result<Reply, BrokerError> {
        let (agent_id, task_id, resume_token) = (agent.to_owned(), task.to_owned(), token.to_owned());
        self.run(Command::Progress(Progress { agent_id, task_id, portion, resume_token, ..Progress::default() }))
    }

    pub(crate) fn artifact(
        &mut self,
        agent: &str,
        task: &str,
        id: &str,
        texts: &[&str],
        append: bool,
    ) -> Result<Reply, BrokerError> {
        let parts = texts.iter().map(|text| text_part(text)).collect();
        let artifact = Artifact { artifact_id: id.to_owned(), parts, ..Artifact::default() };
        let update = TaskArtifactUpdateEvent {
            task_id: task.to_owned(),
            artifact: Some(artifact),
            append,
            ..Default::default()
        };
        let routing = AgentEventMetadata { from_agent_id: agent.to_owned(), ..Default::default() };
        self.run(Command::PutArtifact(PutArtifact { update, routing, ..PutArtifact::default() }))
    }

    pub(crate) fn task(&self, id: &str) -> Task {
        self.broker.task_with_history(id, 0).unwrap()
    }

    pub(crate) fn state(&self, id: &str) -> TaskState {
        self.broker.task(id).unwrap().state()
    }

    /// The text of the latest status.
    pub(crate) fn text(&self, id: &str) -> String {
        self.task(id).status.unwrap().update.map(|message| text_of(&message)).unwrap_or_default()
    }

    /// A broker with the same changes.
    pub(crate) fn replayed(&self) -> Broker {
        let mut broker = Broker::new(self.broker.options().clone());
        self.batches.iter().for_each(|batch| broker.replay(batch, |_| {}));
        broker
    }
}

pub(crate) trait PublishExt {
    fn with(self, key: &str, value: &str) -> Publish;
    fn context(self, context: &str) -> Publish;
    fn priority(self, priority: i32) -> Publish;
    fn id(self, id: &str) -> Publish;
    fn tags(self, tags: &[&str]) -> Publish;
}

impl PublishExt for Publish {
    fn with(mut self, key: &str, value: &str) -> Publish {
        let value = Value { kind: Some(Kind::StringValue(value.to_owned())) };
        self.message.metadata.get_or_insert_with(Struct::default).fields.insert(key.to_owned(), value);
        self
    }

    fn context(mut self, context: &str) -> Publish {
        context.clone_into(&mut self.message.context_id);
        self
    }

    fn priority(mut self, priority: i32) -> Publish {
        self.routing.priority = priority;
        self
    }

    fn id(mut self, id: &str) -> Publish {
        id.clone_into(&mut self.message.message_id);
        self
    }

    fn tags(mut self, tags: &[&str]) -> Publish {
        self.routing.subscriptions = tags.iter().map(|tag| (*tag).to_owned()).collect();
        self
    }
}

pub(crate) fn text_part(text: &str) -> Part {
    Part { part: Some(part::Part::Text(text.to_owned())), metadata: None }
}

pub(crate) fn text_of(message: &Message) -> String {
    let texts = message.content.iter().filter_map(|part| match &part.part {
        Some(part::Part::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("")
}

/// A message of a task; with an empty id, a message alone.
pub(crate) fn message(task: &str, from: &str, to: &str) -> Publish {
    let message = Message {
        task_id: task.to_owned(),
        role: Role::User as i32,
        content: vec![text_part("work")],
        ..Message::default()
    };
    let routing = AgentEventMetadata {
        from_agent_id: from.to_owned(),
        to_agent_id: to.to_owned(),
        ..AgentEventMetadata::default()
    };
    Publish { message, routing, ..Publish::default() }
}

pub(crate) fn status(agent: &str, task: &str, state: TaskState, lease: Option<&str>) -> UpdateStatus {
    let status = TaskStatus { state: state as i32, update: None, timestamp: None };
    let update = TaskStatusUpdateEvent { task_id: task.to_owned(), status: Some(status), ..Default::default() };
    let routing = AgentEventMetadata { from_agent_id: agent.to_owned(), ..Default::default() };
    UpdateStatus { update, routing, lease: lease.map(str::to_owned), ..UpdateStatus::default() }
}

pub(crate) fn published(reply: Reply) -> PublishReceipt {
    match reply {
        Reply::Published(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn fails<T: std::fmt::Debug>(result: Result<T, BrokerError>, kind: ErrorKind, text: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.message.contains(text), "{error}");
}
