//! Options of `llm_call` and `agent_loop`, from a dict of the script.
//!
//! The lists of options are closed and defined once: `check` compares literals with the named types
//! below, and at run time the same names decide which key is unknown.

mod a2a;
mod budget;
pub(crate) mod compaction;
pub(crate) mod daemon;
mod handed_over;
mod hub;
mod payloads;
#[cfg(test)]
mod wrong_literals;

pub(crate) use handed_over::HANDED_OVER;
pub(crate) use payloads::PAYLOADS;

use crate::bind::ScriptFn;
use crate::convert::{to_data, to_data_lossy};
use crate::fault::of_reminder;
use crate::values::TranscriptValue;
use crate::world::World;
use lang::builtins::args;
use lang::diagnostic::nearest;
use lang::value::{Dict, Str, Value, article, display};
use lang::vm::{Cx, Raise, TypeValue};
use runtime::data::{Data, Entries};
use runtime::model::{Request, System};
use runtime::reminder::ReminderError;
use runtime::reminder::providers::ReminderOptions;
use runtime::seam::Scope;
use runtime::transcript::Transcript;
use std::sync::Arc;

/// Named types that signatures mention.
pub(crate) static SHAPES: &[(&str, &str)] = &[
    (
        "ReminderSpec",
        "{body: string | dict, bodies?: dict, tags?: list<string>, dedupe_key?: string, ttl_turns?: positive, \
         preserve_on_compact?: bool, propagate?: \"all\" | \"session\" | \"none\", \
         role_hint?: \"system\" | \"developer\" | \"user_block\" | \"ephemeral_cache\", \
         priority?: \"low\" | \"normal\" | \"high\" | \"critical\", cooldown_turns?: positive, every?: positive, \
         max_times?: positive, escalate?: list<string>, refresh?: \"always\" | \"on_change\", \
         when?: fn(any) -> any, until?: fn(any) -> any, expect?: any}",
    ),
    ("ReminderSelector", "{id?: string, tag?: string, dedupe_key?: string}"),
    (
        "BridgeInjection",
        "{body?: string, content?: any, mode?: \"interrupt_immediate\" | \"finish_step\" | \"audit_only\", \
         tags?: list<string>, dedupe_key?: string, ttl_turns?: positive, preserve_on_compact?: bool, \
         propagate?: \"all\" | \"session\" | \"none\", \
         role_hint?: \"system\" | \"developer\" | \"user_block\" | \"ephemeral_cache\"}",
    ),
    (
        "LoopReminders",
        "{enabled?: bool, providers?: list<string>, packs?: list<string>, config?: dict, strict?: bool, \
         placement?: \"head\" | \"tail\" | \"auto\", native?: bool, files?: bool, max_tokens?: positive, max_share?: share}",
    ),
    ("ReminderJudge", "{judge: string, provider?: string, model?: string}"),
    ("LoopPermissions", "{ask?: list<string>, deny?: list<string>, decide?: fn(any) -> any}"),
    (
        "ToolAnnotations",
        "{title?: string, kind?: \"read\" | \"search\" | \"think\" | \"fetch\" | \"edit\" | \"delete\" | \"move\" | \"execute\" | \"other\", \
         permission?: bool | string, sequential?: bool, timeout_ms?: ms, read_only?: bool, root?: string, ...}",
    ),
    (
        "LoopCompaction",
        "{threshold?: share | tokens, strategy?: \"truncate\" | \"llm\" | \"observation_mask\" | \"custom\", keep_last?: count, \
         target_tokens?: count, summary?: string, summarize_prompt?: string, custom_compactor?: fn(any, any) -> any}",
    ),
    ("LlmOptions", LLM),
    ("AgentLoopOptions", LOOP),
    ("SubAgentOptions", SUB_AGENT),
    ("WorkerSpec", WORKER),
    ("Handoff", HANDOFF),
    ("WorkerBehaviour", BEHAVIOUR),
    (
        "PlanEntry",
        "{content: string, priority?: \"high\" | \"medium\" | \"low\", \
         status?: \"pending\" | \"in_progress\" | \"completed\"}",
    ),
    (
        "TaskArtifact",
        "{name: string, parts: list<any>, id?: string, description?: string, append?: bool, last_chunk?: bool, metadata?: dict}",
    ),
    ("PartialResult", "{completed_portion?: float | int, data?: any, can_resume?: bool, resume_token?: string}"),
    ("Budget", budget::BUDGET),
    ("HttpOptions", HTTP),
    ("A2aOptions", a2a::CARD),
    ("A2aSendOptions", a2a::SEND),
    ("A2aStreamOptions", a2a::STREAM),
    ("A2aSubscribeOptions", a2a::SUBSCRIBE),
    ("A2aGetOptions", a2a::GET),
    ("A2aInjectOptions", a2a::INJECT),
    ("HubConnectOptions", hub::CONNECT),
    ("HubCard", hub::CARD),
    ("HubRegisterOptions", hub::REGISTER),
    ("HubPublishOptions", hub::PUBLISH),
    ("HubRequestOptions", hub::REQUEST),
    ("HubClaimOptions", hub::CLAIM),
    ("HubTasksOptions", hub::TASKS),
    ("HubEventsOptions", hub::EVENTS),
    ("HubListOptions", hub::LIST),
    ("HubDeadLetterOptions", hub::DEAD_LETTERS),
    ("HubProgress", hub::PROGRESS),
    (
        "ChannelOptions",
        "{name?: string, role?: \"client\" | \"host\" | \"worker\" | \"remote_runtime\" | \"peer_agent\" | \"tool_server\", \
         can?: list<string>, secret?: string, secret_env?: string}",
    ),
    ("ChannelActionOptions", "{session_id?: string, action_id?: string}"),
    ("ChannelEventsOptions", "{session_id?: string, after?: count, idle_ms?: ms}"),
    ("ToolSource", "{tools: dict, ...} | {handler: any, ...}"),
    ("ShellToolOptions", SHELL_TOOL),
    ("McpServer", crate::mcp::SERVER),
    (
        "CompactOptions",
        "{strategy?: \"truncate\" | \"llm\" | \"observation_mask\" | \"custom\", keep_last?: count, target_tokens?: count, \
         summary?: string, summarize_prompt?: string, custom_compactor?: fn(any, any) -> any}",
    ),
    (
        "MockReply",
        "{text?: string, reasoning?: string, tool_calls?: list<any>, input_tokens?: int, output_tokens?: int, model?: string, match?: string, \
         error?: {category?: string, message?: string, status?: int, retry_after_ms?: ms}, delay_ms?: ms}",
    ),
    ("FactOptions", "{root?: string, namespace?: string, now?: any}"),
    ("RecallOptions", "{root?: string, namespace?: string, now?: any, limit?: int}"),
    (
        "Fact",
        "{kind: string, claim: string, confidence: float, evidence?: list<any>, provenance?: any, valid_until?: any}",
    ),
];

