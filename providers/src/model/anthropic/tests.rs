use std::sync::Arc;

use base::data::Data;
use runtime::capabilities::{Capabilities, PlacementPolicy};
use runtime::message::{Block, Content, Message, Role, ToolCall, ToolSpec};
use runtime::model::{ModelReply, Request, System};
use runtime::reminder::RoleHint;
use serde_json::{Value, json};

use crate::model::CapabilityTable;
use crate::testing::remind;

fn body(request: &Request) -> Value {
    super::body(request, "claude-x", &claude()).unwrap()
}

fn claude() -> Capabilities {
    CapabilityTable::built_in().unwrap().lookup("anthropic", "claude-x")
}

fn plain() -> Capabilities {
    Capabilities { prefers_xml_scaffolding: false, prompt_caching: false, ..claude() }
}

fn data(json: Value) -> Data {
    Data::from(json)
}

fn request(messages: Vec<Message>) -> Request {
    let system = Arc::new(System { appendix: Some("appendix".into()), ..System::primary("primary") });
    Request { system, messages: messages.into_iter().map(Arc::new).collect(), ..Request::default() }
}

/// A user's question, a tool call, its result.
fn tool_history() -> Request {
    let call = ToolCall::new("toolu_1", "read", data(json!({"path": "a"})));
    request(vec![
        Message::user("look"),
        Message::assistant("", vec![call.clone()]),
        Message::tool_result(&call, "text of a", true),
    ])
}

const TOOL_TURNS: fn() -> (Value, Value) = || {
    (
        json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
        ]}),
        json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "text of a"}),
    )
};

#[test]
fn without_reminders_the_body_is_the_plain_one() {
    let (calls, result) = TOOL_TURNS();
    assert_eq!(
        body(&tool_history()),
        json!({
            "model": "claude-x",
            "max_tokens": 8192,
            "system": "primary\n\nappendix",
            "messages": [{"role": "user", "content": "look"}, calls, {"role": "user", "content": [result]}],
        })
    );
}

#[test]
fn xml_system_text_at_the_head() {
    for hint in [RoleHint::System, RoleHint::Developer] {
        let sent = body(&remind(tool_history(), &claude(), PlacementPolicy::Head, &[("a < b", hint), ("two", hint)]));
        assert_eq!(
            sent["system"],
            "primary\n\n<system-reminder>\na &lt; b\n</system-reminder>\n\n<system-reminder>\ntwo\n</system-reminder>\n\nappendix"
        );
        assert_eq!(sent["messages"], body(&tool_history())["messages"]);
    }
}

#[test]
fn xml_text_at_the_tail_stands_behind_the_tool_results() {
    let (calls, result) = TOOL_TURNS();
    let sent = body(&remind(tool_history(), &claude(), PlacementPolicy::Tail, &[("one", RoleHint::System)]));
    assert_eq!(sent["system"], "primary\n\nappendix");
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "look"},
            calls,
            {"role": "user", "content": [
                result,
                {"type": "text", "text": "<system-reminder>\none\n</system-reminder>"},
            ]},
        ])
    );
}

#[test]
fn plain_system_text_where_xml_is_not_preferred() {
    let reminders = [("one", RoleHint::System), ("two", RoleHint::Developer)];
    let head = body(&remind(tool_history(), &plain(), PlacementPolicy::Head, &reminders));
    assert_eq!(head["system"], "primary\n\nSystem reminder:\none\n\nSystem reminder:\ntwo\n\nappendix");
    let tail = body(&remind(tool_history(), &plain(), PlacementPolicy::Tail, &reminders));
    assert_eq!(tail["messages"][2]["content"][1], json!({"type": "text", "text": "System reminder:\none"}));
    assert_eq!(tail["messages"][2]["content"][2], json!({"type": "text", "text": "System reminder:\ntwo"}));
}

#[test]
fn user_blocks_stand_before_the_first_user_message() {
    let reminders =
        [("one", RoleHint::UserBlock), ("two", RoleHint::EphemeralCache), ("three", RoleHint::EphemeralCache)];
    let sent = body(&remind(tool_history(), &claude(), PlacementPolicy::Head, &reminders));
    assert_eq!(sent["system"], "primary\n\nappendix");
    assert_eq!(
        sent["messages"][0],
        json!({"role": "user", "content": [
            {"type": "text", "text": "<system-reminder>\none\n</system-reminder>"},
            {"type": "text", "text": "<system-reminder>\ntwo\n</system-reminder>"},
            {
                "type": "text",
                "text": "<system-reminder>\nthree\n</system-reminder>",
                "cache_control": {"type": "ephemeral"},
            },
            {"type": "text", "text": "look"},
        ]})
    );
    let uncached = body(&remind(tool_history(), &plain(), PlacementPolicy::Head, &reminders));
    assert_eq!(uncached["messages"][0]["content"][2].get("cache_control"), None);
}

