//! The positions in the rendered picture of a session: turns from left to right, and one lane for
//! each reminder.

use super::names::ShortNames;
use super::text::bytes;
use crate::markup::escape;
use runtime::lifecycle::rebuild::{Biography, BirthKind, Carrier, LifeEndReason, RebuiltPrompt, SessionLife};
use runtime::reminder::slots::RenderedRole;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The height of a lane.
const HEIGHT: f64 = 26.0;
/// Room behind the last turn for the word that says how a life ended.
const ROOM: f64 = 150.0;
/// The height of the row that shows shared prefixes.
const PREFIX: f64 = 34.0;

/// Positions of a session's records: each turn is a column, and within a column records follow the
/// order of the log.
pub(super) struct RecordPositions {
    column: f64,
    turns: u32,
    of: BTreeMap<u64, f64>,
    prompts: BTreeMap<u64, f64>,
}

impl RecordPositions {
    pub(super) fn of(session: &SessionLife) -> RecordPositions {
        Self::within(session, f64::INFINITY)
    }

    /// Returns positions with turns that are at most so wide.
    pub(super) fn within(session: &SessionLife, widest: f64) -> RecordPositions {
        let column = match session.turns {
            0..=5 => 140.0,
            6..=7 => 104.0,
            8..=14 => 72.0,
            15..=40 => 40.0,
            _ => 26.0,
        };
        let column = f64::min(column, widest);
        let mut turns: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut put = |turn: u32, cursor: u64| turns.entry(turn).or_default().push(cursor);
        for life in &session.reminders {
            put(life.birth.turn, life.birth.cursor);
            life.end.iter().for_each(|end| put(end.turn, end.cursor));
        }
        session.prompts.iter().for_each(|prompt| put(prompt.turn, prompt.cursor));
        let mut of = BTreeMap::new();
        for (turn, mut cursors) in turns {
            cursors.sort_unstable();
            let step = column / (cursors.len() + 1) as f64;
            let x = |place: usize| f64::from(turn) * column + step * (place + 1) as f64;
            of.extend(cursors.into_iter().enumerate().map(|(place, cursor)| (cursor, x(place))));
        }
        let prompts = session.prompts.iter().filter_map(|p| Some((p.cursor, *of.get(&p.cursor)?))).collect();
        RecordPositions { column, turns: session.turns, of, prompts }
    }

    /// The width of a turn.
    pub(super) fn column(&self) -> f64 {
        self.column
    }

    fn end(&self) -> f64 {
        f64::from(self.turns + 1) * self.column
    }

    pub(super) fn width(&self) -> f64 {
        self.end() + ROOM
    }

    fn at(&self, cursor: u64) -> f64 {
        self.of.get(&cursor).copied().unwrap_or(0.0)
    }

    /// Returns the position of the request that carried a reminder: its record comes after those of
    /// its reminders.
    fn of_carried(&self, carried: &Carrier) -> f64 {
        let prompt = self.prompts.range(carried.cursor..).next().map(|(_, x)| *x);
        prompt.unwrap_or((f64::from(carried.turn) + 0.5) * self.column)
    }

