//! Scripts that open channels to the daemon that serves them.

use super::daemon::{ChannelClient, DaemonFolder, EventClient, RunningDaemon};
use serde_json::{Value, json};

const ALL: &str = "view,prompt,inject,permit,permit:session,admin";

/// A daemon, a client, and two sessions: one whose script opens channels, and another one.
struct TwoSessions {
    folder: DaemonFolder,
    daemon: RunningDaemon,
    client: ChannelClient,
    script: String,
    other: String,
}

impl TwoSessions {
    fn new(name: &str, agent: &'static str) -> TwoSessions {
        let folder = DaemonFolder::new(name).running(agent);
        let secret = folder.channel("phone", ALL, &[]);
        let daemon = folder.start();
        let client = daemon.client(&secret);
        let (script, other) = (client.open(), client.open());
        TwoSessions { folder, daemon, client, script, other }
    }

    /// Prompts the script.
    fn begin(&self, text: &str) -> EventClient {
        let events = self.client.events(&self.script, None);
        self.client.prompt(&self.script, text);
        events
    }

    /// Prompts the script, and returns its answer.
    fn ask(&self, text: &str) -> String {
        answer(&mut self.begin(text))
    }
}

/// Returns the answer of a script.
fn answer(events: &mut EventClient) -> String {
    let mut said = String::new();
    loop {
        let event = events.next().expect("the stream ended before the answer");
        assert_ne!(event["type"], "turn.failed", "{event}");
        if event["type"] == "model.completed" {
            event["payload"]["text"].as_str().unwrap().clone_into(&mut said);
        }
        if event["type"] == "turn.completed" {
            return said;
        }
    }
}

