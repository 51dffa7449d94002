//! Chaos: `harn serve hub` on a file is killed with SIGKILL again and again, and so are the processes of its workers.
//!
//! The workers are this test binary in processes of their own, which report what they saw. Afterwards the file is checked
//! against the reports: no task is lost, none is finished twice, every attempt was recorded before its worker saw the
//! task, and tasks of one context are stored in the order of their sender and handed out in that order. A second hub does
//! the same while it compacts its store.
//!
//! It takes 60 s beside the other tests; `HUB_CHAOS_SECONDS=600` makes it longer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use eventlog::SqliteOptions;
use hub::broker::change::{Change, ChangeBatch, ChangeKind, SavedTask};
use hub::broker::task::is_final;
use hub::proto::a2a::TaskState;
use hub::proto::worker::{Claim, ClaimRequest, FinishRequest, ProgressRequest};
use hub::store::{SqliteStore, Store};
use tonic::{Code, Status};

use super::RunningHub;
use super::wire::{Clients, queued, seconds};
use crate::harn::scratch;
use crate::wait::find;

const WORKERS: usize = 6;
const CONTEXTS: u64 = 5;
const LEASE: Duration = Duration::from_secs(1);
const ARGS: &[&str] = &[
    "--store",
    "sqlite:hub.db",
    "--lease",
    "1s",
    "--max-attempts",
    "1000",
    "--max-finished",
    "100000000",
    "--max-kept",
    "16g",
];
/// The store is compacted all the time.
const COMPACTED: &[&str] = &["--compact-after", "100k"];

/// Observations of the clients of all hubs.
#[derive(Default)]
struct Reports {
    published: BTreeSet<u64>,
    claimed: BTreeSet<(u64, u32)>,
    done: BTreeSet<u64>,
    failed: Vec<String>,
}

impl Reports {
    fn take(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let word = words.next();
        let mut number = || words.next().and_then(|word| word.parse().ok());
        match word {
            Some("claimed") => {
                let task = number();
                let attempt = number().and_then(|attempt| u32::try_from(attempt).ok());
                self.claimed.extend(task.zip(attempt));
            }
            Some("done") => {
                let task: Option<u64> = number();
                if task.is_some_and(|task| !self.done.insert(task)) {
                    self.failed.push(format!("finished twice: {line}"));
                }
            }
            Some("failed") => self.failed.push(line.to_owned()),
            _ => {}
        }
    }
}

#[test]
fn no_task_is_lost_or_finished_twice_when_workers_and_hubs_are_killed() {
    let checker = kill_again_and_again("hub-chaos", 60, ARGS);
    assert_eq!(checker.first, 1, "the store is whole");
}

#[test]
fn no_task_is_lost_or_finished_twice_when_a_hub_that_compacts_is_killed() {
    let checker = kill_again_and_again("hub-chaos-compacted", 40, &[ARGS, COMPACTED].concat());
    assert!(checker.first > 1, "the store was not compacted");
}