#[test]
fn user_blocks_at_the_tail() {
    let (calls, result) = TOOL_TURNS();
    let cached = json!({
        "type": "text",
        "text": "<system-reminder>\none\n</system-reminder>",
        "cache_control": {"type": "ephemeral"},
    });
    let reminders = [("one", RoleHint::EphemeralCache)];
    let sent = body(&remind(tool_history(), &claude(), PlacementPolicy::Tail, &reminders));
    assert_eq!(
        sent["messages"],
        json!([{"role": "user", "content": "look"}, calls, {"role": "user", "content": [result, cached]}])
    );
    let asked = body(&remind(request(vec![Message::user("look")]), &claude(), PlacementPolicy::Tail, &reminders));
    assert_eq!(asked["messages"], json!([{"role": "user", "content": [{"type": "text", "text": "look"}, cached]}]));
}

#[test]
fn a_user_message_is_made_where_there_is_none() {
    let block = json!("<system-reminder>\none\n</system-reminder>");
    for placement in [PlacementPolicy::Head, PlacementPolicy::Tail] {
        let sent = body(&remind(request(vec![]), &claude(), placement, &[("one", RoleHint::UserBlock)]));
        assert_eq!(sent["messages"], json!([{"role": "user", "content": block}]));
    }
    let spoken = || request(vec![Message::assistant("hello ", vec![])]);
    let head = body(&remind(spoken(), &claude(), PlacementPolicy::Head, &[("one", RoleHint::UserBlock)]));
    assert_eq!(
        head["messages"],
        json!([{"role": "user", "content": block}, {"role": "assistant", "content": "hello"}])
    );
    let error = super::body(&request(vec![]), "claude-x", &claude()).unwrap_err();
    assert!(error.message.contains("no message; add a prompt"), "{error}");
}

#[test]
fn turns_alternate_and_begin_with_the_user() {
    let (a, b) = (ToolCall::new("a", "read", Data::empty_dict()), ToolCall::new("b:1", "read", Data::str("{oops")));
    let mut failed = Message::tool_result(&b, "no such file", false);
    failed.content = Content::Blocks(Arc::new(vec![Block::text("no such file"), Block::text(" ")]));
    let sent = body(&request(vec![
        Message::new(Role::System, "standing orders"),
        Message::assistant("I look", vec![a.clone(), b.clone()]),
        Message::tool_result(&a, "", true),
        failed,
        Message::user("go on"),
        Message::user("  "),
        Message::new(Role::System, "mind <this>"),
        Message::assistant("", vec![]),
        Message::user("and on"),
    ]));
    assert_eq!(sent["system"], "primary\n\nappendix\n\nstanding orders");
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "(Earlier messages are not shown.)"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "a", "name": "read", "input": {}},
                {"type": "tool_use", "id": "b_1_34340f0e", "name": "read", "input": {"arguments": "{oops"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": ""},
                {
                    "type": "tool_result",
                    "tool_use_id": "b_1_34340f0e",
                    "content": [{"type": "text", "text": "no such file"}],
                    "is_error": true,
                },
                {"type": "text", "text": "go on"},
                {"type": "text", "text": "<system-message>\nmind &lt;this&gt;\n</system-message>"},
                {"type": "text", "text": "and on"},
            ]},
        ])
    );
}

#[test]
fn results_stand_before_what_the_user_said_meanwhile() {
    let call = ToolCall::new("a", "read", Data::empty_dict());
    let sent = body(&request(vec![
        Message::user("look"),
        Message::assistant("", vec![call.clone()]),
        Message::user("wait"),
        Message::tool_result(&call, "x", true),
    ]));
    let kinds: Vec<_> = sent["messages"][2]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["tool_result", "text"]);
}

