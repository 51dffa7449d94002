//! The reason that a loop ended before its task was done, in words for the person who wrote its options.

use base::data::Data;

use crate::loop_status::{LoopStatus, StopReason};

use super::{LoopOptions, LoopResult, sentinel};

/// Maximum number of characters of an answer that a reason shows.
const SHOWN: usize = 200;

/// Returns the error of an answer that does not match the schema that was asked for.
pub(super) fn wrong_answer(why: &str, answer: &str) -> Data {
    let message = format!("the answer does not match `output_schema`: {}", mismatch(why, answer));
    Data::dict([("category", Data::from(StopReason::OutputSchema.as_str())), ("message", message.into())])
}

/// Returns the error of a loop that was asked for a task and did not complete it: a dict with `category` and `message`; nil
/// for a loop that did.
pub(crate) fn error_of(result: &LoopResult, options: &LoopOptions) -> Data {
    match result.status {
        LoopStatus::Done | LoopStatus::Suspended => Data::Nil,
        _ if !result.error.is_nil() => result.error.clone(),
        status => Data::dict([("category", Data::from(status.as_str())), ("message", reason(result, options).into())]),
    }
}

fn reason(result: &LoopResult, options: &LoopOptions) -> String {
    let limits = &options.limits;
    let asked = limits.max_nudges;
    let reason = match result.stop_reason {
        StopReason::MaxIterations => {
            let most = limits.max_iterations;
            let what = if most == 1 { "the only iteration was" } else { &format!("all {most} iterations were") };
            format!("{what} used up before the task was done (`max_iterations`)")
        }
        StopReason::TokenBudget => format!(
            "{} tokens were used, and the budget was {} (`token_budget`)",
            result.usage.input_tokens + result.usage.output_tokens,
            limits.token_budget.unwrap_or_default()
        ),
        StopReason::Budget => "its budget does not cover another request (`budget`)".to_owned(),
        StopReason::RepeatedToolCalls => {
            let last = result.tools.calls.last().map(|name| format!(", the last of them `{name}`")).unwrap_or_default();
            format!(
                "{} turns in a row made the same calls with the same results{last} (`max_repeats`)",
                limits.max_repeats
            )
        }
        StopReason::EmptyReply => {
            let after = if asked == 0 { String::new() } else { format!(" after {asked} retries") };
            format!("the model returned an empty answer{after} (`max_nudges`)")
        }
        StopReason::MaxNudges => format!(
            "the model neither called a tool nor wrote `{}`, and was asked {asked} times to continue (`max_nudges`)",
            options.sentinel.word
        ),
        StopReason::MaxTokens => "the answer reached the model's output limit; raise `max_tokens`".to_owned(),
        StopReason::ContextWindow => {
            "the answer filled the context window; shorten the transcript (`auto_compact`)".to_owned()
        }
        StopReason::Paused => "the vendor paused the answer again and again".to_owned(),
        StopReason::UserPromptSubmitBlocked => "a handler of `user_prompt_submit` refused the task".to_owned(),
        StopReason::SessionClosed => "its session was closed".to_owned(),
        StopReason::Cancelled => "it was cancelled".to_owned(),
        StopReason::Deadline => "its deadline passed (`deadline`)".to_owned(),
        other => format!("it ended before the task was done ({other})"),
    };
    match last_mismatch(result, options) {
        Some(why) => format!("{reason}; the last answer does not match `output_schema`: {why}"),
        None => reason,
    }
}

/// Describes the last answer of a loop that ended for another reason, if it does not match the schema.
fn last_mismatch(result: &LoopResult, options: &LoopOptions) -> Option<String> {
    let schema = &options.model.request.output_schema;
    let answer = sentinel::without(&options.sentinel.word, &result.text);
    if schema.is_nil() || answer.trim().is_empty() {
        return None;
    }
    crate::schema::read_answer(&answer, schema).err().map(|why| mismatch(&why, &answer))
}

fn mismatch(why: &str, answer: &str) -> String {
    format!("{why}. The answer was: {}", excerpt(answer))
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    let mut words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    // What is cut off is not read: an answer can be long.
    while line.len() <= SHOWN * 4
        && let Some(word) = words.next()
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "empty".to_owned(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_shown_on_one_line_and_cut() {
        assert_eq!(excerpt(" {\n  \"a\":\t1\n}\u{1b} "), "{ \"a\": 1 }");
        assert_eq!(excerpt(" \n"), "empty");
        let long = excerpt(&"é".repeat(10_000));
        assert_eq!(long.chars().count(), SHOWN + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn a_wrong_answer_names_the_rule_its_place_and_the_answer() {
        let schema = Data::from_json(
            r#"{"type":"object","properties":{"sources":{"type":"array","items":{"type":"string"}}},"required":["sources"]}"#,
        )
        .unwrap();
        let said = |answer: &str| {
            let why = crate::schema::read_answer(answer, &schema).unwrap_err();
            wrong_answer(&why, answer).get("message").as_str().unwrap_or_default().to_owned()
        };
        assert_eq!(
            said(r#"{"sources": ["a", 7]}"#),
            "the answer does not match `output_schema`: `sources[1]` must be string, got 7. The answer was: {\"sources\": [\"a\", 7]}"
        );
        assert!(said("{}").contains("`sources` is missing. The answer was: {}"), "{}", said("{}"));
        assert!(said("I think so.").contains("it is not valid JSON"), "{}", said("I think so."));
    }
}
