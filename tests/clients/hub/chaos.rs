//! Chaos: a hub on a file is killed with SIGKILL again and again, with workers that die in the middle of their tasks.
//!
//! The hub is this test binary in a process of its own, which reports what its clients saw. Afterwards the file is
//! checked against the reports: no task is lost, none is finished twice, every attempt was recorded before its worker
//! saw the task, and tasks of one context are handed out in order.
//!
//! It takes 60 s beside the other tests; `HUB_CHAOS_SECONDS=600` makes it longer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hub::Hub;
use hub::broker::change::{Change, ChangeKind};
use hub::broker::task::is_final;
use hub::broker::{BrokerOptions, Caller, Claim, Command, ErrorKind};
use hub::proto::a2a::TaskState;
use hub::store::{SqliteStore, Store};
use runtime::event_log::SqliteOptions;

use crate::common::{PublishExt, message, status};
use crate::crash::folder;

const WORKERS: u64 = 8;
const CONTEXTS: u64 = 5;
const LEASE_MS: u64 = 300;

fn options() -> BrokerOptions {
    BrokerOptions { lease_ms: LEASE_MS, max_attempts: 1_000_000, max_finished: 10_000_000, ..BrokerOptions::default() }
}

/// Observations of the clients of all hubs.
#[derive(Default)]
struct Reports {
    published: BTreeSet<u64>,
    claimed: BTreeSet<(u64, u32)>,
    done: BTreeSet<u64>,
    ready: bool,
}

impl Reports {
    fn take(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let word = words.next();
        let mut number = || words.next().and_then(|word| word.parse().ok());
        match word {
            Some("ready") => self.ready = true,
            Some("published") => self.published.extend(number()),
            Some("claimed") => {
                let task = number();
                let attempt = number().and_then(|attempt| u32::try_from(attempt).ok());
                self.claimed.extend(task.zip(attempt));
            }
            Some("done") => self.done.extend(number()),
            _ => {}
        }
    }
}

#[test]
fn no_task_is_lost_or_finished_twice_when_workers_and_hubs_are_killed() {
    let folder = folder("chaos");
    let path = folder.join("hub.db");
    let seconds = std::env::var("HUB_CHAOS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let end = Instant::now() + Duration::from_secs(seconds);
    let reports = Arc::new(Mutex::new(Reports::default()));
    let mut kills = 0;
    while Instant::now() < end {
        let next = reports.lock().unwrap().published.last().map_or(0, |last| last + 1);
        let (mut hub, reader) = start(&path, &next.to_string(), &reports);
        let deadline = Instant::now() + Duration::from_secs(60);
        while !reports.lock().unwrap().ready {
            assert!(Instant::now() < deadline, "the hub did not open its file");
            thread::sleep(Duration::from_millis(5));
        }
        // Not a multiple of any other time here.
        thread::sleep(Duration::from_millis(400 + kills * 577 % 1_700));
        // SIGKILL.
        hub.kill().unwrap();
        hub.wait().unwrap();
        reader.join().unwrap();
        kills += 1;
    }
    let (mut hub, reader) = start(&path, "drain", &reports);
    assert!(hub.wait().unwrap().success(), "the last hub could not finish all tasks");
    reader.join().unwrap();

    let reports = reports.lock().unwrap();
    let mut checker = Checker::default();
    let store = SqliteStore::open(&path, &SqliteOptions::default()).unwrap();
    store.replay(&mut |batch| batch.changes.iter().for_each(|change| checker.take(change))).unwrap();
    checker.compare(&reports);
    assert!(kills >= seconds / 10 && reports.published.len() > 50, "too little happened");
    let retried = checker.tasks.values().filter(|task| task.attempt > 1).count();
    assert!(retried > 0, "no worker was lost");
    println!("{kills} kills, {} tasks, {retried} of them more than once", reports.published.len());
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}

fn start(path: &Path, from: &str, reports: &Arc<Mutex<Reports>>) -> (Child, thread::JoinHandle<()>) {
    reports.lock().unwrap().ready = false;
    let mut child = Process::new(std::env::current_exe().unwrap())
        .args(["--exact", "chaos::hub_process", "--ignored", "--nocapture", "--test-threads=1"])
        .env("HUB_CHAOS_FILE", path)
        .env("HUB_CHAOS_FROM", from)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reports = reports.clone();
    let reader = thread::spawn(move || {
        // The last line may be cut off; it ends without a line break and is not complete.
        let mut output = output;
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|read| read > 0) {
            if line.ends_with('\n') {
                reports.lock().unwrap().take(line.trim_end());
            }
            line.clear();
        }
    });
    (child, reader)
}

