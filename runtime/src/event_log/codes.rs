//! The rows of the log's diagnostics. What they need is files, processes and disks, so the scripts stand in the tests.

use crate::codes;

codes! {
/// The codes of the event log family.
pub enum LogCode {
    /// A home for event logs that there is not.
    Home = "HARN-LOG-001", Error {
        title: "a home for event logs that there is not",
        meaning: "`--event-log`, `HARN_EVENT_LOG` and `home` under `[event_log]` in `harn.toml` take `memory` or `sqlite:PATH`. Logs \
         in NATS JetStream are planned but not built.",
    },
    /// An event log that cannot be opened.
    CannotOpen = "HARN-LOG-002", Error {
        title: "an event log that cannot be opened",
        meaning: "The path is a folder, its folder is not there, or the rights of the file or its folder do not allow it. Nothing \
         was run.",
    },
    /// A file that is no event log.
    Foreign = "HARN-LOG-003", Error {
        title: "a file that is no event log",
        meaning: "The file is no SQLite database, or one of another application. Nothing in it was changed, and nothing was run.",
    },
    /// An event log of a later version.
    Newer = "HARN-LOG-004", Error {
        title: "an event log of a later version",
        meaning: "A later version of harn has written the file with a layout that this version does not know. Nothing in it was \
         changed, and nothing was run.",
    },
    /// An event log that is locked.
    Locked = "HARN-LOG-005", Error {
        title: "an event log that is locked",
        meaning: "Another process holds the file for longer than `lock_timeout` under `[event_log]` in `harn.toml` (5 seconds, \
         unless it says otherwise). What was not written is kept and tried again; whoever waits for it, a tool that is about \
         to run or the end of the run, hears of the failure. `event_log.emit` raises it, and its record is not written.",
    },
    /// An event log that cannot be written.
    NotWritten = "HARN-LOG-006", Error {
        title: "an event log that cannot be written",
        meaning: "The disk is full, the file has reached `max_file`, or its rights were taken away while the run wrote to it. What \
         was acknowledged before is safe. What was not written is kept and tried again; whoever waits for it, a tool that is \
         about to run or the end of the run, hears of the failure. `event_log.emit` raises it, and its record is not \
         written. Where more is unwritten than is kept, the log ends there and the message says how many records it lacks.",
    },
    /// An event log that was deleted while it was written.
    Gone = "HARN-LOG-007", Error {
        title: "an event log that was deleted while it was written",
        meaning: "The file or its `-wal` was deleted or replaced while the run wrote to it. What is written to such a file nobody can \
         read, so the log ends there and whoever waits hears of it.",
    },
    /// Records that a reader asks for are gone.
    Lagged = "HARN-LOG-008", Error {
        title: "records that a reader asks for are gone",
        meaning: "A log in memory keeps a bounded number of records, and old ones may be deleted from a file. A reader that is slower \
         gets this error once instead of a gap: `lost` says how many records are gone, those that its filter would have \
         left out included, and reading on begins behind the cursor `resume_from`.",
    },
    /// An event log that is damaged.
    Damaged = "HARN-LOG-009", Error {
        title: "an event log that is damaged",
        meaning: "SQLite finds that the file is no longer what was written, or a record in it is no JSON.",
    },
    /// A record that is too large.
    TooLarge = "HARN-LOG-010", Error {
        title: "a record that is too large",
        meaning: "A record of the event log may have up to 64 MiB. Keep large things in files and log their paths.",
    },
    /// A session that the event log does not hold.
    Unknown = "HARN-LOG-011", Error {
        title: "a session that the event log does not hold",
        meaning: "A client asks for a session that no process has written to this event log. `session/list` tells which there are.",
    },
    /// A session or task that is open in another process.
    Elsewhere = "HARN-LOG-012", Error {
        title: "a session or task that is open in another process",
        meaning: "A session goes on in one process at a time, and so does a task. Close it there, or end that process, and load it again. A process that \
         was killed has no session open any more.",
    },
    /// A session that cannot be read from the event log.
    Unreadable = "HARN-LOG-013", Error {
        title: "a session that cannot be read from the event log",
        meaning: "A record of the session lacks what it must have; somebody else than harn has written or changed it. Other sessions of \
         the log are not concerned.",
    },
    /// A page that there is not.
    Page = "HARN-LOG-014", Error {
        title: "a page that there is not",
        meaning: "The cursor of a list of sessions, or the token of a list of tasks, is none that a page before has given. Begin without one, then give each back as it \
         came.",
    },
    /// Sessions that are not kept.
    NotKept = "HARN-LOG-015", Error {
        title: "sessions that are not kept",
        meaning: "Sessions are listed and loaded from an event log in a file. Without `--event-log sqlite:PATH` they go with their \
         process.",
    },
    /// Nobody can tell which process has a session open.
    CannotClaim = "HARN-LOG-016", Error {
        title: "nobody can tell which process has a session open",
        meaning: "A process that serves sessions from an event log in a file makes a small file beside it, and holds a lock on that for as \
         long as it lives. That file cannot be made, or the file system has no locks.",
    },
    /// A task whose process ended.
    ProcessEnded = "HARN-LOG-017", Error {
        title: "a task whose process ended",
        meaning: "The process that worked on the task ended before the task did. What it had made by then is on the event log, and the \
         task has failed. Put `@resumable` before the pipeline that is served where it may be run again instead.",
    },
}
}
