use std::sync::Arc;

use base::data::Data;
use runtime::message::{Message, ToolCall};
use runtime::model::{ModelError, ModelErrorKind, Request};

use super::*;
use crate::testing::{TestSession, block_on};

fn request(prompt: &str) -> Request {
    Request { messages: [Arc::new(Message::user(prompt))].into_iter().collect(), ..Request::default() }
}

fn ask(mock: &Mock, place: &TestSession, prompt: &str) -> Outcome<ModelReply> {
    block_on(mock.call(place.turn(), &request(prompt), &"mock".into(), &|_| {}).get())
}

fn text(mock: &Mock, prompt: &str) -> String {
    ask(mock, &TestSession::new(), prompt).unwrap().text.to_string()
}

fn read(json: &str) -> Result<MockReply, MockError> {
    MockReply::from_data(&Data::from_json(json).unwrap())
}

#[test]
fn the_first_that_matches_answers_else_the_first_in() {
    let mock = Mock::new();
    for json in [
        r#"{"text":"first"}"#,
        r#"{"text":"about rust","match":"*rust*"}"#,
        r#"{"text":"second"}"#,
        r#"{"text":"more rust","match":"*rust*"}"#,
    ] {
        mock.push(read(json).unwrap());
    }
    assert_eq!(text(&mock, "tell me\nof rust/lang"), "about rust");
    assert_eq!(text(&mock, "anything"), "first");
    assert_eq!(text(&mock, "rust"), "more rust");
    assert_eq!(text(&mock, "rust"), "second");
    assert_eq!(text(&mock, "rust"), "mock: rust");
}

