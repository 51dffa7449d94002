//! Refusals of bodies, whatever came before.

use super::{
    APIS, Api, CLAUDE, CLAUDE_BOUND, GEMINI, GEMINI_2, GPT, GPT_REASONING, MISTRAL, OLLAMA, TEMPLATE, Wire, blocks,
    list,
};
use serde_json::{Value, json};

/// A rule of some APIs.
pub struct Rule {
    pub name: &'static str,
    pub apis: &'static [Api],
    /// The page or the error that states it.
    pub source: &'static str,
    /// The words of the refusal.
    pub words: &'static str,
    /// Whether servers with templates of their own teach it by a refusal.
    pub is_taught: bool,
    /// Whether a body breaks it.
    pub breaks: fn(&Value) -> bool,
    /// A body that breaks it, and no rule before it.
    pub example: fn() -> Value,
}

const ANTHROPIC: &[Api] = &[CLAUDE, CLAUDE_BOUND];
const OPENAI_CHAT: &[Api] = &[GPT];
const CHAT: &[Api] = &[GPT, MISTRAL, TEMPLATE];
const GEMINIS: &[Api] = &[GEMINI, GEMINI_2];
const IMITATORS: &[Api] = &[MISTRAL, TEMPLATE];

/// Returns the rule that a body breaks.
pub fn broken(api: &Api, body: &Value) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.apis.contains(api) && (rule.breaks)(body))
}

