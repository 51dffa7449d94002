//! Logs whose old records were removed: by `harn log trim`, or by other means.

use super::daemon::{ChannelClient, DaemonFolder, fresh_id};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

/// Runs `harn log trim` on the log of a folder.
fn trim(folder: &DaemonFolder, options: &[&str]) -> Output {
    folder.command().args(["log", "trim"]).arg(folder.log_path()).args(options).output().unwrap()
}

/// Trims a log, and returns what was printed.
fn trimmed(folder: &DaemonFolder, options: &[&str]) -> String {
    let trimmed = trim(folder, options);
    assert!(trimmed.status.success(), "{}", String::from_utf8_lossy(&trimmed.stderr));
    String::from_utf8(trimmed.stdout).unwrap()
}

/// Changes a log by SQL. Records that say who may do what are changed too.
fn change(log: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(log).unwrap();
    connection.execute_batch(&format!("DROP TRIGGER IF EXISTS keep_grants; {sql}")).unwrap();
}

fn count(folder: &DaemonFolder) -> i64 {
    let connection = rusqlite::Connection::open(folder.log_path()).unwrap();
    connection.query_row("SELECT count(*) FROM records", [], |row| row.get(0)).unwrap()
}

fn ids(client: &ChannelClient) -> Vec<String> {
    let (status, body) = client.request("GET", "/sessions", "", "").unwrap();
    assert_eq!(status, 200, "{body}");
    let listed: Value = serde_json::from_str(&body).unwrap();
    let rows = listed["sessions"].as_array().unwrap();
    rows.iter().map(|row| row["sessionId"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that a client neither lists nor loads a session, nor reads its events.
fn assert_unknown(client: &ChannelClient, session: &str) {
    assert_eq!(ids(client), [""; 0]);
    for (kind, params) in [("load", json!({})), ("prompt", json!({"text": "hello"}))] {
        let (status, refused) = client.act(session, kind, params);
        assert_eq!((status, &refused["error"]["reason"]), (404, &json!("unknown_session")), "{refused}");
    }
    for after in [None, Some(0)] {
        assert!(client.try_events(session, after).is_none(), "its events are sent after {after:?}");
    }
}

/// The arguments of a channel of another account than `local`.
const BOBS: [&str; 2] = ["--account", "acct2"];

/// Lets bob, of another account, prompt a session five times. A reminder for it waits in the queue.
fn bobs_session(folder: &DaemonFolder, bob: &str) -> (String, String) {
    let daemon = folder.start();
    let bob = daemon.client(bob);
    let session = bob.open();
    let mut events = bob.events(&session, Some(0));
    for n in 0..5 {
        bob.prompt(&session, &format!("bob's secret {n}"));
        events.next_of("turn.completed");
    }
    let reminded = fresh_id();
    let reminder = json!({"reminder": {"body": "mind bob", "ttlTurns": 9}});
    let (status, accepted) = bob.act_as(&reminded, &session, "inject", reminder);
    assert_eq!(status, 200, "{accepted}");
    assert_eq!(daemon.stop(), Some(143));
    (session, reminded)
}

#[test]
fn a_trimmed_session_stays_with_its_account() {
    let folder = DaemonFolder::new("trimmed-account");
    let bob = folder.channel("bob", "view,prompt,inject", &BOBS);
    let (session, reminded) = bobs_session(&folder, &bob);
    let before = count(&folder);
    let dry = trimmed(&folder, &["--before", "1ms", "--dry-run"]);
    assert!(dry.starts_with("would remove ") && dry.contains("1 session (1 old, with something pending)"), "{dry}");
    assert_eq!(count(&folder), before);
    let done = trimmed(&folder, &["--before", "1ms"]);
    assert!(count(&folder) < before, "{done}");
    assert!(
        folder.records("channel.event").iter().all(|it| it.payload.get("event").as_str() != Some("channel.connected"))
    );
    let mallory = folder.channel("mallory", "view,prompt", &[]);
    let daemon = folder.start();
    assert_unknown(&daemon.client(&mallory), &session);
    let bob = daemon.client(&bob);
    assert_eq!(ids(&bob), [session.as_str()]);
    // The log has all that the session has shown, so there is no gap.
    let mut events = bob.events(&session, Some(0));
    let said = std::iter::from_fn(|| events.next()).take_while(|it| it["payload"]["text"] != "did bob's secret 4");
    assert!(said.into_iter().all(|event| event["type"] != "snapshot.repaired"));
    let reminder = json!({"reminder": {"body": "mind bob", "ttlTurns": 9}});
    let (status, again) = bob.act_as(&reminded, &session, "inject", reminder);
    assert_eq!((status, &again["repeated"]), (200, &json!(true)), "{again}");
    assert_eq!(folder.records("session.injection.queued").len(), 1, "the reminder waits once");
    assert!(folder.records("session.injection.expired").is_empty());
    bob.prompt(&session, "hello");
    events.next_of("turn.submitted");
    events.next_of("turn.completed");
}

#[test]
fn a_session_for_which_nothing_waits_is_removed_and_its_opening_is_not_repeated() {
    let folder = DaemonFolder::new("trimmed-removed");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let gone = folder.channel("gone", "view", &[]);
    folder.revoke("gone");
    let daemon = folder.start();
    let phone = daemon.client(&secret);
    let opening = fresh_id();
    let (_, opened) = phone.act_as(&opening, "", "open", json!({}));
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    let mut events = phone.events(&session, Some(0));
    phone.prompt(&session, "hello");
    events.next_of("turn.completed");
    assert_eq!(phone.request("GET", "/metrics", "", "").unwrap().0, 403);
    folder.wait_for_records("channel.refused", 1);
    assert_eq!(daemon.stop(), Some(143));
    let unchanged = trimmed(&folder, &["--before", "2020-01-01"]);
    assert!(unchanged.starts_with("removed 0 of "), "{unchanged}");
    let done = trimmed(&folder, &["--before", "1ms"]);
    assert!(done.contains("removed: 1 session, ") && done.contains("kept: 0 sessions"), "{done}");
    assert!(done.contains("2 channels"), "{done}");
    for (kind, left) in [
        ("session.life.opened", 0),
        ("session.shown.text", 0),
        ("channel.refused", 0),
        ("channel.enrolled", 2),
        ("channel.revoked", 1),
        ("channel.action", 1),
        ("channel.result", 1),
    ] {
        assert_eq!(folder.records(kind).len(), left, "{kind}: {done}");
    }
    let daemon = folder.start();
    let phone = daemon.client(&secret);
    assert_eq!(ids(&phone), [""; 0]);
    assert_eq!(phone.act(&session, "load", json!({})).0, 404);
    let (status, repeated) = phone.act_as(&opening, "", "open", json!({}));
    assert_eq!((status, &repeated["repeated"], &repeated["result"]["sessionId"]), (200, &json!(true), &json!(session)));
    let refused = daemon.client(&gone).request("GET", "/sessions", "", "").unwrap();
    assert_eq!(refused.0, 401);
    phone.events(&phone.open(), None);
}

#[test]
fn a_session_whose_owner_is_unknown_belongs_to_no_account() {
    let folder = DaemonFolder::new("trimmed-unknown");
    let bob = folder.channel("bob", "view,prompt,inject", &BOBS);
    let (session, _) = bobs_session(&folder, &bob);
    let mallory = folder.channel("mallory", "view,prompt", &[]);
    let log = folder.log_path();
    // An earlier version wrote the account only into the record of the action.
    change(&log, "UPDATE records SET payload = json_remove(payload, '$.account') WHERE kind LIKE 'session.life.%'");
    let daemon = folder.start();
    assert_unknown(&daemon.client(&mallory), &session);
    assert_eq!(ids(&daemon.client(&bob)), [session.as_str()]);
    assert_eq!(daemon.stop(), Some(143));
    change(&log, "DELETE FROM records WHERE kind = 'channel.action' AND payload LIKE '%account_ref%'");
    let daemon = folder.start();
    for secret in [&mallory, &bob] {
        assert_unknown(&daemon.client(secret), &session);
    }
    assert_eq!(daemon.stop(), Some(143));
    // The beginning of the session is gone too.
    change(&log, "DELETE FROM records WHERE kind = 'session.life.opened'");
    let daemon = folder.start();
    for secret in [&mallory, &bob] {
        assert_unknown(&daemon.client(secret), &session);
    }
    assert_eq!(daemon.stop(), Some(143));
    let done = trimmed(&folder, &["--before", "1ms"]);
    assert!(folder.records("session.shown.text").is_empty(), "{done}");
    folder.start();
}

#[test]
fn a_loaded_session_of_an_earlier_version_gets_the_account_of_its_action() {
    let folder = DaemonFolder::new("trimmed-earlier");
    let bob = folder.channel("bob", "view,prompt,inject", &BOBS);
    let (session, _) = bobs_session(&folder, &bob);
    let sql = "UPDATE records SET payload = json_remove(payload, '$.account') WHERE kind LIKE 'session.life.%'";
    change(&folder.log_path(), sql);
    let daemon = folder.start();
    assert_eq!(daemon.client(&bob).act(&session, "load", json!({})).0, 200);
    assert_eq!(daemon.stop(), Some(143));
    let loaded = folder.records("session.life.loaded");
    assert_eq!(loaded[0].payload.get("account").as_str(), Some("acct2"));
    // From now on the records of channels are not needed for that.
    change(&folder.log_path(), "DELETE FROM records WHERE kind = 'channel.action'");
    let mallory = folder.channel("mallory", "view,prompt", &[]);
    let daemon = folder.start();
    assert_unknown(&daemon.client(&mallory), &session);
    assert_eq!(ids(&daemon.client(&bob)), [session.as_str()]);
}

#[test]
fn a_log_is_not_trimmed_beside_a_daemon() {
    let folder = DaemonFolder::new("trimmed-beside");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    daemon.client(&secret).open();
    let before = folder.records("session.life.opened").len();
    let refused = trim(&folder, &["--before", "1ms"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0), "{said}");
    assert!(said.contains("HARN-LOG-018") && said.contains(&format!("(process {})", daemon.id())), "{said}");
    assert_eq!(folder.records("session.life.opened").len(), before);
    // It only reads.
    assert!(trimmed(&folder, &["--before", "1ms", "--dry-run"]).starts_with("would remove "));
    daemon.kill();
    trimmed(&folder, &["--before", "1ms"]);
}

#[test]
fn a_log_is_not_trimmed_beside_a_hub() {
    let folder = DaemonFolder::new("trimmed-hub");
    let mut command = folder.command();
    command.args(["serve", "hub", "--listen", "0", "--http", "0", "--store", &folder.log_option()]);
    let mut hub =
        Hub(command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(hub.0.stderr.take().unwrap()), &mut line).unwrap();
    let refused = trim(&folder, &["--before", "1ms"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{line}{said}");
    assert!(said.contains("HARN-LOG-018") && said.contains(&format!("(process {})", hub.0.id())), "{said}");
    assert!(Command::new("kill").args(["-TERM", &hub.0.id().to_string()]).status().unwrap().success());
    hub.0.wait().unwrap();
    trimmed(&folder, &["--before", "1ms"]);
}

/// A hub that ends with the test.
struct Hub(std::process::Child);

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
