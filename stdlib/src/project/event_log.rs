//! `[event_log]` of `harn.toml`.

use super::settings::{SettingsReader, not_text};
use crate::catalogue::from_core;
use crate::codes::ProjectCode;
use crate::limits::parse_time;
use eventlog::{LogBackend, MemoryRetention, Synchronous};
use std::path::Path;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of `[event_log]`.
pub(super) const KEYS: &[&str] =
    &["home", "synchronous", "lock_timeout", "max_file", "keep", "max_size", "keep_records", "keep_bytes"];

/// The word for an age without a limit.
const FOREVER: &str = "forever";
/// The word for a size without a limit.
const UNLIMITED: &str = "unlimited";

impl SettingsReader<'_> {
    pub(super) fn event_log(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "home" => self.home(value),
                "synchronous" => self.synchronous(value),
                "lock_timeout" => {
                    let time = value.get_ref().as_str().ok_or_else(|| not_text(value)).and_then(parse_time);
                    let time = self.good(value, time).map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
                    let usual = self.project.log.sqlite.lock_timeout.as_millis() as u64;
                    if let Some(ms) = self.at_most("event_log.lock_timeout", key, time, usual) {
                        self.project.log.sqlite.lock_timeout = Duration::from_millis(ms);
                    }
                }
                "keep" => self.kept_age(value),
                "max_size" => self.kept_size(value),
                "max_file" => self.project.log.sqlite.most_bytes = self.memory(value),
                "keep_records" => {
                    let count = self.count(value);
                    let usual = MemoryRetention::default().records as u64;
                    if let Some(count) = self.at_most("event_log.keep_records", key, count, usual) {
                        self.project.log.kept.records = usize::try_from(count).unwrap_or(usize::MAX);
                    }
                }
                "keep_bytes" => {
                    let bytes = self.memory(value);
                    let usual = MemoryRetention::default().bytes as u64;
                    if let Some(bytes) = self.at_most("event_log.keep_bytes", key, bytes, usual) {
                        self.project.log.kept.bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                    }
                }
                unknown => self.unknown(unknown, key.span(), KEYS, "[event_log]"),
            }
        }
    }

    /// A time, or `forever`. The log may be one that the user has named, so less is kept of it only in a trusted folder.
    fn kept_age(&mut self, value: &Spanned<DeValue<'_>>) {
        let written = value.get_ref().as_str();
        let age = match written {
            Some(FOREVER) => Some(None),
            _ => self.good(value, written.ok_or_else(|| not_text(value)).and_then(parse_time)).map(Some),
        };
        if let Some(age) = age
            && self.guard("event_log.keep", value.span(), written.unwrap_or_default())
        {
            self.project.log.retention.age = age;
        }
    }

    /// A size, or `unlimited`.
    fn kept_size(&mut self, value: &Spanned<DeValue<'_>>) {
        let written = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().to_owned(),
            _ => String::new(),
        };
        let bytes = if written == UNLIMITED { Some(None) } else { self.memory(value).map(Some) };
        if let Some(bytes) = bytes
            && self.guard("event_log.max_size", value.span(), &written)
        {
            self.project.log.retention.bytes = bytes;
        }
    }

    /// A path is one from the folder of the file: a project's log is one, wherever its scripts are started.
    fn home(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(written) = value.get_ref().as_str() else {
            self.good::<()>(value, Err(not_text(value)));
            return;
        };
        match written.parse() {
            Ok(LogBackend::Sqlite(path)) => {
                let path = self.folder.join(path);
                if is_inside(self.canonical, &path) || self.guard("event_log.home", value.span(), written) {
                    self.project.log.home = Some(LogBackend::Sqlite(path));
                }
            }
            Ok(home) => self.project.log.home = Some(home),
            Err(error) => self.wrong(from_core(error.code()), value.span(), error.to_string(), &error.help()),
        }
    }

    fn synchronous(&mut self, value: &Spanned<DeValue<'_>>) {
        let level = match value.get_ref().as_str() {
            Some("normal") => Synchronous::Normal,
            Some("full") => Synchronous::Full,
            _ => {
                let help = "\"normal\" survives a crash of the process, \"full\" also a power failure";
                let message = "this must be \"normal\" or \"full\"".to_owned();
                return self.wrong(ProjectCode::Value, value.span(), message, help);
            }
        };
        self.project.log.sqlite.synchronous = level;
    }
}

/// Returns whether a file is below a folder, or would be: links are followed.
fn is_inside(folder: &Path, file: &Path) -> bool {
    if let Ok(whole) = file.canonicalize() {
        return whole.starts_with(folder);
    }
    // A link that leads nowhere would make the file where it leads.
    let is_link = file.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    !is_link && parent.canonicalize().is_ok_and(|parent| parent.starts_with(folder))
}
