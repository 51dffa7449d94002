//! | Provider | Subscribes to | Config keys | Reminder behavior |
//! |---|---|---|---|
//! | `grounded_review` | `post_tool_use`, `post_step`, `post_agent_turn` | `max_findings`, `limit`, `text_scan`, `include_warnings` | Fires only when payloads carry concrete verifier/runtime evidence: explicit tool runtime errors, non-accepted routing verifier signals, parse errors, undefined-name diagnostics, error-severity diagnostics, or failure lines from known verification commands such as `cargo check`, `harn lint`, `pytest`, `go test`, and `tsc`. Uses tags `grounded_review` and `code_review`, `ttl_turns: 2`, `role_hint: "developer"`, and `propagate: "none"`. Warnings and style nits are suppressed unless `include_warnings: true`; no LLM-only critique can fire the provider without a concrete signal. |
//!
//! It reads `tool`, `result`, `verifier_signals: [{name, kind, signal, reason}]`, `diagnostics`, `parse_errors` and
//! `undefined_names`, in the payload, in its `result` and in the rows of `tool_results`; never the model's own text. Each
//! finding names its kind as `verified:<kind>` and, where a command found it, `command=<cmd>`.
//!
//! There is one reminder for each tool and target (the path or command in its arguments): its
//! dedupe key is `grounded_review:<tool>:<target>`, so the newest replaces the one before. A
//! refused call is not a finding; a tool that returns `{ok: false, error}` is one.
//!
//! - [`structured`]: what a payload says outright.
//! - [`outcome`]: the arguments and the result of a tool.
//! - [`command`]: which verification command a shell line runs.
//! - [`scan`]: the failure lines in the output of such a command.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use base::data::Data;
use runtime::events::EventKind;
use runtime::hooks::HookEvent;
use runtime::reminder::{Propagate, ReminderError, ReminderSpec, RoleHint};
use runtime::seam::Turn;

use super::at_once::at_once;
use super::config;

mod command;
mod finding;
mod outcome;
mod scan;
mod structured;

use finding::Findings;
use outcome::ToolOutcome;

/// Tells the model what a verifier or the runtime has found wrong with its work.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroundedReview;

/// Its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroundedReviewConfig {
    /// The maximum number of findings that one reminder lists; the rest is counted.
    pub max_findings: usize,
    /// Whether the output of verification commands is read.
    pub text_scan: bool,
    /// Whether warnings and style nits count.
    pub include_warnings: bool,
}

impl Default for GroundedReviewConfig {
    fn default() -> GroundedReviewConfig {
        GroundedReviewConfig { max_findings: 5, text_scan: true, include_warnings: false }
    }
}

impl GroundedReviewConfig {
    const KEYS: &[&str] = &["max_findings", "limit", "text_scan", "include_warnings"];
    const MOST_FINDINGS: u64 = 50;

    /// Reads it strictly. `limit` is another name of `max_findings`.
    ///
    /// # Errors
    /// An unknown key, a wrong type, a number that is not from 1 to 50, two different numbers.
    pub fn read(data: &Data) -> Result<GroundedReviewConfig, ReminderError> {
        if data.is_nil() {
            return Ok(GroundedReviewConfig::default());
        }
        let (id, usual) = (GroundedReview::ID, GroundedReviewConfig::default());
        config::known_keys(id, data, Self::KEYS)?;
        let count = |key| match config::positive(id, data, key)? {
            Some(count) if count > Self::MOST_FINDINGS => {
                Err(config::wrong(id, key, &format!("at most {}", Self::MOST_FINDINGS), data.get(key)))
            }
            count => Ok(count),
        };
        let count = config::either(id, ("max_findings", count("max_findings")?), ("limit", count("limit")?))?;
        Ok(GroundedReviewConfig {
            max_findings: count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usual.max_findings),
            text_scan: config::flag(id, data, "text_scan")?.unwrap_or(usual.text_scan),
            include_warnings: config::flag(id, data, "include_warnings")?.unwrap_or(usual.include_warnings),
        })
    }
}

impl GroundedReview {
    /// Its id.
    pub const ID: &str = "grounded_review";

