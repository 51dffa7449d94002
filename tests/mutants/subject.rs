//! Kinds of input, their mutants, and the code that mutants are fed to.

use crate::random::Random;

/// A mutant: one text, the files of a folder, or the requests of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    pub(crate) pieces: Vec<Vec<u8>>,
}

impl Mutant {
    pub(crate) fn of(text: impl Into<Vec<u8>>) -> Mutant {
        Mutant { pieces: vec![text.into()] }
    }
}

/// The result of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It has no error, or none that is found before it takes effect; of several requests, one at least.
    Accepted,
    /// It was rejected with a diagnostic, or an error that has a code.
    Rejected,
}

/// The code that mutants are fed to.
pub(crate) trait Target {
    /// Feeds a mutant.
    ///
    /// # Errors
    /// Says which promise was broken. A panic is one without being returned.
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String>;
}

/// Makes a mutant from a seed.
pub(crate) type Mutator = Box<dyn Fn(&mut Random) -> Mutant>;

/// A kind of input.
pub(crate) struct Subject {
    /// Its name, which is that of the test.
    pub(crate) name: &'static str,
    /// The number of mutants that the suite tries.
    pub(crate) cases: u64,
    /// The number of mutants of which at least one must be accepted, and one rejected: a mutator that only breaks the
    /// syntax tests the parser alone.
    pub(crate) balance: u64,
    /// Reads the corpus.
    pub(crate) mutator: fn() -> Mutator,
    /// Makes the target, in a process and a working directory of its own.
    pub(crate) target: fn() -> Box<dyn Target>,
}
