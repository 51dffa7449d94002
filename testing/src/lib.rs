//! The test runner of scripts.
//!
//! - [`discover`]: the files of a run, from paths.
//! - [`run`]: runs their tests, files side by side, each test in an engine of its own.
//! - [`Report`]: shows results as they come: as text, as lines of JSON, as a JUnit document.
//! - [`Coverage`]: the lines that have run: a table, LCOV, an HTML page.
//! - [`count_unimported`]: the files that no test imports.
//! - [`pending_snapshots`]: the snapshots that wait for a review. `snapshot`: comparing with them.
//!   [`abandoned_snapshots`]: those whose tests do not exist any more.
//! - [`eval`]: runs over a set of tasks, compared by variants.
//! - `difference`: how two texts differ.

mod coverage;
mod difference;
mod discover;
pub mod eval;
mod output;
mod report;
mod run;
mod snapshot;
mod unimported;

pub use coverage::Coverage;
pub use difference::difference;
pub use discover::{TestFile, discover, is_test_file};
pub use report::{Report, ReportFormat};
pub use run::{FileResult, MakeOptions, RunMode, Selection, Setup, Status, Summary, TestResult, run};
pub use snapshot::{PendingSnapshot, SnapshotMode, abandoned_snapshots, pending_snapshots};
pub use unimported::count_unimported;
