//! [`JsonPieces`]: JSON that is written piece by piece, on demand. A client that does not read costs the memory of the
//! pieces sent, not of a copy of everything.

use std::sync::Arc;

use base::data::{Data, Entries};

/// The length above which a text is written in parts, in bytes.
const LONG: usize = 4096;

/// JSON that is written piece by piece.
#[derive(Debug)]
pub(super) struct JsonPieces {
    /// The open values, the innermost last. Its depth is that of the data.
    open: Vec<OpenJson>,
}

#[derive(Debug)]
enum OpenJson {
    /// A value that is not begun.
    Value(Data),
    /// A list, and the number of items written.
    List(Arc<Vec<Data>>, usize),
    /// A dict, and the last key written.
    Dict(Arc<Entries>, Option<Arc<str>>),
    /// A text, and the number of bytes written.
    Text(Arc<str>, usize),
}

impl JsonPieces {
    /// Creates the pieces of a value.
    pub(super) fn new(data: Data) -> JsonPieces {
        JsonPieces { open: vec![OpenJson::Value(data)] }
    }

    /// Returns whether everything is written.
    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Appends to `to` until it has at least `enough` bytes, or everything is written.
    pub(super) fn write(&mut self, to: &mut String, enough: usize) {
        while to.len() < enough {
            let Some(open) = self.open.pop() else { return };
            self.step(open, to);
        }
    }

    fn step(&mut self, open: OpenJson, to: &mut String) {
        match open {
            OpenJson::Value(Data::List(items)) => {
                to.push('[');
                self.open.push(OpenJson::List(items, 0));
            }
            OpenJson::Value(Data::Dict(entries)) => {
                to.push('{');
                self.open.push(OpenJson::Dict(entries, None));
            }
            OpenJson::Value(Data::Str(text)) if text.len() > LONG => {
                to.push('"');
                self.open.push(OpenJson::Text(text, 0));
            }
            OpenJson::Value(plain) => to.push_str(&plain.to_json()),
            OpenJson::List(items, written) => match items.get(written).cloned() {
                Some(item) => {
                    if written > 0 {
                        to.push(',');
                    }
                    self.open.push(OpenJson::List(items, written + 1));
                    self.open.push(OpenJson::Value(item));
                }
                None => to.push(']'),
            },
            OpenJson::Dict(entries, last) => self.entry(entries, last.as_deref(), to),
            OpenJson::Text(text, from) => {
                let end = text.floor_char_boundary(from + LONG);
                to.push_str(inner(&Data::from(&text[from..end]).to_json()));
                if end == text.len() { to.push('"') } else { self.open.push(OpenJson::Text(text, end)) }
            }
        }
    }

    fn entry(&mut self, entries: Arc<Entries>, last: Option<&str>, to: &mut String) {
        let next = entries.behind(last);
        let Some((key, value)) = next.map(|(key, value)| (key.clone(), value.clone())) else { return to.push('}') };
        if last.is_some() {
            to.push(',');
        }
        to.push_str(&Data::Str(key.clone()).to_json());
        to.push(':');
        self.open.push(OpenJson::Dict(entries, Some(key)));
        self.open.push(OpenJson::Value(value));
    }
}

/// Returns JSON text without its quotes.
fn inner(json: &str) -> &str {
    json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> Data {
        (0..depth).fold(Data::Nil, |inner, i| if i % 2 == 0 { Data::list([inner]) } else { Data::dict([("a", inner)]) })
    }

    #[test]
    fn the_pieces_are_what_is_written_at_once() {
        let long = "a\u{e9}\"\\\n\u{1f600}\u{2028}".repeat(3000);
        let values = [
            Data::Nil,
            Data::list([]),
            Data::empty_dict(),
            Data::from(long.as_str()),
            Data::list([
                1_i64.into(),
                2.5.into(),
                true.into(),
                Data::Nil,
                "x\"".into(),
                Data::list([]),
                Data::empty_dict(),
            ]),
            Data::dict([
                ("", Data::from(1_i64)),
                ("b\"", long.as_str().into()),
                ("c", Data::list([Data::empty_dict()])),
            ]),
            nested(100),
        ];
        for value in values {
            for enough in [1, 7, 1000, usize::MAX] {
                let mut pieces = JsonPieces::new(value.clone());
                let mut whole = String::new();
                while !pieces.is_done() {
                    let mut piece = String::new();
                    pieces.write(&mut piece, enough);
                    // The JSON of a character may take six times its bytes.
                    assert!(piece.len() < enough.saturating_add(6 * LONG + 2) && !piece.is_empty());
                    whole.push_str(&piece);
                }
                assert_eq!(whole, value.to_json());
            }
        }
    }
}
