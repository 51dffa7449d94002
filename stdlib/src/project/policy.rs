//! `[reminders.policy]`: reminders that are forced, forbidden, limited by source or marked, by the project and by the
//! managed file that `HARN_POLICY` names.

use super::settings::{SettingsReader, not_text, span};
use crate::codes::ProjectCode;
use crate::trust::LARGEST_SETTINGS;
use base::data::Data;
use base::files;
use base::words::UnknownWord;
use globset::Glob;
use lang::diagnostic::Diagnostic;
use lang::source::{Source, Span};
use runtime::reminder::limits::with_default_max_body;
use runtime::reminder::policy::{PolicyPattern, PolicySource, ReminderPolicy, SourceLimits};
use runtime::reminder::{ReminderError, ReminderSpec, RoleHint};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The variable that names the managed file.
pub(super) const VARIABLE: &str = "HARN_POLICY";
/// The keys of `[reminders.policy]`.
pub(super) const KEYS: &[&str] = &["force", "forbid_ids", "forbid_tags", "forbid_sources", "mark_untrusted", "sources"];
/// The keys of `[reminders.policy.sources.SOURCE]`.
pub(super) const SOURCE_KEYS: &[&str] = &["max_body", "role_hint"];
/// The table of the managed file, and the one in it.
const MANAGED: [&str; 2] = ["reminders", "policy"];

/// Reads the managed policy, if the environment names one.
///
/// # Errors
/// Returns the errors in the file: a policy that cannot be read stops the run.
pub(super) fn managed() -> Result<ReminderPolicy, Vec<Diagnostic>> {
    match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => read(Path::new(&path)),
        None => Ok(ReminderPolicy::default()),
    }
}