#[test]
fn options_are_spelled_as_the_vendor_does() {
    let tool = ToolSpec::new("read", "Reads a file.", data(json!({"properties": {"path": {"type": "string"}}})));
    let base = Request { tools: Arc::new(vec![tool]), ..request(vec![Message::user("hi")]) };
    let sent = body(&Request {
        tool_choice: "required".into(),
        temperature: Some(0.5),
        max_tokens: Some(99),
        output_schema: data(json!({"type": "object"})),
        extra: [("top_k".into(), Data::from(3))].into_iter().collect(),
        ..base.clone()
    });
    assert_eq!(
        sent["tools"],
        json!([{
            "name": "read",
            "description": "Reads a file.",
            "input_schema": {"properties": {"path": {"type": "string"}}, "type": "object"},
        }])
    );
    assert_eq!(sent["tool_choice"], json!({"type": "any"}));
    assert_eq!((&sent["temperature"], &sent["max_tokens"], &sent["top_k"]), (&json!(0.5), &json!(99), &json!(3)));
    assert_eq!(sent["output_config"], json!({"format": {"type": "json_schema", "schema": {"type": "object"}}}));

    let choice = |choice: Value| body(&Request { tool_choice: data(choice), ..base.clone() })["tool_choice"].clone();
    assert_eq!(choice(json!("auto")), json!({"type": "auto"}));
    assert_eq!(choice(json!("none")), json!({"type": "none"}));
    assert_eq!(choice(json!({"name": "read"})), json!({"type": "tool", "name": "read"}));
    assert_eq!(choice(json!({"type": "auto", "disable_parallel_tool_use": true}))["disable_parallel_tool_use"], true);
    let error = super::body(&Request { tool_choice: "atuo".into(), ..base.clone() }, "m", &claude()).unwrap_err();
    assert!(error.message.contains("did you mean \"auto\"?"), "{error}");

    let thinking = |thinking: Value| {
        let sent = body(&Request { thinking: data(thinking), ..base.clone() });
        (sent["thinking"].clone(), sent["max_tokens"].clone())
    };
    assert_eq!(thinking(json!(true)), (json!({"type": "enabled", "budget_tokens": 10_000}), json!(18_192)));
    assert_eq!(thinking(json!(2000)).0, json!({"type": "enabled", "budget_tokens": 2000}));
    assert_eq!(thinking(json!("low")).0, json!({"type": "enabled", "budget_tokens": 4096}));
    assert_eq!(thinking(json!({"type": "adaptive"})), (json!({"type": "adaptive"}), json!(8192)));
    assert_eq!(thinking(json!(false)).0, json!({"type": "disabled"}));
    let error = super::body(&Request { thinking: "hihg".into(), ..base }, "m", &claude()).unwrap_err();
    assert!(error.message.contains("did you mean \"high\"?"), "{error}");
}

#[test]
fn what_is_thought_comes_on_top_of_the_answer_as_far_as_the_model_goes() {
    let ask = |model: &str, thinking: Value, max_tokens: Option<u64>| {
        let capabilities = CapabilityTable::built_in().unwrap().lookup("anthropic", model);
        let request = Request { thinking: data(thinking), max_tokens, ..request(vec![Message::user("hi")]) };
        super::body(&request, model, &capabilities).map_err(|error| error.message)
    };
    let limits = |model: &str, thinking: Value, max_tokens: Option<u64>| {
        let sent = ask(model, thinking, max_tokens).unwrap();
        (sent["max_tokens"].as_u64().unwrap(), sent["thinking"]["budget_tokens"].as_u64())
    };
    assert_eq!(limits("claude-sonnet-4-5", json!("medium"), Some(1000)), (11_000, Some(10_000)));
    assert_eq!(limits("claude-sonnet-4-5", json!("high"), None), (32_192, Some(24_000)));
    for model in ["claude-opus-4-1", "claude-opus-4-20250514"] {
        assert_eq!(limits(model, json!("high"), None), (32_000, Some(24_000)));
        let error = ask(model, json!(32_000), None).unwrap_err();
        assert!(error.contains("a limit of 32000 output tokens"), "{error}");
    }
    assert_eq!(limits("claude-sonnet-4-5", json!(5), Some(10)), (1034, Some(1024)));
    let own = json!({"type": "enabled", "budget_tokens": 2000});
    assert_eq!(limits("claude-sonnet-4-5", own.clone(), Some(9000)), (9000, Some(2000)));
    let error = ask("claude-sonnet-4-5", own, Some(2000)).unwrap_err();
    assert!(error.contains("`max_tokens` (2000) must be more"), "{error}");
}

