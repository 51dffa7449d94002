//! The comparison as JSON; `docs/reference/eval.md` describes it.

use base::data::Data;

use super::Evaluation;
use testing::eval::{Estimate, EvalOutcome, EvalRun, EvalSummary, Rate, RunPlace};

/// The version of the shape.
const VERSION: u32 = 1;

/// Returns the document, indented.
pub(super) fn document(of: &Evaluation) -> String {
    let variant = |(place, variant): (usize, &testing::eval::EvalVariant)| {
        let tasks = of.plan.tasks.iter().enumerate();
        let tasks =
            tasks.map(|(task, row)| summary(&of.summary(place, Some(task))).with("name", row.name.as_str().into()));
        summary(&of.summary(place, None))
            .with("name", variant.name.as_str().into())
            .with("description", variant.description.as_deref().into())
            .with("tasks", tasks.collect())
    };
    let data = Data::dict([
        ("version", Data::from(VERSION)),
        ("script", of.script.as_str().into()),
        ("repetitions", of.repetitions.into()),
        ("seed", of.seed.into()),
        ("confidence", 0.95.into()),
        ("variants", of.plan.variants.iter().enumerate().map(variant).collect()),
        ("runs", of.runs.iter().map(|(place, run)| one_run(of, place, run)).collect()),
    ]);
    data.to_json_pretty() + "\n"
}

fn summary(sum: &EvalSummary) -> Data {
    Data::dict([
        ("runs", Data::from(sum.runs)),
        ("errors", sum.errors.into()),
        ("success", rate(sum.success)),
        ("heeded", rate(sum.heeded)),
        ("turns", estimate(sum.turns)),
        ("tokens", estimate(sum.tokens)),
        ("cost_usd", estimate(sum.cost_usd)),
    ])
}

fn rate(rate: Option<Rate>) -> Data {
    rate.map_or(Data::Nil, |rate| {
        Data::dict([
            ("rate", Data::from(rate.share())),
            ("count", rate.count.into()),
            ("of", rate.of.into()),
            ("low", rate.low.into()),
            ("high", rate.high.into()),
        ])
    })
}

fn estimate(estimate: Option<Estimate>) -> Data {
    estimate.map_or(Data::Nil, |estimate| {
        let (low, high) = estimate.interval.unzip();
        Data::dict([("mean", Data::from(estimate.mean)), ("low", low.into()), ("high", high.into())])
    })
}

fn one_run(of: &Evaluation, place: &RunPlace, run: &EvalRun) -> Data {
    let (outcome, error) = match &run.outcome {
        EvalOutcome::Succeeded => ("success", None),
        EvalOutcome::Failed => ("failure", None),
        EvalOutcome::Errored(message) => ("error", Some(message.as_str())),
    };
    Data::dict([
        ("variant", Data::from(of.plan.variants[place.variant].name.as_str())),
        ("task", of.plan.tasks[place.task].name.as_str().into()),
        ("run", (place.nth + 1).into()),
        ("outcome", outcome.into()),
        ("error", error.into()),
        ("heeded", run.heeded.into()),
        ("ignored", run.ignored.into()),
        ("turns", run.turns.into()),
        ("input_tokens", run.input_tokens.into()),
        ("output_tokens", run.output_tokens.into()),
        ("cost_usd", run.cost_usd.into()),
    ])
}
