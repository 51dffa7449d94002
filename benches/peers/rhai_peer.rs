//! rhai, in process, as a tree walker.

use crate::peer::{Peer, cpu_ms, program};
use std::cell::RefCell;
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

    fn run(&self, file: &str) -> (String, f64) {
        let path = program(file, "rhai");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let printed = Rc::new(RefCell::new(String::new()));
        let sink = printed.clone();
        let mut engine = rhai::Engine::new();
        engine.set_max_expr_depths(0, 0).on_print(move |line| sink.borrow_mut().push_str(line));
        let ms = cpu_ms(|| engine.run(&text).unwrap_or_else(|e| panic!("{file}: {e}")));
        (printed.borrow().trim().to_owned(), ms)
    }
}
