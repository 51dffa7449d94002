//! Explicit findings in a payload: signals of verifiers, diagnostics, parse errors, undefined
//! names.

use base::data::Data;
use runtime::hooks::HookEvent;

use super::GroundedReviewConfig;
use super::finding::{Finding, Findings, kind_of};

/// Signals by which a verifier lets the work pass.
const ACCEPTED: &[&str] = &[
    "accept",
    "accepted",
    "pass",
    "passed",
    "ok",
    "success",
    "succeeded",
    "approve",
    "approved",
    "allow",
    "clean",
    "true",
];

/// Signals by which a verifier says that it has not looked: no evidence of anything.
const NO_VERDICT: &[&str] = &["", "none", "skip", "skipped", "abstain", "abstained", "pending", "unknown", "not_run"];

/// Adds what the payload, its `result` and the rows of its `tool_results` say.
pub(super) fn collect(event: &HookEvent<'_>, config: &GroundedReviewConfig, findings: &mut Findings) {
    let mut look = |get: &dyn Fn(&str) -> Data| {
        each(&get("verifier_signals"), |item| findings.extend(signal(item)));
        each(&get("parse_errors"), |item| findings.extend(named(Finding::PARSE_ERROR, item)));
        each(&get("undefined_names"), |item| findings.extend(undefined(item)));
        each(&get("diagnostics"), |item| findings.extend(diagnostic(item, config)));
    };
    // Events of the loop have none of these fields; a tool of the script may hand back a dict with them.
    if let HookEvent::PostToolUse { result, .. } = event {
        if result.value.as_dict().is_some() {
            look(&|key| result.value.get(key).clone());
        }
        return;
    }
    look(&|key| event.get(key));
    let result = event.get("result");
    look(&|key| result.get(key).clone());
    for row in event.get("tool_results").as_list().unwrap_or_default() {
        look(&|key| row.get(key).clone());
    }
}

/// Visits the items of a list; a single value counts as a list of one.
fn each(data: &Data, mut look: impl FnMut(&Data)) {
    match data {
        Data::List(items) => items.iter().for_each(look),
        Data::Dict(_) | Data::Str(_) => look(data),
        _ => {}
    }
}

fn signal(item: &Data) -> Option<Finding> {
    let verdict = match item.get("signal") {
        Data::Bool(accepted) => accepted.to_string(),
        Data::Str(word) => word.trim().to_lowercase().replace([' ', '-'], "_"),
        _ => return None,
    };
    if ACCEPTED.contains(&verdict.as_str()) || NO_VERDICT.contains(&verdict.as_str()) {
        return None;
    }
    let text = |key: &str| item.get(key).as_str().map(str::trim).filter(|text| !text.is_empty());
    let mut message = format!("{}: {}", text("name").unwrap_or("verifier"), text("signal").unwrap_or("rejected"));
    if let Some(reason) = text("reason") {
        message.push_str(": ");
        message.push_str(reason);
    }
    Some(Finding::new(text("kind").unwrap_or("verifier"), &message))
}

fn undefined(item: &Data) -> Option<Finding> {
    let name = item.as_str().or_else(|| item.get("name").as_str()).map(str::trim).filter(|name| !name.is_empty());
    match name {
        Some(name) => Some(Finding::new(Finding::UNDEFINED_NAME, &format!("{}undefined name `{name}`", place(item)))),
        None => named(Finding::UNDEFINED_NAME, item),
    }
}

/// Text, or a dict with a `message`.
fn named(kind: &str, item: &Data) -> Option<Finding> {
    let message = item.as_str().or_else(|| item.get("message").as_str()).or_else(|| item.get("error").as_str());
    let message = message.map(str::trim).filter(|message| !message.is_empty())?;
    Some(Finding::new(kind, &format!("{}{message}", place(item))))
}

fn diagnostic(item: &Data, config: &GroundedReviewConfig) -> Option<Finding> {
    let message = item.get("message").as_str().map(str::trim).filter(|message| !message.is_empty())?;
    let code = match item.get("code") {
        // The form of language servers: `{value, target}`.
        Data::Dict(_) => item.at("code.value").to_text(),
        code => code.to_text(),
    };
    let said = |severity: &str| {
        let code = if code.is_empty() { String::new() } else { format!("[{code}]") };
        format!("{}{severity}{code}: {message}", place(item))
    };
    let severity = ["severity", "level"].iter().map(|key| item.get(key).to_text()).find(|word| !word.is_empty());
    let severity = severity.map(|word| word.trim().to_lowercase()).unwrap_or_default();
    let kind = match kind_of(message, &code) {
        Finding::DIAGNOSTIC => kind_of(message, item.get("kind").as_str().unwrap_or_default()),
        kind => kind,
    };
    match severity.as_str() {
        // Language servers write numbers.
        "error" | "fatal" | "critical" | "1" => Some(Finding::new(kind, &said("error"))),
        // A name that nothing defines fails at the latest when it is run.
        _ if kind == Finding::UNDEFINED_NAME => Some(Finding::new(kind, &said(&severity))),
        "warning" | "warn" | "style" | "nit" | "lint" | "2" if config.include_warnings => {
            Some(Finding::new(Finding::WARNING, &said("warning")))
        }
        _ => None,
    }
}

/// `path:line:column: `, as far as it is known.
fn place(item: &Data) -> String {
    let path = ["path", "file", "filename", "uri"].iter().find_map(|key| item.get(key).as_str());
    let number = |keys: [&str; 3]| keys.iter().find_map(|key| item.at(key).as_int());
    let Some(path) = path else { return String::new() };
    let mut place = path.to_owned();
    if let Some(line) = number(["line", "row", "location.row"]) {
        place.push_str(&format!(":{line}"));
        if let Some(column) = number(["column", "col", "location.column"]) {
            place.push_str(&format!(":{column}"));
        }
    }
    place.push_str(": ");
    place
}
