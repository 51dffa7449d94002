use std::sync::Arc;

use a2a::{Configuration, Frame, Message, Part, Role, SendMessage, Task, TaskState, Version};
use base::data::Data;
use runtime::reminder::ReminderCode;

use super::*;
use crate::a2a::feed::{FeedItem, FeedUpdate, Subscription};
use crate::a2a::reminder::{ReminderFormat, ReminderReport};
use crate::a2a::tasks::{TaskCaller, TaskSettings};
use crate::a2a::testing::GateFolder;
use crate::a2a::{Refusal, TaskManager};
use crate::host::testing::{block_on_runtime, served};

const RFC: &str = r#"{"id": "reminder-1", "body": "Upstream dependency PR landed; rebase before the next tool call.",
    "tags": ["upstream", "rebase"], "dedupeKey": "upstream:pr-1234", "ttlTurns": 2, "preserveOnCompact": true,
    "propagate": "session", "roleHint": "system", "source": "coordinator-agent", "firedAtTurn": 4, "mode": "finish_step"}"#;

fn json(text: &str) -> Data {
    Data::from_json(text).unwrap()
}

fn read(text: &str) -> Result<PeerReminder, ReminderFault> {
    PeerReminder::read(&json(text), &Data::Nil).map_err(|error| (error.code, error.field.clone(), error.suggestion))
}

/// Calls a method and returns the response as its peer reads it.
async fn call(method: &str, params: &Data, manager: &TaskManager) -> Result<Data, Refusal> {
    let answer = super::call(method, params, manager).await?;
    Ok(json(&serde_json::to_string(&answer).unwrap()))
}

type ReminderFault = (ReminderCode, String, Option<String>);

