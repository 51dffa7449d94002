//! Results of other agents, hubs and channels.

lang::option_tables! {
    /// The card of an agent, as it was read.
    pub(super) A2A_CARD: "A2aCard" (open) {
        name: "any" = required, "The name of the agent.";
        description: "any" = required, "A description of the agent.";
        version: "any" = required, "The version of the agent.";
        url: "any" = required, "The address of the agent.";
        supportedInterfaces: "any" = required, "The addresses and bindings.";
        provider: "any" = required, "Who runs the agent.";
        documentationUrl: "any" = required, "The address of its documentation.";
        iconUrl: "any" = required, "The address of its icon.";
        capabilities: "any" = required, "The features of the agent.";
        securitySchemes: "any" = required, "The ways to authenticate.";
        security: "any" = required, "The schemes that are required.";
        defaultInputModes: "any" = required, "Media types that it takes.";
        defaultOutputModes: "any" = required, "Media types that it returns.";
        skills: "any" = required, "Its skills.";
        signatures: "any" = required, "Signatures of the card.";
        harn: "A2aCardReading" = required, "The parts of the card that calls use.";
    }

    /// Parts of a card that calls use.
    pub(super) A2A_CARD_READING: "A2aCardReading" (open) {
        version: "string" = required, "The version of the protocol.";
        endpoint: "string" = required, "The address that requests are sent to.";
        streaming: "bool" = required, "Whether the agent streams.";
        reminders: "any" = required, "Its support of reminders, or nil.";
    }

    /// A task of another agent.
    pub(super) A2A_TASK: "A2aTask" (open) {
        task_id: "any" = required, "The id of the task; nil if the agent answered with a message.";
        context_id: "any" = required, "The conversation, or nil.";
        state: "string" = required, "The state of the task.";
        text: "string" = required, "The texts of the answer.";
        data: "any" = required, "The data of the answer, or nil.";
        artifacts: "list<A2aArtifact>" = required, "The artifacts.";
        status_text: "any" = required, "The text of the status, or nil.";
        status_data: "any" = required, "The data of the status, or nil.";
        history: "list<any>" = required, "The messages that were requested.";
        metadata: "any" = required, "The metadata, or nil.";
        rejection_reason: "any", "Why the agent rejected the task.";
    }

    /// An artifact of a task.
    pub(super) A2A_ARTIFACT: "A2aArtifact" (open) {
        artifact_id: "string" = required, "The id of the artifact.";
        name: "any" = required, "The name, or nil.";
        description: "any" = required, "A description, or nil.";
        parts: "list<any>" = required, "The parts.";
        metadata: "any" = required, "The metadata, or nil.";
    }

    /// The result of injecting a reminder into a task.
    pub(super) A2A_REMINDER: "A2aReminder" (open) {
        via: "string" = required, "`method`, `metadata` or `suppressed`.";
        reason: "string", "Why the method was not used.";
        sent: "bool", "Whether it was sent with a message.";
        reminder_id: "any", "The id of the reminder.";
        deduped_count: "any", "Number of reminders that it replaced.";
    }

    /// A channel to the daemon that serves the script.
    pub(super) CHANNEL_CONNECTION: "ChannelConnection" {
        id: "string" = required, "The id of the channel.";
        name: "string" = required, "The name of the channel.";
        role: "string" = required, "The role of the script.";
        scopes: "list<string>" = required, "The scopes.";
        account: "string" = required, "The account of the sessions that it reaches.";
        transport: "string" = required, "The transport.";
    }

    /// The receipt of an action.
    pub(super) CHANNEL_RECEIPT: "ChannelReceipt" {
        actionId: "any" = required, "The id of the action.";
        status: "string" = required, "How the daemon took it.";
        result: "any" = required, "The result, or nil.";
        repeated: "bool" = required, "Whether the action was recorded before.";
    }

    /// A page of sessions.
    pub(super) CHANNEL_SESSION_PAGE: "ChannelSessionPage" {
        sessions: "list<any>" = required, "The sessions: `{sessionId, title, updatedAt, open}`.";
        nextCursor: "string", "The cursor of the next page.";
    }

    /// A connection to a hub.
    pub(super) HUB: "Hub" {
        agent: "any" = required, "The agent as which it acts, or nil.";
        url: "string" = required, "The address of the hub.";
    }

    /// A leased task of a hub.
    pub(super) HUB_TASK: "HubTask" {
        task_id: "string" = required, "The id of the task.";
        context_id: "string" = required, "The context.";
        state: "string" = required, "The state of the task.";
        text: "string" = required, "The texts of the message.";
        data: "any" = required, "The data of the message, or nil.";
        parts: "list<any>" = required, "The parts of the message.";
        r#type: "string" = required, "The type of the task.";
        from: "string" = required, "The agent that sent it.";
        priority: "string" = required, "The priority.";
        queue: "string" = required, "The queue; empty if it was sent to this agent.";
        attempt: "int" = required, "The number of this attempt, from 1.";
        max_attempts: "int" = required, "Maximum number of attempts.";
        resume_token: "any" = required, "The token of an earlier attempt, or nil.";
        deadline_ms: "any" = required, "The deadline, in milliseconds since 1970, or nil.";
        lease_until_ms: "int" = required, "The end of the lease, in milliseconds since 1970.";
        trace_id: "any" = required, "The trace of the sender, or nil.";
        span_id: "any" = required, "The span of the sender, or nil.";
        reminders: "list<any>" = required, "Reminders for the session of the worker.";
        metadata: "any" = required, "The metadata, or nil.";
        history: "list<any>" = required, "The messages of the task.";
        artifacts: "list<any>" = required, "The artifacts of earlier attempts.";
    }

    /// The receipt of a message to a hub.
    pub(super) HUB_RECEIPT: "HubReceipt" {
        task_id: "any" = required, "The id of the task; nil without a task.";
        message_id: "string" = required, "The id of the message.";
        context_id: "string" = required, "The context.";
        event_id: "string" = required, "The id of the event.";
    }

    /// A page of tasks that failed in every attempt.
    pub(super) HUB_DEAD_LETTER_PAGE: "HubDeadLetterPage" {
        dead_letters: "list<any>" = required, "The tasks: `{task, queue, attempts, reason, at_ms}`.";
        next_page_token: "any" = required, "The token of the next page, or nil.";
    }

    /// The card of a hub.
    pub(super) HUB_CARD_VIEW: "HubCardView" {
        name: "string" = required, "The name of the hub.";
        description: "string" = required, "A description of the hub.";
        url: "string" = required, "The address of the hub.";
        version: "string" = required, "The version of the hub.";
        protocol_version: "string" = required, "The version of the protocol.";
        skills: "list<any>" = required, "The skills of the registered agents.";
    }

    /// A page of tasks.
    pub(super) HUB_TASK_PAGE: "HubTaskPage" {
        tasks: "list<A2aTask>" = required, "The tasks, the oldest first.";
        next_page_token: "any" = required, "The token of the next page, or nil.";
    }
}
