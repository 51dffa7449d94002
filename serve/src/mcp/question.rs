//! [`PendingQuestion`]: a question of the script (`task.ask`), and how the protocol spells it and its answer.

use std::sync::Arc;

use base::data::Data;
use tokio::sync::oneshot;

/// The method that asks the user of a client.
pub(super) const METHOD: &str = "elicitation/create";
/// The field of the form that the user fills in.
const FIELD: &str = "answer";

/// The client cannot ask its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CannotAsk;

/// A question of a running call. Dropping it means that the client cannot be asked, which ends the call.
pub(super) struct PendingQuestion {
    pub(super) text: Arc<str>,
    answer: oneshot::Sender<Option<String>>,
}

impl PendingQuestion {
    /// Creates a question, and the receiver of its answer: `None` if the user does not answer.
    pub(super) fn new(text: Arc<str>) -> (PendingQuestion, oneshot::Receiver<Option<String>>) {
        let (answer, answered) = oneshot::channel();
        (PendingQuestion { text, answer }, answered)
    }

    /// Passes the answer to the call.
    pub(super) fn answer(self, answer: Option<String>) {
        let _ = self.answer.send(answer);
    }

    /// Waits until the call no longer needs the answer.
    pub(super) async fn withdrawn(&mut self) {
        self.answer.closed().await;
    }

    /// Returns the question as an entry of `inputRequests`, in the form without sessions.
    pub(super) fn to_input_request(&self) -> Data {
        Data::dict([("method", Data::from(METHOD)), ("params", params(&self.text))])
    }
}

/// Returns the parameters of a question: a form with one field.
pub(super) fn params(text: &str) -> Data {
    let field = Data::dict([("type", Data::from("string")), ("title", "Answer".into())]);
    let schema = [
        ("type", Data::from("object")),
        ("properties", Data::dict([(FIELD, field)])),
        ("required", Data::list([FIELD.into()])),
    ];
    Data::dict([("mode", Data::from("form")), ("message", text.into()), ("requestedSchema", Data::dict(schema))])
}

/// Returns the answer in the result of a question: `None` if the user declined it, closed it, or sent no text.
pub(super) fn answer_of(reply: &Data) -> Option<String> {
    match (reply.get("action").as_str(), reply.get("content").get(FIELD)) {
        (Some("accept"), Data::Nil) => {
            tracing::warn!("the MCP client accepted a question without the field `{FIELD}`");
            None
        }
        (Some("accept"), text) => Some(text.to_text().to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_accepted_text_is_an_answer() {
        for (reply, wanted) in [
            (r#"{"action": "accept", "content": {"answer": "yes"}}"#, Some("yes")),
            (r#"{"action": "accept", "content": {"answer": 7}}"#, Some("7")),
            (r#"{"action": "accept", "content": {}}"#, None),
            (r#"{"action": "decline", "content": {"answer": "yes"}}"#, None),
            (r#"{"action": "cancel"}"#, None),
            ("[]", None),
        ] {
            assert_eq!(answer_of(&Data::from_json(reply).unwrap()).as_deref(), wanted, "{reply}");
        }
    }
}
