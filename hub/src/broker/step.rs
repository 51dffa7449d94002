//! One command: which changes it makes. A command checks everything before its first change, so a failed one changes
//! nothing, except that timers which are due are handled first.
//!
//! - [`publish`]: messages and new tasks.
//! - [`work`]: claims, leases and progress. [`result`]: statuses, artifacts and ends. [`reject`]: rejections.
//! - [`due`]: leases, deadlines and retention; lost workers.

use std::net::IpAddr;

use prost::Message as _;
use prost_types::Struct;

use crate::proto::a2a::{TaskState, TaskStatus};
use crate::proto::agenthub::AgentEventMetadata;

use super::change::{AgentRecord, Change, ChangeBatch, ChangeKind, ChangedStatus, KeptReceipt, TaskIds};
use super::command::{Caller, ClaimedTask, Command, PublishReceipt, Register, Reply, TraceIds};
use super::deliver::RoutedEvent;
use super::error::{BrokerError, ErrorKind};
use super::fingerprint::is_same;
use super::task::{Actor, TaskEntry, is_allowed, is_final};
use super::{Broker, payload};

mod due;
mod publish;
mod reject;
mod result;
mod work;

/// Sender of the events that the broker itself causes.
pub const HUB: &str = "hub";
/// Maximum length of an id, in bytes.
pub const MAX_ID_BYTES: usize = 256;
/// Maximum length of the reason of a cancellation, in bytes.
const MOST_REASON: usize = 4096;
/// Maximum length of a URL, in bytes.
const MAX_URL_BYTES: usize = 2048;
/// Maximum number of tags of an agent or a message.
const MOST_TAGS: usize = 256;

/// Effect of a command.
#[derive(Debug)]
pub struct Executed {
    /// Its result.
    pub reply: Result<Reply, BrokerError>,
    /// Its changes, which have been applied and must be stored; `None` if it changed nothing.
    pub batch: Option<ChangeBatch>,
    /// The events for subscribers, once the changes are stored.
    pub events: Vec<RoutedEvent>,
}

impl Broker {
    /// Executes a command at a time. `ids` returns a new unique id on each call.
    pub fn execute(
        &mut self,
        caller: &Caller,
        command: Command,
        now_ms: u64,
        ids: &mut dyn FnMut() -> String,
    ) -> Executed {
        let mut step = Step { broker: self, now_ms, ids, batch: ChangeBatch::default(), events: Vec::new() };
        step.due();
        let reply = step.run(caller, command).map(|reply| step.shown(reply));
        let Step { batch, events, .. } = step;
        Executed { reply, batch: (!batch.changes.is_empty()).then_some(batch), events }
    }
}

struct Step<'a> {
    broker: &'a mut Broker,
    now_ms: u64,
    ids: &'a mut dyn FnMut() -> String,
    batch: ChangeBatch,
    events: Vec<RoutedEvent>,
}

