//! The runtime on the log: the topics of its records, and the run that each of them names.

mod run_tagged;
mod topic;

pub use run_tagged::RunTaggedLog;
pub use topic::Topic;
