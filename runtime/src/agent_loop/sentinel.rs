//! The word by which the model says that it is done. It is meant for the loop and hidden from all others.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

/// Returns the text without the word.
pub(super) fn without(word: &str, text: &Arc<str>) -> Arc<str> {
    if word.is_empty() || !text.contains(word) { text.clone() } else { text.replace(word, "").trim().into() }
}

/// A filter that removes the word from streamed text. A possible beginning of the word is held back until it is
/// decided.
pub(super) struct SentinelFilter<'a> {
    word: &'a str,
    /// Number of bytes of the word received so far.
    held: Cell<usize>,
}

impl<'a> SentinelFilter<'a> {
    pub(super) fn new(word: &'a str) -> SentinelFilter<'a> {
        SentinelFilter { word, held: Cell::new(0) }
    }

    /// Adds a piece, and shows the part that is certainly text.
    pub(super) fn take_in(&self, piece: &str, mut show: impl FnMut(&str)) {
        let mut show = |text: &str| {
            if !text.is_empty() {
                show(text);
            }
        };
        if self.word.is_empty() {
            return show(piece);
        }
        let text: Cow<'_, str> = match self.word.get(..self.held.get()) {
            None | Some("") => piece.into(),
            Some(held) => format!("{held}{piece}").into(),
        };
        let mut rest = &*text;
        while let Some((before, behind)) = rest.split_once(self.word) {
            show(before);
            rest = behind;
        }
        let beginnings = self.word.char_indices().map(|(at, _)| at).rev();
        // The longest beginning; the empty one always matches.
        let held = beginnings.into_iter().find(|at| self.word.get(..*at).is_some_and(|begin| rest.ends_with(begin)));
        let held = held.unwrap_or_default();
        self.held.set(held);
        show(rest.get(..rest.len() - held).unwrap_or(rest));
    }

    /// Shows the text that was held back for the word when the word does not continue.
    pub(super) fn break_off(&self, show: impl FnOnce(&str)) {
        match self.word.get(..self.held.replace(0)) {
            None | Some("") => {}
            Some(held) => show(held),
        }
    }

    /// Discards the text received so far.
    pub(super) fn restart(&self) {
        self.held.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(word: &str, pieces: &[&str]) -> Vec<String> {
        let sentinel = SentinelFilter::new(word);
        let mut shown = Vec::new();
        for piece in pieces {
            sentinel.take_in(piece, |text| shown.push(text.to_owned()));
        }
        sentinel.break_off(|text| shown.push(text.to_owned()));
        shown
    }

    #[test]
    fn the_word_is_taken_out_wherever_the_pieces_break() {
        for (word, text) in [("##DONE##", "a ##DONE## b#"), ("aab", "aaabaab aa"), ("é!", "né né! é"), ("x", "xyx")]
        {
            let chars: Vec<String> = text.chars().map(String::from).collect();
            for mask in 0..1_u32 << (chars.len() - 1).min(12) {
                let mut pieces = vec![String::new()];
                for (at, one) in chars.iter().enumerate() {
                    pieces.last_mut().unwrap().push_str(one);
                    if mask >> at & 1 == 1 {
                        pieces.push(String::new());
                    }
                }
                let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
                assert_eq!(shown(word, &pieces).concat(), text.replace(word, ""), "{pieces:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_the_word_is_shown_at_once() {
        assert_eq!(shown("##DONE##", &["It is", " C#", " and", " #", "#"]), ["It is", " C", "# and", " ", "##"]);
        assert_eq!(shown("", &["a", "", "b"]), ["a", "b"]);
    }

    #[test]
    fn a_text_without_it_is_not_copied() {
        let text: Arc<str> = " as it is ".into();
        assert!(Arc::ptr_eq(&without("##DONE##", &text), &text));
        assert_eq!(&*without("##DONE##", &"well ##DONE##\n".into()), "well");
    }
}
