//! The card by version, by extension and by option; and what is said to those who have it.

use super::http::{HttpResponse, Request};
use super::server::{Server, ServerCommand};
use serde_json::Value;

const EXTENSION: &str = super::wire::EXTENSION;

/// The version of a request for the card, and its header that names the extension.
type CardRequest = (Option<&'static str>, Option<&'static str>);

/// Each version without the extension and by each header that may name it.
fn all() -> Vec<CardRequest> {
    let versions = [None, Some("1.0"), Some("0.3")];
    let headers = [None, Some("A2A-Extensions"), Some("X-A2A-Extensions")];
    versions.into_iter().flat_map(|version| headers.map(|header| (version, header))).collect()
}

fn asks(server: &Server, (version, header): CardRequest) -> Request {
    let mut request = Request::get(&server.address, "/.well-known/agent-card.json");
    if let Some(version) = version {
        request = request.header("A2A-Version", version);
    }
    match header {
        Some(header) => request.header(header, EXTENSION),
        None => request,
    }
}

/// Returns the head of the answer to a client that has a card already.
fn again(server: &Server, said: CardRequest, header: &str, known: &str) -> HttpResponse {
    let mut connection = server.connect();
    connection.send(&asks(server, said).header(header, known));
    connection.head()
}

/// The cards that a server shows, each with its tag; `rfc` where it shows the draft's member to everybody.
fn cards(server: &Server, rfc: bool) -> Vec<(CardRequest, String, Value)> {
    let shown = all().into_iter().map(|said| {
        let mut request = asks(server, said);
        if rfc {
            // Tells the check of what was answered.
            request = request.header("X-Card", "rfc");
        }
        let mut connection = server.connect();
        connection.send(&request);
        let answer = connection.answer();
        server.keep(&request, &answer);
        assert_eq!(answer.status, 200);
        for header in ["A2A-Extensions", "X-A2A-Extensions"] {
            let confirmed = answer.header(&header.to_ascii_lowercase());
            assert_eq!(confirmed, (said.1 == Some(header)).then_some(EXTENSION), "{said:?}: by the name that was used");
        }
        (said, answer.header("etag").unwrap().to_owned(), answer.json())
    });
    shown.collect()
}

#[test]
fn the_drafts_member_is_on_every_card_of_a_server_that_was_told_so() {
    let server = ServerCommand::agent("desk.harn", "card-rfc").with(&["--card", "rfc"]).spawn();
    let params = |card: &Value| card["capabilities"]["extensions"][0]["params"].clone();
    for (said, _, card) in cards(&server, true) {
        let mut reminders = card["capabilities"]["reminders"].clone();
        assert_eq!(reminders["inject"], true, "{said:?}: {card}");
        assert_eq!(card["capabilities"]["_meta"]["harn"]["reminders"], reminders, "{said:?}: {card}");
        reminders["notifications"] = "urn:harn:ext:reminders:1#notifications".into();
        assert_eq!(reminders, params(&card), "{said:?}: {card}");
    }
    // What is written for all is as it was: nothing but the draft's members is more.
    let plain = ServerCommand::agent("desk.harn", "card-plain").spawn();
    for ((said, _, mut with), (_, _, mut without)) in cards(&server, true).into_iter().zip(cards(&plain, false)) {
        let is_shown = said.0.is_none() || said.1.is_some();
        assert_eq!(without["capabilities"].get("reminders").is_some(), is_shown, "{said:?}");
        for card in [&mut with, &mut without] {
            let capabilities = card["capabilities"].as_object_mut().unwrap();
            capabilities.retain(|member, _| !["reminders", "_meta"].contains(&member.as_str()));
        }
        let without = without.to_string().replace(&plain.address, &server.address);
        assert_eq!(with, serde_json::from_str::<Value>(&without).unwrap(), "{said:?}");
    }
    plain.end();
    server.end();
}

#[test]
fn each_card_has_a_tag_of_its_own_that_spares_sending_it_again() {
    for args in [&[][..], &["--card", "rfc"]] {
        let server = ServerCommand::agent("desk.harn", "card-tags").with(args).spawn();
        let cards = cards(&server, !args.is_empty());
        for (said, tag, card) in &cards {
            for (other, others_tag, other_card) in &cards {
                assert_eq!(tag == others_tag, card == other_card, "{said:?} {other:?}");
                let again = again(&server, *said, "If-None-Match", others_tag);
                let expected = if tag == others_tag { 304 } else { 200 };
                assert_eq!(again.status, expected, "{said:?} with the tag of {other:?}");
                assert_eq!(again.header("etag"), Some(tag.as_str()));
                assert_eq!(again.header("vary"), Some("A2A-Version, A2A-Extensions, X-A2A-Extensions"));
            }
            for (known, status) in [
                (format!("\"x\", W/{tag}"), 304),
                ("*".to_owned(), 304),
                ("\"x\"".to_owned(), 200),
                (String::new(), 200),
            ] {
                let again = again(&server, *said, "If-None-Match", &known);
                assert_eq!(again.status, status, "{said:?} with {known}");
            }
        }
        let different: std::collections::BTreeSet<_> = cards.iter().map(|(_, tag, _)| tag).collect();
        // By version; and for a client that names one by the extension, unless the option shows it to everybody.
        assert_eq!(different.len(), if args.is_empty() { 5 } else { 3 }, "{different:?}");
        let first = again(&server, (None, None), "X", "y");
        let since = first.header("last-modified").unwrap();
        assert_eq!(again(&server, (None, None), "If-Modified-Since", since).status, 304);
        assert_eq!(first.header("cache-control"), Some("public, max-age=60"));
        server.end();
    }
}

#[test]
fn a_strict_card_is_that_of_1_0_for_clients_that_name_no_version() {
    let start = ServerCommand::agent("desk.harn", "strict-card").with(&["--card", "1.0"]);
    let server = start.spawn();
    // What is shown to clients without a version is not what the usual card's types say.
    let card = |said| {
        let mut connection = server.connect();
        connection.send(&asks(&server, said));
        connection.answer().json()
    };
    let strict = card((None, None));
    assert_eq!(strict, card((Some("1.0"), None)));
    assert_eq!((&strict["url"], strict["supportedInterfaces"].is_array()), (&Value::Null, true));
    for member in ["reminders", "_meta"] {
        assert_eq!(strict["capabilities"].get(member), None, "{strict}");
    }
    assert!(card((Some("0.3"), None))["url"].is_string());
    server.end();
}

#[test]
fn both_cards_are_found_and_say_when_they_have_changed() {
    let server = ServerCommand::agent("desk.harn", "card-places").spawn();
    for path in ["/.well-known/agent.json", "/.well-known/agent-card.json"] {
        for version in [None, Some("1.0"), Some("0.3")] {
            let mut request = Request::get(&server.address, path);
            if let Some(version) = version {
                request = request.header("A2A-Version", version);
            }
            let answer = server.ask(&request);
            assert_eq!(answer.status, 200);
            assert!(answer.header("etag").is_some() && answer.header("cache-control").is_some(), "{answer:?}");
            let tagged = request.header("If-None-Match", answer.header("etag").unwrap());
            let mut connection = server.connect();
            connection.send(&tagged);
            assert_eq!(connection.head().status, 304);
        }
    }
    server.end();
}
