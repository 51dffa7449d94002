//! The trace as one SVG picture for a document: the lanes of the page, with the beginning of each reminder beside them.
//!
//! It needs no script, no font and no network, and follows the reader's light or dark theme.

use super::Trace;
use super::lane::{RecordPositions, ending};
use super::names::{ShortNames, clean, first_line, fit};
use super::page::LANES;
use crate::markup::escape;
use runtime::lifecycle::rebuild::{Biography, SessionLife};
use std::fmt::Write;

const STYLE: &str = include_str!("picture.css");

/// The width of the column with the names and texts of reminders.
const LABELS: f64 = 336.0;
/// The most columns of a label.
const LABEL_COLUMNS: usize = 47;
/// The most that a turn is wide: documents are narrower than a screen.
const TURN: f64 = 84.0;
/// The most columns of the name within it.
const NAME_COLUMNS: usize = 32;
const MARGIN: f64 = 16.0;
/// The height of a line of text.
const LINE: f64 = 26.0;

/// The whole picture.
pub(super) fn picture(trace: &Trace) -> String {
    let mut body = String::new();
    let (mut y, mut width) = (MARGIN, LABELS);
    let shown = || trace.sessions().filter(|session| !session.reminders.is_empty());
    for session in shown() {
        let title = if shown().nth(1).is_some() { trace.names.short(&session.id) } else { "reminder".to_owned() };
        label(&mut body, y, "name", &title);
        let positions = RecordPositions::within(session, TURN);
        width = width.max(LABELS + positions.width());
        body.push_str(&chart(session, &positions, &trace.names, &mut y));
    }
    if body.is_empty() {
        label(&mut body, y, "name", "no reminders");
        y += LINE;
    }
    y += legend(&mut body, y) + MARGIN;
    let width = width + 2.0 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{y:.0}\" viewBox=\"0 0 {width:.0} {y:.0}\" \
         role=\"img\" aria-label=\"{}\">\n<style>\n{LANES}{STYLE}</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"10\" class=\"sheet\"/>\n{body}</svg>\n",
        escape(&in_words(trace)),
        width - 1.0,
        y - 1.0,
    )
}

/// The lanes of a session, below `y`.
fn chart(session: &SessionLife, positions: &RecordPositions, names: &ShortNames, y: &mut f64) -> String {
    let mut out = String::new();
    row(&mut out, *y, &positions.axis());
    *y += LINE;
    let top = *y;
    for life in &session.reminders {
        let name = name(life);
        let text = fit(first_line(&life.reminder.body), LABEL_COLUMNS - name.chars().count());
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{:.0}\"><tspan class=\"name\">{}</tspan> {}</text>",
            *y + 17.0,
            escape(&name),
            escape(&text)
        );
        row(&mut out, *y, &positions.lane(life, names));
        *y += LINE;
    }
    let mut lines = String::new();
    for turn in 0..=session.turns + 1 {
        let x = LABELS + MARGIN + f64::from(turn) * positions.column();
        let _ = write!(lines, "M{x:.0} {top:.0}V{:.0}", *y);
    }
    *y += LINE / 2.0;
    format!("<path d=\"{lines}\" class=\"rule\"/>\n{out}")
}

/// The name that a reader knows a reminder by: its key or its tags, otherwise its producer.
fn name(life: &Biography) -> String {
    let reminder = &life.reminder;
    let named = reminder.dedupe_key.as_deref().map(str::to_owned);
    let tagged = || (!reminder.tags.is_empty()).then(|| reminder.tags.join(", "));
    let name = named.or_else(tagged).or_else(|| reminder.producer.as_deref().map(str::to_owned));
    fit(&clean(name.as_deref().unwrap_or("reminder")), NAME_COLUMNS)
}

fn row(out: &mut String, y: f64, lane: &str) {
    let _ = writeln!(out, "<g transform=\"translate({:.0} {y:.0})\">{lane}</g>", LABELS + MARGIN);
}

fn label(out: &mut String, y: f64, class: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{MARGIN}\" y=\"{:.0}\" class=\"{class}\">{}</text>", y + 17.0, escape(text));
}

/// The line that explains colours and marks; returns its height.
fn legend(out: &mut String, y: f64) -> f64 {
    let (middle, mut x) = (y + 13.0, MARGIN);
    let mut entry = |sign: &dyn Fn(f64) -> String, text: &str| {
        let _ = writeln!(out, "{}<text x=\"{:.0}\" y=\"{:.0}\">{text}</text>", sign(x), x + 30.0, middle + 4.0);
        x += 48.0 + 6.4 * text.chars().count() as f64;
    };
    for (class, text) in
        [("pending", "pending"), ("ttl", "turns used up"), ("deduped", "replaced"), ("cleared", "cleared")]
    {
        let bar = |x: f64| {
            format!(
                "<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"22\" height=\"10\" rx=\"5\" class=\"{class}\"/>",
                middle - 5.0
            )
        };
        entry(&bar, text);
    }
    let mark = |x: f64| format!("<circle cx=\"{:.0}\" cy=\"{middle:.0}\" r=\"3.6\" class=\"sample\"/>", x + 18.0);
    entry(&mark, "in the system text of a request");
    LINE
}

/// The picture in words, for readers who cannot see it.
fn in_words(trace: &Trace) -> String {
    let lives = trace.sessions().flat_map(|session| &session.reminders);
    let words = lives.map(|life| format!("{}: {}", name(life), ending(life, &trace.names).1));
    format!("Life of each reminder. {}", words.collect::<Vec<_>>().join("; "))
}
