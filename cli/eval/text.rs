//! The comparison as a table.

use super::{Evaluation, number, percent};
use testing::eval::{Estimate, Rate};
use unicode_width::UnicodeWidthStr;

/// Errors that are listed.
const MOST_ERRORS: usize = 10;

/// Returns the comparison.
pub(super) fn text(of: &Evaluation) -> String {
    let head = ["variant", "runs", "success", "heeded", "turns", "tokens", "cost (USD)"].map(str::to_owned);
    let row = |(place, variant): (usize, &testing::eval::EvalVariant)| {
        let sum = of.summary(place, None);
        [
            variant.name.clone(),
            sum.runs.to_string(),
            rate(sum.success),
            rate(sum.heeded),
            estimate(sum.turns),
            estimate(sum.tokens),
            estimate(sum.cost_usd),
        ]
    };
    let rows: Vec<_> = of.plan.variants.iter().enumerate().map(row).collect();
    let mut out = table(&head, &rows);
    if of.plan.tasks.len() > 1 {
        out.push('\n');
        let head: Vec<String> = ["task".to_owned()]
            .into_iter()
            .chain(of.plan.variants.iter().map(|variant| variant.name.clone()))
            .collect();
        let row = |(task, row): (usize, &testing::eval::EvalTask)| {
            let cell = |variant| of.summary(variant, Some(task)).success.map_or_else(dash, |rate| counts(&rate));
            [row.name.clone()].into_iter().chain((0..of.plan.variants.len()).map(cell)).collect::<Vec<_>>()
        };
        let rows: Vec<_> = of.plan.tasks.iter().enumerate().map(row).collect();
        out.push_str(&table(&head, &rows));
    }
    let errors: Vec<_> = of.errors().collect();
    if !errors.is_empty() {
        out.push_str(&format!("\n{} of {} runs ended with an error:\n", errors.len(), of.runs.len()));
        for (place, message) in errors.iter().take(MOST_ERRORS) {
            out.push_str(&format!("  {}: {message}\n", of.name_of(place)));
        }
        if errors.len() > MOST_ERRORS {
            out.push_str(&format!("  … {} more\n", errors.len() - MOST_ERRORS));
        }
    }
    out
}

fn dash() -> String {
    "–".to_owned()
}

fn counts(rate: &Rate) -> String {
    format!("{}/{}", rate.count, rate.of)
}

/// Returns a rate with its interval.
pub(super) fn rate(rate: Option<Rate>) -> String {
    rate.map_or_else(dash, |rate| {
        let (low, high) = (percent(rate.low), percent(rate.high));
        format!("{} ({}; {}–{high})", percent(rate.share()), counts(&rate), low.trim_end_matches(" %"))
    })
}

/// Returns a mean with its interval.
pub(super) fn estimate(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(dash, |estimate| match estimate.interval {
        Some((low, high)) if low < high => {
            format!("{} ({}–{})", number(estimate.mean), number(low.max(0.0)), number(high))
        }
        _ => number(estimate.mean),
    })
}

/// Returns rows in columns; the first is aligned to the left, the others to the right.
fn table<R: AsRef<[String]>>(head: &[String], rows: &[R]) -> String {
    let all = || std::iter::once(head).chain(rows.iter().map(AsRef::as_ref));
    let width = |column: usize| all().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut out = String::new();
    for row in all() {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[column] - cell.width());
            match column {
                0 => line.push_str(&format!("{cell}{pad}")),
                _ => line.push_str(&format!("  {pad}{cell}")),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
