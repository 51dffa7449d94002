//! Values that harn writes are read by the SDKs, and the reverse: generated values of the model go
//! through the SDKs' own types and come back unchanged.

use super::strict::Types;
use crate::harn::{root, scratch};
use crate::packages::node;
use a2a as model;
use a2a::{Frame, ListTasks, SendMessage, Task, TaskPage, Version};
use base::data::Data;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use reduced::Reduce;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::process::Command;

#[path = "../../../a2a/src/shape/tests/made.rs"]
#[allow(dead_code, reason = "the tests of the shapes make more of it")]
mod made;
#[path = "../../../a2a/src/shape/tests/reduced.rs"]
mod reduced;

/// The number of generated values of each kind.
const EACH: usize = 100;

/// A value and what it is written as.
struct EchoCase {
    /// The SDK's name of its type.
    name: &'static str,
    written: Data,
    made: GeneratedValue,
}

enum GeneratedValue {
    Task(Task),
    Frame(Frame),
    Send(SendMessage),
    Page(Task),
}

/// The names of a task, a frame, a request and a page.
const OF_1_0: [&str; 4] = ["Task", "StreamResponse", "SendMessageRequest", "ListTasksResponse"];
const OF_0_3: [&str; 4] = ["Task", "Stream", "MessageSendParams", ""];

fn rows(version: Version, names: [&'static str; 4]) -> Vec<EchoCase> {
    let mut runner = TestRunner::deterministic();
    let mut rows = Vec::new();
    for _ in 0..EACH {
        let task = one(&mut runner, &made::task());
        let frame = one(&mut runner, &made::frame());
        let send = one(&mut runner, &made::send());
        if !names[3].is_empty() {
            let asked = ListTasks { include_artifacts: true, history_length: Some(9), ..ListTasks::default() };
            let page = TaskPage {
                tasks: vec![task.clone().into()],
                next_page_token: "next".to_owned(),
                page_size: 50,
                total_size: 51,
            };
            let written = version.page(&page, &asked);
            rows.push(EchoCase { name: names[3], written, made: GeneratedValue::Page(task.clone()) });
        }
        rows.push(EchoCase { name: names[0], written: version.task(&task, None), made: GeneratedValue::Task(task) });
        rows.push(EchoCase {
            name: names[1],
            written: version.frame(&frame, true),
            made: GeneratedValue::Frame(frame),
        });
        rows.push(EchoCase { name: names[2], written: version.send(&send), made: GeneratedValue::Send(send) });
    }
    rows
}

fn one<T>(runner: &mut TestRunner, strategy: &impl Strategy<Value = T>) -> T {
    strategy.new_tree(runner).unwrap().current()
}

/// Returns each value as the types echo it, or the problem with it.
fn echoed<'a>(
    command: &mut Command,
    name: &str,
    rows: impl Iterator<Item = (&'a str, Value)>,
) -> Vec<Result<Data, String>> {
    let asked = scratch(name).join("asked.jsonl");
    let lines: String = rows.map(|(name, value)| format!("{}\n", json!({"type": name, "value": value}))).collect();
    fs::write(&asked, &lines).unwrap();
    let output = command.stdin(File::open(asked).unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), lines.lines().count());
    let answer = |line: &str| {
        let answer = Data::from_json(line).unwrap();
        match answer.get("fault").as_str() {
            Some(problem) => Err(problem.to_owned()),
            None => Ok(answer.get("value").clone()),
        }
    };
    answers.lines().map(answer).collect()
}

/// Returns the data with every number as a float: protobuf and JavaScript have no others.
fn floats(data: &Data) -> Data {
    match data {
        Data::List(items) => items.iter().map(floats).collect(),
        Data::Dict(entries) => Data::dict(entries.iter().map(|(key, one)| (key.clone(), floats(one)))),
        other => other.as_float().map_or_else(|| other.clone(), Data::Float),
    }
}

/// Values as [`floats`] has them, written in the version: what is compared.
fn plain(version: Version, row: &GeneratedValue) -> Data {
    floats(&match row {
        GeneratedValue::Task(task) | GeneratedValue::Page(task) => version.task(task, None),
        GeneratedValue::Frame(frame) => version.frame(frame, true),
        GeneratedValue::Send(send) => version.send(send),
    })
}

fn assert_comes_back(command: &mut Command, scratch: &str, version: Version, rows: Vec<EchoCase>) {
    let asked = rows.iter().map(|row| (row.name, Value::from(&row.written)));
    let answers = echoed(command, scratch, asked);
    assert!(answers.len() >= EACH * 3);
    for (row, answer) in rows.into_iter().zip(answers) {
        let (name, written) = (row.name, row.written);
        let answer = answer.unwrap_or_else(|problem| panic!("{name}: {problem}\n  in {written}"));
        let (made, read) = match row.made {
            GeneratedValue::Task(task) => {
                (GeneratedValue::Task(task.reduced_to(version)), version.read_task(&answer).map(GeneratedValue::Task))
            }
            GeneratedValue::Frame(frame) => (
                GeneratedValue::Frame(frame.reduced_to(version)),
                version.read_frame(&answer).map(GeneratedValue::Frame),
            ),
            GeneratedValue::Send(send) => {
                (GeneratedValue::Send(send.reduced_to(version)), version.read_send(&answer).map(GeneratedValue::Send))
            }
            GeneratedValue::Page(task) => {
                assert_eq!(answer.get("nextPageToken").as_str(), Some("next"));
                assert_eq!((answer.get("pageSize").as_int(), answer.get("totalSize").as_int()), (Some(50), Some(51)));
                let tasks = answer.get("tasks").as_list().unwrap_or_default();
                (GeneratedValue::Page(task.reduced_to(version)), version.read_task(&tasks[0]).map(GeneratedValue::Page))
            }
        };
        let read = read.unwrap_or_else(|misfit| panic!("{name}: {misfit}\n  in {answer}"));
        assert_eq!(plain(version, &read), plain(version, &made), "{name}\n  in {written}\n  out {answer}");
    }
}

