//! The limits of a pack, and its capabilities.

use crate::capability::Capability;
use std::path::PathBuf;
use std::time::Duration;

/// The limits of one evaluation of a provider, and of the loading of its pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Operations of the interpreter: statements, calls, steps of loops and of expressions.
    pub operations: u64,
    /// Calls in one another.
    pub depth: usize,
    /// Bytes of a string, or of all strings in one value.
    pub string: usize,
    /// Elements of a list or a map, those of what it holds included.
    pub elements: usize,
    /// Computing time of the thread, not time on the clock: a busy machine makes no pack late.
    pub time: Duration,
    /// Bytes that the pack may hold beyond what it held before it was loaded, its state between evaluations included.
    pub memory: u64,
    /// Reminders of one evaluation.
    pub reminders: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            operations: 1_000_000,
            depth: 32,
            string: 1 << 20,
            elements: 10_000,
            time: Duration::from_millis(50),
            memory: 64 << 20,
            reminders: 16,
        }
    }
}

/// A pack as a project or a command names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackSpec {
    /// The file.
    pub file: PathBuf,
    /// The capabilities it is granted, as far as the run has them.
    pub allow: Vec<Capability>,
    /// The limits.
    pub budget: Budget,
}

impl PackSpec {
    /// A pack with nothing granted, and the usual budget.
    #[must_use]
    pub fn plain(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), allow: Vec::new(), budget: Budget::default() }
    }
}
