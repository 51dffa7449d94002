//! harn beside the languages people would use instead: the same program in each, CPU time, median of runs in turn.
//!
//! `cargo bench --bench peers [-- --rows fib,loop --runs 5 --peers lua,python]`. Languages that the machine does not have
//! are left out. It prints tables, and fails on a wrong answer and on the limits of a start ([`whole`]); other regressions are
//! watched by counting instructions (docs/testing.md).
//!
//! - [`rows`]: what is run; [`inputs`]: the files that programs read.
//! - [`peer`]: what a language must offer; [`harn`], [`lua`], [`python`], [`rhai_peer`]: they do. [`here`] runs those that
//!   are in this executable.
//! - [`provider`]: one evaluation of a reminder provider in each language, in this process; [`evaluation`] measures it.
//! - [`callback`]: a call of a closure by a builtin.
//! - [`measure`]: runs in turn; [`whole`]: starting, memory and reading source; [`table`]: prints.

mod callback;
mod evaluation;
mod harn;
mod here;
mod inputs;
mod lua;
mod measure;
#[path = "../common/options.rs"]
mod options;
mod peer;
mod provider;
mod python;
mod rhai_peer;
mod rows;
mod table;
mod whole;

use options::Options;
use peer::Peer;
use rows::ROWS;
use std::process::ExitCode;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = here::child(&args) {
        return code;
    }
    let options = match Options::read(&args).and_then(known_rows) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let peers = found(&options);
    let mut wrong = programs(&peers, &options);
    wrong |= !others(&peers, &options);
    if options.wants_row(evaluation::NAME)
        && let Err(error) = evaluation::evaluation(options.runs)
    {
        eprintln!("{error}");
        wrong = true;
    }
    if options.wants_row(callback::NAME)
        && let Err(error) = callback::callback(options.runs)
    {
        eprintln!("{error}");
        wrong = true;
    }
    if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The languages that take part, harn first.
fn found(options: &Options) -> Vec<Box<dyn Peer>> {
    let all: Vec<Box<dyn Peer>> = vec![
        Box::new(harn::Harn),
        Box::new(lua::Lua { command: "lua5.4" }),
        Box::new(lua::Lua { command: "luajit" }),
        Box::new(python::Python::find()),
        Box::new(rhai_peer::Rhai),
    ];
    let asked = all.into_iter().filter(|peer| options.wants_peer(&peer.name()));
    let (here, missing): (Vec<_>, Vec<_>) = asked.partition(|peer| peer.is_here());
    for peer in missing {
        println!("{} is not installed and left out.", peer.name());
    }
    here
}

fn known_rows(options: Options) -> Result<Options, String> {
    let names: Vec<&str> =
        ROWS.iter().map(|row| row.file).chain(whole::NAMES).chain([evaluation::NAME, callback::NAME]).collect();
    match options.rows.iter().find(|row| !names.contains(&row.as_str())) {
        Some(row) => Err(format!("there is no row `{row}`; there are {}", names.join(", "))),
        None => Ok(options),
    }
}

/// Runs the rows that are programs; returns whether one printed a wrong value.
fn programs(peers: &[Box<dyn Peer>], options: &Options) -> bool {
    let rows: Vec<_> = ROWS.iter().filter(|row| options.wants_row(row.file)).collect();
    if rows.is_empty() {
        return false;
    }
    println!("CPU milliseconds, median of {} runs in turn (harn / peer: below 1 harn is faster)\n", options.runs);
    table::head("program", &names(peers));
    let (mut lines, mut trouble, mut wrong) = (Vec::new(), Vec::new(), false);
    for row in rows {
        let measured = measure::measure(peers, row, options.runs);
        table::line(row.title, &table::with_ratios(&measured.medians));
        lines.push(measured.medians);
        trouble.extend(measured.trouble);
        wrong |= measured.wrong;
    }
    table::line("geometric mean", &table::geometric_means(&lines, peers.len()));
    for sentence in trouble {
        eprintln!("{sentence}");
    }
    wrong
}

/// Measures the whole command and its front end; returns whether harn keeps to the limits of a start.
fn others(peers: &[Box<dyn Peer>], options: &Options) -> bool {
    let [start, faults, memory, source, front, format] = whole::NAMES.map(|name| options.wants_row(name));
    if start || faults || memory || source || front || format {
        println!("\nThe whole command, and its front end alone\n");
        table::head("", &names(peers));
    }
    let mut within = true;
    if start {
        within &= whole::start(peers, options.runs);
    }
    if faults {
        whole::faults(peers, options.runs);
    }
    if memory {
        within &= whole::memory(peers, options.runs);
    }
    if source {
        whole::source(peers, options.runs);
    }
    if front {
        whole::front(peers, options.runs);
    }
    if format {
        whole::format(peers, options.runs);
    }
    within
}

fn names(peers: &[Box<dyn Peer>]) -> Vec<String> {
    peers.iter().map(|peer| peer.name()).collect()
}
