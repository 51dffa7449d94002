//! The source of the REPL's lines: a terminal with an editor, or a pipe.

use super::history;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Context, Editor, Helper, Highlighter, Hinter, Validator};
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

/// The result of reading a line.
pub(super) enum Line {
    /// A line, without its end.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the pipe has ended.
    End,
}

/// The source of lines.
pub(super) enum LineSource {
    /// A terminal; with the file where the history is kept.
    Terminal(Box<Editor<NameCompleter, FileHistory>>, Option<PathBuf>),
    /// Anything else.
    Pipe,
}

impl LineSource {
    /// A terminal where there is one; `history` is the name of the file that keeps what is typed.
    pub(super) fn open(history: &str) -> Self {
        if !std::io::stdin().is_terminal() {
            return Self::Pipe;
        }
        let Ok(mut editor) = Editor::new() else { return Self::Pipe };
        editor.set_helper(Some(NameCompleter::default()));
        let file =
            history::file(history).filter(|file| file.parent().is_some_and(|dir| std::fs::create_dir_all(dir).is_ok()));
        if let Some(file) = &file {
            // The first time there is none.
            let _ = editor.load_history(file);
        }
        Self::Terminal(Box::new(editor), file)
    }

    /// Returns whether lines come from a terminal.
    pub(super) const fn interactive(&self) -> bool {
        matches!(self, Self::Terminal(..))
    }

    /// The names that the tab key completes from now on.
    pub(super) fn offer(&mut self, names: Vec<String>) {
        if let Self::Terminal(editor, _) = self
            && let Some(helper) = editor.helper_mut()
        {
            helper.names = names;
        }
    }

    /// The next line; a pipe shows no prompt.
    pub(super) fn next(&mut self, prompt: &str) -> Line {
        match self {
            Self::Terminal(editor, file) => match editor.readline(prompt) {
                Ok(text) => {
                    if !text.trim().is_empty() && editor.add_history_entry(text.as_str()).unwrap_or(false) {
                        // Kept at once: a session that is killed loses nothing. A full disk must not end it.
                        let _ = file.as_ref().map(|file| editor.append_history(file));
                    }
                    Line::Text(text)
                }
                Err(ReadlineError::Interrupted) => Line::Interrupted,
                Err(_) => Line::End,
            },
            Self::Pipe => piped(),
        }
    }
}

/// Reads one line of the pipe. Invalid UTF-8 becomes U+FFFD, which the lexer then reports.
fn piped() -> Line {
    let mut bytes = Vec::new();
    match std::io::stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => Line::End,
        Ok(_) => {
            let text = String::from_utf8_lossy(&bytes);
            Line::Text(text.trim_end_matches(['\n', '\r']).to_owned())
        }
    }
}

/// Completes names, with the dots or colons in them.
#[derive(Default, Helper, Highlighter, Hinter, Validator)]
pub(super) struct NameCompleter {
    /// Sorted.
    names: Vec<String>,
}

impl Completer for NameCompleter {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let start = word_start(line, at);
        Ok((start, self.beginning_with(&line[start..at])))
    }
}

impl NameCompleter {
    fn beginning_with(&self, word: &str) -> Vec<String> {
        if word.is_empty() {
            return Vec::new();
        }
        self.names.iter().filter(|name| name.starts_with(word)).cloned().collect()
    }
}

/// Returns the start of the word before the cursor.
fn word_start(line: &str, at: usize) -> usize {
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
    let start = line[..at].rfind(|c| !in_word(c)).map_or(0, |i| i + line[i..].chars().next().map_or(1, char::len_utf8));
    let word = &line[start..at];
    // Two colons belong to a Rhai name; a single one precedes a value.
    let alone = |i: &usize| !word[..*i].ends_with(':') && !word[i + 1..].starts_with(':');
    let colon = word.match_indices(':').map(|(i, _)| i).rfind(alone);
    colon.map_or(start, |i| start + i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_its_dots_and_stops_at_anything_else() {
        assert_eq!(word_start("let t = transcript.inj", 22), 8);
        assert_eq!(word_start("let t = transcript::inj", 23), 8);
        assert_eq!(word_start("{a:pri", 6), 3);
        assert_eq!(word_start("é+pri", 6), 3);
        assert_eq!(word_start("pri", 3), 0);
    }

    #[test]
    fn names_are_completed_by_their_beginning() {
        let names = NameCompleter { names: vec!["print".into(), "println".into(), "transcript.reminders".into()] };
        assert_eq!(names.beginning_with("pri"), ["print", "println"]);
        assert_eq!(names.beginning_with("transcript."), ["transcript.reminders"]);
        assert!(names.beginning_with("").is_empty());
    }
}
