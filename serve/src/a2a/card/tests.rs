use std::time::SystemTime;

use a2a::Version;
use base::data::Data;
use serde_json::{Value, json};
use stdlib::Agent;

use super::{AgentCard, CardUrl, about};

fn card(has_token: bool) -> AgentCard {
    AgentCard {
        about: about::complete(&Agent::default(), "worker.harn", "// Rebases branches."),
        url: CardUrl::Fixed("http://127.0.0.1:8080/".to_owned()),
        has_token,
        reminders: Data::dict([("inject", Data::from(true))]),
        streams: true,
        has_rest: false,
        always_rfc: false,
        usual: None,
        since: SystemTime::UNIX_EPOCH,
    }
}

fn shown(card: &AgentCard, version: Option<Version>, rfc: bool) -> Value {
    serde_json::from_str(&card.text(version, rfc, None)).unwrap()
}

#[test]
fn each_version_gets_its_own_members_and_no_other() {
    let common = json!({
        "name": "worker", "description": "Rebases branches.", "version": "0.0.0",
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [{"id": "worker", "name": "worker", "description": "Rebases branches.", "tags": ["agent"]}],
    });
    let extension = json!([{
        "uri": "urn:harn:ext:reminders:1",
        "description": "System reminders: inject them into a task, and receive their events on its streams.",
        "required": false,
        "params": {"inject": true, "notifications": "urn:harn:ext:reminders:1#notifications"},
    }]);
    let url = "http://127.0.0.1:8080/";
    let interface = |version: &str| json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": version});
    let v1_0 = json!({
        "supportedInterfaces": [interface("1.0"), interface("0.3")],
        "capabilities": {
            "streaming": true, "pushNotifications": false, "extendedAgentCard": false, "extensions": extension,
        },
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {
            "scheme": "Bearer", "description": "The token that the agent was started with.",
        }}},
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
    });
    let v0_3 = json!({
        "url": url, "preferredTransport": "JSONRPC", "protocolVersion": "0.3.0",
        "supportsAuthenticatedExtendedCard": false,
        "capabilities": {
            "streaming": true, "pushNotifications": false, "stateTransitionHistory": false, "extensions": extension,
        },
        "securitySchemes": {"bearer": {
            "type": "http", "scheme": "Bearer", "description": "The token that the agent was started with.",
        }},
        "security": [{"bearer": []}],
    });
    let whole = |own: &Value| {
        let mut whole = common.clone();
        whole.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        whole
    };
    let card = card(true);
    for (version, own) in [(Version::V1_0, &v1_0), (Version::V0_3, &v0_3)] {
        assert_eq!(shown(&card, Some(version), false), whole(own), "{version:?}");
    }
}

#[test]
fn who_says_no_version_gets_what_both_read() {
    let both = shown(&card(true), None, false);
    for member in
        ["supportedInterfaces", "securityRequirements", "url", "protocolVersion", "preferredTransport", "security"]
    {
        assert!(both.get(member).is_some(), "{member}");
    }
    let scheme = &both["securitySchemes"]["bearer"];
    assert_eq!((&scheme["type"], &scheme["httpAuthSecurityScheme"]["scheme"]), (&json!("http"), &json!("Bearer")));
}

#[test]
fn without_a_token_none_is_asked_for() {
    for version in [None, Some(Version::V1_0), Some(Version::V0_3)] {
        let shown = shown(&card(false), version, false);
        for member in ["securitySchemes", "securityRequirements", "security"] {
            assert!(shown.get(member).is_none(), "{member}");
        }
    }
}

#[test]
fn the_drafts_own_members_are_on_the_default_card_and_on_others_for_those_who_ask() {
    let of_draft = |card: &AgentCard, version, asked| {
        let capabilities = shown(card, version, asked)["capabilities"].clone();
        let places = [&capabilities["reminders"], &capabilities["_meta"]["harn"]["reminders"]];
        assert_eq!(places[0], places[1], "both or none");
        places[0].clone()
    };
    let capability = json!({"inject": true});
    let (usual, strict) = (card(false), AgentCard { usual: Some(Version::V1_0), ..card(false) });
    let always = AgentCard { always_rfc: true, ..card(false) };
    assert_eq!(of_draft(&usual, None, false), capability);
    assert_eq!(of_draft(&strict, None, false), Value::Null);
    for version in [None, Some(Version::V1_0), Some(Version::V0_3)] {
        assert_eq!(of_draft(&usual, version, true), capability);
        assert_eq!(of_draft(&always, version, false), capability);
        if version.is_some() {
            assert_eq!(of_draft(&usual, version, false), Value::Null, "{version:?}");
        }
    }
    let none = AgentCard { reminders: Data::Nil, ..card(false) };
    assert_eq!(of_draft(&none, None, true), Value::Null);
}

#[test]
fn what_listens_everywhere_is_where_it_was_asked() {
    let card = AgentCard { url: CardUrl::Asked("http://10.0.0.7:80/".to_owned()), ..card(false) };
    let url = |host: Option<&str>| {
        let shown: Value = serde_json::from_str(&card.text(Some(Version::V0_3), false, host)).unwrap();
        shown["url"].as_str().unwrap().to_owned()
    };
    assert_eq!(url(Some("agents.lan:8080")), "http://agents.lan:8080/");
    for no_host in [None, Some(""), Some("a b"), Some("a/b\"")] {
        assert_eq!(url(no_host), "http://10.0.0.7:80/", "{no_host:?}");
    }
}

#[test]
fn a_tag_tells_two_cards_apart() {
    let card = card(false);
    let (one, two) = (card.text(None, false, None), card.text(Some(Version::V1_0), false, None));
    assert_eq!(card.tag(&one), card.tag(&one));
    assert_ne!(card.tag(&one), card.tag(&two));
    assert!(card.tag(&one).starts_with('"') && card.tag(&one).ends_with('"'));
}

#[test]
fn a_strict_card_is_that_of_one_version_whoever_asks() {
    let strict = AgentCard { usual: Some(Version::V1_0), ..card(true) };
    assert_eq!(shown(&strict, None, false), shown(&card(true), Some(Version::V1_0), false));
    assert_eq!(shown(&strict, Some(Version::V0_3), false), shown(&card(true), Some(Version::V0_3), false));
}
