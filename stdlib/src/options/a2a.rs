//! Options of calls of other agents.

use super::{AnyData, Count, Entries, Flag, Headers, Ms, Raw, Text, Texts, Word};

option_words! {
    /// Versions of the protocol.
    PeerVersion { V1 = "1.0", V03 = "0.3", }

    /// Treatment of a reminder for an agent that takes none.
    InjectFallback { Metadata = "metadata", Suppress = "suppress", }
}

options! {
    /// Options of every call of another agent.
    PeerAccess {
        token: Text, "A bearer token.";
        token_env: Text, "Environment variable that holds the token.";
        headers: Headers = {}, "Additional headers.";
        trust: Texts = [], "Further origins that a card may refer to.";
        version: Word<PeerVersion>, "Version of the protocol. Default: the newest of the card.";
    }

    /// Options of `a2a.card` and `a2a.cancel`.
    A2aOptions(access: PeerAccess) {
        timeout_ms: Ms = 30000, "Timeout of the request, in milliseconds.";
    }

    /// Options of calls that send a message.
    PeerMessageOptions(access: PeerAccess) {
        context_id: Text, "Conversation of a new task.";
        task_id: Text, "Task that waits for this message.";
        metadata: Entries = {}, "Any data.";
        history_length: Count<u32>, "Number of messages of the history to return.";
        deadline: Raw as "ms | string", "When the task must be done: milliseconds since 1970, or RFC 3339.";
        reference_task_ids: Texts = [], "Tasks that the message refers to.";
        inherit: Flag = true, "Whether a new task inherits reminders.";
        extensions: Texts = [], "URIs of extensions to request.";
    }

    /// Options of `a2a.send`.
    A2aSendOptions(sending: PeerMessageOptions) {
        wait: Flag = true, "Wait until the task is over or waits for input.";
        reminders: Raw as "list<ReminderSpec>" = (shown "[]"), "Reminders to send with the message.";
        timeout_ms: Ms = 600000, "Timeout of the task, in milliseconds.";
    }

    /// Options of `a2a.stream`.
    A2aStreamOptions(sending: PeerMessageOptions) {
        reminders: Raw as "bool | list<ReminderSpec>" = (shown "true"), "`false` requests no reminder events. A list is sent with the message.";
        timeout_ms: Ms = 300000, "Longest time without an event, in milliseconds.";
    }

    /// Options of `a2a.subscribe`.
    A2aSubscribeOptions(access: PeerAccess) {
        reminders: Flag = true, "`false` requests no reminder events.";
        extensions: Texts = [], "URIs of extensions to request.";
        timeout_ms: Ms = 300000, "Longest time without an event, in milliseconds.";
    }

    /// Options of `a2a.get`.
    A2aGetOptions(access: PeerAccess) {
        history_length: Count<u32>, "Number of messages of the history to return.";
        timeout_ms: Ms = 30000, "Timeout of the request, in milliseconds.";
    }

    /// Options of `a2a.inject_reminder`.
    A2aInjectOptions(access: PeerAccess) {
        fallback: Word<InjectFallback> = (shown "\"suppress\""), "Behaviour if the agent does not support reminders.";
        message: Raw as "string | list<string | MessagePart> | PeerMessage", "Message to a task that waits for input.";
        id: AnyData as "string", "Your id for the reminder. If it is sent twice, it is injected once.";
        source: AnyData as "string", "The origin, as free text.";
        metadata: Entries = {}, "Any data.";
        timeout_ms: Ms = 30000, "Timeout of the request, in milliseconds.";
    }
}