impl Step<'_> {
    fn run(&mut self, caller: &Caller, command: Command) -> Result<Reply, BrokerError> {
        match command {
            Command::Register(register) => self.register(caller, register),
            Command::Unregister { agent_id } => self.unregister(caller, &agent_id),
            Command::ReportHealth { agent_id, healthy } => self.report_health(&agent_id, healthy),
            Command::Publish(publish) => self.publish(caller, publish),
            Command::UpdateStatus(update) => self.update_status(caller, update),
            Command::PutArtifact(put) => self.put_artifact(caller, put),
            Command::Finish(finish) => self.finish(caller, finish),
            Command::Claim(claim) => self.claim(caller, &claim),
            Command::Renew(renew) => self.renew(caller, &renew),
            Command::Progress(progress) => self.progress(caller, progress),
            Command::Reject(reject) => self.reject(caller, &reject),
            Command::Acknowledge { agent_id, task_id } => self.acknowledge(caller, &agent_id, task_id),
            Command::Cancel { task_id, reason } => self.cancel(caller, &task_id, &reason),
            Command::Tick => Ok(Reply::Done),
        }
    }

    /// Converts the times of a reply to those of the system.
    fn shown(&self, reply: Reply) -> Reply {
        let ahead_ms = self.broker.ahead_ms;
        // 0 means no lease.
        let system_ms = |at_ms: u64| if at_ms == 0 { 0 } else { at_ms.saturating_sub_signed(ahead_ms) };
        match reply {
            Reply::Renewed(until_ms) => Reply::Renewed(system_ms(until_ms)),
            Reply::Claimed(Some(task)) => Reply::Claimed(Some(Box::new(ClaimedTask {
                lease_until_ms: system_ms(task.lease_until_ms),
                deadline_ms: task.deadline_ms.map(system_ms),
                ..*task
            }))),
            other => other,
        }
    }

    /// Applies and records a change, and returns the id of its event.
    fn emit(&mut self, routing: AgentEventMetadata, trace: TraceIds, kind: ChangeKind) -> String {
        let event_id = format!("evt_{}", (self.ids)());
        let change = Change {
            number: self.broker.last + 1,
            event_id: event_id.clone(),
            at_ms: self.now_ms,
            routing: Some(routing),
            trace_id: trace.trace_id,
            span_id: trace.span_id,
            kind: Some(kind),
        };
        self.broker.apply(&change);
        self.events.extend(self.broker.events(&change));
        self.batch.changes.push(change);
        event_id
    }

    /// Changes the status of a task on behalf of the broker, with a text that explains it.
    fn broker_status(
        &mut self,
        task_id: &str,
        state: TaskState,
        text: String,
        data: Option<Struct>,
        dead_letter: bool,
    ) {
        let message_id = format!("msg_{}", (self.ids)());
        let Some(entry) = self.broker.task(task_id) else { return };
        let message = payload::notice(message_id, task_id, &entry.task.context_id, text, data);
        let trace = entry.trace.clone();
        let status =
            TaskStatus { state: state as i32, update: Some(message), timestamp: Some(payload::timestamp(self.now_ms)) };
        let changed = ChangedStatus {
            task_id: task_id.to_owned(),
            status: Some(status),
            dead_letter,
            ..ChangedStatus::default()
        };
        let routing = AgentEventMetadata { from_agent_id: HUB.to_owned(), ..AgentEventMetadata::default() };
        self.emit(routing, trace, ChangeKind::StatusChanged(changed));
        self.aggregate(task_id);
    }

    fn keep(&mut self, from_agent_id: &str, receipt: &PublishReceipt, digest: u64) {
        let kept = KeptReceipt {
            from_agent_id: from_agent_id.to_owned(),
            message_id: receipt.message_id.clone(),
            event_id: receipt.event_id.clone(),
            task_id: receipt.task_id.clone(),
            at_ms: self.now_ms,
            digest,
        };
        self.broker.keep_receipt(kept.clone());
        self.batch.receipt = Some(kept);
    }

    /// Returns the first result for a message that was published before, and refuses another message with its id.
    fn repeated(
        &self,
        from_agent_id: &str,
        message_id: &str,
        digest: u64,
    ) -> Result<Option<PublishReceipt>, BrokerError> {
        let key = (from_agent_id.to_owned(), message_id.to_owned());
        let Some(kept) = self.broker.receipts.get(&key) else { return Ok(None) };
        if !is_same(kept.digest, digest) {
            return Err(BrokerError::used("message id", message_id));
        }
        Ok(Some(PublishReceipt {
            event_id: (&*kept.event_id).into(),
            message_id: message_id.to_owned(),
            task_id: (&*kept.task_id).into(),
        }))
    }

    /// Returns a task that is not finished, for a change to `to`.
    fn open_task(&self, task_id: &str, to: TaskState) -> Result<&TaskEntry, BrokerError> {
        let entry = self.broker.task(task_id).ok_or_else(|| BrokerError::not_found("task", task_id))?;
        if is_final(entry.state()) { Err(transition(entry, to)) } else { Ok(entry) }
    }

    fn register(&mut self, caller: &Caller, register: Register) -> Result<Reply, BrokerError> {
        check_id("agent_id", &register.agent_id)?;
        act_as(caller, &register.agent_id)?;
        if register.agent_id == HUB {
            return Err(BrokerError::invalid(format!("the agent id `{HUB}` is reserved")));
        }
        check_tags(&register.subscriptions)?;
        check_url("health_check_url", &register.health_check_url)?;
        let is_new = self.broker.agent(&register.agent_id).is_none();
        let most = self.broker.options.max_agents;
        if is_new && self.broker.agents.len() >= most {
            return Err(BrokerError::limit(format!("too many agents: the limit is {most}")));
        }
        let most = self.broker.options.max_card_bytes;
        if register.card.encoded_len() > most {
            return Err(BrokerError::limit(format!("the agent card is larger than {most} bytes")));
        }
        let record = AgentRecord {
            agent_id: register.agent_id.clone(),
            card: Some(register.card),
            subscriptions: register.subscriptions,
            health_check_url: register.health_check_url,
            healthy: true,
            registered_ms: self.now_ms,
        };
        let routing = from(&register.agent_id);
        let kind = if is_new { ChangeKind::AgentRegistered(record) } else { ChangeKind::HealthChanged(record) };
        self.emit(routing, TraceIds::default(), kind);
        Ok(Reply::Done)
    }

    fn unregister(&mut self, caller: &Caller, agent_id: &str) -> Result<Reply, BrokerError> {
        act_as(caller, agent_id)?;
        let record = self.broker.agent(agent_id).cloned().ok_or_else(|| BrokerError::not_found("agent", agent_id))?;
        self.emit(from(agent_id), TraceIds::default(), ChangeKind::AgentUnregistered(record));
        self.lose_tasks_of(agent_id, "unregistered", true);
        Ok(Reply::Done)
    }

    fn report_health(&mut self, agent_id: &str, healthy: bool) -> Result<Reply, BrokerError> {
        let record = self.broker.agent(agent_id).cloned().ok_or_else(|| BrokerError::not_found("agent", agent_id))?;
        if record.healthy != healthy {
            self.emit(
                from(agent_id),
                TraceIds::default(),
                ChangeKind::HealthChanged(AgentRecord { healthy, ..record }),
            );
            if !healthy {
                // Leases end by themselves; a task without one would wait forever.
                self.lose_tasks_of(agent_id, "failed its health check", false);
            }
        }
        Ok(Reply::Done)
    }

    fn acknowledge(&mut self, caller: &Caller, agent_id: &str, task_id: String) -> Result<Reply, BrokerError> {
        act_as(caller, agent_id)?;
        let entry = self.broker.task(&task_id).ok_or_else(|| BrokerError::not_found("task", &task_id))?;
        if !entry.involves(agent_id) {
            return Err(not_involved(agent_id, &task_id));
        }
        if !entry.acknowledged {
            let ids = TaskIds { task_ids: vec![task_id], redelivered: false };
            self.emit(from(agent_id), TraceIds::default(), ChangeKind::TaskAcknowledged(ids));
        }
        Ok(Reply::Done)
    }

    fn cancel(&mut self, caller: &Caller, task_id: &str, reason: &str) -> Result<Reply, BrokerError> {
        let entry = self.open_task(task_id, TaskState::Cancelled)?;
        let who = match caller {
            Caller::Agent(agent_id) if !entry.involves(agent_id) => return Err(not_involved(agent_id, task_id)),
            Caller::Agent(agent_id) => agent_id.clone(),
            Caller::Operator => HUB.to_owned(),
        };
        check_reason(reason)?;
        self.cancel_as(&who, task_id, reason);
        self.task_reply(task_id)
    }

    /// Cancels a task and its copies, after everything was checked.
    fn cancel_as(&mut self, who: &str, task_id: &str, reason: &str) {
        let text = match reason {
            "" => "cancelled".to_owned(),
            reason => format!("cancelled: {reason}"),
        };
        let copies = self.broker.task(task_id).map(|entry| entry.copies.clone()).unwrap_or_default();
        let data = payload::metadata([("cancelled_by", payload::string(who))]);
        // Before its copies, so that their aggregate does not determine its state.
        self.broker_status(task_id, TaskState::Cancelled, text.clone(), Some(data.clone()), false);
        for copy in copies {
            if self.broker.task(&copy).is_some_and(|entry| !is_final(entry.state())) {
                self.broker_status(&copy, TaskState::Cancelled, text.clone(), Some(data.clone()), false);
            }
        }
    }

    fn task_reply(&self, task_id: &str) -> Result<Reply, BrokerError> {
        let entry = self.broker.task(task_id).ok_or_else(|| BrokerError::not_found("task", task_id))?;
        Ok(Reply::Task(Box::new(entry.with_history(0))))
    }
}

