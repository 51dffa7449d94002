//! The catalogue of the system around a run.

use lang::codes;

codes! {
/// The codes of processes, standard input and the network.
pub(crate) enum SystemCode {
    /// A program that could not be run.
    NotStarted = "HARN-IO-002", Error {
        title: "program could not be started",
        meaning: "`exec` takes the program and each of its arguments separately, without a shell. The message \
            contains the reason that the system reported. A program that runs and fails does not raise an error: \
            check `ok` and `code`.",
    },
    /// The output or input exceeds its limit.
    TooMuch = "HARN-IO-003", Error {
        title: "too much input or output",
        meaning: "At most 16 MiB of a program's standard output, of its standard error, and of one line of \
            standard input are kept. A program that writes more is stopped.",
    },
    /// A program that failed, where the script asks for success.
    Failed = "HARN-IO-005", Error {
        title: "program failed",
        meaning: "`exec` with `check: true` raises an error if the exit code is not 0. The error has the fields \
            `exit_code`, `stdout` and `stderr`.",
    },
    /// A program that takes too long.
    Late = "HARN-IO-006", Error {
        title: "program timed out",
        meaning: "The program did not end within the option `timeout` of `exec`. It is stopped, with all programs that it has started.",
    },
    /// Standard input that cannot be read.
    Input = "HARN-IO-004", Error {
        title: "standard input cannot be read",
        meaning: "Reading standard input failed, or the input is not UTF-8 text.",
    },
    /// An address that is none.
    Address = "HARN-NET-001", Error {
        title: "invalid URL or header",
        meaning: "`http_get` and `http_post` take a full URL with `http://` or `https://`, and valid HTTP headers.",
    },
    /// A server that cannot be reached, or breaks off.
    Connection = "HARN-NET-002", Error {
        title: "server cannot be reached",
        meaning: "The connection failed, or it ended before the response was complete. A response with an error \
            status (404, 500) does not raise an error: check `ok` and `status`.",
    },
    /// A server that takes too long.
    Slow = "HARN-NET-003", Error {
        title: "server timed out",
        meaning: "The response was not complete within 30 seconds, or within the option `timeout_ms`.",
    },
    /// A page of an answer that cannot be used.
    Pages = "HARN-NET-005", Error {
        title: "invalid page of a response",
        meaning: "`http_paginate` reads JSON with a list of items, and follows the `Link` header, a cursor or a page number. A \
            page has an error status or another form, leads to itself or to another server, or there are more pages than \
            `max_pages`.",
    },
    /// An answer that is too large.
    Large = "HARN-NET-004", Error {
        title: "response too large",
        meaning: "The body of a response can have at most 32 MiB.",
    },
}
}
