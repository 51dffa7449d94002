//! The rows of the log's diagnostics. They depend on files, processes and disks, so their scripts are in the tests.

use base::codes;

codes! {
/// The codes of the event log family.
pub enum LogCode {
    /// An unknown backend for event logs.
    Home = "HARN-LOG-001", Error {
        title: "unknown event log backend",
        meaning: "`--event-log`, `HARN_EVENT_LOG` and `home` under `[event_log]` in `harn.toml` take `memory` or \
            `sqlite:PATH`. Logs in NATS JetStream are planned but not implemented.",
    },
    /// An event log that cannot be opened.
    CannotOpen = "HARN-LOG-002", Error {
        title: "event log cannot be opened",
        meaning: "The path is a folder, its parent folder does not exist, or the permissions of the file or its \
            folder do not allow it. Nothing was run.",
    },
    /// A file that is not an event log.
    Foreign = "HARN-LOG-003", Error {
        title: "file is not an event log",
        meaning: "The file is not a SQLite database, or it belongs to another application. The file was not \
            changed, and nothing was run.",
    },
    /// An event log from a newer version.
    Newer = "HARN-LOG-004", Error {
        title: "event log from a newer version",
        meaning: "A newer version of harn wrote the file, in a layout that this version does not support. The file was \
            not changed, and nothing was run.",
    },
    /// An event log that is locked.
    Locked = "HARN-LOG-005", Error {
        title: "event log is locked",
        meaning: "Another process has locked the file for longer than `lock_timeout` under `[event_log]` in \
                  `harn.toml` (default: 5 seconds). Unwritten records are kept, and the write is retried. A tool that \
                  is about to run and the end of the run wait for the write and fail with this error. `event_log.emit` \
                  raises it, and its record is not written.",
    },
    /// An event log that cannot be written.
    NotWritten = "HARN-LOG-006", Error {
        title: "event log cannot be written",
        meaning: "The disk is full, the file has reached `max_file`, or its permissions changed during the run. \
                  Acknowledged records are safe. Unwritten records are kept, and the write is retried. A tool that is \
                  about to run and the end of the run wait for the write and fail with this error. `event_log.emit` \
                  raises it, and its record is not written. If more records are unwritten than can be kept, the others \
                  are lost, and the message says how many they are. The log works again once it can be written. A server \
                  refuses new work until then.",
    },
    /// An event log that was deleted while it was written.
    Gone = "HARN-LOG-007", Error {
        title: "event log was deleted during the run",
        meaning: "The file or its `-wal` file was deleted or replaced while the run wrote to it. Records written \
            to such a file cannot be read, so the log ends there, and pending writes fail with this error. A server \
            refuses new work until the same file is back in its place.",
    },
    /// Requested records are no longer kept.
    Lagged = "HARN-LOG-008", Error {
        title: "requested records no longer available",
        meaning: "A log in memory keeps a limited number of records, and old records can be deleted from a file. A \
            reader that falls behind gets this error once: `lost` is the number of missing records, including \
            those that its filter would skip, and reading continues after the cursor `resume_from`.",
    },
    /// An event log that is damaged.
    Damaged = "HARN-LOG-009", Error {
        title: "event log is damaged",
        meaning: "SQLite reports that the file is corrupt, or a record in it is not valid JSON.",
    },
    /// A record that is too large.
    TooLarge = "HARN-LOG-010", Error {
        title: "record too large",
        meaning: "A record of the event log can have at most 64 MiB. Store large data in files and log their paths.",
    },
    /// A session that is not in the event log.
    Unknown = "HARN-LOG-011", Error {
        title: "session not in the event log",
        meaning: "A client requested a session that no process has written to this event log. `session/list` \
            returns the sessions.",
    },
    /// A session or task that is open in another process.
    Elsewhere = "HARN-LOG-012", Error {
        title: "session or task is open in another process",
        meaning: "Only one process at a time can have a session or a task open. Close it there, or stop that process, \
            then load it again. If a process is killed, its sessions are closed.",
    },
    /// A session that cannot be read from the event log.
    Unreadable = "HARN-LOG-013", Error {
        title: "session cannot be read from the event log",
        meaning: "A record of the session is incomplete, because another program has written or changed it. Other \
            sessions of the log are not affected.",
    },
    /// An unknown page.
    Page = "HARN-LOG-014", Error {
        title: "invalid page cursor",
        meaning: "The cursor of a session list, or the token of a task list, was not returned by an earlier page. \
            Start without one, then pass the value of each page to the next request.",
    },
    /// Sessions that are not kept.
    NotKept = "HARN-LOG-015", Error {
        title: "sessions are not stored",
        meaning: "Sessions can be listed and loaded only with an event log in a file. Without `--event-log \
            sqlite:PATH` they end with their process.",
    },
    /// The process that has a session open cannot be determined.
    CannotClaim = "HARN-LOG-016", Error {
        title: "session lock file cannot be used",
        meaning: "A process that serves sessions from an event log in a file creates a small file next to it and \
            locks that file while it runs. The file cannot be created, or the file system does not support locks.",
    },
    /// A task whose process ended.
    ProcessEnded = "HARN-LOG-017", Error {
        title: "process of the task ended",
        meaning: "The process that worked on the task ended before the task was done. The results so far are in the \
            event log, and the task has failed. To run such tasks again instead, put `@resumable` before the \
            served pipeline.",
    },
    /// An event log that another server owns.
    Owned = "HARN-LOG-018", Error {
        title: "event log is in use by another server",
        meaning: "A server of channels and a hub own their event log, because two of them would execute an action \
            twice. A lock on the file `FILE.lock` next to the log marks the owner, and ends with its process in any \
            case. While `harn log trim` removes records, it owns the log too, and it is refused while a server uses the \
            log. The message names the log and the process. Nothing was served or removed.",
    },
    /// An event log that cannot keep up.
    Full = "HARN-LOG-020", Error {
        title: "too many unwritten records",
        meaning: "The disk is slower than the records that a run writes, or it does not respond. A run waits while some \
            thousand records are unwritten, and a server refuses injections. Records beyond that are lost: the message \
            says how many they are, and later ones are written again once there is room.",
    },
    /// A topic whose records `harn log trim` does not remove.
    TrimTopic = "HARN-LOG-019", Error {
        title: "invalid topic to trim",
        meaning: "`harn log trim --topic` takes topics to which scripts write with `event_log.emit`. The topic belongs to \
            the runtime, or the log has none of this name. Nothing was removed.",
    },
}
}