fn parsed(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

fn a_script_sees_what_an_sse_client_sees(name: &str, agent: &'static str) {
    let sessions = TwoSessions::new(name, agent);
    let mut live = sessions.client.events(&sessions.other, Some(0));
    let mut script = sessions.begin(&format!("watch {} 3", sessions.other));
    let mut seen = Vec::new();
    for n in 0..3 {
        sessions.client.prompt(&sessions.other, &format!("part {n}"));
        seen.extend(live.until("turn.completed"));
    }
    let of_script = parsed(&answer(&mut script));
    assert!(seen.len() > 9, "{seen:?}");
    assert_eq!(of_script, Value::Array(seen));
    let identities = sessions.folder.records("channel.identity");
    let identity = identities
        .iter()
        .map(|record| &record.payload)
        .find(|identity| identity.get("transport").as_str() == Some("in_process"));
    let identity = identity.expect("its identity is recorded");
    let id = identity.get("channel_id").as_str().unwrap();
    assert!(id.starts_with("script-"), "{id}");
    assert_eq!(identity.get("account_ref").as_str(), Some("local"));
    // The script has let go of its channel at the end of its turn.
    sessions.folder.wait_for("channel.event", |record| {
        record.payload.get("event").as_str() == Some("channel.disconnected")
            && record.payload.get("channel_id").as_str() == Some(id)
    });
}

#[test]
fn a_script_sees_the_events_of_another_session_as_an_sse_client_does() {
    a_script_sees_what_an_sse_client_sees("in-process-order", "in_process.harn");
}

#[test]
fn a_script_in_rhai_sees_the_events_of_another_session_as_an_sse_client_does() {
    a_script_sees_what_an_sse_client_sees("in-process-order-rhai", "in_process.rhai");
}

#[test]
fn a_script_opens_a_channel_to_its_own_session() {
    let sessions = TwoSessions::new("in-process-own", "in_process.harn");
    let found = parsed(&sessions.ask("own"));
    assert_eq!(found["snapshot"], "snapshot");
    assert_eq!(
        (&found["text"], &found["session"], &found["from"]),
        (&json!("note to self"), &json!(sessions.script), &json!(true))
    );
    let listed = found["listed"].as_array().unwrap();
    assert!(listed.contains(&json!(sessions.script)) && listed.contains(&json!(sessions.other)), "{listed:?}");
    assert_eq!(found["after"], "HARN-CHN-102 disconnected");
    // Others see the message too.
    let mut later = sessions.client.events(&sessions.script, Some(0));
    assert_eq!(later.next_of("channel.message")["payload"]["text"], "note to self");
}

fn an_action_of_a_script_is_executed_once(name: &str, agent: &'static str) {
    let TwoSessions { folder, daemon, client, script, other } = TwoSessions::new(name, agent);
    let mut live = client.events(&other, None);
    let ask = |client: &ChannelClient| {
        let mut events = client.events(&script, None);
        client.prompt(&script, &format!("prompt {other}"));
        parsed(&answer(&mut events))
    };
    let answers = ask(&client);
    assert_eq!((&answers[0]["status"], &answers[0]["repeated"]), (&json!("accepted"), &json!(false)), "{answers}");
    assert_eq!((&answers[1]["actionId"], &answers[1]["repeated"]), (&json!("once"), &json!(true)), "{answers}");
    assert_eq!(live.next_of("model.completed")["payload"]["text"], "did hello");
    live.next_of("turn.completed");
    let of_script = |record: &eventlog::Record| record.payload.get("action_id").as_str() == Some("once");
    folder.wait_for("channel.result", of_script);
    let actions = folder.records("channel.action");
    let action = actions.iter().find(|record| of_script(record)).unwrap();
    assert!(action.payload.get("channel_id").as_str().unwrap().starts_with("script-"));
    // The next process knows it, since the channel has the same id.
    daemon.kill();
    let daemon = folder.start();
    let answers = ask(&daemon.client(&client.secret));
    assert_eq!((&answers[0]["status"], &answers[0]["repeated"]), (&json!("done"), &json!(true)), "{answers}");
    assert_eq!(folder.records("channel.action").iter().filter(|record| of_script(record)).count(), 1);
}

#[test]
fn an_action_of_a_script_is_executed_once_also_after_a_restart() {
    an_action_of_a_script_is_executed_once("in-process-once", "in_process.harn");
}

#[test]
fn an_action_of_a_script_in_rhai_is_executed_once_also_after_a_restart() {
    an_action_of_a_script_is_executed_once("in-process-once-rhai", "in_process.rhai");
}

#[test]
fn a_script_is_refused_what_its_channel_may_not_do() {
    let sessions = TwoSessions::new("in-process-refused", "in_process.harn");
    let foreign = sessions.folder.channel("foreign", ALL, &["--account", "acme"]);
    let foreign = sessions.daemon.client(&foreign).open();
    let found = parsed(&sessions.ask(&format!("refused {foreign}")));
    let wanted = [
        "HARN-CHN-102 scope",
        "HARN-CHN-102 scope",
        "HARN-CHN-102 scope",
        "HARN-CHN-102 invalid",
        "HARN-CHN-103 malformed_secret",
        // The session of another account is unknown.
        "HARN-CHN-102 unknown_session",
        // Its own session runs the turn that asks.
        "HARN-CHN-102 busy",
    ];
    assert_eq!(found, json!(wanted));
    let refused = sessions.folder.wait_for_records("channel.refused", found.as_array().unwrap().len());
    let reasons: Vec<_> = refused.iter().filter_map(|record| record.payload.get("reason").as_str()).collect();
    let wanted: Vec<_> = wanted.iter().filter_map(|text| text.split(' ').next_back()).collect();
    assert_eq!(reasons, wanted, "each refusal is on the log");
    assert_eq!(
        sessions
            .folder
            .records("channel.action")
            .iter()
            .filter(|it| { it.payload.get("channel_id").as_str().is_some_and(|id| id.starts_with("script-")) })
            .count(),
        0,
        "nothing was accepted"
    );
}

#[test]
fn a_script_with_the_secret_of_an_enrolled_channel_answers_a_permission_question() {
    let sessions = TwoSessions::new("in-process-permit", "in_process.harn");
    let secret = sessions.folder.channel("supervisor", "view,permit", &["--role", "peer_agent"]);
    let mut script = sessions.begin(&format!("permit {} {secret}", sessions.other));
    let mut live = sessions.client.events(&sessions.other, None);
    sessions.client.prompt(&sessions.other, "pay");
    let returned = live.next_of("channel.permission_returned");
    assert_eq!(
        (&returned["payload"]["verdict"], &returned["payload"]["source"]),
        (&json!("allow_once"), &json!("user"))
    );
    let receipt = parsed(&answer(&mut script));
    assert_eq!(receipt["result"]["decided"], true);
    assert_eq!(receipt["result"]["decidedBy"], returned["payload"]["decidedBy"]);
    assert!(returned["payload"]["decidedBy"].as_str().unwrap().starts_with("chan-"));
}

#[test]
fn a_revoked_channel_of_a_script_is_closed() {
    let sessions = TwoSessions::new("in-process-revoked", "in_process.harn");
    let secret = sessions.folder.channel("supervisor", "view", &[]);
    let mut script = sessions.begin(&format!("revoked {} {secret}", sessions.other));
    sessions
        .folder
        .wait_for("channel.event", |record| record.payload.at("payload.transport").as_str() == Some("in_process"));
    sessions.folder.revoke("supervisor");
    assert_eq!(answer(&mut script), "revoked, HARN-CHN-103 revoked");
}

#[test]
fn a_script_that_does_not_read_is_cut_off_and_resumes_without_a_gap() {
    let sessions = TwoSessions::new("in-process-slow", "in_process.harn");
    let mut live = sessions.client.events(&sessions.other, Some(0));
    let mut script = sessions.begin(&format!("slow {}", sessions.other));
    let is_connected = |record: &eventlog::Record| {
        record.payload.get("event").as_str() == Some("channel.resumed")
            && record.payload.get("channel_id").as_str().is_some_and(|id| id.starts_with("script-"))
    };
    // Both connections of the script follow the session: one of them is not read.
    crate::wait::until("both connections of the script", || {
        sessions.folder.records("channel.event").iter().filter(|record| is_connected(record)).count() >= 2
    });
    sessions.client.prompt(&sessions.other, "artifacts 3000 10");
    let seen = live.until("turn.completed");
    let found = parsed(&answer(&mut script));
    assert_eq!((&found["reason"], &found["cursor"]), (&json!("slow"), &json!(true)));
    let sequences: Vec<_> = seen.iter().map(|event| event["sequence"].clone()).collect();
    assert_eq!(found["sequences"], Value::Array(sequences));
}
