//! The row of callbacks: CPU nanoseconds that a call of a closure by a builtin takes beyond what the closure does, and those of a
//! call in a loop.

use crate::here::again;
use crate::inputs::made;
use crate::measure::median;
use crate::peer::finish;
use crate::table;

/// Its name for `--rows`.
pub(crate) const NAME: &str = "callback";

/// Number of calls in a program.
const CALLS: f64 = 2e6;

/// Names and bodies of the programs: the work on each item alone, in a callback, in a called function.
const BODIES: [(&str, &str); 3] = [
    ("callback_none", "for x in xs { x + 1 }"),
    ("callback_builtin", "xs.for_each({ x -> x + 1 })"),
    ("callback_call", "for x in xs { work(x) }"),
];

/// Measures the row, one program after the other, again and again; a sentence if one of them fails.
pub(crate) fn callback(runs: usize) -> Result<(), String> {
    let mut times = [const { Vec::new() }; BODIES.len()];
    for _ in 0..runs {
        for ((name, body), times) in BODIES.iter().zip(&mut times) {
            let path = made(&format!("{name}.harn"), || program(body));
            let ran = finish(again("harn", &path, None)).map_err(|error| format!("{name}: {error}"))?;
            if ran.printed != "1000" {
                return Err(format!("{name} printed {}, not 1000", ran.printed));
            }
            times.push(ran.ms);
        }
    }
    let [none, builtin, call] = times.map(median);
    let beyond = |with: Option<f64>| {
        with.zip(none).map_or("–".to_owned(), |(with, none)| format!("{:.1}", (with - none) * 1e6 / CALLS))
    };
    println!("\nA call of a closure beyond its work, CPU nanoseconds\n");
    table::head("", &["harn".to_owned()]);
    table::line("callback of a builtin", &[beyond(builtin)]);
    table::line("call in a loop", &[beyond(call)]);
    Ok(())
}

fn program(body: &str) -> String {
    format!(
        "fn work(x) {{ return x + 1 }}\nfn run() {{\n  let xs = (0 to 1000 exclusive).to_list()\n  \
         for _ in 0 to 2000 exclusive {{\n    {body}\n  }}\n  return xs.count()\n}}\nprintln(run())\n"
    )
}
