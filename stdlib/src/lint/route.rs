//! The route that a call names: a provider that there is not, and `user_block` beside a route that has no such blocks.

use base::data::Data;

use super::literal;
use crate::catalogue::from_core;
use crate::codes::AgentCode;
use lang::ast::Expr;
use lang::check::{CallView, DictView};
use lang::diagnostic::Diagnostic;
use providers::model::{CapabilityTable, Provider, RouteError};
use runtime::capabilities::WireFormat;
use runtime::reminder::ReminderCode;

/// Warns if a literal `user_block` and a literal route without such blocks appear in one file.
pub(super) fn user_block<'a>(view: &CallView<'a>, dict: &DictView<'a>, found: &mut Vec<Diagnostic>) {
    let Some(hint) = dict.get("role_hint").filter(|e| view.text(e) == Some("user_block")) else { return };
    let Ok(table) = CapabilityTable::built_in() else { return };
    for call in view.calls_of("", "agent_loop").chain(view.calls_of("", "llm_call")) {
        let Some((at, provider, model)) = route(&call) else { continue };
        let capabilities = table.lookup(&provider, &model);
        if capabilities.wire == WireFormat::Anthropic && !capabilities.prefers_role_developer {
            continue;
        }
        let name = if model.is_empty() { provider } else { format!("{provider} ({model})") };
        let has_slot = capabilities.prefers_role_developer || capabilities.system_text;
        let message = match has_slot {
            true => format!("{name} does not support user blocks for reminders"),
            false => format!("{name} has no slot for reminders, so this one is dropped"),
        };
        let d = Diagnostic::new(from_core(ReminderCode::UserBlock), message)
            .label(view.source(), hint.span, "not supported by this route")
            .label(view.source(), at.span, "the route");
        found.push(match has_slot {
            true => d
                .help("write `role_hint: \"system\"` or `\"developer\"`, which every route supports")
                .unsafe_fix(hint.span, "\"developer\""),
            false => d.help("use a route with system text, or with messages of the role `developer`"),
        });
        return;
    }
}

/// Reports a literal provider that is unknown: the call could only fail.
pub(super) fn provider(view: &CallView<'_>, arg: usize, found: &mut Vec<Diagnostic>) {
    let Some(at) = view.arg(arg).and_then(|e| view.dict(e)).and_then(|d| d.get("provider")) else { return };
    let Some(Err(RouteError::UnknownProvider { got, help, suggestion, .. })) =
        view.text(at).map(str::parse::<Provider>)
    else {
        return;
    };
    let error =
        Diagnostic::new(AgentCode::Model, format!("unknown provider {got:?}")).label(view.source(), at.span, "here");
    let error = match suggestion {
        Some(near) => error.fix(at.span, format!("{near:?}")),
        None => error,
    };
    found.push(error.help(help));
}

/// The route that a call names in literals.
fn route<'a>(call: &CallView<'a>) -> Option<(&'a Expr, String, String)> {
    let options = call.dict(call.arg(2)?)?;
    let at = options.get("provider").or_else(|| options.get("model"))?;
    let text = |key: &str| match options.get(key) {
        None => Some(String::new()),
        Some(e) => match literal::data(call, e)? {
            Data::Str(s) => Some(s.to_string()),
            _ => None,
        },
    };
    let (provider, model) = (text("provider")?, text("model")?);
    (!provider.is_empty()).then_some((at, provider, model))
}
