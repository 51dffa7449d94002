//! [`IdScanner`]: finds the id of a request in a text that cannot be read, so that its sender does not wait for ever.

use serde_json::value::RawValue;

use crate::{Id, Rules};

/// The longest name that matters: `method`.
const MAX_NAME: usize = 8;
/// The longest id, in bytes of its JSON.
const MAX_ID: usize = 1_024;

/// Looks for the id of a request in bytes that are not a message: invalid JSON, invalid UTF-8, or more than is held.
///
/// It follows strings and brackets only, so it finds an id also after a value that is invalid. The id of a request needs a
/// complete `method`; one next to a result or an error is that of a request of ours.
#[derive(Debug, Default)]
pub struct IdScanner {
    state: ScanState,
    /// The name of the current member, or its value if it is the id.
    held: Vec<u8>,
    member: ScannedMember,
    /// Whether the next byte of a string is escaped.
    is_escaped: bool,
    id: Option<Box<str>>,
    has_method: bool,
    is_answer: bool,
}

/// The id in a text that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedId {
    /// Null if none was found.
    pub id: Id,
    /// Whether the text is a response, and the id that of the request which waits for it.
    pub is_answer: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    /// Before the object.
    #[default]
    Start,
    /// Before the name of a member.
    Name,
    /// In the name of a member.
    InName,
    /// Before the colon.
    Colon,
    /// Before a value.
    Value,
    /// In a value that is a string.
    InString,
    /// In a number or a word.
    InScalar,
    /// In a list or an object, this deep, and whether in a string of it.
    Nested(u32, bool),
    /// After a value.
    After,
    /// At the end of the object, or at something that no object has.
    Over,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScannedMember {
    Id,
    Method,
    /// `result` or `error`.
    OfAnswer,
    #[default]
    Other,
}

impl ScannedMember {
    fn named(name: &[u8]) -> ScannedMember {
        match name {
            b"id" => ScannedMember::Id,
            b"method" => ScannedMember::Method,
            b"result" | b"error" => ScannedMember::OfAnswer,
            _ => ScannedMember::Other,
        }
    }
}

