//! Codes of served scripts.

use lang::codes;

codes! {
/// The codes of served scripts.
pub(crate) enum ServedCode {
    /// A script that takes no prompts.
    Unservable = "HARN-SRV-001", Error {
        title: "a script that takes no prompts",
        meaning: "`harn serve` runs the top level of a script once for each session, and its pipeline for each prompt. A script \
                  without a pipeline (in Rhai: without `fn main`), or one whose top level returns before its end, answers \
                  nothing. `harn run` runs it as it is.",
    },
}
}
