//! Options of channels.

use super::{Count, Ms, Text, Texts, Word};

option_words! {
    /// Roles of a script in a channel.
    ChannelRole {
        Client = "client",
        Host = "host",
        Worker = "worker",
        RemoteRuntime = "remote_runtime",
        PeerAgent = "peer_agent",
        ToolServer = "tool_server",
    }
}

options! {
    /// Options of `channel.open`.
    ChannelOptions {
        name: Text = (shown "\"script\""), "The name of the channel. Each name is a channel of its own in the session.";
        role: Word<ChannelRole> = (shown "\"client\""), "The role of the script.";
        can: Texts = (shown "[\"view\"]"), "The scopes: `view`, `prompt`, `inject`. Others need an enrolled channel.";
        secret: Text, "The secret of an enrolled channel. Default: a channel of its own.";
        secret_env: Text, "Environment variable that holds the secret.";
    }

    /// Options of `channel_connection.act`.
    ChannelActionOptions {
        session_id: Text, "The session. Default: that of the script.";
        action_id: Text, "Your id for the action: a repeat returns the recorded result. Default: a new one.";
    }

    /// Options of `channel_connection.events`.
    ChannelEventsOptions {
        session_id: Text, "The session. Default: that of the script.";
        after: Count, "The `sequence` after which the events begin. Default: a snapshot.";
        idle_ms: Ms, "Time without an event after which the stream ends, in milliseconds. Default: no limit.";
    }

    /// Options of `channel_connection.sessions`.
    ChannelPageOptions {
        cursor: Text, "The `nextCursor` of the page before.";
    }
}
