//! The canonical reminder providers. Each file's documentation is its row of the guide's table.
//!
//! | offers | for |
//! |---|---|
//! | [`canonical`] | the providers |
//! | [`check_config`] | reading a provider's configuration strictly, before a loop begins |
//! | [`TokenPressure`], [`IdleNudge`] … | the providers themselves |

use std::rc::Rc;

use base::data::Data;
use runtime::reminder::{ReminderCode, ReminderError};
use runtime::reminder_providers::ReminderProvider;

use crate::fact::Facts;

mod at_once;
mod config;
mod grounded_review;
mod idle_nudge;
mod post_compact_recap;
mod project_facts;
mod resume_continuity;
mod text;
mod token_pressure;
mod tool_output_truncated;
mod workspace_anchor;

pub use grounded_review::{GroundedReview, GroundedReviewConfig};
pub use idle_nudge::{IdleNudge, IdleNudgeConfig};
pub use post_compact_recap::PostCompactRecap;
pub use project_facts::{ProjectFacts, ProjectFactsConfig};
pub use resume_continuity::ResumeContinuity;
pub use token_pressure::{TokenPressure, TokenPressureConfig};
pub use tool_output_truncated::ToolOutputTruncated;
pub use workspace_anchor::WorkspaceAnchor;

/// The canonical providers, in the order of `ReminderProviders::CANONICAL`. `facts` are those that the run may read; without
/// them `project_facts` is silent.
#[must_use]
pub fn canonical(facts: Option<Rc<Facts>>) -> Vec<Rc<dyn ReminderProvider>> {
    vec![
        Rc::new(TokenPressure),
        Rc::new(IdleNudge),
        Rc::new(ToolOutputTruncated),
        Rc::new(PostCompactRecap),
        Rc::new(ResumeContinuity),
        Rc::new(ProjectFacts::new(facts)),
        Rc::new(WorkspaceAnchor),
        Rc::new(GroundedReview),
    ]
}

/// Reads the configuration of a canonical provider and throws it away: so a loop can refuse a bad one before its first
/// turn. What is not canonical takes any configuration.
///
/// # Errors
/// `HARN-RMD-001` with the path of the field below `reminders.config`.
pub fn check_config(id: &str, config: &Data) -> Result<(), ReminderError> {
    match id {
        TokenPressure::ID => TokenPressureConfig::read(config).map(drop),
        GroundedReview::ID => GroundedReviewConfig::read(config).map(drop),
        ProjectFacts::ID => ProjectFactsConfig::read(config).map(drop),
        IdleNudge::ID => IdleNudgeConfig::read(config).map(drop),
        ToolOutputTruncated::ID | PostCompactRecap::ID | ResumeContinuity::ID | WorkspaceAnchor::ID => {
            config::known_keys(id, config, &[])
        }
        _ => Ok(()),
    }
}

fn config_error(field: impl Into<String>, message: impl Into<String>) -> ReminderError {
    ReminderError::new(ReminderCode::Shape, field, message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use runtime::events::EventKind;
    use runtime::reminder_providers::ReminderProviders;

    use super::*;

    #[test]
    fn all_eight_are_there_in_their_order() {
        let all = canonical(None);
        let ids: Vec<&str> = all.iter().map(|provider| provider.id()).collect();
        assert_eq!(ids, ReminderProviders::CANONICAL);
    }

    /// The first lines of each provider's file, in order: its row of the guide's table.
    const FILES: [&str; 8] = [
        include_str!("token_pressure.rs"),
        include_str!("idle_nudge.rs"),
        include_str!("tool_output_truncated.rs"),
        include_str!("post_compact_recap.rs"),
        include_str!("resume_continuity.rs"),
        include_str!("project_facts.rs"),
        include_str!("workspace_anchor.rs"),
        include_str!("grounded_review.rs"),
    ];

    /// The words in backticks.
    fn quoted(cell: &str) -> Vec<&str> {
        cell.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn each_row_of_the_guide_names_the_provider_its_events_and_its_configuration() {
        for (provider, file) in canonical(None).iter().zip(FILES) {
            let lines: Vec<&str> = file.lines().take(3).collect();
            assert_eq!(lines[0], "//! | Provider | Subscribes to | Config keys | Reminder behavior |");
            let cells: Vec<&str> = lines[2].trim_matches(|c| "/! |".contains(c)).split(" | ").collect();
            assert_eq!(quoted(cells[0]), [provider.id()]);
            let heard: BTreeSet<EventKind> =
                EventKind::ALL.iter().copied().filter(|kind| provider.subscribes_to().contains(*kind)).collect();
            let named = quoted(cells[1]).into_iter().map(|event| EventKind::parse(event).unwrap()).collect();
            assert_eq!(heard, named, "{}", provider.id());
            // Each key is known, and no other is.
            for key in quoted(cells[2]) {
                let config = Data::dict([(key, Data::Nil)]);
                assert!(check_config(provider.id(), &config).is_ok(), "{} {key}", provider.id());
            }
            assert_eq!(cells[2] == "none", quoted(cells[2]).is_empty());
            let error = check_config(provider.id(), &Data::dict([("nothing_like_it", Data::Nil)])).unwrap_err();
            let known = error.help.unwrap_or_default();
            if let Some(known) = known.strip_prefix("known keys: ") {
                assert_eq!(known.split(", ").collect::<Vec<_>>(), quoted(cells[2]), "{}", provider.id());
                // A value that never fits is answered with one that does.
                for key in known.split(", ") {
                    let wrong =
                        check_config(provider.id(), &Data::dict([(key, Data::list([Data::list([])]))])).unwrap_err();
                    assert!(
                        wrong.help.is_some_and(|help| help.contains(&format!("`{key}: "))),
                        "{} {key}",
                        provider.id()
                    );
                }
            } else {
                assert_eq!(cells[2], "none", "{}: {known}", provider.id());
            }
        }
    }

    #[test]
    fn configuration_is_read_strictly() {
        let config = |json: &str| Data::from_json(json).unwrap();
        assert!(check_config("token_pressure", &Data::Nil).is_ok());
        assert!(check_config("token_pressure", &config(r#"{"context_window":128000}"#)).is_ok());
        assert!(check_config("my_own", &config(r#"{"anything":1}"#)).is_ok());

        let error = check_config("token_pressure", &config(r#"{"context_windw":1}"#)).unwrap_err();
        assert_eq!(error.code, ReminderCode::Shape);
        assert_eq!(error.field, "token_pressure.context_windw");
        assert_eq!(error.suggestion.as_deref(), Some("context_window"));

        for bad in [r#"{"context_window":0}"#, r#"{"context_window":"big"}"#, r#"{"context_window":-5}"#] {
            let error = check_config("token_pressure", &config(bad)).unwrap_err();
            assert_eq!(error.field, "token_pressure.context_window", "{bad}");
        }
        let error = check_config("token_pressure", &config("[1]")).unwrap_err();
        assert!(error.message.contains("must be a dict, got list"), "{error}");
        let error = check_config("tool_output_truncated", &config(r#"{"limit":1}"#)).unwrap_err();
        assert!(error.message.contains("has no configuration"), "{error}");
    }
}
