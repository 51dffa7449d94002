//! `regex_match` for packs: time and memory are bounded whatever the pattern and the text.
//!
//! The usual engine takes time in proportion to the length of the text times the size of the
//! pattern, which for a megabyte and a large pattern is minutes. Here a lazily built automaton
//! gives up if it is rebuilt too often, and the slow engine runs only if it is short.

use super::meter::Meter;
use regex_automata::hybrid::dfa::{Config, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::{Anchored, Input};
use rhai::{Engine, EvalAltResult};
use std::cell::RefCell;
use std::rc::Rc;

/// The largest pattern, built, in bytes.
const LARGEST: usize = 256 << 10;
/// The maximum number of steps of the slow engine: states of the pattern times bytes of the text.
const SHORT: usize = 4_000_000;
/// The longest pattern, in bytes. Parsing one needs about a hundred times its length in memory.
const LONGEST: usize = 64 << 10;
/// The maximum size of the automaton, in bytes.
const CACHE: usize = 2 << 20;
/// Patterns that are kept.
const KEPT: usize = 16;

struct Pattern {
    dfa: DFA,
    cache: RefCell<regex_automata::hybrid::dfa::Cache>,
    nfa: NFA,
}

impl Pattern {
    fn new(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("regular expression too long: more than {LONGEST} bytes"));
        }
        let nfa = thompson::Compiler::new()
            .configure(thompson::Config::new().nfa_size_limit(Some(LARGEST)))
            .build(text)
            .map_err(|e| match e.size_limit() {
                Some(_) => "this regular expression is too large for a pack".to_owned(),
                None => format!("invalid regular expression: {e}"),
            })?;
        let config = Config::new()
            .cache_capacity(CACHE)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(2))
            .minimum_bytes_per_state(Some(64))
            .unicode_word_boundary(true);
        let dfa = DFA::builder()
            .configure(config)
            .build_from_nfa(nfa.clone())
            .map_err(|e| format!("this regular expression cannot be used: {e}"))?;
        let cache = RefCell::new(dfa.create_cache());
        Ok(Self { dfa, cache, nfa })
    }

    fn is_match(&self, text: &str) -> Result<bool, String> {
        let input = Input::new(text).anchored(Anchored::No).earliest(true);
        if let Ok(found) = self.dfa.try_search_fwd(&mut self.cache.borrow_mut(), &input) {
            return Ok(found.is_some());
        }
        if self.nfa.states().len().saturating_mul(text.len()) > SHORT {
            return Err("this regular expression would take too long for a text of this length".to_owned());
        }
        let slow = PikeVM::new_from_nfa(self.nfa.clone()).map_err(|e| e.to_string())?;
        Ok(slow.is_match(&mut slow.create_cache(), input))
    }
}

/// Offers `regex_match(pattern, text)`.
pub(super) fn register(engine: &mut Engine, _: &Rc<Meter>) {
    let kept: RefCell<Vec<(String, Rc<Pattern>)>> = RefCell::default();
    engine.register_fn("regex_match", move |pattern: &str, text: &str| -> Result<bool, Box<EvalAltResult>> {
        let mut kept = kept.borrow_mut();
        let known = kept.iter().find(|(known, _)| known == pattern).map(|(_, built)| built.clone());
        let built = match known {
            Some(built) => built,
            None => {
                let built = Rc::new(Pattern::new(pattern)?);
                if kept.len() == KEPT {
                    kept.remove(0);
                }
                kept.push((pattern.to_owned(), built.clone()));
                built
            }
        };
        built.is_match(text).map_err(Into::into)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> Result<bool, String> {
        Pattern::new(pattern)?.is_match(text)
    }

    #[test]
    fn patterns_match_as_everywhere() {
        assert_eq!(matches(r"(?i)password\s*[:=]", "a PassWord = x"), Ok(true));
        assert_eq!(matches(r"^\w+$", "grüße"), Ok(true));
        assert_eq!(matches(r"\bend\b", "das ende – the end"), Ok(true));
        assert_eq!(matches(r"\d{3}", "12"), Ok(false));
        assert!(matches("(", "x").is_err());
    }

    #[test]
    fn what_would_take_long_is_refused() {
        assert!(matches(&"x".repeat(LONGEST + 1), "a").is_err_and(|why| why.contains("too long")));
        assert!(matches("((a{100}){100}){100}", "a").is_err_and(|why| why.contains("too large")));
        // Each byte would build a new state of the automaton.
        let mut dice = 1_u64;
        let mut toss = || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if dice >> 63 == 0 { 'a' } else { 'b' }
        };
        let text: String = (0..1_000_000).map(|_| toss()).collect();
        let answer = matches("[ab]*a[ab]{400}c", &text);
        assert!(answer.is_err_and(|why| why.contains("too long")));
    }
}
