//! | Provider | Subscribes to | Config keys | Reminder behavior |
//! |---|---|---|---|
//! | `project_facts` | `session_start`, `on_budget_threshold` | `namespace`, `scope`, `root`, `max_facts`, `min_confidence`, `kind_filter`, `relevance_query`, `refresh_ratio` | Recalls typed `harn.fact.v1` records via lexical (BM25) match against the session task and top-K by score (records that BM25 cannot score still surface, ranked by recency). Defaults: namespace `project/facts`, `max_facts: 5`, `min_confidence: 0.5`, query derived from the session task. Uses tag and dedupe key `project_facts`, `ttl_turns: 1`, and `propagate: "session"` so the same body refreshes on context-budget pressure and re-injects on the next session start. The `on_budget_threshold` refresh only fires once context usage crosses `refresh_ratio` (default 0.70) so per-turn recall stays bounded. Skipped silently when no schema-matched facts pass the filter. |
//!
//! `scope: "team"` is short for `namespace: "team/facts"`; a namespace that is given wins. The query is `relevance_query`, else the
//! payload's `task`. On `on_budget_threshold` it reads `tokens_used` and `context_window`, and fires each time the one has
//! reached `refresh_ratio` of the other. A store that cannot be read is noted, and the session goes on without it.

use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use base::codes::Severity;
use base::data::Data;
use runtime::events::EventKind;
use runtime::hooks::HookEvent;
use runtime::note::Note;
use runtime::reminder::{Propagate, ReminderError, ReminderSpec, RoleHint};
use runtime::seam::Turn;

use super::at_once::at_once;
use super::{config, config_error, text};
use crate::fact::{FactCode, FactError, FactKind, FactLocation, Facts, Query, Recalled, kinds, recall};

/// Recalls what is known of the project.
#[derive(Debug, Default)]
pub struct ProjectFacts {
    /// The store; `None` if the run may not read files.
    facts: Option<Rc<Facts>>,
}

/// Its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectFactsConfig {
    /// The namespace that is searched.
    pub namespace: Arc<str>,
    /// The folder of namespaces; nothing means that of the run.
    pub root: Option<Arc<str>>,
    /// The maximum number of facts.
    pub max_facts: usize,
    /// The minimum confidence of a fact.
    pub min_confidence: f64,
    /// The kinds to include; empty means all.
    pub kinds: Vec<FactKind>,
    /// The words to look for, in place of the task.
    pub relevance_query: Option<Arc<str>>,
    /// The share of the context from which on the facts are repeated.
    pub refresh_ratio: f64,
}

impl Default for ProjectFactsConfig {
    fn default() -> ProjectFactsConfig {
        ProjectFactsConfig {
            namespace: FactLocation::NAMESPACE.into(),
            root: None,
            max_facts: 5,
            min_confidence: 0.5,
            kinds: Vec::new(),
            relevance_query: None,
            refresh_ratio: 0.70,
        }
    }
}

impl ProjectFactsConfig {
    const KEYS: &[&str] = &[
        "namespace",
        "scope",
        "root",
        "max_facts",
        "min_confidence",
        "kind_filter",
        "relevance_query",
        "refresh_ratio",
    ];
    const MOST_FACTS: u64 = 50;

    /// Reads it strictly.
    ///
    /// # Errors
    /// Unknown keys, unknown kinds, what does not fit.
    pub fn read(data: &Data) -> Result<ProjectFactsConfig, ReminderError> {
        let usual = ProjectFactsConfig::default();
        if data.is_nil() {
            return Ok(usual);
        }
        let id = ProjectFacts::ID;
        config::known_keys(id, data, Self::KEYS)?;
        let text = |key| config::text(id, data, key);
        let scope = text("scope")?;
        let in_scope = scope.as_deref().map(|scope| Arc::from(format!("{scope}/facts")));
        // Also a scope that is not used must be one.
        in_scope.as_deref().map_or(Ok(()), |namespace: &str| of_fact("scope", FactLocation::check(namespace)))?;
        let namespace = text("namespace")?.or(in_scope).unwrap_or(usual.namespace);
        of_fact("namespace", FactLocation::check(&namespace))?;
        let max_facts = config::positive(id, data, "max_facts")?;
        if max_facts.is_some_and(|count| count > Self::MOST_FACTS) {
            let expected = format!("at most {}", Self::MOST_FACTS);
            return Err(config::wrong(id, "max_facts", &expected, data.get("max_facts")));
        }
        let share = |key| config::number(id, data, key, 0.0, 1.0);
        Ok(ProjectFactsConfig {
            namespace,
            root: text("root")?,
            max_facts: max_facts.and_then(|count| usize::try_from(count).ok()).unwrap_or(usual.max_facts),
            min_confidence: share("min_confidence")?.unwrap_or(usual.min_confidence),
            kinds: of_fact("kind_filter", kinds(data.get("kind_filter"), "kind_filter"))?,
            relevance_query: text("relevance_query")?,
            refresh_ratio: share("refresh_ratio")?.unwrap_or(usual.refresh_ratio),
        })
    }
}

