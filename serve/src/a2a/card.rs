//! [`Card`]: what an agent says of itself.

pub(super) mod about;
mod form;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::SystemTime;

use a2a::Version;
use runtime::data::Data;
use sha2::{Digest, Sha256};
use stdlib::Agent;

/// What an agent says of itself. It is the same as long as the agent is served.
#[derive(Debug)]
pub(super) struct Card {
    /// What its author says of it; its name and description are there.
    pub(super) about: Agent,
    /// Where requests go.
    pub(super) url: Url,
    /// Whether a token is wanted.
    pub(super) has_token: bool,
    /// What the extension for reminders says.
    pub(super) reminders: Data,
    /// Whether it stands where the draft of the extension has it too, whoever asks.
    pub(super) always_rfc: bool,
    /// The version that a client gets which names none; without one, a card that all can read.
    pub(super) usual: Option<Version>,
    /// Since when the card is as it is.
    pub(super) since: SystemTime,
}

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Url {
    /// There.
    Fixed(String),
    /// Where the card was asked for; else there. What listens on all addresses of a machine does not know how it is reached.
    Asked(String),
}

impl Card {
    /// The card as JSON: strictly of a version, or one that all can read. `rfc` is whether the client asks for the extension by
    /// its name, `host` what it takes the agent for.
    pub(super) fn text(&self, version: Option<Version>, rfc: bool, host: Option<&str>) -> String {
        let url = match (&self.url, host.filter(|host| super::http::name_of(host).is_some())) {
            (Url::Asked(_), Some(host)) => format!("http://{host}/"),
            (Url::Fixed(url) | Url::Asked(url), _) => url.clone(),
        };
        form::write(self, &url, version.or(self.usual), rfc || self.always_rfc).to_json()
    }

    /// Since when the card is as it is.
    pub(super) fn since(&self) -> SystemTime {
        self.since
    }

    /// What tells this text from others, for `ETag`.
    #[allow(clippy::unused_self)]
    pub(super) fn tag(&self, text: &str) -> String {
        let mut tag = String::from("\"");
        for byte in &Sha256::digest(text.as_bytes())[..16] {
            let _ = write!(tag, "{byte:02x}");
        }
        tag.push('"');
        tag
    }
}
