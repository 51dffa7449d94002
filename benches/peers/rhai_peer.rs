//! rhai, as a tree walker.

use crate::here::{again, cpu_ms};
use crate::peer::{Peer, ProgramRun};
use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

/// rhai.
pub(crate) struct Rhai;

impl Peer for Rhai {
    fn name(&self) -> String {
        "rhai (AST)".to_owned()
    }

    fn is_here(&self) -> bool {
        true
    }

    fn ending(&self) -> &'static str {
        "rhai"
    }

    fn timed(&self, program: &Path, input: Option<&Path>) -> Command {
        again("rhai", program, input)
    }

    fn plain(&self, _file: &Path) -> Option<Command> {
        None
    }

    fn read_only(&self, _source: &Path) -> Option<Command> {
        None
    }
}

/// Runs the program in a process of its own.
pub(crate) fn run(program: &Path, input: Option<String>) -> Result<ProgramRun, String> {
    let text = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
    let printed = Rc::new(RefCell::new(String::new()));
    let sink = printed.clone();
    let mut engine = rhai::Engine::new();
    engine.set_max_expr_depths(0, 0).on_print(move |line| sink.borrow_mut().push_str(line));
    engine.register_fn("read_file", |path: &str| std::fs::read_to_string(path).unwrap_or_default());
    let mut scope = rhai::Scope::new();
    scope.push_constant("path", input.unwrap_or_default());
    let (ran, ms) = cpu_ms(|| engine.run_with_scope(&mut scope, &text));
    ran.map_err(|e| e.to_string())?;
    let printed = printed.borrow().clone();
    Ok(ProgramRun { printed, ms })
}
