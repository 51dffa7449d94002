//! `harn channel`: channels are enrolled, listed and revoked by records of the event log.

use crate::harn::{Outcome, harn_with_input, scratch};
use eventlog::{LogFile, RecordFilter};
use std::path::PathBuf;

/// A log of its own.
struct ChannelLog(PathBuf);

impl ChannelLog {
    fn new(name: &str) -> ChannelLog {
        ChannelLog(scratch(&format!("channels-{name}")).join("events.db"))
    }

    fn channel(&self, args: &[&str]) -> Outcome {
        let log = format!("sqlite:{}", self.0.display());
        let args: Vec<&str> = ["channel"].iter().chain(args).copied().chain(["--event-log", &log]).collect();
        harn_with_input(&args, b"", &[])
    }

    fn written(&self) -> String {
        let records = LogFile::open(&*self.0).unwrap().read(&RecordFilter::topic("channel"), 99).unwrap();
        records.iter().map(|record| record.to_data().to_json()).collect()
    }
}

#[test]
fn a_channel_is_enrolled_with_a_secret_that_is_shown_once_and_never_stored() {
    let log = ChannelLog::new("enrolled");
    let added = log.channel(&["add", "phone", "--can", "view,prompt", "--expires", "30d", "--role", "host"]);
    assert_eq!(added.code, Some(0), "{}", added.err);
    let secret = added.out.trim();
    assert!(secret.starts_with("hchn_chan-") && !secret.contains(char::is_whitespace), "{secret}");
    assert!(added.err.starts_with("enrolled phone as chan-"), "{}", added.err);
    let random = secret.rsplit_once('_').unwrap().1;
    assert!(!log.written().contains(random), "only a salted digest is stored");
    let listed = log.channel(&["list"]);
    assert!(listed.out.starts_with("phone  chan-"), "{}", listed.out);
    assert!(listed.out.contains("  host  account \"local\"  can view,prompt  valid until 20"), "{}", listed.out);
}

#[test]
fn a_revoked_or_expired_channel_is_listed_as_such() {
    let log = ChannelLog::new("revoked");
    for name in ["phone", "desk"] {
        assert_eq!(log.channel(&["add", name, "--expires", "1ms"]).code, Some(0));
    }
    // An expired name is free again.
    assert_eq!(log.channel(&["add", "phone"]).code, Some(0));
    let taken = log.channel(&["add", "phone"]);
    assert!(taken.code == Some(1) && taken.err.contains("HARN-CHN-002"), "{}", taken.err);
    let revoked = log.channel(&["revoke", "phone"]);
    assert!(revoked.out.starts_with("revoked phone (chan-"), "{}", revoked.out);
    let again = log.channel(&["revoke", "phone"]);
    assert!(again.code == Some(1) && again.err.contains("HARN-CHN-003"), "{}", again.err);
    let states: Vec<String> =
        log.channel(&["list"]).out.lines().map(|line| line.rsplit("  ").next().unwrap().to_owned()).collect();
    assert_eq!(states.len(), 3);
    assert!(states[0].starts_with("expired at ") && states[1].starts_with("expired at "), "{states:?}");
    assert_eq!(states[2], "revoked");
}

#[test]
fn wrong_usage_enrols_no_channel() {
    let log = ChannelLog::new("wrong");
    let unknown = log.channel(&["add", "phone", "--can", "view,promt"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("did you mean `prompt`?"), "{}", unknown.err);
    let name = log.channel(&["add", "my phone"]);
    assert!(name.code == Some(1) && name.err.contains("HARN-CHN-002"), "{}", name.err);
    assert_eq!(log.channel(&["list"]).out, "");
    let memory = harn_with_input(&["channel", "list", "--event-log", "memory"], b"", &[]);
    assert!(memory.code == Some(1) && memory.err.contains("HARN-CHN-001"), "{}", memory.err);
}
