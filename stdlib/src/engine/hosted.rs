//! A run that stays alive: its top level runs once, and then its pipeline for each prompt. It waits
//! on the host's thread, beside other runs.

mod entry;
mod prompt_result;
mod served_entry;

pub use prompt_result::{PromptEnd, PromptResult, ReturnedValue};
pub use served_entry::{ServedCall, check_entries};

use super::{Engine, RunOptions, errors, whole};
use crate::codes::ServedCode;
use crate::convert::to_value;
use crate::failed_loop::Told;
use crate::hosting::{Hosting, MCP_PROTOCOL};
use crate::rhai_front_end::is_rhai;
use crate::world::Live;
use base::clock::Clock;
use base::data::Data;
use entry::Main;
use eventlog::Ticket;
use lang::diagnostic::Diagnostic;
use lang::script::Options;
use lang::source::SourceRef;
use lang::value::Value;
use lang::vm::{Context, Fiber, Outcome, Raise, Why, begin_anew, close, drive, run_beside, run_by};
use runtime::agent_loop::LoopEvent;
use runtime::scope::Scope;
use runtime::session::Session;
use std::cell::{Cell, OnceCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

/// Slices of a run before others on its thread have their turn.
const STEPS: u32 = 4;

/// A request to a served run.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The pipeline's `task`.
    pub text: String,
    /// `context.message`.
    pub message: Data,
    /// `context.metadata`; nil for the session's.
    pub metadata: Data,
    /// `context.task_id`; without it one is drawn.
    pub task_id: Option<Arc<str>>,
    /// `context.context_id`; without it the session's id.
    pub context_id: Option<Arc<str>>,
    /// `context.resumed`: it was asked before, of a process that ended in the middle of it.
    pub resumed: bool,
    /// The public function to call; `None` runs the pipeline.
    pub call: Option<ServedCall>,
}

/// A run that lives on. Before it is dropped it is closed; one that broke off need not be.
pub struct Hosted {
    engine: Engine,
    hosting: Rc<Hosting>,
    session: Rc<Session>,
    source: SourceRef,
    main: OnceCell<Main>,
    /// Whether the current work was told to stop.
    told: Cell<bool>,
}

impl Hosted {
    /// A run that has not begun. Its session is open: what is restored goes there.
    #[must_use]
    pub fn new(options: RunOptions, hosting: &Rc<Hosting>, source: &SourceRef) -> Self {
        let live = options.live.map(|live| noting(live, hosting));
        let engine = Engine::new(RunOptions { live, hosting: Some(hosting.clone()), interrupt: None, ..options });
        let world = &engine.world;
        let session = world.agents.sessions.open(Some(&hosting.session_id), world.clock.now_ms());
        let (hosting, source) = (hosting.clone(), source.clone());
        Self { engine, hosting, session, source, main: OnceCell::new(), told: Cell::new(false) }
    }

    /// The current session.
    #[must_use]
    pub fn session(&self) -> &Rc<Session> {
        &self.session
    }

    /// Returns the exchange with the host.
    #[must_use]
    pub fn hosting(&self) -> &Hosting {
        &self.hosting
    }

