//! Reading `harn.toml`, table by table.

use super::packs::PACKS;
use super::settings::{SettingsReader, not_text, span};
use super::user::allowed_keys;
use super::{Project, agent, channels, event_log, mcp, packs, policy};
use crate::codes::ProjectCode;
use crate::limits::{DEFAULT_MEMORY, parse_time};
use crate::trust::{LARGEST_SETTINGS, NAME, digest, is_trusted};
use base::files;
use base::words::UnknownWord;
use lang::diagnostic::Diagnostic;
use lang::source::{Source, SourceRef, Span};
use lang::vm::Limits;
use providers::model::{CapabilityError, CapabilityTable, ROW_KEYS, SERVER_KEYS};
use runtime::reminder::Reminder;
use runtime::reminder_providers::ReminderBudget;
use runtime::scope::Scope;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The tables of the file.
const TABLES: &[&str] =
    &["limits", "capabilities", "event_log", "hooks", "reminders", "agent", "providers", "mcp", "fmt", "channels"];
/// The keys of `[limits]`.
const LIMITS: &[&str] = &["fuel", "depth", "memory", "timeout", "deny"];
/// The keys of `[capabilities]`.
const RIGHTS: &[&str] = &["deny"];
/// The keys of `[hooks]`.
const HOOKS: &[&str] = &["timeout_ms"];
/// The keys of `[reminders]`.
const REMINDERS: &[&str] = &["max_body", "max_tokens", "max_share", "placement", "files", "policy"];

/// The keys of `[fmt]`.
const FMT: &[&str] = &["width"];

