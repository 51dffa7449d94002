//! The canonical reminder providers. Each file's documentation is its row of the guide's table.
//!
//! | offers | for |
//! |---|---|
//! | [`canonical`] | the providers that are built |
//! | [`check_config`] | reading a provider's configuration strictly, before a loop begins |
//! | [`TokenPressure`], [`ToolOutputTruncated`] | the providers themselves |

use std::rc::Rc;

use runtime::data::Data;
use runtime::reminder::providers::ReminderProvider;
use runtime::reminder::{ReminderCode, ReminderError};

mod config;
mod token_pressure;
mod tool_output_truncated;

pub use token_pressure::{TokenPressure, TokenPressureConfig};
pub use tool_output_truncated::ToolOutputTruncated;

/// The canonical providers that are built, in the order of `ReminderProviders::CANONICAL`. The ids of the
/// others may be named in lists of providers too; the registry of the core knows all eight.
#[must_use]
pub fn canonical() -> Vec<Rc<dyn ReminderProvider>> {
    vec![Rc::new(TokenPressure), Rc::new(ToolOutputTruncated)]
}

/// Reads the configuration of a canonical provider and throws it away: so a loop can refuse a bad one before its first
/// turn. What is not built yet or not canonical takes any configuration.
///
/// # Errors
/// `HARN-RMD-001` with the path of the field below `reminders.config`.
pub fn check_config(id: &str, config: &Data) -> Result<(), ReminderError> {
    match id {
        TokenPressure::ID => TokenPressureConfig::read(config).map(drop),
        ToolOutputTruncated::ID => config::known_keys(id, config, &[]),
        _ => Ok(()),
    }
}

fn config_error(field: impl Into<String>, message: impl Into<String>) -> ReminderError {
    ReminderError::new(ReminderCode::Shape, field, message)
}

#[cfg(test)]
mod tests {
    use runtime::reminder::providers::ReminderProviders;

    use super::*;

    #[test]
    fn what_is_built_is_on_the_list_and_in_its_order() {
        let built: Vec<usize> = canonical()
            .iter()
            .map(|provider| ReminderProviders::CANONICAL.iter().position(|id| *id == provider.id()).unwrap())
            .collect();
        assert_eq!(built, [0, 2]);
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
        assert!(error.message.contains("takes no configuration"), "{error}");
    }
}
