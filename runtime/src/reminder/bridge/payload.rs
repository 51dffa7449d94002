//! Reading the parameters that a host sends. Keys are accepted in snake_case and camelCase.

use std::borrow::Cow;
use std::sync::Arc;

use base::data::Data;
use base::words::snake_case;

use crate::message::{Message, Role};
use crate::reminder::codec::{ReminderField, Surface, names_and};
use crate::reminder::misnomer::unknown_key;
use crate::reminder::spec::FieldValues;
use crate::reminder::{ReminderCode, ReminderError, ReminderSpec};

use super::DeliveryMode;

/// The parameters of `session/remind`.
#[derive(Debug, Clone, PartialEq)]
pub struct RemindPayload {
    /// The reminder.
    pub spec: ReminderSpec,
    /// Delivery mode.
    pub mode: DeliveryMode,
    /// `_meta` unchanged, else nil.
    pub meta: Data,
}

/// The parameters of `session/inject`.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePayload {
    /// The message, of role `user`.
    pub message: Arc<Message>,
    /// Delivery mode.
    pub mode: DeliveryMode,
    /// `_meta` unchanged, else nil.
    pub meta: Data,
}

impl RemindPayload {
    /// The keys, in snake_case.
    const KEYS: &'static [&'static str] = &names_and::<17>(&ReminderField::SPEC, &["mode", "_meta", "session_id"]);

    const KNOWN: AcceptedParameters = AcceptedParameters { names: Self::KEYS, name_of: Self::name_of };

    /// Returns whether a key is one of the parameters, in either case.
    #[must_use]
    pub fn is_key(key: &str) -> bool {
        Self::name_of(key).is_some()
    }

    /// Returns the name, in snake_case, of a parameter that a host wrote in either case.
    fn name_of(key: &str) -> Option<&'static str> {
        let field = ReminderField::named(key, Surface::Acp).filter(|field| ReminderField::SPEC.contains(field));
        field.map(|field| field.name(Surface::Script)).or_else(|| envelope_name(key))
    }

    /// Reads the parameters. Missing ones may come from `_meta.harn.reminder`. An unknown key is 001, an invalid
    /// `propagate` 005, all else 002.
    pub fn from_data(params: &Data) -> Result<RemindPayload, ReminderError> {
        Self::from_given(GivenParameters::of(
            params,
            &Self::KNOWN,
            "a bridge reminder must be an object with a `body`",
        )?)
    }

    /// Reads like [`Self::from_data`] from pairs, for a wire format whose reminders have further keys.
    pub fn from_pairs<'d>(
        pairs: impl IntoIterator<Item = (&'d str, Cow<'d, Data>)>,
    ) -> Result<RemindPayload, ReminderError> {
        Self::from_given(GivenParameters::read(pairs, &Self::KNOWN)?)
    }

    fn from_given(mut given: GivenParameters<'_>) -> Result<RemindPayload, ReminderError> {
        given.add_hints()?;
        let read = || -> Result<_, ReminderError> {
            Ok((ReminderSpec::from_known(&given).map_err(as_bridge)?, mode(&given)?))
        };
        let (spec, mode) = read().map_err(|error| given.as_written(error))?;
        Ok(RemindPayload { spec, mode, meta: given.meta()? })
    }
}

impl MessagePayload {
    const KNOWN: AcceptedParameters = AcceptedParameters {
        names: &["content", "text", "mode", "_meta", "session_id"],
        name_of: |key| match key {
            "content" => Some("content"),
            "text" => Some("text"),
            other => envelope_name(other),
        },
    };

    /// Returns whether a key is one of the parameters.
    #[must_use]
    pub fn is_key(key: &str) -> bool {
        (Self::KNOWN.name_of)(key).is_some()
    }

