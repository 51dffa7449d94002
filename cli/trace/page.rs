//! The trace as one HTML page that needs nothing else: no script, no font, no network. Whatever a log holds is text there.

use super::Trace;
use super::lane::{RecordPositions, Run, ending, runs};
use super::names::{ShortNames, clean, count, first_line};
use super::text::{conservation, costs_in_words, is_forgettable, nothing, seen, verdict};
use crate::markup::escape;
use runtime::lifecycle::rebuild::{Biography, SessionLife};
use runtime::reminder::{ReminderCode, ReminderField, Surface};
use std::fmt::Write;

/// Colours, and the signs of the lanes.
pub(super) const LANES: &str = include_str!("lanes.css");
const STYLE: &str = include_str!("page.css");

/// The content security policy: the page loads and runs nothing.
const POLICY: &str = "default-src 'none'; style-src 'nonce-page'; base-uri 'none'; form-action 'none'";

/// The whole page.
pub(super) fn page(trace: &Trace, log: &str) -> String {
    let lives: usize = trace.sessions().map(|session| session.reminders.len()).sum();
    let sessions = count(trace.sessions().count(), "session");
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Reminders in {}</title>\n<style nonce=\"page\">\n{LANES}{STYLE}{}</style>\n</head>\n<body>\n<header>\n<h1>Reminders</h1>\n\
         <p class=\"facts\"><code>{}</code> · {} · {sessions} · up to cursor {}</p>\n",
        escape(log),
        columns(trace),
        escape(log),
        count(lives, "reminder"),
        trace.rebuilt.last_cursor
    );
    out.push_str(LEGEND);
    out.push_str("</header>\n<main>\n");
    contents(&mut out, trace);
    for (place, session) in trace.sessions().enumerate() {
        section(&mut out, trace, place, session);
    }
    super::tasks::table(&mut out, &trace.hub);
    super::peer_tasks::table(&mut out, trace.links.all());
    if lives == 0 && trace.hub.is_empty() && trace.links.all().is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escape(nothing(trace).trim_end()));
    }
    notes(&mut out, trace);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Returns the widths of the sessions' turns. They are not attributes: the policy allows the one
/// style sheet only.
fn columns(trace: &Trace) -> String {
    let rule = |(place, session): (usize, &SessionLife)| {
        format!(
            "#s{place} {{ --column: {:.0}px; --columns: {}; }}\n",
            RecordPositions::of(session).column(),
            session.turns + 1
        )
    };
    trace.sessions().enumerate().map(rule).collect()
}

const LEGEND: &str = r#"<ul class="legend" aria-label="Legend">
<li><i class="pending"></i>pending</li>
<li><i class="ttl"></i>turns used up</li>
<li><i class="deduped"></i>replaced</li>
<li><i class="cleared"></i>cleared</li>
<li><i class="compaction"></i>discarded by compaction</li>
<li><i class="dropped"></i>dropped</li>
<li><i class="discarded"></i>discarded with its session</li>
<li><svg width="14" height="14" aria-hidden="true"><path d="M7 1l6 6-6 6-6-6z" class="audited"/></svg>audit only</li>
<li class="apart">shown in a request as
<svg width="14" height="14" aria-hidden="true"><circle cx="7" cy="7" r="3.6" class="mark"/></svg>system text
<svg width="14" height="14" aria-hidden="true"><rect x="3.8" y="3.8" width="6.4" height="6.4" class="mark"/></svg>developer message
<svg width="14" height="14" aria-hidden="true"><path d="M7 2.4l4.6 4.6-4.6 4.6-4.6-4.6z" class="mark"/></svg>user block
<svg width="14" height="14" aria-hidden="true"><path d="M7 2.8l4.2 7.4h-8.4z" class="mark"/></svg>cached block</li>
<li><svg width="14" height="14" aria-hidden="true"><circle cx="7" cy="7" r="3.6" class="mark void"/></svg>not seen by any model</li>
</ul>
"#;

fn contents(out: &mut String, trace: &Trace) {
    if trace.sessions().count() < 2 {
        return;
    }
    out.push_str("<nav aria-label=\"Sessions\"><ol>\n");
    for (place, session) in trace.sessions().enumerate() {
        let tally = session.tally();
        let _ = writeln!(
            out,
            "<li><a href=\"#s{place}\">{}</a> {}{} · {}, {} pending</li>",
            escape(&trace.names.short(&session.id)),
            trace.run_of(session).map(|run| format!("{run} · ")).unwrap_or_default(),
            count(session.turns as usize, "turn"),
            count(session.reminders.len(), "reminder"),
            tally.pending
        );
    }
    out.push_str("</ol></nav>\n");
}