    /// A scope of its run that nothing cancels.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.engine.world.scope()
    }

    /// Runs the top level. When `stop` resolves, it is told to stop with that reason.
    ///
    /// # Errors
    /// Returns the errors in the script, or the one that ended its top level.
    pub async fn start<R: AsRef<str>>(&self, stop: impl Future<Output = R>) -> Result<(), Vec<Diagnostic>> {
        let main = self.load()?;
        self.engine.start_packs(&self.source)?;
        let started = self.work(stop, main.start(self)).await;
        let ended = match started {
            Ok(Value::Unbound) => None,
            Ok(value) => Some(prompt_result::of_top_level(&value)),
            Err(raise) => Some(raise.to_diagnostic()),
        };
        let unhandled = self.engine.world.stop.failures.take(Told::OtherReader);
        let unwritten = self.settle().await;
        match ended.into_iter().chain(unhandled).chain(unwritten).collect::<Vec<_>>() {
            found if found.is_empty() => {
                let _ = self.main.set(main);
                Ok(())
            }
            found => Err(found),
        }
    }

    fn load(&self) -> Result<Main, Vec<Diagnostic>> {
        let main = if is_rhai(&self.source) {
            entry::of_rhai(&self.engine, &self.source, self.serves_entries())?
        } else {
            let loaded = self.engine.load(&self.source, self.load_options());
            let unit = loaded.unit.ok_or_else(|| errors(loaded.diagnostics))?;
            entry::of_unit(&self.engine, unit, self.serves_entries())
        };
        main.ok_or_else(|| vec![entry::missing(&self.source)])
    }

    /// Returns whether public functions are served one by one, so that the script needs no pipeline.
    fn serves_entries(&self) -> bool {
        self.hosting.protocol == MCP_PROTOCOL
    }

    fn load_options(&self) -> Options<'static> {
        if self.serves_entries() { served_entry::options() } else { Options::default() }
    }

    /// Runs the pipeline, or the public function that the request names. When `stop` resolves, it is told to stop, with a grace period of two
    /// seconds.
    pub async fn prompt<R: AsRef<str>>(&self, request: Request, stop: impl Future<Output = R>) -> PromptResult {
        let Some(main) = self.main.get() else {
            let missing = Diagnostic::new(ServedCode::Unservable, "the script has not started");
            return PromptResult {
                end: PromptEnd::Failed(Box::new(missing)),
                closing: None,
                uncleaned: None,
                diagnostics: Vec::new(),
            };
        };
        self.hosting.begin();
        let (task, context) = (Value::str(&request.text), self.context(&request));
        self.engine.begin_activity(&self.source, self.hosting.protocol, request.task_id.as_deref());
        let work = async {
            match &request.call {
                Some(call) => main.call(self, call, &context).await,
                None => main.prompt(self, &task, &context).await,
            }
        };
        let outcome = self.work(stop, work).await;
        let refusal = self.hosting.end();
        let closing = self.hosting.take_closing();
        self.engine.end_activity(outcome.is_ok());
        let mut diagnostics: Vec<_> = self.engine.unseen().collect();
        diagnostics.extend(self.settle().await);
        let mut unhandled = self.engine.world.stop.failures.take(Told::OtherReader).into_iter();
        let uncleaned = if self.told.get() { prompt_result::of_cleaning_up(&outcome) } else { None };
        let end = match (self.told.get(), refusal) {
            (true, _) => PromptEnd::Cancelled,
            (false, Some(reason)) => PromptEnd::Refused(reason),
            (false, None) => match (self.end_of(outcome, request.call.is_some()), unhandled.next()) {
                // An answer that ignores a failed loop is not a success.
                (PromptEnd::Returned(_), Some(failed)) => PromptEnd::Failed(Box::new(failed)),
                (end, failed) => {
                    diagnostics.extend(failed);
                    end
                }
            },
        };
        if !self.told.get() {
            diagnostics.extend(unhandled);
        }
        PromptResult { end, closing, uncleaned, diagnostics }
    }

    /// Does a part of the run, by limits of its own.
    async fn work<R: AsRef<str>>(&self, stop: impl Future<Output = R>, part: impl Future<Output = Outcome>) -> Outcome {
        let engine = &self.engine;
        let context = Rc::<Context>::default();
        begin_anew(&engine.isolate, &context.task);
        engine.context.replace(context.clone());
        engine.isolate.refuel();
        engine.start_watch();
        self.told.set(false);
        let mut stop = Box::pin(async {
            let reason = stop.await;
            self.told.set(true);
            reason
        });
        // What begins once its task was stopped would be taken for a part of the cleaning up.
        if let Poll::Ready(reason) = poll_fn(|cx| Poll::Ready(stop.as_mut().poll(cx))).await {
            engine.watched.take();
            return Err(Raise::cancelled(reason.as_ref()));
        }
        let outcome = engine.until_told(stop, run_by(&engine.isolate, &context.task, STEPS, part)).await;
        engine.watched.take();
        if outcome.as_ref().is_err_and(|raise| raise.why == Why::Exhausted) {
            // Nothing is left to clean up with.
            engine.isolate.abandon_tasks();
        }
        outcome
    }

    /// Returns the end of the pipeline. Its result may be far larger than its memory, so it is
    /// visited within the limits.
    fn end_of(&self, outcome: Outcome, is_call: bool) -> PromptEnd {
        let end = self.engine.isolate.walk_result(|| match is_call {
            true => prompt_result::of_call(outcome, &self.hosting),
            false => prompt_result::of_pipeline(outcome, &self.hosting),
        });
        end.unwrap_or_else(|raise| PromptEnd::Failed(Box::new(raise.to_diagnostic())))
    }

    /// Calls a function of the script.
    async fn call(&self, function: Value, args: Vec<Value>) -> Outcome {
        drive(Fiber::new(&self.engine.isolate, &self.engine.context(), function, args)?).await
    }

    /// Pauses the time limit while the user thinks. [`Hosted::resume_time`] continues it.
    pub fn pause_time(&self) {
        self.engine.watched.take();
    }

    /// The prompt's time begins anew.
    pub fn resume_time(&self) {
        self.engine.start_watch();
    }

    /// Waits for work outside of the run. The script's background tasks run meanwhile.
    pub async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        run_beside(&self.engine.isolate, STEPS, work).await
    }

    /// Returns whether background tasks of the script run.
    #[must_use]
    pub fn works_beside(&self) -> bool {
        self.engine.isolate.is_busy()
    }

    /// Cancels what is left at work, and waits until it has cleaned up; the log would survive then.
    pub async fn close(self) -> Vec<Diagnostic> {
        let (isolate, context) = (&self.engine.isolate, self.engine.context());
        if isolate.is_busy() {
            // A clock that a script has stopped would never end their grace.
            let over = async {
                tokio::time::sleep(super::waiting::GRACE).await;
                lang::vm::end_grace(isolate, &context.task);
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                () = close(isolate, &context.task) => {}
                () = over => {}
            }
            isolate.abandon_tasks();
        }
        let mut diagnostics: Vec<_> = self.engine.unseen().collect();
        diagnostics.extend(self.settle().await);
        diagnostics
    }

    /// Waits until the log would survive; what it lacks, where it cannot.
    async fn settle(&self) -> Option<Diagnostic> {
        let settled = self.engine.world.observers.log.durable(Ticket::ALL).await;
        settled.err().map(|fault| crate::fault::to_raise(&fault).to_diagnostic())
    }

    /// The pipeline's `context`.
    fn context(&self, request: &Request) -> Value {
        let hosting = &self.hosting;
        let metadata = if request.metadata.is_nil() { &hosting.metadata } else { &request.metadata };
        let now_ms = self.engine.world.clock.now_ms();
        let drawn = || base::ids::Ids::next_text(&self.engine.world.random.ids, now_ms);
        let task_id = request.task_id.clone().unwrap_or_else(drawn);
        hosting.names_task(&task_id);
        let cwd = hosting.cwd.as_ref().map(|cwd| Value::from(cwd.to_string_lossy().into_owned()));
        Value::record([
            ("protocol", Value::str(hosting.protocol)),
            ("session_id", Value::str(&hosting.session_id)),
            ("task_id", Value::str(&task_id)),
            ("context_id", Value::str(request.context_id.as_ref().unwrap_or(&hosting.session_id))),
            ("message", to_value(&request.message)),
            ("metadata", to_value(metadata)),
            ("cwd", cwd.unwrap_or_default()),
            ("mode", Value::str(&hosting.mode())),
            ("resumed", Value::Bool(request.resumed)),
        ])
    }
}

