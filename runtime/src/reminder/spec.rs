//! [`ReminderSpec`]: a producer's input, read strictly. Nothing is guessed: an unknown key, a wrong type or an unknown
//! word is an error that names its field.

use std::str::FromStr;
use std::sync::Arc;

use base::data::{Data, Entries};
use base::words::UnknownWord;

use crate::reminder::FramedBody;

use super::codec::{ReminderField as Field, Surface, names_and};
use super::limits::{MAX_KEY, MAX_TAG, MAX_TAGS, fault_of_name, max_body};
use super::misnomer::unknown_key;
use super::rules;
use super::{Propagate, Reminder, ReminderCode, ReminderError, ReminderRules, ReminderSource, RoleHint};

/// A reminder as a producer requests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderSpec {
    /// The text.
    pub body: Arc<str>,
    /// Tags.
    pub tags: Vec<Arc<str>>,
    /// Key by which a newer reminder replaces an older one.
    pub dedupe_key: Option<Arc<str>>,
    /// Number of prompts in which it appears.
    pub ttl_turns: Option<u32>,
    /// Whether compaction keeps it.
    pub preserve_on_compact: bool,
    /// Propagation of the reminder.
    pub propagate: Propagate,
    /// The requested slot.
    pub role_hint: RoleHint,
    /// The rules by which prompts show it; `None` if every prompt shows its body.
    pub rules: Option<Arc<ReminderRules>>,
}

impl ReminderSpec {
    /// The keys that a strict producer may write.
    pub const KEYS: &'static [&'static str] = &names_and::<17>(&Field::SPEC, &names_and::<3>(&Field::CONDITIONS, &[]));

    /// Creates a spec with only a body.
    pub fn new(body: impl Into<Arc<str>>) -> ReminderSpec {
        ReminderSpec {
            body: body.into(),
            tags: Vec::new(),
            dedupe_key: None,
            ttl_turns: None,
            preserve_on_compact: false,
            propagate: Propagate::Session,
            role_hint: RoleHint::System,
            rules: None,
        }
    }

    /// Reads a spec strictly.
    pub fn from_data(data: &Data) -> Result<ReminderSpec, ReminderError> {
        let Some(entries) = data.as_dict() else {
            let message = format!("a reminder must be a dict with a `body`, got {}", data.type_name());
            return Err(ReminderError::new(ReminderCode::Shape, "", message).help("write `{body: \"…\"}`"));
        };
        match SpecEntries::of(entries) {
            Ok(entries) => Self::from_known(&entries),
            Err(unknown) => Err(unknown_key(ReminderCode::Shape, unknown, Self::KEYS)),
        }
    }

    /// Reads the fields of a spec and leaves all others to the caller.
    pub(super) fn from_known(entries: &impl FieldValues) -> Result<ReminderSpec, ReminderError> {
        Ok(ReminderSpec {
            body: body(entries)?,
            tags: tags(entries)?,
            dedupe_key: dedupe_key(entries)?,
            ttl_turns: ttl_turns(entries)?,
            preserve_on_compact: flag(entries, Field::PreserveOnCompact)?,
            propagate: word(entries, Field::Propagate, ReminderCode::Propagate)?.unwrap_or(Propagate::Session),
            role_hint: word(entries, Field::RoleHint, ReminderCode::Shape)?.unwrap_or(RoleHint::System),
            rules: rules(entries)?,
        })
    }

    /// Builds the reminder from this spec.
    #[must_use]
    pub fn into_reminder(self, id: Arc<str>, source: ReminderSource, fired_at_turn: u32) -> Reminder {
        Reminder {
            id,
            body: self.body,
            tags: self.tags,
            dedupe_key: self.dedupe_key,
            ttl_turns: self.ttl_turns,
            preserve_on_compact: self.preserve_on_compact,
            propagate: self.propagate,
            role_hint: self.role_hint,
            source,
            fired_at_turn,
            originating_agent_id: None,
            producer: None,
            rules: self.rules,
            framed: FramedBody::default(),
        }
    }
}

impl Reminder {
    /// Returns whether [`ReminderSpec::into_reminder`] has made it from an equal spec.
    pub(crate) fn is_of_spec(&self, spec: &ReminderSpec) -> bool {
        let ReminderSpec { body, tags, dedupe_key, ttl_turns, preserve_on_compact, propagate, role_hint, rules } = spec;
        self.body == *body
            && self.tags == *tags
            && self.dedupe_key == *dedupe_key
            && self.ttl_turns == *ttl_turns
            && self.preserve_on_compact == *preserve_on_compact
            && self.propagate == *propagate
            && self.role_hint == *role_hint
            && self.rules == *rules
    }
}

