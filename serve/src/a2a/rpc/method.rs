//! [`Method`]: the names of three generations in one table.

use crate::a2a::A2aCode;
use runtime::words::nearest;
use stdlib::a2a::Version;

use crate::a2a::error::{Fault, code, shortened};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Sends a message and waits.
    Send,
    /// Sends a message and follows what becomes of it.
    Stream,
    /// Asks for a task.
    Get,
    /// Asks for tasks.
    List,
    /// Cancels a task.
    Cancel,
    /// Follows a task.
    Subscribe,
    /// Wants to be called back, which is not offered.
    Push,
    /// Asks for a card that only known callers get, which is not offered.
    ExtendedCard,
    /// Puts a reminder into a task, or asks for what waits there.
    Reminders(&'static str),
}

use Method::{Cancel, ExtendedCard, Get, List, Push, Reminders, Send, Stream, Subscribe};

/// The methods of the extension for reminders.
const INJECT: &str = "tasks/inject_reminder";
const PENDING: &str = "tasks/pending_injections";
const REVOKE: &str = "tasks/revoke_reminder";
const CLEAR: &str = "tasks/clear_reminders";

/// A name, what it asks for, and the version that a caller speaks who does not say.
type Row = (&'static str, Method, Version);

/// All names.
const TABLE: &[Row] = &[
    ("SendMessage", Send, Version::V0_3),
    ("message/send", Send, Version::V0_3),
    ("tasks/send", Send, Version::V0_1),
    ("SendStreamingMessage", Stream, Version::V0_3),
    ("message/stream", Stream, Version::V0_3),
    ("tasks/sendSubscribe", Stream, Version::V0_1),
    ("GetTask", Get, Version::V0_3),
    ("tasks/get", Get, Version::V0_3),
    ("ListTasks", List, Version::V0_3),
    ("tasks/list", List, Version::V0_3),
    ("CancelTask", Cancel, Version::V0_3),
    ("tasks/cancel", Cancel, Version::V0_3),
    ("SubscribeToTask", Subscribe, Version::V0_3),
    ("tasks/resubscribe", Subscribe, Version::V0_3),
    ("CreateTaskPushNotificationConfig", Push, Version::V0_3),
    ("SetTaskPushNotificationConfig", Push, Version::V0_3),
    ("GetTaskPushNotificationConfig", Push, Version::V0_3),
    ("ListTaskPushNotificationConfigs", Push, Version::V0_3),
    ("ListTaskPushNotificationConfig", Push, Version::V0_3),
    ("DeleteTaskPushNotificationConfig", Push, Version::V0_3),
    ("tasks/pushNotificationConfig/set", Push, Version::V0_3),
    ("tasks/pushNotificationConfig/get", Push, Version::V0_3),
    ("tasks/pushNotificationConfig/list", Push, Version::V0_3),
    ("tasks/pushNotificationConfig/delete", Push, Version::V0_3),
    ("tasks/pushNotification/set", Push, Version::V0_1),
    ("tasks/pushNotification/get", Push, Version::V0_1),
    ("GetExtendedAgentCard", ExtendedCard, Version::V0_3),
    ("agent/getAuthenticatedExtendedCard", ExtendedCard, Version::V0_3),
    (INJECT, Reminders(INJECT), Version::V0_3),
    (PENDING, Reminders(PENDING), Version::V0_3),
    (REVOKE, Reminders(REVOKE), Version::V0_3),
    (CLEAR, Reminders(CLEAR), Version::V0_3),
];

impl Method {
    /// The method of a name, and the version of a caller who does not say which it speaks. Some clients put a `_` before what
    /// they do not know.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn of(name: &str) -> Result<(Method, Version), Fault> {
        let found = |name: &str| TABLE.iter().find(|(known, ..)| *known == name);
        let plain = name.strip_prefix('_').and_then(found).filter(|(_, method, _)| matches!(method, Reminders(_)));
        if let Some((_, method, version)) = found(name).or(plain) {
            return Ok((*method, *version));
        }
        let fault =
            Fault::new(code::METHOD, A2aCode::UnknownMethod, format!("there is no method `{}`", shortened(name)));
        Err(fault.suggestion(nearest(name, TABLE.iter().map(|(known, ..)| *known))))
    }

    /// Whether it is answered by a stream.
    pub(super) fn is_stream(self) -> bool {
        matches!(self, Stream | Subscribe)
    }

    /// Whether it is about a task that is there: then it is answered as the task's caller speaks.
    pub(super) fn names_a_task(self) -> bool {
        matches!(self, Get | Cancel | Subscribe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_there_twice() {
        for (i, (name, ..)) in TABLE.iter().enumerate() {
            assert!(TABLE[..i].iter().all(|(other, ..)| other != name), "{name}");
        }
    }

    #[test]
    fn names_of_all_generations_ask_for_the_same() {
        for (names, method) in [
            (["SendMessage", "message/send", "tasks/send"], Send),
            (["SendStreamingMessage", "message/stream", "tasks/sendSubscribe"], Stream),
            (["SubscribeToTask", "tasks/resubscribe", "tasks/resubscribe"], Subscribe),
            (["tasks/inject_reminder", "_tasks/inject_reminder", INJECT], Reminders(INJECT)),
        ] {
            for name in names {
                assert_eq!(Method::of(name).unwrap().0, method, "{name}");
            }
        }
        assert_eq!(Method::of("tasks/sendSubscribe").unwrap().1, Version::V0_1);
        assert_eq!(Method::of("ListTasks").unwrap().1, Version::V0_3);
    }

    #[test]
    fn an_unknown_name_is_told_the_nearest() {
        for (name, nearest) in [
            ("message/sent", Some("message/send")),
            ("sendmessage", Some("SendMessage")),
            ("tasks/inject_reminders", Some(INJECT)),
            ("_SendMessage", Some("SendMessage")),
            ("frobnicate", None),
        ] {
            let data = Method::of(name).unwrap_err().to_data(Version::V0_3);
            assert_eq!(data.get("code"), &(-32601_i64).into());
            assert_eq!(data.at("data.suggestion").as_str(), nearest, "{name}");
        }
        let long = Method::of(&"m".repeat(100_000)).unwrap_err().to_data(Version::V0_3);
        assert!(long.get("message").as_str().is_some_and(|message| message.len() < 200));
    }
}
