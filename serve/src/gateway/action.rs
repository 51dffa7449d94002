//! [`Action`]: what a channel wants to be done.

use std::sync::Arc;

use base::data::Data;
use base::words::{nearest, words};
use sha2::{Digest, Sha256};

use super::{ActionError, ChannelScope};

/// The maximum length of the id of an action, in bytes.
const MAX_ID: usize = 128;

words! {
    /// The kind of an action.
    pub enum ActionKind {
        /// Open a session.
        Open = "open",
        /// Load a stored session.
        Load = "load",
        /// Begin a turn of a session, or answer its question.
        Prompt = "prompt",
        /// Inject a reminder or a message into a session.
        Inject = "inject",
        /// Answer a permission question.
        Permit = "permit",
        /// Cancel the turn of a session.
        Cancel = "cancel",
        /// Change the mode of a session.
        Mode = "mode",
        /// Close a session.
        Close = "close",
        /// Send a notice to the other channels of a session.
        Message = "message",
        /// Acknowledge the events up to a cursor.
        Ack = "ack",
        /// Report that the channel is alive.
        Heartbeat = "heartbeat",
    }
}

impl ActionKind {
    /// Returns the right that a channel needs.
    #[must_use]
    pub fn scope(self) -> ChannelScope {
        match self {
            ActionKind::Open | ActionKind::Prompt | ActionKind::Cancel => ChannelScope::Prompt,
            ActionKind::Load | ActionKind::Ack | ActionKind::Heartbeat => ChannelScope::View,
            ActionKind::Inject | ActionKind::Message => ChannelScope::Inject,
            ActionKind::Permit => ChannelScope::Permit,
            ActionKind::Mode | ActionKind::Close => ChannelScope::Admin,
        }
    }

    /// Returns whether it is recorded and executed once. The others have the same effect each time.
    #[must_use]
    pub fn is_recorded(self) -> bool {
        !matches!(self, ActionKind::Ack | ActionKind::Heartbeat)
    }

    /// Returns whether it names a session.
    fn needs_session(self) -> bool {
        !matches!(self, ActionKind::Open | ActionKind::Heartbeat)
    }

    /// Returns the names of its parameters.
    fn params(self) -> &'static [&'static str] {
        match self {
            ActionKind::Open => &["cwd", "mode", "metadata"],
            ActionKind::Prompt => &["text", "metadata"],
            ActionKind::Inject => &["reminder", "message"],
            ActionKind::Permit => &["request", "verdict"],
            ActionKind::Cancel => &["reason"],
            ActionKind::Mode => &["mode"],
            ActionKind::Message => &["text", "data"],
            ActionKind::Ack => &["cursor"],
            ActionKind::Load | ActionKind::Close | ActionKind::Heartbeat => &[],
        }
    }
}

/// An action of a channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// The id that the channel has chosen; empty for kinds that are not recorded.
    pub action_id: Arc<str>,
    /// The session.
    pub session: Option<Arc<str>>,
    /// The kind.
    pub kind: ActionKind,
    /// The parameters of the kind, a dict.
    pub params: Data,
}

