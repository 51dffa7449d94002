//! Options of hubs.

use super::{Count, Each, Entries, Flag, Int, Ms, Number, Raw, Text, Texts, Word, WordList};

option_words! {
    /// Priorities of tasks.
    HubPriority { Low = "low", Medium = "medium", High = "high", Critical = "critical", }

    /// States of tasks.
    HubState {
        Submitted = "submitted",
        Working = "working",
        Completed = "completed",
        Failed = "failed",
        Canceled = "canceled",
        InputRequired = "input-required",
        Rejected = "rejected",
        AuthRequired = "auth-required",
    }
}

options! {
    /// Options of `hub.connect` and `hub.local`.
    HubConnectOptions {
        agent: Text, "The agent as which the connection acts.";
        token: Text, "A bearer token.";
        token_env: Text, "Environment variable that holds the token.";
        ca_file: Text, "Certificates in PEM that an `https` hub must be signed by. Default: those of the system.";
        timeout_ms: Ms = (shown "30000"), "Time for which a request is retried while the hub is not reachable, in milliseconds. By default, it is 1000 for the first request.";
    }

    /// The card of an agent.
    HubCardOptions = "HubCard" {
        name: Text = (required), "The id of the agent, and its name.";
        description: Text, "A description of the agent.";
        url: Text, "The address of the agent, if it has one.";
        version: Text, "The version of the agent.";
        skills: Each<HubSkill> as "list<HubSkill>" = [], "Its skills.";
    }

    /// A skill of an agent.
    HubSkill {
        id: Text = required, "The id of the skill.";
        name: Text, "The name of the skill. Default: the id.";
        description: Text, "A description of the skill.";
        tags: Texts = [], "Words about the skill.";
        examples: Texts = [], "Examples of tasks.";
    }

    /// Options of `hub.register`.
    HubRegisterOptions {
        subscriptions: Texts = [], "Tags of broadcasts, and queues that the agent works for.";
        health_check_url: Text, "URL that `harn serve hub` checks with GET. An unhealthy agent gets no broadcasts.";
    }

    /// Options of every message to a hub.
    HubMessageOptions {
        to: Text, "The agent that receives the task.";
        r#type: Text, "The type of the task.";
        priority: Word<HubPriority> = (shown "\"medium\""), "The order among waiting tasks.";
        tags: Texts = [], "Without `to` and `queue`, agents that subscribe to one of these tags get a copy.";
        deadline: Raw as "ms | string", "When the task fails: milliseconds since 1970, or RFC 3339.";
        queue: Text, "One worker of this queue gets the task.";
        max_attempts: Int, "Maximum number of attempts, at most that of the hub.";
        context_id: Text, "The context. Default: a new one.";
        task_id: Text, "The task to which the message is added.";
        parent_task_id: Text, "The task of which this one is a part.";
        message_id: Text, "A repeated id returns the first result.";
        metadata: Entries = {}, "Any data.";
        reminders: Raw as "list<ReminderSpec>" = (shown "[]"), "Reminders for the session of the worker.";
        inherit: Flag = true, "Whether a new task inherits reminders from the current session.";
    }

    /// Options of `hub.publish`.
    HubPublishOptions(message: HubMessageOptions) {
        task: Flag = true, "`false` sends a message without a task.";
    }

    /// Options of `hub.request`.
    HubRequestOptions(message: HubMessageOptions) {
        timeout_ms: Ms = 600000, "Timeout of the task, in milliseconds.";
    }

    /// Options of `hub.wait`.
    HubWaitOptions {
        timeout_ms: Ms = 600000, "Timeout of the task, in milliseconds.";
    }

    /// Options of `hub.get`.
    HubGetOptions {
        history_length: Count<i32> = 0, "Number of messages of the history to return.";
    }

    /// Options of the lease of a task.
    HubLeaseOptions {
        lease_ms: Ms = (shown "30000"), "Duration of the lease, in milliseconds.";
        renew_for_ms: Ms = 600000, "Time after the last call of the task for which its lease is renewed, in milliseconds. 0: never.";
        estimate_ms: Ms, "Expected duration of the work, in milliseconds. Tasks with an earlier deadline are not leased.";
    }

    /// Options of `hub.claim`.
    HubClaimOptions(lease: HubLeaseOptions) {
        wait_ms: Ms, "Time after which nil is returned, in milliseconds. Default: no limit.";
    }

    /// Options of `hub.tasks`.
    HubTasksOptions(lease: HubLeaseOptions) {
        queue: Text, "The queue. Default: the tasks that are sent to this agent.";
        types: Texts = [], "Types of tasks; others are rejected.";
        idle_ms: Ms, "Time without a task after which the stream ends, in milliseconds. Default: no limit.";
    }

    /// Options of `hub.updates`, `hub.messages` and `hub.events`.
    HubEventsOptions {
        types: Texts = [], "Types of events.";
        states: WordList<HubState> = [], "States of tasks, for `updates`.";
        contexts: Texts = [], "Contexts, for `messages`.";
        cursor: Text, "The `cursor` of the event after which the stream resumes.";
    }

    /// Options of `hub.list`.
    HubListOptions {
        agent: Text, "Only tasks that this agent sent or works on.";
        context_id: Text, "Only tasks of this context.";
        states: WordList<HubState> = [], "Only tasks in these states.";
        page_size: Count<i32> = (shown "50"), "Number of tasks, at most 500.";
        page_token: Text, "The `next_page_token` of the page before.";
    }

    /// Options of `hub.dead_letters`.
    HubDeadLetterOptions {
        queue: Text, "Only tasks of this queue, or that were sent to this agent.";
        page_size: Count<i32> = (shown "50"), "Number of tasks, at most 500.";
        page_token: Text, "The `next_page_token` of the page before.";
    }

    /// The progress of a task of a hub.
    HubProgressOptions = "HubProgress" {
        portion: Number as "portion" = 0.0, "The completed portion, from 0 to 1.";
        data: Entries = {}, "Partial results.";
        resume_token: Text, "Token with which a later attempt continues.";
    }
}
