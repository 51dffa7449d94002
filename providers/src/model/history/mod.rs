//! The history in the form that a route takes: one pass between the conversation, which knows no vendor, and `encode`.
//!
//! [`HISTORY_RULES`] is the table of all that routes demand. A rule of messages changes them one by one, so the places of
//! reminders among them stay; a history that keeps all of these is sent as it is, and shared. The others are about the whole
//! document, and kept where it is made: `roles` and the encoders of the wires.

use std::borrow::Cow;
use std::sync::Arc;

use base::data::Data;
use runtime::capabilities::WireFormat;
use runtime::message::{Block, Content, Message, Role, ToolCall};
use runtime::model::Request;
use runtime::text_tools::without_calls;

use super::Provider;
use super::anthropic;
use super::content::{BlockContent, OPENAI_ITEM};

pub(super) mod roles;

/// A rule that the history of a request must keep on some routes.
#[derive(Debug)]
pub struct HistoryRule {
    /// Its name.
    pub name: &'static str,
    /// The routes that it holds for.
    pub routes: &'static str,
    /// The change of a history that breaks it.
    pub done: &'static str,
    /// The source of the rule.
    pub source: &'static str,
    holds: fn(&HistoryRoute, &Request) -> bool,
    change: Change,
}

/// The way in which a rule is kept.
#[derive(Debug)]
enum Change {
    /// Each message is changed that needs it.
    Message(fn(&HistoryRoute, &Message) -> Option<Message>),
    /// The encoder of the wire keeps it; the function tells whether a request needs that.
    Encoder(fn(&Request) -> bool),
}

/// The facts of a route on which rules depend.
#[derive(Debug, Clone, Copy)]
pub(super) struct HistoryRoute {
    pub(super) provider: Provider,
    pub(super) wire: WireFormat,
    /// Whether thoughts are bound to what came before them.
    pub(super) bound_thinking: bool,
    /// Whether roles must alternate.
    pub(super) alternating_roles: bool,
    /// The number of letters and digits that the id of a call must have.
    pub(super) call_id_length: Option<usize>,
}

