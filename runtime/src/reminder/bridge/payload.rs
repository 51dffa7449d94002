//! Reading what a host sends. Keys are taken in snake_case and camelCase.

use std::borrow::Cow;
use std::sync::Arc;

use crate::data::{Data, Entries};
use crate::message::{Message, Role};
use crate::reminder::misnomer::unknown_key;
use crate::reminder::{ReminderCode, ReminderError, ReminderSpec};

use super::Mode;

/// The parameters of `session/remind`.
#[derive(Debug, Clone, PartialEq)]
pub struct RemindPayload {
    /// The reminder.
    pub spec: ReminderSpec,
    /// When it is delivered.
    pub mode: Mode,
    /// `_meta` as it came, else nil.
    pub meta: Data,
}

/// The parameters of `session/inject`.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePayload {
    /// The message, of role `user`.
    pub message: Arc<Message>,
    /// When it is delivered.
    pub mode: Mode,
    /// `_meta` as it came, else nil.
    pub meta: Data,
}

const OTHER_KEYS: &[&str] = &["mode", "_meta", "session_id"];

impl RemindPayload {
    /// Whether a key is one of the parameters, in either case.
    #[must_use]
    pub fn is_key(key: &str) -> bool {
        let snake = snake(key);
        ReminderSpec::KEYS.iter().chain(OTHER_KEYS).any(|known| *known == snake)
    }

    /// Reads the parameters. An unknown key is 001, a bad `propagate` 005, all else 002.
    pub fn from_data(params: &Data) -> Result<RemindPayload, ReminderError> {
        let Some(given) = params.as_dict() else {
            let message = format!("a bridge reminder is an object with a `body`, got {}", params.type_name());
            return Err(
                ReminderError::new(ReminderCode::Bridge, "", message).help("push {body: \"…\", mode: \"finish_step\"}")
            );
        };
        let known = || ReminderSpec::KEYS.iter().chain(OTHER_KEYS).copied();
        let mut entries = Entries::new();
        for (key, value) in given {
            let snake = snake(key);
            if !known().any(|name| name == snake) {
                let keys: Vec<&str> = known().collect();
                let error = unknown_key(ReminderCode::Shape, &snake, &keys);
                let message = format!("unknown reminder option `{key}`");
                return Err(ReminderError { field: key.to_string(), message, ..error });
            }
            let name: Arc<str> = snake.into();
            if entries.insert(name.clone(), value.clone()).is_some() {
                let message = format!("`{name}` is given twice, in snake_case and in camelCase");
                return Err(ReminderError::new(ReminderCode::Bridge, key.as_ref(), message).help("give it once"));
            }
        }
        let spec = ReminderSpec::from_known(&entries).map_err(as_bridge)?;
        let mode = mode(&entries)?;
        Ok(RemindPayload { spec, mode, meta: meta(entries.remove("_meta").unwrap_or_default())? })
    }
}

impl MessagePayload {
    /// Reads the parameters: `content` (or `text`), `mode?`, `_meta?`.
    pub fn from_data(params: &Data) -> Result<MessagePayload, ReminderError> {
        let content = if params.get("content").is_nil() { params.get("text") } else { params.get("content") };
        let message = Message::from_data(&Data::dict([("role", Data::from("user")), ("content", content.clone())]))
            .map_err(|error| ReminderError::new(ReminderCode::Bridge, "content", error.to_string()))?;
        if message.content.is_empty() {
            return Err(ReminderError::new(ReminderCode::Bridge, "content", "an injected message needs `content`"));
        }
        let mode = mode(params.as_dict().unwrap_or(&Entries::new()))?;
        debug_assert_eq!(message.role, Role::User);
        Ok(MessagePayload { message: Arc::new(message), mode, meta: meta(params.get("_meta").clone())? })
    }
}

fn mode(entries: &Entries) -> Result<Mode, ReminderError> {
    match entries.get("mode") {
        None | Some(Data::Nil) => Ok(Mode::FinishStep),
        Some(Data::Str(word)) => word.parse().map_err(|error: crate::words::UnknownWord| {
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

/// What only the host understands, in a dict.
fn meta(given: Data) -> Result<Data, ReminderError> {
    match given {
        Data::Nil | Data::Dict(_) => Ok(given),
        other => {
            let message = format!("`_meta` must be an object, got {}", other.type_name());
            Err(ReminderError::new(ReminderCode::Bridge, "_meta", message).help("write `_meta: {…}`, or leave it out"))
        }
    }
}

fn as_bridge(mut error: ReminderError) -> ReminderError {
    if error.code == ReminderCode::Shape {
        error.code = ReminderCode::Bridge;
    }
    error
}

/// `dedupeKey` as `dedupe_key`; what is in snake_case already stays as it is.
fn snake(key: &str) -> Cow<'_, str> {
    if !key.chars().any(|c| c.is_ascii_uppercase()) {
        return Cow::Borrowed(key);
    }
    let mut out = String::with_capacity(key.len() + 2);
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    Cow::Owned(out)
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
        assert_eq!((payload.mode, payload.spec.ttl_turns), (Mode::InterruptImmediate, Some(2)));
        assert_eq!(payload.meta.at("harn.origin").as_str(), Some("file-watcher"));
        let camel =
            snake.replace("dedupe_key", "dedupeKey").replace("ttl_turns", "ttlTurns").replace("role_hint", "roleHint");
        assert_eq!(read(&camel).unwrap(), payload);
        assert_eq!(read(r#"{"body":"b"}"#).unwrap().mode, Mode::FinishStep);
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
}
