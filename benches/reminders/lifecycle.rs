//! The rows: what is done to a transcript, and how often in one run.

use crate::pending::{EXPIRING, Scene, key, recorded, spec, tag};
use eventlog::{NewRecord, Record};
use runtime::capabilities::Capabilities;
use runtime::lifecycle::rebuild::rebuild;
use runtime::lifecycle::{
    CompactionCharge, LifecycleCommand, LifecycleRecord, Selector, apply, clear, fire, inject, post_turn, void,
};
use runtime::reminder::slots::Rendered;
use runtime::reminder::{Reminder, ReminderSource, ReminderSpec};
use runtime::render::{RenderOptions, render};
use runtime::transcript::Transcript;
use std::hint::black_box;

/// A row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    Inject,
    InjectKept,
    InjectKey,
    InjectKeyKept,
    ClearId,
    ClearKey,
    ClearTag,
    Render,
    Fire,
    Pass,
    Compact,
    Void,
    Rebuild,
}

impl Row {
    pub(crate) const ALL: &[Row] = &[
        Row::Inject,
        Row::InjectKept,
        Row::InjectKey,
        Row::InjectKeyKept,
        Row::ClearId,
        Row::ClearKey,
        Row::ClearTag,
        Row::Render,
        Row::Fire,
        Row::Pass,
        Row::Compact,
        Row::Void,
        Row::Rebuild,
    ];

    /// Returns the title in the table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Row::Inject => "inject, no key, in place",
            Row::InjectKept => "inject, no key, old one kept",
            Row::InjectKey => "inject with key, in place",
            Row::InjectKeyKept => "inject with key, old one kept",
            Row::ClearId => "clear by id",
            Row::ClearKey => "clear by key",
            Row::ClearTag => "clear by tag (ten go)",
            Row::Render => "render all",
            Row::Fire => "fire all",
            Row::Pass => "post-turn pass (ten go)",
            Row::Compact => "compact (half stay)",
            Row::Void => "void a prompt",
            Row::Rebuild => "rebuild from the log",
        }
    }

    /// Returns the number of operations in one run: at most as many as leave the transcript nearly
    /// unchanged.
    pub(crate) fn times(self, pending: usize) -> usize {
        match self {
            Row::Inject | Row::InjectKept => (pending / 5).clamp(1, 1_000),
            Row::InjectKey | Row::InjectKeyKept => 1_000,
            Row::ClearId | Row::ClearKey => (pending / 5).clamp(1, 500),
            Row::ClearTag | Row::Render | Row::Fire | Row::Pass | Row::Compact | Row::Void | Row::Rebuild => 1,
        }
    }

    /// Returns the number of runs in one measured run: short ones are repeated.
    pub(crate) fn repeats(self, pending: usize) -> usize {
        (2_000 / (self.times(pending) * pending).max(1)).max(1)
    }
}

/// The data of a run, prepared before it is timed.
pub(crate) struct PreparedRun {
    row: Row,
    scene: Scene,
    transcript: Transcript,
    specs: Vec<ReminderSpec>,
    selectors: Vec<Selector>,
    rendered: Rendered,
    log: Vec<Record>,
    /// Old versions, so that dropping them is not timed.
    kept: Vec<Transcript>,
}

impl PreparedRun {
    /// Makes a run of a row ready.
    pub(crate) fn new(row: Row, pending: usize) -> PreparedRun {
        let scene = Scene::new();
        let (mut transcript, records) = recorded(pending, &scene);
        let log = if row == Row::Rebuild { logged(&records, &scene) } else { Vec::new() };
        let times = row.times(pending);
        // Spread over the whole, in no order that a structure might like.
        let nth = |i: usize| i * 7_919 % pending;
        let specs = match row {
            Row::Inject | Row::InjectKept => (0..times).map(|n| ReminderSpec { dedupe_key: None, ..spec(n) }).collect(),
            Row::InjectKey | Row::InjectKeyKept => (0..times).map(|i| spec(nth(i))).collect(),
            _ => Vec::new(),
        };
        let selectors = match row {
            Row::ClearId => {
                let ids: Vec<_> = transcript.pending().map(|pending| pending.reminder.id.clone()).collect();
                (0..times).map(|i| Selector { id: ids.get(nth(i)).cloned(), ..Selector::default() }).collect()
            }
            Row::ClearKey => {
                (0..times).map(|i| Selector { dedupe_key: Some(key(nth(i))), ..Selector::default() }).collect()
            }
            Row::ClearTag => vec![Selector { tag: Some(tag(pending / 2)), ..Selector::default() }],
            _ => Vec::new(),
        };
        let rendered =
            if matches!(row, Row::Fire | Row::Pass | Row::Void) { shown(&transcript) } else { Rendered::default() };
        if matches!(row, Row::Pass | Row::Void) {
            fire(&mut transcript, &rendered, true, &scene.at(1));
        }
        PreparedRun { row, scene, transcript, specs, selectors, rendered, log, kept: Vec::with_capacity(times) }
    }

    /// The run itself, so many times as asked; at most as often as it was made ready for.
    pub(crate) fn run(&mut self, times: usize) {
        let t = &mut self.transcript;
        match self.row {
            Row::Inject | Row::InjectKey => {
                let at = self.scene.at(1);
                for spec in self.specs.drain(..times) {
                    black_box(inject(t, spec, ReminderSource::InPipeline, None, &at));
                }
            }
            Row::InjectKept | Row::InjectKeyKept => {
                let at = self.scene.at(1);
                for spec in self.specs.drain(..times) {
                    self.kept.push(t.clone());
                    black_box(inject(t, spec, ReminderSource::InPipeline, None, &at));
                }
            }
            Row::ClearId | Row::ClearKey | Row::ClearTag => {
                for selector in &self.selectors[..times] {
                    black_box(clear(t, selector));
                }
            }
            Row::Render => (0..times).for_each(|_| drop(black_box(shown(t)))),
            Row::Fire => (0..times).for_each(|_| drop(black_box(fire(t, &self.rendered, true, &self.scene.at(1))))),
            Row::Pass => {
                for _ in 0..times {
                    assert_eq!(black_box(post_turn(t)).expired, EXPIRING);
                }
            }
            Row::Void => (0..times).for_each(|_| drop(black_box(void(t)))),
            Row::Rebuild => {
                for _ in 0..times {
                    let rebuilt = black_box(rebuild(&self.log));
                    assert_eq!(rebuilt.sessions().map(|life| life.pending().count()).sum::<usize>(), t.pending_count());
                }
            }
            Row::Compact => {
                for _ in 0..times {
                    let (after, records) =
                        apply(std::mem::take(t), LifecycleCommand::Compact(CompactionCharge::All), &self.scene.at(1));
                    black_box(&records);
                    self.kept.push(after);
                }
            }
        }
    }
}

/// The records as a log holds them.
fn logged(records: &[LifecycleRecord], scene: &Scene) -> Vec<Record> {
    let at = scene.at(0);
    let entry = |(cursor, record): (u64, &LifecycleRecord)| {
        let NewRecord { topic, kind, payload, headers, occurred_at_ms } = record.to_log(&at);
        Record { topic, kind, payload, headers, occurred_at_ms, id: cursor, cursor }
    };
    (1..).zip(records).map(entry).collect()
}

fn shown(transcript: &Transcript) -> Rendered {
    let pending: Vec<&Reminder> = transcript.pending().map(|pending| pending.reminder.as_ref()).collect();
    render(pending, &Capabilities::default(), RenderOptions::default())
}