/// The rules, in the order in which they are applied.
pub const HISTORY_RULES: &[HistoryRule] = &[
    HistoryRule {
        name: "calls_need_tools",
        routes: "Anthropic Messages, Chat Completions",
        done: "where a request offers no tools, earlier calls and results are written as text",
        source: "Anthropic, tool use: blocks of calls need the tools; Amazon Bedrock: `toolConfig` must be defined",
        holds: |route, request| {
            request.tools.is_empty() && matches!(route.wire, WireFormat::Anthropic | WireFormat::OpenaiChat)
        },
        change: Change::Message(|_, message| without_calls(message)),
    },
    HistoryRule {
        name: "arguments_are_objects",
        routes: "Chat Completions, Responses",
        done: "arguments that cannot be read as an object go under the key `arguments`",
        source: "OpenAI, `ChatCompletionMessageToolCall.function.arguments`: JSON; vLLM parses them",
        holds: |route, _| matches!(route.wire, WireFormat::OpenaiChat | WireFormat::OpenaiResponses),
        change: Change::Message(|_, message| {
            with_calls(message, |call| Some(ToolCall { arguments: object(&call.arguments)?, ..call.clone() }))
        }),
    },
    HistoryRule {
        name: "call_ids_are_short",
        routes: "OpenAI: 40 characters on Chat Completions, 64 on Responses",
        done: "a longer id of a call is shortened, with a digest, for the call and its result alike",
        source: "OpenAI, error `string_above_max_length`",
        holds: |route, _| most(route).is_some(),
        change: Change::Message(|route, message| {
            let most = most(route)?;
            with_ids(message, |id| shortened(id, most))
        }),
    },
    HistoryRule {
        name: "call_ids_have_a_length",
        routes: "models with `call_id_length`: Mistral's",
        done: "the id of a call is replaced by one of this many letters and digits, for the call and its result alike",
        source: "Mistral, error: tool call id must be a-z, A-Z, 0-9, with a length of 9",
        holds: |route, _| route.call_id_length.is_some() && route.wire == WireFormat::OpenaiChat,
        change: Change::Message(|route, message| {
            let length = route.call_id_length?;
            with_ids(message, |id| of_length(id, length))
        }),
    },
    HistoryRule {
        name: "reasoning_needs_its_content",
        routes: "Responses, where nothing is stored",
        done: "items of reasoning without `encrypted_content` are left out",
        source: "OpenAI, Responses, `store`: items are not persisted when it is false",
        holds: |route, request| {
            let is_stored = request.extra.get("store").and_then(Data::as_bool) == Some(true);
            route.wire == WireFormat::OpenaiResponses && !is_stored
        },
        change: Change::Message(|_, message| without_unreadable_reasoning(message)),
    },
    HistoryRule {
        name: "reasoning_leads_somewhere",
        routes: "Responses",
        done: "items of reasoning that no text and no call follows, as of an answer that was cut off, are left out",
        source: "OpenAI, error: item of type `reasoning` was provided without its required following item",
        holds: |route, _| route.wire == WireFormat::OpenaiResponses,
        change: Change::Message(|_, message| without_last_reasoning(message)),
    },
    HistoryRule {
        name: "thoughts_keep_their_prefix",
        routes: "Anthropic, from version 5.1 on",
        done: "a signed thought whose prefix has changed is left out",
        source: "Anthropic, preserved thinking: the system text, the tools and all messages before a thought are checked",
        holds: |route, _| route.bound_thinking && route.wire == WireFormat::Anthropic,
        change: Change::Encoder(|request| blocks(request).any(|block| anthropic::is_thought(&block))),
    },
    HistoryRule {
        name: "ids_have_an_alphabet",
        routes: "Anthropic Messages",
        done: "other characters than letters, digits, `_` and `-` are replaced in the ids of calls, with a digest",
        source: "Anthropic, error: `tool_use.id` should match `^[a-zA-Z0-9_-]+$`",
        holds: |route, _| route.wire == WireFormat::Anthropic,
        change: Change::Encoder(|request| {
            let mut ids = request.messages.iter().flat_map(|message| message.tool_calls.iter().map(|call| &call.id));
            ids.any(|id| !anthropic::fits_as_id(id))
        }),
    },
    HistoryRule {
        name: "the_user_begins",
        routes: "Anthropic Messages, Gemini, servers whose roles must alternate",
        done: "before a history that begins with the model, a short message of the user is put",
        source: "Anthropic, Messages: the first message must use the role `user`; Gemini: function calls come after a user turn",
        holds: |route, _| takes_turns(route),
        change: Change::Encoder(|request| {
            let first = request.messages.iter().find(|message| !instructs(message));
            first.is_some_and(|message| message.role == Role::Assistant)
        }),
    },
    HistoryRule {
        name: "roles_alternate",
        routes: "Anthropic Messages, Gemini, servers whose roles must alternate",
        done: "neighbours of one role become one turn, and an instruction within the history a text of the user",
        source: "Anthropic, Messages: consecutive turns are combined; vLLM: conversation roles must alternate",
        holds: |route, _| takes_turns(route),
        change: Change::Encoder(|request| {
            let neighbours = request.messages.iter().zip(request.messages.iter().skip(1));
            neighbours
                .into_iter()
                .any(|(one, two)| one.role == two.role && one.role != Role::Tool || !instructs(one) && instructs(two))
        }),
    },
    HistoryRule {
        name: "the_model_follows_results",
        routes: "servers whose roles must alternate",
        done: "between results of tools and what the user says next, a short message of the model is put",
        source: "Mistral, error: unexpected role `user` after role `tool`",
        holds: |route, _| route.alternating_roles && route.wire == WireFormat::OpenaiChat,
        change: Change::Encoder(|request| {
            let conversation: Vec<Arc<Message>> = request.conversation().iter().cloned().collect();
            conversation.windows(2).any(|pair| pair[0].role == Role::Tool && pair[1].role == Role::User)
        }),
    },
    HistoryRule {
        name: "texts_say_something",
        routes: "Anthropic Messages, Gemini",
        done: "blocks of text without a character are left out",
        source: "Anthropic, error: text content blocks must contain non-whitespace text",
        holds: |route, _| matches!(route.wire, WireFormat::Anthropic | WireFormat::Gemini),
        change: Change::Encoder(|request| {
            blocks(request)
                .any(|block| matches!(BlockContent::of(&block), BlockContent::Text(text, _) if text.trim().is_empty()))
        }),
    },
];

