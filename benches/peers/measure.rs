//! One language after the other, again and again, so that a slow moment of the machine hits all of them.

use crate::inputs::Input;
use crate::peer::{Peer, run};
use crate::rows::Row;

/// A row's medians, one for each language; nothing where it has no program or failed.
pub(crate) struct Measured {
    /// CPU milliseconds.
    pub(crate) medians: Vec<Option<f64>>,
    /// The failures, in sentences.
    pub(crate) trouble: Vec<String>,
    /// A program printed something else than the others.
    pub(crate) wrong: bool,
}

/// Measures a row.
pub(crate) fn measure(peers: &[Box<dyn Peer>], row: &Row, runs: usize) -> Measured {
    let mut times = vec![Vec::with_capacity(runs); peers.len()];
    let mut trouble: Vec<String> = Vec::new();
    let mut wrong = false;
    let mut out: Vec<bool> = vec![false; peers.len()];
    let input = row.input.map(Input::path);
    for _ in 0..runs {
        for (i, peer) in peers.iter().enumerate().filter(|(i, _)| !out[*i]).collect::<Vec<_>>() {
            match run(peer.as_ref(), row, input.as_deref()) {
                None => out[i] = true,
                Some(Ok(ran)) if ran.printed == row.check => times[i].push(ran.ms),
                Some(Ok(ran)) => {
                    (wrong, out[i]) = (true, true);
                    trouble.push(format!("{}: {} printed {}, not {}", row.file, peer.name(), ran.printed, row.check));
                }
                Some(Err(error)) => {
                    // A peer that is too old for its program is left out; harn has no such excuse.
                    (wrong, out[i]) = (wrong || i == 0, true);
                    trouble.push(format!("{}: {} failed: {}", row.file, peer.name(), error.trim()));
                }
            }
        }
    }
    let medians = times.into_iter().zip(out).map(|(times, out)| if out { None } else { median(times) }).collect();
    Measured { medians, trouble, wrong }
}

/// The one in the middle.
pub(crate) fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}
