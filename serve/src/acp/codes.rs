//! The catalogue of errors on the wire. Scripts do not raise them: the cause is a line from an editor.

use stdlib::codes;

codes! {
/// The diagnostics of the Agent Client Protocol.
pub enum AcpCode {
    /// Invalid JSON line.
    NoJson = "HARN-ACP-001", Error {
        title: "invalid JSON line",
        meaning: "Each line that a client sends to `harn serve acp` must be one JSON-RPC message in UTF-8. This \
            line is not valid JSON: it is incomplete, not UTF-8, or nested deeper than 128 levels. The response \
            has the error code -32700 and the id null, and the connection continues with the next line.",
    },
    /// Line too long.
    LineTooLong = "HARN-ACP-002", Error {
        title: "line too long",
        meaning: "A line can have at most 16 MiB, or the size that `--max-line` sets. A longer line is skipped \
            without keeping it in memory; the response has the error code -32600 and the id null. Send files as \
            links (`resource_link`) instead of their content.",
    },
    /// Invalid JSON-RPC message.
    NoMessage = "HARN-ACP-003", Error {
        title: "invalid JSON-RPC message",
        meaning: "A message is an object with `\"jsonrpc\": \"2.0\"`, a `method` that is a string, an `id` that is \
            a string, an integer or null, and `params` that are an object; `data.field` names the invalid member. \
            Lists of messages (batches) are not supported. `{\"id\": 1, \"method\": \"session/list\"}` is invalid, \
            `{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"session/list\"}` is valid.",
    },
    /// Unknown method.
    UnknownMethod = "HARN-ACP-004", Error {
        title: "unknown method",
        meaning: "The response has the error code -32601; `data.suggestion` is the nearest method, if one is \
            similar. Methods for capabilities that the response to `initialize` does not list are also unknown.",
    },
    /// A request before `initialize`.
    NotInitialized = "HARN-ACP-005", Error {
        title: "request before `initialize`",
        meaning: "The first request of a connection must be `initialize`: `{\"jsonrpc\": \"2.0\", \"id\": 0, \
            \"method\": \"initialize\", \"params\": {\"protocolVersion\": 1}}`. A request before it gets the error \
            code -32003 and has no effect.",
    },
    /// Invalid parameters.
    Params = "HARN-ACP-006", Error {
        title: "invalid parameters",
        meaning: "A field of the parameters is missing, has the wrong type, or refers to something that does not \
            exist. `data.field` is its path, such as `prompt[1].text`. Keys that the protocol does not define are \
            ignored. `{\"sessionId\": 7}` is invalid, `{\"sessionId\": \"sess_…\"}` is valid.",
    },
    /// Session not found.
    UnknownSession = "HARN-ACP-007", Error {
        title: "session not found",
        meaning: "No session with this id is open: it was closed, belongs to another process, or the id is \
            misspelled. The response has the error code -32002. `session/list` returns the ids; `session/load` \
            opens a session of an earlier process again if the event log is in a file.",
    },
    /// Request cannot be processed now.
    NotNow = "HARN-ACP-008", Error {
        title: "request cannot be processed now",
        meaning: "The session is processing another prompt (`data.reason` is `busy`: wait until it is done, or \
            send `session/cancel`), too many sessions are open (`sessions_full`, or `account_sessions_full` \
            for those of your account: close one), or the server is stopping (`stopping`). The response has the error code -32004, and the request had no effect.",
    },
    /// Internal server error.
    Internal = "HARN-ACP-009", Error {
        title: "internal server error",
        meaning: "An error occurred that neither the client nor the script caused. Other sessions are not affected; \
            close this one and open another.",
    },
    /// Address of the metrics that the server cannot listen on.
    ProbeAddress = "HARN-ACP-011", Error {
        title: "cannot listen on the metrics address",
        meaning: "`--metrics` takes `HOST:PORT`, or only a port on this machine; port 0 selects a free one. The \
            address is misspelled, does not belong to this machine, or is already in use. The server was not \
            started.",
    },
    /// Public metrics address without a token.
    ProbeExposed = "HARN-ACP-012", Error {
        title: "public metrics address without a token",
        meaning: "Anyone who can reach the metrics can see the load of the agent. On addresses other than 127.0.0.1 \
            and ::1, a token is required: set HARN_METRICS_TOKEN. The server was not started.",
    },
    /// Metrics token that cannot be sent in a header.
    ProbeToken = "HARN-ACP-013", Error {
        title: "invalid metrics token",
        meaning: "HARN_METRICS_TOKEN must consist of one or more ASCII letters, digits and punctuation characters, \
            without spaces, so that it can be sent in a header. The server was not started.",
    },
}
}
