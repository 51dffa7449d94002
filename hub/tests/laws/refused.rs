//! A refused command changes nothing: every command on tasks in every state, by every agent, with every lease.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hub::broker::{
    Broker, BrokerOptions, Caller, Claim, Command, ErrorKind, Finish, Progress, PutArtifact, Register, Reject, Renew,
};
use hub::proto::a2a::{AgentCard, Artifact, Message, TaskState};
use hub::proto::agenthub::{AgentEventMetadata, TaskArtifactUpdateEvent};
use hub::proto::worker::RejectionReason;

use crate::common::{Bench, PublishExt, message, status, text_part};

/// The tasks of [`filled`], and one that it does not have.
const TASKS: [&str; 13] = [
    "sent",
    "queued",
    "leased",
    "working",
    "published",
    "asking",
    "completed",
    "failed",
    "cancelled",
    "rejected",
    "broadcast",
    "broadcast.w",
    "missing",
];
/// A size that no task has.
const LARGE: usize = 8_000;
const AGENTS: [&str; 4] = ["boss", "w", "v", "stranger"];
const ENDS: [TaskState; 4] =
    [TaskState::Completed, TaskState::Failed, TaskState::InputRequired, TaskState::AuthRequired];

/// A hub with tasks in every state, and the present lease of each that has one.
fn filled() -> (Bench, BTreeMap<String, String>) {
    let options =
        BrokerOptions { lease_ms: 1_000, ageing_ms: 1 << 40, max_task_bytes: LARGE, ..BrokerOptions::default() };
    let mut bench = Bench::new(options);
    bench.register("boss", &[]);
    bench.register("w", &["tag", "q"]);
    bench.register("v", &["tag"]);
    let mut leases = BTreeMap::new();
    let leased = ["leased", "working", "asking", "completed", "failed"];
    for task in leased {
        bench.queue(task, task);
        // The first attempt is lost.
        bench.claim("v", task).unwrap();
    }
    bench.advance(1_000);
    for task in leased {
        let lease = bench.claim("w", task).unwrap().lease_id;
        if task != "leased" {
            bench.leased("w", task, TaskState::Working, &lease).unwrap();
            bench.artifact("w", task, "a", &["1"], false).unwrap();
        }
        leases.insert(task.to_owned(), lease);
    }
    bench.status("w", "asking", TaskState::InputRequired).unwrap();
    bench.status("w", "completed", TaskState::Completed).unwrap();
    bench.status("w", "failed", TaskState::Failed).unwrap();
    bench.publish(message("sent", "boss", "w").id("used")).unwrap();
    bench.queue("queued", "q");
    for task in ["published", "cancelled", "rejected"] {
        bench.send(task, "w");
    }
    bench.status("w", "published", TaskState::Working).unwrap();
    bench.run(Command::Cancel { task_id: "cancelled".to_owned(), reason: String::new() }).unwrap();
    bench.reject("w", "rejected", RejectionReason::CapacityExceeded).unwrap();
    bench.publish(message("broadcast", "boss", "").tags(&["tag"])).unwrap();
    bench.publish(message("late", "boss", "").with("queue", "late").with("deadline", "2027-01-15T09:00:00Z")).unwrap();
    (bench, leases)
}

fn artifact(id: &str, bytes: usize) -> Artifact {
    Artifact { artifact_id: id.to_owned(), parts: vec![text_part(&"x".repeat(bytes))], ..Artifact::default() }
}

fn put(agent: &str, task: &str, lease: Option<&str>, artifact: Option<Artifact>, append: bool) -> Command {
    let update = TaskArtifactUpdateEvent { task_id: task.to_owned(), artifact, append, ..Default::default() };
    let routing = AgentEventMetadata { from_agent_id: agent.to_owned(), ..AgentEventMetadata::default() };
    let lease = lease.map(str::to_owned);
    Command::PutArtifact(PutArtifact { update, routing, lease, ..PutArtifact::default() })
}

