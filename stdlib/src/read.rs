//! Reading a script from disk.

use lang::diagnostic::Diagnostic;
use lang::diagnostic::Severity::Error;
use lang::diagnostic::code::Code;
use lang::source::{Source, SourceRef};
use std::io;
use std::path::Path;

/// A script that cannot be read.
pub(crate) const UNREADABLE: &str = "HARN-SRC-001";
/// A script that is no UTF-8 text.
pub(crate) const NOT_TEXT: &str = "HARN-SRC-002";

/// The rows.
pub(crate) static CODES: &[Code] = &[
    Code {
        code: UNREADABLE,
        severity: Error,
        title: "a script that cannot be read",
        meaning: "The file is not there, is a directory, is too large, or may not be read. Nothing is run.",
        fails: "",
        mended: "",
    },
    Code {
        code: NOT_TEXT,
        severity: Error,
        title: "a script that is not UTF-8 text",
        meaning: "Scripts are UTF-8. Save the file in that encoding; the message says where the first wrong byte is.",
        fails: "",
        mended: "",
    },
];

/// The largest script: positions are 32 bits wide, and nobody writes more.
const LARGEST: u64 = 1 << 30;

/// Reads a script.
///
/// # Errors
/// What is wrong with the file, as a diagnostic without a place.
#[allow(clippy::result_large_err)] // once a run
pub fn read_source(path: &Path) -> Result<SourceRef, Diagnostic> {
    let name = path.display().to_string();
    let unreadable = |why: &str| Diagnostic::error(UNREADABLE, format!("cannot read `{name}`: {why}"));
    let meta = std::fs::metadata(path).map_err(|e| with_help(unreadable(&reason(&e)), &e))?;
    if meta.is_dir() {
        return Err(unreadable("it is a directory").help("name a file in it, such as `main.harn`"));
    }
    if meta.len() > LARGEST {
        return Err(unreadable("it is larger than 1 GiB"));
    }
    let bytes = std::fs::read(path).map_err(|e| unreadable(&reason(&e)))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            let line = e.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
            let byte = e.as_bytes().get(at).copied().unwrap_or_default();
            Err(Diagnostic::error(NOT_TEXT, format!("`{name}` is not UTF-8 text"))
                .note(format!("byte {at} (line {line}) is 0x{byte:02X}, which begins no character"))
                .help("save the file as UTF-8"))
        }
    }
}

fn reason(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => e.to_string(),
    }
}

fn with_help(d: Diagnostic, e: &io::Error) -> Diagnostic {
    if e.kind() == io::ErrorKind::NotFound {
        d.help("look at the path, which starts at the working directory")
    } else {
        d
    }
}