    /// Reads the parameters: `content` (or `text`), `mode?`, `_meta?`. An unknown key is 001, all else 002.
    pub fn from_data(params: &Data) -> Result<MessagePayload, ReminderError> {
        let given = GivenParameters::of(params, &Self::KNOWN, "an injected message must be an object with `content`")?;
        let (content, text) = (given.get("content"), given.get("text"));
        if !content.is_nil() && !text.is_nil() {
            let error = ReminderError::new(
                ReminderCode::Bridge,
                "text",
                "`text` and `content` cannot be used \
                together",
            );
            return Err(error.help("remove one of them"));
        }
        let (field, content) = if content.is_nil() && !text.is_nil() { ("text", text) } else { ("content", content) };
        let missing = || ReminderError::new(ReminderCode::Bridge, field, "an injected message needs `content`");
        if content.is_nil() {
            return Err(missing().help("write `content: \"…\"`, or a list of blocks"));
        }
        let message = Message::from_data(&Data::dict([("role", Data::from("user")), ("content", content.clone())]))
            .map_err(|error| ReminderError::new(ReminderCode::Bridge, field, error.to_string()))?;
        let says_nothing = message.content.is_empty() || content.as_str().is_some_and(|text| text.trim().is_empty());
        if says_nothing {
            return Err(ReminderError::new(
                ReminderCode::Bridge,
                field,
                "the `content` of an injected message is empty",
            ));
        }
        debug_assert_eq!(message.role, Role::User);
        Ok(MessagePayload { message: Arc::new(message), mode: mode(&given)?, meta: given.meta()? })
    }
}

/// Parameters that a method accepts.
struct AcceptedParameters {
    /// Names of the parameters in snake_case.
    names: &'static [&'static str],
    /// Returns the name of a key in either case.
    name_of: fn(&str) -> Option<&'static str>,
}

/// Returns the name of a parameter that controls the delivery.
fn envelope_name(key: &str) -> Option<&'static str> {
    match key {
        "mode" => Some("mode"),
        "_meta" => Some("_meta"),
        "session_id" | "sessionId" => Some("session_id"),
        _ => None,
    }
}

/// Parameters by their names in snake_case, with their original spelling.
struct GivenParameters<'d>(Vec<Parameter<'d>>);

struct Parameter<'d> {
    name: &'static str,
    written: Cow<'d, str>,
    value: Cow<'d, Data>,
}

impl FieldValues for GivenParameters<'_> {
    fn field(&self, field: ReminderField) -> Option<&Data> {
        self.find(field.name(Surface::Script))
    }
}

impl<'d> GivenParameters<'d> {
    fn of(params: &'d Data, known: &AcceptedParameters, shape: &str) -> Result<GivenParameters<'d>, ReminderError> {
        let Some(given) = params.as_dict() else {
            let message = format!("{shape}, got {}", params.type_name());
            return Err(ReminderError::new(ReminderCode::Bridge, "", message)
                .help("push `{body: \"…\", mode: \"finish_step\"}`"));
        };
        GivenParameters::read(given.iter().map(|(key, value)| (&**key, Cow::Borrowed(value))), known)
    }

    fn read(
        pairs: impl IntoIterator<Item = (&'d str, Cow<'d, Data>)>,
        known: &AcceptedParameters,
    ) -> Result<GivenParameters<'d>, ReminderError> {
        let mut given = GivenParameters(Vec::with_capacity(known.names.len()));
        for (key, value) in pairs {
            let Some(name) = (known.name_of)(key) else {
                let error = unknown_key(ReminderCode::Shape, &snake_case(key), known.names);
                let message = format!("unknown reminder option `{key}`");
                return Err(ReminderError { field: key.to_owned(), message, ..error });
            };
            if given.find(name).is_some() {
                let message = format!("`{name}` appears twice, in snake_case and in camelCase");
                return Err(ReminderError::new(ReminderCode::Bridge, key, message).help("use only one of them"));
            }
            given.0.push(Parameter { name, written: Cow::Borrowed(key), value });
        }
        Ok(given)
    }

    fn find(&self, name: &str) -> Option<&Data> {
        self.0.iter().find(|parameter| parameter.name == name).map(|parameter| &*parameter.value)
    }

    fn get(&self, name: &str) -> &Data {
        self.find(name).unwrap_or(&Data::Nil)
    }

    /// Adds the missing parameters from `_meta.harn.reminder`. Keys that no reminder has belong to the host.
    fn add_hints(&mut self) -> Result<(), ReminderError> {
        const PLACE: &str = "_meta.harn.reminder";
        if self.get("_meta").is_nil() {
            return Ok(());
        }
        let hints = self.get("_meta").at("harn.reminder").clone();
        let Some(hints) = hints.as_dict() else {
            if hints.is_nil() {
                return Ok(());
            }
            let message = format!("`{PLACE}` must be an object, got {}", hints.type_name());
            return Err(ReminderError::new(ReminderCode::Bridge, PLACE, message));
        };
        for (key, value) in hints {
            let name = RemindPayload::name_of(key).filter(|name| !matches!(*name, "_meta" | "session_id"));
            let Some(name) = name.filter(|name| !value.is_nil() && self.get(name).is_nil()) else { continue };
            self.0.retain(|known| known.name != name);
            let written = Cow::Owned(format!("{PLACE}.{key}"));
            self.0.push(Parameter { name, written, value: Cow::Owned(value.clone()) });
        }
        Ok(())
    }