const SHELL_TOOL: &str = "{root: string, allow: list<string>, name?: string, timeout_ms?: ms, max_output?: count, \
    env?: list<string>, readable?: list<string>, writable?: list<string>}";

const HTTP: &str = "{headers?: dict, timeout_ms?: ms, query?: dict, form?: dict, json?: any, retries?: count}";

const LLM: &str = "{provider?: string, model?: string, session_id?: string, transcript?: dict, messages?: list<dict>, \
    system_prompt_parts?: list<string>, system_appendix?: string, system_suffix?: string, temperature?: float, \
    top_p?: float, stop?: string | list<string>, seed?: int, extra?: dict, prompt_cache?: bool, max_tokens?: count, tools?: ToolSource | list<ToolSource | list<any>>, tool_choice?: any, tool_format?: \"native\" | \"text\", output_schema?: dict, returns?: dict, \
    thinking?: any, timeout_ms?: ms, stream?: bool, llm_retries?: count, budget?: Budget, reminders?: any}";

/// The options of a loop, behind those that a caller has beside them.
macro_rules! loop_options {
    ($more:literal) => {
        concat!(
            "{",
            $more,
            "provider?: string, model?: string, session_id?: string, messages?: list<dict>, \
             system_prompt_parts?: list<string>, system_appendix?: string, system_suffix?: string, temperature?: float, \
             top_p?: float, stop?: string | list<string>, seed?: int, extra?: dict, prompt_cache?: bool, max_tokens?: count, tools?: ToolSource | list<ToolSource | list<any>>, tool_choice?: any, mcp_servers?: list<string | McpServer>, tool_format?: \"native\" | \"text\", output_schema?: dict, \
             thinking?: any, timeout_ms?: ms, stream?: bool, llm_retries?: count, persona?: string, permissions?: LoopPermissions | fn(any) -> any, deadline?: ms, hook_timeout_ms?: ms, daemon?: bool, wake_interval_ms?: ms, \
             watch_paths?: string | list<string>, consolidate_on_idle?: bool | CompactOptions, max_iterations?: count, \
             max_nudges?: count, loop_until_done?: bool, done_sentinel?: string, llm_caller?: fn(any) -> any, post_turn_callback?: fn(any) -> any, reminders?: any, \
             auto_compact?: bool, compact_threshold?: share | tokens, compact_keep_last?: count, \
             compact_strategy?: \"truncate\" | \"llm\" | \"observation_mask\" | \"custom\", \
             compact_callback?: fn(any, any) -> any, compaction?: bool | LoopCompaction, token_budget?: count, budget?: Budget, max_tool_output_chars?: count, parallel_tool_calls?: bool, max_repeats?: count}"
        )
    };
}

