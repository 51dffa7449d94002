//! The rows of the log's diagnostics. What they need is files, processes and disks, so the scripts stand in the tests.

use crate::codes::Code;
use crate::note::Severity;

const fn row(code: &'static str, title: &'static str, meaning: &'static str) -> Code {
    Code { code, severity: Severity::Error, title, meaning, in_check: false, at_run_time: true, fails: "", mended: "" }
}

/// The event log family.
pub static CODES: &[Code] = &[
    row(
        "HARN-LOG-001",
        "a home for event logs that there is not",
        "`--event-log`, `HARN_EVENT_LOG` and `home` under `[event_log]` in `harn.toml` take `memory` or `sqlite:PATH`. Logs \
         in NATS JetStream are planned but not built.",
    ),
    row(
        "HARN-LOG-002",
        "an event log that cannot be opened",
        "The path is a folder, its folder is not there, or the rights of the file or its folder do not allow it. Nothing \
         was run.",
    ),
    row(
        "HARN-LOG-003",
        "a file that is no event log",
        "The file is no SQLite database, or one of another application. Nothing in it was changed, and nothing was run.",
    ),
    row(
        "HARN-LOG-004",
        "an event log of a later version",
        "A later version of harn has written the file with a layout that this version does not know. Nothing in it was \
         changed, and nothing was run.",
    ),
    row(
        "HARN-LOG-005",
        "an event log that is locked",
        "Another process holds the file for longer than `lock_timeout` under `[event_log]` in `harn.toml` (5 seconds, \
         unless it says otherwise). What was not written is kept and tried again; whoever waits for it, a tool that is about \
         to run or the end of the run, hears of the failure. `event_log.emit` raises it, and its record is not written.",
    ),
    row(
        "HARN-LOG-006",
        "an event log that cannot be written",
        "The disk is full, the file has reached `max_file`, or its rights were taken away while the run wrote to it. What \
         was acknowledged before is safe. What was not written is kept and tried again; whoever waits for it, a tool that is \
         about to run or the end of the run, hears of the failure. `event_log.emit` raises it, and its record is not \
         written. Where more is unwritten than is kept, the log ends there and the message says how many records it lacks.",
    ),
    row(
        "HARN-LOG-007",
        "an event log that was deleted while it was written",
        "The file or its `-wal` was deleted or replaced while the run wrote to it. What is written to such a file nobody can \
         read, so the log ends there and whoever waits hears of it.",
    ),
    row(
        "HARN-LOG-008",
        "records that a reader asks for are gone",
        "A log in memory keeps a bounded number of records, and old ones may be deleted from a file. A reader that is slower \
         gets this error once instead of a gap: `lost` says how many records are gone, those that its filter would have \
         left out included, and reading on begins behind the cursor `resume_from`.",
    ),
    row(
        "HARN-LOG-009",
        "an event log that is damaged",
        "SQLite finds that the file is no longer what was written, or a record in it is no JSON.",
    ),
    row(
        "HARN-LOG-010",
        "a record that is too large",
        "A record of the event log may have up to 64 MiB. Keep large things in files and log their paths.",
    ),
    row(
        "HARN-LOG-011",
        "a session that the event log does not hold",
        "A client asks for a session that no process has written to this event log. `session/list` tells which there are.",
    ),
    row(
        "HARN-LOG-012",
        "a session or task that is open in another process",
        "A session goes on in one process at a time, and so does a task. Close it there, or end that process, and load it again. A process that \
         was killed has no session open any more.",
    ),
    row(
        "HARN-LOG-013",
        "a session that cannot be read from the event log",
        "A record of the session lacks what it must have; somebody else than harn has written or changed it. Other sessions of \
         the log are not concerned.",
    ),
    row(
        "HARN-LOG-014",
        "a page that there is not",
        "The cursor of a list of sessions, or the token of a list of tasks, is none that a page before has given. Begin without one, then give each back as it \
         came.",
    ),
    row(
        "HARN-LOG-015",
        "sessions that are not kept",
        "Sessions are listed and loaded from an event log in a file. Without `--event-log sqlite:PATH` they go with their \
         process.",
    ),
    row(
        "HARN-LOG-016",
        "nobody can tell which process has a session open",
        "A process that serves sessions from an event log in a file makes a small file beside it, and holds a lock on that for as \
         long as it lives. That file cannot be made, or the file system has no locks.",
    ),
    row(
        "HARN-LOG-017",
        "a task whose process ended",
        "The process that worked on the task ended before the task did. What it had made by then is on the event log, and the \
         task has failed. Put `@resumable` before the pipeline that is served where it may be run again instead.",
    ),
];
