//! The limits of the bench, and whether they are met.

use crate::lifecycle::Row;
use crate::measure::{Line, SIZES};
use crate::table::time;

/// A promise about the largest size.
enum Bar {
    /// The maximum cost, as a multiple of that at the smallest size.
    Times(f64),
    /// The maximum cost, in nanoseconds.
    Ns(f64),
}

const BARS: &[(Row, Bar)] =
    &[(Row::Inject, Bar::Times(2.0)), (Row::InjectKey, Bar::Ns(5_000.0)), (Row::InjectKeyKept, Bar::Ns(15_000.0))];

/// Judges what was measured: whether all bars are held.
pub(crate) fn judge(lines: &[Line]) -> bool {
    println!();
    let mut all = true;
    for (row, bar) in BARS {
        let Some(line) = lines.iter().find(|line| line.row == *row) else { continue };
        let (Some(small), Some(large)) = (line.ns.first(), line.ns.last()) else { continue };
        let largest = SIZES[SIZES.len() - 1];
        let (held, said) = match bar {
            Bar::Times(most) => {
                let ratio = large / small;
                (
                    ratio <= *most,
                    format!("at {largest} pending {ratio:.2} x the cost at {}, at most {most} x", SIZES[0]),
                )
            }
            Bar::Ns(most) => (large <= most, format!("at {largest} pending {}, at most {}", time(*large), time(*most))),
        };
        println!("{}  {}: {said}", if held { "held  " } else { "MISSED" }, row.title());
        all &= held;
    }
    all
}