/// Returns every command of an agent about a task with a lease.
fn commands_about(agent: &str, task: &str, lease: Option<&str>) -> Vec<Command> {
    let (agent_id, task_id, held) = (agent.to_owned(), task.to_owned(), lease.map(str::to_owned));
    let mut commands = Vec::new();
    for number in 0..=9 {
        let state = TaskState::try_from(number).unwrap_or_default();
        commands.push(Command::UpdateStatus(status(agent, task, state, lease)));
    }
    for state in ENDS {
        for artifacts in [vec![artifact("a", 1), artifact("", 1)], vec![artifact("a", 1), artifact("b", LARGE)]] {
            let (agent_id, task_id, lease) = (agent_id.clone(), task_id.clone(), held.clone());
            let finish = Finish { agent_id, task_id, lease, state, artifacts, ..Finish::default() };
            commands.push(Command::Finish(finish));
        }
    }
    for (id, append) in [("a", false), ("a", true), ("new", false), ("", true)] {
        commands.push(put(agent, task, lease, Some(artifact(id, 1)), append));
    }
    commands.push(put(agent, task, lease, None, false));
    for (portion, token) in [(0.5, 1), (2.0, 1), (0.5, 65 << 10)] {
        let (agent_id, task_id, lease) = (agent_id.clone(), task_id.clone(), held.clone());
        let resume_token = "x".repeat(token);
        let progress = Progress { agent_id, task_id, lease, portion, resume_token, ..Progress::default() };
        commands.push(Command::Progress(progress));
    }
    for ms in [1_000, 0] {
        let (agent_id, task_id, lease) = (agent_id.clone(), task_id.clone(), held.clone());
        let duration = Some(Duration::from_millis(ms));
        commands.push(Command::Renew(Renew { agent_id, task_id, lease, duration }));
    }
    for reason in [RejectionReason::CapacityExceeded, RejectionReason::Unspecified] {
        let (agent_id, task_id, lease) = (agent_id.clone(), task_id.clone(), held.clone());
        let (text, operation) = (String::new(), String::new());
        commands.push(Command::Reject(Reject { agent_id, task_id, lease, reason, text, operation }));
    }
    commands.push(Command::Acknowledge { agent_id, task_id });
    for (id, bytes) in [("", 1), ("used", 1), ("", LARGE)] {
        let mut publish = message(task, agent, "").id(id);
        publish.message.content = vec![text_part(&"x".repeat(bytes))];
        commands.push(Command::Publish(publish));
    }
    commands
}

/// Returns the other commands of an agent.
fn other_commands(agent: &str) -> Vec<Command> {
    let agent_id = || agent.to_owned();
    let mut commands = Vec::new();
    for (to, tags) in [("w", ""), ("nobody", ""), ("", "no-such-tag"), ("", "tag")] {
        for (id, task) in [("", "new"), ("", ""), ("used", "new"), ("x\u{0}", "new"), ("", "broadcast.w")] {
            let publish = message(task, agent, to).id(id);
            let publish = if tags.is_empty() { publish } else { publish.tags(&[tags]) };
            for key in ["", "queue", "deadline", "max_attempts"] {
                let publish =
                    if key.is_empty() { publish.clone() } else { publish.clone().with(key, "2020-01-01T00:00:00Z") };
                commands.push(Command::Publish(publish));
            }
        }
    }
    for (queue, lease, estimate) in [("", 1, 0), ("q", 1, 0), ("q", 0, 0), ("late", 1, 1 << 30), ("x\u{0}", 1, 0)] {
        let (queue, lease) = (queue.to_owned(), Some(Duration::from_millis(lease)));
        let estimate = Some(Duration::from_millis(estimate));
        commands.push(Command::Claim(Claim { agent_id: agent_id(), queue, lease, estimate, ..Claim::default() }));
    }
    for (id, url, bytes) in [(agent, "", 0), ("hub", "", 0), ("", "", 0), (agent, "ftp://x", 0), (agent, "", 300 << 10)]
    {
        let card = AgentCard { description: "x".repeat(bytes), ..AgentCard::default() };
        let (agent_id, health_check_url) = (id.to_owned(), url.to_owned());
        commands.push(Command::Register(Register { agent_id, card, health_check_url, ..Register::default() }));
    }
    commands.push(Command::Unregister { agent_id: agent_id() });
    commands.push(Command::ReportHealth { agent_id: agent_id(), healthy: false });
    commands
}

