//! Trusting the `harn.toml` of a folder, and what that enables.

use super::read;
use crate::codes::ProjectCode;
use crate::trust::{NAME, change, find, quoted};
use lang::diagnostic::Diagnostic;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The settings that trusting a folder has enabled.
#[derive(Clone, Debug)]
pub struct Granted {
    /// The `harn.toml`.
    pub file: PathBuf,
    /// The settings that an untrusted folder may not have, as `key = value`, each on one line.
    pub settings: Vec<String>,
}

/// Returns what trusting the `harn.toml` of a folder, or the nearest above it, would enable. Nothing changes.
///
/// # Errors
/// Fails if there is no such file, or it has errors.
pub fn grants(folder: &Path) -> Result<Granted, Vec<Diagnostic>> {
    let read = read::read(&nearest(folder)?)?;
    Ok(Granted { file: read.folder.join(NAME), settings: read.guarded })
}

/// Trusts the `harn.toml` of a folder, or the nearest above it, as it is now.
///
/// # Errors
/// Fails if there is no such file, it has errors, or the record cannot be written.
pub fn trust(folder: &Path) -> Result<Granted, Vec<Diagnostic>> {
    let file = nearest(folder)?;
    let read = read::read(&file)?;
    // A line of the record is a folder, so what follows the break would be another one.
    if read.folder.as_os_str().as_bytes().contains(&b'\n') {
        let message = format!("cannot trust the folder {}: its path contains a line break", quoted(&read.folder));
        return Err(vec![Diagnostic::new(ProjectCode::Record, message).help("rename the folder")]);
    }
    change(|entries| {
        entries.retain(|(known, _)| *known != read.folder);
        entries.push((read.folder.clone(), read.digest.clone()));
    })?;
    Ok(Granted { file: read.folder.join(NAME), settings: read.guarded })
}

fn nearest(folder: &Path) -> Result<PathBuf, Vec<Diagnostic>> {
    find(&folder.join(NAME)).ok_or_else(|| {
        let message = format!("no `{NAME}` found in {} or above it", quoted(folder));
        vec![
            Diagnostic::new(ProjectCode::Unreadable, message)
                .help(format!("without a `{NAME}` there is nothing to trust")),
        ]
    })
}
