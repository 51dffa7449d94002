//! The catalogue of tests.

use lang::codes;

codes! {
/// The codes of tests.
pub enum TestCode {
    /// An assertion about what a run did.
    Assertion = "HARN-TST-001", Error {
        title: "assertion about the run failed",
        meaning: "An `assert_…` function looked for something that the run has not done: a reminder in the prompts of a \
            session, a tool call, an event, a text in a request to the model. The notes list what it found instead.",
        fails: "llm_mock(\"hi\")\nagent_loop(\"go\", nil, {provider: \"mock\"})\nassert_prompt_contains(\"stop\")\n",
        mended: "llm_mock(\"hi\")\nagent_loop(\"go\", nil, {provider: \"mock\"})\nassert_prompt_contains(\"go\")\n",
    },
    /// A body that raised nothing, or another error.
    Throws = "HARN-TST-002", Error {
        title: "expected error was not raised",
        meaning: "`assert_throws` runs a function that must raise an error. Either the function returned, or its error does \
            not fit the second argument: a part of the message, a code, or entries of the error.",
        fails: "assert_throws({ -> 1 + 1 })\n",
        mended: "assert_throws({ -> throw \"no\" })\n",
    },
    /// A snapshot that differs, or does not exist.
    Snapshot = "HARN-TST-003", Error {
        title: "snapshot missing or different",
        meaning: "`assert_snapshot` compares a value with a file beside the test. The value has changed, or the file does not \
            exist yet. `harn test --review` shows the difference and accepts or rejects it; `harn test --update` accepts \
            all. Outside of `harn test` there are no snapshots.",
        fails: "assert_snapshot({a: 1})\n",
        mended: "assert_eq({a: 1}, {a: 1})\n",
    },
    /// A test that called `exit`.
    Ended = "HARN-TST-004", Error {
        title: "test ended the run",
        meaning: "A test called `exit`, or the top level of its file returned. A test passes only if its last statement was \
            reached, so this one fails.",
    },
    /// Cases that are not a list, or do not fit the parameters.
    Cases = "HARN-TST-005", Error {
        title: "invalid cases of a test",
        meaning: "`cases` of `@test` must be a list that is not empty. If the function has several parameters, each case is a \
            list with a value for each of them.",
    },
    /// No test was found.
    None = "HARN-TST-006", Error {
        title: "no tests found",
        meaning: "The paths contain no tests, or the filter excludes all of them. That is an error, so that a misspelt name \
            does not look like a success. Tests are functions with `@test` and `test \"name\" { … }` blocks; in folders, only \
            files whose names end in `_test.harn` and scripts with tests are read.",
    },
    /// A snapshot that no test uses.
    Unused = "HARN-TST-007", Warning {
        title: "unused snapshot",
        meaning: "All tests of a file passed, and none of them used this snapshot: its `assert_snapshot` was removed or got \
            another name, or the file of its tests does not exist any more. `harn test --review` shows and removes it; \
            `harn test --update` removes all.",
    },
    /// A request that no mock answers.
    Unmocked = "HARN-TST-010", Error {
        title: "request without a mock",
        meaning: "After `http_mock`, requests of `http_get` and the other methods do not reach the network. No mock is for this \
            request, or its answers are used up.",
    },
    /// A file of variants with an error.
    Plan = "HARN-TST-009", Error {
        title: "invalid file of variants",
        meaning: "`harn eval FILE --variants V.toml` reads `[[tasks]]` with `name`, `task`, `args` and `folder`, and \
            `[[variants]]` with `name`, `description`, `reminders` (options of loops) and `overrides` (fields of \
            reminders). Names are unique and consist of letters, digits, spaces and `._+-`.",
    },
    /// A file that does not compile, so its lines cannot be counted.
    Uncounted = "HARN-TST-008", Warning {
        title: "lines of a file not counted",
        meaning: "`harn test --coverage` counts the lines of all scripts in the given folders. This script is imported by no \
            test and does not compile, so its lines are unknown and the shares are too high.",
    },
}
}
