//! Halves of characters in edits, and edits that cannot be read.
//!
//! An editor whose strings are UTF-16 can send the halves of a character in two edits. The JSON value of a half is U+FFFD, so the code
//! units go along in a member of the change.

use serde_json::Value;
use std::collections::HashMap;

/// The member of a change that has its code units. A member of the client with this name is dropped.
const UNITS: &str = "harn/units";

/// The code units of the texts with halves, by the places of their changes.
pub(super) type CutTexts = HashMap<usize, Vec<u16>>;

fn changes(params: &mut Value) -> impl Iterator<Item = (usize, &mut serde_json::Map<String, Value>)> {
    let changes = params.get_mut("contentChanges").and_then(Value::as_array_mut).into_iter().flatten();
    changes.enumerate().filter_map(|(i, change)| Some((i, change.as_object_mut()?)))
}

/// Adds the code units to the changes whose texts have half of a character. `body` is the message.
pub(super) fn keep(params: &mut Value, body: &[u8]) {
    for (i, change) in changes(params) {
        change.remove(UNITS);
        let may_have_half = change.get("text").and_then(Value::as_str).is_some_and(|text| text.contains('\u{fffd}'));
        let body = std::str::from_utf8(body).ok().filter(|body| may_have_half && json::has_unpaired(body));
        let units = body.and_then(|body| json::units_at(body, &format!("/params/contentChanges/{i}/text")));
        if let Some(units) = units.filter(|units| char::decode_utf16(units.iter().copied()).any(|unit| unit.is_err())) {
            change.insert(UNITS.to_owned(), units.into());
        }
    }
}

/// Takes the code units out again.
pub(super) fn take(params: &mut Value) -> CutTexts {
    let units = |(i, change): (usize, &mut serde_json::Map<String, Value>)| {
        let units = change.remove(UNITS)?;
        let unit = |unit: &Value| unit.as_u64().and_then(|unit| u16::try_from(unit).ok());
        Some((i, units.as_array()?.iter().filter_map(unit).collect()))
    };
    changes(params).filter_map(units).collect()
}

/// A document of which an edit could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LostEdit {
    /// `None` if it could not be found out.
    pub(super) uri: Option<String>,
}

impl LostEdit {
    /// Returns the document if a message that cannot be read is an edit.
    pub(super) fn of(body: &[u8]) -> Option<LostEdit> {
        let text = String::from_utf8_lossy(body);
        text.contains("\"textDocument/didChange\"").then(|| LostEdit { uri: uri_in(&text) })
    }
}

/// Returns the value of the first member `uri`.
fn uri_in(text: &str) -> Option<String> {
    let (_, after) = text.split_once("\"uri\"")?;
    let written = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let (written, _) = written.split_once('"')?;
    json::from_str(&format!("\"{written}\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_that_cannot_be_read_names_its_document() {
        let of = |text: &str| LostEdit::of(text.as_bytes()).map(|lost| lost.uri);
        let uri = || Some("file:///a.harn".to_owned());
        for (text, found) in [
            (
                r#"{"method":"textDocument/didChange","params":{"textDocument":{"uri" : "file:///a.harn"},NaN"#,
                Some(uri()),
            ),
            (r#"{"method":"textDocument/didChange","params":{"textDocument":{"uri":"file:\/\/\/a.harn"#, Some(None)),
            (r#"{"method":"textDocument/didChange","params":{"textDocument":{"uri":"file:\/\/\/a.harn"}"#, Some(uri())),
            (r#"{"method":"textDocument/didChange"#, None),
            (r#"{"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a.harn"},NaN"#, None),
        ] {
            assert_eq!(of(text), found, "{text}");
        }
    }

    #[test]
    fn code_units_go_along_with_their_change() {
        let body =
            r#"{"params":{"contentChanges":[{"text":"a"},{"text":"\ud83d"},{"text":"\ufffd","harn/units":[1]}]}}"#;
        let mut message: Value = json::from_str(body).unwrap();
        keep(&mut message["params"], body.as_bytes());
        assert_eq!(take(&mut message["params"]), CutTexts::from([(1, vec![0xd83d])]));
        assert_eq!(message["params"]["contentChanges"][2], serde_json::json!({"text": "\u{fffd}"}));
        assert_eq!(take(&mut serde_json::json!([1])), CutTexts::new());
    }
}
