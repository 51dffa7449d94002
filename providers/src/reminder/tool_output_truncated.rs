//! | Provider | Subscribes to | Config keys | Reminder behavior |
//! |---|---|---|---|
//! | `tool_output_truncated` | `post_tool_use` | none | Fires when tool output was truncated or compacted before the model saw it. Uses tag `truncation`, dedupe key `tool_output_truncated:<tool_name>`, `ttl_turns: 1`, and `propagate: "none"`. |
//!
//! It reads `result.truncated` or `truncated`, and `tool.name` or `tool_name`.

use base::data::Data;
use runtime::hooks::HookEvent;
use runtime::reminder::{Propagate, ReminderError, ReminderSpec, RoleHint};

use super::at_once::at_once;
use super::config;

/// Tells the model that a tool's output was cut.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolOutputTruncated;

impl ToolOutputTruncated {
    /// Its id.
    pub const ID: &str = "tool_output_truncated";

    fn look(event: &HookEvent<'_>, config: &Data) -> Result<Vec<ReminderSpec>, ReminderError> {
        config::known_keys(ToolOutputTruncated::ID, config, &[])?;
        if let HookEvent::PostToolUse { call, result, .. } = event {
            return Ok(if result.truncated { vec![notice(&call.name)] } else { Vec::new() });
        }
        let is_true = |path| event.get(path).as_bool() == Some(true);
        if !is_true("result.truncated") && !is_true("truncated") {
            return Ok(Vec::new());
        }
        let name = ["tool.name", "tool_name"].iter().find_map(|path| event.get(path).as_shared_str());
        Ok(vec![notice(name.as_deref().unwrap_or("unknown"))])
    }
}

fn notice(tool: &str) -> ReminderSpec {
    ReminderSpec {
        tags: vec!["truncation".into()],
        dedupe_key: Some(format!("{}:{tool}", ToolOutputTruncated::ID).into()),
        ttl_turns: Some(1),
        preserve_on_compact: false,
        propagate: Propagate::None,
        role_hint: RoleHint::System,
        ..ReminderSpec::new(format!(
            "The output of the tool `{tool}` was truncated. If you need the missing part, call the tool again for \
            a smaller part (a range, a filter, a single file)."
        ))
    }
}

at_once!(ToolOutputTruncated on [PostToolUse], |_, _, event, config| ToolOutputTruncated::look(event, config));

#[cfg(test)]
mod tests {
    use runtime::hooks::event::ToolResult;
    use runtime::message::ToolCall;

    use super::*;
    use runtime::events::EventKind;
    use runtime::hooks::HookEvent;
    use runtime::reminder_providers::ReminderProvider;

    use crate::testing::{TestSession, block_on};

    fn fire(event: &HookEvent<'_>) -> Vec<ReminderSpec> {
        let place = TestSession::new();
        block_on(ToolOutputTruncated.evaluate(place.turn(), event, &Data::Nil).get()).unwrap()
    }

    #[test]
    fn it_fires_on_cut_output_only() {
        let call = ToolCall::new("c1", "read_file", Data::empty_dict());
        let result = |truncated| ToolResult { text: "x".into(), truncated, ok: true, value: Data::Nil };
        assert!(fire(&HookEvent::PostToolUse { call: &call, result: &result(false), iteration: 1 }).is_empty());
        let spec = fire(&HookEvent::PostToolUse { call: &call, result: &result(true), iteration: 1 }).remove(0);
        assert_eq!(spec.tags, ["truncation".into()]);
        assert_eq!(spec.dedupe_key.as_deref(), Some("tool_output_truncated:read_file"));
        assert_eq!((spec.ttl_turns, spec.propagate, spec.role_hint), (Some(1), Propagate::None, RoleHint::System));
        assert!(!spec.preserve_on_compact);
        assert!(spec.body.contains("`read_file` was truncated"), "{}", spec.body);
    }

    #[test]
    fn payloads_of_scripts_have_two_spellings() {
        for (json, key) in [
            (r#"{"truncated":true,"tool_name":"grep"}"#, Some("tool_output_truncated:grep")),
            (r#"{"result":{"truncated":true},"tool":{"name":"grep"}}"#, Some("tool_output_truncated:grep")),
            (r#"{"truncated":true}"#, Some("tool_output_truncated:unknown")),
            (r#"{"result":{"truncated":false},"tool":{"name":"grep"}}"#, None),
            (r#"{"truncated":"no","tool_name":"grep"}"#, None),
            (r#"{}"#, None),
        ] {
            let payload = Data::from_json(json).unwrap();
            let fired = fire(&HookEvent::Raw { kind: EventKind::PostToolUse, payload: &payload });
            assert_eq!(fired.first().and_then(|spec| spec.dedupe_key.as_deref()), key, "{json}");
        }
    }
}
