//! The modes of a session.

use runtime::words::nearest;
use serde_json::{Value, json};

use super::error::Refusal;
use super::params::Params;

/// A mode of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// As it is written on the wire.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
}

/// All of them; the first is that of a session for which nobody chose one.
pub const MODES: [Mode; 3] = [
    Mode { id: "ask", name: "Ask", description: "Asks before a tool runs that needs a permission" },
    Mode { id: "auto", name: "Auto", description: "Runs every tool without asking" },
    Mode { id: "plan", name: "Plan", description: "Changes nothing: tools that would change something are refused" },
];

/// The modes that there are, and the one that a session is in.
pub(crate) fn state(current: &str) -> Value {
    let modes = MODES.map(|it| json!({"id": it.id, "name": it.name, "description": it.description}));
    json!({"currentModeId": current, "availableModes": modes})
}

/// The mode that is asked for.
///
/// # Errors
/// There is none of that name.
pub(crate) fn read<'a>(params: &Params<'a>) -> Result<&'a str, Refusal> {
    let id = params.str("modeId")?;
    let ids = MODES.map(|mode| mode.id);
    if ids.contains(&id) {
        return Ok(id);
    }
    let written: String = id.chars().take(80).collect();
    let problem = format!("is `{written}`; the modes are {}", ids.map(|id| format!("`{id}`")).join(", "));
    Err(params.refuse("modeId", &problem).suggestion(nearest(id, ids)))
}
