//! How a server begins and ends.

use super::server::{Start, message};
use serde_json::json;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Two seconds for what runs to clean up, and what a crowded machine needs beside.
const GRACE: Duration = Duration::from_secs(15);

#[test]
fn a_signal_ends_it_with_streams_open() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let start = Start::agent("desk.harn", &format!("ends-{signal}"));
        let server = start.spawn();
        let mut streams = Vec::new();
        for number in 0..20 {
            let folder = start.folder().join(number.to_string());
            std::fs::create_dir_all(&folder).unwrap();
            let mut said = message("wait");
            said["metadata"] = json!({"folder": folder});
            let mut connection = server.connect();
            connection.send(&server.request(Some("1.0"), "SendStreamingMessage", json!({"message": said})));
            assert_eq!(connection.head().status, 200);
            let mut pending = Vec::new();
            let first = connection.event(&mut pending).unwrap();
            assert!(first["result"]["task"].is_object(), "{first}");
            streams.push((connection, pending));
        }
        let ended = server.ended_by(signal);
        assert_eq!(ended.code, Some(code), "{}", ended.said);
        assert!(ended.took < GRACE, "{:?}", ended.took);
        // Each stream has an end: nobody waits on for what does not come.
        for (mut connection, mut pending) in streams {
            while connection.event(&mut pending).is_some() {}
            assert!(connection.is_over());
        }
    }
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_listens() {
    let rows: [(&[&str], &str); 6] = [
        (&["--listen", "0.0.0.0:0"], "token"),
        (&["--listen", "nonsense"], "listen"),
        (&["--listen", "127.0.0.1:99999"], "listen"),
        (&["--max-tasks", "none"], "max-tasks"),
        (&["--mode", "maybe"], "mode"),
        (&["--card", "other"], "card"),
    ];
    for (args, word) in rows {
        let start = Start::agent("desk.harn", "refused-start").with(args);
        let began = Instant::now();
        let output = start.command().stdin(Stdio::null()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(began.elapsed() < GRACE);
        assert!(output.status.code().is_some_and(|code| code != 0 && code < 128), "{args:?}: {err}");
        assert!(err.contains(word) && !err.contains("panicked"), "{args:?}: {err}");
    }
}

#[test]
fn a_port_that_is_taken_and_a_script_that_is_none_are_said() {
    let server = Start::agent("desk.harn", "first-of-two").spawn();
    let second = Start::agent("desk.harn", "second-of-two").with(&[&format!("--listen={}", server.address)]);
    let output = second.command().output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && err.contains(&server.address), "{err}");
    let missing = Start::agent("no-such.harn", "no-such");
    let output = missing.command().output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("no-such.harn"));
    server.still_answers();
    server.end();
}

#[test]
fn the_token_may_come_from_the_environment() {
    let server = Start::agent("desk.harn", "token-env").env("HARN_A2A_TOKEN", "from-the-environment").spawn();
    let request = server.request(Some("1.0"), "SendMessage", json!({"message": message("echo x")}));
    let refused = server.ask(&request);
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").is_some_and(|header| header.starts_with("Bearer")), "{refused:?}");
    let taken = server.ask(&request.header("Authorization", "Bearer from-the-environment"));
    assert_eq!(taken.json()["result"]["task"]["artifacts"][0]["parts"][0]["text"], "x");
    server.end();
}
