//! The figures of the runs of a variant.

use super::run::{EvalOutcome, EvalRun};
use super::stats::{Estimate, Rate};

/// The figures of some runs.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalSummary {
    /// Number of runs.
    pub runs: usize,
    /// Number of runs that ended with an error. They are not successes.
    pub errors: usize,
    /// The share of runs that succeeded.
    pub success: Option<Rate>,
    /// The share of judged turns that followed a reminder; `None` if no turn was judged.
    pub heeded: Option<Rate>,
    /// Turns of all loops of a run.
    pub turns: Option<Estimate>,
    /// Tokens of all model calls of a run, in and out.
    pub tokens: Option<Estimate>,
    /// Cost of a run in US dollars; `None` if the price of a call is unknown.
    pub cost_usd: Option<Estimate>,
}

/// Computes the figures of some runs.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "counts of tokens")]
pub fn summarize<'a>(runs: impl IntoIterator<Item = &'a EvalRun>) -> EvalSummary {
    let runs: Vec<&EvalRun> = runs.into_iter().collect();
    let succeeded = runs.iter().filter(|run| run.outcome == EvalOutcome::Succeeded).count();
    let errors = runs.iter().filter(|run| matches!(run.outcome, EvalOutcome::Errored(_))).count();
    let (heeded, ignored) =
        runs.iter().fold((0, 0), |(heeded, ignored), run| (heeded + run.heeded, ignored + run.ignored));
    let mean = |value: &dyn Fn(&EvalRun) -> f64| Estimate::new(&runs.iter().map(|run| value(run)).collect::<Vec<_>>());
    let costs: Option<Vec<f64>> = runs.iter().map(|run| run.cost_usd).collect();
    EvalSummary {
        runs: runs.len(),
        errors,
        success: Rate::new(succeeded, runs.len()),
        heeded: Rate::new(heeded, heeded + ignored),
        turns: mean(&|run| f64::from(run.turns)),
        tokens: mean(&|run| (run.input_tokens + run.output_tokens) as f64),
        cost_usd: costs.and_then(|costs| Estimate::new(&costs)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outcome: EvalOutcome, heeded: usize, cost_usd: Option<f64>) -> EvalRun {
        EvalRun { outcome, heeded, ignored: 1, turns: 2, input_tokens: 10, output_tokens: 5, cost_usd }
    }

    #[test]
    fn a_run_with_an_error_is_no_success_and_an_unknown_price_no_zero() {
        let runs = [
            run(EvalOutcome::Succeeded, 1, Some(0.5)),
            run(EvalOutcome::Failed, 0, Some(0.5)),
            run(EvalOutcome::Errored("boom".into()), 2, None),
        ];
        let sum = summarize(&runs);
        assert_eq!((sum.runs, sum.errors, sum.success.unwrap().count), (3, 1, 1));
        let heeded = sum.heeded.unwrap();
        assert_eq!((heeded.count, heeded.of), (3, 6));
        assert_eq!((sum.turns.unwrap().mean, sum.tokens.unwrap().mean, sum.cost_usd), (2.0, 15.0, None));
        assert_eq!(summarize(&runs[..2]).cost_usd.unwrap().mean, 0.5);
        assert_eq!(summarize([]).success, None);
    }
}
