//! harn beside the languages people would use instead: the same program in each, CPU time, median of runs in turn.
//!
//! `cargo bench --bench peers [-- RUNS [PROGRAM]]`. Peers that are not on the machine are left out. It prints a table and
//! fails on nothing but a wrong result; regressions are watched by counting instructions (see docs/performance.md).

mod harn;
mod peer;
mod rhai_peer;

use peer::Peer;

const PROGRAMS: &[(&str, &str)] =
    &[("fib", "fib(27)"), ("loop", "1M-turn while loop"), ("map_filter", "map + filter, 200 x 1000")];

fn main() {
    // Cargo passes `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let runs: usize = args.first().and_then(|a| a.parse().ok()).unwrap_or(11);
    let only = args.get(1);
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(harn::Harn),
        Box::new(peer::Lua::new("lua5.4")),
        Box::new(peer::Lua::new("luajit")),
        Box::new(peer::Python),
        Box::new(rhai_peer::Rhai),
    ];
    let peers: Vec<_> = peers.into_iter().filter(|p| p.is_here()).collect();
    println!("CPU milliseconds, median of {runs} runs in turn (ratio: harn / peer, below 1 harn is faster)\n");
    print!("{:<28}", "");
    for peer in &peers {
        print!("{:>20}", peer.name());
    }
    println!();
    let mut logs = vec![0.0; peers.len()];
    let chosen: Vec<_> = PROGRAMS.iter().filter(|(file, _)| only.is_none_or(|o| o == file)).collect();
    for (file, title) in &chosen {
        let medians = measure(&peers, file, runs);
        print!("{title:<28}");
        for (i, median) in medians.iter().enumerate() {
            let ratio = medians[0] / median;
            logs[i] += ratio.ln();
            let cell = if i == 0 { format!("{median:.1}") } else { format!("{median:.1} ({ratio:.2})") };
            print!("{cell:>20}");
        }
        println!();
    }
    print!("{:<28}{:>20}", "geometric mean", "");
    for log in logs.iter().skip(1) {
        print!("{:>20}", format!("({:.2})", (log / chosen.len() as f64).exp()));
    }
    println!();
}

/// One after the other, again and again, so that a slow moment of the machine hits all of them.
fn measure(peers: &[Box<dyn Peer>], file: &str, runs: usize) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(runs); peers.len()];
    let mut expected: Option<String> = None;
    for _ in 0..runs {
        for (i, peer) in peers.iter().enumerate() {
            let (printed, ms) = peer.run(file);
            match &expected {
                None => expected = Some(printed),
                Some(text) => assert_eq!(*text, printed, "{} and harn disagree on {file}", peer.name()),
            }
            times[i].push(ms);
        }
    }
    times.into_iter().map(median).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
