//! `session/request_permission`: the request to the client, and its response. Anything that is not consent counts as a
//! refusal, with a reason for the model.

use std::fmt;

use agent_client_protocol_schema::v1 as acp;
use jsonrpc::code::METHOD_NOT_FOUND;
use serde_json::{Value, json};

use super::connection::RequestFailure;
use super::error::REQUEST_CANCELLED;
use crate::host::{PermissionQuestion, Verdict};

/// The name of the method.
pub(crate) const METHOD: &str = "session/request_permission";

/// The maximum length of a client's text that is passed to the model, in characters.
const MOST_TOLD: usize = 200;

/// The options for the user: id on the wire, kind, name, and verdict.
static OPTIONS: [(&str, acp::PermissionOptionKind, &str, Verdict); 4] = [
    ("allow_once", acp::PermissionOptionKind::AllowOnce, "Allow", Verdict::AllowOnce),
    ("allow_always", acp::PermissionOptionKind::AllowAlways, "Always allow", Verdict::AllowAlways),
    ("reject_once", acp::PermissionOptionKind::RejectOnce, "Reject", Verdict::RejectOnce),
    ("reject_always", acp::PermissionOptionKind::RejectAlways, "Always reject", Verdict::RejectAlways),
];

/// Returns the parameters of a request; `shown` is the call as the client knows it, and `holds` for what an "always"
/// answer holds.
///
/// # Errors
/// None in practice: all values can be written as JSON.
pub(crate) fn params(
    question: &PermissionQuestion,
    mut shown: acp::ToolCallUpdate,
    holds: AlwaysHolds,
) -> serde_json::Result<Value> {
    let scope = &question.scope;
    let options = OPTIONS.iter().map(|(id, kind, name, verdict)| {
        let name = match verdict {
            Verdict::AllowAlways | Verdict::RejectAlways => format!("{name} {scope} {holds}"),
            _ => (*name).to_owned(),
        };
        acp::PermissionOption::new(*id, name, *kind)
    });
    // The call was shown without the current content of the file.
    for content in shown.fields.content.iter_mut().flatten() {
        if let acp::ToolCallContent::Diff(diff) = content
            && diff.old_text.is_none()
        {
            diff.old_text = question.old_text.as_ref().map(ToString::to_string);
        }
    }
    // Show the reason if it is the tool's own.
    if question.annotations.get("permission").as_str().is_some_and(|why| why == &*question.reason) {
        let mut content = vec![acp::ToolCallContent::from(question.reason.as_ref())];
        content.extend(shown.fields.content.take().unwrap_or_default());
        shown.fields.content = Some(content);
    }
    let session_id = question.session_id.to_string();
    let request = acp::RequestPermissionRequest::new(session_id, shown, options.collect());
    let mut params = serde_json::to_value(request)?;
    params["_meta"] = json!({"harn": {"reason": &*question.reason}});
    Ok(params)
}

/// The reach of an "always" answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlwaysHolds {
    /// It holds for the session.
    Session,
    /// It holds for the channel that answers.
    Channel,
}

/// Formats it for an option's label, at its end.
impl fmt::Display for AlwaysHolds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AlwaysHolds::Session => "in this session",
            AlwaysHolds::Channel => "in this session, while this channel is connected",
        })
    }
}

/// Converts the client's response to a verdict.
pub(crate) fn verdict(answer: Result<Value, RequestFailure>) -> Verdict {
    let (code, message) = match answer {
        Ok(answer) => {
            return chosen(&answer)
                .unwrap_or_else(|why| Verdict::Unusable(format!("invalid response of the client: {why}").into()));
        }
        Err(RequestFailure::Closed) => return Verdict::Cancelled,
        Err(RequestFailure::Error { code, message }) => (code, message),
    };
    if code == i64::from(REQUEST_CANCELLED) {
        return Verdict::Cancelled;
    }
    if code == i64::from(METHOD_NOT_FOUND) {
        return Verdict::Unusable("the client does not support permission requests".into());
    }
    Verdict::Unusable(format!("the permission request failed: {}", shortened(&message)).into())
}

