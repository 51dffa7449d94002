//! The rows of recordings.

use lang::codes;

codes! {
/// The codes of recordings.
pub(crate) enum RecordingCode {
    /// A request that is not the recorded one.
    Different = "HARN-TAPE-001", Error {
        title: "a request that is not the recorded one",
        meaning: "`harn run --replay` gives each request the answer that was recorded for it, and this request is another: \
                  the system text, a message, a tool, an option or the route has changed. The answer would not be the one to \
                  this question, so the run ends here, whatever would catch an error. The difference is shown part by part. \
                  Record the run again, or undo the change.",
    },
    /// A call that has no answer on record.
    Missing = "HARN-TAPE-002", Error {
        title: "a call that has no answer on record",
        meaning: "A run that is replayed asks a model more often than the recorded one did, or in a task that the recorded one \
                  did not start; or the recorded run broke off before this call was answered.",
    },
    /// Recorded calls that were not made.
    Unused = "HARN-TAPE-003", Warning {
        title: "recorded calls that were not made again",
        meaning: "The replayed run came to its end and asked less than the recorded one. What it printed is therefore not what \
                  was printed then.",
    },
    /// A recording that cannot be read.
    Unreadable = "HARN-TAPE-004", Error {
        title: "a recording that cannot be read",
        meaning: "The folder holds no recording, a file of it is missing or no longer what it was, or somebody has changed one. \
                  Each file holds a digest of what it says; who changes an answer on purpose takes the entry `digest` out of \
                  that file.",
    },
    /// A recording of a later version.
    Newer = "HARN-TAPE-005", Error {
        title: "a recording of a later version",
        meaning: "The recording was written by a later version of harn, in a form that this one does not know.",
    },
    /// A recording that cannot be written.
    Unwritten = "HARN-TAPE-006", Error {
        title: "a recording that cannot be written",
        meaning: "`--record` wants a folder that is new or empty, so that no two runs mix. A call that cannot be written ends \
                  the run: a recording with a hole is none.",
    },
}
}
