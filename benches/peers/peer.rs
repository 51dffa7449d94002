//! Peers that run as processes of their own.

use std::path::PathBuf;
use std::process::Command;

/// A language.
pub(crate) trait Peer {
    /// In the table.
    fn name(&self) -> String;
    /// Whether the machine has it.
    fn is_here(&self) -> bool;
    /// Runs a program: what it printed, and the CPU time in milliseconds, start-up left out.
    fn run(&self, file: &str) -> (String, f64);
}

/// Where a program lies.
pub(crate) fn program(file: &str, ending: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/peers/programs").join(format!("{file}.{ending}"))
}

fn answers(command: &str, flag: &str) -> bool {
    Command::new(command).arg(flag).output().is_ok_and(|o| o.status.success())
}

/// Each peer times itself and writes the milliseconds to standard error.
fn timed(command: &mut Command) -> (String, f64) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {err}");
    let ms = err.trim().parse().unwrap_or_else(|_| panic!("{command:?} gave no time: {err}"));
    (String::from_utf8_lossy(&output.stdout).trim().to_owned(), ms)
}

/// Lua and LuaJIT; the latter as an interpreter, for it is interpreters that are compared.
pub(crate) struct Lua {
    command: &'static str,
}

impl Lua {
    pub(crate) fn new(command: &'static str) -> Self {
        Self { command }
    }
}

impl Peer for Lua {
    fn name(&self) -> String {
        if self.command == "luajit" { "luajit -joff".to_owned() } else { self.command.to_owned() }
    }

    fn is_here(&self) -> bool {
        answers(self.command, "-v")
    }

    fn run(&self, file: &str) -> (String, f64) {
        let path = program(file, "lua").display().to_string();
        let script = format!("local t = os.clock() dofile({path:?}) io.stderr:write((os.clock() - t) * 1000)");
        let mut command = Command::new(self.command);
        if self.command == "luajit" {
            command.arg("-joff");
        }
        timed(command.arg("-e").arg(script))
    }
}

/// CPython.
pub(crate) struct Python;

impl Peer for Python {
    fn name(&self) -> String {
        "python3".to_owned()
    }

    fn is_here(&self) -> bool {
        answers("python3", "--version")
    }

    fn run(&self, file: &str) -> (String, f64) {
        let path = program(file, "py").display().to_string();
        let script = format!(
            "import sys, time\nt = time.process_time()\nexec(compile(open({path:?}).read(), {path:?}, 'exec'), {{}})\n\
             sys.stderr.write(str((time.process_time() - t) * 1000))"
        );
        timed(Command::new("python3").arg("-c").arg(script))
    }
}

/// CPU time of this thread in milliseconds; wall time where the system does not tell.
pub(crate) fn cpu_ms(work: impl FnOnce()) -> f64 {
    let on_cpu = || {
        // The system counts up when a thread is switched, else only with every tick.
        std::thread::yield_now();
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let (before, start) = (on_cpu(), std::time::Instant::now());
    work();
    match (before, on_cpu()) {
        (Some(before), Some(after)) => (after - before) / 1e6,
        _ => start.elapsed().as_secs_f64() * 1e3,
    }
}
