//! Instructions, which do not depend on what else the machine does: this executable runs itself under callgrind, once with a
//! row made ready only and once with the row done; the difference is the row.

use crate::lifecycle::{PreparedRun, Row};
use crate::measure::SIZES;
use std::process::{Command, ExitCode, Stdio};

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
    let installed = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !installed.is_ok_and(|status| status.success()) {
        println!("valgrind is not installed: instructions are not counted.");
        return vec![vec![None; SIZES.len()]; rows.len()];
    }
    rows.iter().map(|row| SIZES.iter().map(|pending| count(*row, *pending)).collect()).collect()
}

fn count(row: Row, pending: usize) -> Option<u64> {
    let times = row.times(pending);
    let (ready, done) = (instructions(row, pending, 0)?, instructions(row, pending, times)?);
    Some(done.saturating_sub(ready) / times as u64)
}

fn instructions(row: Row, pending: usize, times: usize) -> Option<u64> {
    let index = Row::ALL.iter().position(|known| *known == row)?;
    instructions_of(&[CHILD, &index.to_string(), &pending.to_string(), &times.to_string()])
}

/// Instructions of this executable with arguments. Nothing where valgrind is not installed.
pub(crate) fn instructions_of(args: &[&str]) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args(args)
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = said.lines().find_map(|line| line.split("Collected :").nth(1))?;
    collected.trim().parse().ok()
}
