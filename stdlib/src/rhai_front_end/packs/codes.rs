//! Errors of a pack.

use lang::codes;

codes! {
/// The codes of provider packs.
pub(crate) enum PackCode {
    /// It cannot be loaded.
    Load = "HARN-PCK-001", Error {
        title: "a provider pack that cannot be loaded",
        meaning: "The file of a pack is not there, is no Rhai, fails while its top level runs, or registers no provider that \
                  can be used. A pack that is missing in silence would guard nothing, so the run, or the loop that names the \
                  pack, does not start.",
        fails: "agent_loop(\"go\", nil, {provider: \"mock\", reminders: {packs: [\"no/such/guard.rhai\"]}})\n",
        mended: "agent_loop(\"go\", nil, {provider: \"mock\", reminders: {packs: []}})\n",
    },
    /// It went over its budget.
    Budget = "HARN-PCK-002", Error {
        title: "a provider pack over its budget",
        meaning: "A provider of a pack wanted more than it may have: operations, depth of calls, bytes of text, elements, \
                  computing time, memory or reminders; the message says which. What it wanted to add is dropped, and the work \
                  goes on. The budget of a pack that needs more stands in `harn.toml`: `[providers] packs = [{file = \
                  \"guard.rhai\", max_operations = 5_000_000, timeout_ms = 200}]`.",
    },
    /// It does what no pack may.
    Refused = "HARN-PCK-003", Error {
        title: "a provider pack that does what no pack may",
        meaning: "A pack computes reminders out of what it is shown. It has no `eval`, no `import`, no functions as values: a \
                  closure stands where it is used, `items.filter(|x| x > 3)`, or is the `evaluate` of a provider.",
    },
    /// An error in the pack.
    Failed = "HARN-PCK-004", Error {
        title: "an error in a provider pack",
        meaning: "A provider of a pack met an error that it did not catch, or gave back what is no reminder. What it wanted to \
                  add is dropped, and the work goes on.",
    },
}
}
