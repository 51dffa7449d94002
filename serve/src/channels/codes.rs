//! The catalogue of errors of the command line. Requests get statuses and reasons instead.

use stdlib::codes;

codes! {
/// The diagnostics of remote channels.
pub enum ChannelCode {
    /// Event log that is not a file.
    NoLog = "HARN-CHN-001", Error {
        title: "channels need an event log in a file",
        meaning: "Channels are enrolled, revoked and resumed by records of the event log, which must outlive the \
            process. Set `--event-log sqlite:PATH`, the variable HARN_EVENT_LOG, or `home` under `[event_log]` in \
            `harn.toml`. Nothing was started or changed.",
    },
    /// Invalid description of a channel.
    Description = "HARN-CHN-002", Error {
        title: "invalid channel",
        meaning: "The name of a channel has 1 to 64 letters, digits, `-`, `_` and `.`, and no other valid channel has \
            the same name. It was not enrolled.",
    },
    /// Channel that is not enrolled.
    Unknown = "HARN-CHN-003", Error {
        title: "channel not found",
        meaning: "No valid channel of this event log has this name or id: it was revoked, it expired, or the log is \
            another one. `harn channel list` shows the channels. Nothing was revoked.",
    },
    /// Listen address that cannot be used.
    Address = "HARN-CHN-004", Error {
        title: "cannot listen on the address",
        meaning: "The text after `--listen` is not an address, or the system refuses it: another process uses it, this \
            machine does not have it, or it needs permissions. `--listen 127.0.0.1:0` selects a free port. Nothing was \
            started.",
    },
    /// Public address.
    Exposed = "HARN-CHN-005", Error {
        title: "public bind address without encryption",
        meaning: "Other machines can reach the address of `harn serve channels`, and secrets and events would cross the \
            network unencrypted. Set `--tls-cert` and `--tls-key`, listen on 127.0.0.1 behind a proxy with TLS, or accept \
            that with `--insecure`. Nothing was started.",
    },
    /// Resource that the system refuses.
    Internal = "HARN-CHN-006", Error {
        title: "could not start the server for channels",
        meaning: "The system refuses a thread or an async runtime. The message names it. Nothing was started.",
    },
    /// Invalid certificate or key.
    Tls = "HARN-CHN-007", Error {
        title: "invalid certificate or key",
        meaning: "`--tls-cert` names a file with the certificate chain in PEM, and `--tls-key` one with its private \
            key in PEM. A file cannot be read or is not PEM, or the key belongs to another certificate. Nothing was started.",
    },
}
}