fn chosen(answer: &Value) -> Result<Verdict, String> {
    let outcome = &answer["outcome"];
    match outcome["outcome"].as_str() {
        Some("cancelled") => Ok(Verdict::Cancelled),
        Some("selected") => {
            let id = outcome["optionId"].as_str().ok_or("`outcome.optionId` is missing")?;
            let option = OPTIONS.iter().find(|option| option.0 == id);
            option.map(|option| option.3.clone()).ok_or_else(|| format!("unknown option `{}`", shortened(id)))
        }
        Some(word) => Err(format!("unknown outcome `{}`", shortened(word))),
        None => Err("`outcome.outcome` is missing".to_owned()),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_TOLD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use base::data::Data;
    use runtime::message::ToolCall;

    use super::*;
    use crate::host::PermissionScope;

    fn question(annotations: &str, reason: &str) -> PermissionQuestion {
        PermissionQuestion {
            session_id: "s".into(),
            requested_by: "s".into(),
            call: ToolCall::new("c1", "write_file", Data::empty_dict()),
            annotations: Data::from_json(annotations).unwrap(),
            reason: reason.into(),
            scope: PermissionScope::Folder { tool: "write_file".into(), folder: "notes".into() },
            old_text: None,
        }
    }

    fn asked(question: &PermissionQuestion) -> Value {
        let fields = acp::ToolCallUpdateFields::new().title("write_file".to_owned()).content(vec!["a diff".into()]);
        params(question, acp::ToolCallUpdate::new("c1", fields), AlwaysHolds::Session).unwrap()
    }

    #[test]
    fn a_question_names_the_call_and_what_may_be_said() {
        let params = asked(&question(r#"{"permission": true}"#, "`write_file` needs permission"));
        assert_eq!(params["sessionId"], "s");
        assert_eq!(
            (&params["toolCall"]["toolCallId"], &params["toolCall"]["title"]),
            (&json!("c1"), &json!("write_file"))
        );
        assert_eq!(params["toolCall"]["content"].as_array().map(Vec::len), Some(1));
        let kinds: Vec<_> = params["options"].as_array().unwrap().iter().map(|option| option["kind"].clone()).collect();
        assert_eq!(kinds, ["allow_once", "allow_always", "reject_once", "reject_always"]);
        assert_eq!(params["options"][1]["name"], "Always allow `write_file` in the folder `notes` in this session");
        assert_eq!(params["_meta"]["harn"]["reason"], "`write_file` needs permission");
        // The protocol's own type can read it.
        serde_json::from_value::<acp::RequestPermissionRequest>(params).unwrap();
    }

    #[test]
    fn a_reason_of_the_author_is_shown_before_the_change() {
        let params = asked(&question(r#"{"permission": "it costs money"}"#, "it costs money"));
        assert_eq!(params["toolCall"]["content"][0]["content"]["text"], "it costs money");
        assert_eq!(params["toolCall"]["content"][1]["content"]["text"], "a diff");
    }

    #[test]
    fn every_option_comes_back_as_what_it_means() {
        for (id, _, _, meant) in &OPTIONS {
            assert_eq!(verdict(Ok(json!({"outcome": {"outcome": "selected", "optionId": id}}))), *meant);
        }
        assert_eq!(verdict(Ok(json!({"outcome": {"outcome": "cancelled"}}))), Verdict::Cancelled);
    }

    #[test]
    fn what_is_no_consent_is_none_and_says_why() {
        let long = "x".repeat(500);
        for (answer, why) in [
            (json!(null), "`outcome.outcome` is missing"),
            (json!([]), "`outcome.outcome` is missing"),
            (json!({"outcome": "selected"}), "`outcome.outcome` is missing"),
            (json!({"outcome": {"outcome": 1}}), "`outcome.outcome` is missing"),
            (json!({"outcome": {"outcome": "yes"}}), "unknown outcome `yes`"),
            (json!({"outcome": {"outcome": "selected"}}), "`outcome.optionId` is missing"),
            (json!({"outcome": {"outcome": "selected", "optionId": "allow"}}), "unknown option `allow`"),
            (json!({"outcome": {"outcome": "selected", "optionId": long}}), "…`"),
        ] {
            let Verdict::Unusable(said) = verdict(Ok(answer.clone())) else { panic!("{answer}") };
            assert!(said.contains(why) && said.len() < 400, "{answer}: {said}");
        }
        let error = |code| Err(RequestFailure::Error { code, message: "no dialog here".to_owned() });
        assert_eq!(verdict(error(-32800)), Verdict::Cancelled);
        assert_eq!(verdict(error(-32601)), Verdict::Unusable("the client does not support permission requests".into()));
        assert_eq!(verdict(error(-32000)), Verdict::Unusable("the permission request failed: no dialog here".into()));
    }
}
