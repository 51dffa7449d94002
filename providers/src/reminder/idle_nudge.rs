//! | Provider | Subscribes to | Config keys | Reminder behavior |
//! |---|---|---|---|
//! | `idle_nudge` | `session_idle` | `idle_seconds` or `seconds` | Fires when daemon idle wake interval reaches the threshold, defaulting to 60 seconds. Uses tag `idle`, dedupe key `idle_nudge`, `ttl_turns: 1`, and `propagate: "none"`. |
//!
//! It reads `wake_interval_ms`. A threshold of 0 means every time; both keys with different values are refused.

use base::data::Data;
use runtime::hooks::HookEvent;
use runtime::reminder::{Propagate, ReminderError, ReminderSpec, RoleHint};

use super::at_once::at_once;
use super::config;

/// Tells a session that wakes up how long it has been idle.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdleNudge;

/// Its configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdleNudgeConfig {
    /// The shortest wake interval that is worth a reminder, in seconds.
    pub idle_seconds: f64,
}

impl IdleNudgeConfig {
    const KEYS: &[&str] = &["idle_seconds", "seconds"];

    /// Reads it strictly.
    ///
    /// # Errors
    /// Fails on an unknown key, a time that is not a number or is negative, and two different
    /// times.
    pub fn read(data: &Data) -> Result<IdleNudgeConfig, ReminderError> {
        config::known_keys(IdleNudge::ID, data, Self::KEYS)?;
        let read = |key| config::number(IdleNudge::ID, data, key, 0.0, f64::MAX);
        let seconds =
            config::either(IdleNudge::ID, ("idle_seconds", read("idle_seconds")?), ("seconds", read("seconds")?))?;
        Ok(IdleNudgeConfig { idle_seconds: seconds.unwrap_or(60.0) })
    }
}

impl IdleNudge {
    /// Its id.
    pub const ID: &str = "idle_nudge";

    fn look(event: &HookEvent<'_>, config: &Data) -> Result<Vec<ReminderSpec>, ReminderError> {
        let config = IdleNudgeConfig::read(config)?;
        let Some(interval_ms) = event.get("wake_interval_ms").as_float().filter(|ms| *ms >= 0.0) else {
            return Ok(Vec::new());
        };
        let reached = interval_ms >= config.idle_seconds * 1000.0;
        Ok(if reached { vec![nudge(interval_ms / 1000.0)] } else { Vec::new() })
    }
}

fn nudge(seconds: f64) -> ReminderSpec {
    ReminderSpec {
        tags: vec!["idle".into()],
        dedupe_key: Some(IdleNudge::ID.into()),
        ttl_turns: Some(1),
        preserve_on_compact: false,
        propagate: Propagate::None,
        role_hint: RoleHint::System,
        ..ReminderSpec::new(format!(
            "The session has been idle; its wake interval is {seconds} seconds. Earlier results may be out of \
            date: check the state that the next step depends on, then continue, or say that nothing is left to do."
        ))
    }
}

at_once!(IdleNudge on [SessionIdle], |_, _, event, config| IdleNudge::look(event, config));

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::events::EventKind;
    use runtime::hooks::HookEvent;

    use crate::testing::fire;

    fn at(wake_interval_ms: u64, config: &Data) -> Vec<ReminderSpec> {
        fire(&IdleNudge, &HookEvent::SessionIdle { iteration: 1, wake_interval_ms }, config).unwrap()
    }

    #[test]
    fn it_fires_from_sixty_seconds_on_unless_told_otherwise() {
        assert!(at(59_999, &Data::Nil).is_empty());
        assert_eq!(at(60_000, &Data::Nil).len(), 1);
        for key in ["idle_seconds", "seconds"] {
            let config = Data::dict([(key, Data::from(120))]);
            assert!(at(119_999, &config).is_empty(), "{key}");
            assert_eq!(at(120_000, &config).len(), 1, "{key}");
            assert_eq!(at(500, &Data::dict([(key, Data::from(0.5))])).len(), 1, "{key}");
        }
        assert_eq!(at(0, &Data::dict([("seconds", Data::from(0))])).len(), 1);
    }

    #[test]
    fn the_reminder_is_that_of_the_guide() {
        let spec = at(90_000, &Data::Nil).remove(0);
        assert_eq!(spec.tags, ["idle".into()]);
        assert_eq!(spec.dedupe_key.as_deref(), Some("idle_nudge"));
        assert_eq!((spec.ttl_turns, spec.propagate), (Some(1), Propagate::None));
        assert!(!spec.preserve_on_compact);
        assert!(spec.body.contains("its wake interval is 90 seconds."), "{}", spec.body);
    }

    #[test]
    fn a_payload_without_an_interval_is_no_idleness() {
        for json in
            ["{}", r#"{"wake_interval_ms":"long"}"#, r#"{"wake_interval_ms":null}"#, r#"{"wake_interval_ms":-1}"#]
        {
            let payload = Data::from_json(json).unwrap();
            let event = HookEvent::Raw { kind: EventKind::SessionIdle, payload: &payload };
            let config = Data::dict([("seconds", Data::from(0))]);
            assert!(fire(&IdleNudge, &event, &config).unwrap().is_empty(), "{json}");
        }
    }

    #[test]
    fn the_configuration_is_read_strictly() {
        for (json, field, part) in [
            (r#"{"idle_second":1}"#, "idle_nudge.idle_second", "unknown configuration key"),
            (r#"{"seconds":-1}"#, "idle_nudge.seconds", "at least 0"),
            (r#"{"idle_seconds":"60"}"#, "idle_nudge.idle_seconds", "got string"),
            (r#"{"idle_seconds":60,"seconds":30}"#, "idle_nudge.seconds", "have the same value"),
        ] {
            let error = IdleNudgeConfig::read(&Data::from_json(json).unwrap()).unwrap_err();
            assert_eq!(error.field, field, "{json}");
            assert!(error.message.contains(part), "{json}: {error}");
        }
        assert!(IdleNudgeConfig::read(&Data::from_json(r#"{"idle_seconds":60,"seconds":60.0}"#).unwrap()).is_ok());
    }
}
