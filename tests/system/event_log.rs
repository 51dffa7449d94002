//! The event log seen from outside: where it is kept, who shares it, what happens when it cannot be written, and what is
//! left of it after a crash.

mod failures;
mod homes;
mod inspected;
mod killed;
mod shared;
mod trim;

use crate::harn::{Outcome, harn_with_input, scratch, trust};
use eventlog::{LogFile, Record, RecordFilter};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// A project of its own: a folder for scripts and logs.
struct Project(PathBuf);

impl Project {
    fn new(name: &str) -> Project {
        Project(scratch(&format!("event-log-{name}")))
    }

    /// Creates a project with a trusted `harn.toml` that has this `[event_log]`.
    fn saying(name: &str, settings: &str) -> Project {
        let project = Project::new(name);
        fs::write(project.0.join("harn.toml"), format!("[event_log]\n{settings}\n")).unwrap();
        trust(&project.0);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The option that names a log of this project.
    fn home(&self) -> String {
        format!("sqlite:{}", self.path("events.db").display())
    }

    fn script(&self, text: &str) -> String {
        let path = self.path("script.harn");
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs a script with what is said on the command line and in the environment.
    fn run_with(&self, text: &str, options: &[&str], env: &[(&str, &str)]) -> Outcome {
        let script = self.script(text);
        let args: Vec<&str> = ["run"].iter().chain(options).copied().chain([script.as_str()]).collect();
        harn_with_input(&args, b"", env)
    }

    /// Runs a script that writes to the project's file.
    fn run(&self, text: &str) -> Outcome {
        self.run_with(text, &["--event-log", &self.home()], &[])
    }

    fn records(&self) -> Vec<Arc<Record>> {
        LogFile::open(self.path("events.db")).unwrap().read(&RecordFilter::default(), usize::MAX).unwrap()
    }

    fn sqlite(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path("events.db")).unwrap()
    }
}

/// Returns the output of a run that succeeded.
fn printed(outcome: Outcome) -> String {
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
    outcome.out
}

/// Asserts that a run failed with one diagnostic of this code and text.
fn failed(outcome: &Outcome, code: &str, says: &str) {
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(outcome.drawn("error"), 1, "{}", outcome.err);
    assert!(outcome.err.contains(&format!("error[{code}]")) && outcome.err.contains(says), "{}", outcome.err);
    assert!(outcome.err.contains("help: "), "{}", outcome.err);
}