/// Shows loops to `live`, and remembers what the last of the script's own has said.
fn noting(live: Live, hosting: &Rc<Hosting>) -> Live {
    let hosting = Rc::downgrade(hosting);
    Rc::new(move |sight| {
        if let LoopEvent::Ended(result) = sight.seen
            && !sight.turn.scope.caller.is_worker
            && let Some(hosting) = hosting.upgrade()
        {
            hosting.shown(result);
        }
        live(sight);
    })
}

/// The properties of a script that can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Servable {
    /// Its pipeline may run again for a task that a process left in the middle: `@resumable`.
    pub resumable: bool,
}

/// Whether a script can be served: everything that `check` finds wrong with it, and whether it has a pipeline.
///
/// # Errors
/// Returns the problems with the script.
pub fn check_served(source: &SourceRef, options: RunOptions) -> Result<Servable, Vec<Diagnostic>> {
    let engine = Engine::new(options);
    let found = errors(engine.check(source));
    if !found.is_empty() {
        return Err(found);
    }
    let resumable = if is_rhai(source) {
        entry::resumable_rhai(&engine, source)?
    } else {
        engine.load(source, Options::default()).unit.and_then(|unit| entry::resumable_unit(&unit))
    };
    let resumable = resumable.ok_or_else(|| vec![entry::missing(source)])?;
    Ok(Servable { resumable })
}

#[cfg(test)]
mod tests;
