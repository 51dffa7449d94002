//! The catalogue of reading scripts.

use lang::codes;

codes! {
/// The codes of reading scripts.
pub(crate) enum SourceCode {
    /// A script that cannot be read.
    Unreadable = "HARN-SRC-001", Error {
        title: "a script that cannot be read",
        meaning: "The file is not there, is a directory, is too large, or may not be read. Nothing is run.",
    },
    /// The script is not UTF-8.
    NotText = "HARN-SRC-002", Error {
        title: "a script that is not UTF-8 text",
        meaning: "Scripts are UTF-8. Save the file in that encoding; the message says where the first wrong byte is.",
    },
}
}