impl IdScanner {
    /// Takes the next bytes of the text.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.state == ScanState::Over {
                return;
            }
            self.take(*byte);
        }
    }

    /// Returns the id that answers the text, if it is a request with one.
    #[must_use]
    pub fn request_id(&self, rules: &Rules) -> Option<Id> {
        self.id_if(self.has_method && !self.is_answer, rules)
    }

    /// Returns the id of the text: of a request, or of a response if the rules accept responses.
    #[must_use]
    pub fn found(&self, rules: &Rules) -> ScannedId {
        let is_answer = rules.answers && self.is_answer && !self.has_method;
        let id = if is_answer { self.id_if(true, rules) } else { self.request_id(rules) };
        ScannedId { id: id.unwrap_or_else(Id::null), is_answer }
    }

    fn id_if(&self, is_wanted: bool, rules: &Rules) -> Option<Id> {
        let written = self.id.as_deref().filter(|_| is_wanted)?;
        let value: &RawValue = serde_json::from_str(written).ok()?;
        Id::read(value, rules.ids, rules.max_id_len).ok().filter(|id| *id != Id::null())
    }

    fn take(&mut self, byte: u8) {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.state = match self.state {
            ScanState::InName | ScanState::InString | ScanState::InScalar | ScanState::Nested(..) => {
                return self.take_within(byte);
            }
            state if is_space => state,
            ScanState::Start if byte == b'{' => ScanState::Name,
            ScanState::Name if byte == b'"' => {
                self.held.clear();
                ScanState::InName
            }
            ScanState::Colon if byte == b':' => ScanState::Value,
            ScanState::Value => {
                self.held.clear();
                self.is_answer |= self.member == ScannedMember::OfAnswer;
                match byte {
                    b'"' => {
                        self.hold(byte);
                        ScanState::InString
                    }
                    b'{' | b'[' => ScanState::Nested(1, false),
                    b',' | b'}' | b']' | b':' => ScanState::Over,
                    _ => {
                        self.hold(byte);
                        ScanState::InScalar
                    }
                }
            }
            ScanState::After if byte == b',' => ScanState::Name,
            _ => ScanState::Over,
        };
    }

    /// Takes a byte of a name or a value.
    fn take_within(&mut self, byte: u8) {
        let ends_string = self.ends_string(byte);
        self.state = match self.state {
            ScanState::InName if ends_string => {
                self.member = ScannedMember::named(&self.held);
                ScanState::Colon
            }
            ScanState::InName => {
                if self.held.len() < MAX_NAME {
                    self.held.push(byte);
                }
                ScanState::InName
            }
            ScanState::InString => {
                self.hold(byte);
                if ends_string {
                    self.has_method |= self.member == ScannedMember::Method;
                    self.end_id();
                    ScanState::After
                } else {
                    ScanState::InString
                }
            }
            ScanState::InScalar => match byte {
                b',' | b'}' | b' ' | b'\t' | b'\n' | b'\r' => {
                    self.end_id();
                    match byte {
                        b',' => ScanState::Name,
                        b'}' => ScanState::Over,
                        _ => ScanState::After,
                    }
                }
                _ => {
                    self.hold(byte);
                    ScanState::InScalar
                }
            },
            ScanState::Nested(depth, true) => ScanState::Nested(depth, !ends_string),
            ScanState::Nested(depth, false) => match byte {
                b'"' => ScanState::Nested(depth, true),
                b'{' | b'[' => ScanState::Nested(depth.saturating_add(1), false),
                b'}' | b']' if depth == 1 => ScanState::After,
                b'}' | b']' => ScanState::Nested(depth - 1, false),
                _ => ScanState::Nested(depth, false),
            },
            other => other,
        };
    }

    /// Returns whether a byte ends the string that it belongs to.
    fn ends_string(&mut self, byte: u8) -> bool {
        let is_in_string = matches!(self.state, ScanState::InName | ScanState::InString | ScanState::Nested(_, true));
        let was_escaped = std::mem::take(&mut self.is_escaped);
        self.is_escaped = is_in_string && byte == b'\\' && !was_escaped;
        is_in_string && byte == b'"' && !was_escaped
    }

    fn hold(&mut self, byte: u8) {
        if self.member == ScannedMember::Id && self.held.len() < MAX_ID {
            self.held.push(byte);
        }
    }

    fn end_id(&mut self) {
        if self.member == ScannedMember::Id {
            self.id = std::str::from_utf8(&self.held).ok().map(Into::into);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IdRule;

    const RULES: Rules = Rules { ids: IdRule::Integers, max_id_len: 64, positional_params: true, answers: true };

    fn found(text: &[u8]) -> Option<String> {
        let mut scanner = IdScanner::default();
        scanner.feed(text);
        let whole = scanner.request_id(&RULES).map(|id| id.as_json().to_owned());
        let mut pieces = IdScanner::default();
        text.chunks(1).for_each(|piece| pieces.feed(piece));
        assert_eq!(pieces.request_id(&RULES).map(|id| id.as_json().to_owned()), whole);
        whole
    }

    #[test]
    fn the_id_of_a_request_is_found_before_and_after_what_is_invalid() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"text":"\ud83d"}}"#, "7"),
            (r#"{"jsonrpc":"2.0","method":"a","params":{"text":"\ud83d, \"id\": 1"},"id":"x\"y"}"#, r#""x\"y""#),
            (r#"{ "id" : -3 , "method" : "a" , "params" : {"a": tru"#, "-3"),
            (r#"{"id":1,"method":"a","params":[1e999,{"id":2}]}"#, "1"),
            (r#"{"id":1,"method":"a","id":2}"#, "2"),
        ] {
            assert_eq!(found(text.as_bytes()).as_deref(), Some(id), "{text}");
        }
        assert_eq!(found(b"{\"id\":1,\"method\":\"a\",\"params\":{\"text\":\"\xff\"}}").as_deref(), Some("1"));
    }

    #[test]
    fn a_response_belongs_to_the_request_with_its_id() {
        for (text, id, is_answer) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"n":NaN}}"#, "7", true),
            (r#"{"jsonrpc":"2.0","error":{"message":oops},"id":"x"}"#, "\"x\"", true),
            (r#"{"id":7,"result":{"text":"half"#, "7", true),
            (r#"{"result":{"n":NaN}}"#, "null", true),
            (r#"{"id":7,"method":"a","params":{"n":NaN}}"#, "7", false),
            (r#"{"id":7,"method":"a","result":NaN}"#, "null", false),
            ("starting", "null", false),
        ] {
            let mut scanner = IdScanner::default();
            scanner.feed(text.as_bytes());
            let found = scanner.found(&RULES);
            assert_eq!((found.id.as_json(), found.is_answer), (id, is_answer), "{text}");
            assert!(!scanner.found(&Rules { answers: false, ..RULES }).is_answer, "{text}");
        }
    }

    #[test]
    fn what_is_no_request_with_a_complete_id_has_none() {
        for text in [
            "",
            "7",
            "[",
            r#"{"id":1"#,
            r#"{"method":"a","id":1"#,
            r#"{"id":1,"method""#,
            r#"{"id":1,"method":"a"#,
            r#"{"id":1,"method":7,"params":x}"#,
            r#"{"id":1,"result":{"a":tru}}"#,
            r#"{"id":1,"method":"a","error":x}"#,
            r#"{"id":null,"method":"a","params":x}"#,
            r#"{"id":1.5,"method":"a","params":x}"#,
            r#"{"id":{"a":1},"method":"a","params":x}"#,
            r#"{"id":"\ud83d","method":"a","params":{}}"#,
            r#"{"params":{"id":1,"method":"a"},x"#,
            r#"{"method":"a" "id":1}"#,
        ] {
            assert_eq!(found(text.as_bytes()), None, "{text}");
        }
        let long = format!(r#"{{"id":"{}","method":"a","params":x}}"#, "i".repeat(2_000));
        assert_eq!(found(long.as_bytes()), None);
    }
}
