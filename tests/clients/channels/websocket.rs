//! ACP over a WebSocket: the upgrade, slow clients, and revoked ones that do not read.

use super::acp_client::{AcpClient, Socket, connect, initialize_params, sequence};
use super::daemon::{DaemonFolder, LIMIT};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

const ALL: &str = "view,prompt,inject,permit,permit:session,admin";

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Connects, and continues the events of a session.
fn resume(address: &str, secret: &str, session: &str, after: u64) -> Socket {
    let mut socket = connect(address, secret);
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()});
    let params = json!({"sessionId": session, "after": after});
    let resume = json!({"jsonrpc": "2.0", "id": 2, "method": "_channel/resume", "params": params});
    for message in [initialize, resume] {
        socket.send(message.to_string().into()).unwrap();
    }
    socket
}

/// Returns the next message; `None` at the end of the connection.
fn next(socket: &mut Socket) -> Option<Value> {
    loop {
        match socket.read().ok()? {
            Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}

#[test]
fn a_slow_client_is_cut_off_with_its_cursor_and_resumes_without_a_gap() {
    let folder = DaemonFolder::new("ws-slow");
    let secrets = [folder.channel("phone", ALL, &[]), folder.channel("slow", "view", &[])];
    let daemon = folder.start();
    let [phone, _] = secrets.each_ref().map(|secret| daemon.client(secret));
    let session = phone.open();
    let mut slow = resume(&daemon.address, &secrets[1], &session, 0);
    while next(&mut slow).unwrap()["id"] != 2 {}
    // More than a connection may have to read: 3,000 events of 8 KiB, while this one reads nothing.
    phone.prompt(&session, "artifacts 3000 8000");
    let cut = folder.wait_for("channel.event", |it| {
        it.payload.at("payload.reason").as_str() == Some("slow")
            && it.payload.get("session_id").as_str() == Some(&session)
    });
    let cursor = u64::try_from(cut.payload.at("payload.cursor").as_int().unwrap()).unwrap();
    let mut seen: Vec<u64> = Vec::new();
    while let Some(message) = next(&mut slow) {
        seen.extend(sequence(&message));
    }
    let last = *seen.last().unwrap();
    // It resumes after its cursor, and then has seen everything once.
    let mut again = resume(&daemon.address, &secrets[1], &session, last);
    loop {
        let Some(message) = next(&mut again) else {
            // On a busy machine, it may be cut off once more.
            again = resume(&daemon.address, &secrets[1], &session, *seen.last().unwrap());
            continue;
        };
        seen.extend(sequence(&message));
        if message["params"]["type"] == "turn.completed" {
            break;
        }
    }
    let artifacts = folder.records("session.shown.artifact");
    assert_eq!(artifacts.len(), 3000);
    let beyond = artifacts.iter().filter(|record| record.cursor > cursor && record.cursor <= last).count();
    // It is at most one write before the last event that came.
    assert!(cursor > 0 && beyond <= 16, "the recorded cursor {cursor} is not that of the last event sent, {last}");
    seen.dedup();
    assert!(seen.is_sorted_by(|a, b| a < b), "no event comes twice");
    assert!(artifacts.iter().all(|record| seen.binary_search(&record.cursor).is_ok()), "no event is missing");
}

#[test]
fn a_revoked_secret_closes_a_websocket_although_its_client_does_not_read() {
    let folder = DaemonFolder::new("ws-revoked");
    let secrets = [folder.channel("phone", ALL, &[]), folder.channel("desk", "view", &[])];
    let daemon = folder.start();
    let phone = daemon.client(&secrets[0]);
    let session = phone.open();
    let mut desk = resume(&daemon.address, &secrets[1], &session, 0);
    while next(&mut desk).unwrap()["id"] != 2 {}
    let mut events = phone.events(&session, None);
    // More than the buffers of the connection hold, and less than the 4 MiB of the window: neither client is cut off
    // as slow.
    phone.prompt(&session, "artifacts 4 900000");
    events.next_of("turn.completed");
    folder.revoke("desk");
    let ended = folder.wait_for("channel.event", |it| it.payload.at("payload.reason").as_str() == Some("revoked"));
    let revoked = folder.records("channel.revoked").remove(0);
    let took = ended.occurred_at_ms.saturating_sub(revoked.occurred_at_ms);
    // A write that the client does not read would hold it for ten seconds.
    assert!(took < 5_000, "it took {took} ms");
}

#[test]
fn a_web_page_of_another_origin_and_a_plain_request_get_no_websocket() {
    let folder = DaemonFolder::new("ws-upgrade");
    let secret = folder.channel("editor", "view", &[]);
    let daemon = folder.start();
    let send = |more: &str| {
        let mut stream = TcpStream::connect(&daemon.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let head = format!("GET /acp HTTP/1.1\r\nHost: {}\r\n{more}\r\n", daemon.address);
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let status = |more: &str| {
        let mut head = [0; 12];
        send(&format!("Authorization: Bearer {secret}\r\n{more}")).read_exact(&mut head).unwrap();
        String::from_utf8_lossy(&head).into_owned()
    };
    assert_eq!(status(UPGRADE), "HTTP/1.1 101");
    assert_eq!(status(&format!("{UPGRADE}Origin: https://evil.example\r\n")), "HTTP/1.1 403");
    assert_eq!(status(""), "HTTP/1.1 426");
    // A browser sends its secret as a subprotocol.
    let stream = send(&format!("{UPGRADE}Sec-WebSocket-Protocol: acp, harn.bearer.{secret}\r\n"));
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> =
        lines.by_ref().take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
    assert!(head[0].starts_with("http/1.1 101"), "{head:?}");
    assert!(head.contains(&"sec-websocket-protocol: acp".to_owned()), "{head:?}");
    assert!(head.iter().any(|line| line.starts_with("acp-connection-id: ")), "{head:?}");
}

#[test]
fn a_prompt_right_behind_a_resume_brings_no_event_twice() {
    let folder = DaemonFolder::new("ws-resume-prompt");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let mut first = AcpClient::websocket(&daemon, &secret);
    let session = first.open();
    let id = first.prompt(&session, "one");
    first.answer(id);
    // Each of both would attach the session if they did not wait for each other.
    for _ in 0..10 {
        let mut again = AcpClient::websocket(&daemon, &secret);
        again.ask("_channel/resume", json!({"sessionId": session, "after": 0}));
        let id = again.prompt(&session, "more");
        assert_eq!(again.answer(id)["result"]["stopReason"], "end_turn");
        let sequences = again.sequences();
        assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    }
    // A resume that is refused does not hold its prompt back.
    let mut refused = AcpClient::websocket(&daemon, &secret);
    let resumed = refused.ask("_channel/resume", json!({"sessionId": "nowhere", "after": 0}));
    let prompted = refused.prompt("nowhere", "x");
    assert!(refused.answer(resumed).get("error").is_some() && refused.answer(prompted).get("error").is_some());
}
