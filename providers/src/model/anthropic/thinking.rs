//! The token limits of thinking and answer: the API has one limit for both, and counts thinking
//! against it.

use runtime::capabilities::Capabilities;
use runtime::model::ModelError;
use serde_json::{Value, json};

use crate::model::choice::{Thinking, ToolChoice, bad};

/// The API demands a limit. This one fits every model that is still served.
const MAX_TOKENS: u64 = 8192;

/// The smallest budget that is taken.
const SMALLEST: u64 = 1024;

/// The limits as a body states them.
pub(super) struct TokenLimits {
    /// Tokens of thinking and answer together.
    pub(super) max_tokens: u64,
    pub(super) thinking: Value,
    /// The effort, for models that take a word in place of a budget.
    pub(super) effort: Option<&'static str>,
}

/// Returns the limits. `max_tokens` is the limit of the answer; the budget of the thinking is
/// added, up to the model's maximum.
pub(super) fn room(
    thinking: &Thinking,
    max_tokens: Option<u64>,
    model: &str,
    capabilities: &Capabilities,
) -> Result<TokenLimits, ModelError> {
    let is_off = matches!(thinking, Thinking::Off)
        || matches!(thinking, Thinking::AsGiven(given) if given.get("type").as_str() == Some("disabled"));
    if capabilities.always_thinking && is_off {
        return Err(bad(format!("{model} always thinks; remove `thinking`, or set it to an effort such as \"low\"")));
    }
    let answer = max_tokens.unwrap_or(MAX_TOKENS);
    let plain = |thinking| TokenLimits { max_tokens: answer, thinking, effort: None };
    let budget = match thinking {
        Thinking::Unsaid if capabilities.always_thinking => return Ok(plain(json!({"type": "adaptive"}))),
        Thinking::Unsaid => return Ok(plain(Value::Null)),
        Thinking::Off => return Ok(plain(json!({"type": "disabled"}))),
        Thinking::AsGiven(given) => return as_given(thinking, given.into(), max_tokens, model),
        Thinking::Effort(_) | Thinking::Budget(_) => thinking.budget_tokens().unwrap_or_default().max(SMALLEST),
    };
    let max_tokens = both(answer, budget, model)?;
    Ok(if capabilities.adaptive_thinking {
        // The vendor's documents say so: these models refuse a budget, and have no word below this one.
        let effort = match thinking.effort().as_deref() {
            Some("high") => "high",
            Some("medium") => "medium",
            _ => "low",
        };
        TokenLimits { max_tokens, thinking: json!({"type": "adaptive"}), effort: Some(effort) }
    } else {
        TokenLimits { max_tokens, thinking: json!({"type": "enabled", "budget_tokens": budget}), effort: None }
    })
}

/// Checks whether a tool can be forced: by the vendor's documents not while a model thinks.
///
/// # Errors
/// The model always thinks, or the request asks it to.
pub(super) fn check_choice(
    choice: &ToolChoice,
    limits: &TokenLimits,
    model: &str,
    capabilities: &Capabilities,
) -> Result<(), ModelError> {
    let is_forced = match choice {
        ToolChoice::Required | ToolChoice::Tool(_) => true,
        ToolChoice::AsGiven(given) => matches!(given.get("type").as_str(), Some("any" | "tool")),
        ToolChoice::Unsaid | ToolChoice::Auto | ToolChoice::None => false,
    };
    let thinks = limits.thinking.get("type").is_some_and(|kind| kind != "disabled");
    match (is_forced, capabilities.always_thinking, thinks) {
        (true, true, _) => Err(bad(format!(
            "{model} always thinks, so it cannot be forced to call a tool; remove `tool_choice`, or use \"auto\" or \"none\""
        ))),
        (true, false, true) => Err(bad(
            "anthropic does not force a tool call while the model thinks; remove `thinking`, or use `tool_choice: \"auto\"`"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Returns the limits for the vendor's own shape, in which `max_tokens` has the vendor's meaning.
fn as_given(thinking: &Thinking, json: Value, max_tokens: Option<u64>, model: &str) -> Result<TokenLimits, ModelError> {
    let max_tokens = match (thinking.budget_tokens(), max_tokens) {
        (Some(budget), Some(limit)) if limit <= budget => {
            return Err(bad(format!(
                "`max_tokens` ({limit}) must be more than `thinking.budget_tokens` ({budget}), because anthropic \
                counts thinking tokens as output; raise `max_tokens` or lower the budget"
            )));
        }
        (Some(budget), None) => both(MAX_TOKENS, budget, model)?,
        (_, limit) => limit.unwrap_or(MAX_TOKENS),
    };
    Ok(TokenLimits { max_tokens, thinking: json, effort: None })
}

/// Returns the tokens of thinking and answer, at most the model's maximum.
fn both(answer: u64, budget: u64, model: &str) -> Result<u64, ModelError> {
    let both = answer.saturating_add(budget);
    match most(model) {
        Some(most) if most <= budget => Err(bad(format!(
            "{model} has a limit of {most} output tokens, and `thinking` alone can use {budget}; lower the budget"
        ))),
        Some(most) => Ok(both.min(most)),
        None => Ok(both),
    }
}

/// Returns the model's maximum output, if a usual request may exceed it: Opus 4 and 4.1, by the
/// vendor's documents.
fn most(model: &str) -> Option<u64> {
    let small = ["claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2025"];
    (model == "claude-opus-4" || small.iter().any(|name| model.starts_with(name))).then_some(32_000)
}
