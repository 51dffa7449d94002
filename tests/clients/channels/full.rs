//! A daemon whose log has no room, or is not in its place, refuses actions until it can be written again.

use super::daemon::{ChannelClient, DaemonFolder, LIMIT};
use crate::wait::until;
use serde_json::json;
use std::fs;

/// Returns the status of `/readyz`.
fn readiness(client: &ChannelClient) -> u16 {
    client.request("GET", "/readyz", "", "").unwrap().0
}

fn message(client: &ChannelClient, session: &str, length: usize) -> u16 {
    client.act(session, "message", json!({"text": "m".repeat(length)})).0
}

fn wait_until_ready(client: &ChannelClient) {
    until("the daemon is ready", || readiness(client) == 200);
}

#[test]
fn actions_are_refused_while_a_log_has_no_room_and_accepted_afterwards() {
    let folder = DaemonFolder::new("full").saying("[event_log]\nmax_file = \"1 MiB\"").with(&["--max-rate", "100000"]);
    let secret = folder.channel("phone", "view,prompt,inject", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut accepted = 0;
    while message(&client, &session, 20_000) == 200 {
        accepted += 1;
        assert!(accepted < 1_000, "the file has no limit");
    }
    // The refusals themselves must not fill the queue of the log: it holds 8,192 records.
    for _ in 0..50 {
        let (status, refused) = client.act(&session, "message", json!({"text": "m".repeat(20_000)}));
        assert_eq!((status, &refused["error"]["reason"]), (503, &json!("log")), "{refused}");
    }
    assert_eq!(readiness(&client), 503);
    let log = rusqlite::Connection::open(folder.log_path()).unwrap();
    log.busy_timeout(LIMIT).unwrap();
    let sql = "DELETE FROM records WHERE kind = 'channel.event' AND length(payload) > 10000 AND cursor % 2 = 0";
    assert!(log.execute(sql, []).unwrap() > 0);
    wait_until_ready(&client);
    assert_eq!(message(&client, &session, 20_000), 200);
    // What was acknowledged before is kept.
    daemon.kill();
    let daemon = folder.start();
    assert_eq!(daemon.client(&secret).act(&session, "load", json!({})).0, 200);
}

#[test]
fn actions_are_refused_while_a_log_is_not_in_its_place() {
    let folder = DaemonFolder::new("moved");
    let secret = folder.channel("phone", "view,prompt,inject", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let (path, away) = (folder.log_path(), folder.log_path().with_file_name("away.db"));
    fs::rename(&path, &away).unwrap();
    assert_eq!(message(&client, &session, 1), 503);
    assert_eq!((message(&client, &session, 1), readiness(&client)), (503, 503));
    fs::write(&path, "another file").unwrap();
    assert_eq!(message(&client, &session, 1), 503);
    fs::rename(&away, &path).unwrap();
    wait_until_ready(&client);
    assert_eq!(message(&client, &session, 1), 200);
}
