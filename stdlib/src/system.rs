//! Errors of the system around a run: processes, standard input, the network.

use std::io;

/// Returns the system's message, shortened for the usual errors.
pub(crate) fn reason(e: &io::Error, what: &str) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => format!("{what} not found"),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => e.to_string(),
    }
}
