//! Tasks across two processes, simulated with two stores.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, Waker};

use a2a::{Artifact, ArtifactUpdate, Content, Message, Part, Role, Status, StatusUpdate, Task, TaskState, Version};
use base::data::Data;
use eventlog::{Record, RecordFilter, SqliteLog, SqliteOptions};

use super::super::tasks::{ANSWER, TaskOrigin};
use super::*;

mod damaged;
mod killed;
mod listed;
mod written;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        // The log's thread is working.
        std::thread::yield_now();
    }
}

/// A folder of its own, removed after the test.
struct TaskFolder(PathBuf);

impl TaskFolder {
    fn new() -> TaskFolder {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let name = format!("harn-tasks-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        TaskFolder(path)
    }

    fn log(&self) -> SqliteLog {
        SqliteLog::open(self.0.join("events.db"), &SqliteOptions::default()).unwrap()
    }

    fn store(&self) -> TaskStore {
        TaskStore::new(SessionStore::new(self.log()).unwrap())
    }
}

impl Drop for TaskFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs tasks like the task manager, and keeps each as it should be restored.
struct TaskWorker {
    store: TaskStore,
    now_ms: u64,
}

impl TaskWorker {
    fn new(store: TaskStore) -> TaskWorker {
        TaskWorker { store, now_ms: 1_000 }
    }

    fn note(&mut self, task: &Task, change: &TaskChange) {
        self.now_ms += 1;
        let ticket = self.store.note(&task.id, self.now_ms, change);
        // Like the server before it responds to a caller: any process can read the change now.
        block_on(self.store.settled(ticket)).unwrap();
    }

    fn begin(&mut self, id: &str, context: &str, begun: TaskOrigin) -> Task {
        let mut message = Message::new(Role::User, format!("m-{id}"), vec![Part::text("do it")]);
        message.context_id = Some(context.into());
        message.task_id = Some(id.into());
        let task = Task {
            id: id.into(),
            context_id: context.into(),
            status: Status { state: TaskState::Submitted, message: None, at_ms: Some(self.now_ms) },
            artifacts: Vec::new(),
            history: vec![message.into()],
            metadata: Data::dict([("of", Data::from("the caller"))]),
        };
        let session_id = Some(format!("sess_{context}").into());
        self.note(
            &task,
            &TaskChange::Created { task: Arc::new(task.clone()), version: Version::V0_3, session_id, begun },
        );
        task
    }

    fn status(&mut self, task: &mut Task, state: TaskState, says: Option<&str>, metadata: Data) {
        let message = says.map(|text| Arc::new(Message::new(Role::Agent, "s", vec![Part::text(text)])));
        task.status = Status { state, message, at_ms: Some(self.now_ms) };
        if let Some(changed) = metadata.as_dict() {
            for (key, value) in changed {
                task.metadata.set(key.clone(), value.clone());
            }
        }
        let (task_id, context_id, status) = (task.id.clone(), task.context_id.clone(), task.status.clone());
        self.note(task, &TaskChange::Status(StatusUpdate { task_id, context_id, status, metadata }));
    }

    fn say(&mut self, task: &mut Task, message: Message) {
        let message = Arc::new(message);
        task.history.push(message.clone());
        self.note(task, &TaskChange::Said(message));
    }

    fn artifact(&mut self, task: &Task, id: &str, parts: Vec<Part>, append: bool, last_chunk: bool) {
        let update = ArtifactUpdate {
            task_id: task.id.clone(),
            context_id: task.context_id.clone(),
            artifact: Arc::new(artifact(id, parts)),
            append,
            last_chunk,
            metadata: Data::Nil,
        };
        self.note(task, &TaskChange::Artifact(update));
    }

    /// Returns an ended task with many changes.
    fn work(&mut self) -> Task {
        let begun = TaskOrigin {
            metadata: Data::dict([("k", 1.into())]),
            deadline_ms: Some(u64::MAX >> 1),
            is_alone: true,
            peer: None,
        };
        let mut task = self.begin(TASK, "c", begun);
        self.status(&mut task, TaskState::Working, None, Data::Nil);
        self.artifact(&task, ANSWER, vec![Part::text("one ")], false, false);
        self.artifact(&task, ANSWER, vec![Part::text("two")], true, false);
        self.status(&mut task, TaskState::InputRequired, Some("which?"), Data::Nil);
        self.say(&mut task, Message::new(Role::User, "m2", vec![Part::text("that")]));
        self.note(&task, &TaskChange::Injected(Data::dict([("id", Data::from("r1"))])));
        self.status(&mut task, TaskState::Working, Some("at it"), Data::dict([("harn.usage", 7.into())]));
        let file = Part { filename: Some("f".into()), ..Part::new(Content::Raw("aGk=".into())) };
        self.artifact(&task, "made", vec![file.clone()], false, false);
        self.artifact(&task, "made", vec![Part::data(Data::list([1.into()]))], true, true);
        self.say(&mut task, Message::new(Role::Agent, "m3", vec![Part::text("one two")]));
        self.artifact(&task, ANSWER, vec![Part::text("three")], false, false);
        self.artifact(&task, ANSWER, vec![Part::text("three.")], false, true);
        self.status(&mut task, TaskState::Completed, None, Data::Nil);
        let made = artifact("made", vec![file, Part::data(Data::list([1.into()]))]);
        task.artifacts = vec![artifact(ANSWER, vec![Part::text("three.")]).into(), made.into()];
        task
    }
}

const TASK: &str = "task_0123456789abcdef0123456789abcdef";

fn artifact(id: &str, parts: Vec<Part>) -> Artifact {
    let (metadata, extensions) = (Data::Nil, Vec::new());
    Artifact { artifact_id: id.into(), name: Some(id.into()), description: None, parts, metadata, extensions }
}

/// Returns all records of a log.
fn records(store: &TaskStore) -> Vec<Arc<Record>> {
    let all = |file: &eventlog::LogFile| file.read(&RecordFilter::default(), usize::MAX);
    store.0.store.log().look(all).unwrap()
}

/// Returns a log with the first records of another, as a process that was killed after them leaves it.
fn cut(folder: &TaskFolder, records: &[Arc<Record>]) {
    let log = folder.log();
    for record in records {
        let Record { topic, kind, payload, headers, occurred_at_ms, .. } = record.as_ref().clone();
        log.put(NewRecord { topic, kind, payload, headers, occurred_at_ms });
    }
}

fn said(task: &Task) -> String {
    task.status.message.as_ref().map(|message| message.text()).unwrap_or_default()
}
