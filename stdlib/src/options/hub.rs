//! The options of hubs.

/// Concatenates the options of a publication with those of one call.
macro_rules! publish {
    ($more:literal) => {
        concat!(
            "{to?: string, type?: string, priority?: \"low\" | \"medium\" | \"high\" | \"critical\", tags?: list<string>, \
             deadline?: int | string, queue?: string, max_attempts?: int, context_id?: string, task_id?: string, \
             parent_task_id?: string, message_id?: string, metadata?: dict, reminders?: list<dict>, inherit?: bool",
            $more,
            "}"
        )
    };
}

pub(super) const CONNECT: &str =
    "{agent?: string, token?: string, token_env?: string, ca_file?: string, timeout_ms?: ms}";
pub(super) const CARD: &str = "{name: string, description?: string, url?: string, version?: string, skills?: list<{id: string, \
    name?: string, description?: string, tags?: list<string>, examples?: list<string>}>}";
pub(super) const REGISTER: &str = "{subscriptions?: list<string>, health_check_url?: string}";
pub(super) const PUBLISH: &str = publish!(", task?: bool");
pub(super) const REQUEST: &str = publish!(", timeout_ms?: ms");
pub(super) const CLAIM: &str = "{lease_ms?: ms, renew_for_ms?: ms, estimate_ms?: ms, wait_ms?: ms}";
pub(super) const TASKS: &str =
    "{queue?: string, types?: list<string>, lease_ms?: ms, renew_for_ms?: ms, estimate_ms?: ms, idle_ms?: ms}";
pub(super) const EVENTS: &str =
    "{types?: list<string>, states?: list<string>, contexts?: list<string>, cursor?: string}";
pub(super) const LIST: &str =
    "{agent?: string, context_id?: string, states?: list<string>, page_size?: count, page_token?: string}";
pub(super) const DEAD_LETTERS: &str = "{queue?: string, page_size?: count, page_token?: string}";
pub(super) const PROGRESS: &str = "{portion?: float | int, data?: dict, resume_token?: string}";
