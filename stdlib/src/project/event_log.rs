//! `[event_log]` of `harn.toml`.

use super::VALUE;
use super::read::{Reader, not_text};
use crate::limits::parse_time;
use runtime::event_log::{Home, Synchronous};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys.
const KEYS: &[&str] = &["home", "synchronous", "lock_timeout", "max_file", "keep_records", "keep_bytes"];

impl Reader<'_> {
    pub(super) fn event_log(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "home" => self.home(value),
                "synchronous" => self.synchronous(value),
                "lock_timeout" => {
                    let time = value.get_ref().as_str().ok_or_else(|| not_text(value)).and_then(parse_time);
                    if let Some(time) = self.good(value, time) {
                        self.project.log.sqlite.lock_timeout = time;
                    }
                }
                "max_file" => self.project.log.sqlite.most_bytes = self.memory(value),
                "keep_records" => {
                    if let Some(count) = self.count(value) {
                        self.project.log.kept.records = usize::try_from(count).unwrap_or(usize::MAX);
                    }
                }
                "keep_bytes" => {
                    if let Some(bytes) = self.memory(value) {
                        self.project.log.kept.bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                    }
                }
                unknown => self.unknown(unknown, key.span(), KEYS, "[event_log]"),
            }
        }
    }

    /// A path is one from the folder of the file: a project's log is one, wherever its scripts are started.
    fn home(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(written) = value.get_ref().as_str() else {
            self.good::<()>(value, Err(not_text(value)));
            return;
        };
        match written.parse() {
            Ok(Home::Sqlite(path)) => self.project.log.home = Some(Home::Sqlite(self.folder.join(path))),
            Ok(home) => self.project.log.home = Some(home),
            Err(error) => self.wrong(error.code(), value.span(), error.to_string(), &error.help()),
        }
    }

    fn synchronous(&mut self, value: &Spanned<DeValue<'_>>) {
        let level = match value.get_ref().as_str() {
            Some("normal") => Synchronous::Normal,
            Some("full") => Synchronous::Full,
            _ => {
                let help = "\"normal\" survives the end of the process, \"full\" a loss of power as well";
                let message = "this must be \"normal\" or \"full\"".to_owned();
                return self.wrong(VALUE, value.span(), message, help);
            }
        };
        self.project.log.sqlite.synchronous = level;
    }
}
