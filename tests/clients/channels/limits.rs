//! Limits of sessions: the share of an account, and idle sessions.

use super::daemon::{ChannelClient, DaemonFolder};
use crate::wait::until;
use serde_json::{Value, json};

/// Returns whether a session is open.
fn is_open(client: &ChannelClient, session: &str) -> bool {
    let (status, page) = client.request("GET", "/sessions", "", "").unwrap();
    assert_eq!(status, 200, "{page}");
    let page: Value = serde_json::from_str(&page).unwrap();
    let rows = page["sessions"].as_array().unwrap();
    rows.iter().find(|row| row["sessionId"] == session).unwrap()["open"] == true
}

fn wait_until_closed(client: &ChannelClient, session: &str) {
    until("the session is closed", || !is_open(client, session));
}

#[test]
fn an_account_leaves_sessions_to_the_others() {
    let folder = DaemonFolder::new("account-sessions").with(&["--max-sessions", "4"]);
    let secrets = ["a", "b"].map(|name| folder.channel(name, "view,prompt,admin", &["--account", name]));
    let daemon = folder.start();
    let [a, b] = secrets.each_ref().map(|secret| daemon.client(secret));
    let first = a.open();
    a.open();
    for _ in 0..3 {
        let (status, refused) = a.act_as("third", "", "open", json!({}));
        assert_eq!((status, &refused["error"]["reason"]), (429, &json!("too_many_account_sessions")), "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("the account has 2 open") && message.contains("close one"), "{message}");
    }
    assert_eq!(folder.records("channel.action").len(), 2, "a refused action changes nothing");
    b.open();
    b.open();
    assert_eq!(a.act(&first, "close", json!({})).0, 200);
    assert_eq!(a.act_as("third", "", "open", json!({})).0, 200);
    // A stored session is loaded within the same limit.
    let (status, refused) = a.act(&first, "prompt", json!({"text": "x"}));
    assert_eq!((status, &refused["error"]["reason"]), (429, &json!("too_many_account_sessions")), "{refused}");
}

#[test]
fn the_limit_of_an_account_can_be_set() {
    let folder = DaemonFolder::new("max-account-sessions").with(&["--max-account-sessions", "1"]);
    let client = |name: &str| folder.channel(name, "view,prompt", &["--account", name]);
    let secrets = ["a", "b"].map(client);
    let daemon = folder.start();
    let [a, b] = secrets.each_ref().map(|secret| daemon.client(secret));
    a.open();
    assert_eq!(a.act("", "open", json!({})).0, 429);
    b.open();
}

#[test]
fn an_idle_session_is_closed_and_loaded_by_the_next_action() {
    let folder = DaemonFolder::new("session-idle").with(&["--session-idle", "60ms"]);
    let secret = folder.channel("phone", "view,prompt,admin", &[]);
    let daemon = folder.start();
    let phone = daemon.client(&secret);
    let (watched, idle) = (phone.open(), phone.open());
    let closed = |id: &str| {
        let records = folder.records("session.life.closed");
        records.iter().filter(|record| record.payload.get("session_id").as_str() == Some(id)).count()
    };
    let mut events = phone.events(&watched, None);
    phone.prompt(&watched, "hello");
    events.until("turn.completed");
    let before = closed(&watched);
    // The other one is closed several times meanwhile.
    for _ in 0..3 {
        let before = closed(&idle);
        phone.prompt(&idle, "hello");
        wait_until_closed(&phone, &idle);
        folder.wait_for_records("session.life.closed", before + 1);
        assert!(closed(&idle) > before, "the end has a record");
    }
    let (status, loaded) = phone.act(&idle, "load", json!({}));
    assert_eq!((status, &loaded["result"]["sessionId"]), (200, &json!(idle)), "{loaded}");
    assert!(is_open(&phone, &watched) && closed(&watched) == before, "a client reads its events");
    phone.prompt(&watched, "hello");
    events.until("turn.completed");
    drop(events);
    wait_until_closed(&phone, &watched);
}

#[test]
fn an_invalid_cursor_of_the_list_is_named() {
    let folder = DaemonFolder::new("sessions-cursor");
    let secret = folder.channel("phone", "view", &[]);
    let daemon = folder.start();
    let phone = daemon.client(&secret);
    for path in ["/sessions?cursor=zzz", "/sessions?cursor=", "/sessions?cursor=-1"] {
        let (status, refused) = phone.request("GET", path, "", "").unwrap();
        let error = &serde_json::from_str::<Value>(&refused).unwrap()["error"];
        assert_eq!((status, &error["reason"], &error["field"]), (400, &json!("invalid"), &json!("cursor")), "{path}");
        assert!(error["message"].as_str().unwrap().contains("nextCursor"), "{refused}");
    }
}
