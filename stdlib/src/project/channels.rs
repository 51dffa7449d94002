//! `[channels]` of `harn.toml`.

use super::settings::{SettingsReader, not_text};
use crate::codes::ProjectCode;
use crate::limits::parse_time;
use base::words::words;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of `[channels]`.
pub(super) const KEYS: &[&str] = &["orphan", "heartbeat", "permission_timeout"];

words! {
    /// The fate of a turn when the last channel leaves its session. Permission questions wait in any case.
    pub enum OrphanPolicy {
        /// The turn goes on.
        Continue = "continue",
        /// The turn waits at its next model call or tool call until a channel connects.
        Pause = "pause",
        /// The turn is cancelled.
        Cancel = "cancel",
    }
}

/// The settings of `harn serve channels`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelsProject {
    /// The fate of a turn when the last channel leaves.
    pub orphan: OrphanPolicy,
    /// The time within which a channel must be heard; `None` means the default.
    pub heartbeat: Option<Duration>,
    /// The time after which a permission question without an answer is refused; `None` means never.
    pub permission_timeout: Option<Duration>,
}

impl ChannelsProject {
    /// The default of `heartbeat`, in milliseconds.
    pub const HEARTBEAT_MS: u64 = 20_000;
}

impl Default for ChannelsProject {
    fn default() -> ChannelsProject {
        ChannelsProject { orphan: OrphanPolicy::Continue, heartbeat: None, permission_timeout: None }
    }
}

impl SettingsReader<'_> {
    pub(super) fn channels(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "orphan" => match value.get_ref().as_str().map(str::parse) {
                    Some(Ok(policy)) => self.project.channels.orphan = policy,
                    _ => {
                        let message = "`orphan` must be \"continue\", \"pause\" or \"cancel\"".to_owned();
                        let help = "write, for example, `orphan = \"continue\"`";
                        self.wrong(ProjectCode::Value, value.span(), message, help);
                    }
                },
                "heartbeat" => {
                    // Connections that are gone are kept for some of them.
                    let heartbeat = self.duration(value);
                    let millis = heartbeat.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
                    let heartbeat = self.at_most("channels.heartbeat", key, millis, ChannelsProject::HEARTBEAT_MS);
                    self.project.channels.heartbeat = heartbeat.map(Duration::from_millis);
                }
                "permission_timeout" => {
                    if let Some(timeout) = self.duration(value) {
                        self.project.channels.permission_timeout = Some(timeout);
                    }
                }
                unknown => self.unknown(unknown, key.span(), KEYS, "[channels]"),
            }
        }
    }

    fn duration(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Duration> {
        let time = value.get_ref().as_str().ok_or_else(|| not_text(value)).and_then(parse_time);
        let time = time.and_then(|time| match time.is_zero() {
            true => Err("it must be longer than 0".to_owned()),
            false => Ok(time),
        });
        self.good(value, time)
    }
}
