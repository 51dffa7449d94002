//! [`PieceJoiner`]: a stream cut between the halves of a character.

use std::collections::VecDeque;

use crate::surrogates::{Half, Surrogate, unpaired};

/// The pieces without text that may come between two halves: a sign of life, a count of tokens.
const MAX_BETWEEN: usize = 2;
/// The nesting of a piece. No reader takes a deeper one.
const MAX_DEPTH: usize = 128;

/// Joins halves of a character. A piece in which a text ends with a first half is held until the next piece of the same text has
/// come; if that begins with the second half, it gets the first one too.
///
/// A piece is a JSON text, with a value of the caller. Only a piece that cannot be read strictly, and those after it while the
/// joiner [waits](PieceJoiner::is_waiting), need to pass through.
#[derive(Debug)]
pub struct PieceJoiner<T> {
    held: VecDeque<(T, String)>,
    /// The texts of the first held piece that end with a first half.
    open: Vec<StringValue>,
}

impl<T> Default for PieceJoiner<T> {
    fn default() -> PieceJoiner<T> {
        PieceJoiner { held: VecDeque::new(), open: Vec::new() }
    }
}

impl<T> PieceJoiner<T> {
    /// Returns whether a piece is held.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes a piece. Returns those that wait for nothing, in order.
    pub fn push(&mut self, value: T, mut json: String) -> VecDeque<(T, String)> {
        let strings = strings(&json);
        let mut ready = VecDeque::new();
        if self.is_waiting() {
            let next = |path: &str| strings.iter().find(|string| string.path == path);
            if self.open.iter().all(|open| next(&open.path).is_none()) && self.held.len() <= MAX_BETWEEN {
                self.held.push_back((value, json));
                return ready;
            }
            let mut joined: Vec<(usize, usize)> = Vec::new();
            for open in &self.open {
                if let Some(next) = next(&open.path).filter(|next| next.begins_with_low) {
                    joined.push((open.end - Surrogate::LEN, next.start));
                }
            }
            if let Some((_, first)) = self.held.front_mut() {
                join(first, &mut json, joined);
            }
            ready = self.flush();
        }
        let open: Vec<StringValue> = self::strings(&json).into_iter().filter(|string| string.ends_with_high).collect();
        if open.is_empty() {
            ready.push_back((value, json));
        } else {
            self.open = open;
            self.held.push_back((value, json));
        }
        ready
    }

    /// Returns the held pieces: no other will come.
    pub fn flush(&mut self) -> VecDeque<(T, String)> {
        self.open.clear();
        std::mem::take(&mut self.held)
    }
}

/// Moves first halves from one text to the other. `places` has the offset of each in the first text, and that of its second half
/// in the other.
fn join(first: &mut String, second: &mut String, mut places: Vec<(usize, usize)>) {
    // From the end, so that the other offsets stay.
    places.sort_by_key(|(from, _)| std::cmp::Reverse(*from));
    let mut inserted = Vec::new();
    for (from, to) in places {
        let half: String = first.drain(from..from + Surrogate::LEN).collect();
        inserted.push((to, half));
    }
    inserted.sort_by_key(|(to, _)| std::cmp::Reverse(*to));
    for (to, half) in inserted {
        second.insert_str(to, &half);
    }
}

/// A string that is a value, and not empty.
#[derive(Debug)]
struct StringValue {
    /// The keys and indexes that lead to it.
    path: String,
    /// The offsets of its first byte and after its last one, without the quotes.
    start: usize,
    end: usize,
    begins_with_low: bool,
    ends_with_high: bool,
}

/// A container that is open.
enum Level {
    /// An object, with the offsets of the current key.
    Object(usize, usize),
    /// A list, with the current index.
    List(usize),
}

