//! | Provider | Subscribes to | Config keys | Reminder behavior |
//! |---|---|---|---|
//! | `token_pressure` | `on_budget_threshold` | `context_window` | Fires at about 70%, 85%, and 95% context use. Uses tag and dedupe key `token_pressure`, `ttl_turns: 2`, `role_hint: "developer"`, `propagate: "session"`, and sets `preserve_on_compact: true` at the critical threshold. |
//!
//! It looks at the live context (the payload's `tokens_used`), not at the session's total. Each band fires once until
//! usage has fallen below it again. The configured window wins over that of the payload; with neither it stays silent.

use std::sync::Arc;

use base::data::Data;
use runtime::hooks::HookEvent;
use runtime::reminder::{Propagate, ReminderError, ReminderSpec, RoleHint};
use runtime::seam::Turn;

use super::at_once::at_once;
use super::config;

/// Warns when the context fills up.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokenPressure;

/// Its configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenPressureConfig {
    /// Tokens that fit into the context; nothing means what the route says.
    pub context_window: Option<u64>,
}

impl TokenPressureConfig {
    /// Reads it strictly.
    ///
    /// # Errors
    /// Fails on an unknown key, or a window that is not a positive integer.
    pub fn read(data: &Data) -> Result<TokenPressureConfig, ReminderError> {
        config::known_keys(TokenPressure::ID, data, &["context_window"])?;
        Ok(TokenPressureConfig { context_window: config::positive(TokenPressure::ID, data, "context_window")? })
    }
}

/// The usage of the context, in the order of pressure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Band {
    Calm,
    Rising,
    High,
    Critical,
}

impl Band {
    const FROM_TOP: [Band; 3] = [Band::Critical, Band::High, Band::Rising];

    fn percent(self) -> u64 {
        match self {
            Band::Calm => 0,
            Band::Rising => 70,
            Band::High => 85,
            Band::Critical => 95,
        }
    }

    fn of(used: u64, window: u64) -> Band {
        let reached = |band: &Band| u128::from(used) * 100 >= u128::from(window) * u128::from(band.percent());
        Band::FROM_TOP.into_iter().find(reached).unwrap_or(Band::Calm)
    }

    /// The band that the session's memory holds; it is kept as its percentage.
    fn recall(memory: Option<&Data>) -> Band {
        let percent = memory.and_then(Data::as_int);
        let held = |band: &Band| percent == i64::try_from(band.percent()).ok();
        Band::FROM_TOP.into_iter().find(held).unwrap_or(Band::Calm)
    }

    fn advice(self) -> &'static str {
        match self {
            Band::Calm => "",
            Band::Rising => "Read only what the task needs, and keep answers short.",
            Band::High => {
                "Finish the current step, avoid large reads, and write down results that later steps \
                need."
            }
            Band::Critical => {
                "The context is nearly full. State the results so far and what is left to do, then finish or hand \
                off; older messages may be compacted."
            }
        }
    }
}

impl TokenPressure {
    /// Its id.
    pub const ID: &str = "token_pressure";

    fn look(turn: Turn<'_>, event: &HookEvent<'_>, config: &Data) -> Result<Vec<ReminderSpec>, ReminderError> {
        let config = TokenPressureConfig::read(config)?;
        let (used, window) = match event {
            HookEvent::OnBudgetThreshold { tokens_used, context_window, .. } => (Some(*tokens_used), *context_window),
            other => (positive(&other.get("tokens_used")), positive(&other.get("context_window"))),
        };
        let (Some(used), Some(window)) = (used, config.context_window.or(window.filter(|window| *window > 0))) else {
            return Ok(Vec::new());
        };
        let band = Band::of(used, window);
        let before = turn.session.with(|state| {
            let before = Band::recall(state.provider_memory.get(TokenPressure::ID));
            state.provider_memory.insert(TokenPressure::ID.into(), Data::from(band.percent()));
            before
        });
        Ok(if band > before { vec![warning(band, used, window)] } else { Vec::new() })
    }
}

fn positive(data: &Data) -> Option<u64> {
    data.as_int().and_then(|number| u64::try_from(number).ok())
}

