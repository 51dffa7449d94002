//! The rows of what is refused on the wire. No script shows them: what fails is a line that an editor sends.

use stdlib::codes;

codes! {
/// The family of the Agent Client Protocol.
pub enum AcpCode {
    /// A line that is no JSON.
    NoJson = "HARN-ACP-001", Error {
        title: "a line that is no JSON",
        meaning: "Each line that a client writes to `harn serve acp` is one JSON-RPC message in UTF-8. This one is not JSON: it is cut \
         off, holds a byte that is no UTF-8, or is nested deeper than 128 levels. It was answered with -32700 and the id null, \
         and the connection goes on with the next line.",
    },
    /// A line that is too long.
    LineTooLong = "HARN-ACP-002", Error {
        title: "a line that is too long",
        meaning: "A line may have 16 MiB, or what `--max-line` says. A longer one is skipped to its end, never held in memory, and \
         answered with -32600 and the id null. Send files as links (`resource_link`) and not as their content.",
    },
    /// A line that is no JSON-RPC message.
    NoMessage = "HARN-ACP-003", Error {
        title: "a line that is no JSON-RPC message",
        meaning: "A message is an object with `\"jsonrpc\": \"2.0\"`, a `method` that is a string, an `id` that is a string, an integer \
         or null, and `params` that are an object; `data.field` names the one that is wrong. Lists of messages (batches) are \
         not taken. `{\"id\": 1, \"method\": \"session/list\"}` fails, `{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \
         \"session/list\"}` does not.",
    },
    /// A method that there is not.
    UnknownMethod = "HARN-ACP-004", Error {
        title: "a method that there is not",
        meaning: "The request was answered with -32601; `data.suggestion` holds the nearest method, where one is near. Methods of the \
         protocol that the answer to `initialize` does not name among the capabilities are not there either.",
    },
    /// A request before `initialize`.
    NotInitialized = "HARN-ACP-005", Error {
        title: "a request before `initialize`",
        meaning: "The first request of a connection is `initialize`: `{\"jsonrpc\": \"2.0\", \"id\": 0, \"method\": \"initialize\", \
         \"params\": {\"protocolVersion\": 1}}`. Whatever comes before it is answered with -32003 and changes nothing.",
    },
    /// Parameters that are wrong.
    Params = "HARN-ACP-006", Error {
        title: "parameters that are wrong",
        meaning: "A field of the parameters is missing, is of the wrong type, or names something that there is not. `data.field` is its \
         path, such as `prompt[1].text`. Keys that the protocol does not know are left alone. `{\"sessionId\": 7}` fails, \
         `{\"sessionId\": \"sess_…\"}` does not.",
    },
    /// A session that there is not.
    UnknownSession = "HARN-ACP-007", Error {
        title: "a session that there is not",
        meaning: "No session with this id is open: it was closed, belongs to another process, or the id is misspelt. It was answered \
         with -32002. `session/list` tells the ids, `session/load` opens one of an earlier process again where the event log \
         is kept in a file.",
    },
    /// A request that cannot be met now.
    NotNow = "HARN-ACP-008", Error {
        title: "a request that cannot be met now",
        meaning: "The session is at work on another prompt (`data.reason` is `busy`: wait for its end or send `session/cancel`), too \
         many sessions are open (`sessions_full`: close one), or the server is stopping (`stopping`). It was answered with \
         -32004, and nothing has changed.",
    },
    /// A fault of the server.
    Internal = "HARN-ACP-009", Error {
        title: "a fault of the server",
        meaning: "Something went wrong that neither the client nor the script has caused. Other sessions are untouched; close this one \
         and open another.",
    },
    /// A request that was cancelled.
    Cancelled = "HARN-ACP-010", Error {
        title: "a request that was cancelled",
        meaning: "The client has sent `$/cancel_request` for it, and it ended before it had an answer.",
    },
}
}
