//! [`AgentCard`]: the agent card.

pub(crate) mod about;
mod form;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::SystemTime;

use a2a::Version;
use base::data::Data;
use sha2::{Digest, Sha256};
use stdlib::Agent;

use crate::http::HttpPort;

/// The agent card. It does not change while the agent is served.
#[derive(Debug)]
pub(crate) struct AgentCard {
    /// The agent's name, description and skills, with the name and description filled in.
    pub(crate) about: Agent,
    /// The URL for requests.
    pub(crate) url: CardUrl,
    /// Whether the server requires a token.
    pub(crate) has_token: bool,
    /// The parameters of the reminder extension; nil if the agent does not have it.
    pub(crate) reminders: Data,
    /// Whether updates of tasks are streamed.
    pub(crate) streams: bool,
    /// Whether the REST binding of version 1.0 is served at the same URL.
    pub(crate) has_rest: bool,
    /// Whether clients that name a version also get the extension in the places that only its draft defines.
    pub(crate) always_rfc: bool,
    /// The version for clients that name none. `None` selects a card that all versions can read.
    pub(crate) usual: Option<Version>,
    /// When the card last changed.
    pub(crate) since: SystemTime,
}

/// The URL for requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CardUrl {
    /// A fixed URL.
    Fixed(String),
    /// The host that the card was requested from, or this URL if the request names none. A server that listens on all
    /// addresses does not know its public name.
    Asked(String),
}

impl CardUrl {
    /// Returns the URL of an agent: its own, or that of its port.
    pub(crate) fn of(about: &Agent, port: &HttpPort) -> CardUrl {
        match &about.url {
            Some(url) => CardUrl::Fixed(url.clone()),
            None if port.address.ip().is_unspecified() => CardUrl::Asked(format!("{}/", port.url())),
            None => CardUrl::Fixed(format!("{}/", port.url())),
        }
    }
}

impl AgentCard {
    /// Returns the card as JSON: strictly in `version`, or readable by all versions if it is `None`. The latter declares
    /// reminders also as their draft does, and so does the former if the client names the extension in its request
    /// (`rfc`). `host` is the host name that the client used.
    pub(crate) fn text(&self, version: Option<Version>, rfc: bool, host: Option<&str>) -> String {
        let url = match (&self.url, host.filter(|host| crate::http::name_of(host).is_some())) {
            (CardUrl::Asked(own), Some(host)) => {
                let scheme = own.split_once("://").map_or("http", |(scheme, _)| scheme);
                format!("{scheme}://{host}/")
            }
            (CardUrl::Fixed(url) | CardUrl::Asked(url), _) => url.clone(),
        };
        let version = version.or(self.usual);
        form::write(self, &url, version, rfc || self.always_rfc || version.is_none()).to_json()
    }

    /// Returns when the card last changed.
    pub(super) fn since(&self) -> SystemTime {
        self.since
    }

    /// Returns the entity tag of `text`, for the `ETag` header.
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