/// Returns the blocks of all messages.
fn blocks(request: &Request) -> impl Iterator<Item = Block> {
    request.messages.iter().flat_map(|message| message.content.to_blocks().into_iter())
}

fn instructs(message: &Message) -> bool {
    matches!(message.role, Role::System | Role::Developer)
}

fn takes_turns(route: &HistoryRoute) -> bool {
    matches!(route.wire, WireFormat::Anthropic | WireFormat::Gemini) || keeps_roles(route)
}

/// Returns whether the messages of a document must be brought into alternating roles.
pub(super) fn keeps_roles(route: &HistoryRoute) -> bool {
    route.alternating_roles && route.wire == WireFormat::OpenaiChat
}

/// Returns the rules that change the document of a request.
pub(super) fn applied(request: &Request, route: &HistoryRoute) -> Vec<&'static HistoryRule> {
    let (fitted, changed) = fitted(request, route);
    let needs = |rule: &&HistoryRule| match rule.change {
        Change::Message(_) => changed.iter().any(|other| other.name == rule.name),
        // The encoder gets what the other rules have made.
        Change::Encoder(needs) => (rule.holds)(route, request) && needs(&fitted),
    };
    HISTORY_RULES.iter().filter(needs).collect()
}

/// Brings the history of a request into the form that its route takes. Returns the rules that changed something.
pub(super) fn fitted<'a>(request: &'a Request, route: &HistoryRoute) -> (Cow<'a, Request>, Vec<&'static HistoryRule>) {
    let of_messages = HISTORY_RULES.iter().filter_map(|rule| match rule.change {
        Change::Message(change) if (rule.holds)(route, request) => Some((rule, change)),
        _ => None,
    });
    let holding: Vec<_> = of_messages.collect();
    let mut applied: Vec<&HistoryRule> = Vec::new();
    let mut fit = |message: &Arc<Message>| {
        let mut fitted = Cow::Borrowed(message);
        for (rule, change) in &holding {
            if let Some(changed) = change(route, &fitted) {
                fitted = Cow::Owned(Arc::new(changed));
                if applied.iter().all(|other| other.name != rule.name) {
                    applied.push(*rule);
                }
            }
        }
        fitted.into_owned()
    };
    let messages = request.messages.iter().map(&mut fit).collect();
    if applied.is_empty() {
        return (Cow::Borrowed(request), applied);
    }
    (Cow::Owned(Request { messages, ..request.clone() }), applied)
}

/// Returns the message with calls that a function changes; `None` if it changes none.
fn with_calls(message: &Message, change: impl Fn(&ToolCall) -> Option<ToolCall>) -> Option<Message> {
    let changed: Vec<Option<ToolCall>> = message.tool_calls.iter().map(change).collect();
    changed.iter().any(Option::is_some).then(|| {
        let calls = changed.into_iter().zip(&message.tool_calls);
        let tool_calls = calls.map(|(changed, call)| changed.unwrap_or_else(|| call.clone())).collect();
        Message { tool_calls, ..message.clone() }
    })
}

/// Returns arguments that are not an object below a key; `None` if they are one.
fn object(arguments: &Data) -> Option<Data> {
    match arguments {
        Data::Dict(_) | Data::Nil => None,
        other => Some(Data::dict([("arguments", other.clone())])),
    }
}

/// Returns the maximum length of a call's id, if the route has one. Servers that imitate the API get their ids back.
fn most(route: &HistoryRoute) -> Option<usize> {
    match (route.provider, route.wire) {
        (Provider::Openai, WireFormat::OpenaiChat) => Some(40),
        (Provider::Openai, WireFormat::OpenaiResponses) => Some(64),
        _ => None,
    }
}

