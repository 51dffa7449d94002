//! Defaults and documentation of options.

/// Parameters and keys whose types are these, where a signature says `any` or `dict`.
pub(super) static ASIDE: &[(&str, &str)] = &[
    ("spec", "ReminderSpec"),
    ("selector", "ReminderSelector"),
    ("params", "BridgeInjection"),
    ("reminders", "LoopReminders"),
    ("expect", "ReminderJudge"),
    ("annotations", "ToolAnnotations"),
];

/// The description of an option.
pub(super) struct DescribedOption {
    /// The named type that the option belongs to; empty for all that have it.
    owner: &'static str,
    key: &'static str,
    /// The default as a script writes it; empty if it is required or has none.
    pub(super) default: &'static str,
    pub(super) doc: &'static str,
}

/// Returns the description of an option.
pub(super) fn find(owner: &str, key: &str) -> Option<&'static DescribedOption> {
    let of = |owner: &str| DESCRIBED.iter().find(|row| row.key == key && row.owner == owner);
    let shared = || SAME.iter().find(|(same, _)| *same == owner).and_then(|(_, as_of)| of(as_of));
    of(owner).or_else(shared).or_else(|| of(""))
}

/// Named types whose options are described with those of another one, unless they have a row of their own.
static SAME: &[(&str, &str)] = &[("HubRequestOptions", "HubPublishOptions"), ("HubTasksOptions", "HubClaimOptions")];

const fn all(key: &'static str, default: &'static str, doc: &'static str) -> DescribedOption {
    DescribedOption { owner: "", key, default, doc }
}

const fn of(owner: &'static str, key: &'static str, default: &'static str, doc: &'static str) -> DescribedOption {
    DescribedOption { owner, key, default, doc }
}

