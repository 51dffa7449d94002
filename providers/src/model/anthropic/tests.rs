use std::sync::Arc;

use runtime::capabilities::{Capabilities, Placement};
use runtime::data::Data;
use runtime::message::{Block, Content, Message, Role, ToolCall, ToolSpec};
use runtime::model::{Reply, Request, System};
use runtime::reminder::RoleHint;
use serde_json::{Value, json};

use crate::model::CapabilityTable;
use crate::testing::remind;

fn body(request: &Request) -> Value {
    super::body(request, "claude-x").unwrap()
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
    let system = System { appendix: Some("appendix".into()), ..System::primary("primary") };
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
        let sent = body(&remind(tool_history(), &claude(), Placement::Head, &[("a < b", hint), ("two", hint)]));
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
    let sent = body(&remind(tool_history(), &claude(), Placement::Tail, &[("one", RoleHint::System)]));
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
    let head = body(&remind(tool_history(), &plain(), Placement::Head, &reminders));
    assert_eq!(head["system"], "primary\n\nSystem reminder:\none\n\nSystem reminder:\ntwo\n\nappendix");
    let tail = body(&remind(tool_history(), &plain(), Placement::Tail, &reminders));
    assert_eq!(tail["messages"][2]["content"][1], json!({"type": "text", "text": "System reminder:\none"}));
    assert_eq!(tail["messages"][2]["content"][2], json!({"type": "text", "text": "System reminder:\ntwo"}));
}

#[test]
fn user_blocks_stand_before_the_first_user_message() {
    let reminders =
        [("one", RoleHint::UserBlock), ("two", RoleHint::EphemeralCache), ("three", RoleHint::EphemeralCache)];
    let sent = body(&remind(tool_history(), &claude(), Placement::Head, &reminders));
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
    let uncached = body(&remind(tool_history(), &plain(), Placement::Head, &reminders));
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
    let sent = body(&remind(tool_history(), &claude(), Placement::Tail, &reminders));
    assert_eq!(
        sent["messages"],
        json!([{"role": "user", "content": "look"}, calls, {"role": "user", "content": [result, cached]}])
    );
    let asked = body(&remind(request(vec![Message::user("look")]), &claude(), Placement::Tail, &reminders));
    assert_eq!(asked["messages"], json!([{"role": "user", "content": [{"type": "text", "text": "look"}, cached]}]));
}

#[test]
fn a_user_message_is_made_where_there_is_none() {
    let block = json!("<system-reminder>\none\n</system-reminder>");
    for placement in [Placement::Head, Placement::Tail] {
        let sent = body(&remind(request(vec![]), &claude(), placement, &[("one", RoleHint::UserBlock)]));
        assert_eq!(sent["messages"], json!([{"role": "user", "content": block}]));
    }
    let spoken = || request(vec![Message::assistant("hello ", vec![])]);
    let head = body(&remind(spoken(), &claude(), Placement::Head, &[("one", RoleHint::UserBlock)]));
    assert_eq!(
        head["messages"],
        json!([{"role": "user", "content": block}, {"role": "assistant", "content": "hello"}])
    );
    let error = super::body(&request(vec![]), "claude-x").unwrap_err();
    assert!(error.message.contains("no message; give a prompt"), "{error}");
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
                {"type": "tool_use", "id": "b_1", "name": "read", "input": {"arguments": "{oops"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": ""},
                {
                    "type": "tool_result",
                    "tool_use_id": "b_1",
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
    let error = super::body(&Request { tool_choice: "atuo".into(), ..base.clone() }, "m").unwrap_err();
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
    let error = super::body(&Request { thinking: "hihg".into(), ..base }, "m").unwrap_err();
    assert!(error.message.contains("did you mean \"high\"?"), "{error}");
}

fn reply(json: Value) -> Result<Reply, String> {
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