    fn look(turn: Turn<'_>, event: &HookEvent<'_>, config: &Data) -> Result<Vec<ReminderSpec>, ReminderError> {
        let config = GroundedReviewConfig::read(config)?;
        // What fails because the run ends (the script exits, the user cancels) is not a problem of the work.
        if is_of_loop(event) || turn.scope.check().is_err() {
            return Ok(Vec::new());
        }
        let mut outcomes = Vec::new();
        ToolOutcome::each(event, |outcome| outcomes.push(outcome));
        let mut structured = Findings::default();
        structured::collect(event, &config, &mut structured);
        // What a tool's result says outright belongs to what the tool did.
        let of_tool = outcomes.last().filter(|_| event.kind() == EventKind::PostToolUse);
        let with_findings = outcomes.iter().filter_map(|outcome| {
            let mut found = Findings::default();
            outcome.findings(&config, &mut found);
            (!found.is_empty()).then_some((outcome, found))
        });
        let mut with_findings = with_findings.peekable();
        // So it is with most calls.
        if structured.is_empty() && with_findings.peek().is_none() {
            return Ok(Vec::new());
        }
        let mut groups = vec![(of_tool.map_or_else(|| Self::ID.to_owned(), ToolOutcome::key), structured)];
        for (outcome, found) in with_findings {
            let key = outcome.key();
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, findings)) => outcome.findings(&config, findings),
                None => groups.push((key, found)),
            }
        }
        groups.retain(|(_, findings)| !findings.is_empty());
        let fresh = fresh(turn, event.kind(), groups);
        Ok(fresh.into_iter().map(|(key, findings)| review(key, &findings, config.max_findings)).collect())
    }
}

/// Returns whether an event of the loop only repeats the results that `post_tool_use` has reported
/// for each call.
fn is_of_loop(event: &HookEvent<'_>) -> bool {
    matches!(event, HookEvent::PostStep { .. } | HookEvent::PostAgentTurn { .. })
}

/// Findings by their dedupe key.
type Groups = Vec<(String, Findings)>;

/// Returns the findings that the model has not seen in this turn: a payload at the end of a turn
/// may repeat the results of its tools.
fn fresh(turn: Turn<'_>, kind: EventKind, mut groups: Groups) -> Groups {
    /// The maximum number of remembered findings of one turn.
    const MOST: usize = 4096;
    if groups.is_empty() {
        return groups;
    }
    let number = Data::from(turn.number);
    turn.session.with(|state| {
        let told = state.provider_memory.get(GroundedReview::ID).filter(|told| *told.get("turn") == number);
        let told = told.and_then(|told| told.get("told").as_list()).unwrap_or_default();
        let mut told: BTreeSet<i64> = told.iter().filter_map(Data::as_int).collect();
        // A tool's own result is always news, and without a turn there is nothing to repeat.
        if kind != EventKind::PostToolUse && turn.number > 0 {
            groups.iter_mut().for_each(|(_, findings)| findings.forget(&told));
            groups.retain(|(_, findings)| !findings.is_empty());
        }
        told.extend(groups.iter().flat_map(|(_, findings)| findings.marks()));
        let told = Data::list(told.into_iter().take(MOST).map(Data::from));
        let memory = Data::dict([("turn", number.clone()), ("told", told)]);
        state.provider_memory.insert(GroundedReview::ID.into(), memory);
        groups
    })
}

fn review(key: String, findings: &Findings, most: usize) -> ReminderSpec {
    let mut body = "Verified problems. Fix each of them, or explain why it can stay, before you report the work as \
        done:"
        .to_owned();
    // Writing to a string cannot fail.
    for finding in findings.first().take(most) {
        let _ = write!(body, "\n- {finding}");
    }
    if findings.len() > most {
        let left = findings.len() - most;
        let are = if left == 1 { "is" } else { "are" };
        let _ = write!(body, "\n{left} more {are} not listed; run the verification again to see them.");
    }
    let tag = |name: &str| Arc::from(name);
    ReminderSpec {
        tags: vec![tag(GroundedReview::ID), tag("code_review")],
        dedupe_key: Some(key.into()),
        ttl_turns: Some(2),
        preserve_on_compact: false,
        propagate: Propagate::None,
        role_hint: RoleHint::Developer,
        ..ReminderSpec::new(body)
    }
}

at_once!(GroundedReview on [PostToolUse, PostStep, PostAgentTurn], |_, turn, event, config| GroundedReview::look(turn, event, config));

#[cfg(test)]
mod tests;
