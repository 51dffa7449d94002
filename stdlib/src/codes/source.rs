//! The catalogue of reading scripts.

use lang::codes;

codes! {
/// The codes of reading scripts.
pub(crate) enum SourceCode {
    /// A script that cannot be read.
    Unreadable = "HARN-SRC-001", Error {
        title: "script cannot be read",
        meaning: "The file does not exist, is a directory, is too large, or its permissions do not allow it. \
            Nothing was run.",
    },
    /// The script is not UTF-8.
    NotText = "HARN-SRC-002", Error {
        title: "script is not UTF-8 text",
        meaning: "Scripts must be UTF-8. Save the file in that encoding; the message says where the first invalid \
            byte is.",
    },
}
}
