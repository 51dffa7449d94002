//! The options of asking other agents.

/// Concatenates the options of every call with those of one.
macro_rules! access {
    ($more:literal) => {
        concat!(
            "{",
            $more,
            "token?: string, token_env?: string, headers?: dict, trust?: list<string>, timeout_ms?: ms, \
             version?: \"1.0\" | \"0.3\"}"
        )
    };
}

pub(super) const CARD: &str = access!("");
pub(super) const GET: &str = access!("history_length?: count, ");
pub(super) const SUBSCRIBE: &str = access!("reminders?: bool, extensions?: list<string>, ");
pub(super) const INJECT: &str =
    access!("fallback?: \"metadata\" | \"suppress\", message?: any, id?: string, source?: string, metadata?: dict, ");
pub(super) const SEND: &str = access!(
    "context_id?: string, task_id?: string, metadata?: dict, history_length?: count, deadline?: int | string, \
     reference_task_ids?: list<string>, inherit?: bool, extensions?: list<string>, wait?: bool, reminders?: list<dict>, "
);
pub(super) const STREAM: &str = access!(
    "context_id?: string, task_id?: string, metadata?: dict, history_length?: count, deadline?: int | string, \
     reference_task_ids?: list<string>, inherit?: bool, extensions?: list<string>, reminders?: bool | list<dict>, "
);
