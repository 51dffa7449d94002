//! The text of a turn that is not printed yet. The last answer of a loop is usually printed by the script: it is held until the
//! script has printed it, or until it is clear that the script does not.

/// The rows that are held; the first rows of a longer text are printed as they arrive.
const MOST_ROWS: usize = 2_000;

/// The text of a turn: its rows, and the text as the model wrote it.
#[derive(Debug, Default)]
pub(super) struct HeldText {
    rows: Vec<String>,
    text: String,
    /// Rows were printed already, so the rest belongs with them.
    is_cut: bool,
}

impl HeldText {
    /// Takes more text, and the rows that became complete.
    pub(super) fn take(&mut self, text: &str, rows: Vec<String>) {
        if !self.is_cut {
            self.text.push_str(text);
        }
        self.rows.extend(rows);
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: String) {
        self.rows.push(row);
    }

    /// Returns rows to print, if there are more than are held.
    pub(super) fn overflow(&mut self) -> Vec<String> {
        if !self.is_cut && self.rows.len() <= MOST_ROWS {
            return Vec::new();
        }
        self.is_cut = true;
        self.text = String::new();
        std::mem::take(&mut self.rows)
    }

    /// Takes the rows out; what comes next is another text.
    pub(super) fn release(&mut self) -> Vec<String> {
        std::mem::take(self).rows
    }

    /// The rows that are held.
    pub(super) fn rows(&self) -> &[String] {
        &self.rows
    }

    /// Whether nothing is held.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The last answer of a loop that has ended.
#[derive(Debug)]
pub(super) struct LastAnswer {
    /// The prefix of its rows, if several loops have run at once.
    pub(super) name: String,
    /// The rows.
    pub(super) rows: Vec<String>,
    words: String,
    /// The end of what the script has printed since, about as long as the answer.
    printed: String,
}

impl LastAnswer {
    /// Creates the last answer of a loop.
    pub(super) fn new(name: String, held: HeldText) -> Self {
        Self { name, words: words(&held.text), rows: held.rows, printed: String::new() }
    }

    /// Notes what the script prints. Returns whether it has printed the answer.
    pub(super) fn is_printed_by(&mut self, text: &str) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let text = words(text);
        if !self.printed.is_empty() && !text.is_empty() {
            self.printed.push(' ');
        }
        self.printed.push_str(&text);
        if is_among(&self.words, &self.printed) {
            return true;
        }
        // The beginning of the answer may be at the end of this.
        let from = self.printed.len().saturating_sub(self.words.len() + 1);
        let from = self.printed.ceil_char_boundary(from);
        self.printed.drain(..from);
        false
    }
}

/// Whether a text contains another one, not in the middle of a word.
fn is_among(wanted: &str, text: &str) -> bool {
    text.match_indices(wanted).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

/// A text whose blanks do not matter. It is the same for a text and for that text as a literal, as in JSON.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.next() {
                Some('n' | 't' | 'r') | None => ' ',
                Some(escaped) => escaped,
            },
            c => c,
        };
        if !c.is_whitespace() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> LastAnswer {
        let mut held = HeldText::default();
        held.take(text, text.lines().map(str::to_owned).collect());
        LastAnswer::new(String::new(), held)
    }

    #[test]
    fn an_answer_is_printed_at_once_or_in_parts() {
        for prints in [
            &["done: One line.\nTwo  lines.\n"][..],
            &["One line.\n", "Two lines.\n"],
            &["first\n", "One line. Two lines.\n"],
            &["{text: \"One line.\\nTwo lines.\"}\n"],
        ] {
            let mut held = answer("One line.\nTwo lines.\n");
            let (last, before) = prints.split_last().expect("a print");
            assert!(before.iter().all(|print| !held.is_printed_by(print)), "{prints:?}");
            assert!(held.is_printed_by(last), "{prints:?}");
        }
    }

    #[test]
    fn another_text_is_not_the_answer() {
        for print in ["One line.", "took 42 ms", "", "One line. Two other lines."] {
            assert!(!answer("One line. Two lines.").is_printed_by(print), "{print}");
        }
        assert!(!answer("ok").is_printed_by("token\n"));
        assert!(answer("ok").is_printed_by("ok\n"));
        assert!(!answer(" ").is_printed_by(" "));
    }

    #[test]
    fn a_text_that_is_too_long_to_hold_is_printed() {
        let mut held = HeldText::default();
        held.take("x", vec!["x".to_owned(); MOST_ROWS]);
        assert!(held.overflow().is_empty());
        held.take("y", vec!["y".to_owned()]);
        assert_eq!(held.overflow().len(), MOST_ROWS + 1);
        held.take("z", vec!["z".to_owned()]);
        assert_eq!(held.overflow(), ["z"]);
        assert!(held.is_empty());
    }
}