pub const RULES: &[Rule] = &[
    Rule {
        name: "it names a model and has messages",
        apis: &[CLAUDE, CLAUDE_BOUND, GPT, MISTRAL, TEMPLATE, OLLAMA],
        source: "every reference of these APIs: required parameters",
        words: "model and messages: Field required",
        is_taught: false,
        breaks: |body| !body["model"].is_string() || list(body, "messages").is_empty(),
        example: || json!({"model": "m", "messages": []}),
    },
    Rule {
        name: "only known keys",
        apis: ANTHROPIC,
        source: "Anthropic, errors of the Messages API: extra inputs are not permitted",
        words: "Extra inputs are not permitted",
        is_taught: false,
        breaks: |body| {
            let known = |block: &Value, keys: &[&str]| {
                block.as_object().is_none_or(|fields| fields.keys().all(|key| keys.contains(&key.as_str())))
            };
            list(body, "messages").iter().any(|message| {
                !known(message, &["role", "content"])
                    || blocks(message).iter().any(|block| match block["type"].as_str() {
                        Some("thinking") => !known(block, &["type", "thinking", "signature"]),
                        Some("redacted_thinking") => !known(block, &["type", "data"]),
                        Some("text") => !known(block, &["type", "text", "cache_control", "citations"]),
                        Some("tool_use") => !known(block, &["type", "id", "name", "input", "cache_control"]),
                        Some("tool_result") => {
                            !known(block, &["type", "tool_use_id", "content", "is_error", "cache_control"])
                        }
                        Some(kind) => !["image", "document"].contains(&kind),
                        None => true,
                    })
            })
        },
        example: || {
            json!({"model": "m", "messages": [
                user("Look."), {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "s", "prefix_digest": "d"}]},
                user("And?")]})
        },
    },
    Rule {
        name: "the first message is the user's",
        apis: ANTHROPIC,
        source: "Anthropic, Messages API, `messages`",
        words: "messages: first message must use the \"user\" role",
        is_taught: false,
        breaks: |body| body["messages"][0]["role"] != "user",
        example: || json!({"model": "m", "messages": [{"role": "assistant", "content": "Hello."}, user("And?")]}),
    },
    Rule {
        name: "no message is empty",
        apis: ANTHROPIC,
        source: "Anthropic, error of the Messages API",
        words: "messages: all messages must have non-empty content except for the optional final assistant message",
        is_taught: false,
        breaks: |body| list(body, "messages").iter().any(|message| blocks(message).is_empty()),
        example: || json!({"model": "m", "messages": [{"role": "user", "content": []}]}),
    },
    Rule {
        name: "texts say something",
        apis: ANTHROPIC,
        source: "Anthropic, error of the Messages API",
        words: "messages: text content blocks must contain non-whitespace text",
        is_taught: false,
        breaks: |body| {
            let blank =
                |block: &Value| block["type"] == "text" && block["text"].as_str().unwrap_or_default().trim().is_empty();
            list(body, "messages").iter().any(|message| blocks(message).iter().any(blank))
        },
        example: || json!({"model": "m", "messages": [user("  ")]}),
    },
    Rule {
        name: "calls have their results in the next message",
        apis: ANTHROPIC,
        source: "Anthropic, tool use: results must immediately follow their calls",
        words: "`tool_use` ids were found without `tool_result` blocks immediately after",
        is_taught: false,
        breaks: |body| {
            let messages = list(body, "messages");
            messages.iter().enumerate().any(|(index, message)| {
                let results = messages.get(index + 1).map(|next| ids(next, "tool_result", "tool_use_id"));
                let results = results.unwrap_or_default();
                message["role"] == "assistant" && ids(message, "tool_use", "id").iter().any(|id| !results.contains(id))
            })
        },
        example: || json!({"model": "m", "tools": [tool()], "messages": [user("Look."), claude_calls("a"), user("Stop.")]}),
    },
    Rule {
        name: "results have their calls in the message before",
        apis: ANTHROPIC,
        source: "Anthropic, error of the Messages API",
        words: "unexpected `tool_use_id` found in `tool_result` blocks",
        is_taught: false,
        breaks: |body| {
            let messages = list(body, "messages");
            messages.iter().enumerate().any(|(index, message)| {
                let before = index.checked_sub(1).map(|index| ids(&messages[index], "tool_use", "id"));
                let before = before.unwrap_or_default();
                ids(message, "tool_result", "tool_use_id").iter().any(|id| !before.contains(id))
            })
        },
        example: || json!({"model": "m", "tools": [tool()], "messages": [claude_result("a")]}),
    },
    Rule {
        name: "results come first in their message",
        apis: ANTHROPIC,
        source: "Anthropic, tool use: results must come first in the content",
        words: "tool_result blocks must come before other content",
        is_taught: false,
        breaks: |body| {
            list(body, "messages").iter().any(|message| {
                let is_result: Vec<bool> = blocks(message).iter().map(|block| block["type"] == "tool_result").collect();
                is_result.windows(2).any(|pair| !pair[0] && pair[1])
            })
        },
        example: || {
            let mut result = claude_result("a");
            result["content"].as_array_mut().unwrap().insert(0, json!({"type": "text", "text": "Stop."}));
            json!({"model": "m", "tools": [tool()], "messages": [user("Look."), claude_calls("a"), result]})
        },
    },
    Rule {
        name: "ids of calls are unique and have an alphabet",
        apis: ANTHROPIC,
        source: "Anthropic, errors of the Messages API",
        words: "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$' and be unique",
        is_taught: false,
        breaks: |body| {
            let all: Vec<String> =
                list(body, "messages").iter().flat_map(|message| ids(message, "tool_use", "id")).collect();
            let fits =
                |id: &String| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            !all.iter().all(fits) || has_twins(&all)
        },
        example: || json!({"model": "m", "tools": [tool()], "messages": [user("Look."), claude_calls("a b"), claude_result("a b")]}),
    },
    Rule {
        name: "calls in the history need tools",
        apis: ANTHROPIC,
        source: "Anthropic, error of the Messages API",
        words: "Requests which include `tool_use` or `tool_result` blocks must define tools",
        is_taught: false,
        breaks: |body| {
            let has_calls = list(body, "messages").iter().any(|message| {
                blocks(message).iter().any(|block| matches!(block["type"].as_str(), Some("tool_use" | "tool_result")))
            });
            has_calls && list(body, "tools").is_empty()
        },
        example: || json!({"model": "m", "messages": [user("Look."), claude_calls("a"), claude_result("a")]}),
    },
    Rule {
        name: "at most four marks of the cache",
        apis: ANTHROPIC,
        source: "Anthropic, prompt caching: up to four breakpoints",
        words: "A maximum of 4 blocks with cache_control may be provided",
        is_taught: false,
        breaks: |body| body.to_string().matches("\"cache_control\":{").count() > 4,
        example: || {
            let marked = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
            json!({"model": "m", "messages": [{"role": "user", "content": vec![marked; 5]}]})
        },
    },
    Rule {
        name: "a forced tool excludes thinking",
        apis: ANTHROPIC,
        source: "Anthropic, extended thinking: only `auto` and `none` are compatible",
        words: "Thinking may not be enabled when tool_choice forces tool use",
        is_taught: false,
        breaks: |body| {
            let forced = matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool"));
            forced && matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive"))
        },
        example: || {
            json!({"model": "m", "messages": [user("Look.")], "tools": [tool()], "tool_choice": {"type": "any"},
                "thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000})
        },
    },
    Rule {
        name: "thinking is adaptive and no tool is forced",
        apis: &[CLAUDE_BOUND],
        source: "Anthropic, models that always think",
        words: "thinking.type: only \"adaptive\" is supported by this model, and tool_choice cannot force tool use",
        is_taught: false,
        breaks: |body| {
            body["thinking"]["type"].as_str().is_some_and(|kind| kind != "adaptive")
                || matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool"))
        },
        example: || json!({"model": "m", "messages": [user("Look.")], "thinking": {"type": "disabled"}}),
    },
    Rule {
        name: "the budget is less than the limit",
        apis: &[CLAUDE],
        source: "Anthropic, extended thinking",
        words: "`max_tokens` must be greater than `thinking.budget_tokens`",
        is_taught: false,
        breaks: |body| {
            let budget = body["thinking"]["budget_tokens"].as_u64();
            budget.is_some_and(|budget| body["max_tokens"].as_u64().unwrap_or(0) <= budget)
        },
        example: || {
            json!({"model": "m", "messages": [user("Look.")], "max_tokens": 1024,
                "thinking": {"type": "enabled", "budget_tokens": 1024}})
        },
    },
    Rule {
        name: "schemas of tools are plain objects",
        apis: ANTHROPIC,
        source: "Anthropic, error of the Messages API",
        words: "input_schema does not support oneOf, allOf, or anyOf at the top level",
        is_taught: false,
        breaks: |body| list(body, "tools").iter().any(|tool| is_odd_schema(&tool["input_schema"], true)),
        example: || {
            let schema = json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
            json!({"model": "m", "messages": [user("Look.")], "tools": [{"name": "look", "input_schema": schema}]})
        },
    },
    Rule {
        name: "an instruction follows the user and precedes the model",
        apis: ANTHROPIC,
        source: "Anthropic, mid-conversation system messages",
        words: "messages: role \"system\" must follow a user message, at the end or before an assistant message",
        is_taught: false,
        breaks: |body| {
            let messages = list(body, "messages");
            messages.iter().enumerate().any(|(index, message)| {
                message["role"] == "system"
                    && (index == 0
                        || messages[index - 1]["role"] != "user"
                        || messages.get(index + 1).is_some_and(|next| next["role"] != "assistant"))
            })
        },
        example: || json!({"model": "m", "messages": [user("Look."), {"role": "system", "content": "Be short."}, user("And?")]}),
    },
    Rule {
        name: "calls have their results behind them",
        apis: CHAT,
        source: "OpenAI, error of Chat Completions",
        words: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'",
        is_taught: false,
        breaks: |body| chat_order(body).is_some_and(|problem| problem == ChatProblem::OpenCall),
        example: || json!({"model": "m", "messages": [user("Look."), chat_calls("a"), user("Stop.")]}),
    },
    Rule {
        name: "results have their calls before them",
        apis: CHAT,
        source: "OpenAI, error of Chat Completions",
        words: "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        is_taught: false,
        breaks: |body| chat_order(body).is_some_and(|problem| problem == ChatProblem::StrayResult),
        example: || json!({"model": "m", "messages": [user("Look."), chat_result("a")]}),
    },
    Rule {
        name: "ids of calls have at most 40 characters",
        apis: OPENAI_CHAT,
        source: "OpenAI, error `string_above_max_length`",
        words: "Invalid 'messages.tool_calls.id': string too long. Expected a string with maximum length 40",
        is_taught: false,
        breaks: |body| chat_ids(body).iter().any(|id| id.chars().count() > 40),
        example: || {
            let id = "x".repeat(41);
            json!({"model": "m", "messages": [user("Look."), chat_calls(&id), chat_result(&id)]})
        },
    },
    Rule {
        name: "ids of calls have nine letters and digits",
        apis: &[MISTRAL],
        source: "Mistral, error of its chat API",
        words: "Tool call id must be a-z, A-Z, 0-9, with a length of 9",
        is_taught: false,
        breaks: |body| chat_ids(body).iter().any(|id| id.len() != 9 || !id.chars().all(|c| c.is_ascii_alphanumeric())),
        example: || json!({"model": "m", "messages": [user("Look."), chat_calls("call_1"), chat_result("call_1")]}),
    },
    Rule {
        name: "arguments are the JSON text of an object",
        apis: CHAT,
        source: "OpenAI, `function.arguments`; vLLM parses them for its template",
        words: "Invalid type for 'messages.tool_calls.function.arguments': expected the JSON text of an object",
        is_taught: false,
        breaks: |body| {
            let calls = list(body, "messages").iter().flat_map(|message| list(message, "tool_calls"));
            calls.into_iter().any(|call| !is_object_text(&call["function"]["arguments"]))
        },
        example: || {
            let mut calls = chat_calls("abcdefghi");
            calls["tool_calls"][0]["function"]["arguments"] = "{\"path".into();
            json!({"model": "m", "messages": [user("Look."), calls, chat_result("abcdefghi")]})
        },
    },
    Rule {
        name: "the model says something or calls",
        apis: CHAT,
        source: "OpenAI, Chat Completions, assistant messages",
        words: "Invalid value for 'content': expected a string, got null",
        is_taught: false,
        breaks: |body| {
            list(body, "messages").iter().any(|message| {
                message["role"] == "assistant"
                    && message.get("tool_calls").is_none()
                    && message["content"].as_str().is_none_or(str::is_empty)
            })
        },
        example: || json!({"model": "m", "messages": [user("Look."), {"role": "assistant", "content": null}, user("And?")]}),
    },
    Rule {
        name: "a choice of tools needs tools",
        apis: CHAT,
        source: "OpenAI, error of Chat Completions",
        words: "'tool_choice' is only allowed when 'tools' are specified",
        is_taught: false,
        breaks: |body| !body["tool_choice"].is_null() && list(body, "tools").is_empty() || body["tools"] == json!([]),
        example: || json!({"model": "m", "messages": [user("Look.")], "tool_choice": "auto"}),
    },
    Rule {
        name: "schemas of functions are plain objects",
        apis: OPENAI_CHAT,
        source: "OpenAI, error `invalid_function_parameters`",
        words: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level",
        is_taught: false,
        breaks: |body| list(body, "tools").iter().any(|tool| is_odd_schema(&tool["function"]["parameters"], false)),
        example: || {
            let schema = json!({"type": "object", "oneOf": [{"required": ["a"]}]});
            let function = json!({"name": "look", "parameters": schema});
            json!({"model": "m", "messages": [user("Look.")], "tools": [{"type": "function", "function": function}]})
        },
    },
    Rule {
        name: "no word is newer than the API",
        apis: IMITATORS,
        source: "vLLM and Mistral, roles of messages",
        words: "Unexpected role 'developer'",
        is_taught: false,
        breaks: |body| list(body, "messages").iter().any(|message| message["role"] == "developer"),
        example: || json!({"model": "m", "messages": [{"role": "developer", "content": "Be short."}, user("Look.")]}),
    },
    Rule {
        name: "the user does not follow a result",
        apis: IMITATORS,
        source: "Mistral, error of its chat API",
        words: "Unexpected role 'user' after role 'tool'",
        is_taught: true,
        breaks: |body| follows(body, "tool", "user"),
        example: || json!({"model": "m", "messages": [user("Look."), chat_calls("abcdefghi"), chat_result("abcdefghi"), user("So?")]}),
    },
    Rule {
        name: "roles alternate",
        apis: &[TEMPLATE],
        source: "chat templates of Gemma, Llama 2 and others",
        words: "Conversation roles must alternate user/assistant/user/assistant/...",
        is_taught: true,
        breaks: |body| {
            follows(body, "user", "user")
                || follows(body, "assistant", "assistant")
                || list(body, "messages")
                    .iter()
                    .find(|it| it["role"] != "system")
                    .is_some_and(|it| it["role"] != "user")
        },
        example: || json!({"model": "m", "messages": [user("Look."), user("And?")]}),
    },
    Rule {
        name: "instructions come first",
        apis: IMITATORS,
        source: "vLLM, chat templates of Mistral and Qwen",
        words: "System message must be at the beginning.",
        is_taught: true,
        breaks: |body| list(body, "messages").iter().skip(1).any(|message| message["role"] == "system"),
        example: || {
            json!({"model": "m", "messages": [user("Look."), {"role": "assistant", "content": "I look."},
                {"role": "system", "content": "Be short."}, user("And?")]})
        },
    },
    Rule {
        name: "the user or a tool is last",
        apis: IMITATORS,
        source: "Mistral, error of its chat API",
        words: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        is_taught: false,
        breaks: |body| list(body, "messages").last().is_some_and(|last| last["role"] == "assistant"),
        example: || json!({"model": "m", "messages": [user("Look."), {"role": "assistant", "content": "I look."}]}),
    },
    Rule {
        name: "calls have their outputs",
        apis: &[GPT_REASONING],
        source: "OpenAI, error of the Responses API",
        words: "No tool output found for function call",
        is_taught: false,
        breaks: |body| {
            let items = list(body, "input");
            let of =
                |kind: &str| items.iter().filter(|it| it["type"] == kind).map(|it| &it["call_id"]).collect::<Vec<_>>();
            let outputs = of("function_call_output");
            of("function_call").iter().any(|id| !outputs.contains(id))
        },
        example: || json!({"model": "m", "input": [user("Look."), item_call("a"), user("Stop.")]}),
    },
    Rule {
        name: "outputs have their calls before them",
        apis: &[GPT_REASONING],
        source: "OpenAI, error of the Responses API",
        words: "No tool call found for function call output with call_id",
        is_taught: false,
        breaks: |body| {
            let items = list(body, "input");
            items.iter().enumerate().any(|(index, item)| {
                item["type"] == "function_call_output"
                    && !items[..index]
                        .iter()
                        .any(|it| it["type"] == "function_call" && it["call_id"] == item["call_id"])
            })
        },
        example: || json!({"model": "m", "input": [{"type": "function_call_output", "call_id": "a", "output": "x"}]}),
    },
    Rule {
        name: "call ids have at most 64 characters",
        apis: &[GPT_REASONING],
        source: "OpenAI, error `string_above_max_length`",
        words: "Invalid 'input.call_id': string too long. Expected a string with maximum length 64",
        is_taught: false,
        breaks: |body| {
            list(body, "input").iter().any(|it| it["call_id"].as_str().is_some_and(|id| id.chars().count() > 64))
        },
        example: || {
            let id = "x".repeat(65);
            let output = json!({"type": "function_call_output", "call_id": id, "output": "x"});
            json!({"model": "m", "input": [user("Look."), item_call(&id), output]})
        },
    },
    Rule {
        name: "reasoning has its content where nothing is stored",
        apis: &[GPT_REASONING],
        source: "OpenAI, Responses, `store`",
        words: "Item 'rs_1' not found. Items are not persisted when `store` is set to false",
        is_taught: false,
        breaks: |body| {
            body["store"] == false
                && list(body, "input")
                    .iter()
                    .any(|it| it["type"] == "reasoning" && !it["encrypted_content"].is_string())
        },
        example: || json!({"model": "m", "store": false, "input": [user("Look."), {"type": "reasoning", "id": "rs_1", "summary": []}]}),
    },
    Rule {
        name: "reasoning is followed by what it led to",
        apis: &[GPT_REASONING],
        source: "OpenAI, error of the Responses API",
        words: "Item 'rs_1' of type 'reasoning' was provided without its required following item",
        is_taught: false,
        breaks: |body| {
            let items = list(body, "input");
            items.iter().enumerate().any(|(index, item)| {
                let next = items.get(index + 1);
                let leads = next.is_some_and(|next| {
                    next["type"] == "function_call" || next["type"] == "reasoning" || next["role"] == "assistant"
                });
                item["type"] == "reasoning" && !leads
            })
        },
        example: || {
            json!({"model": "m", "store": false, "input": [user("Look."),
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}, user("And?")]})
        },
    },
    Rule {
        name: "turns begin with the user and alternate",
        apis: GEMINIS,
        source: "Gemini, error of generateContent",
        words: "Please ensure that function call turn comes immediately after a user turn or after a function response turn",
        is_taught: false,
        breaks: |body| {
            let turns = list(body, "contents");
            turns.is_empty()
                || turns[0]["role"] != "user"
                || turns.windows(2).any(|pair| pair[0]["role"] == pair[1]["role"])
                || turns.iter().any(|turn| turn["role"] != "user" && turn["role"] != "model")
        },
        example: || json!({"contents": [{"role": "model", "parts": [{"text": "Hello."}]}]}),
    },
    Rule {
        name: "turns have parts that say something",
        apis: GEMINIS,
        source: "Gemini, errors of generateContent",
        words: "contents.parts must not be empty",
        is_taught: false,
        breaks: |body| {
            list(body, "contents").iter().any(|turn| {
                let parts = list(turn, "parts");
                parts.is_empty()
                    || parts.iter().any(|part| part["text"] == "" && part.get("thoughtSignature").is_none())
            })
        },
        example: || json!({"contents": [{"role": "user", "parts": [{"text": ""}]}]}),
    },
    Rule {
        name: "there are as many responses as calls",
        apis: GEMINIS,
        source: "Gemini, error of generateContent",
        words: "Please ensure that the number of function response parts is equal to the number of function call parts",
        is_taught: false,
        breaks: |body| {
            let turns = list(body, "contents");
            let count =
                |turn: &Value, key: &str| list(turn, "parts").iter().filter(|part| part.get(key).is_some()).count();
            turns.iter().enumerate().any(|(index, turn)| {
                let calls = index.checked_sub(1).map_or(0, |before| count(&turns[before], "functionCall"));
                count(turn, "functionResponse") != calls || index + 1 == turns.len() && count(turn, "functionCall") > 0
            })
        },
        example: || {
            json!({"contents": [{"role": "user", "parts": [{"text": "Look."}]},
                {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}, "thoughtSignature": "s"}]},
                {"role": "user", "parts": [{"text": "Stop."}]}]})
        },
    },
    Rule {
        name: "the first call of a turn is signed",
        apis: &[GEMINI],
        source: "Gemini 3, thought signatures",
        words: "Function call is missing a thought_signature in functionCall parts",
        is_taught: false,
        breaks: |body| {
            list(body, "contents").iter().any(|turn| {
                let first = list(turn, "parts").iter().find(|part| part.get("functionCall").is_some());
                first.is_some_and(|part| part["thoughtSignature"].as_str().is_none_or(str::is_empty))
            })
        },
        example: || {
            json!({"contents": [{"role": "user", "parts": [{"text": "Look."}]},
                {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {}}}]}]})
        },
    },
    Rule {
        name: "arguments are objects",
        apis: &[OLLAMA],
        source: "Ollama, error of /api/chat",
        words: "json: cannot unmarshal string into Go struct field .messages.tool_calls.function.arguments",
        is_taught: false,
        breaks: |body| {
            let calls = list(body, "messages").iter().flat_map(|message| list(message, "tool_calls"));
            calls.into_iter().any(|call| !call["function"]["arguments"].is_object())
        },
        example: || {
            json!({"model": "m", "messages": [user("Look."), {"role": "assistant", "content": "",
                "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]}]})
        },
    },
];

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn tool() -> Value {
    json!({"name": "look", "input_schema": {"type": "object", "properties": {}}})
}

fn claude_calls(id: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "look", "input": {}}]})
}