    /// Returns the error in terms of the parameters as the host wrote them.
    fn as_written(&self, mut error: ReminderError) -> ReminderError {
        let (root, rest) = error.field.split_once('.').map_or((&*error.field, None), |(root, rest)| (root, Some(rest)));
        let Some(Parameter { name, written: path, .. }) = self.0.iter().find(|field| field.name == root) else {
            return error;
        };
        let leaf = path.rsplit('.').next().unwrap_or(path);
        if leaf != *name {
            error.message = error.message.replace(name, leaf);
            error.help = error.help.map(|help| help.replace(name, leaf));
        }
        error.field = rest.map_or_else(|| path.to_string(), |rest| format!("{path}.{rest}"));
        error
    }

    /// Returns the dict of metadata that only the host interprets.
    fn meta(&self) -> Result<Data, ReminderError> {
        match self.get("_meta") {
            given @ (Data::Nil | Data::Dict(_)) => Ok(given.clone()),
            other => {
                let message = format!("`_meta` must be an object, got {}", other.type_name());
                let error = ReminderError::new(ReminderCode::Bridge, "_meta", message);
                Err(error.help("write `_meta: {…}`, or omit it"))
            }
        }
    }
}

fn mode(given: &GivenParameters<'_>) -> Result<DeliveryMode, ReminderError> {
    match given.find("mode") {
        None | Some(Data::Nil) => Ok(DeliveryMode::FinishStep),
        Some(Data::Str(word)) => word.parse().map_err(|error: base::words::UnknownWord| {
            ReminderError::new(ReminderCode::Bridge, "mode", format!("unknown `mode` {:?}", error.got))
                .help(format!("use one of {}", error.expected))
                .suggest(error.suggestion)
        }),
        Some(other) => {
            let message = format!("`mode` must be a string, got {}", other.type_name());
            Err(ReminderError::new(ReminderCode::Bridge, "mode", message))
        }
    }
}