/// Checks that the caller may act as an agent.
fn act_as(caller: &Caller, agent_id: &str) -> Result<(), BrokerError> {
    match caller {
        Caller::Agent(id) if id != agent_id => {
            let (id, other) = (base::ids::shortened(id), base::ids::shortened(agent_id));
            Err(BrokerError::new(ErrorKind::PermissionDenied, format!("`{id}` cannot act as `{other}`")))
        }
        _ => Ok(()),
    }
}

/// Checks the sender of a message, and fills it in for an agent that named none.
fn sender(caller: &Caller, routing: &mut AgentEventMetadata) -> Result<(), BrokerError> {
    if let (Caller::Agent(id), true) = (caller, routing.from_agent_id.is_empty()) {
        routing.from_agent_id.clone_from(id);
    }
    check_id("routing.from_agent_id", &routing.from_agent_id)?;
    act_as(caller, &routing.from_agent_id)?;
    if routing.from_agent_id == HUB {
        return Err(BrokerError::invalid(format!("the agent id `{HUB}` is reserved")));
    }
    check_tags(&routing.subscriptions)?;
    if routing.event_type.len() > MAX_ID_BYTES {
        return Err(BrokerError::invalid(format!("`routing.event_type` is longer than {MAX_ID_BYTES} bytes")));
    }
    Ok(())
}

