//! The behaviour of a hub and its workers after a lost response, a lost lease, an answer and a signal, and at the limits.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hub::grpc::{LEASE, OPERATION};
use hub::proto::a2a::{Artifact, Message, Part, Role, TaskState, part};
use hub::proto::agenthub::{
    AgentEventMetadata, GetTaskRequest, PublishMessageRequest, PublishTaskArtifactRequest, TaskArtifactUpdateEvent,
};
use hub::proto::worker::{ClaimRequest, FinishRequest, ProgressRequest};
use tonic::{Code, Request};

use super::RunningHub;
use super::http::ask;
use super::wire::{Clients, queued, seconds};
use crate::harn::scratch;
use crate::tokio_wait::find;

/// A proxy before a hub that can lose a response.
struct LossyProxy {
    address: String,
    loses: Arc<AtomicBool>,
}

impl LossyProxy {
    fn before(hub: &RunningHub) -> LossyProxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (target, loses) = (hub.grpc.clone(), Arc::new(AtomicBool::new(false)));
        let shared = loses.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&target).unwrap());
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || pass(from, to, &AtomicBool::new(false)));
                let loses = shared.clone();
                thread::spawn(move || pass(server, client, &loses));
            }
        });
        LossyProxy { address, loses }
    }
}

/// Passes bytes on until a side closes, or until what comes next is to be lost: then it closes both sides.
fn pass(mut from: TcpStream, mut to: TcpStream, loses: &AtomicBool) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if loses.swap(false, Ordering::SeqCst) {
            // The hub has time to finish its response.
            thread::sleep(Duration::from_millis(300));
            break;
        }
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[tokio::test]
async fn a_request_whose_response_is_lost_is_executed_once() {
    let folder = scratch("hub-lossy");
    let hub = RunningHub::start(&folder, &["--store", "memory"]);
    let mut clients = Clients::connect(&hub.grpc).await.unwrap();
    clients.publish(queued(1, "q")).await;
    let proxy = LossyProxy::before(&hub);
    let script = "let worker = hub.connect(env(\"HUB_URL\"), {agent: \"w\"})\n\
         worker.agents()\n\
         println(\"next\")\n\
         while !file_exists(\"go-1\") { sleep(5ms) }\n\
         let job = worker.claim(\"q\")\n\
         println(\"next\")\n\
         while !file_exists(\"go-2\") { sleep(5ms) }\n\
         job.artifact({id: \"log\", parts: [\"line\"], append: true})\n\
         println(\"next\")\n\
         while !file_exists(\"go-3\") { sleep(5ms) }\n\
         job.complete(\"done in attempt ${job.attempt}\")\n\
         println(\"over\")\n";
    fs::write(folder.join("worker.harn"), script).unwrap();
    let mut worker = Command::new(env!("CARGO_BIN_EXE_harn"))
        .args(["run", "worker.harn"])
        .current_dir(&folder)
        .env("HUB_URL", format!("http://{}", proxy.address))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lost = 0;
    for line in BufReader::new(worker.stdout.take().unwrap()).lines() {
        if line.unwrap() == "next" {
            proxy.loses.store(true, Ordering::SeqCst);
            lost += 1;
            fs::write(folder.join(format!("go-{lost}")), "").unwrap();
        }
    }
    assert!(worker.wait().unwrap().success());
    assert_eq!((lost, proxy.loses.load(Ordering::SeqCst)), (3, false), "a response was not lost");
    let get = GetTaskRequest { task_id: "t1".to_owned(), history_length: 0 };
    let task = clients.published.get_task(get).await.unwrap().into_inner();
    assert_eq!(task.status.unwrap().state(), TaskState::Completed);
    let texts = |artifact: &Artifact| format!("{} {:?}", artifact.artifact_id, artifact.parts);
    let [log, answer] = task.artifacts.as_slice() else { panic!("{:?}", task.artifacts) };
    assert_eq!((log.artifact_id.as_str(), log.parts.len()), ("log", 1), "{}", texts(log));
    assert!(texts(answer).contains("done in attempt 1"), "{}", texts(answer));
    assert!(hub.get("/metrics", "").contains("\nharn_hub_attempts_total 1\n"));
    assert_eq!(hub.stop(), Some(143));
}

