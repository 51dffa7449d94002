//! Reading the rules of a reminder, strictly or leniently.

use std::sync::Arc;

use base::data::{Data, Entries};
use globset::Glob;

use crate::reminder::codec::{ReminderField as Field, Surface};
use crate::reminder::condition::is_condition_name;
use crate::reminder::expectation::Expectation;
use crate::reminder::limits::{MAX_MODEL, fault_of_name, max_body};
use crate::reminder::spec::{FieldValues, present, shape, word, wrong_type};
use crate::reminder::{ReminderCode, ReminderError};

use super::{ModelBodies, Priority, Refresh, ReminderRules};

/// The key of a `body` dict for the models that no glob matches.
pub(in crate::reminder) const DEFAULT: &str = "default";

impl ReminderRules {
    /// Reads the rules among the fields of a reminder.
    pub(in crate::reminder) fn read(fields: &impl FieldValues) -> Result<ReminderRules, ReminderError> {
        let word_of_priority = word(fields, Field::Priority, ReminderCode::Shape)?;
        Ok(ReminderRules {
            priority: word_of_priority.unwrap_or(Priority::Normal),
            cooldown_turns: count(fields, Field::CooldownTurns)?,
            every: count(fields, Field::Every)?,
            max_times: count(fields, Field::MaxTimes)?,
            escalate: escalate(fields)?,
            refresh: word(fields, Field::Refresh, ReminderCode::Shape)?.unwrap_or(Refresh::Always),
            bodies: bodies(fields)?,
            when: condition(fields, Field::When)?,
            until: condition(fields, Field::Until)?,
            expect: Expectation::read(fields)?,
        })
    }

    /// Reads the rules leniently: an invalid field has its default.
    pub(in crate::reminder) fn read_lenient(fields: &impl FieldValues) -> ReminderRules {
        ReminderRules {
            priority: word(fields, Field::Priority, ReminderCode::Shape).ok().flatten().unwrap_or(Priority::Normal),
            cooldown_turns: count(fields, Field::CooldownTurns).unwrap_or_default(),
            every: count(fields, Field::Every).unwrap_or_default(),
            max_times: count(fields, Field::MaxTimes).unwrap_or_default(),
            escalate: escalate(fields).unwrap_or_default(),
            refresh: word(fields, Field::Refresh, ReminderCode::Shape).ok().flatten().unwrap_or(Refresh::Always),
            bodies: bodies(fields).unwrap_or_default(),
            when: condition(fields, Field::When).unwrap_or_default(),
            until: condition(fields, Field::Until).unwrap_or_default(),
            expect: Expectation::read(fields).unwrap_or_default(),
        }
    }
}

/// The fields of a dict by their names on a surface.
pub(in crate::reminder) struct OnSurface<'a>(pub &'a Data, pub Surface);

impl FieldValues for OnSurface<'_> {
    fn field(&self, field: Field) -> Option<&Data> {
        Some(self.0.get(field.name(self.1)))
    }
}

/// Returns the reason why a text cannot be a body; `None` if it can.
fn fault_of_body(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("is empty".to_owned());
    }
    let most = max_body();
    (text.len() > most).then(|| format!("has {} bytes; at most {most} are allowed", text.len()))
}

/// Returns the list `escalate` without its first entry if that entry serves as the body because `body` is missing.
fn escalate(fields: &impl FieldValues) -> Result<Vec<Arc<str>>, ReminderError> {
    let Some(value) = present(fields, Field::Escalate) else { return Ok(Vec::new()) };
    const HELP: &str = "write `escalate: [\"second time\", \"third time\"]`";
    let Some(items) = value.as_list() else {
        return Err(wrong_type("escalate", "a list of strings", value).help(HELP));
    };
    if items.len() > ReminderRules::MOST_BODIES {
        let message = format!("`escalate` of a reminder has more than {} bodies", ReminderRules::MOST_BODIES);
        return Err(shape("escalate", message).help("the last body is used for all later firings; remove some"));
    }
    let text = |(index, item): (usize, &Data)| {
        let field = format!("escalate.{index}");
        let Some(text) = item.as_shared_str() else {
            let message = format!("a body in `escalate` must be a string, got {}", item.type_name());
            return Err(shape(&field, message).help(HELP));
        };
        match fault_of_body(&text) {
            Some(fault) => Err(shape(&field, format!("a body in `escalate` {fault}")).help("shorten or remove it")),
            None => Ok(text),
        }
    };
    let first = usize::from(present(fields, Field::Body).is_none());
    let all = items.iter().enumerate().map(text).collect::<Result<Vec<_>, _>>()?;
    Ok(all.into_iter().skip(first).collect())
}

