//! The codes of channels in scripts.

use lang::codes;

codes! {
/// The codes of channels in scripts.
pub(crate) enum ScriptChannelCode {
    /// A script that no daemon serves.
    NoDaemon = "HARN-CHN-101", Error {
        title: "no daemon to open a channel to",
        meaning: "`channel.open` connects to the daemon that serves the script. This run has none: the script was not started \
            by `harn serve channels`. Start it with `harn serve channels FILE`, or catch this error if the script also runs \
            without a daemon.",
        fails: "let link = channel.open()\nprintln(link.id)\n",
        mended: "let opened = try { channel.open() }\nprintln(is_ok(opened) ? \"served\" : \"not served\")\n",
    },
    /// An action or a connection that the daemon refuses.
    Refused = "HARN-CHN-102", Error {
        title: "daemon refused the request of a channel",
        meaning: "The request was not executed. The error's `reason` is the word that the other transports send: `scope` (the \
            channel lacks a scope), `unknown_session` (the session does not exist, or belongs to another account), `busy` (a turn \
            is running), `action_id_reused`, `rate_limited`, `invalid` (with `field`), `disconnected` (the channel is closed) or \
            another one. Each refusal is a record `channel.refused`.",
    },
    /// A channel that is not valid.
    Credentials = "HARN-CHN-103", Error {
        title: "channel not authenticated",
        meaning: "The secret in `secret` or `secret_env` belongs to no valid channel, or the channel has expired or was revoked \
            while it was open. The error's `reason` is `malformed_secret`, `wrong_secret`, `expired` or `revoked`. \
            `harn channel list` shows the channels, and `harn channel add` enrols one.",
    },
}
}
