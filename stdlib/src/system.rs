//! What can go wrong with the system around a run: processes, standard input, the network.

use lang::diagnostic::Severity::Error;
use lang::diagnostic::code::Code;
use std::io;

/// A program that could not be run.
pub(crate) const NOT_STARTED: &str = "HARN-IO-002";
/// More output or input than is taken.
pub(crate) const TOO_MUCH: &str = "HARN-IO-003";
/// Standard input that cannot be read.
pub(crate) const INPUT: &str = "HARN-IO-004";
/// An address that is none.
pub(crate) const ADDRESS: &str = "HARN-NET-001";
/// A server that cannot be reached, or breaks off.
pub(crate) const CONNECTION: &str = "HARN-NET-002";
/// A server that takes too long.
pub(crate) const SLOW: &str = "HARN-NET-003";
/// An answer that is too large.
pub(crate) const LARGE: &str = "HARN-NET-004";

/// The rows.
pub(crate) static CODES: &[Code] = &[
    Code {
        code: NOT_STARTED,
        severity: Error,
        title: "a program that could not be run",
        meaning: "`exec` takes the program and each of its arguments by itself; no shell reads the line. The message says \
                  what the system said. A program that runs and fails raises nothing: look at `ok` and `code`.",
        fails: "",
        mended: "",
    },
    Code {
        code: TOO_MUCH,
        severity: Error,
        title: "more output or input than is taken",
        meaning: "16 MiB of a program's standard output, and of its standard error, are kept, and a line of standard input \
                  may be as long. A program that writes more is ended.",
        fails: "",
        mended: "",
    },
    Code {
        code: INPUT,
        severity: Error,
        title: "standard input that cannot be read",
        meaning: "Standard input gave an error, or something that is no UTF-8 text.",
        fails: "",
        mended: "",
    },
    Code {
        code: ADDRESS,
        severity: Error,
        title: "an address that is none",
        meaning: "`http_get` and `http_post` take a whole URL with `http://` or `https://`, and headers that HTTP has room for.",
        fails: "",
        mended: "",
    },
    Code {
        code: CONNECTION,
        severity: Error,
        title: "a server that cannot be reached",
        meaning: "No connection could be made, or it broke off before the answer was whole. An answer with a status that \
                  says no (404, 500) raises nothing: look at `ok` and `status`.",
        fails: "",
        mended: "",
    },
    Code {
        code: SLOW,
        severity: Error,
        title: "a server that takes too long",
        meaning: "The whole answer was not there within 30 seconds, or within the option `timeout_ms`.",
        fails: "",
        mended: "",
    },
    Code {
        code: LARGE,
        severity: Error,
        title: "an answer that is too large",
        meaning: "The body of an answer may hold 32 MiB.",
        fails: "",
        mended: "",
    },
];

/// What the system says, in fewer words where it says the usual.
pub(crate) fn reason(e: &io::Error, what: &str) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => format!("there is no such {what}"),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => e.to_string(),
    }
}
