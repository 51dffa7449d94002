//! `harn attach`: editors that join a running daemon.

use super::acp_client::AcpClient;
use super::daemon::DaemonFolder;
use crate::wait::until;
use serde_json::json;
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_tungstenite::tungstenite;

#[test]
fn an_editor_joins_a_daemon_and_another_one_sees_the_same() {
    let folder = DaemonFolder::new("attach-join");
    let secret = folder.channel("editor", "view,prompt", &[]);
    let daemon = folder.start();
    let mut first = AcpClient::editor(&folder, &daemon, &secret);
    let session = first.open();
    let id = first.prompt(&session, "hello");
    assert_eq!(first.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(first.said(), "did hello");
    let sequences = first.sequences();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    // The answer comes after all updates of its turn.
    let place = |wanted: &dyn Fn(&serde_json::Value) -> bool| first.seen.iter().position(wanted).unwrap();
    let update = place(&|it| it["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    assert!(update < place(&|it| it["id"] == id && it.get("result").is_some()));

    let mut second = AcpClient::editor(&folder, &daemon, &secret);
    second.load(&session);
    assert_eq!(second.said(), "did hello");
    let id = second.prompt(&session, "again");
    second.answer(id);
    first.event("turn.completed", |it| it["sequence"].as_u64() > sequences.last().copied());
    assert_eq!((first.said(), second.said()), ("did hellodid again".into(), "did hellodid again".into()));
}

#[test]
fn an_editor_survives_the_death_of_the_daemon_without_a_gap_or_a_repeat() {
    let folder = DaemonFolder::new("attach-killed");
    let secret = folder.channel("editor", "view,prompt", &[]);
    let daemon = folder.start();
    let address = daemon.address.clone();
    let mut editor = AcpClient::editor(&folder, &daemon, &secret);
    let session = editor.open();
    let id = editor.prompt(&session, "one");
    editor.answer(id);
    daemon.kill();
    let _daemon = folder.start_at(&address);
    let id = editor.prompt(&session, "two");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.said(), "did onedid two");
    let sequences = editor.sequences();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    let reported = editor.reported.lock().unwrap().clone();
    assert!(reported.contains("disconnected from the daemon at") && reported.contains("again"), "{reported}");
}

#[test]
fn a_refused_or_missing_daemon_is_named_clearly() {
    let folder = DaemonFolder::new("attach-refused");
    let daemon = folder.start();
    // The daemon knows a channel as soon as its secret was printed.
    let (secret, blind) = (folder.channel("editor", "view", &[]), folder.channel("blind", "prompt", &[]));
    let run = |address: &str, secret: &str| {
        let mut command = folder.command();
        command.args(["attach", address, "--wait", "1ms"]).env("HARN_CHANNEL_SECRET", secret);
        let ended = command.output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), ended.stdout.len()), (Some(1), 0), "{err}");
        err
    };
    let wrong = run(&daemon.address, &secret[..secret.len() - 4]);
    assert!(wrong.contains("refused the connection (401)") && wrong.contains("harn channel list"), "{wrong}");
    assert!(run(&daemon.address, &blind).contains("refused the connection (403)"));
    assert!(run("127.0.0.1:1", &secret).contains("no daemon answers at 127.0.0.1:1"));
    assert!(run("nowhere", &secret).contains("`nowhere` is not the address of a daemon"));
}

#[test]
fn an_editor_whose_channel_is_revoked_ends_with_the_reason() {
    let folder = DaemonFolder::new("attach-revoked");
    let secret = folder.channel("editor", "view,prompt", &[]);
    let daemon = folder.start();
    let mut editor = AcpClient::editor(&folder, &daemon, &secret);
    editor.open();
    folder.revoke("editor");
    let (code, reported) = editor.ended();
    assert_eq!(code, Some(1), "{reported}");
    assert!(reported.contains("the daemon ended the connection: revoked"), "{reported}");
}

#[test]
fn an_editor_that_closes_while_the_daemon_is_away_ends_its_proxy() {
    let folder = DaemonFolder::new("attach-alone");
    let secret = folder.channel("editor", "view,prompt", &[]);
    let daemon = folder.start();
    let mut editor = AcpClient::editor_waiting(&folder, &daemon, &secret, "1h");
    editor.open();
    daemon.kill();
    // An editor that closes before its proxy has noticed that the daemon is gone ends well.
    until("the proxy tries again", || editor.reported.lock().unwrap().contains("trying again"));
    editor.close();
    // It would wait for an hour if the editor were there.
    let (code, reported) = editor.ended();
    assert_eq!(code, Some(1), "{reported}");
    assert!(reported.contains("error: no daemon answers at"), "{reported}");
}

#[test]
fn an_editor_that_was_away_is_asked_the_open_question_and_its_answer_counts() {
    let folder = DaemonFolder::new("attach-question");
    let secret = folder.channel("editor", "view,prompt,permit", &[]);
    let daemon = folder.start();
    let mut first = AcpClient::editor(&folder, &daemon, &secret);
    let session = first.open();
    first.prompt(&session, "pay");
    let asked = first.question();
    drop(first);
    let mut second = AcpClient::websocket(&daemon, &secret);
    second
        .call("_channel/resume", json!({"sessionId": session, "after": asked["params"]["_meta"]["harn"]["sequence"]}));
    let again = second.question();
    assert_eq!(again["id"], asked["id"], "an answer to a question of an earlier connection is an answer to this one");
    second.decide(&again, "allow_once");
    second.event("turn.completed", |_| true);
    assert_eq!(folder.records("channel.permission").len(), 1);
}

#[test]
fn an_editor_asks_a_daemon_that_hangs_up_less_and_less_often() {
    let folder = DaemonFolder::new("attach-hangs-up");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connections = Arc::<AtomicUsize>::default();
    let counted = connections.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
            // Accepted, and closed.
            drop(tungstenite::accept(stream.unwrap()));
        }
    });
    let mut command = folder.command();
    command.args(["attach", &address, "--wait", "3s"]).env("HARN_CHANNEL_SECRET", "hchn_x_0");
    // The editor is there until the end.
    let mut attached = command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let _input = attached.stdin.take();
    let ended = attached.wait_with_output().unwrap();
    let reported = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{reported}");
    assert!(reported.contains(&format!("no daemon answers at {address}")), "{reported}");
    // At once, and then after at least 50, 100, 200, 400, 800 and 1600 ms.
    let connections = connections.load(Ordering::Relaxed);
    assert!((2..=7).contains(&connections), "{connections}: {reported}");
    assert!(reported.lines().count() <= 2 * 7 + 3, "{reported}");
}