fn check_id(what: &str, id: &str) -> Result<(), BrokerError> {
    if id.is_empty() {
        return Err(BrokerError::invalid(format!("missing `{what}`")));
    }
    check_length(what, id)
}

fn check_length(what: &str, id: &str) -> Result<(), BrokerError> {
    if id.len() > MAX_ID_BYTES {
        return Err(BrokerError::invalid(format!("`{what}` is longer than {MAX_ID_BYTES} bytes")));
    }
    match id.chars().any(char::is_control) {
        true => Err(BrokerError::invalid(format!("`{what}` contains a control character"))),
        false => Ok(()),
    }
}

/// Checks the reason of a cancellation.
fn check_reason(reason: &str) -> Result<(), BrokerError> {
    match reason.len() > MOST_REASON {
        true => Err(BrokerError::invalid(format!("`reason` is longer than {MOST_REASON} bytes"))),
        false => Ok(()),
    }
}

/// Checks a URL that the hub asks; an empty one is none. Without TLS it can only be one of this machine.
fn check_url(what: &str, url: &str) -> Result<(), BrokerError> {
    let is_valid = url.is_empty() || ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    if !is_valid || url.len() > MAX_URL_BYTES || url.chars().any(char::is_control) {
        let text = format!(
            "invalid `{what}`: use a URL of at most {MAX_URL_BYTES} bytes that begins with `http://` or `https://`"
        );
        return Err(BrokerError::invalid(text));
    }
    if url.strip_prefix("http://").is_some_and(|rest| !is_loopback(rest)) {
        let text = format!("invalid `{what}`: use `https://`, or `http://` with `localhost` or a loopback address");
        return Err(BrokerError::invalid(text));
    }
    Ok(())
}

/// Returns whether the host of a URL, given without its scheme, is this machine.
fn is_loopback(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    // The part before an `@` is not the host; no address needs it.
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    !authority.contains('@')
        && (host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()))
}

fn check_tags(tags: &[String]) -> Result<(), BrokerError> {
    if tags.len() > MOST_TAGS {
        return Err(BrokerError::invalid(format!("too many subscription tags: the limit is {MOST_TAGS}")));
    }
    tags.iter().try_for_each(|tag| check_id("subscriptions", tag))
}

fn from(agent_id: &str) -> AgentEventMetadata {
    AgentEventMetadata { from_agent_id: agent_id.to_owned(), ..AgentEventMetadata::default() }
}

fn not_involved(agent_id: &str, task_id: &str) -> BrokerError {
    let (agent, task) = (base::ids::shortened(agent_id), base::ids::shortened(task_id));
    BrokerError::new(ErrorKind::PermissionDenied, format!("`{agent}` does not take part in the task `{task}`"))
}

fn transition(entry: &TaskEntry, to: TaskState) -> BrokerError {
    let id = base::ids::shortened(&entry.task.id);
    let (from, to) = (payload::state_name(entry.state()), payload::state_name(to));
    BrokerError::new(ErrorKind::FailedPrecondition, format!("the task `{id}` cannot change from {from} to {to}"))
}

fn check_transition(entry: &TaskEntry, to: TaskState, actor: Actor) -> Result<(), BrokerError> {
    if is_allowed(entry.state(), to, actor) { Ok(()) } else { Err(transition(entry, to)) }
}

#[cfg(test)]
mod tests {
    use super::check_url;

    #[test]
    fn a_health_address_without_tls_is_one_of_this_machine() {
        for url in
            ["", "https://example.com/health", "http://localhost", "http://LOCALHOST:1/x", "http://127.0.0.2:80/"]
        {
            assert!(check_url("health_check_url", url).is_ok(), "{url}");
        }
        assert!(check_url("health_check_url", "http://[::1]:8080/health").is_ok());
        for url in [
            "http://example.com/",
            "http://10.0.0.1:80/",
            "http://localhost.example.com/",
            "http://localhost@example.com/",
            "http://localhost:x@example.com/",
            "http://[fe80::1]/",
            "http://",
        ] {
            let error = check_url("health_check_url", url).unwrap_err().to_string();
            assert!(error.contains("use `https://`"), "{url}: {error}");
        }
    }
}
