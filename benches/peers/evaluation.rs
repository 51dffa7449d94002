//! The row of providers: nanoseconds of one evaluation, in this process.

use crate::here::cpu_ms;
use crate::measure::median;
use crate::provider::{Context, Provider, providers};
use crate::table;

/// Its name for `--rows`.
pub(crate) const NAME: &str = "provider";

/// Calls that are measured together; a single one is too short.
const CALLS: u32 = 5_000;

/// Measures the row, one language after the other, again and again; a sentence where one of them fails.
pub(crate) fn evaluation(runs: usize) -> Result<(), String> {
    let providers = providers(&Context::full())?;
    let mut figures = vec![Vec::with_capacity(runs); providers.len()];
    // The first round warms up.
    for round in 0..=runs {
        for (provider, figures) in providers.iter().zip(&mut figures) {
            let nanoseconds = once(provider.as_ref())?;
            if round > 0 {
                figures.push(nanoseconds);
            }
        }
    }
    println!("\nOne evaluation of a provider of eight lines in this process, CPU nanoseconds\n");
    table::head("", &providers.iter().map(|provider| provider.name().to_owned()).collect::<Vec<_>>());
    let medians: Vec<Option<f64>> = figures.into_iter().map(median).collect();
    table::line("evaluate, answer read back", &table::with_ratios(&medians));
    Ok(())
}

fn once(provider: &dyn Provider) -> Result<f64, String> {
    let (ran, ms) = cpu_ms(|| (0..CALLS).try_for_each(|_| provider.evaluate().map(|_| ())));
    ran.map_err(|error| format!("{}: {error}", provider.name()))?;
    Ok(ms * 1e6 / f64::from(CALLS))
}