/// Returns every key of `harn.toml`, table by table, for its reference.
#[must_use]
pub fn project_keys() -> [(&'static str, &'static [&'static str]); 18] {
    [
        ("[limits]", LIMITS),
        ("[capabilities]", RIGHTS),
        ("[reminders]", REMINDERS),
        ("[reminders.policy]", policy::KEYS),
        ("[reminders.policy.sources.SOURCE]", policy::SOURCE_KEYS),
        ("[hooks]", HOOKS),
        ("[event_log]", event_log::KEYS),
        ("[providers]", &[PACKS]),
        ("packs", packs::KEYS),
        ("[providers.NAME]", SERVER_KEYS),
        ("[[capabilities]]", ROW_KEYS),
        ("[agent]", agent::KEYS),
        ("[agent.provider]", agent::PROVIDER),
        ("[[agent.skills]]", agent::SKILL),
        ("[mcp]", mcp::KEYS),
        ("[mcp.servers.NAME]", crate::mcp::TOML_KEYS.as_slice()),
        ("[fmt]", FMT),
        ("[channels]", channels::KEYS),
    ]
}

/// A `harn.toml` that was read.
pub(super) struct Read {
    /// The settings, without those that are not allowed.
    pub(super) project: Project,
    /// The canonical path of its folder.
    pub(super) folder: PathBuf,
    /// The digest of its bytes.
    pub(super) digest: String,
    /// The settings that require a trusted folder, as `key = value`.
    pub(super) guarded: Vec<String>,
}

pub(super) fn read(path: &Path) -> Result<Read, Vec<Diagnostic>> {
    let name = shown(path);
    let unreadable = |why: &dyn Display| {
        let message = format!("cannot read `{name}`: {why}");
        vec![Diagnostic::new(ProjectCode::Unreadable, message).help(
            "it contains the limits of this project's \
            scripts",
        )]
    };
    let written = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = written.canonicalize().map_err(|error| unreadable(&error))?;
    // Its text is shown where it is wrong, so it must not be that of a file elsewhere.
    if path.canonicalize().is_ok_and(|file| !file.starts_with(&folder)) {
        return Err(unreadable(&"it is a link that points outside of its folder"));
    }
    let bytes = files::read(path, LARGEST_SETTINGS).map_err(|error| unreadable(&error))?;
    let digest = digest(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8 text"))?;
    let source = Source::new(name, text);
    let written = shown(path.parent().unwrap_or(Path::new("")));
    let shown_folder = if written.is_empty() { "." } else { written.as_str() };
    let (project, guarded) = read_text(&source, path, &folder, &digest, shown_folder)?;
    Ok(Read { project, folder, digest, guarded })
}

/// Returns what is wrong with the text of a `harn.toml` that is or will be stored at `path`.
pub(super) fn check(source: &SourceRef, path: &Path) -> Vec<Diagnostic> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let canonical = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // The working directory of the user is not known.
    let shown_folder = canonical.display().to_string();
    match read_text(source, path, &canonical, &digest(source.text().as_bytes()), &shown_folder) {
        Ok((project, _)) => project.warning.into_iter().collect(),
        Err(found) => found,
    }
}

/// Reads the text of a `harn.toml` in the folder with the canonical path `folder`, which messages call `shown_folder`. Returns the
/// settings, and those that require a trusted folder.
fn read_text(
    source: &SourceRef,
    path: &Path,
    folder: &Path,
    digest: &str,
    shown_folder: &str,
) -> Result<(Project, Vec<String>), Vec<Diagnostic>> {
    let table = DeTable::parse(source.text()).map_err(|e| {
        let place = e.span().map_or(Span::default(), span);
        vec![Diagnostic::new(ProjectCode::NotToml, format!("invalid TOML in `{NAME}`")).label(
            source,
            place,
            e.message(),
        )]
    })?;
    let folder_as_written = path.parent().unwrap_or(Path::new(""));
    let trusted = is_trusted(folder, digest);
    let mut reader = SettingsReader::new(source, folder_as_written, folder, trusted);
    reader.file(table.get_ref());
    reader.finish()?;
    let warning = reader.warning(shown_folder);
    let (mut project, guarded) = (reader.project, reader.guarded);
    project.warning = warning;
    let guarded = guarded.into_iter().map(|setting| format!("{} = {}", setting.name, setting.value)).collect();
    Ok((project, guarded))
}

/// The path from the working directory where the file is below it, as scripts are named.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    relative.as_deref().unwrap_or(path).display().to_string()
}

impl SettingsReader<'_> {
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
                ("fmt", DeValue::Table(fmt)) => self.fmt(fmt),
                ("channels", DeValue::Table(channels)) => self.channels(channels),
                ("mcp", DeValue::Table(mcp)) => self.mcp(mcp),
                ("providers", DeValue::Table(servers)) => {
                    // A list is not the location of a provider.
                    if let Some((_, packs)) = servers.iter().find(|(key, _)| key.get_ref().as_ref() == PACKS) {
                        self.packs(packs);
                    }
                    if servers.iter().any(|(key, _)| key.get_ref().as_ref() != PACKS) {
                        self.servers(servers);
                    }
                }
                (
                    known @ ("limits" | "capabilities" | "event_log" | "hooks" | "reminders" | "agent" | "providers"
                    | "mcp" | "fmt" | "channels"),
                    _,
                ) => {
                    self.wrong(
                        ProjectCode::Value,
                        value.span(),
                        format!("`{known}` must be a table"),
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
                "depth" => {
                    let depth = self.count(value);
                    let usual = Limits::default().depth as u64;
                    self.project.limits.depth = self.at_most("limits.depth", key, depth, usual);
                }
                "memory" => {
                    let memory = self.memory(value);
                    self.project.limits.memory = self.at_most("limits.memory", key, memory, DEFAULT_MEMORY);
                }
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
                "timeout_ms" => {
                    let time = self.count(value);
                    let time = self.at_most("hooks.timeout_ms", key, time, Scope::HOOK_TIMEOUT_MS);
                    self.project.limits.hook = time.map(Duration::from_millis);
                }
                unknown => self.unknown(unknown, key.span(), HOOKS, "[hooks]"),
            }
        }
    }

    fn reminders(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "max_body" => {
                    let size = self.memory(value);
                    let usual = Reminder::MAX_BODY as u64;
                    self.project.limits.max_body = self.at_most("reminders.max_body", key, size, usual);
                }
                "max_tokens" => self.project.limits.reminders.max_tokens = self.count(value),
                "max_share" => {
                    let share = match value.get_ref() {
                        DeValue::Float(number) => number.as_str().replace('_', "").parse().ok(),
                        DeValue::Integer(number) => number.as_str().replace('_', "").parse().ok(),
                        _ => None,
                    };
                    let share = share.and_then(ReminderBudget::share);
                    let share = share.ok_or_else(|| "this must be a number above 0 and up to 1".to_owned());
                    self.project.limits.reminders.max_share = self.good(value, share);
                }
                // The files put text into prompts.
                "files" => match value.get_ref() {
                    DeValue::Boolean(true) => {
                        let counts = self.guard("reminders.files", key.span(), "true");
                        self.project.limits.reminder_files = counts.then_some(true);
                    }
                    DeValue::Boolean(false) => self.project.limits.reminder_files = Some(false),
                    _ => drop(self.good::<bool>(value, Err("this must be `true` or `false`".to_owned()))),
                },
                "placement" => {
                    let word = value.get_ref().as_str().ok_or_else(|| not_text(value));
                    let placement = word.and_then(|word| word.parse().map_err(|error: UnknownWord| error.to_string()));
                    self.project.limits.placement = self.good(value, placement);
                }
                "policy" => match value.get_ref().as_table() {
                    Some(table) => self.project.policy = self.policy(table),
                    None => {
                        let help = "write `[reminders.policy]` above its keys";
                        self.wrong(ProjectCode::Value, value.span(), "`policy` must be a table".to_owned(), help);
                    }
                },
                unknown => self.unknown(unknown, key.span(), REMINDERS, "[reminders]"),
            }
        }
    }

    fn fmt(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "width" => {
                    let width = self.count(value).map(|width| u32::try_from(width).unwrap_or(u32::MAX));
                    let allowed = |width: u32| match width {
                        20..=1000 => Ok(width),
                        _ => Err("this must be between 20 and 1000 columns".to_owned()),
                    };
                    self.project.width = width.and_then(|width| self.good(value, allowed(width)));
                }
                unknown => self.unknown(unknown, key.span(), FMT, "[fmt]"),
            }
        }
    }

    fn rights(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "deny" => self.deny(value),
                unknown => self.unknown(unknown, key.span(), RIGHTS, "[capabilities]"),
            }
        }
    }

    /// The reader of the model table looks at the whole text; it knows the row and the key, not the place of them.
    fn models(&mut self, rows: &DeArray<'_>) {
        let (row, key, message) = match self.known_models().with_toml(NAME, self.source.text()) {
            Ok(table) => return self.project.models = Some(table),
            Err(CapabilityError::Row { row, key, message, .. }) => (row, key, message),
            Err(e) => (1, None, e.to_string()),
        };
        let row = rows.get(row.saturating_sub(1));
        let place = row.map_or(0..0, |row| key.and_then(|key| span_of(row, &key)).unwrap_or_else(|| row.span()));
        let help = "`provider` and `model` select models; the other keys describe what they support";
        self.wrong(ProjectCode::Models, place, message, help);
    }

    fn known_models(&self) -> CapabilityTable {
        self.project.models.clone().or_else(|| CapabilityTable::built_in().ok()).unwrap_or_default()
    }

    /// Reads the locations of providers.
    fn servers(&mut self, tables: &DeTable<'_>) {
        let (name, key, message) = match self.known_models().with_servers(NAME, self.source.text()) {
            Ok(table) => return self.guarded_servers(tables, &table),
            Err(CapabilityError::Server { name, key, message, .. }) => (name, key, message),
            Err(e) => (String::new(), None, e.to_string()),
        };
        let table = tables.iter().find(|(written, _)| written.get_ref().as_ref() == name);
        let entry = table.zip(key).and_then(|((_, table), key)| {
            table.get_ref().as_table()?.iter().find(|(written, _)| written.get_ref().as_ref() == key)
        });
        let place = entry.or(table).map_or(0..0, |(key, _)| key.span());
        let help = "`[providers.NAME]` takes `base_url`, the URL of the provider, and `key_env`, the variable that \
            holds its key";
        self.wrong(ProjectCode::Models, place, message, help);
    }

    /// Servers count only in a trusted folder, with the keys that the user allows.
    fn guarded_servers(&mut self, tables: &DeTable<'_>, models: &CapabilityTable) {
        let named: Vec<_> =
            tables.iter().filter_map(|(name, table)| Some((name, table.get_ref().as_table()?))).collect();
        let mut trusted = true;
        for (name, table) in named {
            for (key, value) in table {
                let setting = format!("providers.{}.{}", name.get_ref(), key.get_ref());
                trusted &= self.guard(&setting, key.span(), value.get_ref().as_str().unwrap_or_default());
            }
        }
        if trusted {
            match allowed_keys() {
                Ok(allowed) => self.project.models = Some(models.allowing_keys(allowed)),
                Err(found) => self.found.push(found),
            }
        }
    }

    fn deny(&mut self, value: &Spanned<DeValue<'_>>) {
        let rights = self.list_of_rights("deny", value);
        self.project.denied.extend(rights);
    }
}

/// Returns the place of a key with its value in a table; `key` has dots between it and the tables around it. Where the table has no such
/// key, that of the table around it.
fn span_of(table: &Spanned<DeValue<'_>>, key: &str) -> Option<std::ops::Range<usize>> {
    let mut place = None;
    let mut at = table;
    for part in key.split('.') {
        let Some((name, value)) = at.get_ref().as_table()?.iter().find(|(name, _)| name.get_ref().as_ref() == part)
        else {
            break;
        };
        place = Some(name.span().start..value.span().end);
        at = value;
    }
    place
}
