//! The catalogue of the system around a run.

use lang::codes;

codes! {
/// The codes of processes, standard input and the network.
pub(crate) enum SystemCode {
    /// A program that could not be run.
    NotStarted = "HARN-IO-002", Error {
        title: "a program that could not be run",
        meaning: "`exec` takes the program and each of its arguments by itself; no shell reads the line. The message says \
                  what the system said. A program that runs and fails raises nothing: look at `ok` and `code`.",
    },
    /// The output or input exceeds its limit.
    TooMuch = "HARN-IO-003", Error {
        title: "more output or input than is taken",
        meaning: "16 MiB of a program's standard output, and of its standard error, are kept, and a line of standard input \
                  may be as long. A program that writes more is ended.",
    },
    /// Standard input that cannot be read.
    Input = "HARN-IO-004", Error {
        title: "standard input that cannot be read",
        meaning: "Standard input gave an error, or something that is no UTF-8 text.",
    },
    /// An address that is none.
    Address = "HARN-NET-001", Error {
        title: "an address that is none",
        meaning: "`http_get` and `http_post` take a whole URL with `http://` or `https://`, and headers that HTTP has room for.",
    },
    /// A server that cannot be reached, or breaks off.
    Connection = "HARN-NET-002", Error {
        title: "a server that cannot be reached",
        meaning: "No connection could be made, or it broke off before the answer was whole. An answer with a status that \
                  says no (404, 500) raises nothing: look at `ok` and `status`.",
    },
    /// A server that takes too long.
    Slow = "HARN-NET-003", Error {
        title: "a server that takes too long",
        meaning: "The whole answer was not there within 30 seconds, or within the option `timeout_ms`.",
    },
    /// An answer that is too large.
    Large = "HARN-NET-004", Error {
        title: "an answer that is too large",
        meaning: "The body of an answer may hold 32 MiB.",
    },
}
}
