//! The part of a JSON text that has arrived, cut where its values are complete.

/// A bracket that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    List,
    Dict,
}

/// Collects a JSON text piece by piece, whatever is before it and after it.
///
/// A cut leaves out what has only begun: an element of a list appears when it has ended, an entry of a dict when its value
/// has, and only the lists and dicts around them are still growing.
#[derive(Default)]
pub(super) struct PartialJson {
    text: String,
    open: Vec<Open>,
    in_string: bool,
    escaped: bool,
    /// Length of the text up to the last cut, and the brackets that close it.
    cut: usize,
    closing: String,
    /// The outermost bracket was closed.
    ended: bool,
}

impl PartialJson {
    /// Takes a piece in. Returns whether there is a new cut.
    pub(super) fn take_in(&mut self, piece: &str) -> bool {
        let before = self.cut;
        for c in piece.chars() {
            if self.ended {
                break;
            }
            if self.text.is_empty() && !matches!(c, '{' | '[') {
                continue;
            }
            self.next(c);
        }
        self.cut != before
    }

    /// The text up to the last cut, with its brackets closed; `None` before the first.
    pub(super) fn complete(&self) -> Option<String> {
        (self.cut > 0).then(|| format!("{}{}", self.text.get(..self.cut).unwrap_or_default(), self.closing))
    }

    fn next(&mut self, c: char) {
        let before = self.text.len();
        self.text.push(c);
        if self.in_string {
            match c {
                _ if self.escaped => self.escaped = false,
                '\\' => self.escaped = true,
                '"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match c {
            '"' => self.in_string = true,
            '[' | '{' => {
                self.open.push(if c == '[' { Open::List } else { Open::Dict });
                self.cut_at(self.text.len());
            }
            ']' | '}' => {
                self.open.pop();
                self.cut_at(self.text.len());
                self.ended = self.open.is_empty();
            }
            ',' => self.cut_at(before),
            _ => {}
        }
    }

    fn cut_at(&mut self, length: usize) {
        let (_, around) = self.open.split_last().unwrap_or((&Open::Dict, &[]));
        // An element of a list that has not ended is left out, and the list is cut before it.
        if around.contains(&Open::List) {
            return;
        }
        self.cut = length;
        self.closing = self.open.iter().rev().map(|open| if *open == Open::List { ']' } else { '}' }).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cuts of a text that arrives character by character.
    fn cuts(text: &str) -> Vec<String> {
        let mut partial = PartialJson::default();
        let mut buffer = [0; 4];
        let taken = text.chars().filter_map(|c| {
            let is_new = partial.take_in(c.encode_utf8(&mut buffer));
            is_new.then(|| partial.complete()).flatten()
        });
        taken.collect()
    }

    #[test]
    fn elements_appear_when_they_have_ended() {
        assert_eq!(
            cuts(r#"sure: [{"a": [1, 2]}, {"a": "x, ]\""}] and more ["#),
            // The end is a cut of its own.
            ["[]", r#"[{"a": [1, 2]}]"#, r#"[{"a": [1, 2]}, {"a": "x, ]\""}]"#, r#"[{"a": [1, 2]}, {"a": "x, ]\""}]"#]
        );
    }

    #[test]
    fn entries_appear_when_their_values_have_ended() {
        assert_eq!(
            cuts(r#"{"a": 1, "b": {"c": [1,2]}}"#),
            [
                "{}",
                r#"{"a": 1}"#,
                r#"{"a": 1, "b": {}}"#,
                r#"{"a": 1, "b": {"c": []}}"#,
                r#"{"a": 1, "b": {"c": [1]}}"#,
                r#"{"a": 1, "b": {"c": [1,2]}}"#,
                r#"{"a": 1, "b": {"c": [1,2]}}"#,
                r#"{"a": 1, "b": {"c": [1,2]}}"#,
            ]
        );
    }
}
