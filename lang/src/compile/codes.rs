//! The catalogue of the compiler's errors.

use crate::codes;

codes! {
/// The codes of the compiler's errors.
pub enum CompileCode {
    /// Function too large.
    TooLarge = "HARN-CMP-002", Error {
        title: "function too large",
        meaning: "A function can use at most 65,000 registers, constants and calls of each kind. Split it, or read the data \
                  from a file.",
    },
    /// Compiled code failed verification.
    Refused = "HARN-CMP-004", Error {
        title: "compiled code failed verification",
        meaning: "Compiled code is verified before it runs, so that a bug in the compiler cannot corrupt memory. This code was \
                  rejected. It is a bug in harn, not in the script.",
    },
}
}
