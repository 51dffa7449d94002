//! Instructions of the broker: a publish to a queue in memory, and a task from its claim to its end.

use std::process::ExitCode;

use hub::Hub;
use hub::broker::{BrokerOptions, Caller, Claim, Command, Reply};
use hub::proto::a2a::TaskState;

use crate::instructions;
use crate::options::Options;
use crate::work::{must, queued, report};

/// Number of tasks of the short and of the long run; their difference is measured.
const COUNTS: (u64, u64) = (500, 2_500);
const CHILD: &str = "--tasks";

/// The rows: the name of what is done to each task, and the most instructions.
const ROWS: &[(&str, u64)] = &[("publish", PUBLISH), ("publish, claim, work and complete", WHOLE)];
const PUBLISH: u64 = 52_000;
const WHOLE: u64 = 122_000;

/// Runs as the child of [`run`], where the arguments say so: `--tasks ROW COUNT`.
pub(crate) fn child(args: &[String]) -> Option<ExitCode> {
    let [flag, row, count] = args else { return None };
    if flag != CHILD {
        return None;
    }
    let (Ok(row), Ok(count)) = (row.parse::<usize>(), count.parse()) else { return Some(ExitCode::from(2)) };
    crate::block_on(tasks(row, count));
    Some(ExitCode::SUCCESS)
}

/// Counts the instructions of each row, and judges them.
pub(crate) fn run(_options: &Options) -> bool {
    if !instructions::are_counted() {
        return true;
    }
    let each = |(row, (title, most)): (usize, &(&str, u64))| {
        let of = |count: u64| instructions::of_this(&[CHILD, &row.to_string(), &count.to_string()]);
        let (Some(short), Some(long)) = (of(COUNTS.0), of(COUNTS.1)) else {
            return crate::say(false, &format!("{title}: the instructions could not be counted"));
        };
        instructions::judge(title, long.saturating_sub(short) / (COUNTS.1 - COUNTS.0), *most)
    };
    ROWS.iter().enumerate().map(each).fold(true, |all, held| all & held)
}

async fn tasks(row: usize, count: usize) {
    let hub = Hub::memory(BrokerOptions::default());
    for number in 0..count {
        must(&hub, Command::Publish(queued(number, 2))).await;
    }
    if row == 0 {
        return;
    }
    let claim = Claim { agent_id: "w".to_owned(), queue: "q".to_owned(), ..Claim::default() };
    for _ in 0..count {
        let reply = hub.execute(&Caller::Operator, Command::Claim(claim.clone())).await;
        let Ok(Reply::Claimed(Some(task))) = reply else { panic!("no task: {reply:?}") };
        for state in [TaskState::Working, TaskState::Completed] {
            must(&hub, Command::UpdateStatus(report("w", &task.task.id, state, &task.lease_id))).await;
        }
    }
    assert_eq!(hub.stats().tasks[TaskState::Completed as usize], count, "a task is not completed");
}
