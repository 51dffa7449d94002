//! Measurements that are not programs or are taken from outside: start-up, memory, and reading
//! source text.
//!
//! A start has limits, since what it costs is spread over the whole command and no test notices when it grows: its time beside
//! Lua's, and the memory of a small script.

use crate::inputs::made;
use crate::measure::median;
use crate::peer::{Peer, finish, program};
use crate::table;
use nix::sys::resource::{UsageWho, getrusage};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Instant;

/// The names of these rows.
pub(crate) const NAMES: [&str; 6] = ["start", "faults", "memory", "source", "front", "format"];

/// The longest start, in starts of Lua 5.4.
const SLOWEST_START: f64 = 2.2;

/// The most memory of a script of a few lines, in MiB.
const MOST_MEMORY: f64 = 14.0;

/// Functions in a text of about a megabyte.
const MEGABYTE: usize = 2000;

/// Wall-clock milliseconds from starting an empty script to its end. Returns whether harn keeps to its limit.
pub(crate) fn start(peers: &[Box<dyn Peer>], runs: usize) -> bool {
    // One is over so soon that the median of few says nothing.
    let figures = in_turn(peers, runs * 5, |peer| {
        let mut command = peer.plain(&program("empty", peer.ending()))?;
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        command.status().ok().filter(ExitStatus::success)?;
        Some(start.elapsed().as_secs_f64() * 1e3)
    });
    table::line("start-up, wall ms", &table::with_ratios(&figures));
    let lua = peers.iter().position(|peer| peer.name() == "lua5.4").and_then(|at| figures[at]);
    lua.is_none_or(|lua| keeps_to("start-up in starts of Lua 5.4", figures[0].map(|harn| harn / lua), SLOWEST_START))
}

/// The page faults of an empty script, from starting it to its end.
pub(crate) fn faults(peers: &[Box<dyn Peer>], runs: usize) {
    let ended = || getrusage(UsageWho::RUSAGE_CHILDREN).ok().map(|usage| usage.minor_page_faults());
    let figures = in_turn(peers, runs, |peer| {
        let mut command = peer.plain(&program("empty", peer.ending()))?;
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let before = ended()?;
        command.status().ok().filter(ExitStatus::success)?;
        Some((ended()? - before) as f64)
    });
    table::line("start-up, page faults", &table::with_ratios(&figures));
}

/// The most memory that a script of a few lines ever held, read by the script itself. Returns whether harn keeps to its limit.
pub(crate) fn memory(peers: &[Box<dyn Peer>], runs: usize) -> bool {
    let figures = in_turn(peers, runs, |peer| {
        let output = peer.plain(&program("memory", peer.ending()))?.stdin(Stdio::null()).output().ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse().ok().map(|kib: f64| kib / 1024.0)
    });
    table::line("peak memory, MiB", &table::with_ratios(&figures));
    keeps_to("peak memory, MiB", figures[0], MOST_MEMORY)
}

/// Whether a figure of harn was measured and is within its limit; if not, says so.
fn keeps_to(what: &str, figure: Option<f64>, limit: f64) -> bool {
    match figure {
        Some(figure) if figure <= limit => return true,
        Some(figure) => eprintln!("{what}: {figure:.2}, more than {limit}"),
        None => eprintln!("{what}: not measured"),
    }
    false
}

/// Megabytes of source text in a second: parsed and checked by harn, compiled by the others.
pub(crate) fn source(peers: &[Box<dyn Peer>], runs: usize) {
    let figures = in_turn(peers, runs, |peer| {
        let text = text_in(peer.ending(), MEGABYTE)?;
        let size = text.len() as f64 / 1e6;
        let path = made(&format!("source.{}", peer.ending()), || text);
        let ran = finish(peer.read_only(&path)?).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Some(size / (ran.ms / 1e3))
    });
    let cells = figures.iter().map(|f| f.map_or("–".to_owned(), |f| format!("{f:.1}")));
    table::line("source read, MB/s (more: better)", &cells.collect::<Vec<_>>());
}

/// A text of three megabytes up to the last stage that compiles nothing, and the bytes of memory for each of its bytes. CPython
/// makes a tree of it and checks no names or types.
pub(crate) fn front(peers: &[Box<dyn Peer>], runs: usize) {
    let mut memory = vec![None; peers.len()];
    let mut speed = Vec::with_capacity(peers.len());
    for (peer, memory) in peers.iter().zip(&mut memory) {
        let once = || {
            let text = text_in(peer.ending(), 3 * MEGABYTE)?;
            let size = text.len() as f64;
            let path = made(&format!("front.{}", peer.ending()), || text);
            let ran = finish(peer.front(&path)?).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let grown: f64 = ran.printed.parse().unwrap_or_else(|_| panic!("no number: {}", ran.printed));
            Some((size / ran.ms / 1e3, grown * 1024.0 / size))
        };
        let figures: Vec<(f64, f64)> = (0..runs).map_while(|_| once()).collect();
        speed.push(median(figures.iter().map(|(speed, _)| *speed).collect()));
        *memory = median(figures.iter().map(|(_, memory)| *memory).collect());
    }
    let cells = |figures: &[Option<f64>]| -> Vec<String> {
        figures.iter().map(|f| f.map_or("–".to_owned(), |f| format!("{f:.1}"))).collect()
    };
    table::line("lex to check, MB/s (more: better)", &cells(&speed));
    table::line("its peak memory, bytes a byte", &cells(&memory));
}

/// A text of three megabytes, formatted: by harn within its process, by the formatter of CPython's scripts as a command.
pub(crate) fn format(peers: &[Box<dyn Peer>], runs: usize) {
    let figures = in_turn(peers, runs, |peer| {
        let text = text_in(peer.ending(), 3 * MEGABYTE)?;
        let size = text.len() as f64 / 1e6;
        let path = made(&format!("front.{}", peer.ending()), || text);
        let ran = finish(peer.format(&path)?).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Some(size / (ran.ms / 1e3))
    });
    let cells = figures.iter().map(|f| f.map_or("–".to_owned(), |f| format!("{f:.1}")));
    table::line("formatted, MB/s (more: better)", &cells.collect::<Vec<_>>());
}

fn in_turn(peers: &[Box<dyn Peer>], runs: usize, once: impl Fn(&dyn Peer) -> Option<f64>) -> Vec<Option<f64>> {
    let mut figures = vec![Vec::with_capacity(runs); peers.len()];
    for _ in 0..runs {
        for (peer, figures) in peers.iter().zip(&mut figures) {
            figures.extend(once(peer.as_ref()));
        }
    }
    figures.into_iter().map(median).collect()
}

/// So many of the same function; nothing for a language that has no such text.
fn text_in(ending: &str, functions: usize) -> Option<String> {
    let path = program("source", ending).with_extension(format!("{ending}.txt"));
    let function = std::fs::read_to_string(Path::new(&path)).ok()?;
    Some((0..functions).map(|n| function.replace('@', &n.to_string())).collect())
}