fn section(out: &mut String, trace: &Trace, number: usize, session: &SessionLife) {
    let names = &trace.names;
    // A parent is of the same run.
    let place = |id: &str| trace.sessions().position(|other| other.id.as_ref() == id && other.run_id == session.run_id);
    let _ = writeln!(out, "<section id=\"s{number}\">\n<h2>{}</h2>", escape(&names.short(&session.id)));
    let is_cut = names.short(&session.id) != clean(&session.id);
    let mut facts: Vec<String> = is_cut.then(|| format!("<code>{}</code>", escape(&session.id))).into_iter().collect();
    facts.extend(trace.run_of(session));
    if let Some(parent) = &session.parent_id {
        let name = escape(&names.short(parent));
        facts.push(match place(parent) {
            Some(place) => format!("child of <a href=\"#s{place}\">{name}</a>"),
            None => format!("child of {name}"),
        });
    }
    facts.push(count(session.turns as usize, "turn"));
    facts.push(count(session.prompts.len(), "request"));
    let _ = writeln!(out, "<p class=\"facts\">{}</p>", facts.join(" · "));
    let tally = session.tally();
    let class = if tally.holds() { "law" } else { "law broken" };
    let _ = writeln!(out, "<p class=\"{class}\">{}</p>", escape(&conservation(&tally)));
    if let Some(left) = trace.left_of(session) {
        let _ = writeln!(out, "<p class=\"facts\">{}</p>", escape(&left));
    }
    if session.branched {
        out.push_str(
            "<p class=\"law broken\">Two histories for one id: a script continued from an older version.</p>\n",
        );
    }
    if session.reminders.is_empty() {
        out.push_str("</section>\n");
        return;
    }
    let costs = session.costs();
    for said in costs_in_words(&costs).into_iter().chain(costs.advice()) {
        let _ = writeln!(out, "<p class=\"facts\">{}</p>", escape(&said));
    }
    chart(out, session, names);
    table(out, session, names);
    out.push_str("</section>\n");
}

fn chart(out: &mut String, session: &SessionLife, names: &ShortNames) {
    let places = RecordPositions::of(session);
    let _ = writeln!(
        out,
        "<div class=\"chart\" tabindex=\"0\" role=\"group\" aria-label=\"Lanes of {}\">\n\
         <div class=\"top\"><div class=\"row\"><span class=\"label\">turn</span>{}</div>",
        escape(&names.short(&session.id)),
        places.axis()
    );
    if session.prompts.len() > 1 {
        let _ = writeln!(
            out,
            "<div class=\"row\"><span class=\"label\">prefix shared with the previous request</span>{}</div>",
            places.prefixes(session)
        );
    }
    out.push_str("</div>\n");
    for life in &session.reminders {
        let _ = writeln!(
            out,
            "<details class=\"lane\"><summary class=\"row\"><span class=\"label\"><code>{}</code> {}</span>{}</summary>\n\
             <div class=\"whole-life\">{}</div></details>",
            escape(&names.short(&life.reminder.id)),
            escape(first_line(&life.reminder.body)),
            places.lane(life, names),
            biography(life, names)
        );
    }
    out.push_str("</div>\n");
}

/// Returns the details of a reminder.
fn biography(life: &Biography, names: &ShortNames) -> String {
    let mut out = format!("<pre>{}</pre>\n<dl>", escape(&life.reminder.body));
    for (name, value) in facts(life, names) {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
    }
    out + "</dl>"
}

fn facts(life: &Biography, names: &ShortNames) -> Vec<(&'static str, String)> {
    let reminder = &life.reminder;
    let present = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(clean);
    let ttl = match (reminder.ttl_turns, life.ttl_left) {
        (Some(ttl), Some(left)) => format!("{ttl}, {left} left"),
        _ => "none".to_owned(),
    };
    let end = life.end.as_ref().map(|end| format!("turn {}: {}", end.turn, ending_in_words(life, names)));
    let rare =
        is_forgettable(life).then(|| format!("{}: lasts until a compaction discards it", ReminderCode::Unbounded));
    let all = [
        ("id", Some(clean(&reminder.id))),
        ("created", Some(format!("turn {}, {}", life.birth.turn, life.birth.by))),
        ("source", Some(reminder.source.to_string())),
        ("producer", present(&reminder.producer)),
        ("tool call", present(&life.birth.task_id)),
        ("key", present(&reminder.dedupe_key)),
        ("tags", Some(reminder.tags.iter().map(|tag| clean(tag)).collect::<Vec<_>>().join(", "))),
        ("ttl_turns", Some(ttl)),
        ("preserved at compaction", Some(if reminder.preserve_on_compact { "yes" } else { "no" }.to_owned())),
        ("propagates to", Some(reminder.propagate.to_string())),
        ("role hint", Some(reminder.role_hint.to_string())),
        ("originating agent", present(&reminder.originating_agent_id)),
        ("rules", Some(rules(life))),
        ("carried", Some(carried(life))),
        ("waited", Some(waited(life))),
        ("judged", Some(judged(life))),
        ("ended", end),
        ("note", rare),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?))).collect()
}

