//! Four clients of one session at once.

use super::acp_client::AcpClient;
use super::daemon::{DaemonFolder, fresh_id};
use super::peer_agents::{PeerAgent, message, state};
use crate::wait::until;
use serde_json::{Value, json};

/// Returns the cursors of events, those after `after` and up to `upto`.
fn between(sequences: &[u64], after: u64, upto: u64) -> Vec<u64> {
    sequences.iter().copied().filter(|it| *it > after && *it <= upto).collect()
}

fn sequences(events: &[Value]) -> Vec<u64> {
    events.iter().filter_map(|event| event["sequence"].as_u64()).collect()
}

#[test]
fn an_editor_a_websocket_a_browser_and_a_peer_agent_hold_one_session_at_once() {
    let folder = DaemonFolder::new("together").with(&["--a2a"]);
    let secrets = [
        folder.channel("editor", "view,prompt,permit", &[]),
        folder.channel("desk", "view,prompt,inject,permit", &[]),
        folder.channel("browser", "view", &[]),
        folder.channel("planner", "view,prompt", &["--role", "peer_agent"]),
    ];
    let daemon = folder.start();
    let mut editor = AcpClient::editor(&folder, &daemon, &secrets[0]);
    let session = editor.open();
    let mut desk = AcpClient::websocket(&daemon, &secrets[1]);
    desk.load(&session);
    let browser = daemon.client(&secrets[2]);
    let mut events = browser.events(&session, Some(0));
    let peer = PeerAgent(daemon.client(&secrets[3]));
    let mut of_peer = peer.0.events(&session, Some(0));

    // Each of them begins a turn that the others see.
    let id = editor.prompt(&session, "from the editor");
    editor.answer(id);
    let id = desk.prompt(&session, "from the desk");
    desk.answer(id);
    let more = json!({"contextId": session});
    let frames: Vec<Value> = peer.stream("SendStreamingMessage", message("m-1", "from the peer", more)).collect();
    assert_eq!(frames.last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED", "{frames:#?}");
    assert_eq!(peer.call("GetTask", json!({"id": frames[0]["task"]["id"]}))["contextId"], session.as_str());

    // One answers a permission question of the peer's task, and the others learn who did.
    let task = peer.begin("m-2", "pay", json!({"contextId": session}));
    let (asked, other) = (desk.question(), editor.question());
    assert_eq!(asked["params"]["_meta"]["harn"]["request"], other["params"]["_meta"]["harn"]["request"]);
    desk.decide(&asked, "allow_once");
    let withdrawn = editor.wait("withdrawal", |it| it["method"] == "$/cancel_request");
    assert_eq!(withdrawn["params"]["requestId"], other["id"]);
    let told = editor.event("channel.permission_returned", |_| true);
    let who = told["payload"]["decidedBy"].as_str().unwrap();
    assert!(secrets[1].contains(who), "{told}");
    let mut seen = events.until("channel.permission_returned");
    let mut seen_by_peer = of_peer.until("channel.permission_returned");
    for events in [&seen, &seen_by_peer] {
        assert_eq!(events.last().unwrap()["payload"]["decidedBy"], who);
    }
    folder.wait_for("channel.link", |it| {
        it.payload.get("remote_task_id").as_str() == task["id"].as_str()
            && it.payload.get("state").as_str() == Some("completed")
    });
    // The record may be read before the daemon itself has it.
    until("the task is completed", || {
        state(&peer.call("GetTask", json!({"id": task["id"]}))) == "TASK_STATE_COMPLETED"
    });

    // The browser reads nothing while the desk works, is cut off, and resumes from its cursor.
    let last = events.last;
    drop(events);
    let mut slow = browser.events(&session, last);
    // It follows the session live: a connection that still reads the log of the past is not cut off.
    let id = desk.prompt(&session, "once more");
    desk.answer(id);
    seen_by_peer.extend(of_peer.until("turn.completed"));
    seen.extend(slow.until("turn.completed"));
    for _ in 0..25 {
        let id = desk.prompt(&session, "artifacts 120 8000");
        assert_eq!(desk.answer(id)["result"]["stopReason"], "end_turn", "no turn waits for a slow channel");
        seen_by_peer.extend(of_peer.until("turn.completed"));
    }
    folder.wait_for("channel.event", |it| {
        it.payload.at("payload.reason").as_str() == Some("slow")
            && secrets[2].contains(it.payload.get("channel_id").as_str().unwrap_or("none"))
    });
    while let Some(event) = slow.next() {
        if event["sequence"].is_u64() {
            seen.push(event);
        }
    }
    let mut again = browser.events(&session, slow.last);
    // By this message, the clients know that they have seen everything before it.
    let marked = fresh_id();
    let (status, _) = daemon.client(&secrets[1]).act(&session, "message", json!({"text": marked}));
    assert_eq!(status, 200);
    seen.extend(again.until("channel.message"));
    seen_by_peer.extend(of_peer.until("channel.message"));
    for client in [&mut editor, &mut desk] {
        client.event("channel.message", |it| it["payload"]["text"] == marked.as_str());
    }

    // All saw the same events in the same order, none twice and without a gap.
    let (of_browser, of_agent) = (sequences(&seen), sequences(&seen_by_peer));
    let upto = *of_browser.last().unwrap();
    let first = editor.sequences()[0] - 1;
    let all = between(&of_agent, first, upto);
    assert!(all.len() > 3_000 && all.is_sorted_by(|a, b| a < b));
    let views = [("browser", of_browser), ("editor", editor.sequences()), ("desk", desk.sequences())];
    for (who, sequences) in views {
        assert_eq!(between(&sequences, first, upto), all, "{who}");
    }
    let artifacts = folder.records("session.shown.artifact");
    assert!(artifacts.len() >= 3_000 && artifacts.iter().all(|it| all.binary_search(&it.cursor).is_ok()));
}
