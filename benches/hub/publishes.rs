//! Publishes per second in memory.

use std::time::Instant;

use hub::Hub;
use hub::broker::{BrokerOptions, Command};

use crate::options::Options;
use crate::work::{must, queued};

/// Number of publishes of a run.
const COUNT: usize = 50_000;
/// Least number of publishes per second.
const LEAST: f64 = 20_000.0;

/// Measures tasks that are submitted to a queue, one after another.
pub(crate) fn run(options: &Options) -> bool {
    let runs = (0..options.runs).map(|_| {
        let hub = Hub::memory(BrokerOptions::default());
        let start = Instant::now();
        crate::block_on(async {
            for number in 0..COUNT {
                must(&hub, Command::Publish(queued(number, 2))).await;
            }
        });
        assert_eq!(hub.stats().submitted, COUNT as u64, "a publish is lost");
        COUNT as f64 / start.elapsed().as_secs_f64()
    });
    let rate = crate::median(runs.collect());
    crate::say(rate >= LEAST, &format!("{rate:.0} publishes per second in memory, at least {LEAST:.0}"))
}