const LOOP: &str = loop_options!("transcript?: dict, persist_path?: string, resume_path?: string, ");

const SUB_AGENT: &str = loop_options!(
    "name?: string, system?: string, background?: bool, parent_session_id?: string, reminder_propagation?: list<any>, "
);

const HANDOFF: &str = "{source_persona: string, target_persona_or_human: any, task: any, reason: string, \
    session_id?: string, metadata?: any, reminder_propagation?: list<any>}";

const BEHAVIOUR: &str = loop_options!("name?: string, system?: string, ");

const WORKER: &str = loop_options!(
    "name?: string, task: any, system?: string, parent_session_id?: string, reminder_propagation?: list<any>, "
);

/// The keys of a shape.
fn keys_of(shape: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0_i32;
    let mut fresh = true;
    shape.split_inclusive(['{', '}', '<', '>', ',', ':']).filter_map(move |piece| {
        let (word, end) = piece.split_at(piece.len() - 1);
        let was_fresh = fresh && depth == 1;
        match end {
            "{" | "<" => depth += 1,
            // `->` is not a bracket.
            ">" if !word.ends_with('-') => depth -= 1,
            "}" => depth -= 1,
            _ => {}
        }
        fresh = matches!(end, "{" | ",");
        (was_fresh && end == ":").then(|| word.trim().trim_end_matches('?'))
    })
}

/// Reads options, the reminders' apart.
pub(crate) struct OptionReader<'a> {
    dict: Option<&'a Dict>,
    /// The index of the argument.
    arg: usize,
}

impl<'a> OptionReader<'a> {
    /// The options in argument `arg`; every key must be one of the shape.
    pub(crate) fn llm(args: &'a [Value], arg: usize) -> Result<Self, Box<Raise>> {
        Self::of(args, arg, LLM)
    }

    /// Reads the options of a loop, like [`Self::llm`].
    pub(crate) fn agent_loop(args: &'a [Value], arg: usize) -> Result<Self, Box<Raise>> {
        Self::of(args, arg, LOOP)
    }

