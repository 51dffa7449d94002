//! `tape.json`: the description of the run.

use super::document::{self, Entries};
use super::{RecordingError, Secrets, VERSION};
use base::data::Data;
use serde_json::{Map, Value};
use std::path::Path;

/// The entry that says what the folder is.
const FORMAT: &str = "harn tape";

/// The description of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The version of harn that wrote it.
    pub harn: String,
    /// The script, as it was named.
    pub script: String,
    /// A digest of the script's text.
    pub digest: String,
    /// The seed of ids and randomness.
    pub seed: u64,
    /// Whether the seed was given, so that only sleeping advanced the clock.
    pub seeded: bool,
    /// The start, in milliseconds since 1970.
    pub started_at_ms: u64,
    /// The script's arguments.
    pub args: Vec<String>,
    /// The value of the parameter `task`.
    pub task: Option<String>,
}

impl Manifest {
    /// The file.
    pub(super) const FILE: &str = "tape.json";

    /// Whether a folder holds a recording.
    pub(super) fn is_in(folder: &Path) -> bool {
        folder.join(Self::FILE).exists()
    }

    pub(super) fn write(&self, folder: &Path, secrets: &Secrets) -> Result<(), RecordingError> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("format", FORMAT.into());
        put("version", VERSION.into());
        put("harn", self.harn.as_str().into());
        put("script", secrets.hide_text(&self.script).into());
        put("script_digest", self.digest.as_str().into());
        // JSON's numbers end before a seed does.
        put("seed", self.seed.to_string().into());
        put("seeded", self.seeded.into());
        put("started_at_ms", self.started_at_ms.into());
        put("args", self.args.iter().map(|arg| secrets.hide_text(arg)).collect());
        if let Some(task) = &self.task {
            put("task", secrets.hide_text(task).into());
        }
        document::write(&folder.join(Self::FILE), map)
    }

    pub(super) fn read(folder: &Path) -> Result<Manifest, RecordingError> {
        let not_recording = |why: &str| RecordingError::NotRecording { path: folder.to_owned(), why: why.to_owned() };
        if !folder.is_dir() {
            return Err(not_recording("the folder does not exist"));
        }
        let path = folder.join(Self::FILE);
        if !path.is_file() {
            return Err(not_recording("it does not contain a tape.json"));
        }
        // The version first: what a later one holds, and how it is digested, is not ours to judge.
        let text = document::text(&path)?;
        let said = Data::from_nested_json(&text, Data::MAX_DEPTH)
            .map_err(|error| RecordingError::broken(&path, format!("it is {error}")))?;
        if said.get("format").as_str() != Some(FORMAT) {
            return Err(not_recording(&format!("its tape.json does not contain `\"format\": \"{FORMAT}\"`")));
        }
        match said.get("version").as_int() {
            Some(VERSION) => {}
            Some(found) if found > VERSION => return Err(RecordingError::Newer { path: folder.to_owned(), found }),
            _ => return Err(RecordingError::broken(&path, "`version` has an invalid value")),
        }
        let data = document::read(&path)?;
        let entries = Entries { path: &path, data: &data };
        let texts = |data: &Data| data.as_str().map(str::to_owned);
        Ok(Manifest {
            harn: entries.text("harn")?.to_owned(),
            script: entries.text("script")?.to_owned(),
            digest: entries.text("script_digest")?.to_owned(),
            seed: entries.take("seed", "a number in a string", |seed| seed.as_str()?.parse().ok())?,
            seeded: entries.take("seeded", "a bool", Data::as_bool)?,
            started_at_ms: entries.time("started_at_ms")?,
            args: entries.take("args", "a list of strings", |args| args.as_list()?.iter().map(texts).collect())?,
            task: entries.take(
                "task",
                "a string",
                |task| if task.is_nil() { Some(None) } else { texts(task).map(Some) },
            )?,
        })
    }
}