/// Kills workers and hubs for a time, and checks the store afterwards.
fn kill_again_and_again(name: &str, seconds: u64, args: &[&str]) -> Checker {
    let folder = scratch(name);
    let seconds = std::env::var("HUB_CHAOS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(seconds);
    let end = Instant::now() + Duration::from_secs(seconds);
    let reports = Arc::new(Mutex::new(Reports::default()));
    let mut hub = start(&folder, args);
    let is_over = Arc::new(AtomicBool::new(false));
    let publisher = {
        let (reports, is_over, address) = (reports.clone(), is_over.clone(), address(&folder));
        thread::spawn(move || block_on(publish(&address, &reports, &is_over)))
    };
    let mut workers: Vec<_> = (0..WORKERS).map(|place| Worker::start(&folder, place, &reports)).collect();
    let (mut kills, mut lost) = (0, 0);
    let mut next_kill = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        thread::sleep(Duration::from_millis(270));
        let place = lost % WORKERS;
        workers.push(Worker::start(&folder, place, &reports));
        workers.swap_remove(place).kill();
        lost += 1;
        if Instant::now() >= next_kill {
            hub.kill();
            hub = start(&folder, args);
            kills += 1;
            // Not a multiple of any other time here.
            next_kill = Instant::now() + Duration::from_millis(900 + kills * 577 % 1_900);
        }
    }
    is_over.store(true, Ordering::Relaxed);
    publisher.join().unwrap();
    find("the end of all tasks", || {
        let metrics = hub.get("/metrics", "");
        let is_idle = |state| metrics.contains(&format!("\nharn_hub_tasks{{state=\"{state}\"}} 0\n"));
        if is_idle("submitted") && is_idle("working") { Ok(()) } else { Err(metrics) }
    });
    workers.into_iter().for_each(Worker::kill);
    assert_eq!(hub.stop(), Some(143));

    let reports = reports.lock().unwrap();
    assert_eq!(reports.failed, Vec::<String>::new());
    let mut checker = Checker::default();
    let store = SqliteStore::open(folder.join("hub.db"), &SqliteOptions::default()).unwrap();
    store.replay(&mut |batch| checker.take_batch(batch)).unwrap();
    checker.compare(&reports);
    let retried = checker.tasks.values().filter(|task| task.attempt > 1).count();
    let tasks = reports.published.len();
    println!("{name}: {kills} kills of the hub, {lost} of workers; {tasks} tasks, {retried} of them more than once");
    assert!(kills >= seconds / 10 && tasks > 50, "too little happened");
    assert!(retried > 0, "no worker was lost");
    drop(store);
    fs::remove_dir_all(folder).unwrap();
    checker
}

/// Starts a hub, and writes its address for the clients.
fn start(folder: &Path, args: &[&str]) -> RunningHub {
    let hub = RunningHub::start(folder, args);
    let new = folder.join("address.new");
    fs::write(&new, &hub.grpc).unwrap();
    fs::rename(new, address(folder)).unwrap();
    hub
}

/// Returns the path of the file with the address of the hub.
fn address(folder: &Path) -> PathBuf {
    folder.join("address")
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Connects to the hub that runs now; a killed one has a successor soon.
async fn connect(address: &Path) -> Clients {
    crate::tokio_wait::find("a hub", async || {
        let address = fs::read_to_string(address).unwrap();
        Clients::connect(&address).await.map_err(|error| error.to_string())
    })
    .await
}

/// Returns whether a call failed because its hub was killed; the call may have taken effect.
fn is_lost(status: &Status) -> bool {
    matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled)
}

/// Publishes tasks, each until a hub accepts it.
async fn publish(address: &Path, reports: &Mutex<Reports>, is_over: &AtomicBool) {
    let mut clients = connect(address).await;
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let mut request = queued(number, "q");
        request.routing.as_mut().unwrap().priority = i32::try_from(number % 4).unwrap() + 1;
        request.message.as_mut().unwrap().context_id = format!("c{}", number % CONTEXTS);
        loop {
            match clients.published.publish_message(request.clone()).await {
                Ok(response) => {
                    assert!(response.get_ref().success, "{response:?}");
                    break;
                }
                Err(status) if is_lost(&status) => clients = connect(address).await,
                Err(status) => panic!("{status}"),
            }
        }
        reports.lock().unwrap().published.insert(number);
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}

/// A worker in a process of its own, and the thread that reads its reports.
struct Worker {
    child: Child,
    reader: JoinHandle<()>,
}

impl Worker {
    fn start(folder: &Path, place: usize, reports: &Arc<Mutex<Reports>>) -> Worker {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "hub::chaos::worker_process", "--ignored", "--nocapture", "--test-threads=1"])
            .env("HUB_CHAOS_ADDRESS", address(folder))
            .env("HUB_CHAOS_WORKER", format!("w{place}"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let reports = reports.clone();
        let reader = thread::spawn(move || {
            // The last line may be cut off; it ends without a line break and is not complete.
            let mut line = String::new();
            while output.read_line(&mut line).is_ok_and(|read| read > 0) {
                if line.ends_with('\n') {
                    reports.lock().unwrap().take(line.trim_end());
                }
                line.clear();
            }
        });
        Worker { child, reader }
    }

    /// Ends it with SIGKILL.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.reader.join().unwrap();
    }
}