fn claude_result(id: &str) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "seen"}]})
}

fn chat_calls(id: &str) -> Value {
    let function = json!({"name": "look", "arguments": "{}"});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

fn chat_result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "seen"})
}

fn item_call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"})
}

fn ids(message: &Value, kind: &str, key: &str) -> Vec<String> {
    let blocks = blocks(message);
    let of_kind = blocks.iter().filter(|block| block["type"] == kind);
    of_kind.map(|block| block[key].as_str().unwrap_or_default().to_owned()).collect()
}

fn has_twins(ids: &[String]) -> bool {
    ids.iter().enumerate().any(|(index, id)| ids[..index].contains(id))
}

fn chat_ids(body: &Value) -> Vec<String> {
    let messages = list(body, "messages");
    let calls = messages.iter().flat_map(|message| list(message, "tool_calls")).map(|call| &call["id"]);
    let results = messages.iter().filter(|message| message["role"] == "tool").map(|message| &message["tool_call_id"]);
    calls.chain(results).map(|id| id.as_str().unwrap_or_default().to_owned()).collect()
}

fn is_object_text(arguments: &Value) -> bool {
    let text = arguments.as_str().unwrap_or_default();
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

fn is_odd_schema(schema: &Value, checks_names: bool) -> bool {
    let fits = |name: &String| {
        (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    let names = schema["properties"].as_object();
    schema["type"] != "object"
        || ["anyOf", "oneOf", "allOf", "enum", "not"].iter().any(|key| schema.get(key).is_some())
        || checks_names && names.is_some_and(|names| !names.keys().all(fits))
}

fn follows(body: &Value, before: &str, after: &str) -> bool {
    list(body, "messages").windows(2).any(|pair| pair[0]["role"] == before && pair[1]["role"] == after)
}

#[derive(PartialEq, Eq)]
enum ChatProblem {
    OpenCall,
    StrayResult,
}

/// The first problem of calls and results in their order.
fn chat_order(body: &Value) -> Option<ChatProblem> {
    let mut open: Vec<&Value> = Vec::new();
    for message in list(body, "messages") {
        if message["role"] == "tool" {
            match open.iter().position(|id| **id == message["tool_call_id"]) {
                Some(place) => drop(open.remove(place)),
                None => return Some(ChatProblem::StrayResult),
            }
            continue;
        }
        if !open.is_empty() {
            return Some(ChatProblem::OpenCall);
        }
        open = list(message, "tool_calls").iter().map(|call| &call["id"]).collect();
    }
    (!open.is_empty()).then_some(ChatProblem::OpenCall)
}

#[test]
fn each_rule_refuses_its_example_and_has_a_source() {
    for rule in RULES {
        assert!(!rule.apis.is_empty() && !rule.source.is_empty() && !rule.words.is_empty(), "{}", rule.name);
        for api in rule.apis {
            let found = broken(api, &(rule.example)()).map(|rule| rule.name);
            assert_eq!(found, Some(rule.name), "{}", api.name);
        }
    }
    for api in APIS {
        assert!(RULES.iter().any(|rule| rule.apis.contains(&api)), "{}", api.name);
        let plain = match api.wire {
            Wire::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": "Look."}]}]}),
            Wire::Responses => json!({"model": "m", "input": [user("Look.")]}),
            _ => json!({"model": "m", "messages": [user("Look.")]}),
        };
        assert!(broken(&api, &plain).is_none(), "{}", api.name);
    }
}
