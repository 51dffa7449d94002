//! One call: `calls/FIBER-NUMBER.json`.

use super::document::{self, Entries};
use super::piece::TimedPiece;
use super::request::{LastRequest, RecordedRequest};
use super::{CallOutcome, RecordingError};
use base::codes::Severity;
use base::data::Data;
use runtime::note::Note;
use serde_json::{Map, Value};
use std::path::Path;

/// A call as its file holds it: of the request what is not as in the call before it.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// The line of work that made it.
    pub fiber: String,
    /// Its place among the calls of that line, from 1.
    pub number: u64,
    /// The session, for those who read it.
    pub session: String,
    /// The turn of the session.
    pub turn: u64,
    /// The duration on the run's clock, in milliseconds.
    pub took_ms: u64,
    /// The answer was not there at once.
    pub waited: bool,
    /// The pieces that arrived during the call.
    pub pieces: Vec<TimedPiece>,
    /// The notes of the route: severity, message, subject.
    pub notes: Vec<Note>,
    /// The outcome.
    pub answered: CallOutcome,
    kept: usize,
    messages: Vec<Data>,
    changed: Vec<(&'static str, Data)>,
}

/// The file of a call.
pub(super) fn file_name(fiber: &str, number: u64) -> String {
    format!("{fiber}-{number:04}.json")
}

/// Returns the request as a call's file stores it, before there is an answer.
pub(super) fn request_of(line: &LastRequest, before: Option<&RecordedRequest>) -> Map<String, Value> {
    let mut request = Map::new();
    let mut unchanged = Vec::new();
    for (index, (name, part)) in line.asked.parts().into_iter().enumerate() {
        if before.is_some_and(|before| before.parts()[index].1 == part) {
            unchanged.push(Value::from(name));
        } else {
            request.insert(name.to_owned(), part.into());
        }
    }
    let new = line.asked.messages.skip(line.kept.min(line.asked.messages.len()));
    if before.is_some() {
        request.insert("as_before".to_owned(), unchanged.into());
        request.insert("messages_as_before".to_owned(), line.kept.into());
    }
    request.insert("messages".to_owned(), new.iter().map(Value::from).collect());
    request
}

/// Notes as they are written. A route's have no code and no fault behind them.
pub(super) fn notes_to_data(notes: &[Note]) -> Data {
    let note = |note: &Note| {
        Data::dict_of_present([
            (
                "severity",
                Data::from(SEVERITIES.iter().find(|(known, _)| *known == note.severity).map(|(_, word)| *word)),
            ),
            ("message", note.message.as_str().into()),
            ("about", note.about.clone().into()),
        ])
    };
    notes.iter().map(note).collect()
}

fn notes_from_data(data: &Data) -> Option<Vec<Note>> {
    if data.is_nil() {
        return Some(Vec::new());
    }
    let note = |note: &Data| {
        let word = note.get("severity").as_str()?;
        Some(Note {
            code: None,
            severity: SEVERITIES.iter().find(|(_, known)| *known == word)?.0,
            message: note.get("message").as_str()?.to_owned(),
            about: note.get("about").as_shared_str(),
            fault: None,
        })
    };
    data.as_list()?.iter().map(note).collect()
}

const SEVERITIES: [(Severity, &str); 3] =
    [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];

impl RecordedCall {
    /// Returns the number of leading messages that it shares with the request before it.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Puts what the call says of its request in place of what the one before it said.
    pub fn apply(&self, asked: &mut RecordedRequest) {
        asked.messages.truncate(self.kept.min(asked.messages.len()));
        asked.messages.extend(self.messages.iter().cloned());
        for ((_, part), (_, new)) in asked.parts_mut().into_iter().filter_map(|part| {
            let change = self.changed.iter().find(|(name, _)| *name == part.0);
            change.map(|change| (part, change))
        }) {
            *part = new.clone();
        }
    }

    pub(super) fn read(path: &Path) -> Result<RecordedCall, RecordingError> {
        let data = document::read(path)?;
        let entries = Entries { path, data: &data };
        let (fiber, number) = (entries.text("fiber")?.to_owned(), entries.count("call")?);
        let name = path.file_name().and_then(|name| name.to_str());
        if name != Some(&file_name(&fiber, number)) {
            let why = format!("its file name does not match its content (call {number} of {fiber})");
            return Err(RecordingError::broken(path, why));
        }
        let request = Entries { path, data: entries.take("request", "a dict", |r| r.as_dict().map(|_| r))? };
        let mut pieces = Vec::new();
        for piece in entries.list("pieces")? {
            let is_in_time = |piece: &TimedPiece| piece.after_ms.is_none_or(|ms| ms <= document::LATEST_MS);
            let piece = TimedPiece::from_data(piece).filter(is_in_time);
            pieces.push(piece.ok_or_else(|| RecordingError::broken(path, "invalid response piece"))?);
        }
        let as_before = request.list("as_before")?;
        let mut changed = Vec::new();
        for name in ["system", "tools", "options", "route"] {
            if !as_before.iter().any(|same| same.as_str() == Some(name)) {
                changed.push((name, request.data.get(name).clone()));
            }
        }
        let kept = if number == 1 { 0 } else { request.count("messages_as_before")? };
        Ok(RecordedCall {
            fiber,
            number,
            session: entries.text("session")?.to_owned(),
            turn: entries.count("turn")?,
            took_ms: entries.time("took_ms")?,
            waited: entries.take("waited", "a bool", Data::as_bool)?,
            pieces,
            notes: entries.take("notes", "a list of notes", notes_from_data)?,
            answered: entries.take("outcome", "an outcome of the call", CallOutcome::from_data)?,
            kept: usize::try_from(kept).unwrap_or(usize::MAX),
            messages: request.list("messages")?.to_vec(),
            changed,
        })
    }
}
