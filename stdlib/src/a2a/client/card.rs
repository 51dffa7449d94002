//! [`Card`]: what an agent says of itself, and what harn reads from it.

use std::sync::Arc;

use a2a::Version;
use base::data::{Data, Entries};
use providers::web::Url;

use super::access::{address, shown};
use super::{ErrorKind, PeerError};

/// The URI of the extension of reminders.
pub(crate) const REMINDERS: &str = "urn:harn:ext:reminders:1";

/// A card.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    /// The card as it was received.
    pub(crate) data: Data,
    /// The agent's name.
    pub(crate) name: Arc<str>,
    /// The version to speak.
    pub(crate) version: Version,
    /// The endpoint.
    pub(crate) endpoint: Url,
    /// The `tenant` that each request must have.
    pub(crate) tenant: Option<Arc<str>>,
    /// Whether it streams.
    pub(crate) streaming: bool,
    /// The agent's support of reminders; `None` without any.
    pub(crate) reminders: Option<ReminderSupport>,
    /// The URIs of the extensions that a caller must activate.
    pub(crate) required_extensions: Vec<Arc<str>>,
}

/// An agent's support of reminders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReminderSupport {
    /// It takes them.
    pub(crate) inject: bool,
    /// It reports them.
    pub(crate) emit: bool,
    /// The allowed values of `propagate`.
    pub(crate) propagate: Vec<Arc<str>>,
    /// The slots that it has.
    pub(crate) role_hints: Vec<Arc<str>>,
}

/// A place where an agent answers.
struct Interface<'a> {
    url: &'a str,
    binding: &'a str,
    version: &'a str,
    tenant: Option<Arc<str>>,
}

impl Card {
    /// Reads a card that was found at `at`; with `wanted` only that version will do.
    pub(crate) fn read(data: Data, at: &str, wanted: Option<Version>) -> Result<Card, PeerError> {
        let no_card = |why: &str| {
            let message = format!("invalid agent card of {}: {why}", shown(at));
            PeerError::new(ErrorKind::NotAgent, message).help("check that the URL belongs to an A2A agent")
        };
        if data.as_dict().is_none() {
            return Err(no_card("it is not a JSON object"));
        }
        let offered = interfaces(&data);
        if offered.is_empty() {
            return Err(no_card("it has neither `supportedInterfaces` nor `url`"));
        }
        let (version, interface) = choose(&offered, wanted).ok_or_else(|| none_spoken(&offered, at, wanted))?;
        let base = address(at)?;
        let endpoint = base.join(interface.url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let endpoint = endpoint.ok_or_else(|| no_card(&format!("`{}` is not a URL", interface.url)))?;
        let name = data.get("name").as_str().unwrap_or("agent").into();
        let streaming = data.at("capabilities.streaming").truthy();
        let reminders = reminders(data.get("capabilities"));
        let required_extensions = required_extensions(data.get("capabilities"));
        let tenant = interface.tenant.clone();
        Ok(Card { name, version, endpoint, tenant, streaming, reminders, required_extensions, data })
    }

    /// The card with what was read from it, under `harn`.
    pub(crate) fn to_data(&self) -> Data {
        let texts = |list: &[Arc<str>]| list.iter().map(Data::from).collect::<Data>();
        let reminders = self.reminders.as_ref().map_or(Data::Nil, |known| {
            Data::dict([
                ("inject", Data::from(known.inject)),
                ("emit", known.emit.into()),
                ("propagate", texts(&known.propagate)),
                ("role_hints", texts(&known.role_hints)),
            ])
        });
        let reading = Data::dict([
            ("version", Data::from(self.version.as_str())),
            ("endpoint", self.endpoint.as_str().into()),
            ("streaming", self.streaming.into()),
            ("reminders", reminders),
            ("required_extensions", texts(&self.required_extensions)),
        ]);
        self.data.clone().with("harn", reading)
    }
}

/// Returns the endpoints of a card: 1.0's list, and the fields of the versions before it.
fn interfaces(card: &Data) -> Vec<Interface<'_>> {
    let text = |data: &'_ Data| data.as_shared_str().filter(|text| !text.is_empty());
    let mut found: Vec<Interface<'_>> = Vec::new();
    for row in card.get("supportedInterfaces").as_list().into_iter().flatten() {
        if let Some(url) = row.get("url").as_str() {
            found.push(Interface {
                url,
                binding: row.get("protocolBinding").as_str().unwrap_or("JSONRPC"),
                version: row.get("protocolVersion").as_str().unwrap_or("1.0"),
                tenant: text(row.get("tenant")),
            });
        }
    }
    let version = card.get("protocolVersion").as_str().unwrap_or("0.3");
    if let Some(url) = card.get("url").as_str() {
        let binding = card.get("preferredTransport").as_str().unwrap_or("JSONRPC");
        found.push(Interface { url, binding, version, tenant: None });
    }
    for row in card.get("additionalInterfaces").as_list().into_iter().flatten() {
        if let Some((url, binding)) = row.get("url").as_str().zip(row.get("transport").as_str()) {
            found.push(Interface { url, binding, version, tenant: None });
        }
    }
    found
}

