//! The source of the REPL's lines: a terminal with an editor, or a pipe.

use super::commands::COMMANDS;
use super::highlight::paint;
use super::{Language, history};
use rustyline::completion::{Completer, Pair};
use rustyline::config::{CompletionType, Config};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hinter, HistoryHinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};
use std::borrow::Cow;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::rc::Rc;
use stdlib::{Completion, CompletionKind, Engine, Source, complete};

/// Columns of a candidate in the list.
const CANDIDATE: usize = 76;

/// The result of reading a line.
pub(super) enum Line {
    /// A line, or a block of several lines, without its end.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the pipe has ended.
    End,
}

/// The source of lines.
pub(super) enum LineSource {
    /// A terminal; with the file where the history is kept.
    Terminal(Box<Editor<LineHelper, FileHistory>>, Option<PathBuf>),
    /// Anything else.
    Pipe,
}

impl LineSource {
    /// Returns the terminal if there is one.
    pub(super) fn open(language: Language, engine: &Rc<Engine>, color: bool) -> Self {
        if !std::io::stdin().is_terminal() {
            return Self::Pipe;
        }
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .bracketed_paste(true)
            .build();
        let Ok(mut editor) = Editor::with_config(config) else { return Self::Pipe };
        editor.set_helper(Some(LineHelper { language, engine: engine.clone(), color, hinter: HistoryHinter::new() }));
        let file = history::file(language.history())
            .filter(|file| file.parent().is_some_and(|dir| std::fs::create_dir_all(dir).is_ok()));
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

    /// Changes what the editor knows.
    pub(super) fn update(&mut self, change: impl FnOnce(&mut LineHelper)) {
        if let Self::Terminal(editor, _) = self
            && let Some(helper) = editor.helper_mut()
        {
            change(helper);
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

/// Completes, colors and validates lines, and hints at earlier ones.
pub(super) struct LineHelper {
    language: Language,
    pub(super) engine: Rc<Engine>,
    pub(super) color: bool,
    hinter: HistoryHinter,
}

impl Helper for LineHelper {}

impl Completer for LineHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        if line.starts_with(':') && !line[..at].contains(' ') {
            let commands = COMMANDS.iter().filter(|(name, ..)| name.starts_with(&line[..at]));
            let pair = |(name, argument, what): &(&str, &str, &str)| {
                let display = format!("{:<24}{what}", format!("{name} {argument}"));
                Pair { display, replacement: (*name).to_owned() }
            };
            return Ok((0, commands.map(pair).collect()));
        }
        if let Language::Rhai = self.language {
            let start = word_start(line, at);
            let names = self.engine.names_in_rhai();
            return Ok((start, beginning_with(&names, &line[start..at])));
        }
        let (start, found) = complete(line, at, &*self.engine);
        Ok((start, found.into_iter().map(candidate).collect()))
    }
}

fn candidate(completion: Completion) -> Pair {
    let name = completion.text.trim_end();
    let detail = completion.detail.strip_prefix(name).unwrap_or(&completion.detail);
    // A signature continues the name; anything else is apart from it.
    let between = if detail.len() < completion.detail.len() || detail.is_empty() { "" } else { "  " };
    let mut display = format!("{name}{between}{detail}");
    if completion.kind == CompletionKind::Key && !completion.doc.is_empty() {
        display.push_str(&format!("  {}", completion.doc));
    }
    if display.chars().count() > CANDIDATE {
        display = display.chars().take(CANDIDATE - 1).chain(['…']).collect();
    }
    Pair { display, replacement: completion.text }
}

impl Hinter for LineHelper {
    type Hint = String;

    fn hint(&self, line: &str, at: usize, context: &Context<'_>) -> Option<String> {
        let hint = self.hinter.hint(line, at, context)?;
        // The rest of a block would fill the screen.
        let first = hint.lines().next().unwrap_or("");
        (first.len() == hint.len()).then_some(hint)
    }
}

impl Highlighter for LineHelper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let plain = !self.color || line.starts_with(':') || matches!(self.language, Language::Rhai);
        if plain { line.into() } else { paint(line).into() }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.color { format!("\u{1b}[90m{hint}\u{1b}[0m").into() } else { hint.into() }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.color
    }
}

impl Validator for LineHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let is_whole = text.starts_with(':')
            || matches!(self.language, Language::Rhai)
            || !lang::parse::parse(&Source::new("<line>", format!("{text}\n"))).incomplete;
        Ok(if is_whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Names of Rhai that begin with a word.
fn beginning_with(names: &[String], word: &str) -> Vec<Pair> {
    if word.is_empty() {
        return Vec::new();
    }
    let pair = |name: &String| Pair { display: name.clone(), replacement: name.clone() };
    names.iter().filter(|name| name.starts_with(word)).map(pair).collect()
}

/// Returns the start of the word before the cursor in Rhai, with the dots or colons in it.
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
    fn a_word_of_rhai_holds_its_colons_and_stops_at_anything_else() {
        assert_eq!(word_start("let t = transcript::inj", 23), 8);
        assert_eq!(word_start("#{a:pri", 7), 4);
        assert_eq!(word_start("é+pri", 6), 3);
        assert_eq!(word_start("pri", 3), 0);
    }

    #[test]
    fn a_candidate_shows_its_signature_or_its_type() {
        let of = |text: &str, detail: &str| candidate(Completion::new(CompletionKind::Variable, text, detail)).display;
        let mut key = Completion::new(CompletionKind::Key, "stream: ", "bool = false");
        key.doc = "Whether it streams.".to_owned();
        assert_eq!(candidate(key).display, "stream:  bool = false  Whether it streams.");
        assert_eq!(of("len", "len(x: any) -> int"), "len(x: any) -> int");
        assert_eq!(of("answer", "dict"), "answer  dict");
        assert_eq!(of("answer", ""), "answer");
        assert!(of("f", &"x".repeat(200)).ends_with('…'));
    }
}
