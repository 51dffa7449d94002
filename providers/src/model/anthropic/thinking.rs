//! The token limits of thinking and answer: the API has one limit for both, and counts thinking
//! against it.

use runtime::capabilities::Capabilities;
use runtime::model::ModelError;
use serde_json::{Value, json};

use crate::model::choice::{Thinking, bad};

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
    let answer = max_tokens.unwrap_or(MAX_TOKENS);
    let plain = |thinking| TokenLimits { max_tokens: answer, thinking, effort: None };
    let budget = match thinking {
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
