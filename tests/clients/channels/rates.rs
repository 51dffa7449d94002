//! The cost of a channel that sends without end: requests, frames, refusals and connections.

use super::acp_client::{connect, initialize_params};
use super::daemon::{ChannelClient, DaemonFolder};
use eventlog::Record;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;

/// The number of records of one kind before they are summed up, and some for the time that a test takes.
const MOST: usize = 64 + 20;

fn counted(records: &[Arc<Record>]) -> i64 {
    records.iter().filter_map(|record| record.payload.get("count").as_int()).sum()
}

#[test]
fn refusals_and_connections_of_one_channel_are_summed_up() {
    const EACH: usize = 400;
    let folder = DaemonFolder::new("summed").with(&["--max-rate", "100000"]);
    let secrets = [folder.channel("opener", "view,prompt", &[]), folder.channel("viewer", "view", &[])];
    let daemon = folder.start();
    let [opener, viewer] = secrets.map(|secret| daemon.client(&secret));
    let session = opener.open();
    for _ in 0..EACH {
        assert_eq!(viewer.request("GET", "/metrics", "", "").unwrap().0, 403);
        assert_eq!(viewer.act(&session, "permit", json!({"request": "perm-1", "verdict": "allow_once"})).0, 403);
        assert!(viewer.try_events(&session, Some(99_999_999)).is_some());
    }
    // The last sums are written when the daemon stops.
    assert_eq!(daemon.stop(), Some(128 + 15));
    let refused = folder.records("channel.refused");
    assert_eq!(counted(&refused), 2 * EACH as i64);
    assert!(refused.len() < MOST, "{} records", refused.len());
    let sum = refused.iter().find(|record| record.payload.get("reason").as_str() == Some("summed")).unwrap();
    assert_eq!(sum.payload.at("reasons.scope").as_int(), sum.payload.get("count").as_int());
    assert!(sum.payload.get("channel_id").as_str().is_some());
    let of_viewer = |kind: &str| {
        let resumed = folder.records("channel.event").into_iter();
        resumed.filter(|record| record.payload.get("event").as_str() == Some(kind)).count()
    };
    let (begun, ended) = (of_viewer("channel.resumed"), of_viewer("channel.disconnected"));
    assert_eq!(begun, ended, "what begins in a sum ends in it");
    assert!(begun < MOST, "{begun} connections have records");
    let sums = folder.records("channel.connections");
    assert_eq!(begun as i64 + counted(&sums), EACH as i64);
    assert!(sums.iter().all(|sum| sum.payload.at("transports.sse").as_int() == sum.payload.get("count").as_int()));
}

#[test]
fn every_route_has_the_rate_of_its_channel() {
    let folder = DaemonFolder::new("routes").with(&["--max-rate", "5", "--a2a"]);
    let json = "Content-Type: application/json\r\n";
    let routes = [
        ("GET", "/sessions", "", ""),
        ("GET", "/metrics", "", ""),
        ("GET", "/events?session=sess_1", "", ""),
        ("GET", "/acp", "", ""),
        ("GET", "/nowhere", "", ""),
        ("DELETE", "/actions", "", ""),
        ("POST", "/actions", json, "{"),
        ("POST", "/actions", "Content-Type: text/plain\r\n", "x"),
        ("POST", "/", json, r#"{"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}"#),
    ];
    let channels: Vec<String> =
        (0..routes.len()).map(|number| folder.channel(&format!("c{number}"), "view", &[])).collect();
    let daemon = folder.start();
    for ((method, path, headers, body), secret) in routes.into_iter().zip(&channels) {
        let client = daemon.client(secret);
        let ask = |client: &ChannelClient| client.request(method, path, headers, body).unwrap();
        for sent in 0..20 {
            assert_ne!(ask(&client).0, 429, "{method} {path}, after {sent}");
        }
        // More come within a second than the rate allows, also on a busy machine.
        let limited = (0..1_000).map(|_| ask(&client)).find(|(status, _)| *status == 429);
        let (_, body) = limited.unwrap_or_else(|| panic!("{method} {path} has no limit"));
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["error"]["reason"], "rate_limited");
    }
}

#[test]
fn frames_beyond_the_rate_wait_and_none_is_lost() {
    const FRAMES: u64 = 30;
    let folder = DaemonFolder::new("frames").with(&["--max-rate", "5"]);
    let secret = folder.channel("phone", "view", &[]);
    let daemon = folder.start();
    let begun = Instant::now();
    let mut socket = connect(&daemon.address, &secret);
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize_params()});
    socket.send(initialize.to_string().into()).unwrap();
    for id in 1..=FRAMES {
        let list = json!({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {}});
        socket.send(list.to_string().into()).unwrap();
    }
    let mut answered = Vec::new();
    while answered.len() <= FRAMES as usize {
        if let Message::Text(text) = socket.read().unwrap() {
            let answer: Value = serde_json::from_str(&text).unwrap();
            assert!(answer.get("error").is_none(), "{answer}");
            answered.push(answer["id"].as_u64().unwrap());
        }
    }
    answered.sort_unstable();
    assert!(answered.into_iter().eq(0..=FRAMES));
    // 20 frames at once, the request of the connection among them, and five a second after that.
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn a_websocket_of_an_expired_channel_is_closed() {
    let folder = DaemonFolder::new("ws-expired");
    let daemon = folder.start();
    let secret = folder.channel("phone", "view", &["--expires", "5s"]);
    let mut socket = connect(&daemon.address, &secret);
    let closed = loop {
        match socket.read().unwrap() {
            Message::Close(frame) => break frame.unwrap(),
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((u16::from(closed.code), closed.reason.as_str()), (1008, "expired"));
}
