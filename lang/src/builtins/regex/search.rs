//! A search that stops when the run reaches a limit, whatever the pattern and the text.
//!
//! In the worst case, the usual engine takes steps in proportion to the length of the text times the size of the pattern, and
//! it cannot be interrupted. So it is used only if that product is small. Otherwise a lazily built automaton is tried, which
//! gives up if its cache is cleared too often. In that case [`simulate`] takes over; it counts its steps.

mod simulate;

use crate::vm::{Meter, Raise, Stopped};
use regex_automata::hybrid::dfa;
use regex_automata::hybrid::regex::{self as hybrid, Regex as Lazy};
use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::captures::{Captures, GroupInfo};
use regex_automata::util::iter::Searcher;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchError, MatchKind, PatternID};
use std::cell::{OnceCell, RefCell};

/// The largest compiled pattern, in bytes.
const LARGEST: usize = 10 << 20;
/// The longest pattern, in bytes. Parsing needs about a hundred times as much memory and cannot be interrupted.
const LONGEST: usize = 256 << 10;
/// The size limit of the lazy automaton's cache, in bytes.
const CACHE: usize = 2 << 20;
/// The most steps of a search that cannot be interrupted: states of the pattern times bytes of the text.
const SHORT: usize = 10_000_000;
/// The most memory that a search may use for capture groups, in bytes.
const GROUPS: usize = 16 << 20;
/// The least that a state takes, in bytes.
const STATE: usize = 16;

/// A compiled pattern.
pub(super) struct CompiledRegex {
    regex: Regex,
    text: Box<str>,
    /// The most steps of a search that cannot be interrupted; tests lower it.
    short: usize,
    /// Built when it is first needed.
    large: OnceCell<Box<Large>>,
}

/// The engines for long searches.
struct Large {
    nfa: NFA,
    lazy: Option<RefCell<(Lazy, hybrid::Cache)>>,
}

/// Why a pattern cannot be used.
pub(super) enum Unusable {
    /// Its text is wrong.
    Wrong(Box<meta::BuildError>),
    /// Its text has more than this many bytes.
    TooLong(usize),
    /// It would take more than this many bytes.
    TooLarge(usize),
    /// Its groups would take more than this many bytes in a search.
    Groups(usize),
}

impl CompiledRegex {
    pub(super) fn new(text: &str) -> Result<Self, Unusable> {
        if text.len() > LONGEST {
            return Err(Unusable::TooLong(LONGEST));
        }
        let config = meta::Config::new().nfa_size_limit(Some(LARGEST)).hybrid_cache_capacity(CACHE);
        let regex = Regex::builder().configure(config).build(text).map_err(|e| match e.size_limit() {
            Some(limit) => Unusable::TooLarge(limit),
            None => Unusable::Wrong(Box::new(e)),
        })?;
        let pattern = Self { regex, text: text.into(), short: SHORT, large: OnceCell::new() };
        // A search keeps a slot for each end of each group in each state.
        let of_state = pattern.regex.group_info().slot_len().saturating_mul(size_of::<usize>());
        if pattern.most_states().saturating_mul(of_state) > GROUPS
            && pattern.large().nfa.states().len().saturating_mul(of_state) > GROUPS
        {
            return Err(Unusable::Groups(GROUPS));
        }
        Ok(pattern)
    }

    /// Returns an upper bound of the number of states.
    fn most_states(&self) -> usize {
        self.regex.memory_usage() / STATE
    }

    pub(super) fn groups(&self) -> &GroupInfo {
        self.regex.group_info()
    }

    /// Calls `each` with each match in order; `groups` says whether the matches include their groups.
    pub(super) fn each(
        &self,
        text: &str,
        groups: bool,
        mut each: impl FnMut(&Captures, &mut Meter) -> Result<(), Box<Raise>>,
    ) -> Result<(), Box<Raise>> {
        let info = self.regex.group_info().clone();
        let mut captures = if groups { Captures::all(info) } else { Captures::matches(info) };
        let mut meter = Meter::start();
        let mut searcher = Searcher::new(Input::new(text));
        // Steps that searches may have taken since the limits were last checked.
        let mut unchecked = 0;
        loop {
            let mut stopped = None;
            let found =
                searcher.try_advance(|input| match self.search(input, &mut captures, &mut meter, &mut unchecked) {
                    Ok(()) => Ok(captures.get_match()),
                    Err(why) => {
                        stopped = Some(why);
                        Err(MatchError::gave_up(input.start()))
                    }
                });
            if let Some(stopped) = stopped {
                return Err(stopped.raise());
            }
            // The only error is that of a search that was stopped.
            let Ok(Some(_)) = found else { return Ok(()) };
            each(&captures, &mut meter)?;
        }
    }

