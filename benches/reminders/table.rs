//! A table that reads well in a terminal and in a page.

use crate::measure::{Line, SIZES};

const TITLE: usize = 30;
const COLUMN: usize = 22;

/// Prints what was measured.
pub(crate) fn print(lines: &[Line], runs: usize) {
    println!("One operation, median of {runs} runs in turn, and the instructions it takes\n");
    let heads = SIZES.map(|pending| format!("{} pending", grouped(pending as u64)));
    line("", &heads);
    println!("|{}|{}", "-".repeat(TITLE + 2), format!("{}:|", "-".repeat(COLUMN + 1)).repeat(SIZES.len()));
    for measured in lines {
        let cells = measured.ns.iter().zip(&measured.instructions).map(|(ns, count)| {
            let count = count.map_or_else(|| "not counted".to_owned(), short);
            format!("{} ({count})", time(*ns))
        });
        line(measured.row.title(), &cells.collect::<Vec<_>>());
    }
}

fn line(title: &str, cells: &[String]) {
    let cells: String = cells.iter().map(|cell| format!(" {cell:>COLUMN$} |")).collect();
    println!("| {title:<TITLE$} |{cells}");
}

/// A time with its unit.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 10_000.0 => format!("{ns:.0} ns"),
        ns if ns < 10_000_000.0 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{:.1} ms", ns / 1e6),
    }
}

/// A count in few digits.
fn short(count: u64) -> String {
    match count {
        0..10_000 => grouped(count),
        10_000..10_000_000 => format!("{:.1} k", count as f64 / 1e3),
        _ => format!("{:.1} M", count as f64 / 1e6),
    }
}

fn grouped(number: u64) -> String {
    if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
}
