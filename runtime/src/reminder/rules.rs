//! [`ReminderRules`]: the optional part of a reminder that decides which prompts show it, and in which words. Most
//! reminders have none of these fields; then the whole is `None`, and every prompt shows the body.
//!
//! The fields count prompts: a *firing* is a prompt of a loop that carried the reminder's key (its id, if it has no
//! key). [`crate::lifecycle::select`] applies the rules.

use std::sync::{Arc, OnceLock};

use globset::{Glob, GlobMatcher};

use base::data::Data;
use base::words::words;

use super::codec::ReminderField;
use super::expectation::Expectation;

mod read;

pub(super) use read::{DEFAULT, OnSurface, first_escalation};

words! {
    /// The priority of a reminder if not all fit into a prompt.
    pub enum Priority {
        /// Waits for all others.
        Low = "low",
        /// The default.
        Normal = "normal",
        /// Comes before most others.
        High = "high",
        /// Is shown in every prompt, whatever the budget.
        Critical = "critical",
    }
}

words! {
    /// Whether a reminder is shown again without a change.
    pub enum Refresh {
        /// In every prompt.
        Always = "always",
        /// Only if its body differs from the one shown last under its key, or the context was compacted since.
        OnChange = "on_change",
    }
}

/// The rules by which prompts show a reminder.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReminderRules {
    /// Priority if not all reminders fit.
    #[serde(skip_serializing_if = "Priority::is_default")]
    pub priority: Priority,
    /// Number of prompts without it after one that carried it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown_turns: Option<u32>,
    /// It is due in each n-th prompt, counted from its first firing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u32>,
    /// Number of firings after which it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_times: Option<u32>,
    /// The bodies of the second and later firings; the last one stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub escalate: Vec<Arc<str>>,
    /// Whether it is shown again without a change.
    #[serde(skip_serializing_if = "Refresh::is_default")]
    pub refresh: Refresh,
    /// Bodies for some models.
    #[serde(skip_serializing_if = "ModelBodies::is_empty")]
    pub bodies: ModelBodies,
    /// Name of the condition under which a prompt shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Arc<str>>,
    /// Name of the condition that ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Arc<str>>,
    /// Decision whether a turn followed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
}

impl Priority {
    fn is_default(&self) -> bool {
        *self == Priority::Normal
    }
}

impl Refresh {
    fn is_default(&self) -> bool {
        *self == Refresh::Always
    }
}

impl Default for ReminderRules {
    fn default() -> ReminderRules {
        ReminderRules {
            priority: Priority::Normal,
            cooldown_turns: None,
            every: None,
            max_times: None,
            escalate: Vec::new(),
            refresh: Refresh::Always,
            bodies: ModelBodies::default(),
            when: None,
            until: None,
            expect: None,
        }
    }
}

impl ReminderRules {
    /// Maximum number of entries of `escalate`, and of bodies for models.
    pub const MOST_BODIES: usize = 16;

    /// Returns the rules as a part of a reminder; `None` if they are those of every reminder.
    #[must_use]
    pub fn shared(self) -> Option<Arc<ReminderRules>> {
        (self != ReminderRules::default()).then(|| Arc::new(self))
    }

    /// Returns whether the rules never change or hide the body until they end the reminder.
    pub(crate) fn is_steady(&self) -> bool {
        let ReminderRules { cooldown_turns, every, max_times, escalate, refresh, when, .. } = self;
        let has_rhythm = cooldown_turns.is_some() || every.is_some() || max_times.is_some();
        !has_rhythm && escalate.is_empty() && refresh.is_default() && when.is_none()
    }

    /// Returns the size of its texts, in bytes.
    pub(crate) fn weight(&self) -> usize {
        let escalate = self.escalate.iter().map(|body| body.len());
        let texts: usize = escalate.chain(self.bodies.iter().map(|(model, body)| model.len() + body.len())).sum();
        texts + self.expect.as_ref().map_or(0, Expectation::weight)
    }

