//! [`TokenStore`]: the tokens of a user, one file for each server, which only their owner can read.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::data::Data;
use base::files;
use sha2::{Digest, Sha256};

use super::grant::Grant;

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;
/// The version of the format.
const VERSION: i64 = 1;

/// The record of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TokenRecord {
    pub(crate) grant: Option<Grant>,
    /// Scopes that the server asked for in vain; the next login asks for them too.
    pub(crate) wanted: Vec<String>,
}

/// A folder of tokens. Without a folder, nothing is stored.
#[derive(Debug, Clone)]
pub struct TokenStore {
    folder: Option<PathBuf>,
}

impl TokenStore {
    /// Uses a folder, which is created when the first token is stored.
    #[must_use]
    pub fn new(folder: Option<PathBuf>) -> TokenStore {
        TokenStore { folder }
    }

    /// Returns the file of the server at `url`.
    fn file(&self, url: &str) -> Option<PathBuf> {
        let digest: String = Sha256::digest(url.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.folder.as_ref().map(|folder| folder.join(format!("{digest}.json")))
    }

    /// Reads the record of the server at `url`; an empty one if there is none that can be used.
    pub(crate) fn load(&self, url: &str) -> TokenRecord {
        let read = || {
            let bytes = files::read(&self.file(url)?, LARGEST).ok()?;
            let stored = Data::from_json(std::str::from_utf8(&bytes).ok()?).ok()?;
            // A file that was renamed does not send the token of one server to another.
            let fits = stored.get("version").as_int() == Some(VERSION) && stored.get("url").as_str() == Some(url);
            fits.then_some(stored)
        };
        let Some(stored) = read() else { return TokenRecord::default() };
        let wanted = stored.get("wanted").as_list().unwrap_or_default();
        TokenRecord {
            grant: Grant::from_data(stored.get("grant")),
            wanted: wanted.iter().filter_map(Data::as_str).map(str::to_owned).collect(),
        }
    }

    /// Stores the record of the server at `url`. Another process sees the old record or the new one.
    pub(crate) fn save(&self, url: &str, record: &TokenRecord) -> Result<(), String> {
        let Some(file) = self.file(url) else {
            return Err("none of HARN_CONFIG_HOME, XDG_CONFIG_HOME and HOME is set".to_owned());
        };
        let wanted: Vec<Data> = record.wanted.iter().map(|scope| Data::from(scope.as_str())).collect();
        let stored = Data::dict_of_present([
            ("version", Data::from(VERSION)),
            ("url", url.into()),
            ("grant", record.grant.as_ref().map_or(Data::Nil, Grant::to_data)),
            ("wanted", Data::list(wanted)),
        ]);
        write_private(&file, &stored.to_json_pretty())
            .map_err(|error| format!("cannot write {}: {error}", file.display()))
    }

    /// Removes the record of the server at `url`. Returns whether there was one.
    pub(crate) fn remove(&self, url: &str) -> Result<bool, String> {
        let Some(file) = self.file(url) else { return Ok(false) };
        match fs::remove_file(&file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(format!("cannot remove {}: {error}", file.display())),
        }
    }
}

fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    // A draft that a killed process left behind may have other permissions.
    let _ = fs::remove_file(&draft);
    let mut opened = File::options().write(true).create_new(true).mode(0o600).open(&draft)?;
    opened.write_all(text.as_bytes())?;
    opened.sync_all()?;
    fs::rename(draft, file)
}
