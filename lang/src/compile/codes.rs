//! The catalogue of the compiler's errors.

use crate::codes;

codes! {
/// The codes of the compiler's errors.
pub enum CompileCode {
    /// A function larger than the machine can address.
    TooLarge = "HARN-CMP-002", Error {
        title: "a function larger than the machine can address",
        meaning: "A function may use 65,000 registers, constants and calls of each kind. Split it, or read the data from a file.",
    },
    /// Compiled code that the verifier refuses.
    Refused = "HARN-CMP-004", Error {
        title: "compiled code refused",
        meaning: "Compiled code is checked before it runs, so that no mistake of the compiler can touch memory that is not \
                  its own. This code did not pass: a bug in harn, and not in the script.",
    },
}
}
