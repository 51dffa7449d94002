//! Actions: scopes, repeats and refusals.

use super::daemon::{ChannelClient, DaemonFolder, action, fresh_id};
use crate::wait::{find, until};
use serde_json::{Value, json};
use std::io::Read as _;
use std::net::TcpStream;

const ALL: &str = "view,prompt,inject,permit,permit:session,admin";

fn reason(answer: &Value) -> &str {
    answer["error"]["reason"].as_str().unwrap_or_default()
}

#[test]
fn authenticate_or_enroll_the_channel() {
    let folder = DaemonFolder::new("authenticate");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let session = daemon.client(&secret).open();
    let path = format!("/events?session={session}");
    for (name, secret) in [("missing", String::new()), ("malformed", "x".to_owned()), ("wrong", format!("{secret}0"))] {
        let (status, _) = daemon.client(&secret).request("GET", &path, "", "").unwrap();
        assert_eq!(status, 401, "{name}");
        let (status, _) = daemon.client(&secret).try_act(&action("a", "", "open", json!({}))).unwrap();
        assert_eq!(status, 401, "{name}");
    }
    // A channel that is enrolled while the daemon runs is known at once.
    let desk = daemon.client(&folder.channel("desk", "view", &[]));
    until("the channel is known", || desk.request("GET", "/sessions", "", "").unwrap().0 == 200);
    assert!(desk.request("GET", "/sessions", "", "").unwrap().1.contains(&session));
}

