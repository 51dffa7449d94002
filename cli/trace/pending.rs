//! The reminders that were pending at a point of the log.

use super::Trace;
use super::names::{clean, count};
use super::paint::Paint;
use runtime::lifecycle::rebuild::{Biography, SessionLife};
use std::fmt::Write;

/// The pending reminders of the sessions that are wanted, whole.
pub(super) fn pending(trace: &Trace, cursor: u64, paint: Paint) -> String {
    let mut out = String::new();
    let sessions: Vec<&SessionLife> = trace.sessions().collect();
    let all: usize = sessions.iter().map(|session| session.pending().count()).sum();
    let last = trace.told.last_cursor;
    let _ = writeln!(out, "after cursor {cursor} of {last}: {} pending", count(all, "reminder"));
    for session in sessions.into_iter().filter(|session| session.pending().next().is_some()) {
        let _ = writeln!(out, "\n{}", paint.bold(&format!("session {}{}", clean(&session.id), run(trace, session))));
        session.pending().for_each(|life| reminder(&mut out, life, paint));
    }
    super::tasks::unfinished(&mut out, &trace.hub, paint, super::columns());
    super::peer_tasks::links(&mut out, trace.links.unfinished(), paint);
    for note in trace.notes() {
        let _ = writeln!(out, "{} at cursor {}: {}", paint.red("note"), note.cursor, clean(&note.message));
    }
    out
}

fn run(trace: &Trace, session: &SessionLife) -> String {
    trace.run_of(session).map(|run| format!(" · {run}")).unwrap_or_default()
}

fn reminder(out: &mut String, life: &Biography, paint: Paint) {
    let reminder = &life.reminder;
    let mut facts = vec![reminder.source.to_string()];
    facts.push(match (life.ttl_left, reminder.ttl_turns) {
        (Some(left), Some(ttl)) => format!("{left} of {ttl} turns left"),
        _ => "until it is cleared".to_owned(),
    });
    facts.push(format!("created in turn {}", life.birth.turn));
    facts.push(format!("wants {}", reminder.role_hint));
    facts.extend(reminder.producer.iter().map(|producer| format!("by {}", clean(producer))));
    facts.extend(reminder.dedupe_key.iter().map(|key| format!("key {}", clean(key))));
    if !reminder.tags.is_empty() {
        facts.push(format!("tags {}", reminder.tags.iter().map(|tag| clean(tag)).collect::<Vec<_>>().join(", ")));
    }
    let _ = writeln!(out, "  {}  {}", paint.bold(&clean(&reminder.id)), facts.join(" · "));
    for line in reminder.body.lines() {
        let _ = writeln!(out, "    {} {}", paint.dim("│"), clean(line));
    }
}
