//! The codes of asking peers.

use lang::diagnostic::Severity::Error;
use lang::diagnostic::code::Code;

/// No card.
pub(crate) const NO_CARD: &str = "HARN-A2A-101";
/// No agent, or one that speaks otherwise than it says.
pub(crate) const NOT_AGENT: &str = "HARN-A2A-102";
/// No common version.
pub(crate) const NO_VERSION: &str = "HARN-A2A-103";
/// A token that is refused, or missing.
pub(crate) const REFUSED: &str = "HARN-A2A-104";
/// An error of the peer.
pub(crate) const ANSWER: &str = "HARN-A2A-105";
/// A stream that broke off.
pub(crate) const BROKE_OFF: &str = "HARN-A2A-106";
/// A peer that takes too long.
pub(crate) const TIMEOUT: &str = "HARN-A2A-107";
/// A peer that leads elsewhere.
pub(crate) const MOVED: &str = "HARN-A2A-108";
/// A status that says no.
pub(crate) const STATUS: &str = "HARN-A2A-109";
/// A message or option that cannot be sent.
pub(crate) const UNSENDABLE: &str = "HARN-A2A-110";
/// A deadline that passed.
pub(crate) const DEADLINE: &str = "HARN-A2A-111";

/// The rows. Most need a peer that is at fault, and a page asks no servers, so none has a script.
pub(crate) static CODES: &[Code] = &[
    Code {
        code: NO_CARD,
        severity: Error,
        title: "no agent card",
        meaning: "An agent says what it is under `/.well-known/agent-card.json` below its base URL (or `agent.json` beside it, \
                  as before version 0.3). Nothing stands there. The error's `status` is what the server said.",
        fails: "",
        mended: "",
    },
    Code {
        code: NOT_AGENT,
        severity: Error,
        title: "a peer that is no agent, or speaks otherwise than its card says",
        meaning: "What was answered is no card, no JSON-RPC, or not of the shape of the protocol's version. The message \
                  names the field, or shows the beginning of what came.",
        fails: "",
        mended: "",
    },
    Code {
        code: NO_VERSION,
        severity: Error,
        title: "an agent in a version or binding that is not spoken here",
        meaning: "JSON-RPC over HTTP is spoken, in the versions 1.0, 0.3 (also for 0.2) and 0.1. The error's `offered` lists what the \
                  agent's card offers.",
        fails: "",
        mended: "",
    },
    Code {
        code: REFUSED,
        severity: Error,
        title: "an agent that refuses the token, or wants one",
        meaning: "The agent answered 401 or 403. A token is given with the option `token`, or better with `token_env`, the name of \
                  a variable that holds it; other ways to say who asks with `headers`.",
        fails: "",
        mended: "",
    },
    Code {
        code: ANSWER,
        severity: Error,
        title: "an error that an agent answered with",
        meaning: "The agent took the request and refuses it. The error holds `rpc_code`, `rpc_message` and `data` as they came, and \
                  where the agent says them `reason`, `peer_code`, `field` and `suggestion`. A task that fails or is rejected is \
                  no error: look at its `state`.",
        fails: "",
        mended: "",
    },
    Code {
        code: BROKE_OFF,
        severity: Error,
        title: "a stream that broke off before its task was over",
        meaning: "The connection ended. The error holds `task_id`, the last `state` and the number of `events` that had come. \
                  The task may go on at the agent: `a2a.subscribe(url, task_id)` follows it from there.",
        fails: "",
        mended: "",
    },
    Code {
        code: TIMEOUT,
        severity: Error,
        title: "an agent that takes too long",
        meaning: "A whole answer was not there within `timeout_ms`: 30 seconds where that is not given, 10 minutes for `a2a.send`. \
                  In a stream it is the longest silence, 5 minutes. The task goes on at the agent.",
        fails: "",
        mended: "",
    },
    Code {
        code: MOVED,
        severity: Error,
        title: "an agent that leads to another server",
        meaning: "A redirect is followed within the same origin (scheme, host and port) alone. A token or header that was given \
                  for a URL goes to no other origin that the agent's card names. A card that was read by https leads to no http, \
                  and one from elsewhere to no address of this machine or of a private network, with or without a token. If the \
                  other origin is right, give its URL, or name it with the option `trust`.",
        fails: "",
        mended: "",
    },
    Code {
        code: STATUS,
        severity: Error,
        title: "an agent whose server says no",
        meaning: "The status is none of success, and the body is no error of JSON-RPC. The error's `status` is the number.",
        fails: "",
        mended: "",
    },
    Code {
        code: UNSENDABLE,
        severity: Error,
        title: "a message to an agent that cannot be sent",
        meaning: "A message is a text, a list of parts (`\"text\"`, `{text}`, `{data}`, `{file: {name?, mime_type?, bytes | uri}}`), \
                  or `{parts, metadata?}`, and says something. A token that `token_env` names must be set, all that goes into a \
                  header must fit in one, a `deadline` is milliseconds since 1970 or RFC 3339, and `trust` lists origins with \
                  their scheme.",
        fails: "",
        mended: "",
    },
    Code {
        code: DEADLINE,
        severity: Error,
        title: "a deadline that passed before the agent's task was over",
        meaning: "The option `deadline` says by when the task must be done. The agent was told of it and had 5 seconds more to say \
                  how far it came; nothing came, so it is waited for no longer. The error holds `deadline_ms`, and `task_id` where \
                  that was told. The task may go on at an agent that does not heed deadlines: `a2a.get` says how it stands, \
                  `a2a.cancel` ends it. `timeout_ms` bounds the wait alone, and the agent is not told of it.",
        fails: "",
        mended: "",
    },
];