    /// Returns the first match; `groups` says whether it includes its groups.
    pub(super) fn find(&self, text: &str, groups: bool) -> Result<Option<Captures>, Box<Raise>> {
        let info = self.regex.group_info().clone();
        let mut captures = if groups { Captures::all(info) } else { Captures::matches(info) };
        self.search(&Input::new(text), &mut captures, &mut Meter::start(), &mut 0).map_err(Stopped::raise)?;
        Ok(captures.is_match().then_some(captures))
    }

    fn search(
        &self,
        input: &Input<'_>,
        captures: &mut Captures,
        meter: &mut Meter,
        unchecked: &mut usize,
    ) -> Result<(), Stopped> {
        let steps = self.most_steps(input.get_span().len());
        // Each of many matches may be found only at the end of the text.
        *unchecked = unchecked.saturating_add(steps);
        if *unchecked > SHORT {
            meter.check()?;
            *unchecked = 0;
        }
        if steps <= self.short {
            self.regex.search_captures(input, captures);
            return Ok(());
        }
        let large = self.large();
        captures.set_pattern(None);
        let found = large.lazy.as_ref().map(|lazy| {
            let (regex, cache) = &mut *lazy.borrow_mut();
            regex.try_search(cache, input)
        });
        match found {
            Some(Ok(None)) => Ok(()),
            Some(Ok(Some(found))) if captures.slots().len() <= 2 => {
                let ends = [found.start(), found.end()];
                simulate::fill(captures, &ends.map(Some));
                Ok(())
            }
            Some(Ok(Some(found))) => {
                let inner = input.clone().span(found.range()).anchored(Anchored::Yes);
                if self.most_steps(found.len()) <= self.short {
                    self.regex.search_captures(&inner, captures);
                    Ok(())
                } else {
                    simulate::search(&large.nfa, &inner, captures, meter)
                }
            }
            Some(Err(_)) | None => simulate::search(&large.nfa, input, captures, meter),
        }
    }

    /// Returns the most steps that a search may take in a text of this length.
    fn most_steps(&self, len: usize) -> usize {
        let most = self.most_states().saturating_mul(len);
        if most <= self.short { most } else { self.large().nfa.states().len().saturating_mul(len) }
    }

    fn large(&self) -> &Large {
        self.large.get_or_init(|| Box::new(Large::new(&self.text)))
    }
}

impl Large {
    /// The pattern was built before, within the same limits.
    fn new(text: &str) -> Self {
        let nfa = NFA::compiler().configure(thompson::Config::new()).build(text).unwrap_or_else(|_| NFA::never_match());
        let lazy = Self::lazy(text, &nfa).map(|lazy| {
            let cache = lazy.create_cache();
            RefCell::new((lazy, cache))
        });
        Self { nfa, lazy }
    }

    fn lazy(text: &str, nfa: &NFA) -> Option<Lazy> {
        let literals =
            syntax::parse(text).ok().and_then(|hir| Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, &hir));
        // A state that is built costs as many steps as the pattern has states.
        let config = dfa::Config::new()
            .cache_capacity(CACHE)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(2))
            .minimum_bytes_per_state(Some(nfa.states().len().max(16)))
            .unicode_word_boundary(true);
        let forward =
            dfa::DFA::builder().configure(config.clone().prefilter(literals)).build_from_nfa(nfa.clone()).ok()?;
        let reverse = thompson::Config::new().reverse(true).which_captures(WhichCaptures::None);
        let reverse = NFA::compiler().configure(reverse).build(text).ok()?;
        let config = config.prefilter(None).match_kind(MatchKind::All);
        let backward = dfa::DFA::builder().configure(config).build_from_nfa(reverse).ok()?;
        Some(Lazy::builder().build_from_dfas(forward, backward))
    }
}

/// The one pattern of a [`CompiledRegex`].
pub(super) const ONLY: PatternID = PatternID::ZERO;

#[cfg(test)]
mod tests;