/// Returns the message with ids of calls that a function changes; `None` if it changes none.
fn with_ids(message: &Message, change: impl Fn(&str) -> Option<Arc<str>>) -> Option<Message> {
    let of_result = message.tool_call_id.as_ref().and_then(|id| change(id));
    let of_calls = with_calls(message, |call| Some(ToolCall { id: change(&call.id)?, ..call.clone() }));
    match (of_calls, of_result) {
        (None, None) => None,
        (of_calls, of_result) => {
            let mut changed = of_calls.unwrap_or_else(|| message.clone());
            if of_result.is_some() {
                changed.tool_call_id = of_result;
            }
            Some(changed)
        }
    }
}

/// Returns an id with at most a number of characters, different for different ids; `None` if it is short.
fn shortened(id: &str, most: usize) -> Option<Arc<str>> {
    const DIGEST: usize = 16;
    if id.chars().count() <= most {
        return None;
    }
    let kept: String = id.chars().take(most - DIGEST - 1).collect();
    Some(format!("{kept}_{}", &crate::recording::digest_of(id.as_bytes())[..DIGEST]).into())
}

/// Returns the request without signed thoughts; `None` if it has none.
pub(super) fn without_thoughts(request: &Request) -> Option<Request> {
    let mut is_changed = false;
    let mut without = |message: &Arc<Message>| {
        let Content::Blocks(blocks) = &message.content else { return message.clone() };
        let kept: Vec<Block> = blocks.iter().filter(|block| !anthropic::is_thought(block)).cloned().collect();
        if kept.len() == blocks.len() {
            return message.clone();
        }
        is_changed = true;
        Arc::new(Message { content: Content::Blocks(Arc::new(kept)), ..message.as_ref().clone() })
    };
    let messages = request.messages.iter().map(&mut without).collect();
    is_changed.then(|| Request { messages, ..request.clone() })
}

/// Returns an id of exactly so many letters and digits, different for different ids; `None` if it is one.
fn of_length(id: &str, length: usize) -> Option<Arc<str>> {
    if id.len() == length && id.chars().all(|c| c.is_ascii_alphanumeric()) {
        return None;
    }
    Some(crate::recording::digest_of(id.as_bytes()).chars().cycle().take(length).collect::<String>().into())
}

fn without_unreadable_reasoning(message: &Message) -> Option<Message> {
    let Content::Blocks(blocks) = &message.content else { return None };
    let is_readable =
        |block: &&Block| reasoning(block).is_none_or(|item| item.get("encrypted_content").as_str().is_some());
    let kept: Vec<Block> = blocks.iter().filter(is_readable).cloned().collect();
    with_blocks(message, blocks, kept)
}

fn without_last_reasoning(message: &Message) -> Option<Message> {
    let Content::Blocks(blocks) = &message.content else { return None };
    if !message.tool_calls.is_empty() {
        return None;
    }
    let end = blocks.iter().rposition(|block| reasoning(block).is_none()).map_or(0, |last| last + 1);
    with_blocks(message, blocks, blocks[..end].to_vec())
}

/// Returns the item of a block, if it is one of reasoning.
fn reasoning(block: &Block) -> Option<&Data> {
    match BlockContent::of(block) {
        BlockContent::Other(OPENAI_ITEM, data) => {
            Some(data.get("item")).filter(|item| item.get("type").as_str() == Some("reasoning"))
        }
        _ => None,
    }
}

