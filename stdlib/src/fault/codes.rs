//! The catalogue of agents, sessions and workers.

use lang::codes;

codes! {
/// The codes of agents, sessions and workers.
pub enum AgentCode {
    /// A model that could not be asked.
    Model = "HARN-LLM-001", Error {
        title: "a model that could not be asked",
        meaning: "The route is not known, the server is down, refuses, or answers something that is no answer. The message \
                  says which server and what it said. `agent_loop` does not raise this: its result has `status: \
                  \"provider_error\"`. A script that does not read `status`, `error` or `stop_reason` of it ends with this \
                  error; `agent_loop(…)?` raises it.",
        fails: "llm_mock({error: {category: \"server\", message: \"out of order\"}})\nllm_call(\"hello\", nil, {provider: \
                \"mock\", llm_retries: 0})\n",
        mended: "llm_mock({text: \"hi\"})\nprintln(llm_call(\"hello\", nil, {provider: \"mock\"}).text)\n",
    },
    /// A notice without a code of its own.
    Note = "HARN-LLM-002", Warning {
        title: "something worth knowing that ended nothing",
        meaning: "The work went on; the message says what was odd: a tool's arguments that are no JSON, a handler that changed \
                  what it cannot.",
    },
    /// A session that is not there.
    Session = "HARN-SES-001", Error {
        title: "a session that is not there",
        meaning: "No session has this id, or one has it already. `agent_session_open(id)` opens one.",
        fails: "agent_session_reset(\"no-such-session\")\n",
        mended: "let id = agent_session_open(\"mine\")\nagent_session_reset(id)\n",
    },
    /// A handler or provider that takes too long.
    Late = "HARN-HOK-001", Error {
        title: "a handler or provider that takes too long",
        meaning: "One call of a handler, of a provider's `evaluate`, of a compactor or of `decide` among the permissions may \
                  take 30 seconds, unless `hook_timeout_ms` of the loop \
                  or `timeout_ms` under `[hooks]` in harn.toml says otherwise. One that takes longer is given up, and the \
                  loop goes on; where it could have refused a call or a prompt, it counts as a refusal.",
        fails: "register_session_hook(\"session_start\", { event -> sleep(60000) })\nagent_loop(\"go\", nil, \
                {provider: \"mock\", hook_timeout_ms: 1000, reminders: {strict: true}})\n",
        mended: "register_session_hook(\"session_start\", { event -> println(event.task) })\nagent_loop(\"go\", nil, \
                 {provider: \"mock\", hook_timeout_ms: 1000, reminders: {strict: true}})\n",
    },
    /// An answer of a handler that cannot be used.
    Unusable = "HARN-HOK-002", Error {
        title: "an answer of a handler that cannot be used",
        meaning: "`modify` of a prompt is a string or holds `prompt`; of a compaction it holds `strategy`, `keep_last`, \
                  `target_tokens` or `summary`. A prompt whose change cannot be used is refused, a compaction goes on as it \
                  would have. Where nothing can be refused or changed, such an answer is ignored with a warning.",
        fails: "register_session_hook(\"user_prompt_submit\", { event -> return {modify: {promt: \"hi\"}} })\n\
                agent_loop(\"hello\", nil, {provider: \"mock\", reminders: {strict: true}})\n",
        mended: "register_session_hook(\"user_prompt_submit\", { event -> return {modify: {prompt: \"hi\"}} })\n\
                 agent_loop(\"hello\", nil, {provider: \"mock\", reminders: {strict: true}})\n",
    },
    /// The queue of a session that cannot do what is asked.
    Queue = "HARN-SES-003", Error {
        title: "a queue of injections that cannot do what is asked",
        meaning: "A session's queue holds 256 items and refuses more until a loop has drained some. What a seam has delivered \
                  cannot be taken back. The error's `status` is `queue_full`, `already_delivered` or `closed`.",
        fails: "let id = agent_session_open(\"mine\")\nfor n in 1 to 257 {\n  agent_session_push_bridge_injection(id, {body: \
                \"note ${n}\", ttl_turns: 1})\n}\n",
        mended: "let id = agent_session_open(\"mine\")\nfor n in 1 to 256 {\n  agent_session_push_bridge_injection(id, {body: \
                 \"note ${n}\", ttl_turns: 1})\n}\n",
    },
    /// An id that no queued reminder has.
    UnknownReminder = "HARN-SES-004", Error {
        title: "unknown reminder",
        meaning: "No reminder or message with this id waits in the session's queue or was there lately. The id is misspelt, or it \
                  belongs to another session. `session/pending_injections` lists what waits. The error's `status` is `unknown`.",
        fails: "let id = agent_session_open(\"mine\")\nagent_session_revoke_reminder(id, \"no-such-item\")\n",
        mended: "let id = agent_session_open(\"mine\")\nlet accepted = agent_session_push_bridge_injection(id, {body: \"Look \
                 again.\", ttl_turns: 1})\nagent_session_revoke_reminder(id, accepted.reminderId)\n",
    },
    /// A worker that is not there.
    Worker = "HARN-WRK-001", Error {
        title: "a worker that is not there",
        meaning: "No worker of this run has this id. `spawn_agent` gives a handle, and `list_agents()` the handles there are.",
        fails: "wait_agent(\"no-such-worker\")\n",
        mended: "let worker = spawn_agent({task: \"look\", provider: \"mock\"})\nwait_agent(worker)\n",
    },
    /// A session in which a loop is at work.
    SessionBusy = "HARN-SES-002", Error {
        title: "a session in which a loop is at work",
        meaning: "Two loops in one conversation would tear calls of tools from their answers, and no model server takes that. \
                  The second waits for the first, or works in a session of its own; a tool that needs an agent starts it with \
                  `sub_agent_run`.",
        fails: "let slow = { asked ->\n  sleep(50)\n  return \"done\"\n}\nlet first = spawn { agent_loop(\"a\", nil, {session_id: \
                \"s\", llm_caller: slow}) }\nsleep(1)\nagent_loop(\"b\", nil, {session_id: \"s\", llm_caller: slow})\n",
        mended: "let slow = { asked ->\n  sleep(50)\n  return \"done\"\n}\nlet first = spawn { agent_loop(\"a\", nil, {session_id: \
                 \"s\", llm_caller: slow}) }\nawait(first)\nagent_loop(\"b\", nil, {session_id: \"s\", llm_caller: slow})\n",
    },
    /// A snapshot of a worker that cannot be used.
    Snapshot = "HARN-WRK-003", Error {
        title: "a snapshot of a worker that cannot be used",
        meaning: "The file is not there, is cut short, was written by a newer version or holds what nobody knows; or it was \
                  resumed already: of two who resume one snapshot, one does. Tools and functions are not in it: whoever \
                  resumes it in another process gives them again.",
        fails: "resume_agent(\"no/such/snapshot.json\")\n",
        mended: "let worker = spawn_agent({task: \"wait\", reminders: false, llm_caller: { asked -> asked.turn == 1 ? \
                 {tool_calls: [{id: \"c\", name: \"agent_await_resumption\", arguments: {reason: \"you\"}}]} : \"done\" \
                 }})\nlet parked = wait_agent(worker)\nresume_agent(parked, \"go on\")\nprintln(wait_agent(worker).status)\n",
    },
    /// A worker that cannot do what is asked of it.
    WorkerState = "HARN-WRK-002", Error {
        title: "a worker that cannot do what is asked of it",
        meaning: "A worker is `running`, `suspended`, `completed`, `failed` or `cancelled`. One that runs cannot be resumed, \
                  one that was closed cannot go on, none can wait for itself, and none can work in the session for which it \
                  works.",
        fails: "let id = agent_session_open(\"mine\")\nsub_agent_run(\"look\", {provider: \"mock\", parent_session_id: id, \
                session_id: id})\n",
        mended: "let id = agent_session_open(\"mine\")\nsub_agent_run(\"look\", {provider: \"mock\", parent_session_id: id})\n",
    },
}
}