#[test]
fn models_that_take_no_budget_are_told_an_effort() {
    let capabilities = CapabilityTable::built_in().unwrap().lookup("anthropic", "claude-opus-4-7");
    assert!(!claude().adaptive_thinking && capabilities.adaptive_thinking);
    let thinking = |thinking: Value| {
        let request = Request {
            thinking: data(thinking),
            output_schema: data(json!({"type": "object"})),
            ..request(vec![Message::user("hi")])
        };
        let sent = super::body(&request, "claude-opus-4-7", &capabilities).unwrap();
        assert_eq!(sent["output_config"]["format"]["type"], "json_schema");
        (sent["thinking"].clone(), sent["output_config"]["effort"].clone())
    };
    let adaptive = json!({"type": "adaptive"});
    assert_eq!(thinking(json!(true)), (adaptive.clone(), json!("medium")));
    assert_eq!(thinking(json!("minimal")), (adaptive.clone(), json!("low")));
    assert_eq!(thinking(json!(20_000)), (adaptive.clone(), json!("high")));
    assert_eq!(thinking(adaptive.clone()), (adaptive, Value::Null));
    assert_eq!(thinking(json!(false)).0, json!({"type": "disabled"}));
}

#[test]
fn calls_whose_ids_differ_are_told_apart() {
    let calls = ["call.1", "call_1"].map(|id| ToolCall::new(id, "read", Data::empty_dict()));
    let mut messages = vec![Message::user("look"), Message::assistant("", calls.to_vec())];
    messages.extend(calls.iter().map(|call| Message::tool_result(call, "x", true)));
    let sent = body(&request(messages));
    let id =
        |turn: usize, at: usize, key: &str| sent["messages"][turn]["content"][at][key].as_str().unwrap().to_owned();
    assert_eq!((id(1, 1, "id").as_str(), id(2, 1, "tool_use_id").as_str()), ("call_1", "call_1"));
    let other = id(1, 0, "id");
    assert!(other.starts_with("call_1_") && other.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{other}");
    assert_eq!(id(2, 0, "tool_use_id"), other);
}

/// Returns the positions of the marks in a body.
fn marks(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |place: String, blocks: &Value| {
        for (at, block) in blocks.as_array().into_iter().flatten().enumerate() {
            if block.get("cache_control").is_some() {
                found.push(format!("{place}{at}"));
            }
        }
    };
    look("tool ".to_owned(), &body["tools"]);
    look("system ".to_owned(), &body["system"]);
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        look(format!("message {at} block "), &message["content"]);
    }
    found
}

#[test]
fn a_turn_of_many_blocks_has_a_mark_at_its_beginning() {
    let turn = |calls: usize| {
        let calls: Vec<_> = (0..calls).map(|n| ToolCall::new(format!("c{n}"), "read", Data::empty_dict())).collect();
        let results: Vec<_> = calls.iter().map(|call| Message::tool_result(call, "text", true)).collect();
        let mut messages = vec![Message::user("look"), Message::assistant("", calls)];
        messages.extend(results);
        Request { prompt_cache: true, ..request(messages) }
    };
    assert_eq!(marks(&body(&turn(10))), ["system 0", "message 2 block 9"], "20 blocks are within reach");
    let long = ["system 0", "message 0 block 0", "message 2 block 10"];
    assert_eq!(marks(&body(&turn(11))), long);
    // Blocks that are not in the next request do not count.
    let tail = [("one", RoleHint::UserBlock), ("two", RoleHint::UserBlock)];
    let sent = body(&remind(turn(10), &plain_marks(), PlacementPolicy::Tail, &tail));
    assert_eq!(marks(&sent), ["system 0", "message 2 block 9"]);
    // Marks of reminders count among the four.
    let cached = [("one", RoleHint::EphemeralCache)];
    let sent = body(&remind(turn(11), &claude(), PlacementPolicy::Head, &cached));
    assert_eq!(marks(&sent), ["system 0", "message 0 block 0", "message 0 block 1", "message 2 block 10"]);
}

