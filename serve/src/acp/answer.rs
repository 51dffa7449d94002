//! The answer to a prompt.

use agent_client_protocol::v1::schema::StopReason;
use runtime::model::Usage;
use serde_json::{Map, Value, json};

use super::error::Refusal;
use crate::host::{Ended, Stop};

/// What a prompt came to, as the protocol says it. What it has no word for is under `_meta.harn`.
///
/// # Errors
/// The script failed.
pub(crate) fn of_prompt(ended: Ended, used: Usage) -> Result<Value, Refusal> {
    let mut harn = Map::new();
    let reason = match ended.stop {
        Stop::Done => StopReason::EndTurn,
        Stop::Cancelled => StopReason::Cancelled,
        Stop::MaxTokens => StopReason::MaxTokens,
        Stop::MaxTurns => StopReason::MaxTurnRequests,
        Stop::Refused(why) => {
            harn.insert("reason".to_owned(), (*why).into());
            StopReason::Refusal
        }
        Stop::Asked(question) => {
            harn.insert("inputRequired".to_owned(), true.into());
            harn.insert("question".to_owned(), (*question).into());
            StopReason::EndTurn
        }
        Stop::Failed(failure) => return Err(Refusal::failed(&failure).with("usage", usage(used))),
    };
    if used != Usage::default() {
        harn.insert("usage".to_owned(), usage(used));
    }
    if !ended.value.is_nil() {
        harn.insert("data".to_owned(), (&ended.value).into());
    }
    let told = ended
        .diagnostics
        .iter()
        .map(|told| json!({"code": told.code, "severity": told.severity.word(), "message": told.message}));
    let told: Vec<Value> = told.collect();
    if !told.is_empty() {
        harn.insert("diagnostics".to_owned(), told.into());
    }
    let mut answer = json!({"stopReason": reason});
    if !harn.is_empty() {
        answer["_meta"] = json!({"harn": harn});
    }
    Ok(answer)
}

/// The tokens of all calls of a prompt.
fn usage(used: Usage) -> Value {
    let mut usage = json!({
        "inputTokens": used.input_tokens,
        "outputTokens": used.output_tokens,
        "cacheReadTokens": used.cache_read_tokens,
        "cacheWriteTokens": used.cache_write_tokens,
    });
    if let Some(cost) = used.cost_usd() {
        usage["costUsd"] = cost.into();
    }
    usage
}
