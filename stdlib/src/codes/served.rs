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
    /// A script without public functions.
    NothingPublic = "HARN-SRV-002", Error {
        title: "script has no tools, resources or prompts",
        meaning: "`harn serve mcp` serves the pipelines and tools that are `pub` as tools, and functions with \
            `@resource(\"…\")` or `@prompt` as resources and prompts. In Rhai, the constants `TOOLS`, `RESOURCES` and \
            `PROMPTS` at the top of the file describe them. This script has none.",
    },
    /// An invalid description of public functions in Rhai.
    Described = "HARN-SRV-003", Error {
        title: "invalid description of a public function",
        meaning: "In a Rhai script for `harn serve mcp`, `const TOOLS`, `const RESOURCES` and `const PROMPTS` at the top \
            level are maps of literals. Each key of `TOOLS` and `PROMPTS` is the name of a function of the file; each key \
            of `RESOURCES` is a URI, and its `handler` names the function. A description can have `description`, \
            `parameters`, `returns` and `mime_type`.",
    },
}
}