/// Returns the message with fewer blocks; `None` if it keeps all.
fn with_blocks(message: &Message, blocks: &[Block], kept: Vec<Block>) -> Option<Message> {
    (kept.len() < blocks.len()).then(|| Message { content: Content::Blocks(Arc::new(kept)), ..message.clone() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CHAT: HistoryRoute = of(Provider::Openai, WireFormat::OpenaiChat);
    const RESPONSES: HistoryRoute = of(Provider::Openai, WireFormat::OpenaiResponses);
    const COMPATIBLE: HistoryRoute = of(Provider::OpenaiCompatible, WireFormat::OpenaiChat);
    const ANTHROPIC: HistoryRoute = of(Provider::Anthropic, WireFormat::Anthropic);

    const fn of(provider: Provider, wire: WireFormat) -> HistoryRoute {
        HistoryRoute { provider, wire, bound_thinking: false, alternating_roles: false, call_id_length: None }
    }

    fn request(messages: Vec<Message>) -> Request {
        let tool = runtime::message::ToolSpec::new("look", "Looks.", Data::empty_dict());
        let messages = messages.into_iter().map(Arc::new).collect();
        Request { messages, tools: Arc::new(vec![tool]), ..Request::default() }
    }

    fn called(id: &str, arguments: Data) -> Vec<Message> {
        let call = ToolCall::new(id, "look", arguments);
        vec![
            Message::user("Look."),
            Message::assistant("", vec![call.clone()]),
            Message::tool_result(&call, "seen", true),
        ]
    }

    fn names(rules: &[&HistoryRule]) -> Vec<&'static str> {
        rules.iter().map(|rule| rule.name).collect()
    }

    #[test]
    fn the_reference_has_the_table() {
        let page = include_str!("../../../../docs/reference/models.md");
        for HistoryRule { name, routes, done, source, .. } in HISTORY_RULES {
            let row = format!("| `{name}` | {routes} | {done} | {source} |");
            assert!(page.contains(&row), "{row}");
        }
    }

    #[test]
    fn a_history_that_keeps_the_rules_is_shared() {
        let asked = request(called("call_1", Data::empty_dict()));
        for route in [CHAT, RESPONSES, COMPATIBLE, ANTHROPIC] {
            let (fitted, applied) = fitted(&asked, &route);
            assert!(matches!(fitted, Cow::Borrowed(_)) && applied.is_empty(), "{route:?}");
        }
    }

    #[test]
    fn long_ids_are_shortened_alike_and_stay_different() {
        let [one, two] = ["a", "b"].map(|end| format!("{}{end}", "x".repeat(85)));
        let history = [called(&one, Data::empty_dict()), called(&two, Data::empty_dict())].concat();
        for (route, most) in [(CHAT, 40), (RESPONSES, 64)] {
            let asked = request(history.clone());
            let (fitted, applied) = fitted(&asked, &route);
            assert_eq!(names(&applied), ["call_ids_are_short"]);
            let calls: Vec<_> =
                fitted.messages.iter().flat_map(|it| it.tool_calls.iter().map(|call| call.id.clone())).collect();
            let results: Vec<_> = fitted.messages.iter().filter_map(|it| it.tool_call_id.clone()).collect();
            assert_eq!(calls, results);
            assert!(calls[0] != calls[1] && calls.iter().all(|id| id.len() == most), "{calls:?}");
        }
        assert!(fitted(&request(history), &COMPATIBLE).1.is_empty(), "a server gets its own ids back");
    }

    #[test]
    fn ids_of_another_vendor_get_the_length_that_a_model_wants() {
        let route = HistoryRoute { call_id_length: Some(9), ..COMPATIBLE };
        let asked = request([called("call_1", Data::empty_dict()), called("abcDEF789", Data::empty_dict())].concat());
        let (fitted, applied) = fitted(&asked, &route);
        assert_eq!(names(&applied), ["call_ids_have_a_length"]);
        let id = fitted.messages[1].tool_calls[0].id.clone();
        assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
        assert_eq!(fitted.messages[2].tool_call_id, Some(id));
        assert_eq!(fitted.messages[4].tool_calls[0].id.as_ref(), "abcDEF789");
    }

    #[test]
    fn arguments_that_are_no_object_go_below_a_key() {
        for raw in [Data::from("{\"path\": \"a"), Data::list([1.into()]), Data::from("text")] {
            let asked = request(called("call_1", raw.clone()));
            let (fitted, applied) = fitted(&asked, &COMPATIBLE);
            assert_eq!(names(&applied), ["arguments_are_objects"]);
            assert_eq!(fitted.messages[1].tool_calls[0].arguments.get("arguments"), &raw);
        }
    }

    #[test]
    fn calls_are_text_where_no_tools_are_offered() {
        let asked = Request { tools: Arc::default(), ..request(called("call_1", Data::dict([("at", "x".into())]))) };
        for route in [ANTHROPIC, COMPATIBLE] {
            let (fitted, applied) = fitted(&asked, &route);
            assert_eq!(names(&applied), ["calls_need_tools"]);
            assert_eq!(fitted.messages.len(), asked.messages.len());
            assert!(fitted.messages.iter().all(|it| it.tool_calls.is_empty() && it.tool_call_id.is_none()));
            assert!(fitted.messages[1].text().contains("look") && fitted.messages[2].text().contains("seen"));
        }
        assert!(fitted(&asked, &RESPONSES).1.is_empty());
    }

    #[test]
    fn rules_that_the_encoders_keep_are_named_where_a_request_needs_them() {
        let strict = HistoryRoute { alternating_roles: true, ..COMPATIBLE };
        let bound = HistoryRoute { bound_thinking: true, ..ANTHROPIC };
        let thought = Block::Other(Data::from(json!({"type": "thinking", "thinking": "Hm.", "signature": "s"})));
        let thinking =
            Message { content: Content::Blocks(Arc::new(vec![thought])), ..Message::assistant("", Vec::new()) };
        let plain = request(vec![Message::user("Look.")]);
        for route in [CHAT, RESPONSES, COMPATIBLE, ANTHROPIC, strict, bound] {
            assert!(names(&super::applied(&plain, &route)).is_empty(), "{route:?}");
        }
        let called = called("a b", Data::empty_dict());
        let told = [called, vec![Message::user("So?"), Message::user(" ")]].concat();
        for (route, messages, expected) in [
            (ANTHROPIC, told.clone(), &["ids_have_an_alphabet", "roles_alternate", "texts_say_something"][..]),
            (strict, told.clone(), &["roles_alternate", "the_model_follows_results"]),
            (COMPATIBLE, told, &[]),
            (ANTHROPIC, vec![Message::assistant("Hello.", Vec::new())], &["the_user_begins"]),
            (ANTHROPIC, vec![Message::user("Look."), thinking.clone()], &[]),
            (bound, vec![Message::user("Look."), thinking], &["thoughts_keep_their_prefix"]),
        ] {
            assert_eq!(names(&super::applied(&request(messages), &route)), expected, "{route:?}");
        }
    }

    #[test]
    fn reasoning_without_its_content_is_left_out_unless_it_is_stored() {
        let item = |item| Block::Other(Data::from(json!({"type": OPENAI_ITEM, "item": item})));
        let blocks = vec![
            item(json!({"type": "reasoning", "id": "rs_1", "summary": []})),
            item(json!({"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "b3BhcXVl"})),
            Block::text("Fine."),
        ];
        let answer = Message { content: Content::Blocks(Arc::new(blocks)), ..Message::assistant("", Vec::new()) };
        let asked = request(vec![Message::user("Look."), answer]);
        let (fit, applied) = fitted(&asked, &RESPONSES);
        assert_eq!(names(&applied), ["reasoning_needs_its_content"]);
        let left = fit.messages[1].content.to_blocks();
        assert_eq!(left.len(), 2);
        let lone = Message { content: Content::Blocks(Arc::new(left.clone())), ..Message::assistant("", Vec::new()) };
        assert!(fitted(&request(vec![Message::user("Look."), lone]), &RESPONSES).1.is_empty(), "text follows it");
        let lone =
            Message { content: Content::Blocks(Arc::new(left[..1].to_vec())), ..Message::assistant("", Vec::new()) };
        let cut_off = request(vec![Message::user("Look."), lone]);
        let (fit, applied) = fitted(&cut_off, &RESPONSES);
        assert_eq!(names(&applied), ["reasoning_leads_somewhere"]);
        assert!(fit.messages[1].content.to_blocks().is_empty());
        let stored = Request { extra: [("store".into(), true.into())].into_iter().collect(), ..asked.clone() };
        assert!(fitted(&stored, &RESPONSES).1.is_empty());
    }
}
