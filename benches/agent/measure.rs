//! One way after the other, again and again, so that a slow moment of the machine hits all of them.

use crate::options::Options;
use crate::python::Python;
use crate::ways::Way;
use crate::{bars, count, table};

/// Turns of a run.
pub(crate) const TURNS: usize = 1_000;
/// Turns of a long run, which only harn does.
pub(crate) const LONG: usize = 10_000;
/// The turns that are compared.
pub(crate) const POINTS: [usize; 3] = [10, TURNS, LONG];
/// The number of runs of a peer, which are long.
const PEER_RUNS: usize = 3;
/// Runs of harn for each that is asked for: they are short, and a turn's share of a run is shorter still.
const RUNS: usize = 3;

/// The measurements of one way.
pub(crate) struct Line {
    /// The way.
    pub(crate) way: Way,
    /// Microseconds of a turn, over [`TURNS`].
    pub(crate) us: f64,
    /// Microseconds of the turns around each of [`POINTS`].
    pub(crate) at_us: Vec<Option<f64>>,
    /// The cost of turn 1,000 as a multiple of turn 10: both from one run, the median of the runs.
    /// The machine's speed varies more from run to run than a turn does within one.
    pub(crate) times: Option<f64>,
    /// Instructions of a turn around each of [`POINTS`].
    pub(crate) instructions: Vec<Option<u64>>,
    /// The most resident memory, in KiB, and how much of it came with the loop.
    pub(crate) peak_kib: f64,
    /// See [`Line::peak_kib`].
    pub(crate) grown_kib: f64,
}

#[derive(Default)]
struct Samples {
    us: Vec<f64>,
    at_us: [Vec<f64>; POINTS.len()],
    times: Vec<f64>,
    peak_kib: Vec<f64>,
    grown_kib: Vec<f64>,
}

/// Measures all ways that are asked for and judges harn's: whether the bars are held.
pub(crate) fn run(options: &Options) -> bool {
    let mut ways = vec![Way::Script, Way::Core];
    match Python::all(|name| options.wants_peer(name)) {
        Ok(peers) => ways.extend(peers.into_iter().map(Way::Peer)),
        Err(why) => println!("{why}; they are left out."),
    }
    ways.retain(|way| options.wants_row(way.title()));
    let mut samples: Vec<Samples> = ways.iter().map(|_| Samples::default()).collect();
    let runs = options.runs * RUNS;
    for run in 0..runs {
        for (way, samples) in ways.iter().zip(&mut samples) {
            if (way.is_harn() || run < PEER_RUNS.min(options.runs))
                && let Err(why) = samples.take(way)
            {
                eprintln!("{why}");
                return false;
            }
        }
    }
    let lines: Vec<Line> = ways.into_iter().zip(samples).map(|(way, samples)| samples.line(way, options)).collect();
    table::print(&lines, runs, PEER_RUNS.min(options.runs));
    bars::judge(&lines)
}

impl Samples {
    fn take(&mut self, way: &Way) -> Result<(), String> {
        let marks = way.run(TURNS)?;
        self.us.push(marks.mean_us());
        self.peak_kib.push(marks.peak_kib as f64);
        self.grown_kib.push(marks.peak_kib.saturating_sub(marks.before_kib) as f64);
        let points: Vec<Vec<f64>> = POINTS.map(|point| marks.around_us(point).collect()).into();
        if let [early, late, ..] = points.as_slice()
            && !early.is_empty()
            && !late.is_empty()
        {
            self.times.push(median(late.clone()) / median(early.clone()));
        }
        for (point, at) in points.into_iter().zip(&mut self.at_us) {
            at.extend(point);
        }
        if way.is_harn() {
            self.at_us[POINTS.len() - 1].extend(way.run(LONG)?.around_us(LONG));
        }
        Ok(())
    }

    fn line(self, way: Way, options: &Options) -> Line {
        let instructions = if options.count && way.is_harn() { count::all(&way) } else { vec![None; POINTS.len()] };
        let at_us = self.at_us.into_iter().map(|at| (!at.is_empty()).then(|| median(at))).collect();
        Line {
            way,
            us: median(self.us),
            at_us,
            times: (!self.times.is_empty()).then(|| median(self.times)),
            instructions,
            peak_kib: median(self.peak_kib),
            grown_kib: median(self.grown_kib),
        }
    }
}

/// The one in the middle.
fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
