//! The requests that `docs/reference/a2a.md` shows, sent exactly as written; the answers contain
//! what the page shows of them.

use super::http::Request;
use super::server::ServerCommand;
use crate::harn::root;
use crate::markdown::blocks;
use serde_json::Value;

const AGENT: &str = "pipeline default(task) { return \"You said: ${task}\" }\n";

/// Splits a command into words; some of them are in single quotes.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut quoted) = (Vec::new(), false);
    for part in command.trim().split('\'') {
        if quoted {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
        quoted = !quoted;
    }
    words
}

/// Returns the request that `curl` would send to that host.
fn request(command: &str, host: &str) -> Request {
    let words = words(command);
    let mut words = words.iter().map(String::as_str);
    assert_eq!(words.next(), Some("curl"));
    let (mut path, mut headers, mut body) = (String::new(), Vec::new(), None);
    while let Some(word) = words.next() {
        match word {
            "-s" | "-sN" => {}
            "-H" => headers.push(words.next().unwrap().split_once(": ").unwrap()),
            "-d" => body = Some(words.next().unwrap()),
            url => path = url.strip_prefix("http://127.0.0.1:41241").expect("the address of the page").to_owned(),
        }
    }
    let request = match body {
        Some(body) => Request::post(host, body).without("Content-Type").to("POST", &path),
        None => Request::get(host, &path),
    };
    headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// Returns the part of the shown value that is missing from the real one, or `None` if nothing is
/// missing.
fn missing(shown: &Value, there: &Value) -> Option<String> {
    match (shown, there) {
        (Value::Object(shown), Value::Object(_)) => shown.iter().find_map(|(key, value)| {
            missing(value, there.get(key).unwrap_or(&Value::Null)).map(|missing| format!("{key}: {missing}"))
        }),
        (Value::Array(shown), Value::Array(list)) if shown.len() == list.len() => {
            shown.iter().zip(list).find_map(|(shown, there)| missing(shown, there))
        }
        _ => (shown != there).then(|| format!("{shown} is shown, {there} is there")),
    }
}

#[test]
fn requests_of_the_page_are_answered_as_it_shows() {
    let start = ServerCommand::agent("desk.harn", "page");
    let script = start.folder().join("page.harn");
    std::fs::write(&script, AGENT).unwrap();
    let server = ServerCommand::file(script, "page-served").spawn();
    let page = std::fs::read_to_string(root().join("docs/reference/a2a.md")).unwrap();
    let blocks = blocks(&page);
    let mut tried = 0;
    for (at, (_, command)) in blocks.iter().enumerate().filter(|(_, (_, text))| text.starts_with("curl")) {
        let (language, shown) = blocks[at + 1];
        let request = request(command, &server.address);
        tried += 1;
        if language == "text" {
            // Not of the protocol, so it is not kept for the check of the protocol's answers.
            let mut connection = server.connect();
            connection.send(&request);
            assert_eq!(String::from_utf8(connection.answer().body).unwrap(), shown, "{command}");
            continue;
        }
        assert_eq!(language, "json", "{command}");
        let answer = server.ask(&request);
        let text = String::from_utf8(answer.body).unwrap();
        let last = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
        let there: Value = serde_json::from_str(last).unwrap();
        assert_eq!(missing(&serde_json::from_str(shown).unwrap(), &there), None, "{command}\n{there}");
    }
    assert!(tried >= 4, "{tried} commands");
    server.end();
}

#[test]
fn what_is_shown_and_not_there_is_found() {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let there = value(r#"{"a": {"b": 1, "c": [1, {"d": 2}]}}"#);
    for shown in [r#"{"a": {"c": [1, {}]}}"#, "{}", r#"{"a": {"b": 1}}"#] {
        assert_eq!(missing(&value(shown), &there), None, "{shown}");
    }
    for shown in [r#"{"x": 1}"#, r#"{"a": {"b": 2}}"#, r#"{"a": {"c": [1]}}"#, r#"{"a": {"c": [1, {"d": 3}]}}"#] {
        assert!(missing(&value(shown), &there).is_some(), "{shown}");
    }
    assert_eq!(words("curl -H 'a: b c' -d '{}' x"), ["curl", "-H", "a: b c", "-d", "{}", "x"]);
}
