//! [`RemindNotification`]: a reminder from a host to a session.

use std::sync::Arc;

use base::data::Data;
use base::words::nearest;
use runtime::reminder::bridge::RemindPayload;
use runtime::reminder::{ReminderCode, ReminderError, ReminderField, ReminderSource, Surface};

use super::BridgeError;
use super::error::name_on;

/// The parameters of `session/remind`.
#[derive(Debug, Clone, PartialEq)]
pub struct RemindNotification {
    /// The session: `None` means the only open one.
    pub session_id: Option<Arc<str>>,
    /// The reminder, its delivery mode and `_meta`.
    pub payload: RemindPayload,
}

impl RemindNotification {
    /// The name of the method in the guide.
    pub const METHOD: &'static str = "session/remind";
    /// All names of the method; some clients put a `_` before each.
    pub const METHODS: &'static [&'static str] = &[Self::METHOD, "session/inject_reminder"];

    /// Reads a message.
    ///
    /// # Errors
    /// The text is invalid JSON, not a JSON-RPC message, or names another method, or its parameters are not a
    /// reminder.
    pub fn from_json(text: &str) -> Result<RemindNotification, BridgeError> {
        let message = Data::from_json(text)?;
        if message.as_dict().is_none() {
            let message = format!("is missing: a message must be an object, got {}", message.type_name());
            return Err(BridgeError::Envelope { field: "jsonrpc", message });
        }
        if message.get("jsonrpc").as_str() != Some("2.0") {
            let message = format!("must be \"2.0\", got {}", message.get("jsonrpc").to_json());
            return Err(BridgeError::Envelope { field: "jsonrpc", message });
        }
        let Some(method) = message.get("method").as_str() else {
            let message = format!("must be a string, got {}", message.get("method").type_name());
            return Err(BridgeError::Envelope { field: "method", message });
        };
        if !Self::METHODS.contains(&method.strip_prefix('_').unwrap_or(method)) {
            let suggestion = nearest(method, Self::METHODS.iter().copied());
            return Err(BridgeError::Method { got: method.to_owned(), suggestion });
        }
        Ok(RemindNotification::from_params(message.get("params"))?)
    }

    /// Reads the parameters alone. Keys are accepted in snake_case and camelCase.
    ///
    /// # Errors
    /// An unknown key is 001, an invalid `propagate` 005, anything else 002.
    pub fn from_params(params: &Data) -> Result<RemindNotification, ReminderError> {
        let payload = RemindPayload::from_data(params)?;
        let given = ["session_id", "sessionId"].into_iter().map(|key| (key, params.get(key)));
        let session_id = match given.into_iter().find(|(_, value)| !value.is_nil()) {
            None => None,
            Some((_, Data::Str(id))) => Some(id.clone()),
            Some((key, other)) => {
                let message = format!("`{key}` must be a string, got {}", other.type_name());
                return Err(ReminderError::new(ReminderCode::Bridge, key, message));
            }
        };
        Ok(RemindNotification { session_id, payload })
    }

    /// Returns the parameters in the format of a surface. Defaults are written too, so that readers need not know
    /// them.
    #[must_use]
    pub fn to_params(&self, surface: Surface) -> Data {
        let RemindPayload { spec, mode, meta } = &self.payload;
        let reminder = spec.clone().into_reminder(Arc::default(), ReminderSource::Bridge, 0);
        let fields = ReminderField::SPEC.map(|field| (field.key(surface).clone(), reminder.value(field)));
        let around = [
            (name_on(surface, "session_id").into(), Data::from(self.session_id.as_ref())),
            ("mode".into(), mode.as_str().into()),
            ("_meta".into(), meta.clone()),
        ];
        Data::dict_of_present(fields.into_iter().chain(around))
    }

    /// Returns the message in the format of a surface.
    #[must_use]
    pub fn to_data(&self, surface: Surface) -> Data {
        Data::dict([
            ("jsonrpc", Data::from("2.0")),
            ("method", Self::METHOD.into()),
            ("params", self.to_params(surface)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use runtime::reminder::bridge::DeliveryMode;

    use super::*;

    const FULL: &str = r#"{"jsonrpc": "2.0", "method": "session/remind", "params": {"sessionId": "s1", "body": "b",
        "tags": ["x", "y"], "dedupeKey": "k", "ttlTurns": 2, "preserveOnCompact": true, "propagate": "all",
        "roleHint": "developer", "mode": "audit_only", "_meta": {"a": [1, null]}}}"#;

    #[test]
    fn what_is_written_is_read_again_in_every_spelling() {
        let full = RemindNotification::from_json(FULL).unwrap();
        assert_eq!((full.session_id.as_deref(), full.payload.mode), (Some("s1"), DeliveryMode::AuditOnly));
        let bare = RemindNotification::from_params(&Data::dict([("body", Data::from("b"))])).unwrap();
        for notification in [full, bare] {
            for surface in Surface::ALL {
                let text = notification.to_data(surface).to_json();
                assert_eq!(RemindNotification::from_json(&text), Ok(notification.clone()), "{surface:?}: {text}");
            }
        }
        assert_eq!(
            RemindNotification::from_json(FULL).unwrap().to_data(Surface::Acp),
            Data::from_json(FULL).unwrap(),
            "in its own spelling nothing changes"
        );
    }

    #[test]
    fn every_name_of_the_method_is_read() {
        for method in ["session/remind", "session/inject_reminder", "_session/remind", "_session/inject_reminder"] {
            let text = FULL.replace("session/remind", method);
            assert!(RemindNotification::from_json(&text).is_ok(), "{method}");
        }
    }

    #[test]
    fn each_fault_has_its_code_and_place() {
        let with = |params: &str| format!(r#"{{"jsonrpc":"2.0","method":"session/remind","params":{params}}}"#);
        for (text, code, part) in [
            ("{".to_owned(), -32700, "not valid JSON"),
            ("[]".to_owned(), -32600, "got list"),
            (FULL.replace("2.0", "1.0"), -32600, "got \"1.0\""),
            (FULL.replace("\"session/remind\"", "7"), -32600, "`method`"),
            (FULL.replace("session/remind", "session/remnd"), -32601, "did you mean \"session/remind\"?"),
            (FULL.replace("session/remind", "session/prompt"), -32601, "unknown method \"session/prompt\""),
            (with("null"), -32602, "HARN-RMD-002"),
            (with(r#"{"body":" "}"#), -32602, "HARN-RMD-002"),
            (with(r#"{"body":"b","sessionId":7}"#), -32602, "`sessionId` must be a string, got int"),
            (with(r#"{"body":"b","mode":"now"}"#), -32602, "HARN-RMD-002"),
            (with(r#"{"body":"b","propagate":"al"}"#), -32602, "HARN-RMD-005"),
        ] {
            let error = RemindNotification::from_json(&text).unwrap_err();
            assert_eq!(error.code(), code, "{text}");
            assert!(error.to_string().contains(part), "{part:?} in {error}");
        }
        let error = RemindNotification::from_json(&with(r#"{"body":"b","dedupKey":"k"}"#)).unwrap_err().to_data();
        assert_eq!(error.at("data.code").as_str(), Some("HARN-RMD-001"));
        assert_eq!(error.at("data.field").as_str(), Some("dedupKey"));
        assert_eq!(error.at("data.suggestion").as_str(), Some("dedupe_key"));
        assert_eq!(error.get("code").as_int(), Some(-32602));
    }
}
