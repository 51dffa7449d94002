//! Several channels of one session: the same events in the same order, slow connections, trimmed logs and heartbeats.

use super::daemon::{ChannelClient, DaemonFolder, EventClient, fresh_id, trim};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ALL: &str = "view,prompt,inject,permit,permit:session,admin";

fn sequences(events: &[Value]) -> Vec<u64> {
    events.iter().filter_map(|event| event["sequence"].as_u64()).collect()
}

#[test]
fn all_channels_see_the_same_events_in_the_same_order_without_a_gap() {
    let folder = DaemonFolder::new("same");
    let secrets = ["a", "b", "c"].map(|name| folder.channel(name, ALL, &[]));
    let daemon = folder.start();
    let clients = secrets.map(|secret| daemon.client(&secret));
    let session = clients[0].open();
    let mut readers: Vec<EventClient> = clients.iter().map(|client| client.events(&session, Some(0))).collect();
    for n in 0..3 {
        clients[n % 3].prompt(&session, &format!("part {n}"));
        readers.iter_mut().for_each(|reader| {
            reader.next_of("turn.completed");
        });
    }
    clients[0].prompt(&session, "last");
    // From the beginning, read once more: it is what each of them has seen.
    let mut all: Vec<Vec<Value>> = Vec::new();
    for client in &clients {
        let mut reader = client.events(&session, Some(0));
        let mut events = Vec::new();
        for _ in 0..4 {
            events.extend(reader.until("turn.completed"));
        }
        all.push(events);
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    let seen = sequences(&all[0]);
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    for reader in &mut readers {
        let live = reader.until("turn.completed");
        let of_log: Vec<_> = all[0]
            .iter()
            .filter(|event| sequences(&live).contains(&event["sequence"].as_u64().unwrap()))
            .cloned()
            .collect();
        assert_eq!(live, of_log, "live events are those of the log");
    }
}

/// Anti-pattern: writing remote messages directly to a client without entering the event stream.
#[test]
fn anti_pattern_1_a_remote_message_enters_the_event_stream() {
    let folder = DaemonFolder::new("message");
    let secrets = [folder.channel("phone", ALL, &[]), folder.channel("desk", "view", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let session = phone.open();
    let mut live = desk.events(&session, None);
    let (status, sent) = phone.act(&session, "message", json!({"text": "on my way", "data": {"eta": 5}}));
    assert_eq!((status, &sent["status"]), (200, &json!("done")));
    let seen = live.next_of("channel.message");
    assert_eq!(seen["payload"]["text"], "on my way");
    assert_eq!(seen["payload"]["data"], json!({"eta": 5}), "the data arrives as it was sent");
    let sequence = seen["sequence"].as_u64().expect("it is on the log");
    let mut later = desk.events(&session, Some(sequence - 1));
    assert_eq!(later.next_of("channel.message"), seen, "a channel that comes later sees the same event");
    assert!(folder.records("session.message.appended").is_empty(), "it is not a message of the user");
}

/// Anti-pattern: replaying from the beginning after a reconnect and duplicating turns.
#[test]
fn anti_pattern_4_a_reconnect_continues_after_the_last_event_and_repeats_no_turn() {
    let folder = DaemonFolder::new("reconnect");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    let id = fresh_id();
    assert_eq!(client.act_as(&id, &session, "prompt", json!({"text": "one"})).0, 202);
    let before = sequences(&events.until("turn.completed"));
    let last = events.last.unwrap();
    drop(events);
    // A client that does not know whether its prompt arrived sends it again.
    assert_eq!(client.act_as(&id, &session, "prompt", json!({"text": "one"})).1["repeated"], true);
    client.prompt(&session, "two");
    let mut events = client.events(&session, Some(last));
    let after = events.until("turn.completed");
    assert!(sequences(&after).iter().all(|sequence| *sequence > last && !before.contains(sequence)));
    let texts: Vec<_> =
        after.iter().filter(|it| it["type"] == "model.completed").map(|it| &it["payload"]["text"]).collect();
    assert_eq!(texts, ["did two"]);
    assert_eq!(folder.records("session.life.prompted").len(), 2);
}

#[test]
fn a_snapshot_comes_first_and_then_what_follows() {
    let folder = DaemonFolder::new("snapshot");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut first = client.events(&session, None);
    client.prompt(&session, "one");
    first.next_of("turn.completed");
    let mut events = client.events(&session, None);
    let snapshot = events.snapshot.clone();
    assert_eq!(snapshot["type"], "session.updated");
    let shown = snapshot["payload"]["events"].as_array().unwrap();
    let kinds: Vec<_> = shown.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["harn.message", "model.completed"]);
    assert_eq!(snapshot["payload"]["state"], "idle");
    let cursor = snapshot["sequence"].as_u64().unwrap();
    client.prompt(&session, "two");
    let after = events.until("turn.completed");
    assert!(sequences(&after).iter().all(|sequence| *sequence > cursor));
    assert!(after.iter().any(|event| event["payload"]["text"] == "did two"));
}

#[test]
fn a_slow_connection_is_cut_off_with_its_cursor_and_delays_no_turn() {
    let folder = DaemonFolder::new("slow");
    let secrets = [folder.channel("phone", ALL, &[]), folder.channel("slow", "view", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let session = phone.open();
    let mut slow = desk.events(&session, None);
    // More than a connection may have to read: 3,000 events of 8 KiB, while this one reads nothing.
    phone.prompt(&session, "artifacts 3000 8000");
    let mut fast = phone.events(&session, None);
    while std::iter::from_fn(|| fast.next()).all(|event| event["type"] != "turn.completed") {
        // On a busy machine, this client too may be cut off.
        fast = phone.events(&session, fast.last);
    }
    // The turn has ended although the other one has read nothing.
    let cut = folder.wait_for("channel.event", |it| it.payload.at("payload.reason").as_str() == Some("slow"));
    assert!(cut.payload.at("payload.cursor").as_int().is_some());
    let mut seen = Vec::new();
    while let Some(event) = slow.next() {
        if event["type"] == "channel.disconnected" && event["payload"]["reason"] == "slow" {
            break;
        }
        seen.extend(event["sequence"].as_u64());
    }
    // It resumes after its cursor, and then has seen everything once.
    let mut again = desk.events(&session, slow.last);
    seen.extend(sequences(&again.until("turn.completed")));
    let artifacts = folder.records("session.shown.artifact");
    assert_eq!(artifacts.len(), 3000);
    assert!(seen.is_sorted_by(|a, b| a < b), "no event comes twice");
    assert!(artifacts.iter().all(|record| seen.binary_search(&record.cursor).is_ok()), "no event is missing");
}

#[test]
fn a_trimmed_log_is_repaired_with_a_marked_gap() {
    let folder = DaemonFolder::new("trimmed");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    client.prompt(&session, "one");
    events.next_of("turn.completed");
    let upto = events.last.unwrap();
    client.prompt(&session, "two");
    events.next_of("turn.completed");
    trim(&folder.log_path(), upto);
    let mut late = client.events(&session, Some(3));
    let repaired = late.next().unwrap();
    assert_eq!(repaired["type"], "snapshot.repaired");
    assert_eq!(repaired["payload"], json!({"from": 4, "to": upto}));
    let snapshot = late.next().unwrap();
    assert_eq!(snapshot["payload"]["change"], "snapshot");
    assert!(snapshot["sequence"].as_u64().unwrap() >= upto);
    let shown = snapshot["payload"]["events"].as_array().unwrap();
    assert!(shown.iter().any(|event| event["payload"]["text"] == "did two"), "{snapshot}");
}

#[test]
fn a_cursor_that_is_not_one_of_the_log_is_repaired_with_a_snapshot() {
    let folder = DaemonFolder::new("beyond");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut beyond = client.events(&session, Some(1_000_000));
    let repaired = beyond.next().unwrap();
    assert_eq!(repaired["type"], "snapshot.repaired");
    let head = repaired["sequence"].as_u64().unwrap();
    assert_eq!(repaired["payload"], json!({"from": 1, "to": head}));
    let snapshot = beyond.next().unwrap();
    assert_eq!(snapshot["payload"]["change"], "snapshot");
    assert!(head < 1_000 && snapshot["sequence"].as_u64().unwrap() >= head, "{snapshot}");
    // It gets what follows, and can continue after that.
    client.prompt(&session, "one");
    beyond.next_of("turn.completed");
    let mut again = client.events(&session, beyond.last);
    client.prompt(&session, "two");
    assert_eq!(again.next_of("model.completed")["payload"]["text"], "did two");
}

#[test]
fn channels_and_accounts_survive_the_deletion_of_old_records() {
    let folder = DaemonFolder::new("kept");
    let secrets = ["acme", "other"].map(|account| folder.channel(account, ALL, &["--account", account]));
    folder.channel("gone", ALL, &[]);
    folder.revoke("gone");
    let daemon = folder.start();
    let client = daemon.client(&secrets[0]);
    let session = client.open();
    client.prompt(&session, "one");
    let mut events = client.events(&session, Some(0));
    events.next_of("turn.completed");
    let upto = events.last.unwrap();
    client.prompt(&session, "two");
    events.next_of("turn.completed");
    assert!(daemon.stop().is_some());
    trim(&folder.log_path(), upto);
    let daemon = folder.start();
    let [acme, other] = secrets.map(|secret| daemon.client(&secret));
    assert_eq!(acme.request("GET", "/sessions", "", "").unwrap().0, 200);
    let mut late = acme.events(&session, Some(3));
    assert_eq!(late.next().unwrap()["payload"], json!({"from": 4, "to": upto}));
    assert!(other.try_events(&session, None).is_none(), "the session stays in its account");
    // A revoked channel is not revived, and its name is free.
    let listed = folder.command().args(["channel", "list", "--event-log"]).arg(folder.log_option()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("acme") && listed.contains("revoked"), "{listed}");
}

#[test]
fn a_channel_that_misses_its_heartbeats_is_stale_until_it_is_heard_again() {
    let folder = DaemonFolder::new("stale").saying("heartbeat = \"300ms\"");
    let secrets = [folder.channel("phone", ALL, &[]), folder.channel("desk", "view", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let session = phone.open();
    let mut seen = phone.events(&session, None);
    let _quiet = desk.events(&session, None);
    let is_of_desk = |event: &Value| desk.secret.contains(event["payload"]["channelId"].as_str().unwrap_or("none"));
    let beats = phone.clone();
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = is_over.clone();
    let beating = std::thread::spawn(move || {
        while !ends.load(Ordering::SeqCst) {
            beats.act("", "heartbeat", json!({}));
            std::thread::sleep(Duration::from_millis(150));
        }
    });
    let stale = loop {
        let event = seen.next_of("channel.disconnected");
        if is_of_desk(&event) {
            break event;
        }
    };
    assert_eq!(stale["payload"]["reason"], "stale");
    assert_eq!(desk.act("", "heartbeat", json!({})).0, 200);
    loop {
        if is_of_desk(&seen.next_of("channel.connected")) {
            break;
        }
    }
    is_over.store(true, Ordering::SeqCst);
    beating.join().unwrap();
}

/// Lets a channel begin a turn that sleeps and then works, and leave.
fn leave(folder: &DaemonFolder, client: &ChannelClient) -> String {
    let session = client.open();
    let events = client.events(&session, None);
    client.prompt(&session, "sleep 1500");
    folder.wait_for("session.life.prompted", |_| true);
    drop(events);
    session
}

#[test]
fn a_turn_goes_on_when_the_last_channel_leaves() {
    let folder = DaemonFolder::new("orphan-continue");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    leave(&folder, &daemon.client(&secret));
    let ended = folder.wait_for("session.life.answered", |_| true);
    assert_eq!(ended.payload.get("stop").as_str(), Some("done"));
}

#[test]
fn a_turn_is_cancelled_when_the_last_channel_leaves_if_the_project_says_so() {
    let folder = DaemonFolder::new("orphan-cancel").saying("orphan = \"cancel\"");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let events = client.events(&session, None);
    client.prompt(&session, "sleep 60000");
    folder.wait_for("session.life.prompted", |_| true);
    drop(events);
    let ended = folder.wait_for("session.life.answered", |_| true);
    assert_eq!(ended.payload.get("stop").as_str(), Some("cancelled"));
}

#[test]
fn a_turn_pauses_when_the_last_channel_leaves_if_the_project_says_so() {
    let folder = DaemonFolder::new("orphan-pause").saying("orphan = \"pause\"");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let events = client.events(&session, None);
    client.prompt(&session, "sleep 500");
    client.act(&session, "cancel", json!({}));
    folder.wait_for("session.life.answered", |_| true);
    drop(events);
    folder.wait_for("channel.event", |it| it.payload.get("event").as_str() == Some("channel.disconnected"));
    client.prompt(&session, "artifacts 2 1");
    // The turns of a session with a channel go on meanwhile.
    let other = client.open();
    let mut beside = client.events(&other, None);
    for _ in 0..5 {
        client.prompt(&other, "artifacts 2 1");
        beside.next_of("turn.completed");
    }
    assert!(folder.records("session.shown.artifact").len() < 10 + 2, "the turn waits for a channel");
    let mut events = client.events(&session, None);
    // The turn may end before the snapshot is taken.
    if events.snapshot["payload"]["state"] != "idle" {
        events.next_of("turn.completed");
    }
    assert_eq!(folder.records("session.shown.artifact").len(), 10 + 2);
}
