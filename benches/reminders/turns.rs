//! A turn of a loop with 20 pending reminders, all shown, and the same with a budget that has room for 15 of them, with
//! two conditions, with both, and with two reminders from files in addition, in instructions.

use crate::instructions;
use crate::options::Options;
use base::call::{Answer, LocalFuture, Outcome};
use base::clock::Clock;
use base::data::Data;
use base::ids::IdStream;
use eventlog::MemoryLog;
use runtime::agent_loop::{LoopOptions, LoopParts, agent_loop};
use runtime::conditions::{ConditionFacts, Conditions};
use runtime::events::{EventKind, EventSet};
use runtime::hooks::{HookEvent, Hooks};
use runtime::message::{ToolCall, ToolSpec};
use runtime::model::{Delta, ModelReply, Request};
use runtime::reminder::condition::condition_name;
use runtime::reminder::{ReminderRules, ReminderSource, ReminderSpec};
use runtime::reminder_providers::{ReminderFiles, ReminderProvider, file_provider_id};
use runtime::scope::Scope;
use runtime::seam::{Model, Output, Tool, Turn};
use runtime::session::Session;
use std::cell::Cell;
use std::pin::pin;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

/// Pending reminders, and how many of them the budget has room for.
const PENDING: usize = 20;
const FIT: u64 = 15;
/// Turns of the short and of the long run; their difference is measured.
const TURNS: (usize, usize) = (50, 250);
/// Instructions of a turn of the first row before reminders had rules, budgets, files, costs and policies.
const BEFORE: f64 = 66_215.0;
/// The maximum cost of a turn of the last row, as a multiple of [`BEFORE`].
const MOST: f64 = 1.3;

pub(crate) const CHILD: &str = "--turns";

/// The rules of the reminders of a turn.
#[derive(Clone, Copy)]
struct TurnRow {
    title: &'static str,
    budget: bool,
    /// Number of reminders with a condition.
    conditions: usize,
    /// Number of files, each with a reminder that every turn makes again.
    files: usize,
}

/// The rows: without rules first, with everything last.
const ROWS: &[TurnRow] = &[
    TurnRow { title: "all shown", budget: false, conditions: 0, files: 0 },
    TurnRow { title: "budget", budget: true, conditions: 0, files: 0 },
    TurnRow { title: "two conditions", budget: false, conditions: 2, files: 0 },
    TurnRow { title: "budget and two conditions", budget: true, conditions: 2, files: 0 },
    TurnRow { title: "budget, two conditions, two files", budget: true, conditions: 2, files: 2 },
];

/// Runs as the child of [`run`], where the arguments say so: `--turns ROW TURNS`.
pub(crate) fn child(args: &[String]) -> Option<ExitCode> {
    let [flag, row, turns] = args else { return None };
    if flag != CHILD {
        return None;
    }
    let row = row.parse().ok().and_then(|row: usize| ROWS.get(row));
    let (Some(row), Ok(turns)) = (row, turns.parse()) else { return Some(ExitCode::from(2)) };
    one_loop(row, turns);
    Some(ExitCode::SUCCESS)
}

/// Counts the instructions of a turn: whether the bar is held.
pub(crate) fn run(_: &Options) -> bool {
    println!("\nInstructions of a turn with {PENDING} pending reminders\n");
    if !instructions::are_counted() {
        return true;
    }
    let mut counts = Vec::with_capacity(ROWS.len());
    for (row, TurnRow { title, .. }) in ROWS.iter().enumerate() {
        let of = |turns: usize| instructions::of_this(&[CHILD, &row.to_string(), &turns.to_string()]);
        let (Some(short), Some(long)) = (of(TURNS.0), of(TURNS.1)) else {
            println!("MISSED  {title}: the loop did not end");
            return false;
        };
        counts.push(long.saturating_sub(short) as f64 / (TURNS.1 - TURNS.0) as f64);
        println!("{title:<34} {:>9.0} {:>6.2} x", counts[row], counts[row] / BEFORE);
    }
    let times = counts[ROWS.len() - 1] / BEFORE;
    let held = times <= MOST;
    println!(
        "\n{}  {}: {times:.2} x a turn before there were rules, at most {MOST} x",
        if held { "held  " } else { "MISSED" },
        ROWS[ROWS.len() - 1].title
    );
    held
}

