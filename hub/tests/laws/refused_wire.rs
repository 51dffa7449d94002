//! A refused request of the gRPC services changes nothing.

use hub::broker::{BrokerOptions, Caller, Command, Register};
use hub::grpc::{CURSOR, LEASE, OPERATION, ORDER, routes};
use hub::proto::a2a::{AgentCard, Artifact, Message, TaskState, TaskStatus};
use hub::proto::agenthub::agent_hub_client::AgentHubClient;
use hub::proto::agenthub::{
    AgentEventMetadata, CancelTaskRequest, GetTaskRequest, ListTasksRequest, PublishMessageRequest,
    PublishTaskArtifactRequest, PublishTaskUpdateRequest, RegisterAgentRequest, SubscribeToAgentEventsRequest,
    SubscribeToMessagesRequest, SubscribeToTasksRequest, TaskArtifactUpdateEvent, TaskStatusUpdateEvent,
};
use hub::proto::worker::hub_worker_client::HubWorkerClient;
use hub::proto::worker::subscribe_with_cursors_request::Selection;
use hub::proto::worker::{
    AcknowledgeRequest, ClaimRequest, FinishRequest, ListAgentsRequest, ListDeadLettersRequest, ProgressRequest,
    RejectRequest, RenewRequest, SubscribeWithCursorsRequest, UnregisterAgentRequest, WaitRequest,
};
use hub::store::MemoryStore;
use hub::{Hub, HubClock, StoreStats};
use tonic::Request;

use crate::common::{PublishExt, START, message, status, text_part};

const NEGATIVE: Option<prost_types::Duration> = Some(prost_types::Duration { seconds: -1, nanos: 0 });

/// A hub with a worker, and tasks that are sent, leased and completed.
async fn filled() -> Hub {
    let hub = Hub::open_with_clock(Box::new(MemoryStore), BrokerOptions::default(), HubClock::of(|| START)).unwrap();
    let run = async |command: Command| hub.execute(&Caller::Operator, command).await.unwrap();
    run(Command::Register(Register { agent_id: "w".to_owned(), ..Register::default() })).await;
    for task in ["sent", "working", "completed"] {
        run(Command::Publish(message(task, "boss", "w").id(&format!("m-{task}")))).await;
    }
    for task in ["working", "completed"] {
        run(Command::UpdateStatus(status("w", task, TaskState::Working, None))).await;
    }
    run(Command::UpdateStatus(status("w", "completed", TaskState::Completed, None))).await;
    hub
}

fn everything(hub: &Hub) -> (String, usize, Option<StoreStats>) {
    (hub.inspect(|broker| format!("{broker:?}")), hub.stats().subscriptions, hub.store_stats())
}

fn with<T>(message: T, key: &'static str, value: &'static str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(key, value.parse().unwrap());
    request
}

fn routing(from: &str, to: &str) -> Option<AgentEventMetadata> {
    let (from_agent_id, to_agent_id) = (from.to_owned(), to.to_owned());
    Some(AgentEventMetadata { from_agent_id, to_agent_id, ..AgentEventMetadata::default() })
}