static DESCRIBED: &[DescribedOption] = &[
    // Calls of models.
    all("provider", "", "The provider. Default: that of the environment or of `harn.toml`."),
    all("model", "", "The model. Default: that of the provider."),
    all("session_id", "", "The session to use. Default: a new session."),
    all("transcript", "", "The transcript to continue: its messages and pending reminders."),
    all("messages", "[]", "Messages that go before the prompt."),
    all("system_prompt_parts", "[]", "Texts that go before the system text."),
    all("system_appendix", "", "Text that follows the system text."),
    all("system_suffix", "", "Text at the end of the system text."),
    all("temperature", "", "Randomness of the response. Some models reject it."),
    all("top_p", "", "Share of the probability that tokens are chosen from. Some models reject it."),
    all("stop", "", "Texts that end the response."),
    all("seed", "", "Seed of the model, for routes that have one."),
    all("extra", "{}", "Fields that are added to the body of the request. Dicts are merged with existing ones."),
    all("prompt_cache", "", "Marks the beginning of the prompt for the vendor's cache. Default: only in loops."),
    all("max_tokens", "", "Limit of the tokens of the response."),
    all("tools", "", "The tools that the model can call: a registry, or a list of tools."),
    of("ToolSource", "handler", "", "The function that a call of the tool calls."),
    all(
        "tool_choice",
        "\"auto\"",
        "Whether the model must call a tool: `\"auto\"`, `\"none\"`, `\"required\"` or `{name}`.",
    ),
    all("tool_format", "", "How tools are described: by the API, or in text. Default: as the route allows."),
    all("output_schema", "", "Type of the answer, or its JSON Schema. The result has the answer in `data`."),
    all("returns", "", "Type of the answer, or its JSON Schema: the call returns a value of it."),
    all("thinking", "", "Thinking of the model: a bool, a budget in tokens, or an effort such as `\"low\"`."),
    all("timeout_ms", "300000", "Timeout of one attempt, in milliseconds."),
    all("stream", "", "Whether the response is streamed. Default: if it is observed."),
    all("llm_retries", "2", "Number of retries after a transient failure."),
    all(
        "reminders",
        "true",
        "Reminder providers: `false`, a list of names, or `{enabled, providers, packs, config, strict, placement, native}`.",
    ),
    // Loops.
    all(
        "persona",
        "",
        "The persona, for handlers of steps and personas. Default: the worker's name, else `\"agent\"`.",
    ),
    all(
        "permissions",
        "",
        "Tools that need permission: a function, or `{ask, deny, decide}`. Default: every tool is allowed.",
    ),
    all("deadline", "", "Milliseconds from the start after which the loop is cancelled."),
    all(
        "hook_timeout_ms",
        "30000",
        "Timeout of one handler, provider, compactor or permission decision, in milliseconds.",
    ),
    all("daemon", "false", "Sleep instead of ending."),
    all("wake_interval_ms", "30000", "Time that a daemon sleeps, in milliseconds."),
    all("watch_paths", "", "Files whose changes wake a daemon: a glob or a list of globs."),
    all(
        "consolidate_on_idle",
        "false",
        "Compact the transcript before a daemon sleeps: a bool, or options of the compaction.",
    ),
    all("max_iterations", "50", "Maximum number of model calls."),
    all("max_nudges", "3", "How often in a row the model is asked to continue."),
    all("loop_until_done", "false", "Ask the model to continue after a turn without a tool call, instead of ending."),
    all("done_sentinel", "\"##DONE##\"", "Text by which the model reports that it is done."),
    all(
        "llm_caller",
        "",
        "Function that replaces the model: gets `{prompt, system, messages, turn, opts}`, returns a text or `{text?, tool_calls?, reasoning?}`.",
    ),
    all("post_turn_callback", "", "Function that is called after each turn. `false` ends the loop."),
    all("auto_compact", "false", "Compact the transcript when the context is almost full."),
    all(
        "compact_threshold",
        "0.8",
        "Share of the context window, or number of tokens, from which on the transcript is compacted.",
    ),
    all("compact_keep_last", "12", "Number of messages that a compaction keeps."),
    all("compact_strategy", "\"truncate\"", "Treatment of the messages that are not kept."),
    all("compact_callback", "", "Compactor of the strategy `\"custom\"`: gets messages and reminders."),
    all("compaction", "", "Options of the compaction as one dict."),
    all("token_budget", "", "Maximum number of tokens of all calls, input and output."),
    all("budget", "", "Limits of what all requests may use, those of sub-agents included: `{usd?, tokens?, turns?}`."),
    of("Budget", "usd", "", "Maximum cost of all requests, in US dollars."),
    of("Budget", "tokens", "", "Maximum number of tokens of all requests and answers."),
    of("Budget", "turns", "", "Maximum number of requests, retries included."),
    all("max_tool_output_chars", "200000", "Length after which the output of a tool is truncated, in characters."),
    all("parallel_tool_calls", "true", "Run the tool calls of one answer at the same time."),
    all(
        "max_repeats",
        "16",
        "End as `stuck` after this many turns in a row with the same calls and results. 0 disables the check.",
    ),
    all("persist_path", "", "File to save the state of the loop to."),
    all("resume_path", "", "File to resume the loop from."),
    // Workers.
    all("name", "", "The name."),
    all("system", "", "The system text of the worker."),
    all("task", "", "The task of the worker."),
    all("background", "false", "Return the handle of the worker at once."),
    all("parent_session_id", "", "Session whose reminders are inherited. Default: the current session."),
    all("reminder_propagation", "", "The reminders to inherit. Default: those that propagate."),
    all("source_persona", "", "The persona that hands the task over."),
    all("target_persona_or_human", "", "The persona or human that takes the task."),
    all("reason", "", "Reason of the handoff."),
    all("metadata", "{}", "Any data."),
    // Reminders.
    of("ReminderSpec", "body", "", "The text that the model reads. Must not be empty."),
    all("body", "", "The text that the model reads."),
    all("tags", "[]", "Tags by which reminders are found and cleared."),
    all("dedupe_key", "nil", "A newer pending reminder with the same key replaces this one."),
    all(
        "ttl_turns",
        "nil",
        "Number of prompts in which the reminder is shown. nil: until it is cleared or compacted away.",
    ),
    all("preserve_on_compact", "false", "Whether compaction keeps the reminder."),
    all("propagate", "\"session\"", "Sub-agents that inherit the reminder: all, direct children only, or none."),
    all("role_hint", "\"system\"", "Preferred slot of the prompt. The provider decides in the end."),
    of("LoopReminders", "files", "false", "Whether the reminder files of the project are used."),
    of("LoopReminders", "max_tokens", "", "Limit of the tokens of all reminders in a prompt."),
    all("max_share", "", "Limit of the reminders in a prompt, as a share of the context window."),
    all("bodies", "{}", "Texts by pattern of a model name, for models that need another wording."),
    all("priority", "\"normal\"", "Order in which reminders get room in a budget."),
    all("cooldown_turns", "nil", "After a prompt that carried it, this number of prompts do not show it."),
    all("every", "nil", "It is due in the first prompt that can show it, and then in each n-th prompt."),
    all("max_times", "nil", "It ends after this number of prompts that carried it."),
    all("escalate", "[]", "The texts of the second and later times. The last one stays."),
    all(
        "refresh",
        "\"always\"",
        "With `on_change`, it is shown again only if its text has changed or after a compaction.",
    ),
    all("when", "nil", "It is shown only in prompts before which this function returns true."),
    all(
        "expect",
        "nil",
        "Function of a turn, or `{judge: \"…\"}`: whether a turn whose prompt carried it followed it.",
    ),
    all("judge", "", "Question about the turn that a model answers with yes or no."),
    all("until", "nil", "It ends before the first prompt before which this function returns true."),
    of("ReminderSelector", "id", "", "Clears the reminder with this id."),
    of("ReminderSelector", "tag", "", "Clears the reminders with this tag."),
    of("ReminderSelector", "dedupe_key", "", "Clears the reminders with this key."),
    all("content", "", "Message for the model, in place of a reminder."),
    all("mode", "\"finish_step\"", "Seams at which the reminder is delivered."),
    all("enabled", "true", "Whether providers add reminders."),
    all("providers", "", "The providers. `\"-name\"` removes one from the default list."),
    all("packs", "[]", "Files of reminder packs."),
    all("config", "{}", "Configuration of providers, by their names."),
    all("strict", "false", "Raise an error for an unknown provider or a provider that fails."),
    all("placement", "\"head\"", "Position of reminders: before the conversation, after it, or by the route's cache."),
    of(
        "LoopReminders",
        "native",
        "",
        "Whether the vendor's own slot is used. Default: unless the position is `\"head\"`.",
    ),
    of("LoopPermissions", "ask", "[]", "Globs of the tools that need permission."),
    of("LoopPermissions", "deny", "[]", "Globs of the tools that are refused."),
    of(
        "LoopPermissions",
        "decide",
        "",
        "Function that decides: gets `{tool, args, tool_call_id, reason}`, returns a bool or `{allow, reason?}`.",
    ),
    // Tools.
    all("title", "", "The displayed name."),
    all("kind", "", "Kind of the tool or fact."),
    all("permission", "", "Ask the user before the tool runs. A text is the reason."),
    all("sequential", "false", "Run no other tool at the same time."),
    all("read_only", "false", "Whether the tool changes nothing."),
    all("root", "", "The folder."),
    of("ToolAnnotations", "timeout_ms", "", "Timeout of one call, in milliseconds."),
    of("ShellToolOptions", "root", "", "The existing folder that commands run in."),
    of("ShellToolOptions", "name", "\"shell\"", "The name of the tool."),
    of("ShellToolOptions", "timeout_ms", "120000", "Timeout of a command, in milliseconds."),
    all("allow", "", "The programs, each by its name or with its first arguments."),
    all("max_output", "65536", "Limit of the output, in bytes."),
    all("env", "[]", "Names of variables that a command gets."),
    all("readable", "[]", "Folders outside of `root` that commands can read."),
    all("writable", "[]", "Folders outside of `root` that commands can read and change."),
    // Compaction.
    all(
        "threshold",
        "0.8",
        "Share of the context window, or number of tokens, from which on the transcript is compacted.",
    ),
    all("strategy", "\"truncate\"", "Treatment of the messages that are not kept."),
    all("keep_last", "12", "Number of messages to keep."),
    all("target_tokens", "", "Number of tokens to keep."),
    all("summary", "", "Text that replaces the archived messages."),
    all("summarize_prompt", "", "Prompt of the strategy `\"llm\"`."),
    all("custom_compactor", "", "Compactor of the strategy `\"custom\"`: gets messages and reminders."),
    // The mock model.
    of("MockReply", "text", "", "The text of the model."),
    of("MockReply", "reasoning", "", "The thinking before the text."),
    of("MockReply", "tool_calls", "[]", "Calls of tools: `{id?, name, arguments?}`."),
    of("MockReply", "input_tokens", "", "Reported tokens of the prompt. Default: one per four bytes."),
    of("MockReply", "output_tokens", "", "Reported tokens of the response. Default: one per four bytes."),
    of("MockReply", "model", "", "The reported model."),
    of("MockReply", "match", "", "Glob for the last user message."),
    of("MockReply", "error", "", "An error instead of a reply: `{category, message?, status?, retry_after_ms?}`."),
    of("MockReply", "delay_ms", "0", "Delay of the reply, in milliseconds of the run's clock."),
    // Tasks of a host.
    of("PlanEntry", "content", "", "The text of the entry."),
    of("PlanEntry", "priority", "\"medium\"", "The priority of the entry."),
    of("PlanEntry", "status", "\"pending\"", "The state of the entry."),
    of("TaskArtifact", "name", "", "The name of the artifact."),
    of("TaskArtifact", "parts", "", "The parts: texts, data and files."),
    of("TaskArtifact", "id", "", "Id by which later parts are added."),
    of("TaskArtifact", "description", "", "Description of the artifact."),
    of("TaskArtifact", "append", "false", "Add the parts to those that were sent."),
    of("TaskArtifact", "last_chunk", "", "Whether no further parts follow."),
    of("PartialResult", "completed_portion", "", "The completed share, from 0 to 1."),
    of("PartialResult", "data", "", "Any data."),
    of("PartialResult", "can_resume", "", "Whether the task can be resumed."),
    of("PartialResult", "resume_token", "", "Token by which the task is resumed."),
    // Facts.
    of("FactOptions", "root", "", "Folder of the facts."),
    of("RecallOptions", "root", "", "Folder of the facts."),
    all("namespace", "", "Namespace of the facts."),
    all("now", "", "The current time: milliseconds since 1970, or a date. Default: the clock."),
    all("limit", "", "Maximum number of records."),
    of("Fact", "kind", "", "`observation`, `claim`, `hypothesis`, `decision` or `constraint`."),
    all("claim", "", "The claim, at most 8 KiB."),
    all("confidence", "", "A number from 0 to 1."),
    all("evidence", "[]", "Up to 64 items `{kind, ref}`."),
    all("provenance", "", "Any data."),
    all("valid_until", "", "The time when the fact stops being valid: milliseconds since 1970, or a date."),
    // Other agents.
    all("token", "", "A bearer token."),
    all("token_env", "", "Environment variable that holds the token."),
    all("headers", "{}", "Additional headers."),
    all("trust", "[]", "Further origins that a card may refer to."),
    all("version", "", "Version of the protocol."),
    all("context_id", "", "Conversation of a new task."),
    all("task_id", "", "Task that waits for this message."),
    all("history_length", "", "Number of messages of the history to return."),
    all("reference_task_ids", "[]", "Tasks that the message refers to."),
    all("inherit", "true", "Whether a new task inherits reminders."),
    all("extensions", "[]", "URIs of extensions to request."),
    all("wait", "true", "Wait until the task is over or waits for input."),
    // Hubs.
    of("HubCard", "name", "", "The id of the agent, and its name."),
    of("HubCard", "description", "", "A description of the agent."),
    of("HubCard", "url", "", "The address of the agent, if it has one."),
    of("HubCard", "version", "", "The version of the agent."),
    of("HubCard", "skills", "[]", "Its skills: `{id, name, description, tags, examples}`."),
    of("HubPublishOptions", "to", "", "The agent that receives the task."),
    of("HubPublishOptions", "type", "", "The type of the task."),
    of("HubPublishOptions", "priority", "\"medium\"", "The order among waiting tasks."),
    of(
        "HubPublishOptions",
        "tags",
        "[]",
        "Without `to` and `queue`, agents that subscribe to one of these tags get a copy.",
    ),
    of("HubPublishOptions", "deadline", "", "When the task fails: milliseconds since 1970, or RFC 3339."),
    of("HubPublishOptions", "queue", "", "One worker of this queue gets the task."),
    of("HubPublishOptions", "max_attempts", "", "Maximum number of attempts, at most that of the hub."),
    of("HubPublishOptions", "context_id", "", "The context. Default: a new one."),
    of("HubPublishOptions", "task_id", "", "The task to which the message is added."),
    of("HubPublishOptions", "parent_task_id", "", "The task of which this one is a part."),
    of("HubPublishOptions", "message_id", "", "A repeated id returns the first result."),
    of("HubPublishOptions", "reminders", "[]", "Reminders for the session of the worker."),
    of("HubPublishOptions", "inherit", "true", "Whether a new task inherits reminders from the current session."),
    of("HubPublishOptions", "task", "true", "`false` sends a message without a task."),
    of("HubRequestOptions", "timeout_ms", "600000", "Timeout of the task, in milliseconds."),
    of("HubConnectOptions", "agent", "", "The agent as which the connection acts."),
    of(
        "HubConnectOptions",
        "ca_file",
        "",
        "Certificates in PEM that an `https` hub must be signed by. Default: those of the system.",
    ),
    of(
        "HubConnectOptions",
        "timeout_ms",
        "30000",
        "Time for which a request is retried while the hub is not reachable, in milliseconds. By default, it is 1000 for the \
         first request.",
    ),
    of("HubRegisterOptions", "subscriptions", "[]", "Tags of broadcasts, and queues that the agent works for."),
    of(
        "HubRegisterOptions",
        "health_check_url",
        "",
        "URL that `harn serve hub` checks with GET. An unhealthy agent gets no broadcasts.",
    ),
    of("HubProgress", "portion", "0", "The completed portion, from 0 to 1."),
    of("HubProgress", "data", "", "Partial results."),
    of("HubProgress", "resume_token", "", "Token with which a later attempt continues."),
    of("HubClaimOptions", "wait_ms", "", "Time after which nil is returned, in milliseconds. Default: no limit."),
    of("HubTasksOptions", "queue", "", "The queue. Default: the tasks that are sent to this agent."),
    of("HubTasksOptions", "types", "[]", "Types of tasks; others are rejected."),
    of(
        "HubTasksOptions",
        "idle_ms",
        "",
        "Time without a task after which the stream ends, in milliseconds. Default: no limit.",
    ),
    of("HubClaimOptions", "lease_ms", "30000", "Duration of the lease, in milliseconds."),
    of(
        "HubClaimOptions",
        "renew_for_ms",
        "600000",
        "Time after the last call of the task for which its lease is renewed, in milliseconds. 0: never.",
    ),
    of(
        "HubClaimOptions",
        "estimate_ms",
        "",
        "Expected duration of the work, in milliseconds. Tasks with an earlier deadline are not leased.",
    ),
    of("HubEventsOptions", "types", "[]", "Types of events."),
    of("HubEventsOptions", "states", "[]", "States of tasks, for `updates`."),
    of("HubEventsOptions", "contexts", "[]", "Contexts, for `messages`."),
    of("HubEventsOptions", "cursor", "", "The `cursor` of the event after which the stream resumes."),
    of("HubListOptions", "agent", "", "Only tasks that this agent sent or works on."),
    of("HubListOptions", "context_id", "", "Only tasks of this context."),
    of("HubListOptions", "states", "[]", "Only tasks in these states."),
    of("HubListOptions", "page_size", "50", "Number of tasks, at most 500."),
    of("HubListOptions", "page_token", "", "The `next_page_token` of the page before."),
    of("HubDeadLetterOptions", "queue", "", "Only tasks of this queue, or that were sent to this agent."),
    of("HubDeadLetterOptions", "page_size", "50", "Number of tasks, at most 500."),
    of("HubDeadLetterOptions", "page_token", "", "The `next_page_token` of the page before."),
    of("A2aSendOptions", "deadline", "", "When the task must be done: milliseconds since 1970, or RFC 3339."),
    of("A2aStreamOptions", "deadline", "", "When the task must be done: milliseconds since 1970, or RFC 3339."),
    of("A2aSendOptions", "reminders", "[]", "Reminders to send with the message."),
    of(
        "A2aStreamOptions",
        "reminders",
        "true",
        "`false` requests no reminder events. A list is sent with the message.",
    ),
    of("A2aSubscribeOptions", "reminders", "true", "`false` requests no reminder events."),
    of("A2aInjectOptions", "fallback", "\"suppress\"", "Behaviour if the agent does not support reminders."),
    of("A2aInjectOptions", "message", "", "Message to a task that waits for input."),
    of("A2aInjectOptions", "id", "", "Your id for the reminder. If it is sent twice, it is injected once."),
    of("A2aInjectOptions", "source", "", "The origin, as free text."),
    // Channels.
    of(
        "ChannelOptions",
        "name",
        "\"script\"",
        "The name of the channel. Each name is a channel of its own in the session.",
    ),
    of("ChannelOptions", "role", "\"client\"", "The role of the script."),
    of(
        "ChannelOptions",
        "can",
        "[\"view\"]",
        "The scopes: `view`, `prompt`, `inject`. Others need an enrolled channel.",
    ),
    of("ChannelOptions", "secret", "", "The secret of an enrolled channel. Default: a channel of its own."),
    of("ChannelOptions", "secret_env", "", "Environment variable that holds the secret."),
    of("ChannelActionOptions", "session_id", "", "The session. Default: that of the script."),
    of(
        "ChannelActionOptions",
        "action_id",
        "",
        "Your id for the action: a repeat returns the recorded result. Default: a new one.",
    ),
    of("ChannelEventsOptions", "session_id", "", "The session. Default: that of the script."),
    of("ChannelEventsOptions", "after", "", "The `sequence` after which the events begin. Default: a snapshot."),
    of(
        "ChannelEventsOptions",
        "idle_ms",
        "",
        "Time without an event after which the stream ends, in milliseconds. Default: no limit.",
    ),
    // MCP servers.
    all("mcp_servers", "[]", "MCP servers whose tools the model can call: descriptions, or names that the run knows."),
    of("McpServer", "name", "", "The name of the server. Its tools are called `NAME__tool`."),
    of("McpServer", "command", "", "The program of the server."),
    of("McpServer", "args", "[]", "The arguments of the program."),
    of("McpServer", "env", "{}", "Variables of the program's environment."),
    of("McpServer", "pass_env", "[]", "Environment variables that the program inherits."),
    of("McpServer", "cwd", "", "The working folder of the program."),
    of("McpServer", "url", "", "The URL of the server, in place of a program."),
    of("McpServer", "oauth", "true", "How tokens are obtained if the server wants them; `false` asks for none."),
    all("client_id", "", "Id of a client that is registered with the authorization server."),
    all("client_secret_env", "", "Environment variable that holds the secret of the client."),
    all("client_metadata_url", "", "https URL of a document that describes the client."),
    all("scopes", "[]", "Scopes to ask for. Default: those that the server names."),
    all("grant", "\"authorization_code\"", "`client_credentials` needs no login of a user."),
    all("redirect_port", "", "Port to which the browser returns after a login. Default: a free one."),
    of("McpServer", "tools", "", "The tools that are offered, by the names of the server. Default: all."),
    of("McpServer", "timeout_ms", "60000", "Timeout of a request, in milliseconds. Progress starts it anew."),
    of("McpServer", "start_timeout_ms", "60000", "Timeout of the start, in milliseconds."),
    of("McpServer", "protocol", "", "The version to speak. Default: the newest that the server knows."),
    of("McpServer", "reminders", "false", "Whether the server may inject reminders into loops that use it."),
    of("McpServer", "elicit", "", "Answers questions of the server: a dict, `true`, `false` or nil."),
    of("McpServer", "progress", "", "Called with each report of progress: `{progress, total, message}`."),
    of("HttpOptions", "timeout_ms", "30000", "Timeout of the request, in milliseconds."),
    of("HttpOptions", "query", "{}", "Values that are added to the query of the URL."),
    of("HttpOptions", "form", "", "Values that are sent as a form."),
    of("HttpOptions", "json", "", "A value that is sent as JSON, also if it is a string."),
    of(
        "HttpOptions",
        "retries",
        "0",
        "Number of further attempts after a lost connection, a timeout, or a status of 429, 502, 503 or 504.",
    ),
];