/// Values by the fields of a reminder.
pub(super) trait FieldValues {
    /// Returns the value given for a field; it may be nil.
    fn field(&self, field: Field) -> Option<&Data>;
}

impl FieldValues for Entries {
    fn field(&self, field: Field) -> Option<&Data> {
        self.get(field.name(Surface::Script))
    }
}

/// The entries of a spec by field. They are sorted in one pass, because reading asks for every field, and most specs
/// have few.
struct SpecEntries<'a>([Option<&'a Data>; Field::ALL.len()]);

impl<'a> SpecEntries<'a> {
    /// Sorts the entries. Fails with the first key that a strict producer cannot write.
    fn of(entries: &'a Entries) -> Result<SpecEntries<'a>, &'a Arc<str>> {
        let mut by_field = [None; Field::ALL.len()];
        for (key, value) in entries {
            match Field::of_script(key).filter(|field| field.is_written()) {
                Some(field) => by_field[field as usize] = Some(value),
                None => return Err(key),
            }
        }
        Ok(SpecEntries(by_field))
    }
}

impl FieldValues for SpecEntries<'_> {
    fn field(&self, field: Field) -> Option<&Data> {
        self.0[field as usize]
    }
}

pub(super) fn present(entries: &impl FieldValues, field: Field) -> Option<&Data> {
    entries.field(field).filter(|value| !value.is_nil())
}

pub(super) fn shape(field: &str, message: impl Into<String>) -> ReminderError {
    ReminderError::new(ReminderCode::Shape, field, message)
}

pub(super) fn wrong_type(field: &str, expected: &str, got: &Data) -> ReminderError {
    shape(field, format!("`{field}` of a reminder must be {expected}, got {}", got.type_name()))
}

fn body(entries: &impl FieldValues) -> Result<Arc<str>, ReminderError> {
    let escalated = || rules::first_escalation(entries).map(Data::Str);
    let given = match present(entries, Field::Body) {
        Some(given @ Data::Dict(_)) => {
            let text = given.get(rules::DEFAULT);
            if text.is_nil() {
                let message = "a `body` by model has no `default`";
                return Err(shape("body", message).help("write `body: {default: \"…\", \"claude-*\": \"…\"}`"));
            }
            Some(text.clone())
        }
        Some(given) => Some(given.clone()),
        None => escalated(),
    };
    match given {
        None => {
            Err(shape("body", "missing `body` of a reminder").help("write `{body: \"what the model should know\"}`"))
        }
        Some(Data::Str(text)) if text.trim().is_empty() => Err(shape("body", "the `body` of a reminder is empty")
            .help("write what the model should know, or do not inject a reminder")),
        Some(Data::Str(text)) if text.len() > max_body() => {
            let message =
                format!("the `body` of a reminder has {} bytes; at most {} are allowed", text.len(), max_body());
            Err(shape("body", message).help(
                "shorten it, or put the text into a file and write its path; `[reminders] max_body` in harn.toml \
                raises the limit",
            ))
        }
        Some(Data::Str(text)) => Ok(text),
        Some(other) => {
            Err(wrong_type("body", "a string", &other).help("write `{body: \"what the model should know\"}`"))
        }
    }
}

fn rules(entries: &impl FieldValues) -> Result<Option<Arc<ReminderRules>>, ReminderError> {
    let is_plain = |field: &Field| present(entries, *field).is_none();
    let has_variants = present(entries, Field::Body).is_some_and(|body| body.as_dict().is_some());
    if !has_variants && Field::RULES.iter().all(is_plain) {
        return Ok(None);
    }
    ReminderRules::read(entries).map(ReminderRules::shared)
}

fn tags(entries: &impl FieldValues) -> Result<Vec<Arc<str>>, ReminderError> {
    let Some(value) = present(entries, Field::Tags) else { return Ok(Vec::new()) };
    let Some(items) = value.as_list() else {
        return Err(wrong_type("tags", "a list of strings", value).help("write `tags: [\"…\"]`"));
    };
    let mut tags: Vec<Arc<str>> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let field = || format!("tags.{index}");
        let Some(text) = item.as_str() else {
            let message = format!("a tag of a reminder must be a string, got {}", item.type_name());
            return Err(shape(&field(), message).help("write `tags: [\"…\"]`"));
        };
        match text.trim() {
            "" => return Err(shape(&field(), "a tag of a reminder is empty").help("give the tag a name, or omit it")),
            tag if tags.iter().any(|known| known.as_ref() == tag) => {}
            _ if tags.len() == MAX_TAGS => {
                return Err(shape("tags", format!("a reminder has more than {MAX_TAGS} tags")).help(
                    "use tags for groups, \
                        not for single items",
                ));
            }
            tag => match fault_of_name(tag, MAX_TAG) {
                Some(fault) => {
                    return Err(shape(&field(), format!("a tag of a reminder {fault}")).help("use a short word"));
                }
                None => tags.push(tag.into()),
            },
        }
    }
    Ok(tags)
}

