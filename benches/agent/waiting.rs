//! Ten thousand loops that wait for slow models, in one process of the command: what each takes, and that none has a thread.

use crate::bars::say;
use crate::options::Options;
use crate::script::program;
use std::process::{Command, Stdio};

/// The number of loops that wait.
const LOOPS: u64 = 10_000;
/// The delay of the model, in milliseconds; half of it is enough for all loops to begin.
const DELAY_MS: u64 = 20_000;
/// The memory of each, at most, in KiB.
const KIB: f64 = 64.0;
/// Threads of the process, at most: its own, and what the runtime beneath it may keep.
const THREADS: u64 = 8;

/// Runs it once: whether the bars are held.
pub(crate) fn run(_: &Options) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.arg("run").arg(program("waiting.harn")).args(["--", &LOOPS.to_string(), &DELAY_MS.to_string()]);
    let output = match command.stdin(Stdio::null()).stderr(Stdio::inherit()).output() {
        Ok(output) => output,
        Err(error) => return say(false, &format!("harn cannot be run: {error}")),
    };
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let numbers: Vec<u64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [waited, kib, threads, done] = numbers[..] else {
        return say(false, &format!("harn did not say how it went: {said}"));
    };
    let each = kib as f64 / waited.max(1) as f64;
    println!("\n{said}\n");
    let all = say(waited == LOOPS && done == LOOPS, &format!("all {LOOPS} waited at the same time, and were done"));
    let small = say(each <= KIB, &format!("{each:.1} KiB for each, at most {KIB}"));
    all & small & say(threads <= THREADS, &format!("{threads} threads, at most {THREADS}"))
}
