//! Errors of a pack.

use lang::codes;

codes! {
/// The codes of provider packs.
pub(crate) enum PackCode {
    /// It cannot be loaded.
    Load = "HARN-PCK-001", Error {
        title: "provider pack cannot be loaded",
        meaning: "A pack is named by `--pack FILE`, by `packs` under `[providers]` in `harn.toml`, or by the option \
            `reminders` of a loop. The pack's file does not exist, is not valid Rhai, fails while its top level runs, or registers \
            no usable provider. The run, or the loop that names the pack, does not start, because a missing pack \
            would not guard anything.",
        fails: "agent_loop(\"go\", nil, {provider: \"mock\", reminders: {packs: [\"no/such/guard.rhai\"]}})\n",
        mended: "agent_loop(\"go\", nil, {provider: \"mock\", reminders: {packs: []}})\n",
    },
    /// It went over its budget.
    Budget = "HARN-PCK-002", Error {
        title: "provider pack exceeded its budget",
        meaning: "A provider of a pack exceeded its limit of operations, call depth, bytes of text, elements, \
            computing time, memory or reminders; the message says which. Its result is discarded, and the run \
            continues. You can raise the budget of a pack in `harn.toml`: `[providers] packs = [{file = \
            \"guard.rhai\", max_operations = 5_000_000, timeout_ms = 200}]`.",
    },
    /// It does what no pack may.
    Refused = "HARN-PCK-003", Error {
        title: "operation not permitted in a provider pack",
        meaning: "A pack computes reminders from its input. `eval`, `import` and functions as values are not \
            available: write a closure where it is used, `items.filter(|x| x > 3)`, or as the `evaluate` of a \
            provider.",
    },
    /// An error in the pack.
    Failed = "HARN-PCK-004", Error {
        title: "error in a provider pack",
        meaning: "A provider of a pack raised an error and did not catch it, or its result is not a valid \
            reminder. The result is discarded, and the run continues.",
    },
}
}
