//! The languages that are in this executable: it starts itself again for each run, so that they begin as fresh as those
//! that are commands.

use crate::peer::ProgramRun;
use crate::{harn, rhai_peer};
use std::path::Path;
use std::process::{Command, ExitCode};

const CHILD: &str = "--child";

/// This executable, to do one thing.
pub(crate) fn again(what: &str, file: &Path, input: Option<&Path>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_default());
    command.args([CHILD, what]).arg(file).args(input);
    command
}

/// Runs the task of a process that [`again`] started; returns `None` in any other process.
pub(crate) fn child(args: &[String]) -> Option<ExitCode> {
    let [flag, what, file, rest @ ..] = args else { return None };
    if flag != CHILD {
        return None;
    }
    let (file, input) = (Path::new(file), rest.first().cloned());
    let ran: Result<ProgramRun, String> = match what.as_str() {
        "harn" => harn::run(file, input),
        "harn-check" => harn::check(file),
        "harn-front" => harn::front(file),
        "harn-fmt" => harn::format(file),
        _ => rhai_peer::run(file, input),
    };
    match ran {
        Ok(ran) => {
            println!("{}", ran.printed);
            eprintln!("{}", ran.ms);
            Some(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("{error}");
            Some(ExitCode::FAILURE)
        }
    }
}

/// CPU time of this thread in milliseconds; wall time where the system does not tell.
pub(crate) fn cpu_ms<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let on_cpu = || {
        // The system counts up when a thread is switched, else only with every tick.
        std::thread::yield_now();
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let (before, start) = (on_cpu(), std::time::Instant::now());
    let value = work();
    let ms = match (before, on_cpu()) {
        (Some(before), Some(after)) => (after - before) / 1e6,
        _ => start.elapsed().as_secs_f64() * 1e3,
    };
    (value, ms)
}
