//! Evaluations: a script is run over a set of tasks, once per variant and repetition, and the runs are compared.
//!
//! - [`EvalPlan`]: tasks and variants, from a file. [`EvalRun`]: one run.
//! - [`EvalSummary`]: the figures of a variant, with their intervals. `stats`: how these are computed.

mod plan;
mod run;
mod stats;
mod summary;

pub use plan::{EvalPlan, EvalTask, EvalVariant};
pub use run::{EvalOutcome, EvalRun, RunPlace, WorkFolder, evaluate};
pub use stats::{Estimate, Rate};
pub use summary::{EvalSummary, summarize};
