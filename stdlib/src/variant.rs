//! [`RunVariant`]: what an evaluation changes in a run, whatever its script says.

use base::data::Data;
use runtime::reminder::overrides::{OverrideTarget, SpecOverride, SpecOverrides, target_glob};
use runtime::reminder_providers::ReminderVariation;

/// The keys of the option `reminders` that a variant may set.
const OPTIONS: [&str; 7] = ["enabled", "providers", "placement", "native", "files", "max_tokens", "max_share"];

/// A variant of a run.
#[derive(Clone, Debug, Default)]
pub struct RunVariant {
    pub(crate) variation: ReminderVariation,
    pub(crate) overrides: SpecOverrides,
}

impl RunVariant {
    /// Reads the options of loops that the variant sets: a dict with some keys of the option `reminders`.
    ///
    /// # Errors
    /// Returns the problem.
    pub fn with_options(mut self, options: &Data) -> Result<RunVariant, String> {
        let unknown = options.as_dict().into_iter().flatten().find(|(key, _)| !OPTIONS.contains(&key.as_ref()));
        if let Some((key, _)) = unknown {
            return Err(format!("unknown option `{key}`; a variant can set {}", OPTIONS.join(", ")));
        }
        self.variation = ReminderVariation::from_data(options).map_err(|error| error.message)?;
        Ok(self)
    }

    /// Replaces fields of reminders: `target` has `key`, `tag` and `producer`, and `fields` those of a reminder.
    ///
    /// # Errors
    /// Returns the problem.
    pub fn with_override(mut self, target: &Data, fields: &Data) -> Result<RunVariant, String> {
        let glob = |key: &str| target.get(key).as_str().map(target_glob).transpose();
        let glob = |key: &str| glob(key).map_err(|why| format!("invalid glob in `{key}`: {why}"));
        let target =
            OverrideTarget { key: glob("key")?, tag: target.get("tag").as_shared_str(), producer: glob("producer")? };
        let fields = fields.as_dict().cloned().unwrap_or_default();
        let made = SpecOverride::new(target, fields).map_err(|error| match error.help {
            Some(help) => format!("{}; {help}", error.message),
            None => error.message,
        })?;
        self.overrides.push(made);
        Ok(self)
    }
}