impl Action {
    /// Reads the body of a request of a channel.
    ///
    /// # Errors
    /// A field is missing or invalid, or the action is one of another channel.
    pub fn from_data(body: &Data, channel_id: &str) -> Result<Action, ActionError> {
        let fields = body.as_dict().ok_or_else(|| ActionError::invalid("", "the body must be a JSON object"))?;
        let known = ["channelId", "actionId", "sessionId", "kind", "params"];
        if let Some(unknown) = fields.keys().find(|key| !known.contains(&key.as_ref())) {
            return Err(ActionError::unknown_key(unknown, nearest(unknown, known)));
        }
        let text = |key: &'static str| match body.get(key) {
            Data::Nil => Ok(None),
            Data::Str(text) if !text.is_empty() => Ok(Some(text.clone())),
            _ => Err(ActionError::invalid(key, format!("`{key}` must be a text that is not empty"))),
        };
        if let Some(named) = text("channelId")?
            && *named != *channel_id
        {
            return Err(ActionError::OtherChannel);
        }
        let word = text("kind")?.ok_or_else(|| ActionError::invalid("kind", "`kind` is missing"))?;
        let kind: ActionKind = word.parse().map_err(|unknown: base::words::UnknownWord| {
            let near = unknown.suggestion.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let shown: String = word.chars().take(80).collect();
            ActionError::invalid("kind", format!("unknown kind `{shown}`{near}"))
        })?;
        let action_id = text("actionId")?.unwrap_or_default();
        if kind.is_recorded() && action_id.is_empty() {
            return Err(ActionError::invalid("actionId", "`actionId` is missing"));
        }
        if action_id.len() > MAX_ID || action_id.chars().any(char::is_control) {
            let message = format!("`actionId` must have at most {MAX_ID} bytes and no control characters");
            return Err(ActionError::invalid("actionId", message));
        }
        let session = text("sessionId")?;
        if kind.needs_session() && session.is_none() {
            return Err(ActionError::invalid("sessionId", format!("`{word}` needs a `sessionId`")));
        }
        let params = match body.get("params") {
            Data::Nil => Data::empty_dict(),
            params @ Data::Dict(_) => params.clone(),
            _ => return Err(ActionError::invalid("params", "`params` must be an object")),
        };
        let allowed = kind.params();
        if let Some(unknown) =
            params.as_dict().and_then(|given| given.keys().find(|key| !allowed.contains(&key.as_ref())))
        {
            return Err(ActionError::unknown_key(unknown, nearest(unknown, allowed.iter().copied())));
        }
        Ok(Action { action_id, session, kind, params })
    }

    /// Returns the digest of the content, by which a repeat is told from another action with the same id.
    #[must_use]
    pub fn digest(&self) -> Arc<str> {
        let session = self.session.as_deref().unwrap_or_default();
        let content = format!("{}\n{session}\n{}", self.kind, self.params.to_json());
        let digest = Sha256::digest(content.as_bytes());
        digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>().into()
    }

    /// Returns a text parameter.
    pub(crate) fn text(&self, key: &'static str) -> Result<Option<Arc<str>>, ActionError> {
        match self.params.get(key) {
            Data::Nil => Ok(None),
            Data::Str(text) => Ok(Some(text.clone())),
            other => Err(ActionError::invalid(key, format!("`{key}` must be a text, got {}", other.type_name()))),
        }
    }

    /// Returns a text parameter that must be present.
    pub(crate) fn needed(&self, key: &'static str) -> Result<Arc<str>, ActionError> {
        self.text(key)?.ok_or_else(|| ActionError::invalid(key, format!("`{key}` is missing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Action, String> {
        Action::from_data(&Data::from_json(body).unwrap(), "chan-1").map_err(|error| error.to_string())
    }

    #[test]
    fn an_action_is_read_and_each_wrong_field_is_named() {
        let action =
            read(r#"{"actionId": "a", "sessionId": "s", "kind": "prompt", "params": {"text": "go"}}"#).unwrap();
        assert_eq!((action.kind, action.needed("text").unwrap().as_ref()), (ActionKind::Prompt, "go"));
        assert!(read(r#"{"kind": "heartbeat"}"#).is_ok());
        for (body, why) in [
            ("[]", "the body must be a JSON object"),
            (r#"{"actionId": "a"}"#, "`kind` is missing"),
            (r#"{"actionId": "a", "kind": "promt"}"#, "unknown kind `promt`; did you mean `prompt`?"),
            (r#"{"kind": "open"}"#, "`actionId` is missing"),
            (r#"{"actionId": "", "kind": "open"}"#, "`actionId` must be a text that is not empty"),
            (r#"{"actionId": "a", "kind": "prompt"}"#, "`prompt` needs a `sessionId`"),
            (
                r#"{"actionId": "a", "kind": "open", "params": {"cwdd": "/"}}"#,
                "unknown key `cwdd`; did you mean `cwd`?",
            ),
            (r#"{"actionId": "a", "kind": "open", "params": 1}"#, "`params` must be an object"),
            (r#"{"actionid": "a", "kind": "open"}"#, "unknown key `actionid`; did you mean `actionId`?"),
            (r#"{"channelId": "chan-2", "kind": "heartbeat"}"#, "the action names another channel"),
        ] {
            assert_eq!(read(body).unwrap_err(), why, "{body}");
        }
    }

    #[test]
    fn a_digest_covers_kind_session_and_parameters() {
        let action =
            read(r#"{"actionId": "a", "sessionId": "s", "kind": "prompt", "params": {"text": "go"}}"#).unwrap();
        let digests: Vec<_> = [
            Action { session: Some("t".into()), ..action.clone() },
            Action { kind: ActionKind::Cancel, ..action.clone() },
            Action { params: Data::empty_dict(), ..action.clone() },
        ]
        .iter()
        .map(Action::digest)
        .collect();
        assert!(digests.iter().all(|digest| *digest != action.digest()));
        assert_eq!(Action { action_id: "b".into(), ..action.clone() }.digest(), action.digest());
    }
}
