//! Shrinks a mutant that breaks a promise: pieces and lines are left out as long as it still does.

use crate::runner::{Broken, Worker};
use crate::subject::{Mutant, Subject};
use crate::text::lines;

/// Tries before the smallest mutant so far is good enough.
const TRIES: usize = 300;

/// Returns the smallest mutant that breaks a promise on its own; `None` if this one does not.
pub(crate) fn smallest(subject: &Subject, mutant: &Mutant) -> Option<(Mutant, Broken)> {
    let why = broken(subject, mutant)?;
    let mut found = (mutant.clone(), why);
    let mut tries = TRIES;
    let pieces = (0..mutant.pieces.len()).collect();
    reduce(pieces, &mut tries, |kept| {
        let pieces = kept.iter().map(|&at| mutant.pieces[at].clone()).collect();
        is_broken(subject, Mutant { pieces }, &mut found)
    });
    for at in 0..found.0.pieces.len() {
        let whole = found.0.clone();
        let lines = lines(&whole.pieces[at]);
        reduce((0..lines.len()).collect(), &mut tries, |kept| {
            let mut smaller = whole.clone();
            smaller.pieces[at] =
                kept.iter().flat_map(|&line| &whole.pieces[at][lines[line].clone()]).copied().collect();
            is_broken(subject, smaller, &mut found)
        });
    }
    Some(found)
}

fn broken(subject: &Subject, mutant: &Mutant) -> Option<Broken> {
    Worker::of(subject).feed(mutant).err()
}

fn is_broken(subject: &Subject, mutant: Mutant, found: &mut (Mutant, Broken)) -> bool {
    let broken = broken(subject, &mutant);
    broken.map(|why| *found = (mutant, why)).is_some()
}

/// Leaves out halves, quarters and so on of what is kept, as long as the rest still fails.
fn reduce(mut kept: Vec<usize>, tries: &mut usize, mut fails: impl FnMut(&[usize]) -> bool) {
    let mut size = kept.len() / 2;
    while size > 0 && *tries > 0 {
        let mut at = 0;
        while at < kept.len() && *tries > 0 {
            let rest: Vec<usize> =
                kept.iter().enumerate().filter(|(n, _)| !(at..at + size).contains(n)).map(|(_, &part)| part).collect();
            *tries -= 1;
            if fails(&rest) {
                kept = rest;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
}
