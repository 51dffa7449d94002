//! The rows of recordings.

use lang::codes;

codes! {
/// The codes of recordings.
pub(crate) enum RecordingCode {
    /// A request that is not the recorded one.
    Different = "HARN-REC-001", Error {
        title: "request differs from the recorded one",
        meaning: "`harn run --replay` answers each request with the recorded response. This request differs from \
            the recorded one: the system text, a message, a tool, an option or the route has changed, so the \
            recorded response does not belong to it. The run ends here, and the error cannot be caught. The \
            differences are listed part by part. Record the run again, or undo the change.",
    },
    /// A call that has no answer on record.
    Missing = "HARN-REC-002", Error {
        title: "call without a recorded response",
        meaning: "The replayed run calls a model more often than the recorded run did, or in a task that the \
            recorded run did not start; or the recorded run ended before this call was answered.",
    },
    /// Recorded calls that were not made.
    Unused = "HARN-REC-003", Warning {
        title: "recorded calls not repeated",
        meaning: "The replayed run ended with fewer calls than the recorded run made. Its output may therefore \
            differ from the recorded one.",
    },
    /// A recording that cannot be read.
    Unreadable = "HARN-REC-004", Error {
        title: "recording cannot be read",
        meaning: "The folder does not contain a recording, or one of its files is missing, damaged or was edited. \
            Each file contains a digest of its content; to edit a response on purpose, remove the entry `digest` \
            from the file.",
    },
    /// A recording from a newer version.
    Newer = "HARN-REC-005", Error {
        title: "recording from a newer version",
        meaning: "The recording was written by a newer version of harn, in a format that this version cannot read.",
    },
    /// A recording that cannot be written.
    Unwritten = "HARN-REC-006", Error {
        title: "recording cannot be written",
        meaning: "`--record` needs a new or empty folder, so that runs are not mixed. A call that cannot be \
            written ends the run, because the recording would be incomplete.",
    },
}
}
