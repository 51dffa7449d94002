//! The JSON format of a card in each version, and one that all versions can read.

use a2a::Version;
use base::data::Data;
use stdlib::{Agent, Skill};

use super::AgentCard;
use crate::a2a::extension::{NOTIFICATIONS, REMINDERS};

/// The default input and output media types: text and data.
pub(super) const MODES: [&str; 2] = ["text/plain", "application/json"];

/// The name of the token's security scheme in the card.
const SCHEME: &str = "bearer";

/// Writes a card: strictly in `version`, or readable by all versions if it is `None`, as the members of 0.3 and 1.0
/// have different names.
pub(super) fn write(card: &AgentCard, url: &str, version: Option<Version>, rfc: bool) -> Data {
    let is = |asked: Version| version.is_none_or(|version| version == asked);
    let mut data = common(&card.about, capabilities(card, version, rfc));
    if is(Version::V1_0) {
        v1_0(card, url, &mut data);
    }
    if is(Version::V0_3) {
        v0_3(card, url, &mut data);
    }
    if card.has_token {
        data.set("securitySchemes", Data::dict([(SCHEME, scheme(is(Version::V0_3), is(Version::V1_0)))]));
    }
    data
}

fn common(about: &Agent, capabilities: Data) -> Data {
    let modes = || Data::list(MODES.map(Data::from));
    let taken = about.input_modes.iter().map(|mode| mode.as_str().into());
    let text = |text: &Option<String>| text.as_deref().map_or(Data::Nil, Data::from);
    let provider = about.provider.as_ref().map_or(Data::Nil, |provider| {
        Data::dict([
            ("organization", Data::from(provider.organization.as_str())),
            ("url", provider.url.as_str().into()),
        ])
    });
    Data::dict_of_present([
        ("name", text(&about.name)),
        ("description", text(&about.description)),
        ("version", about.version.as_deref().unwrap_or("0.0.0").into()),
        ("provider", provider),
        ("documentationUrl", text(&about.documentation_url)),
        ("iconUrl", text(&about.icon_url)),
        ("capabilities", capabilities),
        ("defaultInputModes", Data::list(taken)),
        ("defaultOutputModes", modes()),
        ("skills", Data::list(about.skills.iter().map(skill))),
    ])
}

fn skill(skill: &Skill) -> Data {
    let list = |texts: &[String]| Data::list(texts.iter().map(|text| text.as_str().into()));
    let some = |texts: &[String]| if texts.is_empty() { Data::Nil } else { list(texts) };
    Data::dict_of_present([
        ("id", Data::from(skill.id.as_str())),
        ("name", skill.name.as_str().into()),
        ("description", skill.description.as_str().into()),
        ("tags", list(&skill.tags)),
        ("examples", some(&skill.examples)),
        ("inputModes", some(&skill.input_modes)),
        ("outputModes", some(&skill.output_modes)),
    ])
}

fn capabilities(card: &AgentCard, version: Option<Version>, rfc: bool) -> Data {
    let mut data = Data::dict([("streaming", Data::from(card.streams)), ("pushNotifications", false.into())]);
    if version.is_none_or(|version| version == Version::V1_0) {
        data.set("extendedAgentCard", false.into());
    }
    if version != Some(Version::V1_0) {
        data.set("stateTransitionHistory", false.into());
    }
    if card.reminders.is_nil() {
        return data;
    }
    let extension = Data::dict([
        ("uri", Data::from(REMINDERS)),
        ("description", "System reminders: inject them into a task, and receive their events on its streams.".into()),
        ("required", false.into()),
        ("params", card.reminders.clone().with("notifications", NOTIFICATIONS.into())),
    ]);
    data.set("extensions", Data::list([extension]));
    if rfc {
        // The draft's place, and the one of implementations before it.
        data.set("reminders", card.reminders.clone());
        let harn = Data::dict([("reminders", card.reminders.clone())]);
        data.set("_meta", Data::dict([("harn", harn)]));
    }
    data
}

fn v1_0(card: &AgentCard, url: &str, data: &mut Data) {
    let interface = |binding: &str, version: &str| {
        Data::dict([("url", Data::from(url)), ("protocolBinding", binding.into()), ("protocolVersion", version.into())])
    };
    let mut interfaces = vec![interface("JSONRPC", "1.0"), interface("JSONRPC", "0.3")];
    if card.has_rest {
        interfaces.push(interface("HTTP+JSON", "1.0"));
    }
    data.set("supportedInterfaces", Data::list(interfaces));
    if card.has_token {
        let none = Data::dict([("list", Data::list([]))]);
        let schemes = Data::dict([("schemes", Data::dict([(SCHEME, none)]))]);
        data.set("securityRequirements", Data::list([schemes]));
    }
}

fn v0_3(card: &AgentCard, url: &str, data: &mut Data) {
    data.set("url", url.into());
    data.set("preferredTransport", "JSONRPC".into());
    data.set("protocolVersion", "0.3.0".into());
    data.set("supportsAuthenticatedExtendedCard", false.into());
    if card.has_token {
        data.set("security", Data::list([Data::dict([(SCHEME, Data::list([]))])]));
    }
}

/// Returns the security scheme for the token.
fn scheme(in_0_3: bool, in_1_0: bool) -> Data {
    let described = || {
        Data::dict([
            ("scheme", Data::from("Bearer")),
            ("description", "The token that the agent was started with.".into()),
        ])
    };
    let mut scheme = if in_0_3 { described().with("type", "http".into()) } else { Data::empty_dict() };
    if in_1_0 {
        scheme.set("httpAuthSecurityScheme", described());
    }
    scheme
}
