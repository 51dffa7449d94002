//! `tasks/send` and `tasks/sendSubscribe`, the names and parameters of sending before version 0.3. The draft of the
//! reminder extension promises to serve them for one more minor version.

use a2a::Version;
use base::data::Data;
use uuid::Uuid;

/// The method that sends a message.
pub(super) const SEND: &str = "tasks/send";

/// The method that sends a message and follows its task.
pub(super) const SEND_SUBSCRIBE: &str = "tasks/sendSubscribe";

/// Returns whether a method is one of these.
pub(super) fn is_legacy(method: &str) -> bool {
    matches!(method, SEND | SEND_SUBSCRIBE)
}

/// Fields of the parameters that are members of the `configuration` in version 0.3.
const CONFIGURATION: [(&str, &str); 3] = [
    ("historyLength", "historyLength"),
    ("acceptedOutputModes", "acceptedOutputModes"),
    ("pushNotification", "pushNotificationConfig"),
];

/// Converts the parameters to those of a version: `id` names the task and `sessionId` the context, the caller may omit
/// the id of the message, and a part says by `type` what it is. Members in the form of the version stay.
pub(super) fn converted(params: &Data, version: Version) -> Data {
    let mut message = params.get("message").clone();
    if message.as_dict().is_none() {
        // Reading it names the problem.
        return params.clone();
    }
    let fill = |to: &mut Data, names: [&'static str; 2], value: &Data| {
        if !value.is_nil() && names.iter().all(|name| to.get(name).is_nil()) {
            to.set(names[0], value.clone());
        }
    };
    fill(&mut message, ["messageId", "message_id"], &format!("msg_{}", Uuid::new_v4().simple()).into());
    fill(&mut message, ["taskId", "task_id"], params.get("id"));
    fill(&mut message, ["contextId", "context_id"], params.get("sessionId"));
    let mut converted = params.clone();
    if version == Version::V0_3 {
        if let Some(parts) = message.get("parts").as_list() {
            let parts: Data = parts.iter().map(tagged).collect();
            message.set("parts", parts);
        }
        let mut configuration = params.get("configuration").clone();
        for (from, to) in CONFIGURATION {
            if !params.get(from).is_nil() && configuration.is_nil() {
                configuration = Data::empty_dict();
            }
            fill(&mut configuration, [to, to], params.get(from));
        }
        if !configuration.is_nil() {
            converted.set("configuration", configuration);
        }
    }
    converted.set("message", message);
    converted
}

/// Returns a part with its `kind`.
fn tagged(part: &Data) -> Data {
    match part.get("type") {
        kind @ Data::Str(_) if part.get("kind").is_nil() => part.clone().with("kind", kind.clone()),
        _ => part.clone(),
    }
}

#[cfg(test)]
mod tests {
    use a2a::Content;

    use super::*;

    fn json(text: &str) -> Data {
        Data::from_json(text).unwrap()
    }

    #[test]
    fn parameters_from_before_0_3_are_read() {
        let given = r#"{"id": "t1", "sessionId": "c1", "historyLength": 2, "metadata": {"harn": {"reminder": {"body": "b"}}},
            "message": {"role": "user", "parts": [{"type": "text", "text": "go"}, {"type": "data", "data": {"n": 1}}]}}"#;
        let read = Version::V0_3.read_send(&converted(&json(given), Version::V0_3)).unwrap();
        let message = &read.message;
        assert_eq!((message.task_id.as_deref(), message.context_id.as_deref()), (Some("t1"), Some("c1")));
        assert!(message.message_id.starts_with("msg_"));
        assert_eq!(message.text(), "go");
        assert_eq!(message.parts[1].content, Content::Data(json(r#"{"n": 1}"#)));
        assert_eq!(read.configuration.history_length, Some(2));
        assert_eq!(read.metadata.at("harn.reminder.body").as_str(), Some("b"));
    }

    #[test]
    fn what_is_written_as_in_a_later_version_stays() {
        for (version, given) in [
            (
                Version::V0_3,
                r#"{"id": "other", "message": {"messageId": "m", "taskId": "t", "role": "user", "parts": [{"kind": "text", "text": "a"}]}}"#,
            ),
            (
                Version::V1_0,
                r#"{"id": "other", "message": {"message_id": "m", "task_id": "t", "role": "ROLE_USER", "parts": [{"text": "a"}]}}"#,
            ),
        ] {
            let message = version.read_send(&converted(&json(given), version)).unwrap().message;
            assert_eq!((&*message.message_id, message.task_id.as_deref()), ("m", Some("t")));
            assert_eq!(message.text(), "a");
        }
    }

    #[test]
    fn parameters_without_a_message_are_refused_as_usual() {
        for given in ["null", "[]", "{}", r#"{"message": 7}"#, r#"{"message": {"role": "user", "parts": 7}}"#] {
            let given = json(given);
            assert!(Version::V0_3.read_send(&converted(&given, Version::V0_3)).is_err(), "{given:?}");
        }
    }
}
