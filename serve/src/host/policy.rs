//! Decides which calls need a permission and which must not run, from the session's [`Mode`] and the tool's
//! annotations:
//!
//! | annotation | meaning |
//! |---|---|
//! | `permission` | true, or the reason as a text: permission is required; false: it is not |
//! | `kind` | `read`, `search`, `think`, `fetch` change nothing; `edit`, `delete`, `move`, `execute` do |
//! | `read_only`, `readOnlyHint` | whether the tool changes nothing |
//! | `destructiveHint` | true: the tool changes something |

use std::sync::Arc;

use base::data::Data;
use runtime::message::ToolSpec;
use runtime::seam::ApprovalDemand;

use super::Mode;

/// The known effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolEffect {
    /// The tool changes nothing.
    Harmless,
    /// The tool changes something.
    Changes,
    /// The effect is unknown.
    Unknown,
}

impl ToolEffect {
    /// Reads the annotations. If they contradict each other, the tool counts as one that changes something.
    fn of(annotations: &Data) -> ToolEffect {
        let kind = match annotations.get("kind").as_str() {
            Some("edit" | "delete" | "move" | "execute") => ToolEffect::Changes,
            Some("read" | "search" | "think" | "fetch") => ToolEffect::Harmless,
            _ => ToolEffect::Unknown,
        };
        let read_only = ["read_only", "readOnlyHint"].map(|key| match annotations.get(key) {
            Data::Bool(true) => ToolEffect::Harmless,
            Data::Bool(false) => ToolEffect::Changes,
            _ => ToolEffect::Unknown,
        });
        let destructive = match annotations.get("destructiveHint") {
            Data::Bool(true) => ToolEffect::Changes,
            _ => ToolEffect::Unknown,
        };
        let all = [kind, read_only[0], read_only[1], destructive];
        let said = |nature| all.contains(&nature).then_some(nature);
        said(ToolEffect::Changes).or_else(|| said(ToolEffect::Harmless)).unwrap_or(ToolEffect::Unknown)
    }
}

/// Returns the requirement for a call of the tool in this mode.
pub(super) fn demand(mode: Mode, tool: &ToolSpec) -> ApprovalDemand {
    let (name, wish) = (&tool.name, tool.annotations.get("permission"));
    match mode {
        Mode::Auto => ApprovalDemand::Nothing,
        Mode::Plan => match ToolEffect::of(&tool.annotations) {
            ToolEffect::Changes => ApprovalDemand::Refused(in_plan(name)),
            ToolEffect::Unknown if wish.is_nil() => {
                let why = format!(
                    "`{name}` does not declare whether it changes anything, and the session is in \
                    the mode `plan`"
                );
                ApprovalDemand::Asked(why.into())
            }
            ToolEffect::Unknown | ToolEffect::Harmless => wished(name, wish),
        },
        Mode::Ask => wished(name, wish),
    }
}

/// Returns the refusal in the mode `plan`, for the model to act on.
fn in_plan(name: &str) -> Arc<str> {
    let why = "the session is in the mode `plan`, in which you must not change anything. Describe what you would do";
    format!("{why}, and continue without `{name}`").into()
}

fn wished(name: &str, wish: &Data) -> ApprovalDemand {
    match wish {
        Data::Str(why) if !why.trim().is_empty() => ApprovalDemand::Asked(why.clone()),
        wish if wish.truthy() => ApprovalDemand::Asked(format!("`{name}` needs permission").into()),
        _ => ApprovalDemand::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(annotations: &str) -> ToolSpec {
        let annotations = Data::from_json(annotations).unwrap();
        ToolSpec { annotations, ..ToolSpec::new("t", "", Data::Nil) }
    }

    fn word(mode: Mode, annotations: &str) -> &'static str {
        match demand(mode, &tool(annotations)) {
            ApprovalDemand::Nothing => "runs",
            ApprovalDemand::Asked(_) => "asks",
            ApprovalDemand::Refused(_) => "refused",
        }
    }

    #[test]
    fn annotations_and_mode_decide() {
        for (annotations, ask, auto, plan) in [
            ("null", "runs", "runs", "asks"),
            ("[]", "runs", "runs", "asks"),
            (r#"{"kind": "edit", "permission": true}"#, "asks", "runs", "refused"),
            (r#"{"kind": "edit"}"#, "runs", "runs", "refused"),
            (r#"{"kind": "execute", "permission": false}"#, "runs", "runs", "refused"),
            (r#"{"kind": "read"}"#, "runs", "runs", "runs"),
            (r#"{"kind": "read", "permission": true}"#, "asks", "runs", "asks"),
            (r#"{"kind": "other"}"#, "runs", "runs", "asks"),
            (r#"{"kind": 7}"#, "runs", "runs", "asks"),
            (r#"{"read_only": true}"#, "runs", "runs", "runs"),
            (r#"{"readOnlyHint": true}"#, "runs", "runs", "runs"),
            (r#"{"readOnlyHint": false}"#, "runs", "runs", "refused"),
            (r#"{"readOnlyHint": "yes"}"#, "runs", "runs", "asks"),
            (r#"{"destructiveHint": true}"#, "runs", "runs", "refused"),
            (r#"{"kind": "delete", "read_only": true}"#, "runs", "runs", "refused"),
            (r#"{"permission": false}"#, "runs", "runs", "runs"),
            (r#"{"permission": true}"#, "asks", "runs", "asks"),
        ] {
            let got = [Mode::Ask, Mode::Auto, Mode::Plan].map(|mode| word(mode, annotations));
            assert_eq!(got, [ask, auto, plan], "{annotations}");
        }
    }

    #[test]
    fn a_text_says_why() {
        let why = |annotations| match demand(Mode::Ask, &tool(annotations)) {
            ApprovalDemand::Asked(why) => why.to_string(),
            _ => String::new(),
        };
        assert_eq!(why(r#"{"permission": "it costs money"}"#), "it costs money");
        assert_eq!(why(r#"{"permission": true}"#), "`t` needs permission");
        assert_eq!(why(r#"{"permission": " "}"#), "`t` needs permission", "it says nothing, but wants one");
    }
}
