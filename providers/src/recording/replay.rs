//! Reading a recording.

use super::RecordingError;
use super::call::{RecordedCall, file_name};
use super::document::{self, Entries};
use super::manifest::Manifest;
use super::request::RecordedRequest;
use super::route::{self, RecordedRoute, RequestedRoute};
use base::data::Data;
use runtime::model::ModelError;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A recording that was read.
#[derive(Debug)]
pub struct Recording {
    folder: PathBuf,
    /// The description of the run.
    pub manifest: Manifest,
    routes: Vec<(RequestedRoute, Result<RecordedRoute, ModelError>)>,
    lines: RefCell<BTreeMap<String, CallQueue>>,
    end: Option<RecordingEnd>,
}

/// The content of the last file.
#[derive(Debug)]
struct RecordingEnd {
    exit_code: i64,
    sources: BTreeMap<String, String>,
}

/// The calls of one line of work.
#[derive(Debug, Default)]
struct CallQueue {
    recorded: u64,
    left: VecDeque<Rc<RecordedCall>>,
    asked: RecordedRequest,
}

/// The reason why there is no answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingAnswer {
    /// The recorded run made no such call: how many the line made, and the lines there are.
    Unmade(u64, Vec<String>),
    /// The recorded run did not come to its end, and this call was not over by then.
    Unfinished(u64),
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// Fails if the folder is not a recording, has a later version, is damaged, or was edited.
    pub fn open(folder: &Path) -> Result<Recording, RecordingError> {
        let manifest = Manifest::read(folder)?;
        let routes = read_routes(&folder.join("routes.json"))?;
        let end = folder.join("end.json");
        let is_whole = end.exists();
        let lines = read_calls(&folder.join("calls"), is_whole)?;
        let end = if is_whole { Some(read_end(&end, &lines)?) } else { None };
        Ok(Recording { folder: folder.to_owned(), manifest, routes, lines: RefCell::new(lines), end })
    }

    /// The exit code of the recorded run, where it came to its end.
    #[must_use]
    pub fn exit_code(&self) -> Option<i64> {
        self.end.as_ref().map(|end| end.exit_code)
    }

    /// The files that the recorded run had imported, with digests of their texts, where it came to its end.
    #[must_use]
    pub fn sources(&self) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        self.end.as_ref().map_or(&NONE, |end| &end.sources)
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The route that a choice came to, where the recorded run chose so.
    #[must_use]
    pub fn chosen(&self, provider: Option<&str>, model: Option<&str>) -> Option<Result<RecordedRoute, ModelError>> {
        let is_it = |wish: &RequestedRoute| wish.0.as_deref() == provider && wish.1.as_deref() == model;
        self.routes.iter().find(|(wish, _)| is_it(wish)).map(|(_, chosen)| chosen.clone())
    }

    /// The next call of a line, and what was asked then.
    ///
    /// # Errors
    /// Returns the reason why there is no answer.
    pub fn next(&self, fiber: &str) -> Result<(Rc<RecordedCall>, RecordedRequest), MissingAnswer> {
        let lines = &mut *self.lines.borrow_mut();
        let found = lines.get_mut(fiber).and_then(|track| {
            let call = track.left.pop_front()?;
            call.apply(&mut track.asked);
            Some((call, track.asked.clone()))
        });
        found.ok_or_else(|| {
            let recorded = lines.get(fiber).map_or(0, |track| track.recorded);
            if self.end.is_some() {
                MissingAnswer::Unmade(recorded, lines.keys().cloned().collect())
            } else {
                MissingAnswer::Unfinished(recorded)
            }
        })
    }

    /// Returns the calls that were not replayed: of each line the first, and their number.
    #[must_use]
    pub fn unused(&self) -> Vec<(String, u64, usize)> {
        let lines = self.lines.borrow();
        let left = lines.iter().filter_map(|(name, track)| Some((name, track.left.front()?.number, track.left.len())));
        left.map(|(name, first, count)| (name.clone(), first, count)).collect()
    }
}

/// Requested routes, each with its choice or error.
type RecordedRoutes = Vec<(RequestedRoute, Result<RecordedRoute, ModelError>)>;

fn read_routes(path: &Path) -> Result<RecordedRoutes, RecordingError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let data = document::read(path)?;
    let rows = Entries { path, data: &data };
    let row = |row| route::from_data(row).ok_or_else(|| RecordingError::broken(path, "invalid route"));
    rows.list("routes")?.iter().map(row).collect()
}

fn read_calls(folder: &Path, is_whole: bool) -> Result<BTreeMap<String, CallQueue>, RecordingError> {
    let unread = |error: std::io::Error| RecordingError::broken(folder, error.to_string());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        // Files with another extension are unfinished, or do not belong to the recording.
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    let mut lines: BTreeMap<String, Vec<RecordedCall>> = BTreeMap::new();
    for path in files {
        let call = RecordedCall::read(&path)?;
        lines.entry(call.fiber.clone()).or_default().push(call);
    }
    let mut tracks = BTreeMap::new();
    for (fiber, mut calls) in lines {
        calls.sort_by_key(|call| call.number);
        if let Some((missing, _)) = (1_u64..).zip(&calls).find(|(number, call)| call.number != *number) {
            if is_whole {
                let path = folder.join(file_name(&fiber, missing));
                return Err(RecordingError::broken(
                    &path,
                    "this file is missing, although later calls of the same task are recorded",
                ));
            }
            // Two were in flight when the run broke off, and the later one was over first.
            calls.retain(|call| call.number < missing);
        }
        let left: VecDeque<Rc<RecordedCall>> = calls.into_iter().map(Rc::new).collect();
        tracks.insert(fiber, CallQueue { recorded: left.len() as u64, left, asked: RecordedRequest::default() });
    }
    Ok(tracks)
}

/// Reads the end of the run. A complete recording has as many calls as it states.
fn read_end(path: &Path, lines: &BTreeMap<String, CallQueue>) -> Result<RecordingEnd, RecordingError> {
    let data = document::read(path)?;
    let entries = Entries { path, data: &data };
    let said = entries.take("calls", "a dict of counts", Data::as_dict)?;
    let names = said.keys().map(AsRef::as_ref).chain(lines.keys().map(String::as_str));
    for name in names {
        let said = said.get(name).and_then(Data::as_int).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let found = lines.get(name).map_or(0, |track| track.recorded);
        if said != found {
            let why = format!("the manifest lists {said} calls in {name}, but there are files for {found}");
            return Err(RecordingError::broken(path, why));
        }
    }
    let sources = data.get("sources").as_dict().into_iter().flatten();
    let sources = sources.filter_map(|(name, digest)| Some((name.to_string(), digest.as_str()?.to_owned()))).collect();
    Ok(RecordingEnd { exit_code: entries.take("exit_code", "a number", Data::as_int)?, sources })
}
