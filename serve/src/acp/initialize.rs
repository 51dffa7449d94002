//! `initialize`: the capabilities of both sides.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AgentCapabilities, ClientCapabilities, Implementation, InitializeResponse, McpCapabilities, PromptCapabilities,
    SessionCapabilities, SessionCloseCapabilities, SessionListCapabilities, SessionResumeCapabilities,
};
use serde_json::Value;

use super::content;
use super::error::ErrorResponse;
use super::params::Params;

/// Reads the client's capabilities. Malformed ones count as absent, as the protocol requires. Any version is accepted:
/// the response names the supported one, and a client that does not support it disconnects.
///
/// # Errors
/// A field has the wrong type.
pub(crate) fn read(params: &Value) -> Result<ClientCapabilities, ErrorResponse> {
    let params = Params::of(params)?;
    params.number("protocolVersion")?;
    let capabilities = params.optional_object("clientCapabilities")?;
    if let Some(info) = params.optional_object("clientInfo")? {
        info.str("name")?;
        info.optional_str("version")?;
    }
    content::meta(&params)?;
    let capabilities = capabilities.map(|it| serde_json::from_value(Value::Object(it.object().clone())));
    Ok(capabilities.and_then(Result::ok).unwrap_or_default())
}

/// Returns this side's capabilities. Sessions can be loaded if `stored`: the event log outlives the process.
///
/// # Errors
/// None in practice: all values can be written as JSON.
pub(crate) fn answer(stored: bool, reminders: &Value) -> Result<Value, serde_json::Error> {
    let mut sessions =
        SessionCapabilities::new().list(SessionListCapabilities::new()).close(SessionCloseCapabilities::new());
    if stored {
        sessions = sessions.resume(SessionResumeCapabilities::new());
    }
    let capabilities = AgentCapabilities::new()
        .load_session(stored)
        .mcp_capabilities(McpCapabilities::new().http(true))
        .prompt_capabilities(PromptCapabilities::new().embedded_context(true))
        .session_capabilities(sessions);
    let response = InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("harn", env!("CARGO_PKG_VERSION")).title("Harn".to_owned()));
    let mut answer = serde_json::to_value(response)?;
    if reminders.is_null() {
        return Ok(answer);
    }
    // Once in the place that the RFC defines, and once in a place that clients which drop unknown fields keep.
    let capabilities = &mut answer["agentCapabilities"];
    capabilities["reminders"] = reminders.clone();
    capabilities["_meta"]["harn"]["reminders"] = reminders.clone();
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn any_version_is_answered_with_the_one_that_is_spoken() {
        for version in [0, 1, 2, 65_535, u64::MAX] {
            assert!(read(&json!({"protocolVersion": version})).is_ok(), "{version}");
        }
        assert_eq!(answer(true, &Value::Null).unwrap()["protocolVersion"], 1);
    }

    #[test]
    fn sessions_are_loaded_only_where_they_are_kept() {
        for stored in [false, true] {
            let capabilities = &answer(stored, &json!({"inject": true})).unwrap()["agentCapabilities"];
            assert_eq!(capabilities["loadSession"], stored);
            assert_eq!(capabilities["sessionCapabilities"].get("resume").is_some(), stored);
            assert_eq!(capabilities["reminders"], json!({"inject": true}));
            assert_eq!(capabilities["_meta"]["harn"]["reminders"], json!({"inject": true}));
        }
    }
}
