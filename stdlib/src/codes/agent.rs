//! The catalogue of agents, sessions and workers.

use lang::codes;

codes! {
/// The codes of agents, sessions and workers.
pub enum AgentCode {
    /// A model that could not be asked.
    Model = "HARN-LLM-001", Error {
        title: "model request failed",
        meaning: "The route is unknown, or the server is down, refused the request, or sent an invalid response. \
            The message names the server and quotes its response. `agent_loop` does not raise this error: its \
            result has `status: \"provider_error\"`. The run prints the reason, and exits with 1 unless the script \
            handles the failure: it reads `error` or `stop_reason`, compares the result with `match`, or raises the \
            error with `agent_loop(…)?`.",
        fails: "llm_mock({error: {category: \"server\", message: \"out of order\"}})\nllm_call(\"hello\", nil, {provider: \
                \"mock\", llm_retries: 0})\n",
        mended: "llm_mock({text: \"hi\"})\nprintln(llm_call(\"hello\", nil, {provider: \"mock\"}).text)\n",
    },
    /// A notice without a code of its own.
    Note = "HARN-LLM-002", Warning {
        title: "warning: the run continues",
        meaning: "The message describes the problem, for example tool arguments that are not valid JSON, or a \
            handler that changed a field that it cannot change. The run continued.",
    },
    /// A loop or worker that ended before its task was done.
    Incomplete = "HARN-LLM-003", Error {
        title: "agent loop or sub-agent ended before its task was done",
        meaning: "The answer does not match `output_schema`, although the model was asked `max_nudges` times to correct \
            it; the message names the rule and quotes the answer. Or the model or its vendor refused to answer (`status: \
            \"refused\"`); the message has the vendor's words. The run exits with 1 unless the script handles the \
            failure: it reads `error`, `stop_reason` or `ok`, compares the result with `match`, or raises the error with \
            `agent_loop(…)?`. As a warning: the iterations or tokens of a sub-agent are used up, it repeated itself, \
            or a handler refused its task.",
        fails: "llm_mock({text: \"seven\"})\nlet result = agent_loop(\"How many?\", nil, {\n  provider: \"mock\",\n  \
                max_nudges: 0,\n  output_schema: {type: \"integer\"},\n})\nprintln(result.text)\n",
        mended: "llm_mock({text: \"7\"})\nlet result = agent_loop(\"How many?\", nil, {\n  provider: \"mock\",\n  \
                max_nudges: 0,\n  output_schema: {type: \"integer\"},\n})\nprintln(result.data)\n",
    },
    /// A session that is not there.
    Session = "HARN-SES-001", Error {
        title: "unknown or duplicate session",
        meaning: "Either no session has this id, or a session with this id already exists. \
            `agent_session_open(id)` opens one.",
        fails: "agent_session_reset(\"no-such-session\")\n",
        mended: "let id = agent_session_open(\"mine\")\nagent_session_reset(id)\n",
    },
    /// A handler or provider that takes too long.
    Late = "HARN-HOK-001", Error {
        title: "handler or provider timed out",
        meaning: "One call of a handler, of a provider's `evaluate`, of a compactor or of a permission's `decide` \
            may take 30 seconds, unless `hook_timeout_ms` of the loop or `timeout_ms` under `[hooks]` in harn.toml \
            says otherwise. A call that takes longer is stopped, and the loop continues. If it could have refused \
            a tool call or a prompt, the timeout counts as a refusal.",
        fails: "register_session_hook(\"session_start\", { event -> sleep(60000) })\nagent_loop(\"go\", nil, \
                {provider: \"mock\", hook_timeout_ms: 1000, reminders: {strict: true}})\n",
        mended: "register_session_hook(\"session_start\", { event -> println(event.task) })\nagent_loop(\"go\", nil, \
                 {provider: \"mock\", hook_timeout_ms: 1000, reminders: {strict: true}})\n",
    },
    /// An answer of a handler that cannot be used.
    Unusable = "HARN-HOK-002", Error {
        title: "invalid hook result",
        meaning: "`modify` of a prompt must be a string or contain `prompt`; `modify` of a compaction can contain \
            `strategy`, `keep_last`, `target_tokens` or `summary`. A prompt with an invalid change is refused; a \
            compaction continues unchanged. For events that cannot be refused or changed, the result is ignored \
            with a warning.",
        fails: "register_session_hook(\"user_prompt_submit\", { event -> return {modify: {promt: \"hi\"}} })\n\
                agent_loop(\"hello\", nil, {provider: \"mock\", reminders: {strict: true}})\n",
        mended: "register_session_hook(\"user_prompt_submit\", { event -> return {modify: {prompt: \"hi\"}} })\n\
                 agent_loop(\"hello\", nil, {provider: \"mock\", reminders: {strict: true}})\n",
    },
    /// The queue of a session that cannot do what is asked.
    Queue = "HARN-SES-003", Error {
        title: "injection queue refused the operation",
        meaning: "A session's queue holds at most 256 items and refuses more until a loop has drained it. An item \
            that was delivered at a seam cannot be revoked. The error's `status` is `queue_full`, \
            `already_delivered` or `closed`.",
        fails: "let id = agent_session_open(\"mine\")\nfor n in 1 to 257 {\n  agent_session_push_bridge_injection(id, {body: \
                \"note ${n}\", ttl_turns: 1})\n}\n",
        mended: "let id = agent_session_open(\"mine\")\nfor n in 1 to 256 {\n  agent_session_push_bridge_injection(id, {body: \
                 \"note ${n}\", ttl_turns: 1})\n}\n",
    },
    /// An id that no queued reminder has.
    UnknownReminder = "HARN-SES-004", Error {
        title: "unknown reminder",
        meaning: "No reminder or message with this id is in the session's queue, or was there recently. The id is \
            misspelled, or it belongs to another session. `session/pending_injections` lists the queued items. \
            The error's `status` is `unknown`.",
        fails: "let id = agent_session_open(\"mine\")\nagent_session_revoke_reminder(id, \"no-such-item\")\n",
        mended: "let id = agent_session_open(\"mine\")\nlet accepted = agent_session_push_bridge_injection(id, {body: \"Look \
                 again.\", ttl_turns: 1})\nagent_session_revoke_reminder(id, accepted.reminderId)\n",
    },
    /// A worker that is not there.
    Worker = "HARN-WRK-001", Error {
        title: "unknown worker",
        meaning: "No worker of this run has this id. `spawn_agent` returns a handle, and `list_agents()` lists all \
            of them.",
        fails: "wait_agent(\"no-such-worker\")\n",
        mended: "let worker = spawn_agent({task: \"look\", provider: \"mock\"})\nwait_agent(worker)\n",
    },
    /// A session in which a loop is at work.
    SessionBusy = "HARN-SES-002", Error {
        title: "session is in use by another loop",
        meaning: "Two loops in one conversation would separate tool calls from their results, which model servers \
            reject. Wait for the first loop, or use another session. A tool that needs an agent should start it \
            with `sub_agent_run`.",
        fails: "let slow = { asked ->\n  sleep(50)\n  return \"done\"\n}\nlet first = spawn { agent_loop(\"a\", nil, {session_id: \
                \"s\", llm_caller: slow}) }\nsleep(1)\nagent_loop(\"b\", nil, {session_id: \"s\", llm_caller: slow})\n",
        mended: "let slow = { asked ->\n  sleep(50)\n  return \"done\"\n}\nlet first = spawn { agent_loop(\"a\", nil, {session_id: \
                 \"s\", llm_caller: slow}) }\nawait(first)\nagent_loop(\"b\", nil, {session_id: \"s\", llm_caller: slow})\n",
    },
    /// A snapshot of a worker that cannot be used.
    Snapshot = "HARN-WRK-003", Error {
        title: "invalid worker snapshot",
        meaning: "The file does not exist, is incomplete, was written by a newer version, contains unknown fields, \
            or was already resumed. A snapshot can be resumed only once. It does not contain tools and functions: \
            pass them again when you resume it in another process.",
        fails: "resume_agent(\"no/such/snapshot.json\")\n",
        mended: "let worker = spawn_agent({task: \"wait\", reminders: false, llm_caller: { asked -> asked.turn == 1 ? \
                 {tool_calls: [{id: \"c\", name: \"agent_await_resumption\", arguments: {reason: \"you\"}}]} : \"done\" \
                 }})\nlet parked = wait_agent(worker)\nresume_agent(parked, \"go on\")\nprintln(wait_agent(worker).status)\n",
    },
    /// A worker that cannot do what is asked of it.
    WorkerState = "HARN-WRK-002", Error {
        title: "invalid operation for the state of the worker",
        meaning: "A worker is `running`, `suspended`, `completed`, `failed` or `cancelled`. A running worker \
            cannot be resumed, a closed worker cannot continue, a worker cannot wait for itself, and it cannot use \
            the session of the loop that started it.",
        fails: "let id = agent_session_open(\"mine\")\nsub_agent_run(\"look\", {provider: \"mock\", parent_session_id: id, \
                session_id: id})\n",
        mended: "let id = agent_session_open(\"mine\")\nsub_agent_run(\"look\", {provider: \"mock\", parent_session_id: id})\n",
    },
}
}
