//! Diagnostics are data; who draws them is nobody's business here.
//!
//! - [`Diagnostic`]: what happened (one sentence), where (labels), what to do (help, fixes).
//! - [`draw`]: the one place that turns them into pictures (ariadne).
//! - [`json`]: the same facts for tools.
//! - [`shown`]: what may be shown of a text that others wrote.
//! - [`fix`]: edits that fix what was found.
//! - [`code`]: the codes, and the catalogue rows that `explain`, the docs and the tests read.

pub mod code;
pub mod draw;
pub mod fix;
pub mod json;
mod shown;

pub(crate) use shown::turns_text;
pub use shown::{is_obeyed, one_line, shown};

use crate::source::{SourceRef, Span};
use code::CodeRef;
use fix::{Applicability, Edit, Fix};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The script cannot run, or the run has failed.
    Error,
    /// The script runs, and probably does not do what was meant.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The word that people and tools read.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// A place in a source and what to say about it.
#[derive(Clone, Debug)]
pub struct Label {
    /// The text it points into.
    pub source: SourceRef,
    /// The bytes it marks.
    pub span: Span,
    /// A few words, no full stop; may be empty.
    pub text: String,
}

/// The reason why a foreign source is not quoted.
const OUTSIDE: &str = "the text of a file outside of the project is not shown";

impl Label {
    /// Returns the file, line and column.
    fn place(&self) -> String {
        let at = self.source.position(self.span.start);
        format!("{}:{}:{}", one_line(self.source.name()), at.line, at.column)
    }
}

/// One frame of a runtime error's call stack, innermost first. Where a task begins, a frame without a function says where
/// the task was started.
#[derive(Clone, Debug)]
pub struct TraceFrame {
    /// The function as its author named it, or `<closure>`; empty at the beginning of a task.
    pub function: String,
    /// Position of the call, or `None` for a builtin.
    pub at: Option<(SourceRef, Span)>,
    /// Number of repetitions in a row: a recursion is one line.
    pub times: u32,
}

impl TraceFrame {
    /// One level.
    pub fn new(function: impl Into<String>, at: Option<(SourceRef, Span)>) -> Self {
        Self { function: function.into(), at, times: 1 }
    }

    /// Whether `other` is a level of the same recursion.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        let place = |frame: &Self| frame.at.as_ref().map(|(source, span)| (source.name().to_owned(), *span));
        self.function == other.function && place(self) == place(other)
    }
}

/// One finding: the first label is where it happened, the others are why.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Catalogue code such as `HARN-NAM-001`.
    pub code: CodeRef,
    /// Severity: that of the code's row, unless it is raised with another.
    pub severity: Severity,
    /// Headline: one phrase, lower case, no full stop.
    pub message: String,
    /// Places; the first is the main one.
    pub labels: Vec<Label>,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// Suggestions, with fixed code if possible.
    pub help: Vec<String>,
    /// Fixes; each alone is enough, and the first is the likeliest.
    pub fixes: Vec<Fix>,
    /// For runtime errors: who called whom.
    pub trace: Vec<TraceFrame>,
}