/// Returns the UTF-16 code units of a string of a valid text, also those of unpaired surrogates. The path has the keys and indexes
/// that lead to the string, each after a `/`.
#[must_use]
pub fn units_at(json: &str, path: &str) -> Option<Vec<u16>> {
    let string = strings(json).into_iter().find(|string| string.path == path)?;
    let (mut units, mut copied) = (Vec::new(), string.start);
    let inside = |surrogate: &Surrogate| (string.start..string.end).contains(&surrogate.at);
    for surrogate in unpaired(json).filter(inside) {
        units.extend(decoded(&json[copied..surrogate.at])?.encode_utf16());
        units.push(surrogate.unit);
        copied = surrogate.at + Surrogate::LEN;
    }
    units.extend(decoded(&json[copied..string.end])?.encode_utf16());
    Some(units)
}

/// Returns the text of a string without its quotes.
fn decoded(written: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{written}\"")).ok()
}

/// Returns the strings of a text that may be invalid. At most the first 256 are looked at.
fn strings(json: &str) -> Vec<StringValue> {
    const MAX_STRINGS: usize = 256;
    let surrogates: Vec<Surrogate> = unpaired(json).collect();
    let at_offset = |offset: usize, half: Half| {
        surrogates.binary_search_by_key(&offset, |surrogate| surrogate.at).is_ok_and(|i| surrogates[i].half == half)
    };
    let bytes = json.as_bytes();
    let (mut found, mut levels, mut at, mut is_value) = (Vec::new(), Vec::new(), 0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let (start, end) = (at + 1, end_of_string(bytes, at + 1));
                at = end;
                match levels.last_mut() {
                    Some(Level::Object(key, key_end)) if !is_value => (*key, *key_end) = (start, end),
                    _ if start < end && found.len() < MAX_STRINGS => found.push(StringValue {
                        path: path(json, &levels),
                        start,
                        end,
                        begins_with_low: at_offset(start, Half::Low),
                        ends_with_high: end.checked_sub(Surrogate::LEN).is_some_and(|at| at_offset(at, Half::High)),
                    }),
                    _ => {}
                }
            }
            b'{' | b'[' if levels.len() == MAX_DEPTH => return Vec::new(),
            b'{' => {
                levels.push(Level::Object(0, 0));
                is_value = false;
            }
            b'[' => levels.push(Level::List(0)),
            b'}' | b']' => drop(levels.pop()),
            b':' => is_value = true,
            b',' => match levels.last_mut() {
                Some(Level::List(index)) => *index += 1,
                _ => is_value = false,
            },
            _ => {}
        }
        at += 1;
    }
    found
}

fn path(json: &str, levels: &[Level]) -> String {
    let mut path = String::new();
    for level in levels {
        path.push('/');
        match level {
            Level::Object(start, end) => path.push_str(&json[*start..*end]),
            Level::List(index) => path.push_str(&index.to_string()),
        }
    }
    path
}