fn choose<'a, 'd>(offered: &'a [Interface<'d>], wanted: Option<Version>) -> Option<(Version, &'a Interface<'d>)> {
    let spoken = offered.iter().filter(|row| row.binding.eq_ignore_ascii_case("JSONRPC"));
    if let Some(wanted) = wanted {
        // A version that the caller asks for takes precedence over the card.
        return spoken
            .clone()
            .find(|row| spelling(row.version) == Some(wanted))
            .or(spoken.clone().next())
            .map(|row| (wanted, row));
    }
    let mut best: Option<(Version, &Interface<'_>)> = None;
    for (version, row) in spoken.filter_map(|row| spelling(row.version).map(|version| (version, row))) {
        // Of two with the same version the first is the one that the agent likes better.
        if best.is_none_or(|(known, _)| version > known) {
            best = Some((version, row));
        }
    }
    best
}

/// The spelling of a version: 0.2 spells as 0.3 does.
fn spelling(version: &str) -> Option<Version> {
    match version {
        "0.2" => Some(Version::V0_3),
        _ if version.starts_with("0.2.") => Some(Version::V0_3),
        _ => Version::of_header(version),
    }
}

fn none_spoken(offered: &[Interface<'_>], at: &str, wanted: Option<Version>) -> PeerError {
    let rows: Vec<String> = offered.iter().map(|row| format!("{} {}", row.binding, row.version)).collect();
    let asked = wanted.map_or("JSON-RPC in the versions 1.0 and 0.3", |_| "JSON-RPC");
    let message = format!("the agent at {} offers {}, but only {asked} is supported", shown(at), rows.join(", "));
    PeerError::new(ErrorKind::NoVersion, message)
        .fact("offered", rows.iter().map(|row| Data::from(row.as_str())).collect())
        .help("ask the operator of the agent whether it can offer the JSONRPC binding")
}

fn required_extensions(capabilities: &Data) -> Vec<Arc<str>> {
    let rows = capabilities.get("extensions").as_list().into_iter().flatten();
    rows.filter(|row| row.get("required").truthy()).filter_map(|row| row.get("uri").as_shared_str()).collect()
}

fn reminders(capabilities: &Data) -> Option<ReminderSupport> {
    let extension = capabilities.get("extensions").as_list().into_iter().flatten();
    let extension = extension.into_iter().find(|row| row.get("uri").as_str() == Some(REMINDERS));
    let said = match extension {
        Some(row) if row.get("params").as_dict().is_none_or(Entries::is_empty) => {
            return Some(ReminderSupport { inject: true, emit: true, ..ReminderSupport::default() });
        }
        Some(row) => row.get("params"),
        None if capabilities.get("reminders").as_dict().is_some() => capabilities.get("reminders"),
        None => capabilities.at("_meta.harn.reminders"),
    };
    said.as_dict()?;
    let texts = |key: &str| said.get(key).as_list().into_iter().flatten().filter_map(Data::as_shared_str).collect();
    Some(ReminderSupport {
        inject: said.get("inject").truthy(),
        emit: said.get("emit").truthy(),
        propagate: texts("propagate"),
        role_hints: texts("roleHints"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str, wanted: Option<Version>) -> Result<Card, PeerError> {
        Card::read(Data::from_json(json).unwrap(), "http://h:1/.well-known/agent-card.json", wanted)
    }

    #[test]
    fn the_newest_version_is_chosen() {
        let card = read(
            r#"{"name": "w", "supportedInterfaces": [
                {"url": "http://h:1/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
                {"url": "/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
                {"url": "/new", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t"},
                {"url": "/other", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}"#,
            None,
        )
        .unwrap();
        assert_eq!((card.version, card.endpoint.as_str()), (Version::V1_0, "http://h:1/new"));
        assert_eq!((card.tenant.as_deref(), card.streaming, card.reminders), (Some("t"), false, None));
    }

    #[test]
    fn a_card_of_before_1_0_is_read() {
        let card = read(
            r#"{"name": "w", "url": "http://h:1/a2a", "protocolVersion": "0.3.0", "preferredTransport": "GRPC",
                "additionalInterfaces": [{"url": "http://h:1/rpc", "transport": "JSONRPC"}],
                "capabilities": {"streaming": true}}"#,
            None,
        )
        .unwrap();
        assert_eq!((card.version, card.endpoint.as_str(), card.streaming), (Version::V0_3, "http://h:1/rpc", true));
        let card = read(r#"{"name": "w", "url": "http://h:1/", "protocolVersion": "0.2.5"}"#, None).unwrap();
        assert_eq!(card.version, Version::V0_3);
    }

    #[test]
    fn the_rfcs_card_is_read_and_declares_reminders() {
        let card = read(
            r#"{"name": "rebase-worker", "url": "https://example.com/.well-known/a2a-agent", "skills": ["rebase"],
                "capabilities": {"reminders": {"inject": true, "emit": true, "propagate": ["session", "none"],
                                               "roleHints": ["system", "developer"]}}}"#,
            None,
        )
        .unwrap();
        let reminders = card.reminders.unwrap();
        assert!(reminders.inject && reminders.emit);
        assert_eq!((reminders.propagate.len(), &*reminders.role_hints[1]), (2, "developer"));
    }

    #[test]
    fn reminders_are_declared_in_three_places() {
        for capabilities in [
            r#"{"extensions": [{"uri": "urn:harn:ext:reminders:1"}]}"#,
            r#"{"extensions": [{"uri": "x"}, {"uri": "urn:harn:ext:reminders:1", "params": {"inject": true, "emit": true}}]}"#,
            r#"{"reminders": {"inject": true, "emit": true}}"#,
            r#"{"_meta": {"harn": {"reminders": {"inject": true, "emit": true}}}}"#,
        ] {
            let known = reminders(&Data::from_json(capabilities).unwrap()).unwrap();
            assert!(known.inject && known.emit, "{capabilities}");
        }
        for capabilities in ["{}", r#"{"extensions": [{"uri": "x"}]}"#, r#"{"reminders": true}"#] {
            assert_eq!(reminders(&Data::from_json(capabilities).unwrap()), None, "{capabilities}");
        }
    }

    #[test]
    fn extensions_are_required_only_if_the_card_says_so() {
        let capabilities = r#"{"extensions": [{"uri": "a", "required": true}, {"uri": "b", "required": false}, {"uri": "c"},
            {"required": true}, {"uri": "urn:harn:ext:reminders:1", "required": true}]}"#;
        let required = required_extensions(&Data::from_json(capabilities).unwrap());
        assert_eq!(required, ["a".into(), "urn:harn:ext:reminders:1".into()] as [Arc<str>; 2]);
        assert!(required_extensions(&Data::Nil).is_empty());
    }

    #[test]
    fn what_is_no_card_is_told_apart_from_one_in_another_tongue() {
        for json in ["[]", "{}", r#"{"name": "w"}"#, r#"{"url": 3}"#, r#"{"url": "gopher://h"}"#] {
            assert_eq!(read(json, None).unwrap_err().kind, ErrorKind::NotAgent, "{json}");
        }
        for json in [
            r#"{"url": "http://h/", "preferredTransport": "GRPC"}"#,
            r#"{"url": "http://h/", "protocolVersion": "7.0"}"#,
        ] {
            assert_eq!(read(json, None).unwrap_err().kind, ErrorKind::NoVersion, "{json}");
        }
        let forced = read(r#"{"url": "http://h/", "protocolVersion": "7.0"}"#, Some(Version::V0_3)).unwrap();
        assert_eq!(forced.version, Version::V0_3);
    }
}