#[test]
fn the_drafts_reminder_is_read_and_written_down_whole() {
    let metadata = json(r#"{"harn.reminder.origin": "workflow-coordinator"}"#);
    let incoming = PeerReminder::read(&json(RFC), &metadata).unwrap();
    assert_eq!((incoming.id.as_deref(), incoming.payload.spec.ttl_turns), (Some("reminder-1"), Some(2)));
    assert_eq!(incoming.echo, PeerEcho { source: Some("coordinator-agent".into()), metadata });
    assert_eq!(incoming.payload.meta.at("harn.source").as_str(), Some("coordinator-agent"));
    let given = TaskInjection { id: "reminder-1".into(), incoming, deduped_count: 1, displaced: Vec::new(), at_ms: 7 };
    assert_eq!(*TaskInjections::restored(&[given.to_data()]).find("reminder-1").unwrap(), given);
    let snake = RFC.replace("dedupeKey", "dedupe_key").replace("firedAtTurn", "fired_at_turn");
    assert_eq!(PeerReminder::read(&json(&snake), &given.echo().metadata).unwrap(), given.incoming);
}

#[test]
fn an_id_that_was_revoked_is_free_in_the_next_process_too() {
    let incoming = PeerReminder::read(&json(RFC), &Data::Nil).unwrap();
    let id: Arc<str> = "reminder-1".into();
    let given = TaskInjection { id: id.clone(), incoming, deduped_count: 0, displaced: Vec::new(), at_ms: 7 }.to_data();
    let written = [given.clone(), injections::revoked(&id)];
    assert!(TaskInjections::restored(&written).find(&id).is_none());
    let [first, end] = written;
    assert!(TaskInjections::restored(&[first, end, given]).find(&id).is_some());
}

#[test]
fn each_fault_has_its_code_and_field() {
    let two = ReminderCode::Bridge;
    for (text, expected) in [
        (r#"{"body": "b", "dedupKey": "k"}"#, (ReminderCode::Shape, "dedupKey", Some("dedupeKey"))),
        (r#"{"body": "b", "sessionId": "s"}"#, (ReminderCode::Shape, "sessionId", None)),
        (r#"{"body": "b", "propagate": "al"}"#, (ReminderCode::Propagate, "propagate", Some("all"))),
        (r#"{"body": "b", "mode": "now"}"#, (two, "mode", None)),
        (r#"{"id": "i"}"#, (two, "body", None)),
        (r#"{"body": "b", "id": " "}"#, (two, "id", None)),
        (r#"{"body": "b", "id": "a\nb"}"#, (two, "id", None)),
        (r#"{"body": "b", "source": 7}"#, (two, "source", None)),
        ("[]", (two, "", None)),
    ] {
        let (code, field, suggestion) = read(text).unwrap_err();
        assert_eq!((code, &*field, suggestion.as_deref()), expected, "{text}");
    }
    assert!(read(r#"{"body": "b", "firedAtTurn": "whenever"}"#).is_ok(), "it is passed over");
}

#[test]
fn metadata_carries_reminders_nested_and_flat_one_and_many() {
    let bodies = |text: &str| {
        let read = of_metadata(&json(text)).unwrap();
        read.iter().map(|incoming| incoming.payload.spec.body.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(bodies(r#"{"harn": {"reminder": {"body": "a"}}}"#), ["a"]);
    assert_eq!(bodies(r#"{"harn.reminder": [{"body": "a"}, {"body": "b"}]}"#), ["a", "b"]);
    assert_eq!(bodies(r#"{"harn": {"reminder": {"body": "a"}}, "harn.reminder": {"body": "b"}}"#), ["a", "b"]);
    assert!(bodies(r#"{"harn": {"other": 1}}"#).is_empty() && bodies("null").is_empty());
    let wrong = of_metadata(&json(r#"{"harn.reminder": [{"body": "a"}, {"body": 7}]}"#)).unwrap_err();
    assert_eq!(wrong.field, "harn.reminder.1.body");
    let mut request = request("x");
    request.message.metadata = json(r#"{"harn": {"reminder": 7}}"#);
    assert_eq!(of_message(&request).unwrap_err().field, "message.metadata.harn.reminder");
    request.message.metadata =
        Data::dict([("harn.reminder", std::iter::repeat_n(json(r#"{"body": "b"}"#), 257).collect())]);
    assert!(of_message(&request).unwrap_err().message.contains("257"));
}

#[test]
fn what_is_known_of_a_task_is_bounded() {
    let given = |n: usize, body: &str| {
        let text = format!(r#"{{"id": "{n}", "body": "{body}"}}"#);
        let incoming = PeerReminder::read(&json(&text), &Data::Nil).unwrap();
        TaskInjection { id: n.to_string().into(), incoming, deduped_count: 0, displaced: Vec::new(), at_ms: 1 }
            .to_data()
    };
    let many = TaskInjections::restored(&(0..3_000).map(|n| given(n, "b")).collect::<Vec<_>>());
    assert!(many.find("2999").is_some() && many.find("0").is_none());
    assert!(many.weight() <= 1 << 20);
    let large = TaskInjections::restored(&(0..100).map(|n| given(n, &"x".repeat(60_000))).collect::<Vec<_>>());
    assert!(large.weight() <= 1 << 20 && large.find("99").is_some() && large.find("50").is_none());
}

/// A task whose loop waits in its first model call until a file exists, then lists the reminders that it sees.
const LOOP: &str = r#"
pipeline default(task, context) {
  let began = path_join(task, "began")
  let gate = path_join(task, "gate")
  var seen = []
  var turn = 0
  let step = tool_define(tool_registry(), "step", "Does one step.", {handler: { args -> return "ok" }})
  agent_loop("Work.", "You work.", {tools: step, max_iterations: 3, reminders: false, llm_caller: { asked ->
    turn = turn + 1
    seen = seen.push(["soon", "later", "never", "twice"].filter({ word -> asked.system.contains("<${word}>") }).join("+"))
    if turn > 1 { return "done" }
    write_file(began, "")
    while !file_exists(gate) { sleep(2) }
    return {tool_calls: [{name: "step", arguments: {}}]}
  }})
  return seen.join("|")
}
"#;

/// A task without a loop.
const NO_LOOP: &str = r#"
pipeline default(task, context) {
  write_file(path_join(task, "began"), "")
  while !file_exists(path_join(task, "gate")) { sleep(2) }
}
"#;

fn manager(text: &str) -> TaskManager {
    TaskManager::open(served("test.harn", text, 1, None), TaskSettings::default())
        .unwrap_or_else(|found| panic!("{found:?}"))
}

fn request(text: &str) -> SendMessage {
    let message = Message::new(Role::User, format!("m-{}", uuid::Uuid::new_v4()), vec![Part::text(text)]);
    SendMessage { message, configuration: Configuration::default(), metadata: Data::Nil }
}

async fn send(manager: &TaskManager, request: SendMessage) -> (Arc<str>, Subscription) {
    manager
        .send(request, TaskCaller { version: Version::V1_0, takes_message: false, names_tasks: false })
        .await
        .unwrap()
}

async fn inject(manager: &TaskManager, task: &str, reminder: &str) -> Result<Data, Refusal> {
    let params = Data::dict([("taskId", Data::from(task)), ("reminder", json(reminder))]);
    call(INJECT, &params, manager).await
}

fn answer(task: &Task) -> String {
    let parts = task.artifacts.iter().find(|artifact| &*artifact.artifact_id == "answer").map(|found| &found.parts);
    parts.map(|parts| a2a::model::text_of(parts)).unwrap_or_default()
}

/// Returns all reminder events of a stream in this spelling, each as JSON.
async fn reports(follows: &mut Subscription, spelling: &mut ReminderFormat) -> Vec<Data> {
    let mut all = Vec::new();
    while let Some(next) = follows.next().await {
        let FeedItem::Update(feed_update, _) = next else { panic!("it lags") };
        match &*feed_update {
            FeedUpdate::Frame(frame) => spelling.saw(frame),
            FeedUpdate::Reminder(reminded) => match spelling.spell(reminded) {
                Some(ReminderReport::Notification(notification)) => all.push(notification),
                Some(ReminderReport::Frame(Frame::Status(update))) => all.push(update.metadata),
                other => panic!("{other:?}"),
            },
        }
    }
    all
}

#[test]
fn each_mode_is_delivered_at_its_seam_and_nothing_that_was_accepted_is_lost() {
    let (folder, manager) = (GateFolder::new("modes"), manager(LOOP));
    block_on_runtime(async {
        let (id, mut follows) = send(&manager, request(&folder.text())).await;
        let mut other = manager.follow(&id).await.unwrap();
        folder.has("began").await;
        let mut ids = Vec::new();
        for (word, mode) in [("soon", "interrupt_immediate"), ("later", "finish_step"), ("never", "audit_only")] {
            let text = format!(r#"{{"body": "<{word}>", "mode": "{mode}", "source": "tests", "ttlTurns": 1}}"#);
            let accepted = inject(&manager, &id, &text).await.unwrap();
            assert_eq!(accepted.get("dedupedCount"), &Data::Int(0));
            assert!(stdlib::from_rfc3339(accepted.get("acceptedAt").as_str().unwrap()).is_some());
            ids.push(accepted.get("reminderId").as_shared_str().unwrap());
        }
        let taken = inject(&manager, &id, r#"{"body": "<twice>"}"#).await.unwrap().get("reminderId").clone();
        let about = Data::dict([("taskId", Data::from(&id))]);
        let pending = call(PENDING, &about, &manager).await.unwrap();
        assert_eq!(pending.get("pendingCount"), &Data::Int(4));
        assert_eq!(pending.get("injections").as_list().unwrap()[0].get("source").as_str(), Some("tests"));
        for status in ["revoked", "already_revoked"] {
            let revoked = call(REVOKE, &about.clone().with("reminderId", taken.clone()), &manager).await.unwrap();
            assert_eq!(revoked.get("status").as_str(), Some(status));
        }
        folder.open();
        let task = manager.settled(&id).await.unwrap();
        assert_eq!(task.status.state, TaskState::Completed, "{task:?}");
        // None at first, both at the boundary, and never the record-only one.
        assert_eq!(answer(&task), "|soon+later");
        let notified = reports(&mut follows, &mut ReminderFormat::new(true)).await;
        let emitted: Vec<_> =
            notified.iter().filter(|report| report.get("method").as_str() == Some("tasks/reminderEmitted")).collect();
        assert_eq!(emitted.len(), 2, "{notified:?}");
        for (report, id_of) in emitted.iter().zip(&ids) {
            assert_eq!(report.at("params.reminder.id").as_shared_str().as_ref(), Some(id_of));
            assert_eq!(report.at("params.reminder.source").as_str(), Some("tests"));
            assert_eq!(report.at("params.taskId").as_shared_str().as_ref(), Some(&id));
        }
        let decorated = reports(&mut other, &mut ReminderFormat::new(false)).await;
        // The first is the revoked one.
        assert_eq!(told_events(&decorated), ["expired", "emitted", "emitted", "expired", "expired"]);
        manager.stop().await;
    });
}

fn told_events(all: &[Data]) -> Vec<&str> {
    all.iter().filter_map(|metadata| metadata.get("harn.reminder").get("event").as_str()).collect()
}

#[test]
fn a_repeat_is_harmless_and_an_id_is_one_reminders() {
    let (folder, manager) = (GateFolder::new("repeat"), manager(LOOP));
    block_on_runtime(async {
        let (id, _) = send(&manager, request(&folder.text())).await;
        folder.has("began").await;
        let first = inject(&manager, &id, RFC).await.unwrap();
        assert_eq!(first.get("reminderId").as_str(), Some("reminder-1"), "the id is the caller's");
        assert_eq!(inject(&manager, &id, RFC).await.unwrap(), first);
        for metadata in [r#"{"attempt": 2}"#, "{}"] {
            let params =
                Data::dict([("taskId", Data::from(&id)), ("reminder", json(RFC)), ("metadata", json(metadata))]);
            assert_eq!(call(INJECT, &params, &manager).await.unwrap(), first, "the metadata is about the request");
        }
        let pending = call(PENDING, &Data::dict([("taskId", Data::from(&id))]), &manager).await.unwrap();
        assert_eq!(pending.get("pendingCount"), &Data::Int(1));
        for (from, to) in [("Upstream", "Downstream"), ("coordinator-agent", "another"), ("finish_step", "audit_only")]
        {
            let other = inject(&manager, &id, &RFC.replace(from, to)).await.unwrap_err();
            assert!(matches!(other, Refusal::Reminder(error) if error.field == "reminder.id"), "{to}");
        }
        let newer = inject(&manager, &id, &RFC.replace("reminder-1", "reminder-2")).await.unwrap();
        assert_eq!(newer.get("dedupedCount"), &Data::Int(1));
        folder.open();
        manager.settled(&id).await.unwrap();
        assert_eq!(inject(&manager, &id, RFC).await.unwrap(), first, "also when the task is over");
        let late = inject(&manager, &id, r#"{"body": "late"}"#).await.unwrap_err();
        assert!(matches!(late, Refusal::Over { state: TaskState::Completed, .. }));
        let unknown = inject(&manager, "task_none", r#"{"body": "b"}"#).await.unwrap_err();
        assert_eq!(unknown, Refusal::UnknownTask("task_none".into()));
        manager.stop().await;
    });
}

#[test]
fn what_comes_with_a_message_is_there_before_its_prompt() {
    let (folder, manager) = (GateFolder::new("metadata"), manager(LOOP));
    folder.open();
    block_on_runtime(async {
        let mut request = request(&folder.text());
        request.metadata = json(r#"{"harn": {"reminder": {"body": "<soon>", "source": "coordinator"}}}"#);
        request.message.metadata = json(r#"{"harn.reminder": [{"body": "<later>"}]}"#);
        let (id, mut follows) = send(&manager, request).await;
        let task = manager.settled(&id).await.unwrap();
        assert_eq!(answer(&task).split('|').next(), Some("soon+later"), "{task:?}");
        let all = reports(&mut follows, &mut ReminderFormat::new(false)).await;
        let sources: Vec<_> =
            all.iter().filter_map(|report| report.get("harn.reminder").get("source").as_str()).collect();
        assert_eq!(sources[..2], ["coordinator", "host"]);
        manager.stop().await;
    });
}

#[test]
fn parameters_are_read_strictly() {
    let manager = manager("pipeline default(task) { return task }");
    block_on_runtime(async {
        for (method, params, field) in [
            (INJECT, "[]", ""),
            (INJECT, r#"{"reminder": {"body": "b"}}"#, "taskId"),
            (INJECT, r#"{"taskId": 7, "reminder": {"body": "b"}}"#, "taskId"),
            (INJECT, r#"{"taskId": "t", "reminder": {"body": ""}}"#, "reminder.body"),
            (INJECT, r#"{"taskId": "t", "remindr": {"body": "b"}}"#, "remindr"),
            (INJECT, r#"{"taskId": "t", "reminder": {"body": "b"}, "metadata": 7}"#, "metadata"),
            (PENDING, r#"{"taskid": "t"}"#, "taskid"),
            (REVOKE, r#"{"taskId": "t"}"#, "reminderId"),
        ] {
            match call(method, &json(params), &manager).await {
                Err(Refusal::Reminder(error)) => assert_eq!(error.field, field, "{params}"),
                other => panic!("{params}: {other:?}"),
            }
        }
        manager.stop().await;
    });
}

#[test]
fn what_is_displaced_revoked_or_left_over_is_told() {
    let (folder, manager) = (GateFolder::new("displaced"), manager(LOOP));
    block_on_runtime(async {
        let (id, mut follows) = send(&manager, request(&folder.text())).await;
        folder.has("began").await;
        inject(&manager, &id, RFC).await.unwrap();
        inject(&manager, &id, &RFC.replace("reminder-1", "reminder-2")).await.unwrap();
        // A revoked id may be used again, and the new reminder is queued.
        let revoked = json(&format!(r#"{{"taskId": "{id}", "reminderId": "reminder-2"}}"#));
        assert_eq!(call(REVOKE, &revoked, &manager).await.unwrap().get("status").as_str(), Some("revoked"));
        inject(&manager, &id, &RFC.replace("reminder-1", "reminder-2")).await.unwrap();
        let pending = call(PENDING, &Data::dict([("taskId", Data::from(&id))]), &manager).await.unwrap();
        assert_eq!(pending.get("pendingCount"), &Data::Int(1));
        folder.open();
        manager.settled(&id).await.unwrap();
        let all = reports(&mut follows, &mut ReminderFormat::new(false)).await;
        let deduped = all
            .iter()
            .map(|report| report.get("harn.reminder"))
            .find(|report| report.get("event").as_str() == Some("deduped"));
        let dropped = deduped.map(|report| report.get("droppedReminderIds").to_json());
        assert_eq!(dropped.as_deref(), Some(r#"["reminder-1"]"#), "{all:?}");
        let ended = all
            .iter()
            .map(|report| report.get("harn.reminder"))
            .filter(|report| report.get("event").as_str() == Some("expired"));
        let ended: Vec<_> = ended.map(|report| report.get("phase").to_json()).collect();
        assert!(ended.contains(&r#""cleared""#.to_owned()), "the revoked one: {all:?}");
        manager.stop().await;
    });
}

#[test]
fn reminders_of_a_task_are_cleared_queued_and_delivered() {
    let (folder, manager) = (GateFolder::new("cleared"), manager(LOOP));
    block_on_runtime(async {
        let mut request = request(&folder.text());
        request.metadata = json(r#"{"harn.reminder": {"id": "early", "body": "<soon>", "tags": ["t"]}}"#);
        let (id, mut follows) = send(&manager, request).await;
        folder.has("began").await;
        inject(&manager, &id, &RFC.replace(r#""upstream", "#, r#""t", "#)).await.unwrap();
        let about = Data::dict([("taskId", Data::from(&id))]);
        let cleared = call(CLEAR, &about.clone().with("tag", "t".into()), &manager).await.unwrap();
        assert_eq!(cleared.get("removedCount"), &Data::Int(2));
        let again = call(CLEAR, &about.clone().with("dedupeKey", "upstream:pr-1234".into()), &manager).await.unwrap();
        assert_eq!(again.get("removedCount"), &Data::Int(0));
        folder.open();
        manager.settled(&id).await.unwrap();
        let all = reports(&mut follows, &mut ReminderFormat::new(false)).await;
        let ended = all
            .iter()
            .map(|report| report.get("harn.reminder"))
            .filter(|report| report.get("event").as_str() == Some("expired"));
        let mut ended: Vec<_> =
            ended.map(|report| (report.get("id").to_json(), report.get("phase").to_json())).collect();
        ended.sort();
        let end = |id: &str| (format!("\"{id}\""), "\"cleared\"".to_owned());
        assert_eq!(ended, [end("early"), end("reminder-1")], "{all:?}");
        let late = call(CLEAR, &about.with("tag", "t".into()), &manager).await.unwrap_err();
        assert!(matches!(late, Refusal::Over { .. }), "{late:?}");
        manager.stop().await;
    });
}

#[test]
fn a_reminder_of_a_task_that_ends_without_a_loop_expires() {
    let (folder, manager) = (GateFolder::new("left-over"), manager(NO_LOOP));
    block_on_runtime(async {
        let (id, mut follows) = send(&manager, request(&folder.text())).await;
        folder.has("began").await;
        inject(&manager, &id, RFC).await.unwrap();
        folder.open();
        manager.settled(&id).await.unwrap();
        let all = reports(&mut follows, &mut ReminderFormat::new(false)).await;
        assert_eq!(told_events(&all), ["expired"], "{all:?}");
        assert_eq!(all.iter().find_map(|report| report.get("harn.reminder").get("id").as_str()), Some("reminder-1"));
        manager.stop().await;
    });
}