fn dedupe_key(entries: &impl FieldValues) -> Result<Option<Arc<str>>, ReminderError> {
    match present(entries, Field::DedupeKey) {
        None => Ok(None),
        Some(Data::Str(text)) => match text.trim() {
            "" => Ok(None),
            key => match fault_of_name(key, MAX_KEY) {
                Some(fault) => {
                    let message = format!("the `dedupe_key` of a reminder {fault}");
                    Err(shape("dedupe_key", message).help("use a short name for the subject"))
                }
                None if key.len() == text.len() => Ok(Some(text.clone())),
                None => Ok(Some(key.into())),
            },
        },
        Some(other) => Err(wrong_type("dedupe_key", "a string or nil", other).help("write `dedupe_key: \"…\"`")),
    }
}

fn ttl_turns(entries: &impl FieldValues) -> Result<Option<u32>, ReminderError> {
    let Some(value) = present(entries, Field::TtlTurns) else { return Ok(None) };
    let Data::Int(turns) = value else {
        let help = "write `ttl_turns: 3`, or omit it for a reminder that stays until it is cleared";
        return Err(wrong_type("ttl_turns", "a positive int or nil", value).help(help));
    };
    let message = match u32::try_from(*turns) {
        Ok(turns) if turns > 0 => return Ok(Some(turns)),
        Err(_) if *turns > 0 => format!("`ttl_turns` of a reminder must be at most {}, got {turns}", u32::MAX),
        _ => format!("`ttl_turns` of a reminder must be a positive int or nil, got {turns}"),
    };
    Err(shape("ttl_turns", message).help("omit it for a reminder that stays until it is cleared"))
}

fn flag(entries: &impl FieldValues, field: Field) -> Result<bool, ReminderError> {
    let (value, field) = (present(entries, field), field.name(Surface::Script));
    match value {
        None => Ok(false),
        Some(Data::Bool(value)) => Ok(*value),
        Some(other) => Err(wrong_type(field, "a bool", other).help(format!("write `{field}: true`, or omit it"))),
    }
}

