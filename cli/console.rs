//! The destination of the output of `run`, `check`, `test`, `fmt` and `dis`.

use std::rc::Rc;
use stdlib::output::Terminal;
use stdlib::{Captured, Output};

/// The destination of a command's output, and whether the process belongs to the command alone.
pub(crate) struct Console {
    pub(crate) output: Rc<dyn Output>,
    /// Whether the command may handle the signals of the process and draw on its terminal.
    pub(crate) owns_process: bool,
}

impl Console {
    /// Returns that of a process which is the command.
    pub(crate) fn of_process() -> Self {
        Self { output: Rc::new(Terminal), owns_process: true }
    }

    /// Returns one that keeps what is printed.
    pub(crate) fn captured(output: Rc<Captured>) -> Self {
        Self { output, owns_process: false }
    }
}
