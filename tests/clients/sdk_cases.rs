//! Cases in the language of a client: a script that prints a line for each, and leaves a log of what went over the wire.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs the cases; each must be reported as passed. Returns their logs, which the script writes
/// into the folder that this variable names.
pub(crate) fn logs(command: &mut Command, variable: &str, folder: &Path, count: usize) -> Vec<PathBuf> {
    let output =
        command.env("HARN", env!("CARGO_BIN_EXE_harn")).env(variable, folder).stdin(Stdio::null()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(!out.contains("FAILED"), "{out}");
    assert_eq!(out.lines().filter(|line| line.starts_with("ok ")).count(), count, "{out}\n{err}");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let logs: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    assert_eq!(logs.len(), count, "a log for each case");
    logs
}
