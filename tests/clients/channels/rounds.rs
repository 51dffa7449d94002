//! Random disconnects, and daemons that are killed with SIGKILL.
//!
//! In each round, clients prompt a session, inject into it and read its events, and are cut off at random places; the
//! daemon is killed in the middle and starts again. After each reconnect, the state of a client, rebuilt from its snapshot
//! and its events, must be that of the log. At the end, every acknowledged action must have been executed once.
//!
//! It runs 12 rounds; `CHANNEL_ROUNDS=1000` makes it longer.

use super::daemon::{ChannelClient, DaemonFolder, EventClient, action};
use eventlog::Record;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A generator of random numbers, so that a round can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// The events of a session as a client knows them, by their sequences.
#[derive(Default)]
struct ClientState {
    events: BTreeMap<u64, Value>,
    cursor: Option<u64>,
}

impl ClientState {
    /// Takes the snapshot of a connection, if it has one.
    fn begin(&mut self, events: &EventClient) {
        self.take(&events.snapshot);
    }

    /// Takes an event.
    fn take(&mut self, event: &Value) {
        let Some(sequence) = event["sequence"].as_u64() else { return };
        if event["payload"]["change"] == "snapshot" {
            self.events.clear();
            for shown in event["payload"]["events"].as_array().unwrap() {
                self.events.insert(shown["sequence"].as_u64().unwrap(), shown["payload"].clone());
            }
        } else {
            assert!(self.cursor.is_none_or(|cursor| sequence > cursor), "event {sequence} came again");
            let shown =
                ["harn.message", "model.completed", "tool.started", "tool.result", "tool.failed", "artifact.changed"];
            if shown.contains(&event["type"].as_str().unwrap()) {
                self.events.insert(sequence, event["payload"].clone());
            }
        }
        self.cursor = Some(sequence);
    }

    /// Reads until an event of a type.
    fn read(&mut self, events: &mut EventClient, until: &str) -> bool {
        while let Some(event) = events.next() {
            self.take(&event);
            if event["type"] == until {
                return true;
            }
        }
        false
    }
}

/// Sends an action until it has an answer.
fn act(client: &ChannelClient, action: &Value) -> Option<u16> {
    client.try_act(action).map(|(status, _)| status)
}

#[test]
fn after_every_reconnect_a_client_has_the_state_of_the_log_and_no_action_is_executed_twice_or_lost() {
    let rounds: u64 = std::env::var("CHANNEL_ROUNDS").ok().map_or(12, |text| text.parse().unwrap());
    let folder = DaemonFolder::new("rounds").with(&["--max-rate", "100000"]);
    let secret = folder.channel("phone", "view,prompt,inject", &[]);
    let mut daemon = folder.start();
    let mut client = daemon.client(&secret);
    let session = client.open();
    let mut state = ClientState::default();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut acknowledged, mut sent, mut turns) = (BTreeSet::new(), 0_u64, OpenTurns::default());
    for round in 0..rounds {
        // A client that was cut off continues after its cursor, or from a snapshot.
        let after = if dice.below(3) == 0 { None } else { state.cursor };
        let mut events = client.events(&session, after);
        state.begin(&events);
        for _ in 0..=dice.below(2) {
            sent += 1;
            let id = format!("turn-{sent}");
            let prompt = action(&id, &session, "prompt", json!({"text": format!("{id} round {round}")}));
            if act(&client, &prompt) == Some(202) {
                acknowledged.insert(id);
                if dice.below(2) == 0 {
                    // The answer was lost, so the client sends the action again.
                    assert!(matches!(act(&client, &prompt), Some(200 | 202)));
                }
            }
            sent += 1;
            let id = format!("message-{sent}");
            let message = action(&id, &session, "message", json!({"text": id}));
            if act(&client, &message) == Some(200) {
                acknowledged.insert(id);
            }
            if dice.below(2) == 0 && !state.read(&mut events, "turn.completed") {
                break;
            }
        }
        match dice.below(3) {
            0 => {
                // Killed while actions are on their way.
                sent += 1;
                let id = format!("turn-{sent}");
                let racing = client.clone();
                let prompt = action(&id, &session, "prompt", json!({"text": format!("{id} racing")}));
                let race = std::thread::spawn(move || act(&racing, &prompt));
                std::thread::sleep(std::time::Duration::from_micros(dice.below(20_000)));
                daemon.kill();
                if race.join().unwrap() == Some(202) {
                    acknowledged.insert(id);
                }
                while let Some(event) = events.next() {
                    state.take(&event);
                }
                daemon = folder.start();
                client = daemon.client(&secret);
            }
            1 => drop(events),
            _ => {
                // Not all, so that the client continues in the middle.
                while dice.below(3) > 0
                    && let Some(event) = events.next_arrived()
                {
                    state.take(&event);
                }
            }
        }
        turns.wait_for_all(&folder);
        check_state(&client, &session, &mut state);
    }
    check_actions(&folder, &acknowledged);
}

