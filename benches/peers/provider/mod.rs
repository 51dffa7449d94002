//! One evaluation of a reminder provider of eight lines, in this process: the closure exists
//! already, it is called with a context, and the reminder that it returns is read back.
//!
//! The context is a value of the language that is called. A map of Rhai is copied for each call, as Rhai copies what it
//! hands over; a dict of harn is shared.

mod harn;
mod rhai;

/// The programs.
pub(crate) const HARN: &str = include_str!("evaluate.harn");
pub(crate) const RHAI: &str = include_str!("evaluate.rhai");

/// The reminder that was given, as a provider's answer is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GivenReminder {
    pub(crate) body: String,
    pub(crate) tags: Vec<String>,
    pub(crate) ttl_turns: i64,
    pub(crate) dedupe_key: String,
}

/// A provider that is ready to be called.
pub(crate) trait Provider {
    /// Returns the name in the table.
    fn name(&self) -> &'static str;
    /// Calls the provider once; returns `None` if it returns no reminder.
    fn evaluate(&self) -> Result<Option<GivenReminder>, String>;
}

/// Returns the same provider in each language.
pub(crate) fn providers(context: &Context) -> Result<Vec<Box<dyn Provider>>, String> {
    Ok(vec![
        Box::new(harn::HarnProvider::new(context)?),
        Box::new(rhai::Ast::new(context)?),
        Box::new(rhai::Grain::new(context)?),
    ])
}

/// The context that a provider is called with.
pub(crate) struct Context {
    pub(crate) session_id: &'static str,
    pub(crate) turn: i64,
    pub(crate) tokens: i64,
    pub(crate) window: i64,
    /// Names, and how often they were called.
    pub(crate) tools: Vec<(&'static str, i64)>,
}

impl Context {
    /// One in which the provider has something to say.
    pub(crate) fn full() -> Self {
        let tools =
            vec![("read_file", 12), ("grep", 7), ("edit", 3), ("run_tests", 4), ("list_dir", 1), ("git_diff", 5)];
        Self { session_id: "session-17", turn: 42, tokens: 174_000, window: 200_000, tools }
    }
}