fn python(types: Types) -> Command {
    let mut command = types.python();
    command.arg(root().join("tests/a2a/python").join(types.folder()).join("echo.py"));
    command
}

#[test]
fn python_1_0_reads_and_writes_the_same() {
    assert_comes_back(&mut python(Types::V1), "a2a-shapes-v1", Version::V1_0, rows(Version::V1_0, OF_1_0));
}

#[test]
fn python_0_3_reads_and_writes_the_same() {
    assert_comes_back(&mut python(Types::V03), "a2a-shapes-v03", Version::V0_3, rows(Version::V0_3, OF_0_3));
}

#[test]
fn node_reads_and_writes_the_same() {
    // Its types take data that are null for a part without content.
    let mut rows = rows(Version::V1_0, OF_1_0);
    rows.retain(|row| !has_null_data(&row.written));
    assert_comes_back(&mut in_node(), "a2a-shapes-node", Version::V1_0, rows);
}

fn in_node() -> Command {
    let modules = node("a2a-node", &["@a2a-js/sdk@1.3.0"]);
    let mut command = Command::new("node");
    command.arg(root().join("tests/a2a/node/echo.mjs")).env("A2A_SDK", modules.join("@a2a-js/sdk"));
    command
}

fn has_null_data(data: &Data) -> bool {
    match data {
        Data::List(items) => items.iter().any(has_null_data),
        Data::Dict(entries) => {
            entries.get("data").is_some_and(Data::is_nil)
                || entries.iter().filter(|(key, _)| key.as_ref() != "metadata").any(|(_, one)| has_null_data(one))
        }
        _ => false,
    }
}

#[test]
fn values_that_are_broken_do_not_come_through() {
    let task = |change: Value| {
        let mut task = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}});
        task.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        task
    };
    let broken = [
        task(json!({"sessionId": "s"})),
        task(json!({"status": {"state": "working"}})),
        task(json!({"status": {"state": "TASK_STATE_WORKING", "timestamp": "yesterday"}})),
        task(json!({"artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "x"}]}]})),
        task(json!({"history": [{"messageId": "m", "role": "user", "parts": []}]})),
        task(json!({"metadata": []})),
        task(json!({"id": 5})),
    ];
    assert_faults(&mut python(Types::V1), "a2a-broken-v1", &broken);
    let task = |change: Value| {
        let mut task = json!({"id": "t", "contextId": "c", "status": {"state": "working"}});
        task.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        task
    };
    let broken = [
        json!({"id": "t", "contextId": "c"}),
        task(json!({"status": {"state": "TASK_STATE_WORKING"}})),
        task(json!({"artifacts": [{"artifactId": "a", "parts": [{"text": "x", "kind": "data"}]}]})),
        task(json!({"history": [{"role": "user", "parts": []}]})),
    ];
    assert_faults(&mut python(Types::V03), "a2a-broken-v03", &broken);
}

fn assert_faults(command: &mut Command, scratch: &str, broken: &[Value]) {
    let answers = echoed(command, scratch, broken.iter().map(|one| ("Task", one.clone())));
    for (answer, broken) in answers.into_iter().zip(broken) {
        assert!(answer.is_err(), "{broken}");
    }
}

/// The types of Node take anything, so what is broken there is lost on the way, and that shows.
#[test]
fn what_node_does_not_know_does_not_come_back() {
    let good = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"},
        "artifacts": [{"artifactId": "a", "parts": [{"text": "x"}]}]});
    let broken = [
        ("/status/state", json!("working")),
        ("/artifacts/0/parts/0", json!({"kind": "text", "txt": "x"})),
        ("/artifacts/0/artifactId", Value::Null),
        ("/artifacts", json!({})),
        ("/contextId", json!(["c"])),
    ];
    let rows: Vec<Value> = std::iter::once(good.clone())
        .chain(broken.iter().map(|(place, with)| {
            let mut task = good.clone();
            *task.pointer_mut(place).unwrap() = with.clone();
            task
        }))
        .collect();
    let answers = echoed(&mut in_node(), "a2a-broken-node", rows.iter().map(|one| ("Task", one.clone())));
    let comes_back =
        |(row, answer): (&Value, Result<Data, String>)| answer.is_ok_and(|answer| Value::from(&answer) == *row);
    let came: Vec<bool> = rows.iter().zip(answers).map(comes_back).collect();
    assert_eq!(came, [true, false, false, false, false, false]);
}