/// Compares the state of a client that continues after its cursor with the log.
fn check_state(client: &ChannelClient, session: &str, state: &mut ClientState) {
    let marker = super::daemon::fresh_id();
    let (status, _) = client.act(session, "message", json!({"text": marker}));
    assert_eq!(status, 200);
    let mut events = client.events(session, state.cursor);
    state.begin(&events);
    loop {
        let event = events.next().expect("the stream ended before the marker");
        state.take(&event);
        if event["type"] == "channel.message" && event["payload"]["text"] == *marker {
            break;
        }
    }
    let mut fresh = ClientState::default();
    fresh.begin(&client.events(session, None));
    let last =
        |state: &ClientState| state.events.iter().rev().take(900).map(|(k, v)| (*k, v.clone())).collect::<Vec<_>>();
    assert_eq!(last(state), last(&fresh), "the state of the client is not that of the log");
}

/// The accepted turns without an end.
#[derive(Default)]
struct OpenTurns {
    open: BTreeSet<String>,
    accepted: u64,
    ended: u64,
}

impl OpenTurns {
    /// Waits until every accepted turn has its end on the log.
    fn wait_for_all(&mut self, folder: &DaemonFolder) {
        for record in folder.records_after("channel.action", self.accepted) {
            self.accepted = record.cursor;
            if kind(&record) == "prompt" {
                self.open.insert(id(&record));
            }
        }
        crate::wait::find("the end of every turn", || {
            for record in folder.records_after("channel.result", self.ended) {
                self.ended = record.cursor;
                self.open.remove(&id(&record));
            }
            if self.open.is_empty() { Ok(()) } else { Err(format!("turns without an end: {:?}", self.open)) }
        });
    }
}

fn kind(record: &Record) -> String {
    record.payload.get("kind").as_str().unwrap_or_default().to_owned()
}

fn id(record: &Record) -> String {
    record.payload.get("action_id").as_str().unwrap_or_default().to_owned()
}

/// Checks that every acknowledged action was executed once, and none twice.
fn check_actions(folder: &DaemonFolder, acknowledged: &BTreeSet<String>) {
    let mut begun: BTreeMap<String, usize> = BTreeMap::new();
    for record in folder.records("session.life.prompted") {
        let action = record.payload.get("action").as_str().unwrap().to_owned();
        *begun.entry(action.split_once('/').unwrap().1.to_owned()).or_default() += 1;
    }
    for record in folder.records("channel.event") {
        if let Some(action) = record.payload.at("payload.data._meta.action").as_str() {
            *begun.entry(action.split_once('/').unwrap().1.to_owned()).or_default() += 1;
        }
    }
    let twice: Vec<_> = begun.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "executed twice: {twice:?}");
    // Refused as busy: acknowledged as failed, and never begun.
    let failed: BTreeSet<String> = folder
        .records("channel.result")
        .iter()
        .filter(|it| it.payload.at("result.reason").as_str() == Some("busy"))
        .map(|it| id(it))
        .collect();
    let lost: Vec<_> = acknowledged.iter().filter(|id| !begun.contains_key(*id) && !failed.contains(*id)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}
