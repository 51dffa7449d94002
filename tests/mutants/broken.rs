//! Subjects that break a promise, and the tests that the runner notices it.

use crate::random::Random;
use crate::runner::try_mutants;
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use libtest_mimic::Trial;

/// Subjects that only the tests of the runner use.
pub(crate) const BROKEN: &[Subject] = &[
    subject("that_panics", || Box::new(Breaks(|| panic!("it panicked")))),
    subject("that_panics_elsewhere", || {
        Box::new(Breaks(|| drop(std::thread::spawn(|| panic!("it panicked elsewhere")).join())))
    }),
    subject("that_aborts", || Box::new(Breaks(|| std::process::abort()))),
];

const fn subject(name: &'static str, target: fn() -> Box<dyn Target>) -> Subject {
    Subject { name, cases: 8, balance: 8, mutator, target }
}

/// Makes texts of which about a third has a line that is 7.
fn mutator() -> Mutator {
    Box::new(|random: &mut Random| {
        let lines: String = (0..8).map(|_| format!("{}\n", random.below(20))).collect();
        Mutant { pieces: vec![b"first".to_vec(), lines.into_bytes()] }
    })
}

/// Does something to a text that has a line that is 7.
struct Breaks(fn());

impl Target for Breaks {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        if mutant.pieces.iter().any(|piece| piece.split(|&byte| byte == b'\n').any(|line| line == b"7")) {
            self.0();
        }
        Ok(Verdict::Accepted)
    }
}

/// Tests that each of them is reported, with the smallest mutant and the command.
pub(crate) fn trials() -> Vec<Trial> {
    let trial = |subject: &'static Subject, why: &'static str| {
        Trial::test(format!("a_subject_{}_is_reported", subject.name), move || {
            let said = try_mutants(subject, 1, subject.cases).expect_err("it is broken");
            let smallest = "\n7\n\n--\n\n\nto repeat it: HARN_SEED=";
            let is_told = said.contains(why) && said.contains(smallest) && said.contains(subject.name);
            if is_told { Ok(()) } else { Err(said.into()) }
        })
    };
    BROKEN.iter().zip(["it panicked", "it panicked elsewhere", "signal: 6"]).map(|(it, why)| trial(it, why)).collect()
}
