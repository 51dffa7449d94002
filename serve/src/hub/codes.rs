//! The catalogue of errors at startup. Requests get gRPC status codes instead.

use stdlib::codes;

codes! {
/// The diagnostics of the hub.
pub enum HubCode {
    /// Address that the hub cannot listen on.
    Address = "HARN-HUB-001", Error {
        title: "cannot listen on the address",
        meaning: "`--listen` and `--http` take `HOST:PORT`, or only a port on this machine; port 0 selects a free one. \
            The address is misspelled, does not belong to this machine, or is already in use. The hub was not started.",
    },
    /// Public bind address without tokens.
    Exposed = "HARN-HUB-002", Error {
        title: "public bind address without tokens",
        meaning: "Anyone who can reach a hub without tokens can act as any agent. On addresses other than 127.0.0.1 \
            and ::1, tokens are required: `--token-file` names a file with a line `AGENT TOKEN` for each agent. The hub \
            was not started.",
    },
    /// Invalid token file.
    TokenFile = "HARN-HUB-003", Error {
        title: "invalid token file",
        meaning: "Each line of the file of `--token-file` is the id of an agent, a space, and the token of the agent; \
            empty lines and lines that start with `#` are ignored. Tokens are at least 16 ASCII letters, digits and \
            punctuation characters, and no two agents have the same one. On Unix, the file must be accessible \
            to its owner only (`chmod 600 FILE`), as `ssh` requires of keys. The hub was not started.",
    },
    /// Invalid certificate or key.
    Tls = "HARN-HUB-004", Error {
        title: "invalid certificate or key",
        meaning: "`--tls-cert` names a file with the certificate chain in PEM, and `--tls-key` one with its private \
            key in PEM. A file cannot be read or is not PEM, or the key belongs to another certificate. The hub was not \
            started.",
    },
    /// Store that cannot be used.
    Store = "HARN-HUB-005", Error {
        title: "cannot open the store of the hub",
        meaning: "`--store` is `memory`, or `sqlite:FILE`. The file cannot be created, is not a store of a hub, or is \
            used by another hub. The hub was not started.",
    },
    /// Internal server error.
    Internal = "HARN-HUB-006", Error {
        title: "internal error of the hub",
        meaning: "The hub could not start its async runtime, or its gRPC server failed. The log has the details.",
    },
}
}
