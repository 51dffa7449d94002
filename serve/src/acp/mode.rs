//! The modes of a session.

use base::words::nearest;
use serde_json::{Value, json};

use super::error::ErrorResponse;
use super::params::Params;
use crate::host::Mode;

/// Returns the available modes and the current one.
pub(crate) fn state(current: &str) -> Value {
    let row = |it: &Mode| json!({"id": it.as_str(), "name": it.name(), "description": it.description()});
    json!({"currentModeId": current, "availableModes": Mode::ALL.iter().map(row).collect::<Vec<_>>()})
}

/// Reads the requested mode.
///
/// # Errors
/// The mode is unknown.
pub(crate) fn read<'a>(params: &Params<'a>) -> Result<&'a str, ErrorResponse> {
    let id = params.str("modeId")?;
    if Mode::WORDS.contains(&id) {
        return Ok(id);
    }
    let written: String = id.chars().take(80).collect();
    let all = Mode::WORDS.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let problem = format!("is `{written}`; the modes are {all}");
    Err(params.refuse("modeId", &problem).suggestion(nearest(id, Mode::WORDS.iter().copied())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modes_are_told_as_the_protocol_has_them() {
        let state: agent_client_protocol_schema::v1::SessionModeState = serde_json::from_value(state("plan")).unwrap();
        assert_eq!(&*state.current_mode_id.0, "plan");
        let ids: Vec<_> = state.available_modes.iter().map(|mode| mode.id.to_string()).collect();
        assert_eq!(ids, Mode::WORDS);
    }

    #[test]
    fn a_mode_that_there_is_not_is_refused_with_the_nearest() {
        let read =
            |params: Value| read(&Params::of(&params).unwrap()).map(str::to_owned).map_err(ErrorResponse::into_json);
        assert_eq!(read(json!({"modeId": "auto"})), Ok("auto".to_owned()));
        let refused = read(json!({"modeId": "autp"})).unwrap_err();
        assert_eq!((&refused["data"]["field"], &refused["data"]["suggestion"]), (&json!("modeId"), &json!("auto")));
        assert_eq!(read(json!({"modeId": 3})).unwrap_err()["data"]["field"], "modeId");
        assert_eq!(read(json!({})).unwrap_err()["data"]["field"], "modeId");
    }
}