/// Returns the first entry of `escalate`, which is the body if `body` is left out.
pub(in crate::reminder) fn first_escalation(fields: &impl FieldValues) -> Option<Arc<str>> {
    present(fields, Field::Escalate)?.as_list()?.first()?.as_shared_str()
}

/// Returns the bodies for models: `bodies`, or the entries of a `body` dict besides the default.
fn bodies(fields: &impl FieldValues) -> Result<ModelBodies, ReminderError> {
    let inside = present(fields, Field::Body).and_then(Data::as_dict);
    let (name, entries): (_, &Entries) = match (present(fields, Field::Bodies), inside) {
        (None, None) => return Ok(ModelBodies::default()),
        (None, Some(entries)) => ("body", entries),
        (Some(_), Some(_)) => {
            let message = "cannot use `bodies` with a `body` that is a dict";
            return Err(shape("bodies", message).help("move the entries of `bodies` into `body`"));
        }
        (Some(value), None) => match value.as_dict() {
            Some(entries) => ("bodies", entries),
            None => {
                let help = "write `bodies: {\"claude-*\": \"…\"}`";
                return Err(wrong_type("bodies", "a dict of texts by model", value).help(help));
            }
        },
    };
    let variants = entries.iter().filter(|(model, _)| name == "bodies" || model.as_ref() != DEFAULT);
    let read = variants.map(|(model, body)| variant(name, model, body)).collect::<Result<Vec<_>, _>>()?;
    if read.len() > ReminderRules::MOST_BODIES {
        let message = format!("a reminder has bodies for more than {} models", ReminderRules::MOST_BODIES);
        return Err(shape(name, message).help("use a glob such as \"claude-*\" for a family of models"));
    }
    Ok(ModelBodies::from(read))
}

fn variant(name: &str, model: &Arc<str>, body: &Data) -> Result<(Arc<str>, Arc<str>), ReminderError> {
    let field = format!("{name}.{model}");
    let fault = match Glob::new(model) {
        _ if model.trim().is_empty() => Some("is empty".to_owned()),
        Err(error) => Some(format!("is not a glob: {}", error.kind())),
        Ok(_) => fault_of_name(model, MAX_MODEL),
    };
    if let Some(fault) = fault {
        let message = format!("a model name in `{name}` {fault}");
        return Err(shape(&field, message).help("write the name of a model, or a glob such as \"claude-*\""));
    }
    let Some(text) = body.as_shared_str() else {
        let message = format!("the body for `{model}` must be a string, got {}", body.type_name());
        return Err(shape(&field, message).help("write `{default: \"…\", \"claude-*\": \"…\"}`"));
    };
    match fault_of_body(&text) {
        Some(fault) => Err(shape(&field, format!("the body for `{model}` {fault}")).help("shorten or remove it")),
        None => Ok((model.clone(), text)),
    }
}

/// Reads the name of a condition, in place of the function that a script has written.
fn condition(fields: &impl FieldValues, field: Field) -> Result<Option<Arc<str>>, ReminderError> {
    let (value, name) = (present(fields, field), field.name(Surface::Script));
    match value {
        None => Ok(None),
        Some(Data::Str(text)) if is_condition_name(text) => Ok(Some(text.clone())),
        Some(other) => {
            Err(wrong_type(name, "a function", other).help(format!("write `{name}: {{ s -> s.times < 3 }}`")))
        }
    }
}

fn count(fields: &impl FieldValues, field: Field) -> Result<Option<u32>, ReminderError> {
    let (value, name) = (present(fields, field), field.name(Surface::Script));
    let Some(value) = value else { return Ok(None) };
    let help = || format!("write `{name}: 3`, or omit it");
    match value {
        Data::Int(number) => match u32::try_from(*number) {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => {
                let message = format!("`{name}` of a reminder must be an int between 1 and {}, got {number}", u32::MAX);
                Err(shape(name, message).help(help()))
            }
        },
        other => Err(wrong_type(name, "a positive int or nil", other).help(help())),
    }
}
