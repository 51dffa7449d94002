//! A table that reads well in a terminal and in a page.

use crate::measure::{Line, POINTS};

const TITLE: usize = 26;
const COLUMN: usize = 18;

/// Prints what was measured.
pub(crate) fn print(lines: &[Line], runs: usize, peer_runs: usize) {
    println!(
        "Microseconds of a turn beyond the tool, median of {runs} runs in turn ({peer_runs} of the peers), and instructions\n"
    );
    let points = POINTS.map(|point| format!("turn {}", grouped(point as u64)));
    let heads = ["a turn".to_owned()].into_iter().chain(points).chain(["memory (of the loop)".to_owned()]);
    let heads: Vec<String> = heads.collect();
    row("", &heads);
    println!("|{}|{}", "-".repeat(TITLE + 2), format!("{}:|", "-".repeat(COLUMN + 1)).repeat(heads.len()));
    for line in lines {
        let at = line.at_us.iter().zip(&line.instructions).map(|(us, count)| {
            let count = count.map_or_else(String::new, |count| format!(" ({})", grouped(count)));
            us.map_or_else(|| "–".to_owned(), |us| format!("{}{count}", time(us)))
        });
        let mib = |kib: f64| kib / 1024.0;
        let memory = format!("{:.1} MiB ({:.1})", mib(line.peak_kib), mib(line.grown_kib));
        let cells: Vec<String> = [time(line.us)].into_iter().chain(at).chain([memory]).collect();
        row(line.way.title(), &cells);
    }
}

fn row(title: &str, cells: &[String]) {
    let cells: String = cells.iter().map(|cell| format!(" {cell:>COLUMN$} |")).collect();
    println!("| {title:<TITLE$} |{cells}");
}

fn time(us: f64) -> String {
    if us < 1_000.0 { format!("{us:.1} µs") } else { format!("{:.2} ms", us / 1e3) }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    groups.join(",")
}