#[tokio::test]
async fn an_artifact_with_the_lease_of_an_earlier_attempt_is_aborted() {
    let hub = RunningHub::start(&scratch("hub-stale"), &["--store", "memory", "--lease", "200ms"]);
    let mut clients = Clients::connect(&hub.grpc).await.unwrap();
    clients.publish(queued(1, "q")).await;
    let first = clients.claim("w", "q").await.lease.unwrap().lease_id;
    let second = clients.claim("w", "q").await.lease.unwrap().lease_id;
    let artifact = |lease: &str, operation: &str| {
        let parts = vec![Part { part: Some(part::Part::Text("x".to_owned())), metadata: None }];
        let artifact = Artifact { artifact_id: "a".to_owned(), parts, ..Artifact::default() };
        let (task_id, artifact) = ("t1".to_owned(), Some(artifact));
        let update = TaskArtifactUpdateEvent { task_id, artifact, append: true, ..TaskArtifactUpdateEvent::default() };
        let routing = AgentEventMetadata { from_agent_id: "w".to_owned(), ..AgentEventMetadata::default() };
        let mut request = Request::new(PublishTaskArtifactRequest { artifact: Some(update), routing: Some(routing) });
        request.metadata_mut().insert(LEASE, lease.parse().unwrap());
        request.metadata_mut().insert(OPERATION, operation.parse().unwrap());
        request
    };
    let stale = clients.published.publish_task_artifact(artifact(&first, "o1")).await.unwrap_err();
    assert_eq!(stale.code(), Code::Aborted, "{stale}");
    let mut events = Vec::new();
    for operation in ["o2", "o2"] {
        let stored = clients.published.publish_task_artifact(artifact(&second, operation)).await.unwrap();
        events.push(stored.into_inner().event_id);
    }
    assert_eq!(events[0], events[1], "a repeated request has the first result");
    assert_eq!(hub.stop(), Some(143));
}

/// Returns the value of a key of a flat JSON text.
fn value<'a>(json: &'a str, key: &str) -> &'a str {
    let rest = json.split_once(&format!("\"{key}\":\"")).unwrap_or_else(|| panic!("no {key} in {json}")).1;
    rest.split('"').next().unwrap_or_default()
}

