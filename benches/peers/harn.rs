//! harn.

use crate::here::{again, cpu_ms};
use crate::peer::{Peer, ProgramRun};
use lang::ast::NodeMap;
use lang::declaration::{Builtin, Index, Registry};
use lang::resolve::{Role, Surroundings};
use lang::script::{Imports, ParsedText, examine};
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use stdlib::output::Captured;
use stdlib::{Engine, RunOptions, read_source};

/// harn.
pub(crate) struct Harn;

impl Peer for Harn {
    fn name(&self) -> String {
        "harn".to_owned()
    }

    fn is_here(&self) -> bool {
        true
    }

    fn ending(&self) -> &'static str {
        "harn"
    }

    fn timed(&self, program: &Path, input: Option<&Path>) -> Command {
        again("harn", program, input)
    }

    fn plain(&self, file: &Path) -> Option<Command> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.arg("run").arg(file);
        Some(command)
    }

    fn read_only(&self, source: &Path) -> Option<Command> {
        Some(again("harn-check", source, None))
    }

    fn front(&self, source: &Path) -> Option<Command> {
        Some(again("harn-front", source, None))
    }

    fn format(&self, source: &Path) -> Option<Command> {
        Some(again("harn-fmt", source, None))
    }
}

/// Runs the program in a process of its own: reading, checking and compiling the text count, as
/// they do for the others.
pub(crate) fn run(program: &Path, input: Option<String>) -> Result<ProgramRun, String> {
    let output = Rc::new(Captured::default());
    let args = input.into_iter().collect();
    let engine = Engine::new(RunOptions { output: output.clone(), args, ..RunOptions::default() });
    let (ran, ms) = cpu_ms(|| read_source(program).map(|source| engine.run(&source)).map_err(|d| d.message));
    let ran = ran?;
    if ran.exit_code != 0 {
        return Err(format!("{:?}", ran.diagnostics));
    }
    Ok(ProgramRun { printed: output.stdout(), ms })
}

/// Finds what is wrong with a text, which is nothing.
pub(crate) fn check(source: &Path) -> Result<ProgramRun, String> {
    let engine = Engine::new(RunOptions::default());
    let (found, ms) = cpu_ms(|| read_source(source).map(|source| engine.check(&source)).map_err(|d| d.message));
    let found = found?;
    if found.is_empty() { Ok(ProgramRun { printed: String::new(), ms }) } else { Err(format!("{:?}", found[0])) }
}

/// The stages from the first to the last that compiles nothing, one after the other.
pub(crate) fn front(source: &Path) -> Result<ProgramRun, String> {
    static BUILTINS: &[&[&[Builtin]]] = &[lang::builtins::TABLES];
    static INDEX: Index = Index::new();
    // As the command looks names up.
    let registry = Registry::new(BUILTINS).with_index(&INDEX);
    let source = read_source(source).map_err(|d| d.message)?;
    let before = peak()?;
    let around = Surroundings { outer: &[], links: NodeMap::default(), role: Role::Script };
    let (found, ms) = cpu_ms(|| {
        let parsed = lang::parse::parse(&source);
        let (module, parsed) = (&parsed.module, &parsed.diagnostics);
        let text = ParsedText { file: 0, source: &source, module, parsed };
        examine(text, Imports { around: &around, types: &[], session: None }, registry, &[], false).diagnostics
    });
    let grown = peak()? - before;
    if found.is_empty() { Ok(ProgramRun { printed: grown.to_string(), ms }) } else { Err(format!("{:?}", found[0])) }
}

/// Formats a text.
pub(crate) fn format(source: &Path) -> Result<ProgramRun, String> {
    let source = read_source(source).map_err(|d| d.message)?;
    let (formatted, ms) = cpu_ms(|| fmt::format(&source, fmt::WIDTH));
    match formatted {
        Ok(text) => Ok(ProgramRun { printed: text.len().to_string(), ms }),
        Err(found) => Err(format!("{:?}", found[0])),
    }
}

/// The most memory that this process ever held, in KiB.
fn peak() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).ok_or_else(|| "no peak is told".to_owned())
}
