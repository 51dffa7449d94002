//! Results about reminders, transcripts and sessions.

lang::option_tables! {
    /// A reminder.
    pub(super) REMINDER: "Reminder" (open) {
        id: "string" = required, "The id of the reminder.";
        body: "string" = required, "The text that the model reads.";
        tags: "list<string>" = required, "The tags.";
        dedupe_key: "string", "The key.";
        ttl_turns: "int", "Number of further prompts that show it.";
        preserve_on_compact: "bool" = required, "Whether compaction keeps it.";
        propagate: "string" = required, "The sub-agents that inherit it.";
        role_hint: "string" = required, "The preferred slot.";
        source: "string" = required, "The origin.";
        fired_at_turn: "int" = required, "The turn in which it was made.";
        originating_agent_id: "string", "The agent in whose session it was made.";
    }

    /// An event of a transcript.
    pub(super) TRANSCRIPT_EVENT: "TranscriptEvent" (open) {
        id: "string" = required, "The id of the event.";
        kind: "string" = required, "The kind of the event.";
        role: "any" = required, "The speaker, or nil.";
        visibility: "any" = required, "Who sees it, or nil.";
        text: "any" = required, "The text, or nil.";
        blocks: "any" = required, "The blocks, or nil.";
        reminder: "any" = required, "The reminder, or nil.";
        metadata: "any" = required, "Any data, or nil.";
        delivery: "string", "How a message of the host was delivered.";
    }

    /// The result of adding a reminder to a session.
    pub(super) REMINDER_ADDED: "ReminderAdded" (open) {
        reminder_id: "string" = required, "The id of the reminder.";
        deduped_count: "int" = required, "Number of reminders that it replaced.";
    }

    /// The result of adding a reminder to a transcript.
    pub(super) REMINDER_ADDED_TO: "ReminderAddedTo" (open) {
        transcript: "transcript" = required, "The transcript with the reminder.";
        reminder_id: "string" = required, "The id of the reminder.";
        deduped_count: "int" = required, "Number of reminders that it replaced.";
    }

    /// The result of clearing reminders of a session.
    pub(super) REMINDERS_REMOVED: "RemindersRemoved" (open) {
        removed_count: "int" = required, "Number of reminders that were removed.";
    }

    /// The result of clearing reminders of a transcript.
    pub(super) REMINDERS_REMOVED_FROM: "RemindersRemovedFrom" (open) {
        transcript: "transcript" = required, "The transcript without them.";
        removed_count: "int" = required, "Number of reminders that were removed.";
    }

    /// The result of charging a turn.
    pub(super) REMINDERS_CHARGED: "RemindersCharged" (open) {
        expired_count: "int" = required, "Number of reminders that expired.";
        decremented_count: "int" = required, "Number of reminders that have a turn less.";
        remaining_count: "int" = required, "Number of reminders that are left.";
    }

    /// The result of letting providers look at an event.
    pub(super) REMINDERS_FIRED: "RemindersFired" (open) {
        fired_count: "int" = required, "Number of reminders.";
        reports: "list<ProviderReport>" = required, "A report for each.";
    }

    /// A reminder that a provider added.
    pub(super) PROVIDER_REPORT: "ProviderReport" (open) {
        provider: "string" = required, "The name of the provider.";
        reminder_id: "string" = required, "The id of the reminder.";
        deduped_count: "int" = required, "Number of reminders that it replaced.";
    }

    /// Numbers of a transcript.
    pub(super) TRANSCRIPT_STATS: "TranscriptStats" (open) {
        message_count: "int" = required, "Number of messages.";
        event_count: "int" = required, "Number of events.";
        reminder_count: "int" = required, "Number of pending reminders.";
        tool_call_count: "int" = required, "Number of tool calls.";
        estimated_tokens: "int" = required, "Estimated number of tokens.";
    }

    /// A transcript as data.
    pub(super) EXPORTED_TRANSCRIPT: "ExportedTranscript" (open) {
        _type: "string" = required, "`transcript`";
        version: "int" = required, "The version of the format.";
        id: "string" = required, "The id of the transcript.";
        messages: "list<Message>" = required, "The messages.";
        events: "list<TranscriptEvent>" = required, "The events.";
        assets: "any", "Files of the conversation.";
        metadata: "any", "Any data.";
        summary: "any", "The summary of archived messages.";
    }

    /// The state of a session as data.
    pub(super) SESSION_SNAPSHOT: "SessionSnapshot" (open) extends [&EXPORTED_TRANSCRIPT] {
        length: "int" = required, "Number of messages.";
        created_at: "int" = required, "The time, in milliseconds since 1970.";
        parent_id: "any" = required, "The session that it was made from, or nil.";
        child_ids: "list<string>" = required, "The sessions that were made from it.";
        branched_at_event_index: "any" = required, "The event after which it was made, or nil.";
        workspace_anchor: "any" = required, "The place that it works in, or nil.";
    }

    /// The sessions around a session.
    pub(super) SESSION_ANCESTRY: "SessionAncestry" (open) {
        parent_id: "any" = required, "The session that it was made from, or nil.";
        child_ids: "list<string>" = required, "The sessions that were made from it.";
        root_id: "string" = required, "The first session of the line.";
    }

    /// The report of a compaction.
    pub(super) COMPACTION: "Compaction" (open) {
        mode: "string" = required, "`manual` or `auto`.";
        strategy: "string" = required, "The strategy.";
        keep_last: "int" = required, "Number of messages to keep.";
        message_count: "int" = required, "Number of messages before it.";
        archived_messages: "int" = required, "Number of messages that were archived.";
        remaining_messages: "int" = required, "Number of messages that are left.";
        estimated_tokens_before: "int" = required, "Estimated number of tokens before it.";
        estimated_tokens_after: "int" = required, "Estimated number of tokens after it.";
        summary: "any" = required, "The summary, or nil.";
        reminders_expired: "int" = required, "Number of reminders that expired.";
        reminders_deduped: "int" = required, "Number of reminders that were replaced.";
        reminders_preserved: "int" = required, "Number of reminders that were kept.";
    }

    /// The result of injecting an item as a host would.
    pub(super) INJECTION_ACCEPTED: "InjectionAccepted" (open) {
        status: "string" = required, "`accepted`";
        mode: "string" = required, "The seams at which it is delivered.";
        reminderId: "string", "The id of a reminder.";
        injectionId: "string", "The id of a message.";
        dedupedCount: "int" = required, "Number of items that it replaced.";
    }

    /// A queued item of a host.
    pub(super) INJECTION: "Injection" (open) {
        kind: "string" = required, "`reminder` or `message`.";
        mode: "string" = required, "The seams at which it is delivered.";
        reminderId: "string", "The id of a reminder.";
        injectionId: "string", "The id of a message.";
        body: "string", "The text of a reminder.";
        content: "any", "The content of a message.";
        tags: "list<string>", "The tags.";
        dedupeKey: "any", "The key.";
        ttlTurns: "any", "Number of prompts that show it.";
        roleHint: "string", "The preferred slot.";
        source: "string", "The origin.";
    }

    /// The queue of a session.
    pub(super) INJECTIONS_PENDING: "InjectionsPending" (open) {
        pendingCount: "int" = required, "Number of items.";
        injections: "list<Injection>" = required, "The items, the oldest first.";
    }

    /// The items that were delivered at a seam.
    pub(super) INJECTIONS_DELIVERED: "InjectionsDelivered" (open) {
        delivered: "int" = required, "Number of items.";
        injections: "list<Injection>" = required, "The items, the oldest first.";
    }

    /// The result of taking a queued item back.
    pub(super) REMINDER_REVOKED: "ReminderRevoked" (open) {
        status: "string" = required, "`revoked`, `already_revoked` or `replaced`.";
        reminderId: "string" = required, "The id of the item.";
    }
}
