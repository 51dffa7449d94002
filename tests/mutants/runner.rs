//! Makes mutants by their numbers and has a [`worker`](crate::worker) feed them; shrinks those that break a promise.

use crate::harn::{environment, scratch};
use crate::random::Random;
use crate::shrink::smallest;
use crate::subject::{Mutant, Mutator, Subject, Verdict};
use crate::worker::{ACCEPTED, ARGUMENT, BROKE, REJECTED, write};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The time after which a mutant counts as one that never ends.
const HANG: Duration = Duration::from_secs(300);

/// After so many mutants that break a promise, the rest is not tried.
const MOST_BROKEN: usize = 10;

/// The way in which a mutant broke a promise.
#[derive(Debug)]
pub(crate) enum Broken {
    /// A panic, or a promise that the target checks.
    Promise(String),
    /// The process ended.
    Ended(String),
    /// The mutant did not end.
    Hangs,
}

/// A worker, and the mutants that it has been fed.
pub(crate) struct Worker {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    errors: Arc<Mutex<String>>,
}

impl Worker {
    pub(crate) fn of(subject: &Subject) -> Worker {
        let folder = scratch(&format!("mutants-{}", subject.name));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([ARGUMENT, subject.name]).current_dir(&folder).env_clear().envs(environment());
        command.env("HARN_CONFIG_HOME", folder.join("config")).env("HARN_MEMORY_ROOT", folder.join("memory"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its servers end with it.
        command.process_group(0);
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let errors = Arc::new(Mutex::new(String::new()));
        let kept = errors.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = stderr.read(&mut bytes) {
                let mut kept = kept.lock().unwrap();
                kept.push_str(&String::from_utf8_lossy(&bytes[..read]));
                // The end says what happened.
                let start = kept.len().saturating_sub(4096);
                let start = (start..=kept.len()).find(|&at| kept.is_char_boundary(at)).unwrap_or(0);
                kept.drain(..start);
            }
        });
        Worker { child, input, lines, errors }
    }

    pub(crate) fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, Broken> {
        // A worker that has ended sends no line.
        let _ = write(&mut self.input, mutant);
        let end = Instant::now() + HANG;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line == ACCEPTED => return Ok(Verdict::Accepted),
                Ok(line) if line == REJECTED => return Ok(Verdict::Rejected),
                Ok(line) => {
                    if let Some(why) = line.strip_prefix(BROKE) {
                        return Err(Broken::Promise(serde_json::from_str(why).unwrap()));
                    }
                }
                Err(_) if left.is_zero() => return Err(Broken::Hangs),
                Err(_) => {
                    let status = self.child.wait().unwrap();
                    return Err(Broken::Ended(format!("{status}; {}", self.errors.lock().unwrap().trim())));
                }
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).map(Pid::from_raw);
        let _ = group.map(|group| killpg(group, Signal::SIGKILL));
        let _ = self.child.wait();
    }
}

/// Makes the mutant with a number.
fn mutant(mutator: &Mutator, number: u64) -> Mutant {
    mutator(&mut Random::of(number))
}

/// Tries the mutants of a subject that the environment asks for.
///
/// # Errors
/// Returns the mutants that broke a promise.
pub(crate) fn run(subject: &Subject) -> Result<(), String> {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    try_mutants(subject, asked("HARN_SEED").unwrap_or(1), asked("HARN_CASES").unwrap_or(subject.cases))
}

/// Tries so many mutants from the first on.
///
/// # Errors
/// Returns the mutants that broke a promise.
pub(crate) fn try_mutants(subject: &Subject, first: u64, cases: u64) -> Result<(), String> {
    let is_shown = std::env::var_os("HARN_SHOW_MUTANT").is_some();
    let mutator = (subject.mutator)();
    let mut worker = Worker::of(subject);
    let (mut accepted, mut rejected, mut broken) = (0, 0, Vec::new());
    let mut since = first;
    let began = Instant::now();
    for number in first..first + cases {
        if number > first && (number - first).is_multiple_of(1_000) {
            println!("{}: {} of {cases}", subject.name, number - first);
        }
        let mutant = mutant(&mutator, number);
        if is_shown {
            println!("== {} {number}\n{}", subject.name, shown(&mutant));
        }
        let fed = worker.feed(&mutant);
        if is_shown {
            println!("{fed:?}");
        }
        match fed {
            Ok(Verdict::Accepted) => accepted += 1,
            Ok(Verdict::Rejected) => rejected += 1,
            Err(why) => {
                drop(worker);
                broken.push(report(subject, number, since, &mutant, &why));
                println!("{}", broken[broken.len() - 1]);
                if broken.len() == MOST_BROKEN {
                    break;
                }
                worker = Worker::of(subject);
                since = number + 1;
            }
        }
    }
    let took = began.elapsed().as_secs_f64();
    println!(
        "{}: {cases} mutants from {first}, {accepted} accepted, {rejected} rejected, {} broke a promise, {took:.0} s",
        subject.name,
        broken.len()
    );
    if !broken.is_empty() {
        return Err(broken.join("\n\n"));
    }
    let least = cases / subject.balance;
    if accepted < least || rejected < least {
        return Err(format!("{accepted} of {cases} mutants were accepted and {rejected} rejected; at least {least}"));
    }
    Ok(())
}

/// Says what a mutant did, and how to repeat it.
fn report(subject: &Subject, number: u64, since: u64, mutant: &Mutant, why: &Broken) -> String {
    let mut text = format!("{} {number}: {}\n", subject.name, said(why));
    let mut first = number;
    match why {
        Broken::Hangs => text.push_str(&shown(mutant)),
        _ => match smallest(subject, mutant) {
            Some((smallest, why)) => {
                let _ = writeln!(text, "the smallest mutant of it: {}\n{}", said(&why), shown(&smallest));
            }
            None => {
                first = since;
                let _ = writeln!(text, "it does so only after others; the last one:\n{}", shown(mutant));
            }
        },
    }
    let _ = write!(
        text,
        "\nto repeat it: HARN_SEED={first} HARN_CASES={} cargo test --workspace --locked --test mutants {}",
        number - first + 1,
        subject.name
    );
    text
}

fn said(why: &Broken) -> String {
    match why {
        Broken::Promise(why) => why.clone(),
        Broken::Ended(why) => format!("the process ended: {why}"),
        Broken::Hangs => format!("no end within {HANG:?}"),
    }
}

/// Returns a mutant as text; bytes that are not text as escapes.
fn shown(mutant: &Mutant) -> String {
    let mut shown = String::new();
    for piece in &mutant.pieces {
        match std::str::from_utf8(piece) {
            Ok(text) => shown.push_str(text),
            Err(_) => shown.push_str(&piece.escape_ascii().to_string()),
        }
        shown.push_str("\n--\n");
    }
    shown
}
