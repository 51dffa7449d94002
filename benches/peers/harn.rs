//! harn, in process.

use crate::peer::{Peer, cpu_ms, program};
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

    fn run(&self, file: &str) -> (String, f64) {
        let path = program(file, "harn");
        let source = read_source(&path).unwrap_or_else(|d| panic!("{}", d.message));
        let output = Rc::new(Captured::default());
        let engine = Engine::new(RunOptions { output: output.clone(), ..RunOptions::default() });
        // Reading, checking and compiling the text count, as they do for the others.
        let ms = cpu_ms(|| {
            let ran = engine.run(&source);
            assert_eq!(ran.exit_code, 0, "{file}: {:?}", ran.diagnostics);
        });
        (output.stdout().trim().to_owned(), ms)
    }
}
