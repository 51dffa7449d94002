//! The permission bridge.

use super::daemon::{DaemonFolder, RunningDaemon};
use eventlog::Record;
use serde_json::json;
use std::sync::Arc;

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
fn anti_pattern_5_a_tool_runs_only_after_its_decision_is_on_the_log() {
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
    let secrets = [folder.channel("phone", "view,prompt,inject,permit", &[]), folder.channel("desk", "view", &[])];
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
    let said = ["verdict", "answer"].map(|key| refused.payload.get(key).as_str().unwrap());
    assert_eq!(said, ["unusable", "allow_once"], "the record claims no permission");
    // The question is still open, and no channel gets an event that it is not.
    let mut later = phone.events(&session, Some(refused.cursor - 1));
    phone.act(&session, "message", json!({"text": "marker"}));
    let kinds: Vec<_> =
        later.until("channel.message").iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect();
    assert!(!kinds.iter().any(|kind| kind.contains("permission")), "{kinds:?}");
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
    // Permissions wait, whatever else happens.
    let other = client.open();
    let mut beside = client.events(&other, None);
    for _ in 0..5 {
        client.prompt(&other, "artifacts 2 1");
        beside.next_of("turn.completed");
    }
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
    let pending = &snapshot["payload"]["pendingPermissions"][0];
    assert_eq!(pending["request"], request, "{snapshot}");
    let applies_to = json!({"sessionId": session, "tool": "pay", "toolCallId": "call-1"});
    assert_eq!((&pending["appliesTo"], &pending["covers"]), (&applies_to, &json!({"tool": "pay"})));
    assert_eq!(desk.act(&session, "permit", json!({"request": request, "verdict": "reject_once"})).0, 200);
    let said = events.next_of("tool.failed");
    assert!(said["payload"]["text"].as_str().unwrap().contains("the user refused it"), "{said}");
}

/// A question that one channel asked for, and a decision about it.
struct DecidedPermission {
    folder: DaemonFolder,
    _daemon: RunningDaemon,
    session: String,
    request: String,
    /// The secret of the channel that decided.
    secret: String,
    decision: Arc<Record>,
}

/// Lets a tool ask for a permission, and a channel answer.
fn decided(name: &str, can: &str, verdict: &str) -> DecidedPermission {
    let folder = DaemonFolder::new(&format!("permit-fact-{name}"));
    let secrets = [folder.channel("phone", "view,prompt", &[]), folder.channel("desk", can, &[])];
    let daemon = folder.start();
    let [phone, desk] = secrets.each_ref().map(|secret| daemon.client(secret));
    let session = phone.open();
    let mut events = phone.events(&session, None);
    phone.prompt(&session, "pay");
    let request = events.next_of("channel.permission_forwarded")["payload"]["request"].as_str().unwrap().to_owned();
    let answer = json!({"request": request, "verdict": verdict});
    let (status, answered) = desk.act(&session, "permit", answer);
    assert!(status == 200 || status == 403, "{answered}");
    let decision = folder.wait_for("channel.permission", |_| true);
    let [_, secret] = secrets;
    DecidedPermission { folder, _daemon: daemon, session, request, secret, decision }
}

#[test]
fn permission_fact_1_which_peer_requested_it() {
    let it = decided("requested", "view,permit", "allow_once");
    let requested_by = it.decision.payload.get("requested_by").as_str().unwrap().to_owned();
    assert!(requested_by.starts_with("chan-") && !it.secret.contains(&requested_by), "not the one that decided");
    // It is the channel whose prompt it was.
    let prompted = it.folder.records("session.life.prompted").remove(0);
    let action = prompted.payload.get("action").as_str().unwrap();
    assert!(action.starts_with(&format!("{requested_by}/")), "{action}");
    let is_forwarded = |it: &Record| it.payload.get("event").as_str() == Some("channel.permission_forwarded");
    let forwarded = it.folder.wait_for("channel.event", is_forwarded);
    assert_eq!(forwarded.payload.at("payload.requested_by").as_str(), Some(&*requested_by));
}

#[test]
fn permission_fact_2_which_tool_it_applies_to() {
    let it = decided("applies", "view,permit", "allow_once");
    let of = |path: &str| it.decision.payload.at(path).as_str().map(ToOwned::to_owned);
    assert_eq!(of("applies_to.tool").as_deref(), Some("pay"));
    assert_eq!(of("applies_to.tool_call_id").as_deref(), Some("call-1"));
    assert_eq!(of("applies_to.session_id").as_deref(), Some(it.session.as_str()));
    assert_eq!(of("request").as_deref(), Some(it.request.as_str()));
}

#[test]
fn permission_fact_3_which_side_decided() {
    let it = decided("side", "view,permit", "reject_once");
    assert_eq!(it.decision.payload.get("side").as_str(), Some("remote"));
    assert!(it.secret.contains(it.decision.payload.get("decided_by").as_str().unwrap()));
    assert_eq!(it.decision.payload.get("verdict").as_str(), Some("reject_once"));
}