impl Diagnostic {
    /// A finding of the severity in the row of `code`, without a place yet.
    pub fn new(code: impl Into<CodeRef>, message: impl Into<String>) -> Self {
        let code = code.into();
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            fixes: Vec::new(),
            trace: Vec::new(),
        }
    }

    /// Sets another severity than that of the code's row.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Adds a place; the first one added is the main one.
    #[must_use]
    pub fn label(mut self, source: &SourceRef, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { source: source.clone(), span, text: text.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds a safe fix: one replacement.
    #[must_use]
    pub fn fix(self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix_by(Applicability::Safe, vec![Edit::new(span, replacement)])
    }

    /// Adds an unsafe fix: one replacement.
    #[must_use]
    pub fn unsafe_fix(self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix_by(Applicability::Unsafe, vec![Edit::new(span, replacement)])
    }

    /// Adds a fix of several edits.
    #[must_use]
    pub fn fix_by(mut self, applicability: Applicability, edits: Vec<Edit>) -> Self {
        self.fixes.push(Fix { applicability, edits });
        self
    }

    /// Adds a fix of several edits, if it is known.
    #[must_use]
    pub fn fix_by_some(self, applicability: Applicability, edits: Option<Vec<Edit>>) -> Self {
        match edits {
            Some(edits) => self.fix_by(applicability, edits),
            None => self,
        }
    }

    /// Suggests a name in the place of a misspelt one: the help, and the fix.
    #[must_use]
    pub fn did_you_mean(self, at: Span, near: &str, applicability: Applicability) -> Self {
        self.help(format!("did you mean `{near}`?")).fix_by(applicability, vec![Edit::new(at, near)])
    }

    /// Returns the diagnostic with nothing of the texts of foreign sources: one about such a source has the title of its
    /// code, and the place.
    #[must_use]
    pub fn without_foreign_text(mut self) -> Self {
        match self.labels.first() {
            // Every part of it may quote the source.
            Some(main) if main.source.is_foreign() => {
                let message = format!("{} at {}", self.code.row().title, main.place());
                Self::new(self.code, message).with_severity(self.severity).note(OUTSIDE)
            }
            _ => {
                self.labels.retain(|label| !label.source.is_foreign());
                self
            }
        }
    }

    /// Returns the position by which the diagnostic is sorted in its file.
    #[must_use]
    pub fn position(&self) -> u32 {
        self.labels.first().map_or(0, |l| l.span.start)
    }
}

/// The nearest of `names` to what was written, if any is near enough to be meant.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(written, names).map(|(name, _)| name)
}

/// Returns whether two names differ only in case and underscores, such as `file_edited` and `FileEdited`.
pub fn spelled_alike(a: &str, b: &str) -> bool {
    let letters =
        |name: &'_ str| name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect::<String>();
    a.len().abs_diff(b.len()) <= a.len().max(b.len()) / 2 && letters(a) == letters(b)
}

/// Returns the nearest of `names`, and whether a fix can take it without a review: no other name is as near.
pub fn nearest_of<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<(&'a str, Applicability)> {
    nearest_in(written, &mut names.into_iter())
}

/// Returns the most slips in a word of a length: more than a quarter of a word makes another word.
const fn most_slips(length: usize) -> usize {
    match length {
        0 | 1 => 0,
        2..=6 => 1,
        7..=9 => 2,
        _ => 3,
    }
}

/// Returns whether each word of one name is a misspelling of the word at its place in the other: `csv_parse` does not mean
/// `json_parse`. A short word that begins with another letter is another word, unless two letters are exchanged.
fn same_words(written: &str, name: &str) -> bool {
    let words = |name: &str| name.split('_').filter(|word| !word.is_empty()).count();
    if words(written) != words(name) {
        return true;
    }
    let parts = |name: &'_ str| name.split('_').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let is_one = words(written) == 1;
    parts(written).iter().zip(&parts(name)).all(|(a, b)| {
        let (distance, length) = (strsim::damerau_levenshtein(a, b), a.chars().count());
        let same_start = a.chars().next() == b.chars().next();
        let is_short = length <= 3 && a.chars().count() == b.chars().count();
        let exchanged = || a.chars().next() == b.chars().nth(1) && b.chars().next() == a.chars().nth(1);
        // The other words make a guess about a long one surer.
        let most = if !is_one && same_start && length >= 5 { most_slips(length).max(2) } else { most_slips(length) };
        distance == 0 || distance <= most && (same_start || !is_short || exchanged())
    })
}

fn nearest_in<'a>(written: &str, names: &mut dyn Iterator<Item = &'a str>) -> Option<(&'a str, Applicability)> {
    let length = written.chars().count();
    let limit = most_slips(length);
    let near = names
        // The distance is at least the difference of the lengths, and takes their product to compute.
        .filter(|name| name.chars().count().abs_diff(length) <= limit)
        .map(|name| (strsim::damerau_levenshtein(written, name), name))
        .filter(|(distance, name)| *distance <= limit && *distance < name.chars().count() && same_words(written, name));
    let mut best: Option<(usize, &str, Applicability)> = None;
    for (distance, name) in near {
        best = match best {
            Some((least, known, applicability)) if least < distance || known == name => {
                Some((least, known, applicability))
            }
            Some((least, known, _)) if least == distance => Some((least, known.min(name), Applicability::Unsafe)),
            _ => Some((distance, name, Applicability::of_name(written))),
        };
    }
    best.map(|(_, name, applicability)| (name, applicability))
}