/// The hub with its clients, in a process of its own. Without the variables it does nothing.
#[test]
#[ignore = "the chaos test starts it"]
fn hub_process() {
    let Ok(path) = std::env::var("HUB_CHAOS_FILE") else { return };
    let from = std::env::var("HUB_CHAOS_FROM").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = SqliteStore::open(path, &SqliteOptions::default()).unwrap();
    let hub = Hub::open(Box::new(store), options()).unwrap();
    // The harness has begun a line.
    report("\nready");
    runtime.block_on(async {
        tokio::spawn(hub.drive());
        let first: Option<u64> = from.parse().ok();
        let seed = Arc::new(AtomicU64::new(u64::from(std::process::id())));
        let workers: Vec<_> =
            (0..WORKERS).map(|worker| tokio::spawn(work(hub.clone(), worker, first.is_some(), seed.clone()))).collect();
        if let Some(first) = first {
            publish(&hub, first).await;
        }
        // Only a draining hub gets here: the others are killed.
        loop {
            let stats = hub.stats();
            let open = stats.tasks[TaskState::Submitted as usize] + stats.tasks[TaskState::Working as usize];
            if open == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        workers.iter().for_each(tokio::task::JoinHandle::abort);
    });
}

/// Writes a line at once, since the process may end at any time.
fn report(line: &str) {
    let mut output = std::io::stdout().lock();
    output.write_all(format!("{line}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}

async fn publish(hub: &Hub, first: u64) {
    for number in first.. {
        let publish = message(&format!("t{number}"), "boss", "").with("queue", "q").id(&format!("m{number}"));
        let publish =
            publish.context(&format!("c{}", number % CONTEXTS)).priority(i32::try_from(number % 4).unwrap() + 1);
        hub.execute(&Caller::Operator, Command::Publish(publish)).await.unwrap();
        report(&format!("published {number}"));
        tokio::time::sleep(Duration::from_millis(8)).await;
    }
}

async fn work(hub: Hub, worker: u64, may_die: bool, seed: Arc<AtomicU64>) {
    let agent = format!("w{worker}");
    let claim = Claim { agent_id: agent.clone(), queue: "q".to_owned(), ..Claim::default() };
    loop {
        let claimed = hub.claim_within(&Caller::Operator, claim.clone(), Duration::from_secs(1)).await.unwrap();
        let Some(claimed) = claimed else { continue };
        let (task, lease) = (claimed.task.id.clone(), claimed.lease_id.clone());
        let number = task.trim_start_matches('t').to_owned();
        report(&format!("claimed {number} {}", claimed.attempt));
        let random = seed.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33;
        if may_die && random.is_multiple_of(10) {
            // The worker is gone: it never says so.
            continue;
        }
        for state in [TaskState::Working, TaskState::Completed] {
            tokio::time::sleep(Duration::from_millis(if may_die { random % 20 } else { 1 })).await;
            if may_die && random % 10 == 1 && state == TaskState::Completed {
                // Too late: another attempt may have begun, and this one must not finish the task.
                tokio::time::sleep(Duration::from_millis(LEASE_MS + 50)).await;
            }
            let update = status(&agent, &task, state, Some(&lease));
            match hub.execute(&Caller::Operator, Command::UpdateStatus(update)).await {
                Ok(_) if state == TaskState::Completed => report(&format!("done {number}")),
                Ok(_) => {}
                Err(error) if error.kind == ErrorKind::Aborted => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Model that reads the changes of the store and knows nothing of the broker.
#[derive(Default)]
struct Checker {
    last: u64,
    tasks: HashMap<String, CheckedTask>,
    /// Tasks that wait, by context, in the order of their submission.
    waiting: BTreeMap<String, BTreeSet<u64>>,
    events: HashSet<String>,
}

#[derive(Default)]
struct CheckedTask {
    number: u64,
    context: String,
    attempt: u32,
    claims: BTreeSet<u32>,
    held: bool,
    finished: Option<TaskState>,
}

impl Checker {
    fn take(&mut self, change: &Change) {
        assert_eq!(change.number, self.last + 1, "a change is missing");
        self.last = change.number;
        assert!(self.events.insert(change.event_id.clone()), "an event id is used twice");
        match change.kind.as_ref().unwrap() {
            ChangeKind::TaskSubmitted(submitted) => {
                let task = submitted.task.as_ref().unwrap();
                let checked =
                    CheckedTask { number: change.number, context: task.context_id.clone(), ..CheckedTask::default() };
                self.waiting.entry(checked.context.clone()).or_default().insert(change.number);
                assert!(self.tasks.insert(task.id.clone(), checked).is_none(), "{} is submitted twice", task.id);
            }
            ChangeKind::TaskClaimed(claimed) => {
                let task = self.tasks.get_mut(&claimed.task_id).unwrap();
                assert!(!task.held && task.finished.is_none(), "{} has two workers", claimed.task_id);
                assert_eq!(claimed.attempt, task.attempt + 1, "an attempt of {} is missing", claimed.task_id);
                (task.held, task.attempt) = (true, claimed.attempt);
                task.claims.insert(claimed.attempt);
                let waiting = self.waiting.get_mut(&task.context).unwrap();
                assert_eq!(waiting.first(), Some(&task.number), "{} overtook a task of its context", claimed.task_id);
                waiting.remove(&task.number);
            }
            ChangeKind::TaskRequeued(requeued) => {
                let task = self.tasks.get_mut(&requeued.task_id).unwrap();
                assert!(task.held && task.finished.is_none());
                task.held = false;
                self.waiting.get_mut(&task.context).unwrap().insert(task.number);
            }
            ChangeKind::StatusChanged(changed) => {
                let task = self.tasks.get_mut(&changed.task_id).unwrap();
                assert!(task.held, "{} changed without a worker", changed.task_id);
                assert_eq!(task.finished, None, "{} changed after its end", changed.task_id);
                let state = changed.status.as_ref().unwrap().state();
                task.finished = Some(state).filter(|state| is_final(*state));
            }
            _ => {}
        }
    }

    fn compare(&self, reports: &Reports) {
        let task = |number: &u64| self.tasks.get(&format!("t{number}"));
        for number in &reports.published {
            let task = task(number).unwrap_or_else(|| panic!("the acknowledged task {number} is lost"));
            assert_eq!(task.finished, Some(TaskState::Completed), "task {number}");
        }
        for (number, attempt) in &reports.claimed {
            assert!(task(number).unwrap().claims.contains(attempt), "attempt {attempt} of {number} is not recorded");
        }
        assert!(reports.done.iter().all(|number| task(number).unwrap().finished == Some(TaskState::Completed)));
        assert!(self.tasks.values().all(|task| task.finished == Some(TaskState::Completed)));
    }
}