fn ending_in_words(life: &Biography, names: &ShortNames) -> String {
    use runtime::lifecycle::rebuild::LifeEndReason;
    match life.end.as_ref().map(|end| &end.how) {
        Some(LifeEndReason::Deduped { by }) => format!("replaced by {}", names.short(by)),
        Some(LifeEndReason::Expired(reason)) => format!("expired ({reason}), {}", seen(life)),
        Some(LifeEndReason::Dropped(reason, detail)) => {
            format!("dropped ({reason}){}", detail.as_deref().map(|d| format!(": {}", clean(d))).unwrap_or_default())
        }
        Some(LifeEndReason::Discarded(reason)) => format!("discarded ({reason})"),
        None => ending(life, names).1,
    }
}

/// The rules of a reminder as `name: value`.
fn rules(life: &Biography) -> String {
    let reminder = &life.reminder;
    let set = ReminderField::RULES.iter().map(|field| (field, reminder.value(*field))).filter(|(_, v)| !v.is_nil());
    let words = set.map(|(field, value)| format!("{}: {}", field.name(Surface::Script), clean(&value.to_text())));
    words.collect::<Vec<_>>().join(", ")
}

/// The times in which no prompt showed it.
fn waited(life: &Biography) -> String {
    let words = life.waits.iter().map(|wait| format!("from turn {}: {}", wait.turn, wait.reason));
    words.collect::<Vec<_>>().join("; ")
}

/// The turns that were judged by its expectation.
fn judged(life: &Biography) -> String {
    let words = life.judged.iter().map(|judged| format!("turn {}: {}", judged.turn, verdict(judged)));
    words.collect::<Vec<_>>().join("; ")
}

fn carried(life: &Biography) -> String {
    runs(life).iter().map(Run::words).collect::<Vec<_>>().join("; ")
}

/// The picture in words, for those who cannot see it and for copying.
fn table(out: &mut String, session: &SessionLife, names: &ShortNames) {
    out.push_str(
        "<details class=\"words\"><summary>Show as a table</summary>\n<div class=\"scroll\"><table>\n<thead><tr>",
    );
    for head in ["id", "born", "source", "key", "tags", "ttl", "carried in", "ended", "body"] {
        let _ = write!(out, "<th scope=\"col\">{head}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for life in &session.reminders {
        let reminder = &life.reminder;
        let producer = reminder.producer.as_deref().map(|name| format!(" {}", clean(name))).unwrap_or_default();
        let end = life.end.as_ref().map_or_else(String::new, |end| format!("turn {}: ", end.turn));
        let cells = [
            format!("turn {}, {}", life.birth.turn, life.birth.by),
            format!("{}{producer}", reminder.source),
            reminder.dedupe_key.as_deref().map(clean).unwrap_or_default(),
            reminder.tags.iter().map(|tag| clean(tag)).collect::<Vec<_>>().join(", "),
            reminder.ttl_turns.map(|ttl| ttl.to_string()).unwrap_or_default(),
            carried(life),
            format!("{end}{}", ending_in_words(life, names)),
            reminder.body.to_string(),
        ];
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        let _ =
            writeln!(out, "<tr><th scope=\"row\"><code>{}</code></th>{cells}</tr>", escape(&names.short(&reminder.id)));
    }
    out.push_str("</tbody>\n</table></div>\n</details>\n");
}

fn notes(out: &mut String, trace: &Trace) {
    if trace.notes().next().is_none() {
        return;
    }
    out.push_str("<section>\n<h2>Inconsistencies</h2>\n<ul>\n");
    for note in trace.notes() {
        let _ = writeln!(out, "<li>cursor {}: {}</li>", note.cursor, escape(&note.message));
    }
    out.push_str("</ul>\n</section>\n");
}
