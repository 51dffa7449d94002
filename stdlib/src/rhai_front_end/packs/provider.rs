//! Asking a provider of a pack.

use super::data::{PackConverter, PackValueError};
use super::error::PackSubject;
use super::load::Pack;
use super::meter::{Limit, Meter};
use super::sandbox::Printed;
use super::seen::Seen;
use crate::capability::Capability;
use crate::fault::{Thrown, of_reminder};
use crate::output::Output;
use base::call::{Answer, Outcome};
use base::data::Data;
use lang::source::{SourceRef, Span};
use lang::vm::Raise;
use rhai::{Dynamic, FnPtr, Map};
use runtime::events::EventSet;
use runtime::hooks::HookEvent;
use runtime::hooks::verdict::read_effects;
use runtime::reminder::ReminderSpec;
use runtime::reminder_providers::{Malformed, ReminderProvider};
use runtime::seam::Turn;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// The stack that calls and expressions may use, in bytes: they are ended before they use more.
/// Beside it there is room for values, which are nested as deep as they have elements; copying and
/// dropping one takes some 200 bytes a level.
const OF_CALLS: usize = 2 << 20;
/// The size of a new stack: more than twice as much, so that one pack does not make the next one
/// allocate it again.
const NEW_STACK: usize = 16 << 20;
/// A level of a value.
const LEVEL: usize = 400;

/// The run's settings for its packs.
#[derive(Clone)]
pub(crate) struct PackEnvironment {
    /// Rights that the run does not have.
    pub(super) denied: Vec<Capability>,
    /// The output that they print to.
    pub(super) output: Option<Rc<dyn Output>>,
}

impl PackEnvironment {
    /// Shows what a pack printed, on standard error.
    pub(super) fn say(&self, source: &SourceRef, printed: &Printed) {
        let Some(output) = &self.output else { return };
        for line in printed.take().lines() {
            output.err(&format!("{}: {line}\n", source.name()));
        }
    }
}

/// Computes something of a pack: measured, with enough stack, and nothing when the interpreter panics.
pub(super) fn guarded<T>(meter: &Meter, work: impl FnOnce() -> T) -> Option<T> {
    let values = meter.budget().elements.saturating_mul(LEVEL);
    let (needed, new) = (OF_CALLS + values, NEW_STACK.max(2 * (OF_CALLS + values)));
    stacker::maybe_grow(needed, new, || meter.measure(OF_CALLS, || catch_unwind(AssertUnwindSafe(work)).ok()))
}

/// A provider of a pack.
pub(crate) struct PackProvider {
    pack: Rc<Pack>,
    asked: PackEnvironment,
    id: String,
    events: EventSet,
    evaluate: Cell<Option<FnPtr>>,
    at: Span,
}

impl PackProvider {
    pub(super) fn new(
        pack: &Rc<Pack>,
        asked: &PackEnvironment,
        id: String,
        events: EventSet,
        evaluate: FnPtr,
        at: Span,
    ) -> Self {
        Self { pack: pack.clone(), asked: asked.clone(), id, events, evaluate: Cell::new(Some(evaluate)), at }
    }

    /// The file it comes from.
    pub(crate) fn file(&self) -> &str {
        self.pack.source.name()
    }

    /// Returns the place of its registration.
    pub(crate) fn place(&self) -> (&SourceRef, Span) {
        (&self.pack.source, self.at)
    }

    fn whose(&self) -> PackSubject<'_> {
        PackSubject { source: &self.pack.source, provider: Some(&self.id), place: self.at, meter: &self.pack.meter }
    }

    /// Evaluates it; returns its value as data.
    fn ask(&self, turn: Turn<'_>, event: &HookEvent<'_>, config: &Data) -> Result<Data, Box<Raise>> {
        let pack = &*self.pack;
        // A pack cannot be asked while it is asked: nothing that it calls leads back to the run.
        let evaluate = self.evaluate.take();
        let answer = guarded(&pack.meter, || {
            let ctx = context(turn, event, config, &pack.meter).map_err(|stuck| self.stuck(&stuck))?;
            let Some(evaluate) = &evaluate else { return Err(self.whose().panicked()) };
            let called = evaluate.call::<Dynamic>(&pack.engine, &pack.ast, (ctx,));
            let value = called.map_err(|error| self.whose().error(*error))?;
            // Also where a limit was hit and the answer arrived all the same.
            if let Some(limit) = pack.meter.hit() {
                return Err(self.whose().over(limit, Some(self.at)));
            }
            PackConverter::new(pack.meter.budget()).outward(&value).map_err(|stuck| self.stuck(&stuck))
        });
        self.evaluate.set(evaluate);
        self.asked.say(&pack.source, &pack.printed);
        answer.unwrap_or_else(|| Err(self.whose().panicked()))
    }

    fn stuck(&self, stuck: &PackValueError) -> Box<Raise> {
        match stuck {
            PackValueError::Over(limit) => self.whose().over(*limit, Some(self.at)),
            PackValueError::NoData(what) => self.whose().no_data(what, Some(self.at)),
            PackValueError::TooDeep => self.whose().no_data("a value that is nested too deeply", Some(self.at)),
        }
    }

    /// Its reminders; those that are malformed do not take the others with them.
    fn specs(&self, data: &Data) -> Outcome<Vec<ReminderSpec>> {
        let effects = read_effects(data);
        if effects.specs.len() + effects.malformed.len() > self.pack.meter.budget().reminders {
            return Err(Thrown::fault(self.whose().over(Limit::Reminders, Some(self.at))));
        }
        // A judge is a model that the run would pay for, on a route of the pack's choice.
        let asks = |spec: &ReminderSpec| spec.rules.as_ref().is_some_and(|rules| rules.expect.is_some());
        if effects.specs.iter().any(asks) {
            return Err(Thrown::fault(self.whose().judges(self.at)));
        }
        Malformed::sift(&self.id, effects, |error| Thrown::fault(of_reminder(error).at(&self.pack.source, self.at)))
    }
}

/// Returns the argument of `evaluate`, the same that a provider of a script receives.
fn context(turn: Turn<'_>, event: &HookEvent<'_>, config: &Data, meter: &Meter) -> Result<Dynamic, PackValueError> {
    let id = turn.session.id();
    let mut crossing = PackConverter::new(meter.budget());
    let mut ctx = Map::new();
    ctx.insert("event".into(), event.kind().pascal().as_ref().into());
    ctx.insert("session".into(), Dynamic::from(Seen(turn.session.transcript())));
    ctx.insert("session_id".into(), id.as_ref().into());
    ctx.insert("payload".into(), crossing.inward(&event.to_data(id))?);
    ctx.insert("options".into(), crossing.inward(&turn.scope.options)?);
    ctx.insert("config".into(), crossing.inward(config)?);
    Ok(ctx.into())
}

impl ReminderProvider for PackProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn subscribes_to(&self) -> EventSet {
        self.events
    }

    fn is_of_pack(&self) -> bool {
        true
    }

    fn evaluate<'a>(
        &'a self,
        turn: Turn<'a>,
        event: &'a HookEvent<'a>,
        config: &'a Data,
    ) -> Answer<'a, Outcome<Vec<ReminderSpec>>> {
        Answer::Now(match self.ask(turn, event, config) {
            Ok(data) => self.specs(&data),
            Err(raise) => Err(Thrown::fault(raise)),
        })
    }
}

impl Drop for PackProvider {
    fn drop(&mut self) {
        // What the closure has captured may be nested deep.
        let evaluate = self.evaluate.take();
        let _ = guarded(&self.pack.meter, || drop(evaluate));
    }
}
