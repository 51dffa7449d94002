//! Lua, and LuaJIT as an interpreter: it is interpreters that are compared.

use crate::peer::{Peer, answers};
use std::path::Path;
use std::process::Command;

/// Lua or LuaJIT.
pub(crate) struct Lua {
    /// The command that starts it.
    pub(crate) command: &'static str,
}

impl Lua {
    fn start(&self) -> Command {
        let mut command = Command::new(self.command);
        if self.command == "luajit" {
            command.arg("-joff");
        }
        command
    }

    fn clocked(&self, work: &str) -> Command {
        let mut command = self.start();
        command.arg("-e").arg(format!("local t = os.clock() {work} io.stderr:write((os.clock() - t) * 1000)"));
        command
    }
}

impl Peer for Lua {
    fn name(&self) -> String {
        if self.command == "luajit" { "luajit -joff".to_owned() } else { self.command.to_owned() }
    }

    fn is_here(&self) -> bool {
        answers(self.command, "-v")
    }

    fn ending(&self) -> &'static str {
        "lua"
    }

    fn timed(&self, program: &Path, input: Option<&Path>) -> Command {
        let (program, input) = (program.display().to_string(), input.map(|p| p.display().to_string()));
        self.clocked(&format!("arg = {{{:?}}} dofile({program:?})", input.unwrap_or_default()))
    }

    fn plain(&self, file: &Path) -> Option<Command> {
        let mut command = self.start();
        command.arg(file);
        Some(command)
    }

    fn read_only(&self, source: &Path) -> Option<Command> {
        Some(self.clocked(&format!("assert(loadfile({:?}))", source.display().to_string())))
    }
}
