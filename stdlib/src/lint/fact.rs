//! Literal facts: kinds, confidences, namespaces and selectors. Unknown keys and wrong types are seen by the types of the
//! signatures already.

use base::data::Data;

use super::literal;
use crate::catalogue::from_core;
use lang::ast::{Expr, ExprKind};
use lang::check::CallView;
use lang::diagnostic::Diagnostic;
use lang::source::Span;
use providers::fact::{Draft, EvidenceKind, FactCode, FactError, FactKind, Options, Selector, confidence, kinds};

/// `store_fact(fact, options)`
pub(crate) fn store_fact(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(fact) = view.arg(0) {
        each(view, fact, found);
    }
    options(view, 1, false, found);
}

/// `recall_facts(query, kind, min_confidence, options)`
pub(crate) fn recall_facts(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    read(view, view.arg(1), found, |data| kinds(data, "").err());
    read(view, view.arg(2), found, |data| match data {
        Data::Int(_) | Data::Float(_) => confidence(data, "min_confidence").err(),
        _ => None,
    });
    options(view, 3, true, found);
}

/// `invalidate_facts(selector, options)`
pub(crate) fn invalidate_facts(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    read(view, view.arg(0), found, |data| Selector::from_data(data).err());
    options(view, 1, false, found);
}

/// The parts of a fact that are literals, each by itself: another may be known only at run time.
fn each<'a>(view: &CallView<'a>, fact: &'a Expr, found: &mut Vec<Diagnostic>) {
    if let Some(data) = literal::data(view, fact) {
        // As a whole it also has a size.
        match Draft::from_data(&data) {
            Err(error) if error.code != FactCode::Shape => found.push(report(view, fact, &error)),
            _ => {}
        }
        return;
    }
    let Some(dict) = view.dict(fact) else { return };
    read(view, dict.get("kind"), found, |data| FactKind::read(data, "").err());
    read(view, dict.get("confidence"), found, |data| confidence(data, "confidence").err());
    let Some(ExprKind::List(items)) = dict.get("evidence").map(|evidence| &view.follow(evidence).kind) else { return };
    for item in items.iter().filter(|item| !item.spread).filter_map(|item| view.dict(&item.value)) {
        read(view, item.get("kind"), found, |data| EvidenceKind::read(data, "").err());
    }
}

fn options(view: &CallView<'_>, arg: usize, recalls: bool, found: &mut Vec<Diagnostic>) {
    read(view, view.arg(arg), found, |data| Options::read(data, recalls).err());
}

/// Reads a literal; wrong types are the checker's to report.
fn read<'a>(
    view: &CallView<'a>,
    e: Option<&'a Expr>,
    found: &mut Vec<Diagnostic>,
    error_of: impl FnOnce(&Data) -> Option<FactError>,
) {
    let Some(e) = e else { return };
    let error = literal::data(view, e).and_then(|data| error_of(&data));
    if let Some(error) = error.filter(|error| error.code != FactCode::Shape) {
        found.push(report(view, e, &error));
    }
}

/// The error at the part of the literal that its field path leads to.
fn report<'a>(view: &CallView<'a>, whole: &'a Expr, error: &FactError) -> Diagnostic {
    let span = part(view, whole, &error.field);
    let d = Diagnostic::new(from_core(error.code), error.message.clone()).label(view.source(), span, "here");
    let d = match &error.suggestion {
        Some(word) => d.fix(span, format!("\"{word}\"")),
        None => d,
    };
    let d = match (error.code, view.source().slice(span).parse::<f64>()) {
        (FactCode::Confidence, Ok(percent)) if (2.0..=100.0).contains(&percent) => {
            d.unsafe_fix(span, format!("{}", percent / 100.0))
        }
        _ => d,
    };
    match &error.help {
        Some(help) => d.help(help.clone()),
        None => d,
    }
}

fn part<'a>(view: &CallView<'a>, whole: &'a Expr, path: &str) -> Span {
    let mut e = whole;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let inner = match &view.follow(e).kind {
            ExprKind::List(items) => step.parse().ok().and_then(|i: usize| items.get(i)).map(|item| &item.value),
            _ => view.dict(e).and_then(|dict| dict.get(step)),
        };
        match inner {
            Some(inner) => e = inner,
            None => break,
        }
    }
    e.span
}
