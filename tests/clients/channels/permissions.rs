//! The permission bridge.

use super::daemon::DaemonFolder;
use serde_json::json;
use std::time::Duration;

#[test]
fn the_first_answer_decides_and_the_others_learn_who_did() {
    let folder = DaemonFolder::new("permit-first");
    let secrets = [folder.channel("phone", "view,prompt,permit", &[]), folder.channel("desk", "view,permit", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let session = phone.open();
    let (mut seen, mut other) = (phone.events(&session, None), desk.events(&session, None));
    phone.prompt(&session, "pay");
    let forwarded = other.next_of("channel.permission_forwarded");
    let to = forwarded["payload"]["forwardedTo"].as_array().unwrap();
    assert_eq!(to.len(), 2, "{forwarded}");
    assert_eq!(forwarded["payload"]["appliesTo"]["tool"], "pay");
    let request = forwarded["payload"]["request"].as_str().unwrap();
    let (_, first) = desk.act(&session, "permit", json!({"request": request, "verdict": "allow_once"}));
    assert_eq!((&first["result"]["decided"], &first["status"]), (&json!(true), &json!("done")), "{first}");
    let (_, late) = phone.act(&session, "permit", json!({"request": request, "verdict": "reject_once"}));
    assert_eq!((&late["result"]["decided"], &late["result"]["verdict"]), (&json!(false), &json!("allow_once")));
    let by = late["result"]["decidedBy"].as_str().unwrap();
    assert!(desk.secret.contains(by), "{late}");
    let returned = seen.next_of("channel.permission_returned");
    assert_eq!(returned["payload"]["decidedBy"], by);
    assert_eq!(returned["payload"]["side"], "remote");
    assert_eq!(seen.next_of("tool.result")["payload"]["text"], "pay ran");
    let decisions = folder.records("channel.permission");
    assert_eq!(decisions.len(), 1);
    assert_eq!(decisions[0].payload.get("source").as_str(), Some("user"));
}

/// Anti-pattern: approving remote permissions privately, without evidence.
#[test]
fn a_tool_runs_only_after_its_decision_is_on_the_log() {
    let folder = DaemonFolder::new("permit-evidence");
    let secret = folder.channel("phone", "view,prompt,permit", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    client.prompt(&session, "pay");
    let request = events.next_of("channel.permission_forwarded")["payload"]["request"].clone();
    client.act(&session, "permit", json!({"request": request, "verdict": "allow_once"}));
    events.next_of("turn.completed");
    let decision = folder.records("channel.permission").remove(0);
    let ended = folder.records("session.shown.tool_ended").remove(0);
    assert!(decision.cursor < ended.cursor, "the tool ran without evidence");
    assert_eq!(decision.payload.at("applies_to.tool_call_id").as_str(), Some("call-1"));
    // The approval is not a message of the user.
    let messages = folder.records("session.shown.user_message");
    assert_eq!(messages.len(), 1);
}

#[test]
fn an_always_answer_holds_for_its_channel_unless_it_may_permit_the_session() {
    for (name, can, holds, source) in [
        ("channel", "view,prompt,permit", "channel", "policy"),
        ("session", "view,prompt,permit,permit:session", "session", "policy"),
    ] {
        let folder = DaemonFolder::new(&format!("permit-always-{name}"));
        let secret = folder.channel("phone", can, &[]);
        let daemon = folder.start();
        let client = daemon.client(&secret);
        let session = client.open();
        let mut events = client.events(&session, None);
        client.prompt(&session, "pay");
        let request = events.next_of("channel.permission_forwarded")["payload"]["request"].clone();
        client.act(&session, "permit", json!({"request": request, "verdict": "allow_always"}));
        events.next_of("turn.completed");
        client.prompt(&session, "pay");
        events.next_of("turn.completed");
        let decisions = folder.records("channel.permission");
        assert_eq!(decisions.len(), 2, "{name}");
        assert_eq!(decisions[0].payload.at("scope.holds").as_str(), Some(holds));
        assert_eq!(decisions[0].payload.at("scope.channel_scoped").as_bool(), Some(name == "channel"));
        assert_eq!(decisions[1].payload.get("source").as_str(), Some(source), "{name}");
        let by_channel = decisions[1].payload.get("decided_by").as_str().is_some_and(|by| secret.contains(by));
        assert_eq!(by_channel, name == "channel");
        if name == "channel" {
            // Without the channel, the question is asked again.
            folder.revoke("phone");
            let other = folder.channel("desk", "view,prompt", &[]);
            while events.next().is_some() {}
            let desk = daemon.client(&other);
            let mut events = loop {
                if let Some(events) = desk.try_events(&session, None) {
                    break events;
                }
            };
            desk.prompt(&session, "pay");
            events.next_of("channel.permission_forwarded");
        }
    }
}

#[test]
fn an_answer_without_the_scope_is_recorded_as_a_failed_authorization() {
    let folder = DaemonFolder::new("permit-auth");
    let secrets = [folder.channel("phone", "view,prompt,permit", &[]), folder.channel("desk", "view", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let session = phone.open();
    let mut events = phone.events(&session, None);
    phone.prompt(&session, "pay");
    let request = events.next_of("channel.permission_forwarded")["payload"]["request"].clone();
    let answer = json!({"request": request, "verdict": "allow_once"});
    assert_eq!(desk.act(&session, "permit", answer.clone()).0, 403);
    let refused = folder.wait_for("channel.permission", |it| it.payload.get("source").as_str() == Some("auth"));
    assert!(desk.secret.contains(refused.payload.get("decided_by").as_str().unwrap()));
    // The question is still open.
    assert_eq!(phone.act(&session, "permit", answer).1["result"]["decided"], true);
    events.next_of("turn.completed");
}

#[test]
fn a_question_without_an_answer_times_out_and_a_withdrawn_one_is_recorded() {
    let folder = DaemonFolder::new("permit-timeout").saying("permission_timeout = \"300ms\"");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    client.prompt(&session, "pay");
    let returned = events.next_of("channel.permission_returned");
    assert_eq!(
        (&returned["payload"]["source"], &returned["payload"]["decidedBy"]),
        (&json!("timeout"), &json!("runtime"))
    );
    events.next_of("turn.completed");
    drop(daemon);
    let folder = DaemonFolder::new("permit-withdrawn");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    client.prompt(&session, "pay");
    events.next_of("channel.permission_forwarded");
    // Permissions wait, however long.
    std::thread::sleep(Duration::from_millis(500));
    assert!(folder.records("channel.permission").is_empty());
    client.act(&session, "cancel", json!({}));
    let returned = events.next_of("channel.permission_returned");
    assert_eq!(
        (&returned["payload"]["verdict"], &returned["payload"]["source"]),
        (&json!("cancelled"), &json!("policy"))
    );
}

#[test]
fn a_channel_that_connects_learns_which_questions_are_open() {
    let folder = DaemonFolder::new("permit-open");
    let secrets = [folder.channel("phone", "view,prompt", &[]), folder.channel("desk", "view,permit", &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.map(|secret| daemon.client(&secret));
    let session = phone.open();
    let mut events = phone.events(&session, None);
    phone.prompt(&session, "pay");
    let request = events.next_of("channel.permission_forwarded")["payload"]["request"].clone();
    let snapshot = desk.events(&session, None).snapshot;
    assert_eq!(snapshot["payload"]["pendingPermissions"][0]["request"], request, "{snapshot}");
    assert_eq!(desk.act(&session, "permit", json!({"request": request, "verdict": "reject_once"})).0, 200);
    let said = events.next_of("tool.failed");
    assert!(said["payload"]["text"].as_str().unwrap().contains("the user refused it"), "{said}");
}