/// A worker, until it is killed. Without the variables it does nothing.
#[test]
#[ignore = "the chaos test starts it"]
fn worker_process() {
    let Ok(address) = std::env::var("HUB_CHAOS_ADDRESS") else { return };
    let agent = std::env::var("HUB_CHAOS_WORKER").unwrap();
    // The harness has begun a line.
    report("");
    block_on(work(Path::new(&address), &agent));
}

/// Writes a line at once, since the process may end at any time.
fn report(line: &str) {
    let mut output = std::io::stdout().lock();
    output.write_all(format!("{line}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}

async fn work(address: &Path, agent: &str) {
    let mut clients = connect(address).await;
    let mut random = u64::from(std::process::id());
    let claim = ClaimRequest {
        agent_id: agent.to_owned(),
        queue: "q".to_owned(),
        wait: Some(seconds(1)),
        ..ClaimRequest::default()
    };
    loop {
        let worked = match clients.workers.claim(claim.clone()).await {
            Ok(response) => match response.into_inner().claim {
                Some(claimed) => {
                    random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
                    finish(&mut clients, agent, claimed, random.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33).await
                }
                None => Ok(()),
            },
            Err(status) => Err(status),
        };
        match worked {
            Ok(()) => {}
            // Another attempt has begun, or has finished the task.
            Err(status) if matches!(status.code(), Code::Aborted | Code::FailedPrecondition) => {}
            Err(status) if is_lost(&status) => clients = connect(address).await,
            Err(status) => report(&format!("failed {agent}: {status}")),
        }
    }
}

async fn finish(clients: &mut Clients, agent: &str, claimed: Claim, random: u64) -> Result<(), Status> {
    let task_id = claimed.task.unwrap().id;
    let lease_id = claimed.lease.unwrap().lease_id;
    let number = task_id.trim_start_matches('t').to_owned();
    report(&format!("claimed {number} {}", claimed.attempt));
    let (agent_id, pause) = (agent.to_owned(), Duration::from_millis(random % 20));
    tokio::time::sleep(pause).await;
    let progress = ProgressRequest {
        agent_id: agent_id.clone(),
        task_id: task_id.clone(),
        lease_id: lease_id.clone(),
        portion: 0.5,
        ..ProgressRequest::default()
    };
    clients.workers.progress(progress).await?;
    // Sometimes too late: another attempt may have begun, and this one must not finish the task.
    let is_late = random.is_multiple_of(40);
    tokio::time::sleep(if is_late { LEASE + Duration::from_millis(50) } else { pause }).await;
    let state = TaskState::Completed as i32;
    let request = FinishRequest { agent_id, task_id, lease_id, state, ..FinishRequest::default() };
    clients.workers.finish(request).await?;
    report(&format!("done {number}"));
    Ok(())
}

/// Model that reads the changes of the store and knows nothing of the broker.
#[derive(Default)]
struct Checker {
    /// Whether the first batch was read.
    has_begun: bool,
    /// Number of the first change that is stored: a checkpoint has replaced those before it.
    first: u64,
    /// Whether a complete checkpoint is still missing.
    is_partial: bool,
    last: u64,
    tasks: HashMap<String, CheckedTask>,
    /// Tasks that wait, by context, in the order of their submission.
    waiting: BTreeMap<String, BTreeSet<u64>>,
    /// Number of the last submitted task, by context.
    submitted: HashMap<String, u64>,
    events: HashSet<String>,
}

#[derive(Default)]
struct CheckedTask {
    number: u64,
    context: String,
    attempt: u32,
    /// Number of attempts of which a checkpoint says only how many they are.
    saved: u32,
    claims: BTreeSet<u32>,
    held: bool,
    finished: Option<TaskState>,
}

impl Checker {
    fn take_batch(&mut self, batch: &ChangeBatch) {
        if !std::mem::replace(&mut self.has_begun, true) {
            // A compacted store begins with its checkpoint, and tasks can come before the first change.
            self.is_partial = batch.checkpoint.is_some() || batch.changes.first().is_some_and(|it| it.number > 1);
        }
        for change in &batch.changes {
            if self.first == 0 {
                (self.first, self.last) = (change.number, change.number - 1);
            }
            assert_eq!(change.number, self.last + 1, "a change is missing");
            self.last = change.number;
            // A task whose submission was removed follows in the checkpoint.
            if !self.is_partial || self.is_known(change) {
                self.take(change);
            }
        }
        if let Some(part) = &batch.checkpoint {
            part.tasks.iter().for_each(|saved| self.restore(saved));
            self.is_partial &= part.end.is_none();
        }
    }

    fn is_known(&self, change: &Change) -> bool {
        match change.kind.as_ref().unwrap() {
            ChangeKind::TaskClaimed(claimed) => self.tasks.contains_key(&claimed.task_id),
            ChangeKind::TaskRequeued(requeued) => self.tasks.contains_key(&requeued.task_id),
            ChangeKind::StatusChanged(changed) => self.tasks.contains_key(&changed.task_id),
            _ => true,
        }
    }

    /// Adds a task of a checkpoint, or checks that it is the one that the changes made.
    fn restore(&mut self, saved: &SavedTask) {
        let task = saved.submitted.as_ref().unwrap().task.as_ref().unwrap();
        let state = task.status.as_ref().unwrap().state();
        let finished = Some(state).filter(|state| is_final(*state));
        if let Some(known) = self.tasks.get(&task.id) {
            let checked = (known.number, known.attempt, known.held, known.finished);
            assert_eq!(checked, (saved.number, saved.attempt, saved.held, finished), "the checkpoint of {}", task.id);
            return;
        }
        assert!(self.is_partial, "{} is in a checkpoint only", task.id);
        let checked = CheckedTask {
            number: saved.number,
            context: task.context_id.clone(),
            attempt: saved.attempt,
            saved: saved.attempt,
            held: saved.held,
            finished,
            ..CheckedTask::default()
        };
        let waiting = self.waiting.entry(checked.context.clone()).or_default();
        if !saved.held && finished.is_none() {
            waiting.insert(saved.number);
        }
        self.tasks.insert(task.id.clone(), checked);
    }

    fn take(&mut self, change: &Change) {
        assert!(self.events.insert(change.event_id.clone()), "an event id is used twice");
        match change.kind.as_ref().unwrap() {
            ChangeKind::TaskSubmitted(submitted) => {
                let task = submitted.task.as_ref().unwrap();
                let checked =
                    CheckedTask { number: change.number, context: task.context_id.clone(), ..CheckedTask::default() };
                let number = task.id.trim_start_matches('t').parse().unwrap();
                let before = self.submitted.insert(task.context_id.clone(), number);
                assert!(before.is_none_or(|before| before < number), "{} is stored out of order", task.id);
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
                // Until the checkpoint is complete, waiting tasks may be missing.
                let is_first = self.is_partial || waiting.first() == Some(&task.number);
                assert!(is_first, "{} overtook a task of its context", claimed.task_id);
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
                assert_eq!(task.finished, None, "{} changed after its end", changed.task_id);
                assert!(task.held, "{} changed without a worker", changed.task_id);
                let state = changed.status.as_ref().unwrap().state();
                task.finished = Some(state).filter(|state| is_final(*state));
                task.held = task.finished.is_none();
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
            let task = task(number).unwrap();
            assert!(
                *attempt <= task.saved || task.claims.contains(attempt),
                "attempt {attempt} of {number} is not recorded"
            );
        }
        assert!(reports.done.iter().all(|number| task(number).unwrap().finished == Some(TaskState::Completed)));
        assert!(self.tasks.values().all(|task| task.finished == Some(TaskState::Completed)));
    }
}