/// The name of a command.
fn name(command: &Command) -> String {
    format!("{command:?}").split([' ', '(']).next().unwrap_or_default().to_owned()
}

#[test]
fn a_refused_command_changes_nothing() {
    let (bench, leases) = filled();
    let rebuilt = || {
        let broker = bench.replayed();
        let before = format!("{broker:?}");
        (broker, before)
    };
    let mut runs = Vec::new();
    for agent in AGENTS {
        for task in TASKS {
            let lease = leases.get(task).map(String::as_str);
            for lease in BTreeSet::from([None, lease, Some("lease_of_another_attempt")]) {
                let commands = commands_about(agent, task, lease).into_iter();
                runs.extend(commands.map(|command| (Caller::Agent(agent.to_owned()), command)));
            }
            let cancel = |bytes| Command::Cancel { task_id: task.to_owned(), reason: "x".repeat(bytes) };
            runs.extend([1, 5_000].map(|bytes| (Caller::Agent(agent.to_owned()), cancel(bytes))));
        }
        runs.extend(other_commands(agent).into_iter().map(|command| (Caller::Agent(agent.to_owned()), command)));
        // As another agent.
        let thief = Caller::Agent("thief".to_owned());
        let commands = other_commands(agent).into_iter().chain(commands_about(agent, "working", None));
        runs.extend(commands.map(|command| (thief.clone(), command)));
    }
    let (mut broker, mut before) = rebuilt();
    let (mut refused, mut accepted, mut kinds) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    for (caller, command) in runs {
        let mut ids = 0;
        let mut next = || {
            ids += 1;
            format!("new{ids}")
        };
        let name = name(&command);
        let executed = Broker::execute(&mut broker, &caller, command.clone(), bench.now_ms, &mut next);
        match executed.reply {
            Ok(_) => {
                accepted.insert(name);
                (broker, before) = rebuilt();
            }
            Err(error) => {
                let is_same = executed.batch.is_none() && executed.events.is_empty() && format!("{broker:?}") == before;
                assert!(is_same, "refused with `{error}`, and has changed the state: {command:?}");
                kinds.insert(error.kind.as_str());
                *refused.entry(name).or_insert(0) += 1;
            }
        }
    }
    let every = [
        "Acknowledge",
        "Cancel",
        "Claim",
        "Finish",
        "Progress",
        "Publish",
        "PutArtifact",
        "Register",
        "Reject",
        "Renew",
        "ReportHealth",
        "Unregister",
        "UpdateStatus",
    ];
    assert_eq!(refused.keys().map(String::as_str).collect::<Vec<_>>(), every, "{refused:?}");
    assert_eq!(accepted.iter().map(String::as_str).collect::<Vec<_>>(), every);
    let all = [
        ErrorKind::NotFound,
        ErrorKind::InvalidArgument,
        ErrorKind::FailedPrecondition,
        ErrorKind::AlreadyExists,
        ErrorKind::Aborted,
        ErrorKind::PermissionDenied,
        ErrorKind::ResourceExhausted,
    ];
    assert_eq!(kinds, all.map(ErrorKind::as_str).into_iter().collect());
}

#[test]
fn a_status_with_too_long_ids_changes_nothing() {
    let (mut bench, _) = filled();
    let before = format!("{:?}", bench.broker);
    let long = "x".repeat(300);
    let mut report = status("w", "working", TaskState::Completed, None);
    report.update.status.as_mut().unwrap().update = Some(Message { message_id: long.clone(), ..Message::default() });
    assert!(bench.run(Command::UpdateStatus(report)).is_err());
    let mut report = status("w", "working", TaskState::Completed, None);
    report.operation = long;
    assert!(bench.run(Command::UpdateStatus(report)).is_err());
    assert!(format!("{:?}", bench.broker) == before);
}
