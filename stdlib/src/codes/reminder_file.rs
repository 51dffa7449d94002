//! The catalogue of reminder files.

use lang::codes;

codes! {
/// The codes of reminder files.
pub(crate) enum ReminderFileCode {
    /// It cannot be read, or its front matter is invalid.
    Invalid = "HARN-RMF-001", Error {
        title: "invalid reminder file",
        meaning: "A file in `.harn/reminders` begins with YAML between two lines `---`; the text after it is the \
            body. The keys are `on` (an event), `when` (an expression over `event`), `models` (globs), and the \
            fields of a reminder. A file that is invalid when a loop starts is not used: the error is printed \
            once and listed in the result's `diagnostics`, or raised under `reminders: {strict: true}`.",
    },
    /// A folder of another owner.
    Untrusted = "HARN-RMF-002", Warning {
        title: "reminder files of an untrusted folder ignored",
        meaning: "Reminder files put text into the prompt. Those in the folder of the script are used if the script \
            says `reminders: {files: true}`. Those in a folder above it are used only if you have run `harn trust` \
            in that folder, or in one above it.",
    },
    /// A file that was changed into an invalid one.
    Kept = "HARN-RMF-003", Warning {
        title: "reminder file keeps its last valid version",
        meaning: "A reminder file was changed while a loop was running, and its new text is invalid. The loop \
            continues with the last valid version. The warning is printed once for each invalid version.",
    },
    /// More files than a folder may have.
    TooMany = "HARN-RMF-004", Warning {
        title: "too many reminder files",
        meaning: "A folder may have 64 reminder files, each of at most 64 KiB. If a folder has more, only the \
            first 64 by name are used.",
    },
}
}
