//! The comparison as one HTML page that needs nothing else: no script, no font, no network.

use super::text::{estimate, rate};
use super::{Evaluation, percent};
use crate::markup::escape;
use std::fmt::Write;
use testing::eval::{EvalOutcome, Rate};

const STYLE: &str = include_str!("page.css");

/// The content security policy: the page loads and runs nothing.
const POLICY: &str = "default-src 'none'; style-src 'nonce-page'; base-uri 'none'; form-action 'none'";

/// Width of a bar, in pixels.
const BAR: f64 = 220.0;

/// Returns the page.
pub(super) fn page(of: &Evaluation) -> String {
    let script = escape(&of.script);
    let seed = of.seed.map(|seed| format!(" · seed {seed}")).unwrap_or_default();
    let count = |n: usize, noun: &str| if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") };
    let facts = [
        count(of.plan.variants.len(), "variant"),
        count(of.plan.tasks.len(), "task"),
        format!("{} each", count(of.repetitions as usize, "run")),
    ];
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Evaluation of {script}</title>\n<style nonce=\"page\">\n{STYLE}</style>\n</head>\n<body>\n<header>\n\
         <h1>Evaluation</h1>\n<p class=\"facts\"><code>{script}</code> · {}{seed}</p>\n</header>\n<main>\n",
        facts.join(" · ")
    );
    variants(&mut out, of);
    if of.plan.tasks.len() > 1 {
        tasks(&mut out, of);
    }
    errors(&mut out, of);
    runs(&mut out, of);
    out.push_str(
        "<p class=\"facts\">Intervals of 95 %: Wilson's for rates, Student's t for means. A run that ended with an error is \
         not a success.</p>\n</main>\n</body>\n</html>\n",
    );
    out
}

fn variants(out: &mut String, of: &Evaluation) {
    out.push_str("<section>\n<h2>Variants</h2>\n<div class=\"scroll\"><table>\n<thead><tr>");
    for head in ["variant", "success", "", "heeded", "", "turns", "tokens", "cost (USD)", "errors"] {
        let _ = write!(out, "<th scope=\"col\">{head}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (place, variant) in of.plan.variants.iter().enumerate() {
        let sum = of.summary(place, None);
        let about = variant.description.as_deref().map(|about| format!("<small>{}</small>", escape(about)));
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td \
             class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number{}\">{}</td></tr>",
            escape(&variant.name),
            about.unwrap_or_default(),
            bar(sum.success, "success"),
            rate(sum.success),
            bar(sum.heeded, "heeded"),
            rate(sum.heeded),
            estimate(sum.turns),
            estimate(sum.tokens),
            estimate(sum.cost_usd),
            if sum.errors > 0 { " bad" } else { "" },
            sum.errors
        );
    }
    out.push_str("</tbody>\n</table></div>\n</section>\n");
}

/// Returns a rate as a bar with its interval.
fn bar(rate: Option<Rate>, class: &str) -> String {
    let Some(rate) = rate else { return String::new() };
    let at = |share: f64| share * BAR;
    format!(
        "<svg width=\"{BAR}\" height=\"18\" role=\"img\" aria-label=\"{}\"><rect class=\"track\" width=\"{BAR}\" height=\"18\" \
         rx=\"4\"/><rect class=\"{class}\" width=\"{:.1}\" height=\"18\" rx=\"4\"/><path class=\"interval\" d=\"M{:.1} 9H{:.1}M{:.1} \
         5v8M{:.1} 5v8\"/></svg>",
        percent(rate.share()),
        at(rate.share()),
        at(rate.low),
        at(rate.high),
        at(rate.low),
        at(rate.high),
    )
}

fn tasks(out: &mut String, of: &Evaluation) {
    out.push_str(
        "<section>\n<h2>Success by task</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">task</th>",
    );
    for variant in &of.plan.variants {
        let _ = write!(out, "<th scope=\"col\" colspan=\"2\">{}</th>", escape(&variant.name));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (task, row) in of.plan.tasks.iter().enumerate() {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(&row.name));
        for variant in 0..of.plan.variants.len() {
            let success = of.summary(variant, Some(task)).success;
            let _ = write!(out, "<td>{}</td><td>{}</td>", bar(success, "success"), rate(success));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n</section>\n");
}

fn errors(out: &mut String, of: &Evaluation) {
    if of.errors().next().is_none() {
        return;
    }
    out.push_str("<section>\n<h2 class=\"bad\">Runs that ended with an error</h2>\n<ul>\n");
    for (place, message) in of.errors() {
        let _ = writeln!(out, "<li>{}: <code>{}</code></li>", escape(&of.name_of(place)), escape(message));
    }
    out.push_str("</ul>\n</section>\n");
}

fn runs(out: &mut String, of: &Evaluation) {
    out.push_str("<section>\n<details><summary>All runs</summary>\n<div class=\"scroll\"><table>\n<thead><tr>");
    for head in
        ["variant", "task", "run", "outcome", "heeded", "ignored", "turns", "tokens in", "tokens out", "cost (USD)"]
    {
        let _ = write!(out, "<th scope=\"col\">{head}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (place, run) in &of.runs {
        let (outcome, class) = match &run.outcome {
            EvalOutcome::Succeeded => ("success", "good"),
            EvalOutcome::Failed => ("failure", ""),
            EvalOutcome::Errored(_) => ("error", "bad"),
        };
        let cost = run.cost_usd.map_or_else(|| "–".to_owned(), super::number);
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"{class}\">{outcome}</td>",
            escape(&of.plan.variants[place.variant].name),
            escape(&of.plan.tasks[place.task].name),
            place.nth + 1
        );
        let numbers = [run.heeded as u64, run.ignored as u64, run.turns.into(), run.input_tokens, run.output_tokens];
        for cell in numbers.iter().map(ToString::to_string).chain([cost]) {
            let _ = write!(out, "<td class=\"number\">{cell}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n</details>\n</section>\n");
}