/// The error of a fact at a key of the configuration.
fn of_fact<T>(key: &str, result: Result<T, FactError>) -> Result<T, ReminderError> {
    result.map_err(|error| {
        let field = if error.field.starts_with(key) { &error.field } else { key };
        let wrong = config_error(format!("{}.{field}", ProjectFacts::ID), error.message);
        let wrong = wrong.suggest(error.suggestion.as_deref());
        match error.help.or_else(|| config::example(key)) {
            Some(help) => wrong.help(help),
            None => wrong,
        }
    })
}

impl ProjectFacts {
    /// Its id.
    pub const ID: &str = "project_facts";

    /// The provider over the facts of a run; without them it is silent.
    #[must_use]
    pub fn new(facts: Option<Rc<Facts>>) -> ProjectFacts {
        ProjectFacts { facts }
    }

    fn look(&self, turn: Turn<'_>, event: &HookEvent<'_>, config: &Data) -> Result<Vec<ReminderSpec>, ReminderError> {
        let config = ProjectFactsConfig::read(config)?;
        if event.kind() == EventKind::OnBudgetThreshold && !is_under_pressure(event, config.refresh_ratio) {
            return Ok(Vec::new());
        }
        let Some(facts) = &self.facts else { return Ok(Vec::new()) };
        let query = config.relevance_query.as_ref().map_or_else(|| event.get("task").to_text(), Arc::clone);
        let found = facts.place(config.root.as_deref(), Some(&config.namespace)).and_then(|place| facts.read(&place));
        let contents = match found {
            Ok(contents) => contents,
            Err(error) => {
                note(turn, error.code, error.message);
                return Ok(Vec::new());
            }
        };
        if let Some(oddity) = &contents.oddity {
            note(turn, FactCode::Line, oddity.to_string());
        }
        let query = Query {
            text: query.to_string(),
            kinds: config.kinds,
            min_confidence: config.min_confidence,
            limit: Some(config.max_facts),
            now_ms: turn.scope.clock.now_ms(),
        };
        let found = recall(&contents, &query);
        Ok(if found.is_empty() { Vec::new() } else { vec![reminder(&found)] })
    }
}

fn is_under_pressure(event: &HookEvent<'_>, ratio: f64) -> bool {
    let number = |key: &str| event.get(key).as_float().filter(|number| *number >= 0.0);
    let (used, window) = match event {
        // Once a turn, so no dict is made.
        HookEvent::OnBudgetThreshold { tokens_used, context_window, .. } => {
            (Data::from(*tokens_used).as_float(), Data::from(*context_window).as_float())
        }
        _ => (number("tokens_used"), number("context_window")),
    };
    match (used, window) {
        (Some(used), Some(window)) if window > 0.0 => used >= window * ratio,
        _ => false,
    }
}

fn note(turn: Turn<'_>, code: FactCode, message: String) {
    let about = Some(ProjectFacts::ID.into());
    turn.scope.note(Note { code: Some(code.into()), severity: Severity::Warning, message, about, fault: None });
}

fn reminder(found: &[Recalled]) -> ReminderSpec {
    let mut body = "Recorded facts about this project, most relevant first. If the next step depends on a fact, \
        check its evidence first."
        .to_owned();
    for recalled in found {
        let draft = &recalled.fact().draft;
        // Writing to a string cannot fail.
        let _ = write!(body, "\n- [{}, confidence {}] {}", draft.kind, draft.confidence, text::line(&draft.claim, 600));
        for (i, evidence) in draft.evidence.iter().take(3).enumerate() {
            let begin = if i == 0 { " (evidence: " } else { ", " };
            let _ = write!(body, "{begin}{} {}", evidence.kind, text::line(&evidence.reference, 120));
        }
        if !draft.evidence.is_empty() {
            body.push(')');
        }
    }
    let id: Arc<str> = ProjectFacts::ID.into();
    ReminderSpec {
        tags: vec![id.clone()],
        dedupe_key: Some(id),
        ttl_turns: Some(1),
        preserve_on_compact: false,
        propagate: Propagate::Session,
        role_hint: RoleHint::System,
        ..ReminderSpec::new(body)
    }
}

at_once!(ProjectFacts on [SessionStart, OnBudgetThreshold], |provider, turn, event, config| provider.look(turn, event, config));

#[cfg(test)]
mod tests;
