//! Instructions of a row: this executable runs itself under callgrind, once with the row made ready only and once with the
//! row done; the difference is the row.

use crate::instructions;
use crate::lifecycle::{PreparedRun, Row};
use crate::measure::SIZES;
use std::process::ExitCode;

const CHILD: &str = "--child";

/// Runs as the child of [`count`], where the arguments say so: `--child ROW PENDING TIMES`.
pub(crate) fn child(args: &[String]) -> Option<ExitCode> {
    let [flag, row, pending, times] = args else { return None };
    if flag != CHILD {
        return None;
    }
    let row = row.parse().ok().and_then(|index: usize| Row::ALL.get(index).copied());
    let (Some(row), Ok(pending), Ok(times)) = (row, pending.parse(), times.parse()) else {
        return Some(ExitCode::from(2));
    };
    let mut ready = PreparedRun::new(row, pending);
    ready.run(times);
    // What is dropped behind the run is not the run.
    std::mem::forget(ready);
    Some(ExitCode::SUCCESS)
}

/// Instructions for one operation, by row and size. Nothing where valgrind is not installed.
pub(crate) fn all(rows: &[Row]) -> Vec<Vec<Option<u64>>> {
    if !instructions::are_counted() {
        return vec![vec![None; SIZES.len()]; rows.len()];
    }
    rows.iter().map(|row| SIZES.iter().map(|pending| count(*row, *pending)).collect()).collect()
}

fn count(row: Row, pending: usize) -> Option<u64> {
    let times = row.times(pending);
    let (ready, done) = (counted(row, pending, 0)?, counted(row, pending, times)?);
    Some(done.saturating_sub(ready) / times as u64)
}

fn counted(row: Row, pending: usize, times: usize) -> Option<u64> {
    let index = Row::ALL.iter().position(|known| *known == row)?;
    instructions::of_this(&[CHILD, &index.to_string(), &pending.to_string(), &times.to_string()])
}
