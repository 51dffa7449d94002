//! | Provider | Subscribes to | Config keys | Reminder behavior |
//! |---|---|---|---|
//! | `post_compact_recap` | `post_compact` | none | Fires after compaction archives messages. Uses tag `recap`, dedupe key `post_compact_recap`, `ttl_turns: 2`, and `propagate: "session"`. |
//!
//! It reads `archived_messages`, a number or the list itself, and `summary`.

use base::data::Data;
use runtime::hooks::HookEvent;
use runtime::reminder::{Propagate, ReminderError, ReminderSpec, RoleHint};

use super::at_once::at_once;
use super::{config, text};

/// Reminds the model that older turns were replaced by a summary.
#[derive(Debug, Clone, Copy, Default)]
pub struct PostCompactRecap;

/// The maximum length of the repeated summary, in bytes; the whole is in the transcript.
const SUMMARY: usize = 4 << 10;

impl PostCompactRecap {
    /// Its id.
    pub const ID: &str = "post_compact_recap";

    fn look(event: &HookEvent<'_>, config: &Data) -> Result<Vec<ReminderSpec>, ReminderError> {
        config::known_keys(PostCompactRecap::ID, config, &[])?;
        let archived = match event.get("archived_messages") {
            Data::List(messages) => messages.len() as u64,
            count => count.as_int().and_then(|count| u64::try_from(count).ok()).unwrap_or(0),
        };
        if archived == 0 {
            return Ok(Vec::new());
        }
        Ok(vec![recap(archived, event.get("summary").as_str().unwrap_or_default().trim())])
    }
}

fn recap(archived: u64, summary: &str) -> ReminderSpec {
    let messages =
        if archived == 1 { "1 earlier message was".to_owned() } else { format!("{archived} earlier messages were") };
    let mut body = format!(
        "Transcript compacted: {messages} archived and can no longer be read here. Look up exact content that the \
        next step needs (files, output, identifiers) instead of relying on memory."
    );
    if !summary.is_empty() {
        body.push_str("\nRecap: ");
        body.push_str(&text::clip(summary, SUMMARY));
    }
    ReminderSpec {
        tags: vec!["recap".into()],
        dedupe_key: Some(PostCompactRecap::ID.into()),
        ttl_turns: Some(2),
        preserve_on_compact: false,
        propagate: Propagate::Session,
        role_hint: RoleHint::System,
        ..ReminderSpec::new(body)
    }
}

at_once!(PostCompactRecap on [PostCompact], |_, _, event, config| PostCompactRecap::look(event, config));

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::events::EventKind;

    use crate::testing::fire_raw;

    fn after(json: &str) -> Vec<ReminderSpec> {
        fire_raw(&PostCompactRecap, EventKind::PostCompact, json, &Data::Nil).unwrap()
    }

    #[test]
    fn it_fires_when_messages_were_archived_and_only_then() {
        for (json, fires) in [
            (r#"{"archived_messages":3}"#, true),
            (r#"{"archived_messages":[{"role":"user"}]}"#, true),
            (r#"{"archived_messages":0,"summary":"s"}"#, false),
            (r#"{"archived_messages":[]}"#, false),
            (r#"{"archived_messages":-2}"#, false),
            (r#"{"summary":"s"}"#, false),
            ("{}", false),
        ] {
            assert_eq!(after(json).len(), usize::from(fires), "{json}");
        }
    }

    #[test]
    fn the_reminder_is_that_of_the_guide() {
        let spec = after(r#"{"archived_messages":12,"summary":" The parser is done. "}"#).remove(0);
        assert_eq!(spec.tags, ["recap".into()]);
        assert_eq!(spec.dedupe_key.as_deref(), Some("post_compact_recap"));
        assert_eq!((spec.ttl_turns, spec.propagate), (Some(2), Propagate::Session));
        assert!(!spec.preserve_on_compact);
        assert!(spec.body.starts_with("Transcript compacted: 12 earlier messages were archived"), "{}", spec.body);
        assert!(spec.body.ends_with("\nRecap: The parser is done."), "{}", spec.body);
    }

    #[test]
    fn a_long_summary_is_cut_and_none_is_left_out() {
        let json = format!(r#"{{"archived_messages":1,"summary":"{}"}}"#, "ä".repeat(100_000));
        let spec = after(&json).remove(0);
        assert!(spec.body.len() < 5_000 && spec.body.contains("more characters]"), "{}", spec.body.len());
        let spec = after(r#"{"archived_messages":1,"summary":null}"#).remove(0);
        assert!(spec.body.contains("1 earlier message was archived") && !spec.body.contains("Recap"), "{}", spec.body);
    }
}
