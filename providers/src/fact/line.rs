//! The content of a line of the file: `{"at", "event": "stored", "record"}` or `{"at", "event":
//! "forgotten", "ids"}`.

use std::sync::Arc;

use base::data::Data;

use super::{Fact, FactCode, FactError};

/// Bytes of a line that is written.
pub(super) const MAX_LINE: usize = 128 << 10;

/// The beginning of every line: keys are written in this order.
pub(super) const BEGIN: &[u8] = b"{\"at\":";

/// The content of a line.
#[derive(Debug, PartialEq)]
pub(super) enum StoreLine {
    /// A fact was stored.
    Stored(Box<Fact>),
    /// The facts with these ids no longer hold.
    Forgotten(Vec<Arc<str>>),
    /// A record that is not a fact.
    Foreign,
}

/// The line that stores a fact.
pub(super) fn stored(fact: &Fact) -> Result<String, FactError> {
    line(&Data::dict([
        ("at", Data::from(fact.recorded_at_ms)),
        ("event", "stored".into()),
        ("record", fact.to_record()),
    ]))
}

/// The line that invalidates facts.
pub(super) fn forgotten<'a>(ids: impl Iterator<Item = &'a Arc<str>>, now_ms: u64) -> Result<String, FactError> {
    line(&Data::dict([
        ("at", Data::from(now_ms)),
        ("event", "forgotten".into()),
        ("ids", ids.map(Data::from).collect()),
    ]))
}

fn line(data: &Data) -> Result<String, FactError> {
    let line = data.to_json();
    if line.len() < MAX_LINE {
        return Ok(line);
    }
    let message = format!("the record has {} bytes; at most {MAX_LINE} are allowed", line.len());
    Err(FactError::new(FactCode::TooLarge, "", message)
        .help("keep `provenance` small, and put long texts into files that you refer to as evidence"))
}

/// Reads a line; why it says nothing, where it does not.
pub(super) fn read(bytes: &[u8]) -> Result<StoreLine, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let data = Data::from_json(text).map_err(|error| format!("it is not JSON: {}", error.message))?;
    match data.get("event").as_str() {
        Some("stored") => match Fact::from_record(data.get("record")) {
            Ok(Some(fact)) => Ok(StoreLine::Stored(Box::new(fact))),
            Ok(None) => Ok(StoreLine::Foreign),
            Err(error) => Err(error.message),
        },
        Some("forgotten") => match data.get("ids").as_list() {
            Some(ids) => Ok(StoreLine::Forgotten(ids.iter().filter_map(Data::as_shared_str).collect())),
            None => Err("a `forgotten` event has no list of `ids`".to_owned()),
        },
        _ => Err("its `event` is not `stored` or `forgotten`".to_owned()),
    }
}