    /// Returns the value of a field in the words of scripts; nil if it has its default.
    #[must_use]
    pub fn value(&self, field: ReminderField) -> Data {
        match field {
            ReminderField::Priority if !self.priority.is_default() => self.priority.as_str().into(),
            ReminderField::CooldownTurns => self.cooldown_turns.into(),
            ReminderField::Every => self.every.into(),
            ReminderField::MaxTimes => self.max_times.into(),
            ReminderField::Escalate if !self.escalate.is_empty() => self.escalate.iter().map(Data::from).collect(),
            ReminderField::Refresh if !self.refresh.is_default() => self.refresh.as_str().into(),
            ReminderField::Bodies if !self.bodies.is_empty() => {
                Data::dict(self.bodies.iter().map(|(model, body)| (model.clone(), Data::from(body))))
            }
            ReminderField::When => self.when.as_ref().into(),
            ReminderField::Until => self.until.as_ref().into(),
            ReminderField::Expect => self.expect.as_ref().map_or(Data::Nil, Expectation::to_data),
            _ => Data::Nil,
        }
    }

    /// Returns whether a condition decides which prompts show it.
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        self.when.is_some() || self.until.is_some()
    }
}

/// Bodies by a glob over the name of the model, sorted by glob.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(from = "Vec<(Arc<str>, Arc<str>)>", into = "Vec<(Arc<str>, Arc<str>)>")]
pub struct ModelBodies {
    bodies: Vec<(Arc<str>, Arc<str>)>,
    /// The globs of the bodies, in the same order. Compiled when a prompt first needs them.
    globs: OnceLock<Vec<Option<GlobMatcher>>>,
}

impl From<Vec<(Arc<str>, Arc<str>)>> for ModelBodies {
    fn from(mut bodies: Vec<(Arc<str>, Arc<str>)>) -> ModelBodies {
        bodies.sort_unstable();
        ModelBodies { bodies, globs: OnceLock::new() }
    }
}

impl From<ModelBodies> for Vec<(Arc<str>, Arc<str>)> {
    fn from(bodies: ModelBodies) -> Vec<(Arc<str>, Arc<str>)> {
        bodies.bodies
    }
}

impl PartialEq for ModelBodies {
    fn eq(&self, other: &ModelBodies) -> bool {
        self.bodies == other.bodies
    }
}

impl Eq for ModelBodies {}

impl ModelBodies {
    /// Returns the bodies.
    pub fn bodies(&self) -> impl Iterator<Item = &Arc<str>> {
        self.bodies.iter().map(|(_, body)| body)
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Returns the globs with their bodies, sorted by glob.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.bodies.iter().map(|(model, body)| (model, body))
    }

    /// Returns the body of a glob, as it was written.
    #[must_use]
    pub fn get(&self, glob: &str) -> Option<&Arc<str>> {
        self.iter().find(|(known, _)| known.as_ref() == glob).map(|(_, body)| body)
    }

    /// Returns the glob and the body for a model: of several that match, the longest glob.
    #[must_use]
    pub fn of_model(&self, model: &str) -> Option<(&Arc<str>, &Arc<str>)> {
        if self.is_empty() {
            return None;
        }
        let compile = |(glob, _): (&Arc<str>, _)| Some(Glob::new(glob).ok()?.compile_matcher());
        let globs = self.globs.get_or_init(|| self.iter().map(compile).collect());
        let matching =
            self.iter().zip(globs).filter(|(_, glob)| glob.as_ref().is_some_and(|glob| glob.is_match(model)));
        matching.map(|(entry, _)| entry).max_by_key(|(glob, _)| glob.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_glob_that_matches_decides() {
        let bodies = ModelBodies::from(
            [("*", "any"), ("claude-*", "claude"), ("claude-opus-*", "opus"), ("[", "never")]
                .map(|(glob, body)| (glob.into(), body.into()))
                .to_vec(),
        );
        for (model, glob, body) in
            [("claude-opus-5", "claude-opus-*", "opus"), ("claude-x", "claude-*", "claude"), ("gpt-5", "*", "any")]
        {
            let found = bodies.of_model(model).map(|(glob, body)| (&**glob, &**body));
            assert_eq!(found, Some((glob, body)), "{model}");
        }
        assert_eq!(ModelBodies::default().of_model("gpt-5"), None);
        assert_eq!(bodies.get("claude-*").map(|body| &**body), Some("claude"));
    }

    #[test]
    fn the_usual_rules_are_left_out() {
        assert_eq!(ReminderRules::default().shared(), None);
        let rules = ReminderRules { priority: Priority::High, ..ReminderRules::default() };
        assert_eq!(serde_json::to_string(&rules).unwrap(), r#"{"priority":"high"}"#);
        let every = ReminderRules { every: Some(3), ..ReminderRules::default() };
        assert_eq!(every.value(ReminderField::Every), 3.into());
        assert!(every.value(ReminderField::Priority).is_nil() && every.shared().is_some());
    }
}