    /// The row of turn numbers.
    pub(super) fn axis(&self) -> String {
        let mut out = open(self.width(), 22.0, "Turns");
        // Numbers need room.
        let every = (34.0 / self.column).ceil().max(1.0) as u32;
        for turn in (0..=self.turns).filter(|turn| *turn == 0 || turn % every == 0) {
            let x = (f64::from(turn) + 0.5) * self.column;
            let label = if turn == 0 && self.column > 50.0 { "before".to_owned() } else { turn.to_string() };
            let _ = write!(out, r#"<text x="{x:.1}" y="15" class="turn">{label}</text>"#);
        }
        out + "</svg>"
    }

    /// The row that shows how much of each request the one before holds already.
    pub(super) fn prefixes(&self, session: &SessionLife) -> String {
        let mut out = open(
            self.width(),
            PREFIX,
            "Share of each request that is identical to the start of the \
            request before it",
        );
        let mut before: Option<&RebuiltPrompt> = None;
        for prompt in &session.prompts {
            let x = self.at(prompt.cursor);
            let total = prompt.total_bytes.unwrap_or(0);
            let share = match (prompt.shared_prefix_bytes, before.and_then(|before| before.total_bytes)) {
                (Some(shared), Some(all)) if all > 0 => shared as f64 / all as f64,
                _ => 0.0,
            };
            let height = (PREFIX - 10.0) * share.min(1.0);
            let y = PREFIX - 5.0 - height;
            let told = bytes(total, prompt.shared_prefix_bytes, before.and_then(|before| before.total_bytes));
            let route = [&prompt.provider, &prompt.model].into_iter().flatten().map(|w| escape(w)).collect::<Vec<_>>();
            let _ = write!(
                out,
                r#"<g><title>turn {}: {} · {told}</title><rect x="{:.1}" y="5" width="8" height="{:.1}" class="whole"/><rect x="{:.1}" y="{y:.1}" width="8" height="{height:.1}" class="shared"/></g>"#,
                prompt.turn,
                route.join("/"),
                x - 4.0,
                PREFIX - 10.0,
                x - 4.0,
            );
            before = Some(prompt);
        }
        out + "</svg>"
    }

    /// The marks of requests that carried a reminder.
    fn marks(&self, run: &Run<'_>) -> String {
        let forms: String = run.all.iter().map(|carried| form(carried.slot, self.of_carried(carried))).collect();
        let class = if run.all.iter().any(|carried| carried.void) { "mark void" } else { "mark" };
        format!("<path d=\"{forms}\" class=\"{class}\"><title>{}</title></path>", run.words())
    }

    /// The lane of a reminder.
    pub(super) fn lane(&self, life: &Biography, names: &ShortNames) -> String {
        let (class, word) = ending(life, names);
        let from = self.at(life.birth.cursor);
        let to = life.end.as_ref().map_or(self.end() - 3.0, |end| self.at(end.cursor)).max(from + 5.0);
        let mut out = open(self.width(), HEIGHT, &format!("{}, {word}", life_in_words(life)));
        if life.birth.by == BirthKind::Audited {
            let _ = write!(out, r#"<path d="M{from:.1} 7l6 6-6 6-6-6z" class="audited"/>"#);
            let _ = write!(out, r#"<text x="{:.1}" y="17" class="word">{}</text></svg>"#, from + 11.0, escape(&word));
            return out;
        }
        let _ =
            write!(out, r#"<rect x="{from:.1}" y="8" width="{:.1}" height="10" rx="5" class="{class}"/>"#, to - from);
        for run in runs(life) {
            out.push_str(&self.marks(&run));
        }
        let _ = write!(out, r#"<text x="{:.1}" y="17" class="word">{}</text></svg>"#, to + 7.0, escape(&word));
        out
    }
}

fn open(width: f64, height: f64, label: &str) -> String {
    format!(
        r#"<svg width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="{}">"#,
        escape(label)
    )
}

/// Requests in a row that showed a reminder in the same way.
pub(super) struct Run<'a> {
    all: Vec<&'a Carrier>,
}

/// Requests that carried a reminder, those alike together: hundreds of turns are one run.
pub(super) fn runs(life: &Biography) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for carried in &life.carried {
        let alike = |last: &&Carrier| {
            (last.slot, last.void, last.charges) == (carried.slot, carried.void, carried.charges)
                && carried.turn.saturating_sub(last.turn) <= 1
        };
        match runs.last_mut() {
            Some(run) if run.all.last().is_some_and(alike) => run.all.push(carried),
            _ => runs.push(Run { all: vec![carried] }),
        }
    }
    runs
}

impl Run<'_> {
    /// The run in words: `turns 2–7 system`.
    pub(super) fn words(&self) -> String {
        let (Some(first), Some(last)) = (self.all.first(), self.all.last()) else { return String::new() };
        let turns = if first.turn == last.turn {
            format!("turn {}", first.turn)
        } else {
            format!("turns {}–{}", first.turn, last.turn)
        };
        let bare = if first.charges { "" } else { ", a call outside of a loop" };
        let void = if first.void { ", not seen by any model" } else { "" };
        format!("{turns} {}{bare}{void}", first.slot)
    }
}

/// The form of a mark tells the slot.
fn form(slot: RenderedRole, x: f64) -> String {
    match slot {
        RenderedRole::System => format!("M{:.1} 13a3.4 3.4 0 1 1 6.8 0a3.4 3.4 0 1 1-6.8 0z", x - 3.4),
        RenderedRole::Developer => format!("M{:.1} 9.8h6.4v6.4h-6.4z", x - 3.2),
        RenderedRole::UserBlock => format!("M{x:.1} 8.6l4.4 4.4-4.4 4.4-4.4-4.4z"),
        RenderedRole::Native => format!("M{:.1} 9.4h7.2v7.2h-7.2zm1.8 1.8v3.6h3.6v-3.6z", x - 3.6),
        RenderedRole::EphemeralCache => format!("M{x:.1} 8.8l4.2 7.4h-8.4z"),
    }
}

/// Returns the class and the words for the end of a life.
pub(super) fn ending(life: &Biography, names: &ShortNames) -> (&'static str, String) {
    match life.end.as_ref().map(|end| &end.how) {
        None if life.birth.by == BirthKind::Audited => ("audited", "audit only".to_owned()),
        None => {
            let left = life.ttl_left.map(|left| format!(", {left} left")).unwrap_or_default();
            ("pending", format!("pending{left}"))
        }
        Some(LifeEndReason::Deduped { by }) => ("deduped", format!("→ {}", names.short(by))),
        Some(how) => (how.word(), how.word().to_owned()),
    }
}

fn life_in_words(life: &Biography) -> String {
    let seen = runs(life).iter().map(Run::words).collect::<Vec<_>>().join("; ");
    let seen = if seen.is_empty() { "not shown to any model".to_owned() } else { format!("shown in {seen}") };
    format!("created in turn {}, {seen}", life.birth.turn)
}
