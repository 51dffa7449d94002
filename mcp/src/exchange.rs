//! [`Exchange`]: the requests that are under way on one connection, and what the server sends by itself.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use jsonrpc::{Answer, Id, IdRule, Message, Request, Rules, code};
use providers::web::too_many_values;
use runtime::data::Data;
use tokio::sync::{Notify, oneshot};

use crate::error::{McpError, McpErrorKind};
use crate::observer::{Elicitation, Listener, Progress};

/// Both sides send requests.
const RULES: Rules = Rules { ids: IdRule::Numbers, max_id_len: 16 << 10, positional_params: false, answers: true };

/// The maximum number of questions to the user that wait; further ones are refused.
const MAX_QUESTIONS: usize = 16;

/// The result of a request.
pub(crate) type Answered = Result<Data, McpError>;

/// The outcome of reading a message of the server.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It was an answer to a request that waited.
    Answer,
    /// It was taken, and needs no answer.
    Quiet,
    /// It was a request; this is the response.
    Reply(String),
    /// It is not a message of the protocol.
    Invalid,
}

/// A question of the server that waits for an answer.
pub(crate) struct Question {
    pub(crate) id: Id,
    pub(crate) elicitation: Elicitation,
}

/// The latest report of progress of a request.
#[derive(Default)]
pub(crate) struct ProgressSlot {
    pub(crate) latest: RefCell<Option<Progress>>,
    pub(crate) arrived: Notify,
}

struct Pending {
    answer: oneshot::Sender<Answered>,
    progress: Rc<ProgressSlot>,
}

/// A request that was entered.
pub(crate) struct Entered {
    pub(crate) id: i64,
    pub(crate) answer: oneshot::Receiver<Answered>,
    pub(crate) progress: Rc<ProgressSlot>,
}

/// The requests under way on one connection.
pub(crate) struct Exchange {
    /// The name of the server.
    pub(crate) name: Arc<str>,
    listener: Rc<dyn Listener>,
    pending: RefCell<HashMap<i64, Pending>>,
    next_id: Cell<i64>,
    questions: RefCell<VecDeque<Question>>,
    pub(crate) asked: Notify,
}

impl Exchange {
    pub(crate) fn new(name: Arc<str>, listener: Rc<dyn Listener>) -> Exchange {
        Exchange {
            name,
            listener,
            pending: RefCell::default(),
            next_id: Cell::new(1),
            questions: RefCell::default(),
            asked: Notify::new(),
        }
    }

    /// Enters a new request.
    pub(crate) fn enter(&self) -> Entered {
        let id = self.next_id.replace(self.next_id.get() + 1);
        let (answer, answered) = oneshot::channel();
        let progress = Rc::<ProgressSlot>::default();
        self.pending.borrow_mut().insert(id, Pending { answer, progress: progress.clone() });
        Entered { id, answer: answered, progress }
    }

    /// Forgets a request. Returns whether it still waited.
    pub(crate) fn leave(&self, id: i64) -> bool {
        self.pending.borrow_mut().remove(&id).is_some()
    }

    /// Fails all requests that wait.
    pub(crate) fn fail_all(&self, error: &McpError) {
        let pending = std::mem::take(&mut *self.pending.borrow_mut());
        for (_, request) in pending {
            let _ = request.answer.send(Err(error.clone()));
        }
    }

    /// Returns the next question to the user.
    pub(crate) fn question(&self) -> Option<Question> {
        self.questions.borrow_mut().pop_front()
    }

    /// Takes a message of the server.
    pub(crate) fn take(&self, text: &[u8]) -> Taken {
        if too_many_values(text) {
            return Taken::Invalid;
        }
        match jsonrpc::read::<Data>(text, &RULES) {
            Ok(Message::Answer(answer)) => self.answer(answer),
            Ok(Message::Request(request)) => self.request(request),
            Err(_) => Taken::Invalid,
        }
    }

    fn answer(&self, answer: Answer<Data>) -> Taken {
        let id = answer.id.as_ref().and_then(|id| id.as_json().parse::<i64>().ok());
        let mut pending = self.pending.borrow_mut();
        // A server that could not read a request answers without its id.
        let id = id.or_else(|| (pending.len() == 1).then(|| pending.keys().copied().next()).flatten());
        let Some(request) = id.and_then(|id| pending.remove(&id)) else { return Taken::Quiet };
        drop(pending);
        let result = match (answer.result, answer.error) {
            (_, Some(error @ Data::Dict(_))) => Err(McpError::of_answer(&self.name, &error)),
            (Some(result @ Data::Dict(_)), _) => Ok(result),
            (Some(other), _) => Err(self.invalid(&format!("its result is a {}, not an object", other.type_name()))),
            _ => Err(self.invalid("the response has neither a result nor an error object")),
        };
        let _ = request.answer.send(result);
        Taken::Answer
    }

    /// Returns the error for a message that violates the protocol.
    pub(crate) fn invalid(&self, why: &str) -> McpError {
        McpError::new(McpErrorKind::Protocol, format!("MCP server `{}` sent an invalid response: {why}", self.name))
    }

