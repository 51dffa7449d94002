//! The response to a prompt.

use agent_client_protocol_schema::v1::StopReason;
use base::data::Data;
use runtime::usage::Usage;
use serde_json::{Map, Value, json};

use super::error::ErrorResponse;
use crate::host::{EndedPrompt, PromptOutcome};

/// Converts the end of a prompt to a response. Values that the protocol does not define are under `_meta.harn`.
///
/// # Errors
/// The script failed.
pub(crate) fn of_prompt(ended: &EndedPrompt, used: Usage) -> Result<Value, ErrorResponse> {
    if let PromptOutcome::Failed(failure) = &ended.stop {
        return Err(ErrorResponse::failed(failure).with("usage", usage(used)));
    }
    let (reason, mut harn) = stopped(ended.stop.word(), ended.stop.reason().map(|reason| &**reason));
    if used != Usage::default() {
        harn.insert("usage".to_owned(), usage(used));
    }
    if !ended.value.is_nil() {
        harn.insert("data".to_owned(), (&ended.value).into());
    }
    let told = ended
        .diagnostics
        .iter()
        .map(|told| json!({"code": told.code.as_str(), "severity": told.severity.word(), "message": told.message}));
    let told: Vec<Value> = told.collect();
    if !told.is_empty() {
        harn.insert("diagnostics".to_owned(), told.into());
    }
    Ok(answer(reason, &harn))
}

/// Converts the record of the end of a prompt to a response. A script that has failed is answered by the caller.
pub(crate) fn of_record(payload: &Data) -> Value {
    let (reason, harn) = stopped(payload.get("stop").as_str().unwrap_or_default(), payload.get("reason").as_str());
    answer(reason, &harn)
}

/// Returns the protocol's word for the end of a prompt, and what it does not define.
fn stopped(stop: &str, reason: Option<&str>) -> (StopReason, Map<String, Value>) {
    let mut harn = Map::new();
    let word = match stop {
        "cancelled" => StopReason::Cancelled,
        "max_tokens" => StopReason::MaxTokens,
        "max_turns" => StopReason::MaxTurnRequests,
        "refused" => {
            harn.insert("reason".to_owned(), reason.into());
            StopReason::Refusal
        }
        "asked" => {
            harn.insert("inputRequired".to_owned(), true.into());
            harn.insert("question".to_owned(), reason.into());
            StopReason::EndTurn
        }
        _ => StopReason::EndTurn,
    };
    (word, harn)
}

fn answer(reason: StopReason, harn: &Map<String, Value>) -> Value {
    let mut answer = json!({"stopReason": reason});
    if !harn.is_empty() {
        answer["_meta"] = json!({"harn": harn});
    }
    answer
}

/// Returns the token usage of all calls of a prompt.
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

#[cfg(test)]
mod tests {
    use eventlog::LogCode;
    use stdlib::CodeRef;

    use super::*;
    use crate::host::ScriptFailure;

    fn ended(stop: PromptOutcome) -> EndedPrompt {
        EndedPrompt { stop, value: Data::Nil, closing: None, uncleaned: None, diagnostics: Vec::new() }
    }

    #[test]
    fn each_end_has_the_protocols_word() {
        let cases = [
            (PromptOutcome::Done, json!({"stopReason": "end_turn"})),
            (PromptOutcome::Cancelled, json!({"stopReason": "cancelled"})),
            (PromptOutcome::MaxTokens, json!({"stopReason": "max_tokens"})),
            (PromptOutcome::MaxTurns, json!({"stopReason": "max_turn_requests"})),
            (
                PromptOutcome::Refused("no".into()),
                json!({"stopReason": "refusal", "_meta": {"harn": {"reason": "no"}}}),
            ),
            (
                PromptOutcome::Asked("which?".into()),
                json!({"stopReason": "end_turn", "_meta": {"harn": {"inputRequired": true, "question": "which?"}}}),
            ),
        ];
        for (stop, answer) in cases {
            let recorded = [("stop", Data::from(stop.word())), ("reason", stop.reason().into())];
            assert_eq!(of_record(&Data::dict_of_present(recorded)), answer);
            assert_eq!(of_prompt(&ended(stop), Usage::default()), Ok(answer));
        }
    }

    #[test]
    fn what_the_protocol_has_no_word_for_is_beside_it() {
        let ended = EndedPrompt {
            value: Data::dict([("a", 1.into())]),
            diagnostics: vec![stdlib::Diagnostic::new(stdlib::from_core(LogCode::NotWritten), "the disk is full")],
            ..ended(PromptOutcome::Done)
        };
        let used = Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() };
        let answer = of_prompt(&ended, used).unwrap();
        assert_eq!(
            answer["_meta"]["harn"],
            json!({
                "usage": {"inputTokens": 3, "outputTokens": 2, "cacheReadTokens": 0, "cacheWriteTokens": 0},
                "data": {"a": 1},
                "diagnostics": [{"code": "HARN-LOG-006", "severity": "error", "message": "the disk is full"}],
            })
        );
    }

    #[test]
    fn a_script_that_failed_is_an_error_with_its_own_code() {
        let failure = ScriptFailure {
            code: CodeRef::new(stdlib::find("HARN-RUN-001").unwrap()),
            message: "it broke".into(),
            drawn: "picture".into(),
            words: None,
        };
        let error = of_prompt(&ended(PromptOutcome::Failed(failure)), Usage::default()).unwrap_err().into_json();
        assert_eq!((&error["code"], &error["message"]), (&json!(-32603), &json!("it broke")));
        let data = (&error["data"]["code"], &error["data"]["diagnostic"]);
        assert_eq!(data, (&json!("HARN-RUN-001"), &json!("picture")));
    }
}