    /// Reads the options of a sub-agent, like [`Self::llm`].
    pub(crate) fn sub_agent(args: &'a [Value], arg: usize) -> Result<Self, Box<Raise>> {
        Self::of(args, arg, SUB_AGENT)
    }

    /// Reads the options of a handoff, like [`Self::llm`].
    pub(crate) fn handoff(args: &'a [Value], arg: usize) -> Result<Self, Box<Raise>> {
        Self::of(args, arg, HANDOFF)
    }

    /// Reads the options of a worker, like [`Self::llm`].
    pub(crate) fn worker(args: &'a [Value], arg: usize) -> Result<Self, Box<Raise>> {
        Self::of(args, arg, WORKER)
    }

    /// Returns the entries as they were written.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a Str, &'a Value)> {
        self.dict.into_iter().flat_map(Dict::iter)
    }

    /// Returns the index of the argument, from 0.
    pub(crate) fn arg(&self) -> usize {
        self.arg
    }

    /// Reads the options of a request over HTTP, like [`Self::llm`].
    pub(crate) fn http(args: &'a [Value], arg: usize) -> Result<Self, Box<Raise>> {
        Self::of(args, arg, HTTP)
    }

    /// Reads the options of a call of another agent, like [`Self::llm`]; `shape` is the type in the
    /// signature.
    pub(crate) fn peer(args: &'a [Value], arg: usize, shape: &str) -> Result<Self, Box<Raise>> {
        let shape = SHAPES.iter().find(|(name, _)| *name == shape).map_or("{}", |(_, shape)| shape);
        Self::of(args, arg, shape)
    }

    /// Reads the options of the tool that runs commands, like [`Self::llm`].
    pub(crate) fn shell_tool(args: &'a [Value], arg: usize) -> Result<Self, Box<Raise>> {
        Self::of(args, arg, SHELL_TOOL)
    }

    /// The strings in a list.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<Arc<str>>, Box<Raise>> {
        let read = |v: &Value| v.as_list()?.iter().map(|p| p.as_str().map(Arc::from)).collect();
        Ok(self.typed(key, "a list of strings", read)?.unwrap_or_default())
    }

    fn of(args: &'a [Value], arg: usize, shape: &'static str) -> Result<Self, Box<Raise>> {
        let dict = args::opt_dict(args, arg)?;
        for (key, _) in dict.iter().flat_map(|d| d.iter()) {
            if keys_of(shape).any(|known| known == key.as_str()) {
                continue;
            }
            let mut raise = Raise::error(lang::check::CheckCode::Key, format!("unknown option `{key}`"));
            if let Some(near) = nearest(key, keys_of(shape)) {
                raise = raise.help(format!("did you mean `{near}`?"));
            }
            return Err(raise.about(arg, format!("has `{key}`")));
        }
        Ok(Self { dict, arg })
    }

    /// The transcript to go on from, if one is given. It holds the conversation, so options that name another one are refused.
    pub(crate) fn transcript(&self, world: &World, scope: &Scope) -> Result<Option<Transcript>, Box<Raise>> {
        let given = self.value("transcript");
        if given.is_nil() {
            return Ok(None);
        }
        let others = ["session_id", "messages", "resume_path"];
        if let Some(other) = others.into_iter().find(|key| self.has(key)) {
            let message = format!("`transcript` and `{other}` cannot be used together");
            return Err(Raise::error(lang::vm::RunCode::Value, message)
                .about(self.arg, format!("both `transcript` and `{other}`"))
                .help(format!("remove `{other}`, or remove `transcript`")));
        }
        let read = TranscriptValue::take(&[given], 0, world, scope);
        read.map(Some).map_err(|raise| raise.about(self.arg, "`transcript` is not a transcript"))
    }

    /// The value of a key, nil where it is absent.
    pub(crate) fn value(&self, key: &str) -> Value {
        self.dict.and_then(|d| d.get_str(key)).cloned().unwrap_or_default()
    }

    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Box<Raise>> {
        let value = self.value(key);
        if value.is_nil() {
            return Ok(None);
        }
        read(&value).map(Some).ok_or_else(|| {
            let found = match value {
                // The type may be right and the number not.
                Value::Int(_) | Value::Float(_) => display(&value),
                _ => article(value.type_name()),
            };
            let message = format!("`{key}` must be {expected}, found {found}");
            Raise::error(lang::check::CheckCode::Type, message).about(self.arg, format!("invalid `{key}`"))
        })
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<Arc<str>>, Box<Raise>> {
        self.typed(key, "a string", |v| v.as_str().map(Arc::from))
    }

    pub(crate) fn count<T: TryFrom<i64>>(&self, key: &str) -> Result<Option<T>, Box<Raise>> {
        self.typed(key, "a number of at least 0", |v| v.as_int().filter(|n| *n >= 0).and_then(|n| T::try_from(n).ok()))
    }

    /// Whether the key is given at all.
    pub(crate) fn has(&self, key: &str) -> bool {
        !self.value(key).is_nil()
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, Box<Raise>> {
        self.typed(key, "a bool", |v| if let Value::Bool(b) = v { Some(*b) } else { None })
    }

    /// Whether tools are written into the text: as `tool_format` says, else where the route has no tools of its own.
    pub(crate) fn wants_text_tools(&self, has_native: bool) -> Result<bool, Box<Raise>> {
        match self.text("tool_format")?.as_deref() {
            Some("text") => Ok(true),
            Some("native") => Ok(false),
            None => Ok(!has_native),
            Some(other) => {
                let message = format!("`tool_format` must be \"native\" or \"text\", found {other:?}");
                Err(Raise::error(lang::check::CheckCode::Type, message).about(self.arg, "invalid `tool_format`"))
            }
        }
    }

    /// A schema, read and found good.
    fn schema(&self, key: &str) -> Result<Data, Box<Raise>> {
        let value = self.value(key);
        if !value.is_nil() {
            if value.as_host::<TypeValue>().is_none() {
                self.typed(key, "a type or a dict", |value| value.as_dict().map(|_| ()))?;
            }
            crate::schema::check(&value).map_err(|raise| raise.about(self.arg, format!("invalid `{key}`")))?;
        }
        self.data(key)
    }

    /// The schema of the answer, from the option that asks for a value or the one that asks for one beside the text.
    fn answer_schema(&self) -> Result<Data, Box<Raise>> {
        if !self.has("returns") {
            return self.schema("output_schema");
        }
        if self.has("output_schema") {
            let message = "`returns` and `output_schema` cannot be used together";
            return Err(Raise::error(lang::vm::RunCode::Value, message)
                .about(self.arg, "both `returns` and `output_schema`")
                .help("remove `output_schema`"));
        }
        self.schema("returns")
    }

    pub(crate) fn function(&self, cx: &Cx<'_>, key: &str) -> Result<Option<ScriptFn>, Box<Raise>> {
        self.typed(key, "a function", |v| ScriptFn::of(cx, v))
    }

    pub(crate) fn data(&self, key: &str) -> Result<Data, Box<Raise>> {
        to_data(&self.value(key)).map_err(|raise| raise.about(self.arg, format!("invalid `{key}`")))
    }

    /// Returns the options as data without closures, for handlers.
    pub(crate) fn written(&self) -> Data {
        self.dict.map_or(Data::Nil, |d| to_data_lossy(&Value::dict(d.clone())))
    }

    /// The options of reminders.
    pub(crate) fn reminders(&self, world: &World) -> Result<ReminderOptions, Box<Raise>> {
        let options = read_reminders(&self.data("reminders")?, world);
        let mut options = options.map_err(|e| of_reminder(&e).about(self.arg, label_of(&e)))?;
        options = world.agents.vary(options);
        options.budget = options.budget.over(world.reminder_budget.get());
        bring_packs(&mut options, world).map_err(|raise| raise.about(self.arg, "names the pack"))?;
        Ok(options)
    }

    /// One text, or several.
    fn stop(&self) -> Result<Vec<Arc<str>>, Box<Raise>> {
        let read = |value: &Value| match value.as_str() {
            Some(text) => Some(vec![Arc::from(text)]),
            None => value.as_list()?.iter().map(|text| text.as_str().map(Arc::from)).collect(),
        };
        Ok(self.typed("stop", "a string or a list of strings", read)?.unwrap_or_default())
    }

    /// Fields for the vendor.
    fn extra(&self) -> Result<Entries, Box<Raise>> {
        self.typed("extra", "a dict", |value| value.as_dict().map(|_| ()))?;
        Ok(self.data("extra")?.as_dict().cloned().unwrap_or_default())
    }

    /// Returns the part that every request has in common.
    pub(crate) fn request(&self, system: Option<&str>) -> Result<Request, Box<Raise>> {
        Ok(Request {
            system: System {
                parts: self.texts("system_prompt_parts")?,
                primary: system.map(Arc::from),
                appendix: self.text("system_appendix")?,
                suffix: self.text("system_suffix")?,
                ..System::default()
            }
            .into(),
            tool_choice: self.data("tool_choice")?,
            provider: self.text("provider")?,
            model: self.text("model")?,
            temperature: self.typed("temperature", "a number", Value::as_number)?,
            top_p: self.typed("top_p", "a number", Value::as_number)?,
            stop: self.stop()?,
            seed: self.typed("seed", "an int", Value::as_int)?,
            max_tokens: self.count("max_tokens")?,
            output_schema: self.answer_schema()?,
            thinking: self.data("thinking")?,
            timeout_ms: self.count("timeout_ms")?,
            retries: self.count("llm_retries")?,
            stream: self.flag("stream")?.unwrap_or(false),
            prompt_cache: self.flag("prompt_cache")?.unwrap_or(false),
            extra: self.extra()?,
            ..Request::default()
        })
    }
}

/// The option `reminders`, with the configuration of the canonical providers: a mistake in it is found before anything
/// is asked of a model.
pub(crate) fn read_reminders(data: &Data, world: &World) -> Result<ReminderOptions, ReminderError> {
    let options = ReminderOptions::from_data(data).map_err(|e| e.under("reminders"))?;
    // A script's provider in a canonical one's place has a configuration of its own.
    let config = options.config.as_dict().into_iter().flatten().filter(|(id, _)| !world.agents.providers.is_custom(id));
    for (id, config) in config {
        providers::reminder::check_config(id, config).map_err(|e| e.under("reminders.config"))?;
    }
    Ok(options)
}

/// Loads the packs that the option names: a guard that is missing in silence is none.
pub(crate) fn bring_packs(options: &mut ReminderOptions, world: &World) -> Result<(), Box<Raise>> {
    if !options.packs.is_empty() {
        options.brought = world.agents.packs.named_by(&options.packs, &world.agents.providers)?.into();
    }
    Ok(())
}

/// Returns the label of a reminder's error.
pub(crate) fn label_of(error: &ReminderError) -> String {
    if error.field.is_empty() { String::new() } else { format!("invalid `{}`", error.field) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_the_shape() {
        let keys: Vec<_> =
            keys_of("{a?: {x: int, y: int}, b: fn(any) -> any, c?: list<string>, d: \"x\" | \"y\"}").collect();
        assert_eq!(keys, ["a", "b", "c", "d"]);
        assert!(keys_of(LOOP).any(|k| k == "post_turn_callback"));
        assert!(keys_of(LLM).any(|k| k == "llm_retries"));
    }
}
