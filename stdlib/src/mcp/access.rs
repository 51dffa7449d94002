//! Capabilities and variables that a server needs of the run.

use super::spec::{McpServerSpec, ServerTransport, SpecError};
use crate::capability::Capability;
use lang::vm::{Isolate, Raise, RunCode};
use std::sync::Arc;

/// Checks that the run has the capabilities for a server.
pub(super) fn allowed(isolate: &Isolate, spec: &McpServerSpec, arg: usize) -> Result<(), Box<Raise>> {
    let mut needed = Vec::new();
    match &spec.transport {
        ServerTransport::Process(program) => {
            needed.push((Capability::Process, "command"));
            needed.extend((!program.pass_env.is_empty()).then_some((Capability::Env, "pass_env")));
        }
        ServerTransport::Http { token_env, oauth, .. } => {
            needed.push((Capability::Net, "url"));
            needed.extend(token_env.is_some().then_some((Capability::Env, "token_env")));
            let secret = oauth.as_ref().is_some_and(|oauth| oauth.client_secret_env.is_some());
            needed.extend(secret.then_some((Capability::Env, "oauth.client_secret_env")));
        }
    }
    match needed.into_iter().find(|(capability, _)| isolate.is_denied(*capability)) {
        None => Ok(()),
        Some((capability, key)) => {
            let name = &spec.name;
            let message = format!(
                "the MCP server `{name}` needs the capability `{}`, which this run does not have",
                capability.name()
            );
            Err(Raise::error(RunCode::Denied, message).about(arg, format!("has `{key}`")))
        }
    }
}

/// Returns the value of a variable that a description names.
pub(super) fn variable(key: &str, name: &Arc<str>) -> Result<String, SpecError> {
    match std::env::var(&**name) {
        Ok(value) if !value.trim().is_empty() => Ok(value.trim().to_owned()),
        _ => Err(SpecError::new(key, format!("`{key}` names the variable `{name}`, which is not set"))
            .help("set it before you start the run")),
    }
}
