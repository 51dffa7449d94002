//! Reading `harn.toml`, with a place for everything that is wrong.

use super::packs::PACKS;
use super::{KEY, MODELS, NAME, NOT_TOML, Project, UNREADABLE, VALUE};
use crate::limits::{parse_size, parse_time};
use lang::builtins::Capability;
use lang::diagnostic::{Diagnostic, nearest};
use lang::source::{Source, SourceRef, Span};
use providers::model::{CapabilityError, CapabilityTable};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The tables of the file.
const TABLES: &[&str] = &["limits", "capabilities", "event_log", "hooks", "reminders", "agent", "providers"];
/// The keys of `[limits]`.
const LIMITS: &[&str] = &["fuel", "depth", "memory", "timeout", "deny"];

pub(super) fn read(path: &Path) -> Result<Project, Vec<Diagnostic>> {
    let name = shown(path);
    let text = std::fs::read_to_string(path).map_err(|e| {
        let message = format!("cannot read `{name}`: {e}");
        vec![Diagnostic::error(UNREADABLE, message).help("the limits of this project's scripts stand in it")]
    })?;
    let source = Source::new(name, text);
    let table = DeTable::parse(source.text()).map_err(|e| {
        let place = e.span().map_or(Span::default(), span);
        vec![Diagnostic::error(NOT_TOML, format!("`{NAME}` is no TOML")).label(&source, place, e.message())]
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut reader = Reader { source: &source, folder, project: Project::default(), found: Vec::new() };
    reader.file(table.get_ref());
    if reader.found.is_empty() {
        return Ok(reader.project);
    }
    reader.found.sort_by_key(Diagnostic::position);
    Err(reader.found)
}

/// The path from the working directory where the file is below it, as scripts are named.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    relative.as_deref().unwrap_or(path).display().to_string()
}

fn span(range: Range<usize>) -> Span {
    let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span::new(at(range.start), at(range.end))
}

/// What has been read so far, and what was wrong with it.
pub(super) struct Reader<'a> {
    pub(super) source: &'a SourceRef,
    pub(super) folder: &'a Path,
    pub(super) project: Project,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn file(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("limits", DeValue::Table(limits)) => self.limits(limits),
                ("capabilities", DeValue::Table(rights)) => self.rights(rights),
                ("capabilities", DeValue::Array(rows)) => self.models(rows),
                ("event_log", DeValue::Table(log)) => self.event_log(log),
                ("hooks", DeValue::Table(hooks)) => self.hooks(hooks),
                ("reminders", DeValue::Table(reminders)) => self.reminders(reminders),
                ("agent", DeValue::Table(agent)) => self.agent(agent),
                ("providers", DeValue::Table(servers)) => {
                    // A list is no place where a provider lives.
                    if let Some((_, packs)) = servers.iter().find(|(key, _)| key.get_ref().as_ref() == PACKS) {
                        self.packs(packs);
                    }
                    if servers.iter().any(|(key, _)| key.get_ref().as_ref() != PACKS) {
                        self.servers(servers);
                    }
                }
                (
                    known @ ("limits" | "capabilities" | "event_log" | "hooks" | "reminders" | "agent" | "providers"),
                    _,
                ) => {
                    self.wrong(
                        VALUE,
                        value.span(),
                        format!("`{known}` is a table"),
                        &format!("write `[{known}]` above its keys"),
                    );
                }
                (unknown, _) => self.unknown(unknown, key.span(), TABLES, "harn.toml"),
            }
        }
    }

    fn limits(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "fuel" => self.project.limits.fuel = self.count(value),
                "depth" => self.project.limits.depth = self.count(value),
                "memory" => self.project.limits.memory = self.memory(value),
                "timeout" => {
                    let time = value.get_ref().as_str().ok_or_else(|| not_text(value)).and_then(parse_time);
                    self.project.limits.time = self.good(value, time);
                }
                "deny" => self.deny(value),
                unknown => self.unknown(unknown, key.span(), LIMITS, "[limits]"),
            }
        }
    }

    fn hooks(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "timeout_ms" => self.project.limits.hook = self.count(value).map(Duration::from_millis),
                unknown => self.unknown(unknown, key.span(), &["timeout_ms"], "[hooks]"),
            }
        }
    }

    fn reminders(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "max_body" => self.project.limits.max_body = self.memory(value),
                unknown => self.unknown(unknown, key.span(), &["max_body"], "[reminders]"),
            }
        }
    }

    fn rights(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "deny" => self.deny(value),
                unknown => self.unknown(unknown, key.span(), &["deny"], "[capabilities]"),
            }
        }
    }

    /// The reader of the model table looks at the whole text; it knows the row, not the place in it.
    fn models(&mut self, rows: &DeArray<'_>) {
        let (row, message) = match self.known_models().with_toml(NAME, self.source.text()) {
            Ok(table) => return self.project.models = Some(table),
            Err(CapabilityError::Row { row, message, .. }) => (row, message),
            Err(e) => (1, e.to_string()),
        };
        let place = rows.get(row.saturating_sub(1)).map_or(0..0, Spanned::span);
        let help = "`provider` and `model` say which models a row is about, the other keys what these can take";
        self.wrong(MODELS, place, message, help);
    }

    fn known_models(&self) -> CapabilityTable {
        self.project.models.clone().or_else(|| CapabilityTable::built_in().ok()).unwrap_or_default()
    }

    /// Where providers live.
    fn servers(&mut self, tables: &DeTable<'_>) {
        let (name, key, message) = match self.known_models().with_servers(NAME, self.source.text()) {
            Ok(table) => return self.project.models = Some(table),
            Err(CapabilityError::Server { name, key, message, .. }) => (name, key, message),
            Err(e) => (String::new(), None, e.to_string()),
        };
        let table = tables.iter().find(|(written, _)| written.get_ref().as_ref() == name);
        let entry = table.zip(key).and_then(|((_, table), key)| {
            table.get_ref().as_table()?.iter().find(|(written, _)| written.get_ref().as_ref() == key)
        });
        let place = entry.or(table).map_or(0..0, |(key, _)| key.span());
        let help = "`[providers.NAME]` says where a provider lives: `base_url`, and `key_env`, the variable that holds its key";
        self.wrong(MODELS, place, message, help);
    }

    pub(super) fn count(&mut self, value: &Spanned<DeValue<'_>>) -> Option<u64> {
        let number = value.get_ref().as_integer().and_then(|n| u64::from_str_radix(n.as_str(), n.radix()).ok());
        let count = number.filter(|n| *n > 0).ok_or_else(|| "this must be a whole number above 0".to_owned());
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

    fn deny(&mut self, value: &Spanned<DeValue<'_>>) {
        let rights = self.list_of_rights("deny", value);
        self.project.denied.extend(rights);
    }

    /// The rights that a list names.
    pub(super) fn list_of_rights(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Vec<Capability> {
        let mut rights = Vec::new();
        let Some(names) = value.get_ref().as_array() else {
            let help = "write a list such as `[\"net\", \"process\"]`";
            self.wrong(VALUE, value.span(), format!("`{key}` is a list of rights"), help);
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
                        None => format!("there are {}", known.join(", ")),
                    };
                    self.wrong(VALUE, name.span(), "there is no such right".to_owned(), &help);
                }
            }
        }
        rights
    }

    pub(super) fn good<T>(&mut self, value: &Spanned<DeValue<'_>>, read: Result<T, String>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(message) => {
                let d = Diagnostic::error(VALUE, message).label(self.source, span(value.span()), "not this");
                self.found.push(d);
                None
            }
        }
    }

    pub(super) fn wrong(&mut self, code: &'static str, place: Range<usize>, message: String, help: &str) {
        self.found.push(Diagnostic::error(code, message).label(self.source, span(place), "here").help(help));
    }

    pub(super) fn unknown(&mut self, key: &str, place: Range<usize>, known: &[&str], table: &str) {
        let d = Diagnostic::error(KEY, format!("`{table}` has no key `{key}`")).label(
            self.source,
            span(place),
            "not known",
        );
        self.found.push(match nearest(key, known.iter().copied()) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => {
                d.help(format!("it may hold {}", known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")))
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
    format!("this must be text in quotes, not {found}")
}
