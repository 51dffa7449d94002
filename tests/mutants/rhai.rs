//! Scripts in Rhai: each is checked, and runs to an end.

use crate::corpus::files;
use crate::properties;
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use crate::text;

const LONGEST: usize = 20_000;

pub(crate) const RHAI: Subject = Subject { name: "rhai", cases: 1_000, balance: 10, mutator, target };

fn mutator() -> Mutator {
    let mut programs = files("tests/rhai", "rhai");
    programs.extend(files("examples", "rhai"));
    assert!(programs.len() > 200, "found {} scripts", programs.len());
    Box::new(move |random| {
        let text = random.one_of(&programs).cloned().unwrap_or_default();
        Mutant::of(text::mutant(random, &text, &programs, LONGEST))
    })
}

fn target() -> Box<dyn Target> {
    Box::new(Rhai)
}

struct Rhai;

impl Target for Rhai {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        let runs = properties::mutant("input.rhai", &mutant.pieces[0]);
        Ok(if runs { Verdict::Accepted } else { Verdict::Rejected })
    }
}