#[test]
fn what_only_matches_something_else_is_left_alone() {
    let mock = Mock::new();
    mock.push(read(r#"{"text":"x","match":"*rust*"}"#).unwrap());
    assert_eq!(text(&mock, "go"), "mock: go");
    assert_eq!(text(&mock, "rust"), "x");
}

#[test]
fn unscripted_it_answers_the_same_each_time() {
    let mock = Mock::new();
    assert_eq!(text(&mock, "\n  hello\nworld"), "mock: hello");
    assert_eq!(text(&mock, "\n  hello\nworld"), "mock: hello");
    assert_eq!(text(&mock, &"é".repeat(300)), format!("mock: {}", "é".repeat(200)));
    let place = TestSession::new();
    let reply = block_on(mock.call(place.turn(), &Request::default(), &"mock".into(), &|_| {}).get()).unwrap();
    assert_eq!(reply.text.as_ref(), "mock: (no prompt)");
}

#[test]
fn a_script_answers_only_those_that_name_it() {
    let mock = Mock::new();
    mock.push(MockReply::text("queued"));
    let one = mock.add_script([MockReply::text("one 1"), MockReply::text("one 2")]);
    let two = mock.add_script([MockReply::text("two")]);
    let under = |script: u64| {
        let mut place = TestSession::new();
        place.scope.script = Some(script);
        ask(&mock, &place, "p").unwrap().text.to_string()
    };
    assert_eq!(under(two), "two");
    assert_eq!(under(two), "mock: p");
    assert_eq!(under(one), "one 1");
    assert!(mock.remove_script(two).is_empty());
    assert_eq!(mock.remove_script(one).len(), 1);
    assert!(mock.remove_script(one).is_empty());
    assert_eq!(text(&mock, "p"), "queued");
}

#[test]
fn calls_are_recorded_and_share_the_history() {
    let (mock, place) = (Mock::new(), TestSession::new());
    let sent = Request { system: runtime::model::System::primary("be brief").into(), ..request("hi") };
    block_on(mock.call(place.turn(), &sent, &"claude-x".into(), &|_| {}).get()).unwrap();
    let calls = mock.calls();
    assert!(Arc::ptr_eq(&calls[0].request.messages[0], &sent.messages[0]));
    let data = calls[0].to_data();
    assert_eq!(
        data.to_json(),
        r#"{"messages":[{"content":"hi","role":"user"}],"model":"claude-x","provider":"mock","session_id":"s","system":"be brief","tools":[],"turn":1}"#
    );
    mock.clear();
    assert!(mock.calls().is_empty());
}

#[test]
fn tokens_are_taken_or_estimated_and_calls_get_ids() {
    let mock = Mock::new();
    mock.push(read(r#"{"text":"x","input_tokens":7,"output_tokens":9,"model":"m"}"#).unwrap());
    mock.push(MockReply::tools(vec![
        ToolCall::new("", "read", Data::dict([("path", Data::from("a"))])),
        ToolCall::new("own", "read", Data::empty_dict()),
    ]));
    let place = TestSession::new();
    let given = ask(&mock, &place, "p").unwrap();
    assert_eq!((given.usage.input_tokens, given.usage.output_tokens, given.model.as_ref()), (7, 9, "m"));
    assert_eq!(given.stop_reason.as_deref(), Some("end_turn"));
    let guessed = ask(&mock, &place, &"p".repeat(400)).unwrap();
    assert_eq!(guessed.usage.input_tokens, 104);
    assert_eq!(guessed.usage.output_tokens, 6); // the 22 bytes of read{"path":"a"}read{} in fours
    assert_eq!(guessed.stop_reason.as_deref(), Some("tool_use"));
    assert_eq!(guessed.tool_calls.iter().map(|call| call.id.as_ref()).collect::<Vec<_>>(), ["call_1", "own"]);
}

#[test]
fn a_scripted_error_ends_the_call_unless_retries_are_asked_for() {
    let json = r#"{"error":{"category":"rate_limit","message":"slow down","status":429,"retry_after_ms":1500}}"#;
    let (mock, place) = (Mock::new(), TestSession::new());
    mock.push(read(json).unwrap());
    let failure = ask(&mock, &place, "p").unwrap_err();
    let error = failure.as_any().downcast_ref::<ModelError>().unwrap();
    assert_eq!((error.kind, error.status, error.retry_after_ms), (ModelErrorKind::RateLimit, Some(429), Some(1500)));
    assert_eq!((error.message.as_str(), error.retryable), ("slow down", true));

    mock.push(read(json).unwrap());
    mock.push(MockReply::text("at last"));
    let again = Request { retries: Some(1), ..request("p") };
    let reply = block_on(mock.call(place.turn(), &again, &"mock".into(), &|_| {}).get()).unwrap();
    assert_eq!(reply.text.as_ref(), "at last");
    assert_eq!(*place.clock.slept.borrow(), [1500]);
    assert_eq!(mock.calls().len(), 3);
}

#[test]
fn a_delayed_reply_is_taken_at_once_and_answers_on_the_clock() {
    let (mock, place) = (Mock::new(), TestSession::new());
    for json in [r#"{"text":"slow","delay_ms":700}"#, r#"{"text":"fast"}"#] {
        mock.push(read(json).unwrap());
    }
    let (request, model) = (request("p"), "mock".into());
    let slow = mock.call(place.turn(), &request, &model, &|_| {});
    assert_eq!(ask(&mock, &place, "p").unwrap().text.as_ref(), "fast");
    assert!(place.clock.slept.borrow().is_empty());
    assert_eq!(block_on(slow.get()).unwrap().text.as_ref(), "slow");
    assert_eq!(*place.clock.slept.borrow(), [700]);
    mock.push(read(r#"{"error":{"category":"overloaded"},"delay_ms":50}"#).unwrap());
    assert!(ask(&mock, &place, "p").is_err());
    assert_eq!(*place.clock.slept.borrow(), [700, 50]);
}

#[test]
fn replies_are_read_strictly() {
    assert_eq!(MockReply::from_data(&Data::from("hi")).unwrap().text.as_deref(), Some("hi"));
    for (json, field, part) in [
        (r#"{"txt":"x"}"#, "txt", "did you mean `text`?"),
        (r#"{"text":1}"#, "text", "must be a string, got int"),
        (r#"{"input_tokens":-1}"#, "input_tokens", "integer of at least 0"),
        (r#"{"delay_ms":"1s"}"#, "delay_ms", "integer of at least 0"),
        (r#"{"tool_calls":{}}"#, "tool_calls", "got dict"),
        (r#"{"tool_calls":[{"id":"1"}]}"#, "tool_calls.0", "{id, name, arguments}"),
        (r#"{"match":"[a"}"#, "match", "invalid glob"),
        (r#"{"error":{}}"#, "error.category", "missing `category`"),
        (r#"{"error":{"category":"rate_limt"}}"#, "error.category", "rate_limit"),
        (r#"{"error":{"category":"auth","code":1}}"#, "error.code", "unknown key `code`"),
        (r#"{"error":{"category":"auth","status":99999}}"#, "error.status", "99999"),
        ("[1]", "", "got list"),
    ] {
        let error = read(json).unwrap_err();
        assert_eq!(error.field, field, "{json}");
        assert!(error.message.contains(part), "{json}: {error}");
    }
}

#[tokio::test]
async fn a_streamed_answer_comes_in_pieces_over_its_delay_and_may_break_off() {
    let (mock, place) = (Mock::new(), TestSession::new());
    mock.push(read(r#"{"text":"one two three","delay_ms":300}"#).unwrap());
    mock.push(read(r#"{"text":"half of","error":{"category":"connection"}}"#).unwrap());
    let (request, model) = (Request { stream: true, ..request("p") }, "mock".into());
    let pieces = RefCell::new(Vec::new());
    let live = |delta: Delta<'_>| {
        if let Delta::Text(text) = delta {
            pieces.borrow_mut().push(text.to_owned());
        }
    };
    let reply = mock.call(place.turn(), &request, &model, &live).get().await.unwrap();
    assert_eq!(reply.text.as_ref(), "one two three");
    assert_eq!(pieces.take(), ["one ", "two ", "three"]);
    assert_eq!(place.clock.slept.borrow().iter().sum::<u64>(), 300);
    assert!(mock.call(place.turn(), &request, &model, &live).get().await.is_err());
    assert_eq!(pieces.take(), ["half ", "of"]);
}
