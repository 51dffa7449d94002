//! The settings that the user of the client has made for this server.

use serde_json::Value;

/// The settings of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preferences {
    /// The hints that are shown in texts.
    pub(crate) hints: HintPreferences,
    /// Whether completion offers snippets.
    pub(crate) snippets: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { hints: HintPreferences::default(), snippets: true }
    }
}

/// The hints that are shown in texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HintPreferences {
    /// The inferred types of variables.
    pub(crate) types: bool,
    /// The names of parameters before literal arguments.
    pub(crate) parameters: bool,
    /// The lifetimes of reminders.
    pub(crate) reminders: bool,
}

impl Default for HintPreferences {
    fn default() -> Self {
        Self { types: true, parameters: true, reminders: true }
    }
}

impl Preferences {
    /// Reads the options of `initialize` or the settings of a change: `{hints, snippets}`, also below `harn`. Settings that are not
    /// sent keep their values. `None` if they cannot be understood.
    pub(crate) fn changed(self, sent: &Value) -> Option<Self> {
        let sent = sent.get("harn").unwrap_or(sent);
        let mut new = self;
        let flag = |of: &Value, key: &str, old: bool| match of.get(key) {
            None | Some(Value::Null) => Some(old),
            Some(value) => value.as_bool(),
        };
        new.snippets = flag(sent, "snippets", new.snippets)?;
        if let Some(hints) = sent.get("hints").filter(|hints| !hints.is_null()) {
            new.hints.types = flag(hints, "types", new.hints.types)?;
            new.hints.parameters = flag(hints, "parameters", new.hints.parameters)?;
            new.hints.reminders = flag(hints, "reminders", new.hints.reminders)?;
        }
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_sent_keeps_its_value() {
        let all = Preferences::default();
        let less = all.changed(&json!({"harn": {"hints": {"types": false}}})).unwrap();
        assert!(!less.hints.types && less.hints.reminders && less.snippets);
        assert_eq!(less.changed(&json!({"hints": {"types": true}})), Some(all));
        assert_eq!(all.changed(&Value::Null), Some(all));
        assert_eq!(all.changed(&json!({"hints": {"types": "no"}})), None);
    }
}
