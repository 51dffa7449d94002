//! The rows of what is refused on the wire. No script shows them: what fails is a line that an editor sends.

use stdlib::{Code, Severity};

const fn row(code: &'static str, title: &'static str, meaning: &'static str) -> Code {
    Code { code, severity: Severity::Error, title, meaning, fails: "", mended: "" }
}

/// The family of the Agent Client Protocol.
pub static CODES: &[Code] = &[
    row(
        "HARN-ACP-001",
        "a line that is no JSON",
        "Each line that a client writes to `harn serve acp` is one JSON-RPC message in UTF-8. This one is not JSON: it is cut \
         off, holds a byte that is no UTF-8, or is nested deeper than 128 levels. It was answered with -32700 and the id null, \
         and the connection goes on with the next line.",
    ),
    row(
        "HARN-ACP-002",
        "a line that is too long",
        "A line may have 16 MiB, or what `--max-line` says. A longer one is skipped to its end, never held in memory, and \
         answered with -32600 and the id null. Send files as links (`resource_link`) and not as their content.",
    ),
    row(
        "HARN-ACP-003",
        "a line that is no JSON-RPC message",
        "A message is an object with `\"jsonrpc\": \"2.0\"`, a `method` that is a string, an `id` that is a string, an integer \
         or null, and `params` that are an object; `data.field` names the one that is wrong. Lists of messages (batches) are \
         not taken. `{\"id\": 1, \"method\": \"session/list\"}` fails, `{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \
         \"session/list\"}` does not.",
    ),
    row(
        "HARN-ACP-004",
        "a method that there is not",
        "The request was answered with -32601; `data.suggestion` holds the nearest method, where one is near. Methods of the \
         protocol that the answer to `initialize` does not name among the capabilities are not there either.",
    ),
    row(
        "HARN-ACP-005",
        "a request before `initialize`",
        "The first request of a connection is `initialize`: `{\"jsonrpc\": \"2.0\", \"id\": 0, \"method\": \"initialize\", \
         \"params\": {\"protocolVersion\": 1}}`. Whatever comes before it is answered with -32003 and changes nothing.",
    ),
    row(
        "HARN-ACP-006",
        "parameters that are wrong",
        "A field of the parameters is missing, is of the wrong type, or names something that there is not. `data.field` is its \
         path, such as `prompt[1].text`. Keys that the protocol does not know are left alone. `{\"sessionId\": 7}` fails, \
         `{\"sessionId\": \"sess_…\"}` does not.",
    ),
    row(
        "HARN-ACP-007",
        "a session that there is not",
        "No session with this id is open: it was closed, belongs to another process, or the id is misspelt. It was answered \
         with -32002. `session/list` tells the ids, `session/load` opens one of an earlier process again where the event log \
         is kept in a file.",
    ),
    row(
        "HARN-ACP-008",
        "a request that cannot be met now",
        "The session is at work on another prompt (`data.reason` is `busy`: wait for its end or send `session/cancel`), too \
         many sessions are open (`sessions_full`: close one), or the server is stopping (`stopping`). It was answered with \
         -32004, and nothing has changed.",
    ),
    row(
        "HARN-ACP-009",
        "a fault of the server",
        "Something went wrong that neither the client nor the script has caused. Other sessions are untouched; close this one \
         and open another.",
    ),
    row(
        "HARN-ACP-010",
        "a request that was cancelled",
        "The client has sent `$/cancel_request` for it, and it ended before it had an answer.",
    ),
];