pub(super) fn word<T: FromStr<Err = UnknownWord>>(
    entries: &impl FieldValues,
    field: Field,
    code: ReminderCode,
) -> Result<Option<T>, ReminderError> {
    let (value, field) = (present(entries, field), field.name(Surface::Script));
    match value {
        None => Ok(None),
        Some(Data::Str(text)) => text.parse().map(Some).map_err(|error: UnknownWord| {
            let message = format!("unknown `{field}` value {:?}", error.got);
            ReminderError::new(code, field, message).suggest(error.suggestion).help(match error.suggestion {
                Some(near) => format!("did you mean {near:?}? The values are {}", error.expected),
                None => format!("use one of {}", error.expected),
            })
        }),
        Some(other) => {
            let message = format!("`{field}` of a reminder must be a string, got {}", other.type_name());
            let known = "".parse::<T>().err().map(|error| format!("use one of {}", error.expected));
            Err(ReminderError::new(code, field, message).help(known.unwrap_or_default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reminder::{Priority, Refresh};

    fn read(json: &str) -> Result<ReminderSpec, ReminderError> {
        ReminderSpec::from_data(&Data::from_json(json).unwrap())
    }

    #[test]
    fn the_body_is_kept_and_the_rest_is_trimmed() {
        let spec = read(r#"{"body":"  two\n ","tags":[" a ","b","a"],"dedupe_key":" k ","ttl_turns":null}"#).unwrap();
        assert_eq!(spec.body.as_ref(), "  two\n ");
        assert_eq!(spec.tags, ["a".into(), "b".into()]);
        assert_eq!(spec.dedupe_key.as_deref(), Some("k"));
        assert_eq!(read(r#"{"body":"x","dedupe_key":"  "}"#).unwrap().dedupe_key, None);
        assert_eq!(read(r#"{"body":"x"}"#).unwrap(), ReminderSpec::new("x"));
    }

    #[test]
    fn rules_are_read_and_the_usual_ones_left_out() {
        let spec = read(
            r#"{"body":{"default":"d","claude-*":"c"},"priority":"low","every":2,"escalate":["e"],"refresh":"on_change"}"#,
        );
        let spec = spec.unwrap();
        let rules = spec.rules.as_ref().unwrap();
        assert_eq!((spec.body.as_ref(), rules.bodies.get("claude-*").map(AsRef::as_ref)), ("d", Some("c")));
        assert_eq!((rules.priority, rules.every, rules.refresh), (Priority::Low, Some(2), Refresh::OnChange));
        assert_eq!(rules.escalate, ["e".into()]);
        assert_eq!(read(r#"{"body":"x","priority":"normal","refresh":"always","escalate":[]}"#).unwrap().rules, None);
        let climbing = read(r#"{"escalate":["a","b"]}"#).unwrap();
        assert_eq!((climbing.body.as_ref(), climbing.rules.unwrap().escalate.as_slice()), ("a", &["b".into()][..]));
        for (json, field) in [
            (r#"{"body":{"claude-*":"c"}}"#, "body"),
            (r#"{"body":{"default":"d","claude-*":1}}"#, "body.claude-*"),
            (r#"{"body":{"default":"d","[":"c"}}"#, "body.["),
            (r#"{"body":{"default":"d"},"bodies":{"a":"b"}}"#, "bodies"),
            (r#"{"body":"x","priority":"urgent"}"#, "priority"),
            (r#"{"body":"x","every":0}"#, "every"),
            (r#"{"body":"x","max_times":-1}"#, "max_times"),
            (r#"{"body":"x","cooldown_turns":"3"}"#, "cooldown_turns"),
            (r#"{"body":"x","escalate":"y"}"#, "escalate"),
            (r#"{"body":"x","escalate":["y"," "]}"#, "escalate.1"),
            (r#"{"body":"x","refresh":"never"}"#, "refresh"),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!((error.code, error.field.as_str()), (ReminderCode::Shape, field), "{json}");
            assert!(error.help.is_some(), "{json}");
        }
    }

    #[test]
    fn every_fault_names_its_field() {
        for (json, code, field, part) in [
            (
                r#"{"body":"x","propogate":"all"}"#,
                ReminderCode::Shape,
                "propogate",
                "unknown reminder option `propogate`",
            ),
            (r#"{"body":"x","propagate":"sesion"}"#, ReminderCode::Propagate, "propagate", "\"sesion\""),
            (r#"{"body":"x","propagate":1}"#, ReminderCode::Propagate, "propagate", "got int"),
            (r#"{"body":"x","role_hint":"sytem"}"#, ReminderCode::Shape, "role_hint", "\"sytem\""),
            (r#"{"body":"x","ttl_turns":0}"#, ReminderCode::Shape, "ttl_turns", "got 0"),
            (r#"{"body":"x","ttl_turns":-1}"#, ReminderCode::Shape, "ttl_turns", "got -1"),
            (r#"{"body":"x","ttl_turns":1.5}"#, ReminderCode::Shape, "ttl_turns", "got float"),
            (r#"{"body":"x","ttl_turns":5000000000}"#, ReminderCode::Shape, "ttl_turns", "got 5000000000"),
            (r#"{"body":"x","tags":"a"}"#, ReminderCode::Shape, "tags", "got string"),
            (r#"{"body":"x","tags":["a",1]}"#, ReminderCode::Shape, "tags.1", "got int"),
            (r#"{"body":"x","tags":[" "]}"#, ReminderCode::Shape, "tags.0", "empty"),
            (r#"{"body":"x","preserve_on_compact":"yes"}"#, ReminderCode::Shape, "preserve_on_compact", "got string"),
            (r#"{"body":"x","dedupe_key":7}"#, ReminderCode::Shape, "dedupe_key", "got int"),
            (r#"{"body":"x","tags":["a","b\u0000c"]}"#, ReminderCode::Shape, "tags.1", "control character"),
            (r#"{"body":"x","dedupe_key":"a\nb"}"#, ReminderCode::Shape, "dedupe_key", "line break"),
            (r#"{"body":"x","dedupe_key":"a\u001b[2Jb"}"#, ReminderCode::Shape, "dedupe_key", "control character"),
            (r#"{"body":" \n"}"#, ReminderCode::Shape, "body", "empty"),
            (r#"{"body":7}"#, ReminderCode::Shape, "body", "got int"),
            (r#"{"tags":[]}"#, ReminderCode::Shape, "body", "missing `body`"),
            (r"[1]", ReminderCode::Shape, "", "got list"),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!((error.code, error.field.as_str()), (code, field), "{json}");
            assert!(error.message.contains(part), "{json}: {error}");
        }
        assert_eq!(read(r#"{"body":"x","propogate":"all"}"#).unwrap_err().suggestion.as_deref(), Some("propagate"));
        assert_eq!(read(r#"{"body":"x","propagate":"sesion"}"#).unwrap_err().suggestion.as_deref(), Some("session"));
    }

    #[test]
    fn every_fault_has_a_help_with_the_mended_line() {
        for (json, part) in [
            (r#"{"body":3}"#, "write `{body:"),
            (r#"{"body":"x","ttl_turns":1.5}"#, "write `ttl_turns: 3`"),
            (r#"{"body":"x","ttl_turns":"3"}"#, "write `ttl_turns: 3`"),
            (r#"{"body":"x","ttl_turns":99999999999999}"#, "omit it"),
            (r#"{"body":"x","tags":["a",1]}"#, "write `tags: ["),
            (r#"{"body":"x","tags":[" "]}"#, "give the tag a name"),
            (r#"{"body":"x","tags":["a\u0000"]}"#, "a short word"),
            (r#"{"body":"x","dedupe_key":3}"#, "write `dedupe_key:"),
            (r#"{"body":"x","preserve_on_compact":"yes"}"#, "write `preserve_on_compact: true`"),
            (r#"{"body":"x","propagate":1}"#, "use one of \"all\", \"session\", \"none\""),
            (r#"{"body":"x","role_hint":1}"#, "use one of "),
            (r#"{"body":"x","source":"hook"}"#, "`source` is set by the runtime; remove it"),
            (r#"{"body":"x","id":"r1"}"#, "`id` is set by the runtime"),
            (r#"{"body":"x","fired_at_turn":1}"#, "`fired_at_turn` is set by the runtime"),
            (r#"{"body":"x","originating_agent_id":"a"}"#, "`originating_agent_id` is set by the runtime"),
            (r#"{"body":"x","mode":"audit_only"}"#, "only a host"),
            (r#"{"body":"x","ttl":1}"#, "did you mean `ttl_turns`?"),
            (r#"{"body":"x","key":"k"}"#, "did you mean `dedupe_key`?"),
            (r#"{"text":"x"}"#, "did you mean `body`?"),
            (r#"{"message":"x"}"#, "did you mean `body`?"),
            (r#"{"content":"x"}"#, "did you mean `body`?"),
            (r#"{"body":"x","colour":"red"}"#, "remove it: the fields of a reminder are `body`, `tags`, "),
        ] {
            let help = read(json).unwrap_err().help.unwrap_or_default();
            assert!(help.contains(part), "{json}: {help}");
        }
        let error = read(r#"{"body":"x","ttl_turns":99999999999999}"#).unwrap_err();
        assert_eq!(error.message, "`ttl_turns` of a reminder must be at most 4294967295, got 99999999999999");
    }

    #[test]
    fn tags_and_keys_have_a_largest_size_and_number() {
        let with =
            |key: &str, value: Data| ReminderSpec::from_data(&Data::dict([("body", Data::from("b"))]).with(key, value));
        let tags = |count: usize| (0..count).map(|n| Data::from(format!("t{n}"))).collect::<Data>();
        assert_eq!(with("tags", tags(MAX_TAGS)).unwrap().tags.len(), MAX_TAGS);
        assert!(with("tags", tags(MAX_TAGS + 1)).unwrap_err().message.contains("more than 64 tags"));
        let tag = |len: usize| with("tags", Data::list([Data::from("x".repeat(len))]));
        assert!(tag(MAX_TAG).is_ok());
        assert_eq!(tag(MAX_TAG + 1).unwrap_err().field, "tags.0");
        let key = |len: usize| with("dedupe_key", "x".repeat(len).into());
        assert!(key(MAX_KEY).is_ok());
        assert!(key(MAX_KEY + 1).unwrap_err().message.contains("513 bytes; at most 512 are allowed"));
    }

    #[test]
    fn a_body_has_a_largest_size() {
        let spec = |len: usize| ReminderSpec::from_data(&Data::dict([("body", Data::from("x".repeat(len)))]));
        assert!(spec(Reminder::MAX_BODY).is_ok());
        assert!(spec(Reminder::MAX_BODY + 1).unwrap_err().message.contains("65537 bytes"));
    }
}