/// Responses, timeouts and denials by policy are in the tests above; this is a failed authorization beside a response.
#[test]
fn permission_fact_4_the_source_of_the_decision() {
    let response = decided("source", "view,permit", "allow_once");
    assert_eq!(response.decision.payload.get("source").as_str(), Some("user"));
    let refused = decided("source-auth", "view", "allow_once");
    assert_eq!(refused.decision.payload.get("source").as_str(), Some("auth"));
    assert!(refused.folder.records("session.shown.tool_ended").is_empty(), "the question is still open");
}

#[test]
fn permission_fact_5_whether_it_is_scoped_to_the_channel() {
    for (name, can, verdict, scoped) in [
        ("once", "view,permit", "allow_once", false),
        ("channel", "view,permit", "allow_always", true),
        ("session", "view,permit,permit:session", "allow_always", false),
    ] {
        let it = decided(&format!("scope-{name}"), can, verdict);
        assert_eq!(it.decision.payload.at("scope.channel_scoped").as_bool(), Some(scoped), "{name}");
        assert_eq!(it.decision.payload.at("scope.holds").as_str(), Some(name));
    }
}

#[test]
fn a_question_that_was_open_when_the_daemon_was_killed_is_returned_as_expired() {
    let folder = DaemonFolder::new("permit-killed");
    let secret = folder.channel("phone", "view,prompt,permit", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    client.prompt(&session, "pay");
    let forwarded = events.next_of("channel.permission_forwarded");
    let (request, last) = (forwarded["payload"]["request"].clone(), events.last);
    daemon.kill();
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let mut events = client.events(&session, last);
    let returned = events.next_of("channel.permission_returned");
    assert_eq!(returned["payload"]["request"], request);
    assert_eq!(returned["payload"]["appliesTo"], forwarded["payload"]["appliesTo"]);
    let facts = ["decidedBy", "side", "source", "verdict"].map(|key| returned["payload"][key].as_str().unwrap());
    assert_eq!(facts, ["runtime", "local", "timeout", "cancelled"]);
    assert_eq!(client.events(&session, None).snapshot["payload"]["pendingPermissions"], json!([]));
    // A late answer learns the decision, and no tool runs.
    let (_, late) = client.act(&session, "permit", json!({"request": request, "verdict": "allow_once"}));
    assert_eq!(
        (&late["result"]["decided"], &late["result"]["verdict"]),
        (&json!(false), &json!("cancelled")),
        "{late}"
    );
    // The next start returns nothing again.
    daemon.kill();
    let _daemon = folder.start();
    assert_eq!(folder.records("channel.permission").len(), 1);
}

#[test]
fn an_always_answer_decides_the_equal_questions_that_are_open() {
    for (name, can, verdict, said) in [
        ("channel", "view,prompt,permit", "allow_always", "a/x written"),
        ("session", "view,prompt,permit,permit:session", "allow_always", "a/x written"),
        ("never", "view,prompt,permit", "reject_always", "the user refused it"),
    ] {
        let folder = DaemonFolder::new(&format!("permit-equal-{name}"));
        let secret = folder.channel("phone", can, &[]);
        let daemon = folder.start();
        let client = daemon.client(&secret);
        let session = client.open();
        let mut events = client.events(&session, None);
        client.prompt(&session, "write");
        let asked: Vec<_> = (0..3).map(|_| events.next_of("channel.permission_forwarded")["payload"].clone()).collect();
        let of_call =
            |id: &str| asked.iter().find(|it| it["appliesTo"]["toolCallId"] == id).unwrap()["request"].clone();
        client.act(&session, "permit", json!({"request": of_call("call-1"), "verdict": verdict}));
        let returned: Vec<_> =
            (0..2).map(|_| events.next_of("channel.permission_returned")["payload"].clone()).collect();
        assert_eq!((&returned[0]["request"], &returned[0]["source"]), (&of_call("call-1"), &json!("user")), "{name}");
        assert_eq!((&returned[1]["request"], &returned[1]["source"]), (&of_call("call-2"), &json!("policy")), "{name}");
        let once = if verdict == "allow_always" { "allow_once" } else { "reject_once" };
        assert_eq!(returned[1]["verdict"], once, "{name}");
        // The other folder is still in question.
        let open = client.events(&session, None).snapshot["payload"]["pendingPermissions"].clone();
        assert_eq!((open.as_array().unwrap().len(), &open[0]["request"]), (1, &of_call("call-3")), "{name}");
        let (_, late) = client.act(&session, "permit", json!({"request": of_call("call-2"), "verdict": "reject_once"}));
        assert_eq!((&late["result"]["decided"], &late["result"]["verdict"]), (&json!(false), &json!(once)), "{name}");
        client.act(&session, "permit", json!({"request": of_call("call-3"), "verdict": "reject_once"}));
        let rest = events.until("turn.completed");
        let texts = rest.iter().filter_map(|event| event["payload"]["text"].as_str());
        assert!(texts.clone().any(|text| text.contains(said)), "{name}: {:?}", texts.collect::<Vec<_>>());
    }
}
