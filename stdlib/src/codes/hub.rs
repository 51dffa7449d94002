//! The codes of hubs in scripts.

use lang::codes;

codes! {
/// The codes of hubs in scripts.
pub(crate) enum HubClientCode {
    /// A hub that does not answer.
    Unreachable = "HARN-HUB-101", Error {
        title: "hub not reachable",
        meaning: "The URL is invalid, the server does not answer or is not a hub, or the connection was lost. Requests \
            are retried with growing pauses until the `timeout_ms` of `hub.connect` has passed (by default 1 second for \
            the first request and 30 seconds for later ones), and streams resume where they were lost. `harn serve hub` \
            starts a hub.",
    },
    /// A request that the hub refuses.
    Refused = "HARN-HUB-102", Error {
        title: "hub refused the request",
        meaning: "The hub received the request and did not execute it. The error's `category` is the code of gRPC: \
            `not_found` (unknown task or agent), `already_exists` (the `message_id` was used for another message), \
            `invalid_argument`, `failed_precondition` (the state of the task does not allow it), `resource_exhausted` \
            (a limit) or another one.",
        fails: "let broker = hub.local({agent: \"me\"})\nbroker.get(\"no-such-task\")\n",
        mended: "let broker = hub.local({agent: \"me\"})\nlet sent = broker.publish(\"Hello\", {queue: \"greetings\"})\nprintln(broker.get(sent.task_id).state)\n",
    },
    /// A lease that has ended.
    LeaseLost = "HARN-HUB-103", Error {
        title: "lease of a task lost",
        meaning: "The worker did not renew its lease in time, so another attempt may be running. Stop the work on the task. `task.progress` and `task.renew` extend the lease, and `lease_ms` of \
            `tasks` and `claim` sets its duration.",
    },
    /// Credentials that the hub does not accept.
    Credentials = "HARN-HUB-104", Error {
        title: "hub rejected the credentials",
        meaning: "The token is missing or unknown, the agent acts as another one, or it does not take part in the task. Pass the token of the agent \
            with the option `token`, or better with `token_env`.",
    },
    /// A task that is not over in time.
    Timeout = "HARN-HUB-105", Error {
        title: "timed out waiting for a task",
        meaning: "`wait` or `request` reached its `timeout_ms`. The hub keeps the task. The error has `task_id`: wait for \
            it again, or cancel it with `cancel`.",
    },
    /// A connection that acts as no agent.
    NoAgent = "HARN-HUB-106", Error {
        title: "hub connection without an agent",
        meaning: "The hub must know which agent acts. Register it with `register`, or pass its id with the option \
            `agent` of `hub.connect` and `hub.local`. A connection acts as one agent: open another connection for \
            another one.",
        fails: "hub.local().publish(\"Hello\", {queue: \"greetings\"})\n",
        mended: "hub.local({agent: \"me\"}).publish(\"Hello\", {queue: \"greetings\"})\n",
    },
}
}
