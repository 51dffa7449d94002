//! The facts that a query means: those with its words first, by BM25, then the others, the newest first.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::rc::Rc;

use base::data::Data;

use super::bm25;
use super::store::{IndexedFact, StoreContents};
use super::terms::Terms;
use super::{Fact, FactKind};

/// The query of a recall.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The words.
    pub text: String,
    /// The kinds to include; empty means all.
    pub kinds: Vec<FactKind>,
    /// The minimum confidence.
    pub min_confidence: f64,
    /// The maximum number of facts.
    pub limit: Option<usize>,
    /// The present: what held only until then is left out.
    pub now_ms: u64,
}

/// A fact that was found.
#[derive(Debug, Clone)]
pub struct Recalled {
    kept: Rc<IndexedFact>,
    /// The relevance; 0 if no word of the query occurs.
    pub score: f64,
}

impl Recalled {
    /// The fact.
    #[must_use]
    pub fn fact(&self) -> &Fact {
        &self.kept.fact
    }

    /// Returns the record for scripts, with its `score`.
    #[must_use]
    pub fn to_data(&self) -> Data {
        self.fact().to_record().with("score", self.score.into())
    }
}

/// Facts that a query means, the best first. Facts with equal scores are sorted by time, newest
/// first, and then by when they were stored, last first. Only the last one of equal facts counts.
#[must_use]
pub fn recall(contents: &StoreContents, query: &Query) -> Vec<Recalled> {
    let mut known = HashSet::new();
    let holding = contents.facts.iter().rev().filter(|kept| kept.fact.holds_at(query.now_ms));
    let mut holding: Vec<&Rc<IndexedFact>> = holding.filter(|kept| known.insert(kept.fact.content())).collect();
    holding.reverse();
    let texts: Vec<&Terms> = holding.iter().map(|kept| &kept.terms).collect();
    let scores = bm25::scores(&Terms::of(&query.text), &texts);
    let wanted = |fact: &Fact| {
        let kind = query.kinds.is_empty() || query.kinds.contains(&fact.draft.kind);
        kind && fact.draft.confidence >= query.min_confidence
    };
    let found = holding.into_iter().zip(scores).filter(|(kept, _)| wanted(&kept.fact));
    // What was stored last comes first, and the sort keeps that order.
    let mut found: Vec<Recalled> = found.rev().map(|(kept, score)| Recalled { kept: kept.clone(), score }).collect();
    found.sort_by(by_score_then_time);
    found.truncate(query.limit.unwrap_or(usize::MAX));
    found
}

fn by_score_then_time(one: &Recalled, other: &Recalled) -> Ordering {
    other.score.total_cmp(&one.score).then(other.fact().recorded_at_ms.cmp(&one.fact().recorded_at_ms))
}