fn warning(band: Band, used: u64, window: u64) -> ReminderSpec {
    let percent = u128::from(used) * 100 / u128::from(window);
    let id: Arc<str> = TokenPressure::ID.into();
    ReminderSpec {
        tags: vec![id.clone()],
        dedupe_key: Some(id),
        ttl_turns: Some(2),
        preserve_on_compact: band == Band::Critical,
        propagate: Propagate::Session,
        role_hint: RoleHint::Developer,
        ..ReminderSpec::new(format!(
            "{used} of {window} tokens of the context window are used ({percent} %). {}",
            band.advice()
        ))
    }
}

at_once!(TokenPressure on [OnBudgetThreshold], |_, turn, event, config| TokenPressure::look(turn, event, config));

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::events::EventKind;
    use runtime::hooks::HookEvent;
    use runtime::reminder_providers::ReminderProvider;

    use crate::testing::{TestSession, block_on};

    fn fire(place: &TestSession, used: u64, window: Option<u64>, config: &Data) -> Vec<ReminderSpec> {
        let task = "t".into();
        let event = HookEvent::OnBudgetThreshold {
            persona: &task,
            iteration: 1,
            tokens_used: used,
            context_window: window,
            task: &task,
        };
        block_on(TokenPressure.evaluate(place.turn(), &event, config).get()).unwrap()
    }

    #[test]
    fn each_band_fires_once_until_usage_has_fallen_below_it() {
        let place = TestSession::new();
        // usage in per cent, and whether it fires
        for (step, (used, fires)) in [
            (69, false),
            (70, true),
            (84, false),
            (85, true),
            (94, false),
            (95, true),
            (99, false),
            (90, false), // below 95 only: that band is armed again
            (96, true),
            (40, false),
            (71, true),
            (97, true), // over two bands at once: one reminder, the highest
            (86, false),
            (120, true),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(fire(&place, used, Some(100), &Data::Nil).len(), usize::from(fires), "step {step}: {used} %");
        }
    }

    #[test]
    fn the_reminder_is_that_of_the_guide() {
        let place = TestSession::new();
        let spec = fire(&place, 70_000, Some(100_000), &Data::Nil).remove(0);
        assert_eq!(spec.tags, ["token_pressure".into()]);
        assert_eq!(spec.dedupe_key.as_deref(), Some("token_pressure"));
        assert_eq!(
            (spec.ttl_turns, spec.role_hint, spec.propagate),
            (Some(2), RoleHint::Developer, Propagate::Session)
        );
        assert!(!spec.preserve_on_compact);
        assert!(
            spec.body.starts_with("70000 of 100000 tokens of the context window are used (70 %)."),
            "{}",
            spec.body
        );
        assert!(fire(&place, 95_000, Some(100_000), &Data::Nil).remove(0).preserve_on_compact);
    }

    #[test]
    fn the_configured_window_wins_and_without_any_it_is_silent() {
        let config = Data::dict([("context_window", Data::from(1000))]);
        assert_eq!(fire(&TestSession::new(), 700, Some(1_000_000), &config).len(), 1);
        assert_eq!(fire(&TestSession::new(), 700, None, &config).len(), 1);
        assert!(fire(&TestSession::new(), u64::MAX, None, &Data::Nil).is_empty());
        assert!(fire(&TestSession::new(), 700, Some(0), &Data::Nil).is_empty());
    }

    #[test]
    fn sessions_have_bands_of_their_own() {
        let (one, two) = (TestSession::new(), TestSession::new());
        assert_eq!(fire(&one, 80, Some(100), &Data::Nil).len(), 1);
        assert_eq!(fire(&two, 80, Some(100), &Data::Nil).len(), 1);
        assert!(fire(&one, 80, Some(100), &Data::Nil).is_empty());
    }

    #[test]
    fn a_payload_made_by_a_script_reads_the_same_and_a_bad_configuration_fails() {
        let place = TestSession::new();
        let payload = Data::from_json(r#"{"tokens_used": 90000, "context_window": 100000}"#).unwrap();
        let event = HookEvent::Raw { kind: EventKind::OnBudgetThreshold, payload: &payload };
        let fired = block_on(TokenPressure.evaluate(place.turn(), &event, &Data::Nil).get()).unwrap();
        assert!(fired[0].body.contains("(90 %)"), "{}", fired[0].body);
        let config = Data::dict([("context_windw", Data::from(1000))]);
        let error = block_on(TokenPressure.evaluate(place.turn(), &event, &config).get()).unwrap_err();
        assert_eq!(error.code().map(base::codes::CodeRef::as_str), Some("HARN-RMD-001"));
    }
}
