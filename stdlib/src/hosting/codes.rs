//! Codes of served scripts.

use lang::codes;

codes! {
/// The codes of served scripts.
pub(crate) enum ServedCode {
    /// A script that takes no prompts.
    Unservable = "HARN-SRV-001", Error {
        title: "script accepts no prompts",
        meaning: "`harn serve` runs the top level of a script once for each session, and its pipeline for each \
            prompt. A script without a pipeline (in Rhai: without `fn main`), or whose top level returns before \
            its end, cannot answer prompts. `harn run` runs such a script.",
    },
}
}
