//! The rows of what is refused on the wire, or before anything is served. No script shows them.

use stdlib::codes;

codes! {
/// The family of the Agent2Agent protocol, as it is served. Codes from HARN-A2A-020 on are of its client.
pub enum A2aCode {
    /// A body that is no JSON.
    NoJson = "HARN-A2A-001", Error {
        title: "a body that is no JSON",
        meaning: "The body of a request to `harn serve a2a` is one request of JSON-RPC in UTF-8. This one is empty, cut off, holds a byte \
         that is no UTF-8, or is nested deeper than 127 levels. It was answered with -32700 and the id null.",
    },
    /// A body that is too large or too slow.
    Body = "HARN-A2A-002", Error {
        title: "a body that is too large or too slow",
        meaning: "A body may have 1 MiB, or what `--max-body` says, and must come within ten seconds. It was answered with the status 413 \
         or 408, and what came of it was not read. Send files as URLs and not as their content.",
    },
    /// A body that is no request of JSON-RPC.
    NoRequest = "HARN-A2A-003", Error {
        title: "a body that is no request of JSON-RPC",
        meaning: "A request is an object with `\"jsonrpc\": \"2.0\"`, a `method` that is a string, an `id` that is a string, a number or \
         null, and `params` that are an object; `field` names the one that is wrong. Without an `id` it is a notification, which \
         is met and not answered. Lists of requests (batches) are not taken.",
    },
    /// A method that there is not.
    UnknownMethod = "HARN-A2A-004", Error {
        title: "a method that there is not",
        meaning: "The request was answered with -32601; `suggestion` holds the nearest method, where one is near. The names of \
         versions 1.0 and 0.3 are all taken: `SendMessage` and `message/send` are the same.",
    },
    /// Parameters that are wrong.
    Params = "HARN-A2A-005", Error {
        title: "parameters that are wrong",
        meaning: "A field of the parameters is missing, is of the wrong type, or names something that there is not. `field` is its path, \
         such as `message.parts.0`. Fields have other names in other versions: the header `A2A-Version` says which is spoken, and \
         where it is missing that is 0.3.",
    },
    /// A task that there is not.
    UnknownTask = "HARN-A2A-006", Error {
        title: "a task that there is not",
        meaning: "No task has this id: it is misspelt, of another server, or of one that ended and kept no event log. It was answered \
         with -32001; the methods of the extension for reminders answer -32004, as their draft says.",
    },
    /// A task that cannot take it.
    NotTaken = "HARN-A2A-007", Error {
        title: "a task that cannot take it",
        meaning: "The task is over, so that nothing can be said to it and it cannot be cancelled; or it is at work and asks nothing \
         (`task_busy`). A message without the id of a task begins another one; with the `contextId` the conversation goes on.",
    },
    /// An operation that is not offered.
    NotOffered = "HARN-A2A-008", Error {
        title: "an operation that is not offered",
        meaning: "The agent calls nobody back (push notifications, -32003) and has one card that everybody may read (-32004 in 1.0, else \
         -32007), as its card says. Follow the stream of a task, or ask for the task.",
    },
    /// A version of the protocol that is not spoken.
    Version = "HARN-A2A-009", Error {
        title: "a version of the protocol that is not spoken",
        meaning: "The header `A2A-Version` names another version than 1.0, 0.3 and 0.1. It was answered with -32009.",
    },
    /// No token, or a wrong one.
    NoToken = "HARN-A2A-010", Error {
        title: "no token, or a wrong one",
        meaning: "The agent was started with a token (HARN_A2A_TOKEN or `--token`), and each request must bring it: `Authorization: \
         Bearer TOKEN`. It was answered with the status 401. Only the agent card is for everybody.",
    },
    /// A page that may not ask.
    Forbidden = "HARN-A2A-011", Error {
        title: "a page that may not ask",
        meaning: "The request came from a page in a browser whose origin is not the agent's (`--allow-origin` lets it), or it names the \
         agent by a name that is none of its machine's, as pages do that rebind their name (`--url` names the public one). It was \
         answered with the status 403.",
    },
    /// More than may be at one time.
    TooMany = "HARN-A2A-012", Error {
        title: "more than may be at one time",
        meaning: "As many connections (`--max-connections`), streams (`--max-streams`) or sessions are open as may be; a stream was not \
         read fast enough, and ends; or the server is stopping. `reason` says which. Tasks go on whoever follows them: ask again \
         later.",
    },
    /// A fault of the server.
    Internal = "HARN-A2A-013", Error {
        title: "a fault of the server",
        meaning: "Something went wrong that neither the caller nor the script has caused. Other tasks are untouched.",
    },
    /// A request that is none of this protocol.
    NotFound = "HARN-A2A-014", Error {
        title: "a request that is none of this protocol",
        meaning: "Requests go by POST to `/`, with the `Content-Type` `application/json`; the agent card is read by GET at \
         `/.well-known/agent-card.json`. All else is answered with the status 404, 405 or 415.",
    },
    /// An address that nobody can listen on.
    Address = "HARN-A2A-015", Error {
        title: "an address that nobody can listen on",
        meaning: "`--listen` takes `HOST:PORT`, or a port of this machine; port 0 is one that is free. The address is misspelt, is none of \
         this machine's, or another process listens there. Nothing was served.",
    },
    /// An address that others reach, without a token.
    Exposed = "HARN-A2A-016", Error {
        title: "an address that others reach, without a token",
        meaning: "Whoever reaches the agent can have it work, and spend what its models cost. On other addresses than 127.0.0.1 and ::1 it \
         is served only with a token: set HARN_A2A_TOKEN. Nothing was served.",
    },
    /// A token that cannot be sent.
    Token = "HARN-A2A-017", Error {
        title: "a token that cannot be sent",
        meaning: "A token is at least one character, and only letters, digits and punctuation of ASCII without blanks, so that a header \
         can carry it. Nothing was served.",
    },
    /// Unsupported media type.
    MediaType = "HARN-A2A-018", Error {
        title: "unsupported media type",
        meaning: "A part of the message has a media type that is not among `defaultInputModes` of the agent card or the `inputModes` of a \
         skill. It was answered with -32005; `field` names the part. `input_modes` of `[agent]` in `harn.toml` says what the agent \
         takes, such as `[\"text/plain\", \"image/*\"]`; without it that is text and JSON.",
    },
}
}
