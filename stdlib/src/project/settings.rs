//! [`SettingsReader`]: the settings of a `harn.toml` read so far, with a place for everything that is wrong.

use super::Project;
use crate::capability::Capability;
use crate::codes::ProjectCode;
use crate::limits::parse_size;
use lang::diagnostic::code::CodeRef;
use lang::diagnostic::{Diagnostic, nearest, one_line};
use lang::source::{SourceRef, Span};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::DeValue;

pub(super) fn span(range: Range<usize>) -> Span {
    let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span::new(at(range.start), at(range.end))
}

/// The settings read so far, and their problems.
pub(super) struct SettingsReader<'a> {
    pub(super) source: &'a SourceRef,
    /// The folder of the file, as it was found.
    pub(super) folder: &'a Path,
    /// The folder without links.
    pub(super) canonical: &'a Path,
    trusted: bool,
    pub(super) project: Project,
    /// The settings that require a trusted folder.
    pub(super) guarded: Vec<GuardedSetting>,
    pub(super) found: Vec<Diagnostic>,
}

/// A setting that requires a trusted folder, or a part of one.
pub(super) struct GuardedSetting {
    /// Its name on one line, such as `mcp.servers.files`.
    pub(super) name: String,
    /// Its value on one line.
    pub(super) value: String,
    /// Its place; `None` for a part of a setting, which no warning names.
    place: Option<Span>,
}

impl GuardedSetting {
    fn new(name: &str, value: &str, place: Option<Span>) -> GuardedSetting {
        GuardedSetting { name: one_line(name).into(), value: one_line(value).into(), place }
    }
}

impl<'a> SettingsReader<'a> {
    /// Creates a reader of a file that has read nothing yet.
    pub(super) fn new(source: &'a SourceRef, folder: &'a Path, canonical: &'a Path, trusted: bool) -> Self {
        let (guarded, found) = (Vec::new(), Vec::new());
        SettingsReader { source, folder, canonical, trusted, project: Project::default(), guarded, found }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// Returns the problems that were found, in the order of their places.
    pub(super) fn finish(&mut self) -> Result<(), Vec<Diagnostic>> {
        let mut found = std::mem::take(&mut self.found);
        if found.is_empty() {
            return Ok(());
        }
        found.sort_by_key(Diagnostic::position);
        Err(found)
    }

    /// Notes a setting that counts only in a trusted folder. Returns whether it counts.
    pub(super) fn guard(&mut self, setting: &str, place: Range<usize>, value: &str) -> bool {
        self.guarded.push(GuardedSetting::new(setting, value, Some(span(place))));
        self.trusted
    }

    /// Notes a part of the setting that was noted last: it is shown before the folder is trusted.
    pub(super) fn guard_part(&mut self, setting: &str, value: &str) {
        self.guarded.push(GuardedSetting::new(setting, value, None));
    }

    /// A limit as it is written, if it is at most the usual one or the folder is trusted.
    pub(super) fn at_most(
        &mut self,
        setting: &str,
        key: &Spanned<impl Sized>,
        value: Option<u64>,
        usual: u64,
    ) -> Option<u64> {
        value.filter(|value| *value <= usual || self.guard(setting, key.span(), &value.to_string()))
    }

    /// One warning that names everything that was ignored.
    pub(super) fn warning(&self, folder: &str) -> Option<Diagnostic> {
        if self.trusted || self.guarded.is_empty() {
            return None;
        }
        let whole = || self.guarded.iter().filter_map(|setting| Some((&setting.name, setting.place?)));
        let names: Vec<String> = whole().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!("ignored settings of an untrusted folder: {}", names.join(", "));
        let mut warning = Diagnostic::new(ProjectCode::Untrusted, message);
        for (_, place) in whole().take(1) {
            warning = warning.label(self.source, place, "ignored");
        }
        // The name of a folder may say something else to a shell.
        let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@".contains(c);
        let command = match folder.chars().all(is_plain) && !folder.starts_with('-') {
            true => format!("run `harn trust {folder}`"),
            false => "run `harn trust` in its folder".to_owned(),
        };
        Some(warning.help(format!("read the file; if you trust it, {command}")))
    }

    pub(super) fn count(&mut self, value: &Spanned<DeValue<'_>>) -> Option<u64> {
        let number = value.get_ref().as_integer().and_then(|n| u64::from_str_radix(n.as_str(), n.radix()).ok());
        let count = number.filter(|n| *n > 0).ok_or_else(|| "this must be an integer above 0".to_owned());
        self.good(value, count)
    }

    pub(super) fn memory(&mut self, value: &Spanned<DeValue<'_>>) -> Option<u64> {
        match value.get_ref() {
            DeValue::Integer(_) => self.count(value),
            DeValue::String(text) => {
                let size = parse_size(text);
                self.good(value, size)
            }
            _ => self.good(value, Err(not_text(value))),
        }
    }

    /// The rights that a list names.
    pub(super) fn list_of_rights(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<Capability> {
        let mut rights = Vec::new();
        let Some(names) = value.get_ref().as_array() else {
            let help = "write a list such as `[\"net\", \"process\"]`";
            self.wrong(ProjectCode::Value, value.span(), format!("`{key}` must be a list of capabilities"), help);
            return rights;
        };
        for name in names {
            let known = Capability::ALL.map(Capability::name);
            let written = name.get_ref().as_str().unwrap_or_default();
            match Capability::ALL.into_iter().find(|right| right.name() == written) {
                Some(right) => rights.push(right),
                None => {
                    let help = match nearest(written, known) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => format!("the capabilities are {}", known.join(", ")),
                    };
                    self.wrong(ProjectCode::Value, name.span(), "unknown capability".to_owned(), &help);
                }
            }
        }
        rights
    }

    pub(super) fn good<T>(&mut self, value: &Spanned<DeValue<'_>>, read: Result<T, String>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(message) => {
                let d = Diagnostic::new(ProjectCode::Value, message).label(
                    self.source,
                    span(value.span()),
                    "invalid value",
                );
                self.found.push(d);
                None
            }
        }
    }

    pub(super) fn wrong(&mut self, code: impl Into<CodeRef>, place: Range<usize>, message: String, help: &str) {
        self.found.push(Diagnostic::new(code, message).label(self.source, span(place), "here").help(help));
    }

    pub(super) fn unknown(&mut self, key: &str, place: Range<usize>, known: &[&str], table: &str) {
        let d = Diagnostic::new(ProjectCode::Key, format!("unknown key `{key}` in `{table}`")).label(
            self.source,
            span(place),
            "unknown key",
        );
        self.found.push(match nearest(key, known.iter().copied()) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => {
                d.help(format!("known keys: {}", known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")))
            }
        });
    }
}

pub(super) fn not_text(value: &Spanned<DeValue<'_>>) -> String {
    let found = match value.get_ref() {
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a bool",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
        DeValue::String(_) => "text",
    };
    format!("this must be a quoted string, not {found}")
}
