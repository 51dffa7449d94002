//! The catalogue of errors on the wire and at startup. Scripts do not raise them.

use stdlib::codes;

codes! {
/// The diagnostics of the Agent2Agent server. Codes from HARN-A2A-101 on belong to the client.
pub enum A2aCode {
    /// Invalid JSON body.
    NoJson = "HARN-A2A-001", Error {
        title: "invalid JSON body",
        meaning: "The body of a request to `harn serve a2a` must be one JSON-RPC request in UTF-8. This body is \
            empty, incomplete, not UTF-8, or nested deeper than 127 levels. The response has the error code -32700 \
            and the id null.",
    },
    /// A body that is too large or too slow.
    Body = "HARN-A2A-002", Error {
        title: "body too large or too slow",
        meaning: "A body can have at most 1 MiB, or the size that `--max-body` sets, and must arrive within ten \
            seconds. The response has the status 413 or 408, and the partial body was discarded. Send files as \
            URLs instead of their content.",
    },
    /// Invalid JSON-RPC request.
    NoRequest = "HARN-A2A-003", Error {
        title: "invalid JSON-RPC request",
        meaning: "A request is an object with `\"jsonrpc\": \"2.0\"`, a `method` that is a string, an `id` that is \
            a string, a number or null, and `params` that are an object; `field` names the invalid member. A \
            request without an `id` is a notification: it is processed, but not answered. Lists of requests \
            (batches) are not supported.",
    },
    /// Unknown method.
    UnknownMethod = "HARN-A2A-004", Error {
        title: "unknown method",
        meaning: "The response has the error code -32601; `suggestion` is the nearest method, if one is similar. \
            The names of versions 1.0 and 0.3 are both supported: `SendMessage` and `message/send` are the same \
            method.",
    },
    /// Invalid parameters.
    Params = "HARN-A2A-005", Error {
        title: "invalid parameters",
        meaning: "A field of the parameters is missing, has the wrong type, or refers to something that does not \
            exist. `field` is its path, such as `message.parts.0`. Fields have different names in different \
            versions: the header `A2A-Version` selects the version, and without it the version is 0.3.",
    },
    /// Task not found.
    UnknownTask = "HARN-A2A-006", Error {
        title: "task not found",
        meaning: "No task has this id: it is misspelled, belongs to another server, or to a server that ended \
            without an event log. The response has the error code -32001; the methods of the reminder extension \
            use -32004, as their draft requires.",
    },
    /// Invalid operation for the state of the task.
    NotTaken = "HARN-A2A-007", Error {
        title: "invalid operation for the state of the task",
        meaning: "The task is over, so it accepts no messages and cannot be cancelled; or it is being stopped \
            (`task_stopping`). A message without a task id starts another task; with the same `contextId` it \
            continues the conversation.",
    },
    /// Unsupported operation.
    NotOffered = "HARN-A2A-008", Error {
        title: "operation not supported",
        meaning: "The agent does not support push notifications (-32003), and it has a single public card (-32004 \
            in 1.0, otherwise -32007), as the card says. Follow the stream of a task, or request the task.",
    },
    /// Unsupported protocol version.
    Version = "HARN-A2A-009", Error {
        title: "unsupported protocol version",
        meaning: "The header `A2A-Version` names a version other than 1.0 and 0.3. The response has the error code \
            -32009.",
    },
    /// Missing or invalid token.
    NoToken = "HARN-A2A-010", Error {
        title: "missing or invalid token",
        meaning: "The agent was started with a token (HARN_A2A_TOKEN or `--token`), and each request must contain \
            it: `Authorization: Bearer TOKEN`. The response has the status 401. Only the agent card can be read \
            without a token.",
    },
    /// Origin or host not allowed.
    Forbidden = "HARN-A2A-011", Error {
        title: "origin or host not allowed",
        meaning: "The request came from a web page whose origin is not the agent's (`--allow-origin` allows an \
            origin), or it addressed the agent by a host name that does not belong to this machine, as DNS \
            rebinding attacks do (`--url` sets the public name). The response has the status 403.",
    },
    /// Limit reached.
    TooMany = "HARN-A2A-012", Error {
        title: "limit reached",
        meaning: "The limit of connections (`--max-connections`), streams (`--max-streams`) or sessions is \
            reached; or a stream was not read fast enough and was closed; or the server is stopping. `reason` says \
            which. Tasks continue without a client: try again later.",
    },
    /// Internal server error.
    Internal = "HARN-A2A-013", Error {
        title: "internal server error",
        meaning: "An error occurred that neither the caller nor the script caused. Other tasks are not affected.",
    },
    /// Request outside this protocol.
    NotFound = "HARN-A2A-014", Error {
        title: "invalid HTTP request",
        meaning: "Requests are sent with POST to `/`, with the `Content-Type` `application/json`; the agent card \
            is read with GET from `/.well-known/agent-card.json`. Other requests get the status 404, 405 or 415.",
    },
    /// Address that the server cannot listen on.
    Address = "HARN-A2A-015", Error {
        title: "cannot listen on the address",
        meaning: "`--listen` takes `HOST:PORT`, or only a port on this machine; port 0 selects a free one. The address \
            is misspelled, does not belong to this machine, or is already in use. The server was not started.",
    },
    /// Public bind address without a token.
    Exposed = "HARN-A2A-016", Error {
        title: "public bind address without a token",
        meaning: "Anyone who can reach the agent can use it and incur model costs. On addresses other than 127.0.0.1 \
            and ::1, a token is required: set HARN_A2A_TOKEN. The server was not started.",
    },
    /// Token that cannot be sent in a header.
    Token = "HARN-A2A-017", Error {
        title: "invalid token",
        meaning: "A token must consist of one or more ASCII letters, digits and punctuation characters, without \
            spaces, so that it can be sent in a header. The server was not started.",
    },
    /// Unsupported media type.
    MediaType = "HARN-A2A-018", Error {
        title: "unsupported media type",
        meaning: "The media type of a part of the message is neither in `defaultInputModes` of the agent card nor in \
                  the `inputModes` of a skill. The response has the error code -32005; `field` names the part. \
                  `input_modes` under `[agent]` in `harn.toml` lists the supported types, such as `[\"text/plain\", \
                  \"image/*\"]`; the default is text and JSON.",
    },
    /// Missing scope.
    NoScope = "HARN-A2A-019", Error {
        title: "missing scope",
        meaning: "The agent is served by `harn serve channels --a2a`, and the channel of the caller lacks the scope that \
            `scope` names: `view` to read tasks, `prompt` to send messages and to cancel, `inject` to inject reminders, \
            `permit` to answer permission questions. Enrol the channel with it: `harn channel add NAME --can SCOPES`.",
    },
    /// Invalid certificate or key.
    Tls = "HARN-A2A-020", Error {
        title: "invalid certificate or key",
        meaning: "`--tls-cert` names a file with the certificate chain in PEM, and `--tls-key` one with its private \
            key in PEM. A file cannot be read or is not PEM, or the key belongs to another certificate. The server was not started.",
    },
}
}
