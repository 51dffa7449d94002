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
}
}