#[test]
fn a_prompt_that_will_be_sent_again_is_marked_for_the_cache() {
    let tool = ToolSpec::new("read", "Reads a file.", Data::Nil);
    let base = Request { tools: Arc::new(vec![tool]), prompt_cache: true, ..tool_history() };
    let all = ["tool 0", "system 0", "message 2 block 0"];
    assert_eq!(marks(&body(&base)), all);
    assert_eq!(body(&base)["system"][0]["text"], "primary\n\nappendix");
    // Reminders at the tail are gone in the next request.
    let reminders = [("one", RoleHint::System), ("two", RoleHint::UserBlock)];
    assert_eq!(marks(&body(&remind(base.clone(), &plain_marks(), PlacementPolicy::Tail, &reminders))), all);
    let answered = Message::assistant("Done.", vec![]);
    let mut ended = base.clone();
    ended.messages.push_back(Arc::new(answered));
    let sent = body(&remind(ended, &plain_marks(), PlacementPolicy::Tail, &reminders));
    assert_eq!(marks(&sent), ["tool 0", "system 0", "message 3 block 0"]);
    // System reminders come after the constant part of the system text.
    let sent = body(&remind(base.clone(), &claude(), PlacementPolicy::Head, &[("one", RoleHint::System)]));
    assert_eq!(marks(&sent), all);
    assert_eq!(sent["system"][0]["text"], "primary");
    assert_eq!(sent["system"][1]["text"], "\n\n<system-reminder>\none\n</system-reminder>\n\nappendix");
    // At most as many marks as the vendor accepts, including those of the caller.
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let mut full = base.clone();
    let own = Content::Blocks(Arc::new((0..4).map(|_| Block::Other(data(marked.clone()))).collect()));
    full.messages.push_back(Arc::new(Message::new(Role::User, own)));
    assert_eq!(marks(&body(&full)).len(), 4);
    // Without a benefit no mark is set.
    assert!(marks(&super::body(&base, "claude-x", &plain()).unwrap()).is_empty());
    assert!(marks(&body(&tool_history())).is_empty());
}

/// Reminders as text that carries no mark of its own.
fn plain_marks() -> Capabilities {
    Capabilities { prompt_caching: false, ..claude() }
}

fn reply(json: Value) -> Result<ModelReply, String> {
    super::reply(json, "claude-x")
}

#[test]
fn a_reply_is_read() {
    let reply = reply(json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1",
        "content": [
            {"type": "text", "text": "I "},
            {"type": "text", "text": "look."},
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {
            "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7,
            "service_tier": "standard",
        },
    }))
    .unwrap();
    assert_eq!(reply.text.as_ref(), "I look.");
    assert_eq!(reply.tool_calls, [ToolCall::new("toolu_1", "read", data(json!({"path": "a"})))]);
    assert_eq!((reply.model.as_ref(), reply.provider.as_ref()), ("claude-x-1", "anthropic"));
    assert_eq!(reply.stop_reason.as_deref(), Some("tool_use"));
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (117, 5));
    assert_eq!((reply.usage.cache_read_tokens, reply.usage.cache_write_tokens), (100, 7));
    assert!(reply.blocks.is_empty());
    assert_eq!(reply.extra.get("id").and_then(Data::as_str), Some("msg_1"));
}

#[test]
fn signed_thinking_goes_back_as_it_came() {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "EqQB"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
    ]);
    let reply = reply(json!({"content": content, "usage": {"input_tokens": 1, "output_tokens": 1}})).unwrap();
    assert_eq!(reply.reasoning.as_deref(), Some("hm"));
    assert_eq!((reply.text.as_ref(), reply.model.as_ref()), ("I look.", "claude-x"));

    // A hook changed the arguments of the call.
    let call = ToolCall::new("toolu_1", "read", data(json!({"path": "b"})));
    let mut said = Message::new(Role::Assistant, Content::Blocks(Arc::new(reply.blocks)));
    said.tool_calls = vec![call.clone()];
    let sent = body(&request(vec![Message::user("look"), said, Message::tool_result(&call, "x", true)]));
    let mut expected = content;
    expected[3]["input"]["path"] = "b".into();
    assert_eq!(sent["messages"][1]["content"], expected);
}

#[test]
fn a_reply_that_is_none_says_what_it_lacks() {
    for (json, part) in [
        (json!({"type": "message"}), "missing field `content`"),
        (json!({"content": "hi"}), "expected a sequence"),
        (json!({"content": [{"type": "text"}]}), "without `text`"),
        (json!({"content": [{"type": "tool_use", "name": "x"}]}), "without `id` or `name`"),
    ] {
        let problem = reply(json).unwrap_err();
        assert!(problem.contains(part), "{problem}");
    }
    assert_eq!(reply(json!({"content": []})).unwrap().text.as_ref(), "");
}
