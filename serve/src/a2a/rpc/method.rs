//! [`A2aMethod`]: the methods, with their names in both versions in one table.

use base::words::nearest;

use super::legacy;
use crate::a2a::A2aCode;

use crate::a2a::error::{RpcError, code, shortened};

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum A2aMethod {
    /// Sends a message and waits.
    Send,
    /// Sends a message and follows its task.
    Stream,
    /// Gets a task.
    Get,
    /// Lists tasks.
    List,
    /// Cancels a task.
    Cancel,
    /// Subscribes to a task.
    Subscribe,
    /// Configures push notifications, which are not supported.
    Push,
    /// Gets the extended card for authenticated callers, which is not supported.
    ExtendedCard,
    /// Injects a reminder, or queries or removes reminders.
    Reminders(&'static str),
}

use A2aMethod::{Cancel, ExtendedCard, Get, List, Push, Reminders, Send, Stream, Subscribe};

/// The methods of the extension for reminders.
const INJECT: &str = "tasks/inject_reminder";
const PENDING: &str = "tasks/pending_injections";
const REVOKE: &str = "tasks/revoke_reminder";
const CLEAR: &str = "tasks/clear_reminders";

/// A name and its method.
type MethodName = (&'static str, A2aMethod);

/// All method names.
const TABLE: &[MethodName] = &[
    ("SendMessage", Send),
    ("message/send", Send),
    (legacy::SEND, Send),
    ("SendStreamingMessage", Stream),
    ("message/stream", Stream),
    (legacy::SEND_SUBSCRIBE, Stream),
    ("GetTask", Get),
    ("tasks/get", Get),
    ("ListTasks", List),
    ("tasks/list", List),
    ("CancelTask", Cancel),
    ("tasks/cancel", Cancel),
    ("SubscribeToTask", Subscribe),
    ("tasks/resubscribe", Subscribe),
    ("CreateTaskPushNotificationConfig", Push),
    ("SetTaskPushNotificationConfig", Push),
    ("GetTaskPushNotificationConfig", Push),
    ("ListTaskPushNotificationConfigs", Push),
    ("ListTaskPushNotificationConfig", Push),
    ("DeleteTaskPushNotificationConfig", Push),
    ("tasks/pushNotificationConfig/set", Push),
    ("tasks/pushNotificationConfig/get", Push),
    ("tasks/pushNotificationConfig/list", Push),
    ("tasks/pushNotificationConfig/delete", Push),
    ("GetExtendedAgentCard", ExtendedCard),
    ("agent/getAuthenticatedExtendedCard", ExtendedCard),
    (INJECT, Reminders(INJECT)),
    (PENDING, Reminders(PENDING)),
    (REVOKE, Reminders(REVOKE)),
    (CLEAR, Reminders(CLEAR)),
];

impl A2aMethod {
    /// Returns the method with a name. Some clients put a `_` before the names of extension methods.
    ///
    /// # Errors
    /// The method is unknown.
    pub(crate) fn of(name: &str) -> Result<A2aMethod, RpcError> {
        let found = |name: &str| TABLE.iter().find(|(known, _)| *known == name);
        let plain = name.strip_prefix('_').and_then(found).filter(|(_, method)| matches!(method, Reminders(_)));
        if let Some((_, method)) = found(name).or(plain) {
            return Ok(*method);
        }
        let fault =
            RpcError::new(code::METHOD, A2aCode::UnknownMethod, format!("unknown method `{}`", shortened(name)));
        Err(fault.suggestion(nearest(name, TABLE.iter().map(|(known, _)| *known))))
    }

    /// Returns its name in version 1.0, or in the extension for reminders.
    pub(crate) fn name(self) -> &'static str {
        TABLE.iter().find(|(_, method)| *method == self).map_or("unknown", |(name, _)| name)
    }

    /// Returns whether the response is a stream.
    pub(crate) fn is_stream(self) -> bool {
        matches!(self, Stream | Subscribe)
    }
}

#[cfg(test)]
mod tests {
    use a2a::Version;

    use super::*;

    #[test]
    fn no_name_is_there_twice() {
        for (i, (name, _)) in TABLE.iter().enumerate() {
            assert!(TABLE[..i].iter().all(|(other, _)| other != name), "{name}");
        }
    }

    #[test]
    fn names_of_both_versions_ask_for_the_same() {
        for (names, method) in [
            (&["SendMessage", "message/send", "tasks/send"][..], Send),
            (&["SendStreamingMessage", "message/stream", "tasks/sendSubscribe"], Stream),
            (&["SubscribeToTask", "tasks/resubscribe"], Subscribe),
            (&["tasks/inject_reminder", "_tasks/inject_reminder"], Reminders(INJECT)),
        ] {
            for name in names {
                assert_eq!(A2aMethod::of(name).unwrap(), method, "{name}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_nearest() {
        for (name, nearest) in [
            ("message/sent", Some("message/send")),
            ("sendmessage", Some("SendMessage")),
            ("tasks/inject_reminders", Some(INJECT)),
            ("_SendMessage", Some("SendMessage")),
            ("tasks/sent", Some("tasks/send")),
            ("frobnicate", None),
        ] {
            let data = A2aMethod::of(name).unwrap_err().to_data(Version::V0_3);
            assert_eq!(data.get("code"), &(-32601_i64).into());
            assert_eq!(data.at("data.suggestion").as_str(), nearest, "{name}");
        }
        let long = A2aMethod::of(&"m".repeat(100_000)).unwrap_err().to_data(Version::V0_3);
        assert!(long.get("message").as_str().is_some_and(|message| message.len() < 200));
    }
}
