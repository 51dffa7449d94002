//! A file of a recording: JSON for people, with a digest of what it says.

use super::RecordingError;
use base::data::Data;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Bytes of the largest file that is read.
const LARGEST: u64 = 1 << 30;

/// Times beyond this one (the year 6429) are none.
pub(super) const LATEST_MS: u64 = 1 << 47;

/// The maximum nesting depth of a document: that of scripts' and models' data, plus our own entries
/// around it.
const DEEPEST: usize = Data::MAX_DEPTH + 16;

/// The entry that holds the digest.
const DIGEST: &str = "digest";

/// The first 16 bytes of SHA-256, in hexadecimal digits.
#[must_use]
pub fn digest_of(bytes: &[u8]) -> String {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a document, whole or not at all.
pub(super) fn write(path: &Path, mut document: Map<String, Value>) -> Result<(), RecordingError> {
    let unwritten = |error: std::io::Error| RecordingError::unwritten(path, &error);
    let digest = digest_of(Data::from(Value::Object(document.clone())).to_json().as_bytes());
    document.insert(DIGEST.to_owned(), digest.into());
    let mut text = serde_json::to_string_pretty(&document).map_err(|error| unwritten(error.into()))?;
    text.push('\n');
    let part = path.with_extension("part");
    let mut file = fs::File::create(&part).map_err(unwritten)?;
    file.write_all(text.as_bytes()).map_err(unwritten)?;
    fs::rename(&part, path).map_err(unwritten)
}

/// Reads a document.
pub(super) fn read(path: &Path) -> Result<Data, RecordingError> {
    let text = text(path)?;
    let mut data = Data::from_nested_json(&text, DEEPEST)
        .map_err(|error| RecordingError::broken(path, format!("it is {error}")))?;
    let Data::Dict(entries) = &mut data else {
        return Err(RecordingError::broken(path, "it does not contain a JSON object"));
    };
    match std::sync::Arc::make_mut(entries).remove(DIGEST) {
        // Taken out on purpose.
        None => Ok(data),
        Some(digest) if digest.as_str() == Some(&digest_of(data.to_json().as_bytes())) => Ok(data),
        Some(_) => Err(RecordingError::Edited(path.to_owned())),
    }
}

/// The text of a file. Pipes and devices are none, and neither is what no run has written.
pub(super) fn text(path: &Path) -> Result<String, RecordingError> {
    let unread = |error: std::io::Error| RecordingError::broken(path, error.to_string());
    let what = fs::metadata(path).map_err(unread)?;
    if !what.is_file() {
        return Err(RecordingError::broken(path, "it is not a regular file"));
    }
    if what.len() > LARGEST {
        return Err(RecordingError::broken(path, format!("it is larger than {} MiB", LARGEST >> 20)));
    }
    let bytes = fs::read(path).map_err(unread)?;
    String::from_utf8(bytes).map_err(|_| RecordingError::broken(path, "it is not UTF-8 text"))
}

/// Reads entries of a document that must be there.
pub(super) struct Entries<'a> {
    pub(super) path: &'a Path,
    pub(super) data: &'a Data,
}

impl<'a> Entries<'a> {
    /// Returns the entry `key`, converted by `of`.
    pub(super) fn take<T>(
        &self,
        key: &str,
        expected: &str,
        of: impl FnOnce(&'a Data) -> Option<T>,
    ) -> Result<T, RecordingError> {
        let value = self.data.get(key);
        of(value).ok_or_else(|| {
            RecordingError::broken(self.path, format!("`{key}` must be {expected}, found {}", value.type_name()))
        })
    }

    /// A count.
    pub(super) fn count(&self, key: &str) -> Result<u64, RecordingError> {
        self.take(key, "a count", |value| u64::try_from(value.as_int()?).ok())
    }

    /// A time, in milliseconds.
    pub(super) fn time(&self, key: &str) -> Result<u64, RecordingError> {
        let time = self.count(key)?;
        if time > LATEST_MS {
            return Err(RecordingError::broken(self.path, format!("`{key}` is not a valid time: {time}")));
        }
        Ok(time)
    }

    /// A text.
    pub(super) fn text(&self, key: &str) -> Result<&'a str, RecordingError> {
        self.take(key, "a string", Data::as_str)
    }

    /// A list; no entry is an empty one.
    pub(super) fn list(&self, key: &str) -> Result<&'a [Data], RecordingError> {
        self.take(key, "a list", |value| if value.is_nil() { Some(&[][..]) } else { value.as_list() })
    }
}
