//! The mock model, for tests and for running offline.

use crate::bind::ScriptFn;
use crate::convert::{to_data, to_value};
use crate::here;
use crate::world::World;
use base::codes::Severity;
use lang::builtins::args;
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, On, Raise, RunCode, Wait};
use providers::model::MockReply;
use runtime::note::Note;
use std::rc::Rc;

lang::builtins! { "" =>
    /// Queues a reply of the mock model; a string is its text.
    ///
    /// ```harn
    /// llm_mock("one")
    /// llm_mock({text: "two", stop_reason: "end_turn"})
    /// llm_call("Go.", nil, {provider: "mock"}).text // => "one"
    /// llm_call("Go.", nil, {provider: "mock"}).stop_reason // => "end_turn"
    /// ```
    plain "llm_mock(reply: string | MockReply) -> nil" llm_mock;
    /// Returns the calls of the mock model: messages, system, tools, model and so on of each call.
    ///
    /// ```harn
    /// llm_mock("done")
    /// llm_call("Go.", "Be brief.", {provider: "mock"}).text // => "done"
    /// llm_mock_calls().map({ call -> call.system }) // => ["Be brief."]
    /// ```
    plain "llm_mock_calls() -> list<MockCall>" llm_mock_calls;
    /// Forgets queued replies and past calls.
    ///
    /// ```harn
    /// llm_mock("done")
    /// llm_mock_clear()
    /// llm_mock_calls() // => []
    /// ```
    plain "llm_mock_clear() -> nil" llm_mock_clear;
    /// Runs `body` with these replies, in order; its result. Replies left over are dropped.
    ///
    /// ```harn
    /// with_llm_script(["one", "two"], { ->
    ///   [llm_call("a", nil, {provider: "mock"}).text, llm_call("b", nil, {provider: "mock"}).text]
    /// }) // => ["one", "two"]
    /// ```
    waits "with_llm_script(replies: list, body: fn() -> R) -> R" with_llm_script;
    /// Runs `body` like `with_llm_script`.
    ///
    /// ```harn
    /// with_llm_mocks(["one"], { -> llm_call("a", nil, {provider: "mock"}).text }) // => "one"
    /// ```
    waits "with_llm_mocks(replies: list, body: fn() -> R) -> R" with_llm_script;
    /// A reply of text.
    ///
    /// ```harn
    /// llm_text("done") // => {text: "done"}
    /// ```
    plain "llm_text(text: string) -> dict" llm_text;
    /// A reply that calls a tool.
    ///
    /// ```harn
    /// llm_tool_call("look", {at: 1}) // => {tool_calls: [{arguments: {at: 1}, name: "look"}]}
    /// ```
    plain "llm_tool_call(name: string, arguments: any = nil, id: string? = nil) -> dict" llm_tool_call;
    /// A reply that says the work is done.
    ///
    /// ```harn
    /// llm_done("ready") // => {text: "ready\n##DONE##"}
    /// ```
    plain "llm_done(text: string? = nil) -> dict" llm_done;
    /// A reply that is a failure of the model.
    ///
    /// ```harn
    /// llm_mock(llm_error("auth", "no key"))
    /// llm_call("Go.", nil, {provider: "mock"}) // => error: no key
    /// ```
    plain "llm_error(category: string, message: string) -> dict" llm_error;
}

fn reply_of(value: &Value) -> Result<MockReply, Box<Raise>> {
    let data = to_data(value)?;
    MockReply::from_data(&data).map_err(|e| Raise::error(RunCode::Value, e.to_string()))
}

fn llm_mock(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let reply = reply_of(&args[0]).map_err(|raise| raise.about(0, ""))?;
    here::world(cx)?.services.routes.mock().push(reply);
    Ok(Value::Nil)
}

fn llm_mock_calls(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let calls = here::world(cx)?.services.routes.mock().calls();
    Ok(Value::list(calls.iter().map(|call| to_value(&call.to_data())).collect()))
}

fn llm_mock_clear(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    here::world(cx)?.services.routes.mock().clear();
    Ok(Value::Nil)
}

fn with_llm_script(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let replies = args::list(args, 0)?.iter().map(reply_of).collect::<Result<Vec<_>, _>>();
    let replies = replies.map_err(|raise| raise.about(0, ""))?;
    let body = ScriptFn::read(cx, args, 1)?;
    let count = replies.len();
    let script = ActiveMockScript { id: world.services.routes.mock().add_script(replies), count, world };
    Ok(Wait::new(async move {
        // The whole of it moves in, not its number alone.
        let script = script;
        body.with_script(script.id).get().await
    })
    .on(On::Script))
}

/// Taken away when the body is over, however it ends.
struct ActiveMockScript {
    world: Rc<World>,
    id: u64,
    /// The number of its replies.
    count: usize,
}

impl ActiveMockScript {
    /// Warns in a test whose script was too short: the mock made up the other answers. A script without replies wants that.
    fn report_missing(&self) {
        let missed = self.world.services.routes.mock().calls_without_reply(self.id);
        if missed == 0 || self.count == 0 || self.world.test.get().is_none() {
            return;
        }
        let replies = if self.count == 1 { "1 reply".to_owned() } else { format!("{} replies", self.count) };
        let message = format!(
            "the model was called {} times, and `with_llm_script` had {replies}: the mock made up the rest",
            self.count + missed
        );
        self.world.console.show(&Note { code: None, severity: Severity::Warning, message, about: None, fault: None });
    }
}

impl Drop for ActiveMockScript {
    fn drop(&mut self) {
        self.report_missing();
        self.world.services.routes.mock().remove_script(self.id);
    }
}

fn record(entries: Vec<(&str, Value)>) -> Value {
    Value::dict(entries.into_iter().map(|(k, v)| (Str::new(k), v)).collect::<Dict>())
}

fn llm_text(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::str(args, 0)?;
    Ok(record(vec![("text", args[0].clone())]))
}

fn llm_tool_call(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::str(args, 0)?;
    let arguments = if args[1].is_nil() { record(Vec::new()) } else { args[1].clone() };
    let mut call = vec![("name", args[0].clone()), ("arguments", arguments)];
    if args::opt_str(args, 2)?.is_some() {
        call.push(("id", args[2].clone()));
    }
    Ok(record(vec![("tool_calls", Value::list(vec![record(call)]))]))
}

fn llm_done(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::opt_str(args, 0)?.map_or_else(|| "##DONE##".to_owned(), |t| format!("{t}\n##DONE##"));
    Ok(record(vec![("text", Value::from(text))]))
}

fn llm_error(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::str(args, 0)?;
    args::str(args, 1)?;
    let error = record(vec![("category", args[0].clone()), ("message", args[1].clone())]);
    Ok(record(vec![("error", error)]))
}
