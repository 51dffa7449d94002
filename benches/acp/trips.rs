//! Round trips: one inject after another, each waiting for its answer.

use crate::agent::Agent;
use crate::options::Options;
use crate::say;
use crate::times::Times;
use serde_json::json;
use std::time::Instant;

/// Trips of a run.
const TRIPS: usize = 200;
/// Trips before the clock runs.
const WARM: usize = 50;
/// The maximum of the 99th percentile with a running loop and an in-memory log, in microseconds.
const P99_US: f64 = 1_000.0;
/// The maximum of the 99th percentile when each answer waits for the disk, in microseconds.
const P99_KEPT_US: f64 = 10_000.0;

/// One measured configuration.
struct Way {
    title: &'static str,
    /// Options of the command; nothing for the peer.
    args: Option<&'static [&'static str]>,
    /// Whether a loop is at work.
    busy: bool,
    bar_us: Option<f64>,
}

const KEPT: &[&str] = &["--event-log=sqlite:log.db"];

const WAYS: [Way; 5] = [
    Way { title: "echo: reads JSON, answers", args: None, busy: false, bar_us: None },
    Way { title: "harn, at rest", args: Some(&[]), busy: false, bar_us: None },
    Way { title: "harn, loop of 50 ms turns", args: Some(&[]), busy: true, bar_us: Some(P99_US) },
    Way { title: "harn, at rest, SQLite", args: Some(KEPT), busy: false, bar_us: None },
    Way { title: "harn, loop, SQLite", args: Some(KEPT), busy: true, bar_us: Some(P99_KEPT_US) },
];

/// Measures, prints, and judges.
pub(crate) fn run(options: &Options) -> bool {
    println!(
        "An inject and its answer over stdio, microseconds, {} trips; beside them the times of the echo\n",
        TRIPS * options.runs
    );
    println!("| {:<26} | {:>16} | {:>16} | {:>10} |", "", "p50", "p99", "longest");
    println!("|{}|{}|", "-".repeat(28), format!("{}:|", "-".repeat(17)).repeat(2) + &format!("{}:", "-".repeat(11)));
    let mut floor: Option<Times> = None;
    let mut judged = Vec::new();
    for way in &WAYS {
        let times = measure(way, options.runs);
        let against = |percent: usize| {
            let (us, floor) = (times.percentile(percent), floor.as_ref().map(|floor| floor.percentile(percent)));
            floor.map_or_else(|| format!("{us:.0}"), |floor| format!("{us:.0} ({:.1} x)", us / floor))
        };
        println!("| {:<26} | {:>16} | {:>16} | {:>10.0} |", way.title, against(50), against(99), times.longest());
        if let Some(bar) = way.bar_us {
            judged.push((way.title, times.percentile(99), bar));
        }
        floor.get_or_insert(times);
    }
    println!();
    judged.into_iter().fold(true, |held, (title, us, bar)| {
        say(us <= bar, &format!("{title}: p99 {us:.0} µs, at most {bar:.0}")) && held
    })
}

fn measure(way: &Way, runs: usize) -> Times {
    let mut agent = way.args.map_or_else(Agent::echo, |args| Agent::harn("turns.harn", args));
    let session = if way.args.is_some() { agent.session() } else { String::new() };
    if way.busy {
        // More turns than the trips can last.
        agent.prompt(&session, "20000");
    }
    let trip = |agent: &mut Agent, n: usize| {
        // One key: each takes the place of the last, so the queue never fills.
        let params = json!({"sessionId": session, "body": format!("reminder {n}"), "dedupeKey": "k", "ttlTurns": 1});
        let (id, line) = agent.line("session/inject_reminder", &params);
        let began = Instant::now();
        agent.write(&line);
        let answer = agent.answer();
        assert!(answer.id == id && answer.frame.get("result").is_some(), "{}", answer.frame);
        answer.at - began
    };
    (0..WARM).for_each(|n| {
        trip(&mut agent, n);
    });
    Times::of((0..TRIPS * runs).map(|n| trip(&mut agent, n)).collect())
}
