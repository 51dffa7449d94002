//! | Provider | Subscribes to | Config keys | Reminder behavior |
//! |---|---|---|---|
//! | `resume_continuity` | `worker_resumed` | none | Fires before the first resumed `agent_loop` turn. Uses tag and dedupe key `resume_continuity`, `ttl_turns: 1`, `preserve_on_compact: true`, and `propagate: "none"`; includes suspension reason, resume cause, optional resume input, and a pre-suspend digest for `continue_transcript: false`. |
//!
//! It reads `suspension: {reason, suspended_at_turn}` and `resume: {initiator, input_rendered, input_present,
//! continue_transcript, digest}`; with neither there is nothing to tell. What is not known is not said.

use std::fmt::Write;
use std::sync::Arc;

use base::data::Data;
use runtime::hooks::HookEvent;
use runtime::reminder::{Propagate, ReminderError, ReminderSpec, RoleHint};

use super::at_once::at_once;
use super::{config, text};

/// Tells a resumed worker what happened while it was suspended.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResumeContinuity;

/// The maximum lengths of a reason, an input and a digest, in bytes.
const REASON: usize = 2 << 10;
const INPUT: usize = 16 << 10;
const DIGEST: usize = 16 << 10;

impl ResumeContinuity {
    /// Its id.
    pub const ID: &str = "resume_continuity";

    fn look(event: &HookEvent<'_>, config: &Data) -> Result<Vec<ReminderSpec>, ReminderError> {
        config::known_keys(ResumeContinuity::ID, config, &[])?;
        let (suspension, resume) = (event.get("suspension"), event.get("resume"));
        if suspension.as_dict().is_none() && resume.as_dict().is_none() {
            return Ok(Vec::new());
        }
        Ok(vec![continuity(body(&suspension, &resume))])
    }
}

fn body(suspension: &Data, resume: &Data) -> String {
    let said = |data: &Data, key: &str, bytes: usize| {
        let text = data.get(key).to_text();
        let text = text.trim();
        (!text.is_empty()).then(|| text::clip(text, bytes))
    };
    let mut body = match suspension.get("suspended_at_turn").as_int() {
        Some(turn) => format!("You were suspended at turn {turn}."),
        None => "You were suspended.".to_owned(),
    };
    // Writing to a string cannot fail.
    if let Some(reason) = said(suspension, "reason", REASON) {
        let _ = write!(body, " Reason: {reason}");
    }
    body.push('\n');
    match said(resume, "initiator", REASON) {
        Some(initiator) => {
            let _ = write!(body, "You have been resumed by the {initiator}.");
        }
        None => body.push_str("You have been resumed."),
    }
    if let Some(input) = input(resume) {
        let _ = write!(body, "\nThe resumer provided input: {input}");
    }
    if resume.get("continue_transcript").as_bool() == Some(false) {
        body.push_str("\nThe conversation from before the suspension is not part of this transcript.");
        if let Some(digest) = said(resume, "digest", DIGEST) {
            let _ = write!(body, "\nPre-suspend conversation digest: {digest}");
        }
    }
    body
}

/// Returns the input of the resumer; `None` if the payload says that there is none.
fn input(resume: &Data) -> Option<String> {
    let rendered: Arc<str> = resume.get("input_rendered").to_text();
    let present = resume.get("input_present").as_bool().unwrap_or(!rendered.trim().is_empty());
    present.then(|| if rendered.trim().is_empty() { "(empty)".to_owned() } else { text::clip(rendered.trim(), INPUT) })
}

fn continuity(body: String) -> ReminderSpec {
    let id: Arc<str> = ResumeContinuity::ID.into();
    ReminderSpec {
        tags: vec![id.clone()],
        dedupe_key: Some(id),
        ttl_turns: Some(1),
        preserve_on_compact: true,
        propagate: Propagate::None,
        role_hint: RoleHint::System,
        ..ReminderSpec::new(body)
    }
}

at_once!(ResumeContinuity on [WorkerResumed], |_, _, event, config| ResumeContinuity::look(event, config));

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::events::EventKind;

    use crate::testing::fire_raw;

    fn resumed(json: &str) -> Vec<ReminderSpec> {
        fire_raw(&ResumeContinuity, EventKind::WorkerResumed, json, &Data::Nil).unwrap()
    }

    fn body_of(json: &str) -> String {
        resumed(json).remove(0).body.to_string()
    }

    #[test]
    fn the_reminder_is_that_of_the_guide() {
        let json = r#"{"suspension":{"reason":"waits for review","suspended_at_turn":3},
            "resume":{"initiator":"operator","input_rendered":"ship it","input_present":true,"continue_transcript":true}}"#;
        let spec = resumed(json).remove(0);
        assert_eq!(spec.tags, ["resume_continuity".into()]);
        assert_eq!(spec.dedupe_key.as_deref(), Some("resume_continuity"));
        assert_eq!((spec.ttl_turns, spec.propagate), (Some(1), Propagate::None));
        assert!(spec.preserve_on_compact);
        assert_eq!(
            spec.body.as_ref(),
            "You were suspended at turn 3. Reason: waits for review\nYou have been resumed by the operator.\n\
             The resumer provided input: ship it"
        );
    }

    #[test]
    fn the_digest_is_told_where_the_transcript_does_not_go_on() {
        let json = |goes_on: &str| {
            format!(r#"{{"resume":{{"initiator":"operator","digest":"read a.rs",{goes_on}"input_present":false}}}}"#)
        };
        let told = "Pre-suspend conversation digest: read a.rs";
        assert!(body_of(&json(r#""continue_transcript":false,"#)).ends_with(told));
        assert!(!body_of(&json(r#""continue_transcript":true,"#)).contains("digest"));
        assert!(!body_of(&json("")).contains("digest"));
    }

    #[test]
    fn input_is_told_where_there_is_some() {
        for (json, told) in [
            (r#"{"input_rendered":"go","input_present":false}"#, None),
            (r#"{"input_rendered":"go"}"#, Some("The resumer provided input: go")),
            (r#"{"input_rendered":"","input_present":true}"#, Some("The resumer provided input: (empty)")),
            (r#"{"input_rendered":""}"#, None),
            (r#"{"input_rendered":{"answer":42}}"#, Some(r#"The resumer provided input: {"answer":42}"#)),
            ("{}", None),
        ] {
            let body = body_of(&format!(r#"{{"resume":{json}}}"#));
            match told {
                Some(told) => assert!(body.ends_with(told), "{json}: {body}"),
                None => assert!(!body.contains("input"), "{json}: {body}"),
            }
        }
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        assert_eq!(body_of(r#"{"resume":{}}"#), "You were suspended.\nYou have been resumed.");
        let by_parent = body_of(r#"{"suspension":{"reason":""},"resume":{"initiator":"parent"}}"#);
        assert_eq!(by_parent, "You were suspended.\nYou have been resumed by the parent.");
        assert!(resumed("{}").is_empty());
        assert!(resumed(r#"{"worker":"w1"}"#).is_empty());
    }

    #[test]
    fn however_much_there_is_to_tell_the_body_stays_in_bounds() {
        let long = "ß".repeat(200_000);
        let json = format!(
            r#"{{"suspension":{{"reason":"{long}"}},"resume":{{"initiator":"{long}","input_rendered":"{long}",
               "digest":"{long}","continue_transcript":false}}}}"#
        );
        let body = body_of(&json);
        assert!(body.len() < runtime::reminder::Reminder::MAX_BODY, "{}", body.len());
        assert!(body.contains("Pre-suspend conversation digest: ß"));
    }
}