fn as_bridge(mut error: ReminderError) -> ReminderError {
    if error.code == ReminderCode::Shape {
        error.code = ReminderCode::Bridge;
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<RemindPayload, ReminderError> {
        RemindPayload::from_data(&Data::from_json(json).unwrap())
    }

    #[test]
    fn the_guides_payload_is_read_in_both_cases() {
        let snake = r#"{"body":"b","tags":["w"],"dedupe_key":"k","ttl_turns":2,"role_hint":"system","mode":"interrupt_immediate","_meta":{"harn":{"origin":"file-watcher"}}}"#;
        let payload = read(snake).unwrap();
        assert_eq!((payload.mode, payload.spec.ttl_turns), (DeliveryMode::InterruptImmediate, Some(2)));
        assert_eq!(payload.meta.at("harn.origin").as_str(), Some("file-watcher"));
        let camel =
            snake.replace("dedupe_key", "dedupeKey").replace("ttl_turns", "ttlTurns").replace("role_hint", "roleHint");
        assert_eq!(read(&camel).unwrap(), payload);
        assert_eq!(read(r#"{"body":"b"}"#).unwrap().mode, DeliveryMode::FinishStep);
    }

    #[test]
    fn all_that_a_reminder_says_is_a_parameter() {
        let of_scripts = ReminderSpec::KEYS.iter().filter(|key| !RemindPayload::is_key(key));
        let conditions = ReminderField::CONDITIONS.map(|field| field.name(Surface::Script));
        assert_eq!(of_scripts.copied().collect::<Vec<_>>(), conditions, "a host has no function to give");
        assert!(["dedupeKey", "dedupe_key", "ttlTurns", "_meta"].into_iter().all(RemindPayload::is_key));
        assert!(
            !["DedupeKey", "dedupe_Key", "dedupekey", "dedupeKe", "dedupeKeys", ""]
                .into_iter()
                .any(RemindPayload::is_key)
        );
    }

    #[test]
    fn each_fault_has_its_code() {
        for (json, code) in [
            (r#"{"body":"b","dedupKey":"k"}"#, ReminderCode::Shape),
            (r#"{"body":"b","propagate":"al"}"#, ReminderCode::Propagate),
            (r#"{"body":""}"#, ReminderCode::Bridge),
            (r#"{"body":"b","tags":["a\nb"]}"#, ReminderCode::Bridge),
            (r#"{"body":"b","dedupeKey":"a\u0000b"}"#, ReminderCode::Bridge),
            (r#"{"body":"b","mode":"now"}"#, ReminderCode::Bridge),
            (r#"{"body":"b","_meta":3}"#, ReminderCode::Bridge),
            (r#"{"body":"b","dedupe_key":"k","dedupeKey":"k"}"#, ReminderCode::Bridge),
            (r#"{"body":"b","ttlTurns":1,"ttl_turns":null}"#, ReminderCode::Bridge),
            (r"[]", ReminderCode::Bridge),
        ] {
            assert_eq!(read(json).unwrap_err().code, code, "{json}");
        }
        assert_eq!(read(r#"{"body":"b","dedupKey":"k"}"#).unwrap_err().suggestion.as_deref(), Some("dedupe_key"));
    }

    #[test]
    fn what_stands_under_meta_counts_where_nothing_else_is_said() {
        let json = r#"{"body":"b","ttlTurns":2,"mode":null,
            "_meta":{"harn":{"reminder":{"ttlTurns":9,"dedupe_key":"k","mode":"audit_only","colour":"red","body":"c"}}}}"#;
        let payload = read(json).unwrap();
        assert_eq!((payload.spec.body.as_ref(), payload.spec.ttl_turns), ("b", Some(2)));
        assert_eq!((payload.spec.dedupe_key.as_deref(), payload.mode), (Some("k"), DeliveryMode::AuditOnly));
        assert_eq!(payload.meta.at("harn.reminder.colour").as_str(), Some("red"), "what is the host's own stays");
        assert_eq!(read(r#"{"_meta":{"harn":{"reminder":{"body":"b"}}}}"#).unwrap().spec.body.as_ref(), "b");
    }

    #[test]
    fn an_error_names_the_field_as_it_was_written() {
        for (json, field, part) in [
            (r#"{"body":"b","ttlTurns":0}"#, "ttlTurns", "`ttlTurns` of a reminder must be a positive int"),
            (r#"{"body":"b","ttl_turns":0}"#, "ttl_turns", "`ttl_turns` of a reminder"),
            (r#"{"body":"b","tags":["a",7]}"#, "tags.1", "a tag of a reminder must be a string, got int"),
            (r#"{"_meta":{"harn":{"reminder":{"body":7}}}}"#, "_meta.harn.reminder.body", "must be a string"),
            (r#"{"body":"b","_meta":{"harn":{"reminder":7}}}"#, "_meta.harn.reminder", "must be an object, got int"),
            (
                r#"{"body":"b","_meta":{"harn":{"reminder":{"roleHint":7}}}}"#,
                "_meta.harn.reminder.roleHint",
                "`roleHint`",
            ),
            (r"{}", "body", "missing `body`"),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!(error.field, field, "{json}");
            assert!(error.message.contains(part), "{part:?} in {:?}", error.message);
        }
    }

    #[test]
    fn a_message_says_something_and_nothing_else() {
        let read = |json: &str| MessagePayload::from_data(&Data::from_json(json).unwrap());
        let mode = r#"{"text":"stop","mode":"interrupt_immediate","sessionId":"s"}"#;
        assert_eq!(read(mode).unwrap().mode, DeliveryMode::InterruptImmediate);
        for (json, field) in [
            (r"{}", "content"),
            (r"[]", ""),
            (r#"{"content":""}"#, "content"),
            (r#"{"text":" "}"#, "text"),
            (r#"{"content":[]}"#, "content"),
            (r#"{"content":7}"#, "content"),
            (r#"{"content":"a","text":"b"}"#, "text"),
            (r#"{"content":"a","mode":"now"}"#, "mode"),
            (r#"{"content":"a","_meta":7}"#, "_meta"),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!((error.code, &*error.field), (ReminderCode::Bridge, field), "{json}");
        }
        let unknown = read(r#"{"contnt":"a"}"#).unwrap_err();
        assert_eq!((unknown.code, unknown.suggestion.as_deref()), (ReminderCode::Shape, Some("content")));
    }
}