    fn request(&self, request: Request<Data>) -> Taken {
        let params = request.params.unwrap_or_default();
        let Some(id) = request.id else {
            match request.method.as_str() {
                "notifications/progress" => self.progress(&params),
                method => self.listener.notified(method, &params),
            }
            return Taken::Quiet;
        };
        let refuse = |code: i64, why: &str| {
            let error = Data::dict([("code", Data::from(code)), ("message", why.into())]);
            Taken::Reply(jsonrpc::error(&id, &error))
        };
        match request.method.as_str() {
            "ping" => Taken::Reply(jsonrpc::result(&id, &Data::empty_dict())),
            "elicitation/create" => {
                let mut questions = self.questions.borrow_mut();
                if self.pending.borrow().is_empty() || questions.len() >= MAX_QUESTIONS {
                    let reply = Data::dict([("action", Data::from("cancel"))]);
                    return Taken::Reply(jsonrpc::result(&id, &reply));
                }
                questions.push_back(Question { elicitation: self.elicitation(&params), id });
                self.asked.notify_one();
                Taken::Quiet
            }
            _ => refuse(code::METHOD_NOT_FOUND.into(), "method not found"),
        }
    }

    /// Reads a question to the user.
    pub(crate) fn elicitation(&self, params: &Data) -> Elicitation {
        Elicitation {
            server: self.name.clone(),
            message: params.get("message").to_text(),
            schema: params.get("requestedSchema").clone(),
            url: params.get("url").as_shared_str(),
        }
    }

    fn progress(&self, params: &Data) {
        let pending = self.pending.borrow();
        let request = params.get("progressToken").as_int().and_then(|token| pending.get(&token));
        let (Some(request), Some(progress)) = (request, params.get("progress").as_float()) else { return };
        let total = params.get("total").as_float();
        let message = params.get("message").as_shared_str();
        *request.progress.latest.borrow_mut() = Some(Progress { progress, total, message });
        request.progress.arrived.notify_one();
    }
}

/// Returns the text of a request, or of a notification if it has no id.
pub(crate) fn request_text(id: Option<i64>, method: &str, params: Data) -> String {
    Data::dict_of_present([
        ("id", Data::from(id)),
        ("jsonrpc", "2.0".into()),
        ("method", method.into()),
        ("params", params),
    ])
    .to_json()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(RefCell<Vec<String>>);

    impl Listener for Heard {
        fn notified(&self, method: &str, _: &Data) {
            self.0.borrow_mut().push(method.to_owned());
        }
    }

    fn exchange() -> (Rc<Heard>, Exchange) {
        let heard = Rc::new(Heard::default());
        (heard.clone(), Exchange::new("files".into(), heard))
    }

    #[test]
    fn an_answer_reaches_its_request_and_an_unknown_one_is_ignored() {
        let (_, exchange) = exchange();
        let (mut one, mut two) = (exchange.enter(), exchange.enter());
        assert!(matches!(exchange.take(br#"{"jsonrpc":"2.0","id":2,"result":{"n":2}}"#), Taken::Answer));
        assert!(matches!(exchange.take(br#"{"jsonrpc":"2.0","id":2,"result":{"n":3}}"#), Taken::Quiet));
        assert!(
            matches!(exchange.take(br#"{"jsonrpc":"2.0","id":"x","result":{}}"#), Taken::Answer),
            "the only one left"
        );
        assert_eq!(two.answer.try_recv().unwrap().unwrap().get("n").as_int(), Some(2));
        assert!(one.answer.try_recv().unwrap().is_ok());
        let mut three = exchange.enter();
        exchange.take(br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#);
        let error = three.answer.try_recv().unwrap().unwrap_err();
        assert_eq!((error.kind, error.rpc_code), (McpErrorKind::Answer, Some(-32601)));
        for (result, why) in [("[1]", "not an object"), ("null", "not an object")] {
            let mut next = exchange.enter();
            exchange.take(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, next.id).as_bytes());
            let error = next.answer.try_recv().unwrap().unwrap_err();
            assert!(error.kind == McpErrorKind::Protocol && error.message.contains(why), "{}", error.message);
        }
    }

    #[test]
    fn requests_and_notifications_of_the_server() {
        let (heard, exchange) = exchange();
        let reply = |text: &str| match exchange.take(text.as_bytes()) {
            Taken::Reply(text) => text,
            other => format!("{other:?}"),
        };
        assert_eq!(reply(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#), r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
        assert!(reply(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#).contains("-32601"));
        let question = r#"{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"Name?"}}"#;
        assert!(reply(question).contains("cancel"), "no call waits that could ask");
        let call = exchange.enter();
        assert_eq!(reply(question), "Quiet");
        assert_eq!(&*exchange.question().unwrap().elicitation.message, "Name?");
        assert_eq!(reply(r#"{"jsonrpc":"2.0","method":"notifications/odd","params":{"x":1}}"#), "Quiet");
        assert_eq!(*heard.0.borrow(), ["notifications/odd"]);
        let progress = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":0.5,"message":"half"}}}}"#,
            call.id
        );
        assert_eq!(reply(&progress), "Quiet");
        assert_eq!(call.progress.latest.borrow().as_ref().and_then(|p| p.message.clone()).as_deref(), Some("half"));
        for text in ["", "starting …", "[]", r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "{\"jsonrpc\""] {
            assert_eq!(reply(text), "Invalid", "{text}");
        }
    }
}