fn read(path: &Path) -> Result<ReminderPolicy, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let unreadable = |why: String| {
        let message = format!("cannot read `{name}`: {why}");
        let help =
            format!("make the file readable, or correct the path in {VARIABLE}: scripts run only with this policy");
        vec![Diagnostic::new(ProjectCode::Unreadable, message).help(help)]
    };
    let bytes = files::read(path, LARGEST_SETTINGS).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".to_owned()))?;
    let source = Source::new(name.clone(), text);
    let table = DeTable::parse(source.text()).map_err(|error| {
        let place = error.span().map_or(Span::default(), span);
        let message = format!("invalid TOML in `{name}`");
        vec![Diagnostic::new(ProjectCode::NotToml, message).label(&source, place, error.message())]
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut reader = SettingsReader::new(&source, folder, folder, true);
    let mut policy = ReminderPolicy::default();
    reader.only_table(table.get_ref(), MANAGED[0], &name, |reader, reminders| {
        reader.only_table(reminders, MANAGED[1], "[reminders]", |reader, own| policy = reader.policy(own));
    });
    reader.finish()?;
    Ok(policy)
}

impl SettingsReader<'_> {
    /// Reads a table that can contain one other table.
    fn only_table(
        &mut self,
        table: &DeTable<'_>,
        name: &'static str,
        of: &str,
        inner: impl FnOnce(&mut Self, &DeTable<'_>),
    ) {
        let mut inner = Some(inner);
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                (known, DeValue::Table(found)) if known == name => {
                    if let Some(inner) = inner.take() {
                        inner(self, found);
                    }
                }
                (known, _) if known == name => {
                    let help = "write `[reminders.policy]` above its keys";
                    self.wrong(ProjectCode::Value, value.span(), format!("`{name}` must be a table"), help);
                }
                (unknown, _) => self.unknown(unknown, key.span(), &[name], of),
            }
        }
    }

    /// Reads `[reminders.policy]`.
    pub(super) fn policy(&mut self, table: &DeTable<'_>) -> ReminderPolicy {
        let mut policy = ReminderPolicy::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "force" => {
                    let forced = self.forced(value);
                    // They put text into prompts.
                    let bodies = forced.iter().map(|spec| spec.body.as_ref()).collect::<Vec<_>>().join(" | ");
                    if self.guard("reminders.policy.force", key.span(), &bodies) {
                        policy.force = forced;
                    }
                }
                "forbid_ids" => policy.forbid_ids = self.patterns(value),
                "forbid_tags" => policy.forbid_tags = self.patterns(value),
                "forbid_sources" => policy.forbid_sources = self.words_of(value),
                "mark_untrusted" => {
                    let flag = value.get_ref().as_bool().ok_or_else(|| "this must be `true` or `false`".to_owned());
                    policy.mark_untrusted = self.good(value, flag);
                }
                "sources" => policy.sources = self.sources(value),
                unknown => self.unknown(unknown, key.span(), KEYS, "[reminders.policy]"),
            }
        }
        policy
    }

    fn forced(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<ReminderSpec> {
        let Some(rows) = value.get_ref().as_array() else {
            let help = "write a list such as `[{body = \"Never print a key.\"}]`";
            self.wrong(ProjectCode::Value, value.span(), "`force` must be a list of reminders".to_owned(), help);
            return Vec::new();
        };
        let mut specs: Vec<ReminderSpec> = Vec::new();
        for row in rows {
            match with_default_max_body(|| ReminderSpec::from_data(&data(row.get_ref()))) {
                Ok(spec) => {
                    let is_known = |known: &ReminderSpec| known.dedupe_key == spec.dedupe_key;
                    if let Some(key) = spec.dedupe_key.as_ref().filter(|_| specs.iter().any(is_known)) {
                        let message = format!("two forced reminders have the `dedupe_key` `{key}`");
                        let help = "write a key of its own for each: a reminder replaces another one with its key";
                        self.wrong(ProjectCode::Value, row.span(), message, help);
                    }
                    specs.push(ReminderSpec { preserve_on_compact: true, ..spec });
                }
                Err(ReminderError { message, help, .. }) => {
                    let help = help.unwrap_or_else(|| "the keys are those of any reminder".to_owned());
                    self.wrong(ProjectCode::Value, row.span(), message, &help);
                }
            }
        }
        specs
    }

    fn patterns(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<PolicyPattern> {
        let read = |text: &str| match Glob::new(text) {
            Ok(glob) => Ok(PolicyPattern { text: text.into(), glob: glob.compile_matcher() }),
            Err(error) => Err(format!("invalid glob: {}", error.kind())),
        };
        self.each(value, read)
    }

    fn words_of<T: std::str::FromStr<Err = UnknownWord>>(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<T> {
        self.each(value, |word| word.parse().map_err(|error: UnknownWord| error.to_string()))
    }

    /// Reads a list of texts.
    fn each<T>(&mut self, value: &Spanned<DeValue<'_>>, read: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
        let Some(items) = value.get_ref().as_array() else {
            let help = "write a list of quoted strings";
            self.wrong(ProjectCode::Value, value.span(), "this must be a list".to_owned(), help);
            return Vec::new();
        };
        let mut all = Vec::new();
        for item in items {
            let text = item.get_ref().as_str().ok_or_else(|| not_text(item));
            all.extend(self.good(item, text.and_then(&read)));
        }
        all
    }

    fn sources(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<(PolicySource, SourceLimits)> {
        let Some(tables) = value.get_ref().as_table() else {
            let help = "write `[reminders.policy.sources.host]` above its keys";
            self.wrong(ProjectCode::Value, value.span(), "`sources` must be a table".to_owned(), help);
            return Vec::new();
        };
        let mut sources = Vec::new();
        for (name, table) in tables {
            let Ok(source) = name.get_ref().parse::<PolicySource>() else {
                self.unknown(name.get_ref(), name.span(), PolicySource::WORDS, "[reminders.policy.sources]");
                continue;
            };
            let Some(table) = table.get_ref().as_table() else {
                let help = format!("write `[reminders.policy.sources.{source}]` above its keys");
                self.wrong(ProjectCode::Value, table.span(), format!("`{source}` must be a table"), &help);
                continue;
            };
            let mut limits = SourceLimits::default();
            for (key, value) in table {
                match key.get_ref().as_ref() {
                    "max_body" => limits.max_body = self.memory(value),
                    "role_hint" => limits.role_hints = self.words_of::<RoleHint>(value),
                    unknown => self.unknown(unknown, key.span(), SOURCE_KEYS, "[reminders.policy.sources]"),
                }
            }
            sources.push((source, limits));
        }
        sources
    }
}

/// Returns a TOML value as data. Dates stay text.
fn data(value: &DeValue<'_>) -> Data {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into(),
            Err(_) => number.as_str().into(),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) => number.into(),
            Err(_) => number.as_str().into(),
        },
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| data(item.get_ref())).collect(),
        DeValue::Table(entries) => {
            Data::dict(entries.iter().map(|(key, value)| (key.get_ref().to_string(), data(value.get_ref()))))
        }
    }
}