/// Returns the offset of the quote that ends a string, or that of the end of the text.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The pieces as they come out, read.
    fn joined(pieces: &[&str]) -> Vec<Value> {
        let mut joiner = PieceJoiner::default();
        let mut ready: Vec<(usize, String)> = Vec::new();
        for (i, piece) in pieces.iter().enumerate() {
            ready.extend(joiner.push(i, (*piece).to_owned()));
        }
        ready.extend(joiner.flush());
        assert!(ready.iter().map(|(i, _)| *i).eq(0..pieces.len()), "{ready:?}");
        ready.iter().map(|(_, json)| crate::from_str(json).unwrap()).collect()
    }

    #[test]
    fn halves_in_neighbouring_pieces_are_one_character() {
        let two = joined(&[r#"{"i":0,"d":{"t":"a\ud83d"}}"#, r#"{"i":0,"d":{"t":"\ude80b"}}"#]);
        assert_eq!(two, [json!({"i": 0, "d": {"t": "a"}}), json!({"i": 0, "d": {"t": "🚀b"}})]);
        let ping = joined(&[r#"{"d":{"t":"\ud83d"}}"#, r#"{"type":"ping"}"#, r#"{"d":{"t":"\ude80"}}"#]);
        assert_eq!(ping, [json!({"d": {"t": ""}}), json!({"type": "ping"}), json!({"d": {"t": "🚀"}})]);
        let row = joined(&[r#"["\ud83d"]"#, r#"["\ude80\ud83d"]"#, r#"["\ude80"]"#, r#"["x"]"#]);
        assert_eq!(row, [json!([""]), json!(["🚀"]), json!(["🚀"]), json!(["x"])]);
        let both = joined(&[r#"{"a":"1\ud83d","b":["\ud83e"]}"#, r#"{"b":["\udd14"],"a":"\ude802"}"#]);
        assert_eq!(both, [json!({"a": "1", "b": [""]}), json!({"b": ["🤔"], "a": "🚀2"})]);
    }

    #[test]
    fn a_half_alone_is_replaced_where_it_was() {
        for (pieces, last) in [
            (&[r#"{"t":"a\ud83d"}"#][..], json!({"t": "a\u{fffd}"})),
            (&[r#"{"t":"a\ud83d"}"#, r#"{"t":"b"}"#], json!({"t": "b"})),
            (&[r#"{"t":"a\ud83d"}"#, r#"{"u":"\ude80"}"#], json!({"u": "\u{fffd}"})),
            (&[r#"{"t":"a\ud83d"}"#, r#"{"t":"\ud83d"}"#], json!({"t": "\u{fffd}"})),
            (&[r#"{"t":"a\ud83d"}"#, "1", "2", "3", r#"{"t":"\ude80"}"#], json!({"t": "\u{fffd}"})),
        ] {
            let found = joined(pieces);
            assert_eq!((&found[0]["t"], found.last()), (&json!("a\u{fffd}"), Some(&last)), "{pieces:?}");
        }
    }

    #[test]
    fn the_units_of_a_string_are_found_by_its_path() {
        let json = r#"{"c":[{"text":"a"},{"text":"\u00e9\ud83d x\n\udc00🚀\ud83d\ude80"}]}"#;
        let units = units_at(json, "/c/1/text").unwrap();
        let mut expected: Vec<u16> = "é".encode_utf16().collect();
        expected.push(0xd83d);
        expected.extend(" x\n".encode_utf16());
        expected.push(0xdc00);
        expected.extend("🚀🚀".encode_utf16());
        assert_eq!(units, expected);
        assert_eq!((units_at(json, "/c/2/text"), units_at("", "/c")), (None, None));
    }

    #[test]
    fn a_piece_waits_only_for_the_next_one_of_its_text() {
        let mut joiner = PieceJoiner::default();
        assert_eq!(joiner.push((), r#"{"t":"x"}"#.to_owned()).len(), 1);
        assert_eq!(joiner.push((), r#"{"t":"\ud83d"}"#.to_owned()).len(), 0);
        assert!(joiner.is_waiting());
        assert_eq!(joiner.push((), r#"{"t":"y"}"#.to_owned()).len(), 2);
        assert!(!joiner.is_waiting());
    }

    proptest::proptest! {
        #[test]
        fn any_pieces_come_out_once_and_in_order(pieces in proptest::collection::vec(r#"([\[\]{}",:\\ta]|"t":|\{"t":"|"\}|\\ud83d|\\ude80){0,9}"#, 0..6)) {
            let mut joiner = PieceJoiner::default();
            let mut ready = Vec::new();
            for (i, piece) in pieces.iter().enumerate() {
                ready.extend(joiner.push(i, piece.clone()));
            }
            ready.extend(joiner.flush());
            proptest::prop_assert!(ready.iter().map(|(i, _)| *i).eq(0..pieces.len()));
            // No byte is lost.
            let length = |pieces: &mut dyn Iterator<Item = usize>| pieces.sum::<usize>();
            proptest::prop_assert_eq!(
                length(&mut ready.iter().map(|(_, json)| json.len())),
                length(&mut pieces.iter().map(String::len))
            );
        }
    }
}
