//! [`SpecOverrides`]: fields of reminders that a variant of a run replaces, for every source of reminders. An evaluation
//! compares bodies, slots and lifetimes with them.

use std::sync::Arc;

use globset::{Glob, GlobMatcher};

use base::data::{Data, Entries};

use super::codec::{ReminderField as Field, Surface};
use super::{Reminder, ReminderError, ReminderSource, ReminderSpec};

/// The reminders that an override is for. One without criteria is for all.
#[derive(Debug, Clone, Default)]
pub struct OverrideTarget {
    /// A glob over the dedupe key.
    pub key: Option<GlobMatcher>,
    /// A tag.
    pub tag: Option<Arc<str>>,
    /// A glob over the name of the provider or hook.
    pub producer: Option<GlobMatcher>,
}

/// Fields that replace those of some reminders.
#[derive(Debug, Clone)]
pub struct SpecOverride {
    target: OverrideTarget,
    fields: Entries,
}

/// The overrides of a run, applied in their order.
#[derive(Debug, Clone, Default)]
pub struct SpecOverrides(Vec<SpecOverride>);

impl SpecOverride {
    /// Reads the fields strictly.
    ///
    /// # Errors
    /// Returns the error of an unknown field or an invalid value.
    pub fn new(target: OverrideTarget, fields: Entries) -> Result<SpecOverride, ReminderError> {
        let mut all = fields.clone();
        if all.get(Field::Body.name(Surface::Script)).is_none() {
            all.insert(Field::Body.name(Surface::Script).into(), "?".into());
        }
        ReminderSpec::from_data(&Data::from(all))?;
        Ok(SpecOverride { target, fields })
    }

    fn fits(&self, spec: &ReminderSpec, producer: Option<&Arc<str>>) -> bool {
        let OverrideTarget { key, tag, producer: by } = &self.target;
        let is_match = |glob: &Option<GlobMatcher>, text: Option<&Arc<str>>| {
            glob.as_ref().is_none_or(|glob| text.is_some_and(|text| glob.is_match(text.as_ref())))
        };
        is_match(key, spec.dedupe_key.as_ref())
            && is_match(by, producer)
            && tag.as_ref().is_none_or(|tag| spec.tags.contains(tag))
    }
}

impl SpecOverrides {
    /// Adds an override.
    pub fn push(&mut self, new: SpecOverride) {
        self.0.push(new);
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a spec with the fields of all overrides that are for it. A result that would be invalid as a whole stays
    /// as it was.
    #[must_use]
    pub fn apply(&self, spec: ReminderSpec, producer: Option<&Arc<str>>) -> ReminderSpec {
        self.0.iter().filter(|one| one.fits(&spec, producer)).collect::<Vec<_>>().into_iter().fold(spec, replaced)
    }
}

fn replaced(spec: ReminderSpec, by: &SpecOverride) -> ReminderSpec {
    let reminder = spec.clone().into_reminder(Arc::default(), ReminderSource::InPipeline, 0);
    let mut entries = Entries::new();
    for field in Field::SPEC.iter().chain(&Field::CONDITIONS) {
        put(&mut entries, *field, &reminder);
    }
    if by.fields.contains_key(Field::Body.name(Surface::Script)) {
        // The new body is for all models.
        entries.insert(Field::Bodies.name(Surface::Script).into(), Data::Nil);
    }
    entries.extend(by.fields.iter().map(|(name, value)| (name.clone(), value.clone())));
    ReminderSpec::from_data(&Data::from(entries)).unwrap_or(spec)
}

fn put(entries: &mut Entries, field: Field, reminder: &Reminder) {
    entries.insert(field.key(Surface::Script).clone(), reminder.value(field));
}

/// Compiles a glob of a target.
///
/// # Errors
/// Returns what is wrong with it.
pub fn target_glob(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reminder::{Priority, RoleHint};

    fn entries(json: &str) -> Entries {
        Data::from_json(json).unwrap().as_dict().unwrap().clone()
    }

    #[test]
    fn the_fields_of_those_that_fit_are_replaced() {
        let target = OverrideTarget {
            key: Some(target_glob("tests*").unwrap()),
            tag: Some("t".into()),
            producer: Some(target_glob("guard").unwrap()),
        };
        let fields = entries(r#"{"body":"new","ttl_turns":9,"role_hint":"developer"}"#);
        let mut overrides = SpecOverrides::default();
        overrides.push(SpecOverride::new(target, fields).unwrap());
        let given = r#"{"body":{"default":"old","claude-*":"c"},"dedupe_key":"tests:a","tags":["t"],"ttl_turns":1,"priority":"high","when":"condition:1"}"#;
        let spec = ReminderSpec::from_data(&Data::from_json(given).unwrap()).unwrap();
        let guard: Arc<str> = "guard".into();
        let new = overrides.apply(spec.clone(), Some(&guard));
        assert_eq!((&*new.body, new.ttl_turns, new.role_hint), ("new", Some(9), RoleHint::Developer));
        let rules = new.rules.as_ref().unwrap();
        assert!(rules.bodies.is_empty() && rules.priority == Priority::High && rules.when.is_some());
        for (changed, producer) in [
            (ReminderSpec { dedupe_key: None, ..spec.clone() }, Some(&guard)),
            (ReminderSpec { tags: Vec::new(), ..spec.clone() }, Some(&guard)),
            (spec.clone(), None),
        ] {
            assert_eq!(overrides.apply(changed.clone(), producer), changed);
        }
    }

    #[test]
    fn an_invalid_field_is_an_error() {
        for json in [r#"{"ttl_turn":1}"#, r#"{"ttl_turns":0}"#, r#"{"body":""}"#] {
            assert!(SpecOverride::new(OverrideTarget::default(), entries(json)).is_err(), "{json}");
        }
    }
}
