//! The catalogue of errors of a server. Scripts do not raise them.

use stdlib::codes;

codes! {
/// The diagnostics of `harn serve mcp`.
pub enum McpServerCode {
    /// Address in use or not allowed.
    Address = "HARN-MCP-201", Error {
        title: "cannot listen on the address",
        meaning: "`harn serve mcp --http` cannot listen on the address: it is not of the form `HOST:PORT`, another \
            process uses it, or the system does not allow it. `--http 127.0.0.1:0` selects a free port.",
    },
    /// Public address without a token.
    Exposed = "HARN-MCP-202", Error {
        title: "public bind address without a token",
        meaning: "Other machines can reach the address, so callers must send a token. Set HARN_MCP_TOKEN to a value \
            that is hard to guess, or listen on 127.0.0.1, which only this machine can reach.",
    },
    /// Invalid token.
    Token = "HARN-MCP-203", Error {
        title: "invalid token",
        meaning: "The token of `--token` or HARN_MCP_TOKEN is empty or contains a character that cannot be sent in a \
            header. Use ASCII letters, digits and punctuation.",
    },
    /// Internal error.
    Internal = "HARN-MCP-204", Error {
        title: "the server could not start",
        meaning: "The system refused a resource that the server needs, such as a thread or timers and sockets. The \
            message names it.",
    },
    /// Invalid certificate or key.
    Tls = "HARN-MCP-205", Error {
        title: "invalid certificate or key",
        meaning: "`--tls-cert` names a file with the certificate chain in PEM, and `--tls-key` one with its private \
            key in PEM. Both need `--http`. A file cannot be read or is not PEM, or the key belongs to another certificate. The server was not started.",
    },
}
}
