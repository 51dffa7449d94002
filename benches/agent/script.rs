//! The job as a script, which is what people run: `programs/turns.harn` through the whole engine.

use crate::marks::Marks;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stdlib::{Engine, Output, RunOptions, read_source};

/// Returns the path of a program.
pub(crate) fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/agent/programs").join(name)
}

/// Takes each line as a mark.
struct MarkingOutput {
    marks: RefCell<Marks>,
    ended: RefCell<String>,
}

impl Output for MarkingOutput {
    fn out(&self, text: &str) -> std::io::Result<()> {
        match text {
            "step\n" => self.marks.borrow_mut().mark(),
            "begin\n" => self.marks.borrow_mut().begin(),
            other => *self.ended.borrow_mut() = other.trim().to_owned(),
        }
        Ok(())
    }

    fn err(&self, text: &str) {
        eprint!("{text}");
    }
}

/// Runs the script; how it came out where it did not do its job.
pub(crate) fn run(turns: usize) -> Result<Marks, String> {
    let output = Rc::new(MarkingOutput { marks: RefCell::new(Marks::new()), ended: RefCell::default() });
    let options = RunOptions { output: output.clone(), args: vec![turns.to_string()], ..RunOptions::default() };
    let source = read_source(&program("turns.harn")).map_err(|d| d.message)?;
    let engine = Engine::new(options);
    let ran = engine.run(&source);
    let ended = output.ended.borrow().clone();
    if ran.exit_code != 0 || ended != format!("done after {turns}") {
        return Err(format!("it ended with `{ended}`: {:?}", ran.diagnostics));
    }
    Ok(output.marks.replace(Marks::new()))
}
