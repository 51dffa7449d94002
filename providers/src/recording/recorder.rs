//! Writing a recording.

use super::RecordingError;
use super::call::{file_name, notes_to_data, request_of};
use super::document;
use super::manifest::Manifest;
use super::outcome::CallOutcome;
use super::piece::{TimedPiece, hidden};
use super::request::LastRequest;
use super::route::{self, RecordedRoute, RequestedRoute};
use super::secrets::Secrets;
use runtime::model::{Destination, ModelError, Request};
use runtime::note::Note;
use runtime::seam::Turn;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A recording that is being written.
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
    secrets: Secrets,
    lines: RefCell<BTreeMap<String, LastRequest>>,
    routes: RefCell<Vec<(RequestedRoute, Value)>>,
}

/// A call that was begun.
#[derive(Debug)]
pub struct BegunCall {
    fiber: String,
    number: u64,
    session: String,
    turn: u32,
    request: Map<String, Value>,
}

/// The result of a call.
#[derive(Debug)]
pub struct CallResult {
    /// The pieces, as they came.
    pub pieces: Vec<TimedPiece>,
    /// The notes of the route.
    pub notes: Vec<Note>,
    /// The outcome.
    pub answered: CallOutcome,
    /// The duration on the run's clock, in milliseconds.
    pub took_ms: u64,
    /// The answer was not there at once.
    pub waited: bool,
}

impl Recorder {
    /// Begins a recording in a folder that is new or empty.
    ///
    /// # Errors
    /// The folder holds something, or cannot be written.
    pub fn create(folder: &Path, manifest: &Manifest, secrets: Secrets) -> Result<Recorder, RecordingError> {
        let unwritten = |error: std::io::Error| RecordingError::unwritten(folder, &error);
        fs::create_dir_all(folder).map_err(unwritten)?;
        if Manifest::is_in(folder) {
            return Err(RecordingError::Recorded(folder.to_owned()));
        }
        if fs::read_dir(folder).map_err(unwritten)?.next().is_some() {
            return Err(RecordingError::NotEmpty(folder.to_owned()));
        }
        fs::create_dir(folder.join("calls")).map_err(unwritten)?;
        manifest.write(folder, &secrets)?;
        Ok(Recorder { folder: folder.to_owned(), secrets, lines: RefCell::default(), routes: RefCell::default() })
    }

    /// Notes which route a choice came to.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn chosen(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
        chosen: &Result<RecordedRoute, ModelError>,
    ) -> Result<(), RecordingError> {
        let wish: RequestedRoute = (provider.map(Into::into), model.map(Into::into));
        let routes = &mut *self.routes.borrow_mut();
        if routes.iter().any(|(known, _)| *known == wish) {
            return Ok(());
        }
        let row = Value::from(&route::to_data(&wish, chosen, &self.secrets));
        routes.push((wish, row));
        let rows: Vec<Value> = routes.iter().map(|(_, row)| row.clone()).collect();
        let document = Map::from_iter([("routes".to_owned(), Value::from(rows))]);
        document::write(&self.folder.join("routes.json"), document)
    }

    /// A call begins.
    pub fn begin(&self, turn: Turn<'_>, request: &Request, to: &Destination) -> BegunCall {
        let fiber = turn.scope.caller.path.name().to_string();
        let lines = &mut *self.lines.borrow_mut();
        let line = lines.entry(fiber.clone()).or_default();
        let before = (line.number > 0).then(|| line.asked.clone());
        line.next(request, to, &self.secrets);
        BegunCall {
            fiber,
            number: line.number,
            session: turn.session.id().to_string(),
            turn: turn.number,
            request: request_of(line, before.as_ref()),
        }
    }

    /// A call is over.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn end(&self, begun: BegunCall, came: CallResult) -> Result<(), RecordingError> {
        let path = self.folder.join("calls").join(file_name(&begun.fiber, begun.number));
        let mut document = Map::new();
        let mut put = |key: &str, value: Value| document.insert(key.to_owned(), value);
        put("fiber", begun.fiber.into());
        put("call", begun.number.into());
        put("session", self.secrets.hide_text(&begun.session).into());
        put("turn", begun.turn.into());
        put("request", begun.request.into());
        if !came.pieces.is_empty() {
            let pieces = hidden(came.pieces, &self.secrets);
            put("pieces", pieces.iter().map(|piece| Value::from(&piece.to_data())).collect());
        }
        if !came.notes.is_empty() {
            put("notes", Value::from(&self.secrets.hide(&notes_to_data(&came.notes))));
        }
        put("outcome", Value::from(&self.secrets.hide(&came.answered.to_data())));
        put("took_ms", came.took_ms.into());
        put("waited", came.waited.into());
        document::write(&path, document)
    }

    /// The run never began: what was written goes, and the folder where nothing else is in it.
    pub fn discard(&self) {
        // Files that cannot be removed remain; the next recording into this folder is refused.
        let _ = fs::remove_file(self.folder.join(Manifest::FILE));
        let _ = fs::remove_dir(self.folder.join("calls"));
        let _ = fs::remove_dir(&self.folder);
    }

    /// The run is over; `sources` are the files that it has imported, with digests of their texts.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn close(&self, exit_code: i32, sources: &BTreeMap<String, String>) -> Result<(), RecordingError> {
        let lines = self.lines.borrow();
        let calls: Map<String, Value> = lines.iter().map(|(name, line)| (name.clone(), line.number.into())).collect();
        let mut document =
            Map::from_iter([("exit_code".to_owned(), exit_code.into()), ("calls".to_owned(), calls.into())]);
        if !sources.is_empty() {
            let sources: Map<String, Value> =
                sources.iter().map(|(name, digest)| (name.clone(), digest.as_str().into())).collect();
            document.insert("sources".to_owned(), sources.into());
        }
        document::write(&self.folder.join("end.json"), document)
    }
}