fn one_loop(row: &TurnRow, turns: usize) {
    let scope = Scope::new(Rc::new(StillClock), Rc::new(MemoryLog::new()));
    let session = Session::new("bench", IdStream::new(7, "bench"), 0);
    let mut tokens = 0;
    for n in row.files..PENDING {
        let rules = ReminderRules {
            when: (n >= PENDING - row.conditions).then(|| condition_name(&n.to_string()).into()),
            ..ReminderRules::default()
        };
        let body = format!("Reminder {n:02}: the file src/part_{n:02}.rs changed; read it again before editing it.");
        tokens = runtime::reminder::slots::estimated_tokens(&body);
        let spec = ReminderSpec {
            dedupe_key: Some(format!("key:{n}").into()),
            rules: rules.shared(),
            ..ReminderSpec::new(body)
        };
        session.inject_reminder(&scope, spec, ReminderSource::InPipeline, None);
    }
    let parts = LoopParts {
        model: Rc::new(AskingModel(Cell::new(turns))),
        source: None,
        tools: vec![Rc::new(NoTool(ToolSpec::new("step", "Does one step.", Data::empty_dict())))],
        hooks: Rc::new(Hooks::new()),
        providers: Rc::default(),
        conditions: Rc::new(TwoConditions),
        judge: None,
        files: (row.files > 0).then(|| Rc::new(SteadyFiles::new(row.files)) as Rc<dyn ReminderFiles>),
        slots: Rc::default(),
        post_turn: None,
        live: Rc::new(|_| {}),
    };
    let mut options = LoopOptions::new("Do the steps.");
    options.limits.max_iterations = u32::try_from(turns + 1).unwrap_or(u32::MAX);
    options.limits.max_repeats = 0;
    options.reminders.budget.max_tokens = row.budget.then_some(FIT * tokens);
    let mut looping = pin!(agent_loop(&session, &scope, &parts, options));
    let mut cx = Context::from_waker(Waker::noop());
    while looping.as_mut().poll(&mut cx).is_pending() {}
}

/// Asks for the tool so many times, then is done.
struct AskingModel(Cell<usize>);

impl Model for AskingModel {
    fn call<'a>(&'a self, _: Turn<'a>, _: &'a Request, _: &'a dyn Fn(Delta<'_>)) -> Answer<'a, Outcome<ModelReply>> {
        let Some(left) = self.0.get().checked_sub(1) else {
            return Answer::Now(Ok(ModelReply { text: "done".into(), ..ModelReply::default() }));
        };
        self.0.set(left);
        let call = ToolCall::new(format!("call_{left}"), "step", Data::empty_dict());
        Answer::Now(Ok(ModelReply { tool_calls: vec![call], ..ModelReply::default() }))
    }
}

/// One that holds, and one that does not.
struct TwoConditions;

impl Conditions for TwoConditions {
    fn evaluate<'a>(&'a self, name: &'a str, _: Turn<'a>, _: ConditionFacts<'a>) -> Option<Answer<'a, Outcome<bool>>> {
        Some(Answer::Now(Ok(name.ends_with('8'))))
    }
}

/// Files that do not change.
struct SteadyFiles(Rc<[Rc<dyn ReminderProvider>]>);

impl SteadyFiles {
    fn new(count: usize) -> SteadyFiles {
        let file = |n| Rc::new(SteadyFile(file_provider_id(&format!("note_{n}")))) as Rc<dyn ReminderProvider>;
        SteadyFiles((0..count).map(file).collect())
    }
}

impl ReminderFiles for SteadyFiles {
    fn refresh<'a>(&'a self, _: Turn<'a>, _: bool) -> Answer<'a, Outcome<()>> {
        Answer::Now(Ok(()))
    }

    fn started(&self, _: Data) {}

    fn subscribes_to(&self) -> EventSet {
        [EventKind::PostTurn].into_iter().collect()
    }

    fn providers(&self) -> Rc<[Rc<dyn ReminderProvider>]> {
        self.0.clone()
    }
}

/// A file whose reminder stays the same.
struct SteadyFile(Arc<str>);

impl ReminderProvider for SteadyFile {
    fn id(&self) -> &str {
        &self.0
    }

    fn shared_id(&self) -> Arc<str> {
        self.0.clone()
    }

    fn subscribes_to(&self) -> EventSet {
        [EventKind::PostTurn].into_iter().collect()
    }

    fn evaluate<'a>(
        &'a self,
        _: Turn<'a>,
        _: &'a HookEvent<'a>,
        _: &'a Data,
    ) -> Answer<'a, Outcome<Vec<ReminderSpec>>> {
        Answer::Now(Ok(vec![ReminderSpec {
            dedupe_key: Some(self.0.clone()),
            ..ReminderSpec::new("Write the tests of a change before the next one.")
        }]))
    }
}

/// Does nothing.
struct NoTool(ToolSpec);

impl Tool for NoTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, _: Turn<'a>, _: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::Now(Ok(Output::of("ok".into())))
    }
}

/// A clock that stands still; sleeps are not needed here.
struct StillClock;

impl Clock for StillClock {
    fn now_ms(&self) -> u64 {
        1_000
    }

    fn sleep_until(&self, _: u64) -> LocalFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}
