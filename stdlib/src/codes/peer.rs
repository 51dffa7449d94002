//! The codes of asking peers.

use lang::codes;

codes! {
/// The codes of calls of peers. Most need an invalid peer, and a page contacts no servers, so none
/// has a script.
pub(crate) enum PeerCode {
    /// The card was not found.
    NoCard = "HARN-A2A-101", Error {
        title: "agent card not found",
        meaning: "An agent publishes its card at `/.well-known/agent-card.json` below its base URL; before version \
            0.3, the file was `agent.json`. The server has neither. The error's `status` is the HTTP status of its \
            response.",
    },
    /// The server is not an agent, or does not follow its card.
    NotAgent = "HARN-A2A-102", Error {
        title: "invalid response from an agent",
        meaning: "The response is not an agent card, not JSON-RPC, or does not have the shape that the protocol \
            version requires. The message names the field, or shows the beginning of the response.",
    },
    /// There is no common version.
    NoVersion = "HARN-A2A-103", Error {
        title: "unsupported protocol version or binding",
        meaning: "Only JSON-RPC over HTTP is supported, in the versions 1.0 and 0.3. The error's `offered` lists what \
            the agent's card offers.",
    },
    /// A token that is refused, or missing.
    Refused = "HARN-A2A-104", Error {
        title: "agent rejected the credentials",
        meaning: "The agent answered 401 or 403. Pass a token with the option `token`, or better with `token_env`, \
            the name of the variable that holds it. For other authentication schemes, use `headers`.",
    },
    /// An error of the peer.
    Answer = "HARN-A2A-105", Error {
        title: "agent returned an error",
        meaning: "The agent received the request and returned a JSON-RPC error. The error has `rpc_code`, \
            `rpc_message` and `data` as the agent sent them, and `reason`, `peer_code`, `field` and `suggestion` \
            if the agent sent those. A task that fails or is rejected does not raise an error: check its `state`.",
    },
    /// A stream that broke off.
    BrokeOff = "HARN-A2A-106", Error {
        title: "stream ended before the task was done",
        meaning: "The connection closed. The error has the `task_id`, the last `state` and the number of `events` \
            received. The task may still be running: `a2a.subscribe(url, task_id)` continues to follow it.",
    },
    /// A peer that takes too long.
    Timeout = "HARN-A2A-107", Error {
        title: "agent timed out",
        meaning: "The response was not complete within `timeout_ms`. The default is 30 seconds, and 10 minutes for \
            `a2a.send`. For a stream, it is the longest time without an event, by default 5 minutes. The agent \
            continues the task.",
    },
    /// A peer that leads elsewhere.
    Moved = "HARN-A2A-108", Error {
        title: "agent refers to another server",
        meaning: "Redirects are followed only within the same origin (scheme, host and port). A token or header \
            for one URL is never sent to another origin that the agent's card names. A card that was read over \
            https cannot refer to http, and a card from another host cannot refer to an address of this machine or \
            of a private network, with or without a token. If the other origin is correct, use its URL, or list it \
            in the option `trust`.",
    },
    /// A status that says no.
    Status = "HARN-A2A-109", Error {
        title: "agent returned an HTTP error",
        meaning: "The status is not a success, and the body is not a JSON-RPC error. The error's `status` is the HTTP \
            status.",
    },
    /// A message or option that cannot be sent.
    Unsendable = "HARN-A2A-110", Error {
        title: "invalid message for an agent",
        meaning: "A message is a text, a list of parts (`\"text\"`, `{text}`, `{data}`, `{file: {name?, \
            mime_type?, bytes | uri}}`), or `{parts, metadata?}`, and must not be empty. The variable that \
            `token_env` names must be set, headers must contain only valid characters, a `deadline` is \
            milliseconds since 1970 or an RFC 3339 time, and `trust` lists origins with their scheme.",
    },
    /// A deadline that passed.
    Deadline = "HARN-A2A-111", Error {
        title: "deadline exceeded before the task was done",
        meaning: "The option `deadline` says when the task must be done. The agent received it and had 5 more \
            seconds to report its progress, but nothing arrived, so the call stopped waiting. The error has \
            `deadline_ms`, and `task_id` if the agent sent one. An agent that ignores deadlines may still be \
            working on the task: `a2a.get` returns its state, and `a2a.cancel` cancels it. `timeout_ms` limits \
            only the wait and is not sent to the agent.",
    },
    /// A required extension that is not supported.
    Extension = "HARN-A2A-112", Error {
        title: "unsupported extension required by an agent",
        meaning: "The agent's card lists an extension with `required: true`, and harn does not support it, so \
            nothing was sent. The error's `extensions` has the URIs. If your messages follow the extension, request \
            it with the option `extensions`. `urn:harn:ext:reminders:1` is activated without that.",
    },
}
}
