//! The implementations that are compared, each run in a process of its own.

use crate::marks::Marks;
use crate::python::Python;
use crate::{core, script};
use std::process::{Command, ExitCode, Stdio};

const CHILD: &str = "--child";

/// One who does the job.
pub(crate) enum Way {
    /// A script, through the whole engine.
    Script,
    /// The core, called from Rust.
    Core,
    /// A program in Python.
    Peer(Python),
}

impl Way {
    /// Returns the title in the table.
    pub(crate) fn title(&self) -> &str {
        match self {
            Way::Script => "harn, a script",
            Way::Core => "harn, the core from Rust",
            Way::Peer(peer) => peer.title(),
        }
    }

    /// Whether it is harn.
    pub(crate) fn is_harn(&self) -> bool {
        !matches!(self, Way::Peer(_))
    }

    /// The process that does it with so many turns.
    pub(crate) fn command(&self, turns: usize) -> Command {
        match self {
            Way::Script => again("script", turns),
            Way::Core => again("core", turns),
            Way::Peer(peer) => peer.command(turns),
        }
    }

    /// Does it once.
    pub(crate) fn run(&self, turns: usize) -> Result<Marks, String> {
        let output = self.command(turns).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{} failed: {}", self.title(), String::from_utf8_lossy(&output.stderr).trim()));
        }
        Marks::read(&String::from_utf8_lossy(&output.stdout))
            .ok_or_else(|| format!("{} printed no marks", self.title()))
    }
}

fn again(what: &str, turns: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_default());
    command.args([CHILD, what, &turns.to_string()]);
    command
}

/// Runs as the child of [`Way::command`], where the arguments say so: `--child script|core TURNS`.
pub(crate) fn child(args: &[String]) -> Option<ExitCode> {
    let [flag, what, turns] = args else { return None };
    let turns = turns.parse().ok().filter(|_| flag == CHILD)?;
    let ran = if what == "script" { script::run(turns) } else { core::run(turns) };
    match ran {
        Ok(marks) => {
            marks.print();
            Some(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("{error}");
            Some(ExitCode::FAILURE)
        }
    }
}