#[test]
fn resolve_session_thread_task_and_workspace_scope() {
    let folder = DaemonFolder::new("scope");
    let daemon_secrets = [("a", "acme"), ("b", "acme"), ("c", "other")]
        .map(|(name, account)| folder.channel(name, ALL, &["--account", account]));
    let daemon = folder.start();
    let [a, b, c] = daemon_secrets.map(|secret| daemon.client(&secret));
    let session = a.open();
    // A channel may prompt a session that another channel of its account opened.
    b.prompt(&session, "hello");
    for kind in ["prompt", "load", "cancel", "close"] {
        let params = if kind == "prompt" { json!({"text": "hello"}) } else { json!({}) };
        let (status, answer) = c.act(&session, kind, params);
        assert_eq!((status, reason(&answer)), (404, "unknown_session"), "{kind}");
    }
    assert!(c.try_events(&session, None).is_none());
    assert_eq!(c.request("GET", "/sessions", "", "").unwrap().1, r#"{"sessions":[]}"#);
}

#[test]
fn submit_a_turn_create_a_task_append_remote_input_or_link_a_peer_task() {
    let folder = DaemonFolder::new("submit");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    client.prompt(&session, "question");
    let asked = events.next_of("action.required");
    assert_eq!(asked["payload"]["text"], "which?");
    events.next_of("turn.completed");
    client.prompt(&session, "the blue one");
    let said = events.next_of("model.completed");
    assert_eq!(said["payload"]["text"], "you said the blue one");
    events.next_of("turn.completed");
    let (status, injected) = client.act(&session, "inject", json!({"reminder": {"body": "Be brief."}}));
    assert_eq!((status, &injected["status"]), (200, &json!("done")), "{injected}");
    assert!(injected["result"]["reminderId"].is_string());
    assert_eq!(events.next_of("queue.changed")["payload"]["change"], "queued");
    let (status, changed) = client.act(&session, "mode", json!({"mode": "plan"}));
    assert_eq!((status, &changed["result"]["mode"]), (200, &json!("plan")));
    assert_eq!(events.next_of("session.updated")["payload"]["mode"], "plan");
    assert_eq!(client.act(&session, "close", json!({})).0, 200);
    // A closed session is loaded again by the next prompt.
    client.prompt(&session, "hello");
    assert_eq!(events.next_of("model.completed")["payload"]["text"], "did hello");
}

#[test]
fn emit_channel_events() {
    let folder = DaemonFolder::new("emit");
    let secrets = [folder.channel("phone", ALL, &[]), folder.channel("desk", "view", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let session = phone.open();
    let mut seen = phone.events(&session, None);
    let reading = desk.events(&session, None);
    let connected = seen.next_of("channel.connected");
    assert_eq!(connected["payload"]["transport"], "sse", "{connected}");
    let cursor = connected["sequence"].as_u64().unwrap();
    drop(reading);
    assert_eq!(seen.next_of("channel.disconnected")["payload"]["reason"], "closed");
    let _again = desk.events(&session, Some(cursor));
    assert_eq!(seen.next_of("channel.resumed")["payload"]["after"], cursor);
}

#[test]
fn persist_read_models_native_ids_and_recovery_cursors() {
    let folder = DaemonFolder::new("persist");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let (status, answer) = client.act(&session, "ack", json!({"cursor": 7}));
    assert_eq!((status, &answer["result"]["cursor"]), (200, &json!(7)));
    let _events = client.events(&session, None);
    let ack = folder.wait_for("channel.ack", |_| true);
    assert_eq!(
        (ack.payload.get("cursor").as_int(), ack.payload.get("session_id").as_str()),
        (Some(7), Some(&*session))
    );
    folder.wait_for("channel.identity", |record| record.payload.get("transport").as_str() == Some("sse"));
}

/// Each row of the table of channel identity.
#[test]
fn scopes_are_enforced_for_every_action() {
    let folder = DaemonFolder::new("scopes").with(&["--max-rate", "1000"]);
    let scopes = ["view", "prompt", "inject", "permit", "permit:session", "admin"];
    let names = scopes.map(|scope| scope.replace(':', "-"));
    let secrets: Vec<String> =
        scopes.iter().zip(&names).map(|(scope, name)| folder.channel(name, scope, &[])).collect();
    let opener = folder.channel("opener", ALL, &[]);
    let daemon = folder.start();
    let session = daemon.client(&opener).open();
    let table = [
        ("open", "prompt", json!({})),
        ("load", "view", json!({})),
        ("prompt", "prompt", json!({"text": "hello"})),
        ("inject", "inject", json!({"message": {"content": "hello"}})),
        ("permit", "permit", json!({"request": "perm-1", "verdict": "allow_once"})),
        ("cancel", "prompt", json!({})),
        ("mode", "admin", json!({"mode": "ask"})),
        ("close", "admin", json!({})),
        ("message", "inject", json!({"text": "hello"})),
        ("ack", "view", json!({"cursor": 1})),
        ("heartbeat", "view", json!({})),
    ];
    for (kind, needed, params) in &table {
        for (scope, secret) in scopes.iter().zip(&secrets) {
            let named = if ["open", "heartbeat"].contains(kind) { "" } else { &session };
            let (status, answer) = daemon.client(secret).act(named, kind, params.clone());
            let is_refused = (status, reason(&answer)) == (403, "scope");
            assert_eq!(is_refused, scope != needed, "{kind} with {scope}: {status} {answer}");
        }
    }
    for (scope, secret) in scopes.iter().zip(&secrets) {
        let client = daemon.client(secret);
        assert_eq!(client.try_events(&session, None).is_some(), *scope == "view", "{scope}");
        let metrics = client.request("GET", "/metrics", "", "").unwrap();
        assert_eq!(metrics.0 == 200, *scope == "admin", "{scope}");
    }
    // Every refusal is on the log.
    let wanted = table.len() * (scopes.len() - 1) + 5 + 5;
    let refused = folder.wait_for_records("channel.refused", wanted);
    let of_scope = refused.iter().filter(|it| it.payload.get("reason").as_str() == Some("scope")).count();
    assert_eq!(of_scope, wanted);
}

#[test]
fn a_repeated_action_gets_the_recorded_result() {
    let folder = DaemonFolder::new("repeat");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    let prompt = action("turn-1", &session, "prompt", json!({"text": "once"}));
    assert_eq!(client.try_act(&prompt).unwrap().1["repeated"], false);
    events.next_of("turn.completed");
    // The result is recorded after the last event of the turn.
    let (status, repeated) = find("the result of the turn", || {
        let (status, repeated) = client.try_act(&prompt).unwrap();
        assert_eq!(repeated["repeated"], true);
        if status == 202 { Err(repeated.to_string()) } else { Ok((status, repeated)) }
    });
    assert_eq!((status, &repeated["repeated"], &repeated["result"]["stop"]), (200, &json!(true), &json!("done")));
    let other = action("turn-1", &session, "prompt", json!({"text": "twice"}));
    let (status, answer) = client.try_act(&other).unwrap();
    assert_eq!((status, reason(&answer)), (409, "action_id_reused"));
    // The next process knows it too.
    daemon.kill();
    let daemon = folder.start();
    let (_, repeated) = daemon.client(&secret).try_act(&prompt).unwrap();
    assert_eq!((&repeated["repeated"], &repeated["result"]["stop"]), (&json!(true), &json!("done")));
    assert_eq!(folder.records("session.life.prompted").len(), 1);
}

#[test]
fn a_revoked_secret_closes_its_connections() {
    let folder = DaemonFolder::new("revoked");
    let secrets = [folder.channel("phone", "view,prompt", &[]), folder.channel("desk", "view", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let session = phone.open();
    let (mut revoked, mut stays) = (phone.events(&session, None), desk.events(&session, None));
    folder.revoke("phone");
    assert_eq!(revoked.next_of("channel.disconnected")["payload"]["reason"], "revoked");
    assert!(revoked.next().is_none(), "the connection is closed");
    assert_eq!(phone.act("", "heartbeat", json!({})).0, 401);
    assert_eq!(stays.next_of("channel.disconnected")["payload"]["reason"], "revoked");
}

#[test]
fn an_expired_secret_closes_its_connections() {
    let folder = DaemonFolder::new("expired");
    let opener = folder.channel("opener", "view,prompt", &[]);
    let daemon = folder.start();
    let session = daemon.client(&opener).open();
    let secret = folder.channel("phone", "view", &["--expires", "3s"]);
    let client = daemon.client(&secret);
    let mut events = loop {
        if let Some(events) = client.try_events(&session, None) {
            break events;
        }
    };
    assert_eq!(events.next_of("channel.disconnected")["payload"]["reason"], "expired");
    assert!(events.next().is_none());
    assert_eq!(client.act("", "heartbeat", json!({})).0, 401);
}

#[test]
fn ten_thousand_wrong_secrets_are_rate_limited() {
    const WRONG: usize = 10_000;
    let folder = DaemonFolder::new("wrong");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let wrong = format!("{}{}", &secret[..secret.len() - 4], "0000");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let client = daemon.client(&wrong);
            std::thread::spawn(move || (0..WRONG / 8).filter(|_| status(&client) == 429).count())
        })
        .collect();
    let limited: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(limited > WRONG * 9 / 10, "{limited} of {WRONG} were limited");
    // A channel with its secret is still served.
    assert_eq!(daemon.client(&secret).act("", "heartbeat", json!({})).0, 200);
    // Every refusal is on the log, in few records.
    let count =
        || -> i64 { folder.records("channel.refused").iter().filter_map(|it| it.payload.get("count").as_int()).sum() };
    until("every refusal is on the log", || count() >= WRONG as i64);
    assert_eq!(count(), WRONG as i64);
    assert!(folder.records("channel.refused").len() < WRONG / 20);
}

fn status(client: &ChannelClient) -> u16 {
    client.request("GET", "/sessions", "", "").unwrap().0
}

#[test]
fn a_channel_that_sends_too_much_is_limited() {
    let folder = DaemonFolder::new("limited").with(&["--max-rate", "5"]);
    let secrets = [folder.channel("phone", "view", &[]), folder.channel("desk", "view", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let statuses: Vec<u16> = (0..60).map(|_| phone.act("", "heartbeat", json!({})).0).collect();
    assert!(statuses[..20].iter().all(|status| *status == 200), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(desk.act("", "heartbeat", json!({})).0, 200, "another channel is not limited");
}

#[test]
fn hosts_origins_and_addresses_are_checked() {
    let folder = DaemonFolder::new("origins").with(&["--allow-origin", "https://ui.example"]);
    let secret = folder.channel("phone", "view", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    for (headers, expected) in [
        ("Origin: https://ui.example\r\n", 200),
        ("Origin: https://evil.example\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Host: evil.example\r\n", 403),
    ] {
        assert_eq!(client.request("GET", "/sessions", headers, "").unwrap().0, expected, "{headers}");
    }
    folder.wait_for("channel.refused", |it| it.payload.get("reason").as_str() == Some("origin"));
    let public = crate::harn::harn(&[
        "serve",
        "channels",
        "tests/channels/agent.harn",
        "--listen",
        "0.0.0.0:0",
        "--event-log",
        &format!("sqlite:{}", folder.log_path().with_file_name("other.db").display()),
    ]);
    assert_eq!(public.code, Some(1));
    assert!(public.err.contains("HARN-CHN-005") && public.err.contains("--insecure"), "{}", public.err);
}

#[test]
fn malformed_requests_are_refused_and_change_nothing() {
    let folder = DaemonFolder::new("malformed");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let json_type = "Content-Type: application/json\r\n";
    for (headers, body, expected) in [
        ("", "{}", 415),
        (json_type, "", 400),
        (json_type, "{", 400),
        (json_type, "[]", 400),
        (json_type, r#"{"kind":"open"}"#, 400),
        (json_type, r#"{"kind":"open","actionId":"a","params":{"cwd":"relative"}}"#, 400),
        (json_type, r#"{"kind":"prompt","actionId":"a","sessionId":"sess_0","params":{"text":"x"}}"#, 404),
        (json_type, r#"{"kind":"prompt","actionId":"a","sessionId":"../x","params":{"text":"x"}}"#, 404),
    ] {
        let (status, answer) = client.request("POST", "/actions", headers, body).unwrap();
        assert_eq!(status, expected, "{body}: {answer}");
    }
    let large = format!(r#"{{"kind":"open","actionId":"{}"}}"#, "x".repeat(2 << 20));
    assert_eq!(client.request("POST", "/actions", json_type, &large).unwrap().0, 413);
    for (method, path, expected) in
        [("POST", "/events", 405), ("GET", "/actions", 405), ("GET", "/nowhere", 404), ("GET", "/events", 400)]
    {
        assert_eq!(client.request(method, path, "", "").unwrap().0, expected, "{method} {path}");
    }
    assert_eq!(client.request("GET", "/healthz", "", "").unwrap(), (200, "ok\n".to_owned()));
    assert!(folder.records("channel.action").is_empty());
    let busy = client.open();
    client.prompt(&busy, "sleep 5000");
    let (status, answer) = client.act_as(&fresh_id(), &busy, "prompt", json!({"text": "x"}));
    assert_eq!((status, reason(&answer)), (409, "busy"));
    let (_, cancelled) = client.act(&busy, "cancel", json!({}));
    assert_eq!(cancelled["result"]["cancelled"], true);
    assert!(daemon.stop().is_some());
}

#[test]
fn a_connection_beyond_the_limit_is_refused_until_another_one_closes() {
    let folder = DaemonFolder::new("full-connections").with(&["--max-connections", "2"]);
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let (first, _second) = (client.events(&session, None), client.events(&session, None));
    // The refusal comes without a request: the daemon reads nothing of such a connection.
    let mut refused = String::new();
    TcpStream::connect(&daemon.address).unwrap().read_to_string(&mut refused).unwrap();
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("2 are open, which is the limit"), "{refused}");
    drop(first);
    until("a connection has a place", || {
        client.request("GET", "/sessions", "", "").is_some_and(|(status, _)| status == 200)
    });
}