/// All named types of options.
#[cfg(test)]
pub(super) fn named() -> impl Iterator<Item = (&'static str, &'static str)> {
    crate::options::SHAPES.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::ast::{Name, TypeExpr, TypeKind};
    use lang::check::signature;
    use runtime::reminder::ReminderSpec;
    use runtime::reminder::lifecycle::Selector;
    use std::collections::BTreeSet;

    fn fields(text: &str) -> Vec<(Name, bool, TypeExpr)> {
        let ty = signature(&format!("shape() -> {text}")).unwrap().returns.unwrap();
        let members = if let TypeKind::Union(members) = ty.kind { members } else { vec![ty] };
        let of = |member: TypeExpr| match member.kind {
            TypeKind::Shape { fields, .. } => fields,
            _ => panic!("{text}"),
        };
        members.into_iter().flat_map(of).collect()
    }

    fn keys(text: &str) -> BTreeSet<String> {
        fields(text).iter().map(|(name, _, _)| name.text.to_string()).collect()
    }

    /// The keys of the dicts that are values of keys.
    fn inner_keys(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (_, _, ty) in fields(text) {
            let choices = if let TypeKind::Union(choices) = ty.kind { choices } else { vec![ty] };
            for choice in choices {
                if let TypeKind::Shape { fields, .. } = choice.kind {
                    found.extend(fields.iter().map(|(name, _, _)| name.text.to_string()));
                }
            }
        }
        found
    }

    #[test]
    fn every_option_is_described_and_every_description_is_of_an_option() {
        let mut known: BTreeSet<(String, String)> = BTreeSet::new();
        for (name, text) in named() {
            for key in keys(text) {
                assert!(find(name, &key).is_some(), "`{key}` of {name} has no description");
                known.insert((name.to_owned(), key));
            }
            known.extend(inner_keys(text).into_iter().map(|key| (String::new(), key)));
        }
        for row in DESCRIBED {
            let is_of =
                |(owner, key): &(String, String)| key == row.key && (row.owner.is_empty() || row.owner == owner);
            assert!(known.iter().any(is_of), "{} {} is not an option", row.owner, row.key);
        }
    }

    #[test]
    fn types_aside_have_the_keys_that_are_read() {
        let of = |name: &str| keys(crate::options::SHAPES.iter().find(|(known, _)| *known == name).unwrap().1);
        let read = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(of("ReminderSpec"), read(ReminderSpec::KEYS));
        assert_eq!(of("ReminderSelector"), read(Selector::KEYS));
    }
}
