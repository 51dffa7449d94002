//! Runs scripts within this process, by the code that the command is made of.
//!
//! Each run has a thread of its own: what the language keeps for a thread, its stack and its count of memory are as new as in
//! a new process. The built command is started instead for a script that:
//!
//! - calls a builtin that starts programs, reads environment variables or reads standard input. A run waits for every orphan of its
//!   process, so it would take the exit status of commands that the tests have started.
//! - has the option `--live`, which draws on the terminal of the process.
//! - is listed in [`OWN_PROCESS`].
//!
//! With `COMMAND=1` it is started for every script.

use crate::harn::{self, Outcome};
use crate::wait::LIMIT;
use crate::{check, folders};
use lang::builtins::Right;
use libtest_mimic::Trial;
#[cfg(target_os = "linux")]
use nix::sys::prctl::get_child_subreaper;
use runtime::reminder::Reminder;
use runtime::reminder::limits::max_body;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use stdlib::{Capability, builtins};

/// Counts what each thread holds, as in the command: for limits of memory.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

/// Scripts and folders that need a process of their own, and why.
pub(crate) const OWN_PROCESS: &[(&str, &str)] = &[
    ("tests/diagnostics/project/reminder-body", MAX_BODY),
    ("tests/diagnostics/project/reminders", MAX_BODY),
    ("tests/guide/10-project-facts.harn", FACTS),
    ("tests/reminders/facts", FACTS),
    ("tests/reminders/guide/providers/project_facts.harn", FACTS),
    ("tests/reminders/limits", MAX_BODY),
];

const FACTS: &str = "the folder of its facts is named by an environment variable";
const MAX_BODY: &str = "`max_body` of its harn.toml is a setting of the process";

/// Builtins that read standard input.
const READ_INPUT: [&str; 3] = ["ask", "read_line", "read_stdin"];

/// The stack of a thread, as large as that of a process.
const STACK: usize = 8 << 20;

/// Variables of the caller's environment that the tests themselves read.
const KEPT: [&str; 5] = ["COMMAND", "UPDATE", "RUST_BACKTRACE", "TERM", "NO_COLOR"];

/// Starts this process again, at the root of the repository and with the environment of a run. Does nothing the second time.
/// Setting the variables one by one would need `unsafe`.
pub(crate) fn in_clean_environment() -> Result<(), std::io::Error> {
    let facts = no_facts();
    if std::env::var_os("HARN_MEMORY_ROOT").as_deref() == Some(facts.as_os_str()) {
        return Ok(());
    }
    // A run that was killed may have left one.
    let _ = fs::remove_dir_all(&facts);
    let kept = KEPT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).current_dir(harn::root()).env_clear().envs(kept);
    Err(command.envs(harn::environment()).env("HARN_MEMORY_ROOT", facts).exec())
}

/// Returns a folder that must not appear: runs in this process would share their facts.
fn no_facts() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-facts")
}

/// Returns why a script needs a process of its own; `None` if it does not.
pub(crate) fn needs_process(script: &Path, text: &str) -> Option<&'static str> {
    let listed = OWN_PROCESS.iter().find(|(path, _)| script.starts_with(path)).map(|(_, why)| *why);
    listed.or_else(|| {
        let line = text.lines().next().unwrap_or("");
        if line.split(' ').any(|word| word == "--live") {
            Some("it draws on the terminal")
        } else if builtins().filter(|row| row.caps.iter().any(of_process)).any(|row| calls(text, row.name)) {
            Some("it starts programs or reads the environment")
        } else if READ_INPUT.iter().any(|name| calls(text, name)) {
            Some("it reads standard input")
        } else {
            None
        }
    })
}

fn of_process(right: &Right) -> bool {
    [Capability::Process, Capability::Env].iter().any(|capability| capability.right() == *right)
}

/// Returns whether a text calls a function, by its name in either language.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = &text[at + name.len()..];
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && (after.starts_with('(') || after.starts_with("_("))
    })
}

/// Runs `harn` in this process.
pub(crate) fn run(args: &[&str]) -> Outcome {
    let line: Vec<OsString> = std::iter::once("harn").chain(args.iter().copied()).map(OsString::from).collect();
    let (send, receive) = mpsc::channel();
    let thread = thread::Builder::new().stack_size(STACK);
    let running = thread.spawn(move || {
        let ended = cli::capture(line);
        let _ = send.send(());
        ended
    });
    if receive.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("harn did not end within {LIMIT:?}");
    }
    // A panic of the run is that of the test.
    let ended = running.unwrap().join().unwrap_or_else(|panic| resume_unwind(panic)).unwrap();
    leaves_nothing();
    Outcome { code: Some(ended.code.into()), out: ended.out, err: ended.err }
}

/// Fails when a run has changed what all runs in this process share.
fn leaves_nothing() {
    assert!(!no_facts().exists(), "a script that stores facts needs a process: name it in `OWN_PROCESS`");
    assert_eq!(max_body(), Reminder::MAX_BODY, "a script with `max_body` needs a process: name it in `OWN_PROCESS`");
    // The first program that a process starts makes it adopt orphans.
    #[cfg(target_os = "linux")]
    assert!(!get_child_subreaper().unwrap(), "a script that starts programs needs a process: name it in `OWN_PROCESS`");
}

/// Checks of the rule by which scripts are run in this process.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        check("most_scripts_run_in_this_process", || {
            let why = |script: &Path| needs_process(script, &fs::read_to_string(harn::root().join(script)).unwrap());
            let scripts = folders::scripts();
            let reasons: Vec<_> = scripts.iter().filter_map(|script| why(script)).collect();
            assert!((20..scripts.len() / 10).contains(&reasons.len()), "{} of {}", reasons.len(), scripts.len());
            for (path, _) in OWN_PROCESS {
                assert!(scripts.iter().any(|script| script.starts_with(path)), "{path} is not there");
            }
        }),
        check("what_needs_a_process_is_seen", || {
            let needs = |text| needs_process(Path::new("tests/lang/a.harn"), text).is_some();
            assert!(needs("let a = exec(\"ls\")") && needs("// run --live always\n1") && needs("(ask(\"?\"))"));
            assert!(!needs("// run --fuel 9\nenvelope(env, my_exec(1), exec.x)"));
        }),
    ]
}
