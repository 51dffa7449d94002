//! The eight fields of a channel's identity, each with its test.

use super::acp_client::AcpClient;
use super::daemon::{DaemonFolder, EventClient, RunningDaemon};
use base::data::Data;
use eventlog::Record;
use std::time::{SystemTime, UNIX_EPOCH};

/// A channel that is connected to the events of a session.
struct ConnectedChannel {
    folder: DaemonFolder,
    daemon: RunningDaemon,
    secret: String,
    session: String,
    events: EventClient,
}

impl ConnectedChannel {
    fn new(field: &str, can: &str, args: &[&str]) -> ConnectedChannel {
        let folder = DaemonFolder::new(&format!("identity-{field}"));
        let secret = folder.channel("phone", can, args);
        let daemon = folder.start();
        let client = daemon.client(&secret);
        let session = client.open();
        let events = client.events(&session, None);
        ConnectedChannel { folder, daemon, secret, session, events }
    }

    /// Waits for the identity of a connection over a transport.
    fn identity(&self, transport: &str) -> Data {
        let is_its = |it: &Record| it.payload.get("transport").as_str() == Some(transport);
        self.folder.wait_for("channel.identity", is_its).payload.to_data()
    }

    /// Returns a field of the identity of the first connection.
    fn field(&self, name: &str) -> String {
        self.identity("sse").get(name).as_str().unwrap_or_default().to_owned()
    }
}

fn capabilities(identity: &Data) -> String {
    let all: Vec<_> = identity.get("capabilities").as_list().unwrap().iter().map(Data::to_text).collect();
    all.join(" ")
}

#[test]
fn identity_channel_id_is_the_same_on_every_connection() {
    let mut it = ConnectedChannel::new("id", "view,prompt", &[]);
    let id = it.field("channel_id");
    assert!(id.starts_with("chan-") && it.secret.contains(&id), "{id}");
    let _websocket = AcpClient::websocket(&it.daemon, &it.secret);
    assert_eq!(it.identity("websocket").get("channel_id").as_str(), Some(&*id));
    let _second = it.daemon.client(&it.secret).events(&it.session, None);
    assert_eq!(it.events.next_of("channel.connected")["payload"]["channelId"], *id);
}

#[test]
fn identity_transport_is_that_of_the_connection() {
    let it = ConnectedChannel::new("transport", "view,prompt", &[]);
    assert_eq!(it.field("transport"), "sse");
    let _websocket = AcpClient::websocket(&it.daemon, &it.secret);
    assert_eq!(it.identity("websocket").get("transport").as_str(), Some("websocket"));
}

#[test]
fn identity_peer_role_is_the_enrolled_one() {
    let it = ConnectedChannel::new("role", "view,prompt", &["--role", "host"]);
    assert_eq!(it.field("peer_role"), "host");
    let other = ConnectedChannel::new("role-default", "view,prompt", &[]);
    assert_eq!(other.field("peer_role"), "client");
}

#[test]
fn identity_account_ref_is_the_enrolled_account() {
    let it = ConnectedChannel::new("account", "view,prompt", &["--account", "acme"]);
    assert_eq!(it.field("account_ref"), "acme");
}

#[test]
fn identity_capabilities_follow_the_scopes() {
    let it = ConnectedChannel::new("capabilities", "view,prompt,permit", &[]);
    assert_eq!(capabilities(&it.identity("sse")), "streaming resume permissions");
    let other = ConnectedChannel::new("capabilities-less", "view,prompt", &[]);
    assert_eq!(capabilities(&other.identity("sse")), "streaming resume");
}

#[test]
fn identity_last_seen_at_is_the_time_of_the_connection() {
    let now = || i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let began = now();
    let it = ConnectedChannel::new("seen", "view,prompt", &[]);
    let first = it.identity("sse").get("last_seen_at").as_int().unwrap();
    let connected = now();
    assert!((began..=connected).contains(&first), "{began} {first} {connected}");
    let _websocket = AcpClient::websocket(&it.daemon, &it.secret);
    let later = it.identity("websocket").get("last_seen_at").as_int().unwrap();
    assert!((connected..=now()).contains(&later), "{connected} {later}");
}

#[test]
fn identity_resume_token_ref_is_the_cursor_with_which_the_channel_resumes() {
    let mut it = ConnectedChannel::new("resume", "view,prompt", &[]);
    assert_eq!(it.field("resume_token_ref"), "cursor");
    let client = it.daemon.client(&it.secret);
    client.prompt(&it.session, "hello");
    let last = it.events.next_of("turn.completed")["sequence"].as_u64().unwrap();
    let resumed = client.events(&it.session, Some(last - 1)).next().unwrap();
    assert_eq!(resumed["sequence"], last, "{resumed}");
}

#[test]
fn identity_native_protocol_is_that_of_the_peer() {
    let it = ConnectedChannel::new("protocol", "view,prompt", &[]);
    assert!(it.identity("sse").get("native_protocol").is_nil(), "a client of `/events` has no native protocol");
    let _websocket = AcpClient::websocket(&it.daemon, &it.secret);
    assert_eq!(it.identity("websocket").get("native_protocol").as_str(), Some("acp"));
}