/// A worker that asks a question and completes the task with the answer, some time after it.
async fn questioner(address: String) {
    let mut clients = Clients::connect(&address).await.unwrap();
    let claim = clients.claim("asker", "").await;
    let (task, lease) = (claim.task.unwrap(), claim.lease.unwrap());
    let progress = ProgressRequest {
        agent_id: "asker".to_owned(),
        task_id: task.id.clone(),
        lease_id: lease.lease_id.clone(),
        ..ProgressRequest::default()
    };
    let finish = |state: TaskState| FinishRequest {
        agent_id: "asker".to_owned(),
        task_id: task.id.clone(),
        lease_id: lease.lease_id.clone(),
        state: state as i32,
        ..FinishRequest::default()
    };
    clients.workers.progress(progress.clone()).await.unwrap();
    clients.workers.finish(finish(TaskState::InputRequired)).await.unwrap();
    let get = GetTaskRequest { task_id: task.id.clone(), history_length: 0 };
    find("the answer", async || {
        let length = clients.published.get_task(get.clone()).await.unwrap().into_inner().history.len();
        if length >= 3 { Ok(()) } else { Err(format!("{length} messages")) }
    })
    .await;
    clients.workers.progress(progress).await.unwrap();
    clients.workers.finish(finish(TaskState::Completed)).await.unwrap();
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn an_answer_over_http_waits_for_what_follows_it() {
    let hub = RunningHub::start(&scratch("hub-answer"), &["--store", "memory"]);
    block_on(async { Clients::connect(&hub.grpc).await.unwrap().register("asker").await });
    for method in ["send", "stream"] {
        let address = hub.grpc.clone();
        let worker = thread::spawn(move || block_on(questioner(address)));
        let post = |path: &str, id: &str, task: &str| {
            let head = format!("POST {path} HTTP/1.1\r\nContent-Type: application/json");
            let task = if task.is_empty() { String::new() } else { format!(", \"taskId\": \"{task}\"") };
            let body = format!(
                "{{\"message\": {{\"messageId\": \"{id}-{method}\", \"role\": \"ROLE_USER\", \"parts\": [{{\"text\": \"x\"}}]{task}}}, \
                 \"metadata\": {{\"to_agent_id\": \"asker\"}}}}"
            );
            ask(&hub, &head, &body)
        };
        let asked = post("/message:send", "m1", "");
        assert!(asked.contains("TASK_STATE_INPUT_REQUIRED"), "{asked}");
        let task = value(&asked, "id").to_owned();
        let answered = post(&format!("/message:{method}"), "m2", &task);
        assert!(answered.contains("TASK_STATE_COMPLETED"), "{method}: {answered}");
        worker.join().unwrap();
        // The answer again, after the task is over.
        let again = post(&format!("/message:{method}"), "m2", &task);
        assert!(again.contains("TASK_STATE_COMPLETED"), "{method}: {again}");
    }
    assert_eq!(hub.stop(), Some(143));
}

#[tokio::test]
async fn a_hub_that_drains_leases_no_more_tasks() {
    let hub = RunningHub::start(&scratch("hub-drain"), &["--store", "memory", "--drain", "60"]);
    let mut clients = Clients::connect(&hub.grpc).await.unwrap();
    clients.publish(queued(1, "q")).await;
    let claim = clients.claim("w", "q").await;
    clients.publish(queued(2, "q")).await;
    let stopped = {
        let id = hub.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        find("the hub leases no more", async || {
            let (agent_id, queue) = ("w".to_owned(), "none".to_owned());
            let request = ClaimRequest { agent_id, queue, ..ClaimRequest::default() };
            clients.workers.claim(request).await.err().ok_or_else(String::new)
        })
        .await
    };
    assert_eq!(stopped.code(), Code::Unavailable, "{stopped}");
    let (agent_id, queue, wait) = ("w".to_owned(), "q".to_owned(), Some(seconds(20)));
    let refused = clients.workers.claim(ClaimRequest { agent_id, queue, wait, ..ClaimRequest::default() }).await;
    assert_eq!(refused.unwrap_err().code(), Code::Unavailable);
    assert!(hub.get("/readyz", "").starts_with("HTTP/1.1 503 "));
    // What is leased can end, and then the hub does.
    let (task_id, lease_id) = ("t1".to_owned(), claim.lease.unwrap().lease_id);
    let progress = ProgressRequest { agent_id: "w".to_owned(), task_id, lease_id, ..ProgressRequest::default() };
    clients.workers.progress(progress.clone()).await.unwrap();
    let ProgressRequest { agent_id, task_id, lease_id, .. } = progress;
    let state = TaskState::Completed as i32;
    clients
        .workers
        .finish(FinishRequest { agent_id, task_id, lease_id, state, ..FinishRequest::default() })
        .await
        .unwrap();
    let mut hub = hub;
    assert_eq!(hub.child.wait().unwrap().code(), Some(143));
}

#[tokio::test]
async fn the_limits_of_leases_and_messages_are_those_of_the_options() {
    let args = ["--store", "memory", "--lease", "2h", "--max-message", "64k"];
    let hub = RunningHub::start(&scratch("hub-limits"), &args);
    let mut clients = Clients::connect(&hub.grpc).await.unwrap();
    clients.publish(queued(1, "q")).await;
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let lease = clients.claim("w", "q").await.lease.unwrap();
    let length = u64::try_from(lease.expires.unwrap().seconds).unwrap() - before;
    assert!((7_199..=7_260).contains(&length), "a lease of {length} s");
    let sized = |bytes: usize| PublishMessageRequest {
        message: Some(Message {
            task_id: format!("t{bytes}"),
            role: Role::User as i32,
            content: vec![Part { part: Some(part::Part::Text("x".repeat(bytes))), metadata: None }],
            ..queued(2, "q").message.unwrap_or_default()
        }),
        routing: Some(AgentEventMetadata { from_agent_id: "boss".to_owned(), ..AgentEventMetadata::default() }),
    };
    let large = clients.published.publish_message(sized(64 << 10)).await.unwrap_err();
    assert_eq!(large.code(), Code::OutOfRange, "{large}");
    clients.published.publish_message(sized(60 << 10)).await.unwrap();
    assert_eq!(hub.stop(), Some(143));
}

#[test]
fn a_connection_with_a_timeout_waits_for_a_hub_that_is_not_there_yet() {
    let folder = scratch("hub-late");
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let script = "let me = hub.connect(env(\"HUB_URL\"), {timeout_ms: 120000})\n\
         println(\"ready\")\n\
         let messages = me.register({name: \"reader\"}).messages()\n\
         println(\"open\")\n\
         println(messages.next().value.text)\n";
    fs::write(folder.join("reader.harn"), script).unwrap();
    let mut reader = Command::new(env!("CARGO_BIN_EXE_harn"))
        .args(["run", "reader.harn"])
        .current_dir(&folder)
        .env("HUB_URL", format!("http://{address}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(reader.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    let mut errors = BufReader::new(reader.stderr.take().unwrap()).lines();
    let mut next_error = || errors.next().unwrap().unwrap();
    assert_eq!(next(), "ready");
    // It is said at once, and once.
    let lost = next_error();
    assert!(lost.starts_with(&format!("harn: the hub http://{address} is not reachable: ")), "{lost}");
    assert!(lost.ends_with("; retrying for 120 s"), "{lost}");
    let hub = RunningHub::start_at(&folder, &address, &["--store", "memory"]);
    assert_eq!(next_error(), format!("harn: the hub http://{address} is reachable again"));
    assert_eq!(next(), "open");
    fs::write(
        folder.join("send.harn"),
        format!(
            "hub.connect(\"http://{address}\", {{agent: \"a\"}}).publish(\"hello\", {{to: \"reader\", task: false}})\n"
        ),
    )
    .unwrap();
    let sent = Command::new(env!("CARGO_BIN_EXE_harn")).args(["run", "send.harn"]).current_dir(&folder).status();
    assert!(sent.unwrap().success());
    assert_eq!(next(), "hello");
    assert!(reader.wait().unwrap().success());
    assert_eq!(hub.stop(), Some(143));
}

#[test]
fn a_script_without_a_hub_ends_with_one_sentence() {
    let folder = scratch("hub-absent");
    // No program listens there.
    let address = "127.0.0.1:1";
    for request in ["publish(\"x\", {queue: \"q\"})", "tasks().next()", "messages()", "register({name: \"w\"})"] {
        let script = format!("hub.connect(\"http://{address}\", {{agent: \"w\"}}).{request}\n");
        fs::write(folder.join("script.harn"), script).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_harn"))
            .args(["run", "script.harn"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{request}: {said}");
        assert!(said.contains("HARN-HUB-101") && said.contains("`harn serve hub` is running"), "{request}: {said}");
        // It was not retried for the time of a hub that is known.
        assert_eq!(said.matches(&format!("the hub http://{address} is not reachable")).count(), 1, "{request}: {said}");
        assert!(!said.contains("retrying"), "{request}: {said}");
    }
}

#[test]
fn a_hub_that_accepts_and_is_silent_is_not_waited_for_longer_than_the_timeout() {
    let folder = scratch("hub-silent");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let script = format!(
        "hub.connect(\"http://{address}\", {{agent: \"w\", timeout_ms: 300}}).publish(\"x\", {{queue: \"q\"}})\n"
    );
    fs::write(folder.join("script.harn"), script).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_harn"))
        .args(["run", "script.harn"])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("is not reachable: no answer within 0.3 s"), "{said}");
}

#[test]
fn a_worker_registers_again_when_a_hub_forgot_it() {
    let folder = scratch("hub-forgot");
    let hub = RunningHub::start(&folder, &["--store", "memory"]);
    let address = hub.grpc.clone();
    let script = "let worker = hub.connect(env(\"HUB_URL\")).register({name: \"greeter\"}, {subscriptions: [\"greet\"]})\n\
         println(\"ready\")\n\
         for job in worker.tasks() { job.complete(\"Hello, ${job.text}!\") }\n";
    fs::write(folder.join("worker.harn"), script).unwrap();
    let mut worker = Command::new(env!("CARGO_BIN_EXE_harn"))
        .args(["run", "worker.harn"])
        .current_dir(&folder)
        .env("HUB_URL", format!("http://{address}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(worker.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut errors = BufReader::new(worker.stderr.take().unwrap()).lines();
    let ask = || {
        let script = format!(
            "println(hub.connect(\"http://{address}\", {{agent: \"c\"}}).request(\"Ada\", {{to: \"greeter\"}}).text)\n"
        );
        fs::write(folder.join("client.harn"), script).unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_harn")).arg("run").arg(folder.join("client.harn")).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    };
    assert_eq!(ask(), "Hello, Ada!\n");
    hub.kill();
    let lost = errors.next().unwrap().unwrap();
    assert!(lost.contains("is not reachable: ") && lost.ends_with("; retrying for 30 s"), "{lost}");
    let hub = RunningHub::start_at(&folder, &address, &["--store", "memory"]);
    assert_eq!(errors.next().unwrap().unwrap(), format!("harn: the hub http://{address} is reachable again"));
    assert_eq!(ask(), "Hello, Ada!\n");
    // One that an operator removes is registered again too, and says so.
    let remove = format!("hub.connect(\"http://{address}\", {{agent: \"greeter\"}}).unregister()\n");
    fs::write(folder.join("remove.harn"), remove).unwrap();
    let removed = Command::new(env!("CARGO_BIN_EXE_harn")).arg("run").arg(folder.join("remove.harn")).status();
    assert!(removed.unwrap().success());
    let said = errors.next().unwrap().unwrap();
    assert!(said.ends_with("did not know the agent `greeter`: it was registered again"), "{said}");
    assert_eq!(ask(), "Hello, Ada!\n");
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert_eq!(hub.stop(), Some(143));
}