#[tokio::test]
async fn a_refused_request_changes_nothing() {
    let hub = filled().await;
    let before = everything(&hub);
    let mut published = AgentHubClient::new(routes(&hub));
    let mut workers = HubWorkerClient::new(routes(&hub));
    let mut methods = std::collections::BTreeSet::new();
    macro_rules! refused {
        ($client:ident.$method:ident: $($request:expr),+ $(,)?) => {{
            methods.insert(stringify!($method));
            $(
                let refused = $client.$method($request).await.map(|_| ());
                let status = refused.expect_err(concat!(stringify!($method), ": ", stringify!($request)));
                assert!(!status.message().is_empty(), "{status:?}");
                assert!(everything(&hub) == before, "{}: {status:?}", stringify!($request));
            )+
        }};
    }
    let said = |task: &str, id: &str| {
        let (task_id, message_id) = (task.to_owned(), id.to_owned());
        Some(Message { task_id, message_id, content: vec![text_part("x")], ..Message::default() })
    };
    refused!(published.publish_message:
        PublishMessageRequest::default(),
        PublishMessageRequest { message: said("new", ""), routing: None },
        PublishMessageRequest { message: said("new", ""), routing: routing("hub", "w") },
        PublishMessageRequest { message: said("new", ""), routing: routing("boss", "nobody") },
        PublishMessageRequest { message: said("new", "m-sent"), routing: routing("boss", "w") },
        PublishMessageRequest { message: said("completed", ""), routing: routing("boss", "w") },
        PublishMessageRequest { message: said("sent", ""), routing: routing("stranger", "w") },
        PublishMessageRequest { message: said("", ""), routing: routing("boss", "nobody") },
    );
    let update = |task: &str, state: i32| {
        let status = Some(TaskStatus { state, ..TaskStatus::default() });
        let update = TaskStatusUpdateEvent { task_id: task.to_owned(), status, ..TaskStatusUpdateEvent::default() };
        PublishTaskUpdateRequest { update: Some(update), routing: routing("w", "") }
    };
    let (working, completed) = (TaskState::Working as i32, TaskState::Completed as i32);
    refused!(published.publish_task_update:
        PublishTaskUpdateRequest::default(),
        PublishTaskUpdateRequest { update: Some(TaskStatusUpdateEvent::default()), routing: routing("w", "") },
        update("missing", working),
        update("sent", 99),
        update("sent", completed),
        update("completed", completed),
        with(update("working", completed), LEASE, "lease_of_another_attempt"),
    );
    let artifact = |task: &str, id: &str, append| {
        let artifact =
            Some(Artifact { artifact_id: id.to_owned(), parts: vec![text_part("x")], ..Artifact::default() });
        let task_id = task.to_owned();
        let update = TaskArtifactUpdateEvent { task_id, artifact, append, ..TaskArtifactUpdateEvent::default() };
        PublishTaskArtifactRequest { artifact: Some(update), routing: routing("w", "") }
    };
    refused!(published.publish_task_artifact:
        PublishTaskArtifactRequest::default(),
        artifact("missing", "a", false),
        artifact("sent", "a", false),
        artifact("working", "", true),
        with(artifact("working", "a", false), LEASE, "lease_of_another_attempt"),
        with(artifact("completed", "a", false), LEASE, "lease_of_another_attempt"),
    );
    let agent_id = || "stranger".to_owned();
    let worker = || "w".to_owned();
    refused!(published.subscribe_to_messages:
        SubscribeToMessagesRequest::default(),
        SubscribeToMessagesRequest { agent_id: agent_id(), ..SubscribeToMessagesRequest::default() },
        with(SubscribeToMessagesRequest { agent_id: worker(), ..Default::default() }, CURSOR, "no-cursor"),
        with(SubscribeToMessagesRequest { agent_id: worker(), ..Default::default() }, ORDER, "random"),
    );
    refused!(published.subscribe_to_tasks:
        SubscribeToTasksRequest { agent_id: agent_id(), ..SubscribeToTasksRequest::default() },
        SubscribeToTasksRequest { agent_id: worker(), states: vec![99], ..SubscribeToTasksRequest::default() },
    );
    refused!(published.subscribe_to_agent_events:
        SubscribeToAgentEventsRequest { agent_id: agent_id(), ..SubscribeToAgentEventsRequest::default() },
    );
    refused!(published.get_task:
        GetTaskRequest { task_id: "missing".to_owned(), history_length: 0 },
        GetTaskRequest { task_id: "sent".to_owned(), history_length: -1 },
    );
    refused!(published.cancel_task:
        CancelTaskRequest { task_id: "missing".to_owned(), reason: String::new() },
        CancelTaskRequest { task_id: "completed".to_owned(), reason: String::new() },
        CancelTaskRequest { task_id: "sent".to_owned(), reason: "x".repeat(5_000) },
    );
    refused!(published.list_tasks:
        ListTasksRequest { states: vec![99], ..ListTasksRequest::default() },
        ListTasksRequest { page_size: -1, ..ListTasksRequest::default() },
        ListTasksRequest { page_token: "x".to_owned(), ..ListTasksRequest::default() },
    );
    let register = |name: &str, url: &str| RegisterAgentRequest {
        agent_card: Some(AgentCard { name: name.to_owned(), ..AgentCard::default() }),
        health_check_url: url.to_owned(),
        ..RegisterAgentRequest::default()
    };
    refused!(published.register_agent:
        RegisterAgentRequest::default(), register("", ""), register("hub", ""), register("w", "ftp://x"),
    );
    let claim = |agent: &str, queue: &str| ClaimRequest {
        agent_id: agent.to_owned(),
        queue: queue.to_owned(),
        ..ClaimRequest::default()
    };
    refused!(workers.claim:
        claim("", "q"),
        claim("stranger", ""),
        ClaimRequest { wait: NEGATIVE, ..claim("w", "") },
        ClaimRequest { lease: NEGATIVE, ..claim("w", "") },
        with(claim("w", ""), OPERATION, "\t"),
    );
    let id = |task: &str| task.to_owned();
    refused!(workers.renew:
        RenewRequest { task_id: id("missing"), agent_id: worker(), ..RenewRequest::default() },
        RenewRequest { task_id: id("sent"), agent_id: worker(), ..RenewRequest::default() },
        RenewRequest { task_id: id("working"), agent_id: worker(), lease: NEGATIVE, ..RenewRequest::default() },
        RenewRequest { task_id: id("completed"), agent_id: worker(), ..RenewRequest::default() },
    );
    let progress = |task: &str, portion| ProgressRequest {
        task_id: task.to_owned(),
        agent_id: "w".to_owned(),
        portion,
        ..ProgressRequest::default()
    };
    refused!(workers.progress:
        progress("missing", 0.5), progress("working", f64::NAN), progress("completed", 0.5), progress("sent", 0.5),
    );
    let finish = |task: &str, state: i32, lease: &str| FinishRequest {
        task_id: task.to_owned(),
        agent_id: "w".to_owned(),
        lease_id: lease.to_owned(),
        state,
        artifacts: vec![Artifact { artifact_id: "answer".to_owned(), ..Artifact::default() }],
        ..FinishRequest::default()
    };
    refused!(workers.finish:
        finish("missing", completed, ""), finish("working", 99, ""), finish("working", working, ""),
        finish("sent", completed, ""), finish("completed", completed, ""), finish("working", completed, "other"),
    );
    let reject = |task: &str, reason| RejectRequest {
        task_id: task.to_owned(),
        agent_id: "w".to_owned(),
        reason,
        ..RejectRequest::default()
    };
    refused!(workers.reject: reject("missing", 1), reject("sent", 99), reject("sent", 0), reject("working", 1));
    refused!(workers.acknowledge:
        AcknowledgeRequest { agent_id: worker(), task_id: id("missing") },
        AcknowledgeRequest { agent_id: agent_id(), task_id: id("sent") },
    );
    refused!(workers.wait:
        WaitRequest { task_id: id("missing"), wait: None }, WaitRequest { task_id: id("sent"), wait: NEGATIVE },
    );
    let tasks = SubscribeToTasksRequest { agent_id: agent_id(), ..SubscribeToTasksRequest::default() };
    refused!(workers.subscribe_with_cursors:
        SubscribeWithCursorsRequest::default(),
        SubscribeWithCursorsRequest { selection: Some(Selection::Tasks(tasks.clone())), cursor: String::new() },
    );
    refused!(workers.list_dead_letters:
        ListDeadLettersRequest { page_size: -1, ..ListDeadLettersRequest::default() },
    );
    refused!(workers.list_agents: ListAgentsRequest { page_token: "*".to_owned(), ..ListAgentsRequest::default() });
    refused!(workers.unregister_agent: UnregisterAgentRequest { agent_id: agent_id() });
    // All methods but `GetAgentCard`, which takes nothing.
    assert_eq!(methods.len(), 21, "{methods:?}");
    // What is not refused changes something: the comparison sees it.
    published.publish_task_update(update("sent", working)).await.unwrap();
    assert!(everything(&hub) != before);
}
