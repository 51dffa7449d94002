//! The interface of the languages: each runs a program in a process of its own and times itself.

use crate::rows::Row;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A language.
pub(crate) trait Peer {
    /// Returns the name for `--peers` and the table.
    fn name(&self) -> String;
    /// Whether the machine has it.
    fn is_here(&self) -> bool;
    /// The ending of its programs.
    fn ending(&self) -> &'static str;
    /// Runs a program that times itself: the result to standard output, the CPU milliseconds to standard error.
    fn timed(&self, program: &Path, input: Option<&Path>) -> Command;
    /// Returns the command that runs a file as a person would, or `None` if there is none.
    fn plain(&self, file: &Path) -> Option<Command>;
    /// Reads a source text that is not run, timed as above; nothing when it does not take part.
    fn read_only(&self, source: &Path) -> Option<Command>;
    /// Makes a tree of a source text and does not compile it, timed as above; prints by how many KiB the most memory that it
    /// ever held has grown. Nothing when it does not take part.
    fn front(&self, _source: &Path) -> Option<Command> {
        None
    }
    /// Formats a source text, timed as above; nothing when it does not take part.
    fn format(&self, _source: &Path) -> Option<Command> {
        None
    }
}

/// The result of running a program.
pub(crate) struct ProgramRun {
    /// Its output.
    pub(crate) printed: String,
    /// CPU time in milliseconds, start-up left out.
    pub(crate) ms: f64,
}

/// Returns the path of a program.
pub(crate) fn program(file: &str, ending: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/peers/programs").join(format!("{file}.{ending}"))
}

/// Whether a command is there.
pub(crate) fn answers(command: &str, flag: &str) -> bool {
    Command::new(command).arg(flag).stdin(Stdio::null()).output().is_ok_and(|o| o.status.success())
}

/// Runs a row's program; nothing when the language has none.
pub(crate) fn run(peer: &dyn Peer, row: &Row, input: Option<&Path>) -> Option<Result<ProgramRun, String>> {
    let path = program(row.file, peer.ending());
    path.exists().then(|| finish(peer.timed(&path, input)))
}

/// Waits for a command that times itself.
pub(crate) fn finish(mut command: Command) -> Result<ProgramRun, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(err);
    }
    let ms = err.trim().parse().map_err(|_| format!("it gave no time: {err}"))?;
    Ok(ProgramRun { printed: String::from_utf8_lossy(&output.stdout).trim().to_owned(), ms })
}
