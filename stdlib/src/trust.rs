//! Trust of folders. A `harn.toml` of another author may lower limits and deny capabilities;
//! settings that could send a key away, run code or write elsewhere take effect only once the user
//! has trusted the file.
//!
//! Trust is recorded in the user's configuration folder, one line for each folder: the digest of its `harn.toml` and its
//! canonical path. A file that has changed since needs trust anew.

use crate::codes::ProjectCode;
use base::files;
use lang::diagnostic::{Diagnostic, one_line};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The file's name in the configuration folder.
const TRUSTED: &str = "trusted";
/// The name of the file with the settings of a project.
pub(crate) const NAME: &str = "harn.toml";
/// The largest file of settings that is read.
pub(crate) const LARGEST_SETTINGS: u64 = 1 << 20;
/// The largest record that is read.
const LARGEST: u64 = 4 << 20;

/// A folder that is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedFolder {
    /// Its canonical path.
    pub folder: PathBuf,
    /// Whether its `harn.toml` is the one that was trusted.
    pub current: bool,
}

/// Returns the digest of a file's text, as it is recorded.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns whether a folder is trusted with this digest. A record that cannot be read trusts nothing.
pub(crate) fn is_trusted(folder: &Path, digest: &str) -> bool {
    let Some(path) = record_path() else { return false };
    let entries = read_record(&path).unwrap_or_default();
    entries.iter().any(|(trusted, of)| trusted == folder && of == digest)
}

/// Returns whether the user has trusted a folder, given without links, with its `harn.toml` as it is now.
pub(crate) fn is_trusted_folder(folder: &Path) -> bool {
    files::read(&folder.join(NAME), LARGEST_SETTINGS).is_ok_and(|bytes| is_trusted(folder, &digest(&bytes)))
}

/// Forgets the trust of a folder. Returns its path, and whether it was trusted.
///
/// # Errors
/// The record cannot be written.
pub fn revoke(folder: &Path) -> Result<(PathBuf, bool), Vec<Diagnostic>> {
    // A folder that is gone can still be revoked, by the path that the list shows.
    let file = find(&folder.join(NAME));
    let folder = file.as_deref().and_then(Path::parent).unwrap_or(folder);
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut was = false;
    change(|entries| {
        was = entries.iter().any(|(known, _)| *known == folder);
        entries.retain(|(known, _)| *known != folder);
    })?;
    Ok((folder, was))
}

/// Lists the trusted folders, by path.
///
/// # Errors
/// The record cannot be read.
pub fn trusted() -> Result<Vec<TrustedFolder>, Vec<Diagnostic>> {
    let path = record_path().ok_or_else(|| vec![nowhere()])?;
    let mut entries = read_record(&path).map_err(|error| vec![failed("read", &path, &error)])?;
    entries.sort();
    let state = |(folder, of): (PathBuf, String)| {
        let bytes = files::read(&folder.join(NAME), LARGEST_SETTINGS);
        let current = bytes.is_ok_and(|bytes| digest(&bytes) == of);
        TrustedFolder { folder, current }
    };
    Ok(entries.into_iter().map(state).collect())
}

/// Returns the folder of the user's settings: `HARN_CONFIG_HOME`, else `harn` in `XDG_CONFIG_HOME`, else `~/.config/harn`.
#[must_use]
pub fn config_folder() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("HARN_CONFIG_HOME")
        .or_else(|| Some(named("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute())?.join("harn")))
        .or_else(|| Some(named("HOME")?.join(".config/harn")))
}

/// Returns the folder, given without links, at which the search for files of a project ends: the first one that holds
/// `.git`, else the outermost.
pub(crate) fn root_of(folder: &Path) -> PathBuf {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    folder.ancestors().find(is_root).or_else(|| folder.ancestors().last()).unwrap_or(folder).to_owned()
}

/// The file beside the script, or in the nearest folder above it. The search goes no further than the first folder that
/// holds `.git`.
pub(crate) fn find(script: &Path) -> Option<PathBuf> {
    let beside = script.with_file_name(NAME);
    if beside.exists() {
        return Some(beside);
    }
    let folder = script.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let whole = std::fs::canonicalize(folder).ok()?;
    let mut folder = whole.as_path();
    loop {
        let found = folder.join(NAME);
        if found.exists() {
            return Some(found);
        }
        if folder.join(".git").exists() {
            return None;
        }
        folder = folder.parent()?;
    }
}

/// Returns a path as messages show it, on one line.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    match one_line(&path) {
        Cow::Borrowed(plain) => format!("`{plain}`"),
        Cow::Owned(escaped) => escaped,
    }
}

fn record_path() -> Option<PathBuf> {
    config_folder().map(|folder| folder.join(TRUSTED))
}

/// Reads the lines `DIGEST PATH`. What does not look like one is ignored, so it trusts nothing.
fn read_record(path: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let bytes = match files::read(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let entry = |line: &[u8]| {
        let (digest, path) = line.split_at_checked(64)?;
        let path = path.strip_prefix(b" ").filter(|path| path.starts_with(b"/"))?;
        Some((PathBuf::from(OsStr::from_bytes(path)), str::from_utf8(digest).ok()?.to_owned()))
    };
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(entry).collect())
}

/// Changes the record. Processes that do so take turns, and a reader sees the whole of one state.
pub(crate) fn change(edit: impl FnOnce(&mut Vec<(PathBuf, String)>)) -> Result<(), Vec<Diagnostic>> {
    let path = record_path().ok_or_else(|| vec![nowhere()])?;
    let write = || -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let private = |name: &str| {
            let beside = path.with_file_name(name);
            let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            Ok::<_, io::Error>((beside, file))
        };
        let (_, lock) = private("trusted.lock")?;
        lock.lock()?;
        let mut entries = read_record(&path)?;
        edit(&mut entries);
        let (draft, mut file) = private("trusted.new")?;
        for (folder, digest) in &entries {
            file.write_all(&[digest.as_bytes(), b" ", folder.as_os_str().as_bytes(), b"\n"].concat())?;
        }
        file.sync_all()?;
        fs::rename(draft, &path)
    };
    write().map_err(|error| vec![failed("write", &path, &error)])
}

fn failed(verb: &str, path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new(
        ProjectCode::Record,
        format!("cannot {verb} the record of trusted folders {}: {error}", quoted(path)),
    )
    .help("your settings folder is HARN_CONFIG_HOME, else harn in XDG_CONFIG_HOME, else ~/.config/harn")
}

fn nowhere() -> Diagnostic {
    Diagnostic::new(
        ProjectCode::Record,
        "cannot find your settings folder: none of HARN_CONFIG_HOME, XDG_CONFIG_HOME and HOME is set",
    )
    .help("set HOME, or set HARN_CONFIG_HOME to a folder that you own")
}
