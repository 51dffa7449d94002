//! The programs of the agent bench: they do their job, and what waits has no thread and takes little.

use crate::harn::harn;

/// Loops that wait at the same time.
const LOOPS: u64 = 500;

#[test]
fn each_turn_is_marked() {
    let outcome = harn(&["run", "benches/agent/programs/turns.harn", "--", "30"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let steps = outcome.out.lines().filter(|line| *line == "step").count();
    assert_eq!((steps, outcome.out.lines().last()), (20 + 30, Some("done after 30")));
}

/// Time is mocked: it moves when all of them wait.
#[cfg(target_os = "linux")]
#[test]
fn five_hundred_loops_wait_at_once_without_a_thread_of_their_own() {
    let loops = LOOPS.to_string();
    let outcome = harn(&["run", "--seed", "1", "benches/agent/programs/waiting.harn", "--", &loops, "60000"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let numbers: Vec<u64> = outcome.out.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [waited, kib, threads, done] = numbers[..] else { panic!("{}", outcome.out) };
    assert_eq!((waited, done), (LOOPS, LOOPS));
    assert!(threads <= 8, "{threads} threads");
    assert!(kib / LOOPS <= 128, "{} KiB for each, unoptimised", kib / LOOPS);
}
