//! [`Exchange`]: the requests that are under way on one connection, and what the server sends by itself.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use base::data::Data;
use jsonrpc::{Answer, EnvelopeError, Id, IdRule, IdScanner, Message, Problem, Request, Rules, code};
use providers::web::too_many_values;
use tokio::sync::{Notify, oneshot};

use crate::error::{McpError, McpErrorKind, excerpt};
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
    /// It is not a message of the protocol, and no request is known to wait for it. The reason, as a phrase.
    Invalid(String),
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
    /// The beginning of the last text that is not a message.
    strange: RefCell<Option<String>>,
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
            strange: RefCell::default(),
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
        let read = if too_many_values(text) { Err(oversized(text)) } else { jsonrpc::read::<Data>(text, &RULES) };
        match read {
            Ok(Message::Answer(answer)) => self.answer(answer),
            Ok(Message::Request(request)) => self.request(request),
            Err(error) => self.unreadable(text, &error),
        }
    }

    /// Fails the request that waits for a text which cannot be read, or refuses the request in it. Servers also print what is not a
    /// message at all: log lines, a greeting.
    fn unreadable(&self, text: &[u8], error: &EnvelopeError) -> Taken {
        let reason = error.problem.to_string();
        if !error.is_answer && error.id != Id::null() {
            let code = if error.problem.is_syntax() { code::PARSE_ERROR } else { code::INVALID_REQUEST };
            let refusal = Data::dict([("code", Data::from(i64::from(code))), ("message", reason.into())]);
            return Taken::Reply(jsonrpc::error(&error.id, &refusal));
        }
        if (error.is_answer || is_like_answer(text))
            && let Some(request) = self.waiting(&error.id)
        {
            let _ = request.answer.send(Err(self.invalid(&reason)));
            return Taken::Answer;
        }
        let shown = excerpt(&String::from_utf8_lossy(&text[..text.len().min(4 * 1024)]));
        if !shown.trim().is_empty() {
            tracing::debug!(server = &*self.name, reason, text = shown, "ignored output that is not a message");
            *self.strange.borrow_mut() = Some(shown);
        }
        Taken::Invalid(reason)
    }

    /// Returns the beginning of the last text that is not a message, as a phrase to add to an error.
    pub(crate) fn strange(&self) -> String {
        let strange = self.strange.borrow();
        strange
            .as_ref()
            .map_or_else(String::new, |text| format!("; the last line of its output that is not a message: {text}"))
    }

    /// Takes out the request with an id. A server that could not read a request answers without its id, so the only one that waits
    /// is meant.
    fn waiting(&self, id: &Id) -> Option<Pending> {
        let mut pending = self.pending.borrow_mut();
        let id = id.as_json().parse::<i64>().ok();
        let id = id.or_else(|| (pending.len() == 1).then(|| pending.keys().copied().next()).flatten());
        pending.remove(&id?)
    }

    fn answer(&self, answer: Answer<Data>) -> Taken {
        let id = answer.id.clone().unwrap_or_else(Id::null);
        let Some(request) = self.waiting(&id) else { return Taken::Quiet };
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

/// Returns the error for a text with too many values to be read.
fn oversized(text: &[u8]) -> Box<EnvelopeError> {
    let mut scanner = IdScanner::default();
    scanner.feed(text);
    let found = scanner.found(&RULES);
    let message = "it has more than a million values".to_owned();
    let problem = Problem::Syntax { message, line: 1, column: text.len() };
    Box::new(EnvelopeError { id: found.id, is_answer: found.is_answer, problem })
}

/// Returns whether a text that cannot be read looks like a response, though it has no complete id and result.
fn is_like_answer(text: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    text.trim_ascii_start().first() == Some(&b'{') && has(b"\"jsonrpc\"") && !has(b"\"method\"")
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
        exchange.leave(call.id);
        for text in
            ["", "starting …", "[]", r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "{\"jsonrpc\"", r#"{"level":NaN}"#]
        {
            assert!(reply(text).starts_with("Invalid"), "{text}");
        }
        let refused = reply(r#"{"jsonrpc":"2.0","id":"q","method":"ping","params":{"n":NaN}}"#);
        assert!(refused.starts_with(r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32700,"#), "{refused}");
    }

    #[test]
    fn an_answer_that_cannot_be_read_fails_its_request_at_once() {
        let (_, exchange) = exchange();
        let many = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"a":[{}0]}}}}"#, "0,".repeat(1_000_000));
        for (text, reason) in [
            (&br#"{"jsonrpc":"2.0","id":ID,"result":{"n":NaN}}"#[..], "expected value at column"),
            (b"{\"jsonrpc\":\"2.0\",\"result\":{\"t\":\"\xff\"},\"id\":ID}", "invalid UTF-8 at byte"),
            (br#"{"jsonrpc":"2.0","id":ID,"result":{"t":"cut"#, "EOF while parsing"),
            (br#"{"id":ID,"result":{}}"#, "`jsonrpc` is missing"),
            (many.as_bytes(), "more than a million values"),
        ] {
            let (mut other, mut entered) = (exchange.enter(), exchange.enter());
            let text = replaced(text, entered.id);
            assert!(matches!(exchange.take(&text), Taken::Answer), "{reason}");
            let error = entered.answer.try_recv().unwrap().unwrap_err();
            assert!(error.kind == McpErrorKind::Protocol && error.message.contains(reason), "{}", error.message);
            assert!(other.answer.try_recv().is_err(), "another request still waits");
            exchange.leave(other.id);
        }
        // Without an id, it is the only request that waits.
        let mut entered = exchange.enter();
        assert!(matches!(exchange.take(b"{\"jsonrpc\":\"2.0\",\"i"), Taken::Answer));
        assert!(entered.answer.try_recv().unwrap().is_err());
        // A log line is not an answer.
        let mut entered = exchange.enter();
        assert!(matches!(exchange.take(b"{\"level\":\"info\",\"n\":NaN}"), Taken::Invalid(_)));
        assert!(entered.answer.try_recv().is_err() && exchange.strange().contains("level"));
        let half = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"t":"x\ud83d"}}}}"#, entered.id);
        assert!(matches!(exchange.take(half.as_bytes()), Taken::Answer));
        assert_eq!(entered.answer.try_recv().unwrap().unwrap().get("t").as_str(), Some("x\u{fffd}"));
    }

    /// Returns a text with an id for `ID`.
    fn replaced(text: &[u8], id: i64) -> Vec<u8> {
        let at = memchr::memmem::find(text, b"ID").unwrap();
        [&text[..at], id.to_string().as_bytes(), &text[at + 2..]].concat()
    }
}
