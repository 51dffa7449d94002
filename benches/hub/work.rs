//! Tasks and clients.

use hub::Hub;
use hub::broker::{Caller, Command, Publish, UpdateStatus};
use hub::proto::a2a::{Message, Part, Role, TaskState, TaskStatus, part};
use hub::proto::agenthub::{AgentEventMetadata, TaskStatusUpdateEvent};
use prost_types::{Struct, Value, value::Kind};

/// A message of about 200 bytes. With an empty task id, it belongs to no task.
pub(crate) fn message(number: usize, task_id: &str, to: &str, priority: i32) -> Publish {
    let text =
        "Convert the attached table to JSON, keep the order of its columns, and report rows that cannot be read.";
    let message = Message {
        message_id: format!("m{number}"),
        task_id: task_id.to_owned(),
        role: Role::User as i32,
        content: vec![Part { part: Some(part::Part::Text(text.to_owned())), metadata: None }],
        ..Message::default()
    };
    let routing = AgentEventMetadata {
        from_agent_id: "boss".to_owned(),
        to_agent_id: to.to_owned(),
        priority,
        ..AgentEventMetadata::default()
    };
    Publish { message, routing, ..Publish::default() }
}

/// A task for the queue `q`.
pub(crate) fn queued(number: usize, priority: i32) -> Publish {
    let mut publish = message(number, &format!("t{number}"), "", priority);
    let queue = Value { kind: Some(Kind::StringValue("q".to_owned())) };
    publish.message.metadata = Some(Struct { fields: [("queue".to_owned(), queue)].into() });
    publish
}

/// A worker's report.
pub(crate) fn report(agent: &str, task_id: &str, state: TaskState, lease: &str) -> UpdateStatus {
    let status = TaskStatus { state: state as i32, update: None, timestamp: None };
    let update =
        TaskStatusUpdateEvent { task_id: task_id.to_owned(), status: Some(status), ..TaskStatusUpdateEvent::default() };
    let routing = AgentEventMetadata { from_agent_id: agent.to_owned(), ..AgentEventMetadata::default() };
    UpdateStatus { update, routing, lease: Some(lease.to_owned()), ..UpdateStatus::default() }
}

/// Executes a command that cannot fail.
pub(crate) async fn must(hub: &Hub, command: Command) {
    hub.execute(&Caller::Operator, command).await.expect("the hub accepts the command");
}
