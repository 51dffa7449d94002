//! The errors of tasks.

use crate::diagnostic::Severity::{Error, Warning};
use crate::diagnostic::code::Code;

/// A deadline passed.
pub const DEADLINE: &str = "HARN-RUN-030";
/// Every task waits for another.
pub const DEADLOCK: &str = "HARN-RUN-031";
/// A send on a closed channel.
pub const CLOSED: &str = "HARN-RUN-032";
/// A cancelled task was awaited.
pub const TASK_CANCELLED: &str = "HARN-RUN-033";
/// More tasks than a run may have.
pub const TASKS: &str = "HARN-RUN-034";
/// A task failed, and nobody awaited it.
pub const UNSEEN: &str = "HARN-RUN-035";

/// The rows.
pub(crate) static CODES: &[Code] = &[
    Code {
        code: DEADLINE,
        severity: Error,
        title: "a deadline passed",
        meaning: "What a `deadline` block holds was not done in time. `defer` and `finally` inside it have run; a `catch` around \
                  the block sees the error, one inside it does not. With `--timeout` the whole run is such a block.",
        fails: "mock_time()\ndeadline 1s { sleep(5s) }\n",
        mended: "mock_time()\nlet r = try { deadline 1s { sleep(5s) } }\nprintln(is_err(r))\n",
    },
    Code {
        code: DEADLOCK,
        severity: Error,
        title: "every task waits for another",
        meaning: "All tasks wait for channels, mutexes or one another, and nothing is left that could wake one of them. The \
                  notes say where each one waits. Usually a channel was not closed, or the task that should send is the one \
                  that waits.",
        fails: "let jobs = channel(\"jobs\", 1)\nprintln(receive(jobs))\n",
        mended: "let jobs = channel(\"jobs\", 1)\nlet sender = spawn { send(jobs, 1) }\nprintln(receive(jobs))\nawait(sender)\n",
    },
    Code {
        code: CLOSED,
        severity: Error,
        title: "a send on a closed channel",
        meaning: "After `close_channel` nothing can be sent any more; what was sent before can still be received. The sender \
                  should be the one that closes.",
        fails: "let jobs = channel(\"jobs\", 1)\nclose_channel(jobs)\nsend(jobs, 1)\n",
        mended: "let jobs = channel(\"jobs\", 1)\nsend(jobs, 1)\nclose_channel(jobs)\n",
    },
    Code {
        code: TASK_CANCELLED,
        severity: Error,
        title: "a cancelled task was awaited",
        meaning: "The task was given up before it had a result: by `cancel`, by a deadline around its `spawn`, or with the task \
                  that started it.",
        fails: "let h = spawn { sleep(1h) }\ncancel(h)\nawait(h)\n",
        mended: "let h = spawn { sleep(1h) }\ncancel(h)\nprintln(is_err(try { await(h) }))\n",
    },
    Code {
        code: TASKS,
        severity: Error,
        title: "more tasks than a run may have",
        meaning: "So many tasks that are not over would fill the memory. Let `parallel each … with {max_concurrent: n}` start \
                  them as others end, or await some before more are started.",
        fails: "fn more() { return await(spawn { more() }) }\nmore()\n",
        mended: "fn more(n) { return n == 0 ? 0 : await(spawn { more(n - 1) }) }\nprintln(more(10))\n",
    },
    Code {
        code: UNSEEN,
        severity: Warning,
        title: "a task failed, and nobody awaited it",
        meaning: "The error of a task surfaces where it is awaited. Nobody awaited this one, so the run went on without its \
                  result. Await it, or catch what may go wrong inside it.",
        fails: "spawn { throw \"no such user\" }\nsleep(1ms)\n",
        mended: "let h = spawn { throw \"no such user\" }\nprintln(try { await(h) })\n",
    },
];
