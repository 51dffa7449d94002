//! The codes of asking peers.

use lang::codes;

codes! {
/// The codes of calls of peers. Most need an invalid peer, and a page contacts no servers, so none
/// has a script.
pub(crate) enum PeerCode {
    /// The card was not found.
    NoCard = "HARN-A2A-101", Error {
        title: "no agent card",
        meaning: "An agent says what it is under `/.well-known/agent-card.json` below its base URL (or `agent.json` beside it, \
                  as before version 0.3). Nothing stands there. The error's `status` is what the server said.",
    },
    /// The server is not an agent, or does not follow its card.
    NotAgent = "HARN-A2A-102", Error {
        title: "a peer that is no agent, or speaks otherwise than its card says",
        meaning: "What was answered is no card, no JSON-RPC, or not of the shape of the protocol's version. The message \
                  names the field, or shows the beginning of what came.",
    },
    /// There is no common version.
    NoVersion = "HARN-A2A-103", Error {
        title: "an agent in a version or binding that is not spoken here",
        meaning: "JSON-RPC over HTTP is spoken, in the versions 1.0, 0.3 (also for 0.2) and 0.1. The error's `offered` lists what the \
                  agent's card offers.",
    },
    /// A token that is refused, or missing.
    Refused = "HARN-A2A-104", Error {
        title: "an agent that refuses the token, or wants one",
        meaning: "The agent answered 401 or 403. A token is given with the option `token`, or better with `token_env`, the name of \
                  a variable that holds it; other ways to say who asks with `headers`.",
    },
    /// An error of the peer.
    Answer = "HARN-A2A-105", Error {
        title: "an error that an agent answered with",
        meaning: "The agent took the request and refuses it. The error holds `rpc_code`, `rpc_message` and `data` as they came, and \
                  where the agent says them `reason`, `peer_code`, `field` and `suggestion`. A task that fails or is rejected is \
                  no error: look at its `state`.",
    },
    /// A stream that broke off.
    BrokeOff = "HARN-A2A-106", Error {
        title: "a stream that broke off before its task was over",
        meaning: "The connection ended. The error holds `task_id`, the last `state` and the number of `events` that had come. \
                  The task may go on at the agent: `a2a.subscribe(url, task_id)` follows it from there.",
    },
    /// A peer that takes too long.
    Timeout = "HARN-A2A-107", Error {
        title: "an agent that takes too long",
        meaning: "A whole answer was not there within `timeout_ms`: 30 seconds where that is not given, 10 minutes for `a2a.send`. \
                  In a stream it is the longest silence, 5 minutes. The task goes on at the agent.",
    },
    /// A peer that leads elsewhere.
    Moved = "HARN-A2A-108", Error {
        title: "an agent that leads to another server",
        meaning: "A redirect is followed within the same origin (scheme, host and port) alone. A token or header that was given \
                  for a URL goes to no other origin that the agent's card names. A card that was read by https leads to no http, \
                  and one from elsewhere to no address of this machine or of a private network, with or without a token. If the \
                  other origin is right, give its URL, or name it with the option `trust`.",
    },
    /// A status that says no.
    Status = "HARN-A2A-109", Error {
        title: "an agent whose server says no",
        meaning: "The status is none of success, and the body is no error of JSON-RPC. The error's `status` is the number.",
    },
    /// A message or option that cannot be sent.
    Unsendable = "HARN-A2A-110", Error {
        title: "a message to an agent that cannot be sent",
        meaning: "A message is a text, a list of parts (`\"text\"`, `{text}`, `{data}`, `{file: {name?, mime_type?, bytes | uri}}`), \
                  or `{parts, metadata?}`, and says something. A token that `token_env` names must be set, all that goes into a \
                  header must fit in one, a `deadline` is milliseconds since 1970 or RFC 3339, and `trust` lists origins with \
                  their scheme.",
    },
    /// A deadline that passed.
    Deadline = "HARN-A2A-111", Error {
        title: "a deadline that passed before the agent's task was over",
        meaning: "The option `deadline` says by when the task must be done. The agent was told of it and had 5 seconds more to say \
                  how far it came; nothing came, so it is waited for no longer. The error holds `deadline_ms`, and `task_id` where \
                  that was told. The task may go on at an agent that does not heed deadlines: `a2a.get` says how it stands, \
                  `a2a.cancel` ends it. `timeout_ms` bounds the wait alone, and the agent is not told of it.",
    },
}
}
