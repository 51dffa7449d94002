//! Standard output of commands whose result is text.

use std::io::{Error, ErrorKind, Result, Write};

/// Prints text. A reader that closed the pipe (`harn trace LOG | head`) is not an error.
///
/// # Errors
/// The system refuses (a full disk).
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    forgive(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Returns the result of writing, without the error of a reader that closed the pipe.
pub(crate) fn forgive(written: Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Returns `code`, or 1 after a sentence on standard error where the result could not be written.
pub(crate) fn exit_code(written: Result<()>, code: i32) -> i32 {
    let Err(error) = written else { return code };
    refused(&error);
    code.max(1)
}

fn refused(error: &Error) {
    eprintln!("error: cannot write to standard output: {error}");
    eprintln!("  help: the output is incomplete; free up disk space, or write to another location");
}
