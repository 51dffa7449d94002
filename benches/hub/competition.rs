//! A queue of 100,000 tasks, 50 competing workers, and one of them dies each second in the middle of a task.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hub::Hub;
use hub::broker::{BrokerOptions, Caller, Claim, Command, ListTasks};
use hub::proto::a2a::TaskState;

use crate::options::Options;
use crate::work::{must, queued, report};

/// Number of tasks.
const TASKS: usize = 100_000;
/// Number of workers.
const WORKERS: usize = 50;
/// Number of claims of which the priorities are checked: a whole number of rounds, while all levels have tasks.
const CHECKED: usize = 15_000;
/// Time between two deaths.
const DEATH: Duration = Duration::from_secs(1);

/// Observations of the workers.
#[derive(Default)]
struct Seen {
    priorities: RefCell<Vec<i32>>,
    completed: RefCell<HashMap<String, u32>>,
    deaths: Cell<u32>,
    last_death: Cell<Option<Instant>>,
}

/// Runs the workers until every task is finished.
pub(crate) fn run(_options: &Options) -> bool {
    let options = BrokerOptions {
        lease_ms: 1_000,
        max_attempts: 100,
        max_finished: TASKS,
        ageing_ms: 3_600_000,
        ..BrokerOptions::default()
    };
    let hub = Hub::memory(options);
    let seen = Rc::new(Seen::default());
    let local = tokio::task::LocalSet::new();
    let start = Instant::now();
    crate::block_on(local.run_until(async {
        for number in 0..TASKS {
            must(&hub, Command::Publish(queued(number, i32::try_from(number % 4).unwrap_or(0) + 1))).await;
        }
        tokio::task::spawn_local(hub.drive());
        seen.last_death.set(Some(Instant::now()));
        let workers: Vec<_> =
            (0..WORKERS).map(|worker| tokio::task::spawn_local(work(hub.clone(), worker, seen.clone()))).collect();
        for worker in workers {
            worker.await.expect("a worker");
        }
    }));
    let elapsed = start.elapsed();
    let states = hub.stats().tasks;
    let completed = states[TaskState::Completed as usize];
    let twice = seen.completed.borrow().values().filter(|count| **count != 1).count();
    let attempts = hub.stats().attempts;
    let deaths = seen.deaths.get();
    let mut held = crate::say(
        completed == TASKS && twice == 0,
        &format!(
            "{completed} of {TASKS} tasks completed by {WORKERS} workers in {elapsed:.1?}, {twice} not exactly once"
        ),
    );
    held &= crate::say(
        attempts == TASKS as u64 + u64::from(deaths),
        &format!("{attempts} attempts recorded; {deaths} workers died"),
    );
    let priorities = seen.priorities.borrow();
    let count = |wanted| priorities[..CHECKED].iter().filter(|priority| **priority == wanted).count();
    let shares = [1, 2, 3, 4].map(count);
    let wanted = [1, 2, 4, 8].map(|weight| weight * CHECKED / 15);
    let is_weighted = shares.iter().zip(wanted).all(|(share, wanted)| share.abs_diff(wanted) <= wanted / 50 + 1);
    held &= crate::say(is_weighted, &format!("the first {CHECKED} claims are {shares:?} from low to critical"));
    let page = crate::block_on(hub.tasks(&ListTasks { page_size: 1, ..ListTasks::default() })).expect("a page");
    held & (page.tasks.len() == 1)
}

async fn work(hub: Hub, worker: usize, seen: Rc<Seen>) {
    let agent = format!("w{worker}");
    let claim = Claim { agent_id: agent.clone(), queue: "q".to_owned(), ..Claim::default() };
    loop {
        let claimed = hub.claim_within(&Caller::Operator, claim.clone(), Some(Duration::from_millis(100))).await;
        let Some(claimed) = claimed.expect("a claim") else {
            let states = hub.stats().tasks;
            if states[TaskState::Submitted as usize] + states[TaskState::Working as usize] == 0 {
                return;
            }
            continue;
        };
        seen.priorities.borrow_mut().push(claimed.routing.priority);
        let (task, lease) = (claimed.task.id.as_str(), claimed.lease_id.as_str());
        must(&hub, Command::UpdateStatus(report(&agent, task, TaskState::Working, lease))).await;
        // A task kills one worker only: the last one would kill one after another.
        if claimed.attempt == 1 && seen.last_death.get().is_some_and(|last| last.elapsed() >= DEATH) {
            seen.last_death.set(Some(Instant::now()));
            seen.deaths.set(seen.deaths.get() + 1);
            continue;
        }
        must(&hub, Command::UpdateStatus(report(&agent, task, TaskState::Completed, lease))).await;
        *seen.completed.borrow_mut().entry(task.to_owned()).or_default() += 1;
        tokio::task::yield_now().await;
    }
}
