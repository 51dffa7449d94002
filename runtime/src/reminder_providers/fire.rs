//! Evaluating an event by the providers.

use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, CallError, CallErrorKind, Outcome, call_error};
use base::data::Data;
use tracing::{Instrument as _, Span};

use crate::hooks::HookEvent;
use crate::lifecycle::{DropReason, LifecycleBatch, LifecycleRecord};
use crate::note::Note;
use crate::reminder::policy::PolicySource;
use crate::reminder::{ReminderError, ReminderSource, ReminderSpec};
use crate::scope::Scope;
use crate::seam::Turn;
use crate::session::ReminderProducer;
use crate::spans::Activity;
use crate::timeout::{is_timeout, with_timeout};

use super::{Malformed, ReminderProvider};

/// The result of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FireReport {
    /// A report for each reminder.
    pub reports: Vec<ProviderReport>,
}

/// A reminder that a provider added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReport {
    /// The provider.
    pub provider: Arc<str>,
    /// The reminder.
    pub reminder_id: Arc<str>,
    /// Number of reminders it replaced.
    pub deduped_count: usize,
}

impl FireReport {
    /// Converts the report to the dict that scripts see: `{fired_count, reports: [{provider, reminder_id,
    /// deduped_count}]}`.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let row = |report: &ProviderReport| {
            Data::dict([
                ("provider", Data::from(&report.provider)),
                ("reminder_id", (&report.reminder_id).into()),
                ("deduped_count", report.deduped_count.into()),
            ])
        };
        Data::dict([
            ("fired_count", Data::from(self.reports.len())),
            ("reports", self.reports.iter().map(row).collect()),
        ])
    }
}

/// Evaluates every provider that subscribes to an event, in order, and admits the reminders they add. With `strict` an
/// error fails the call; otherwise it is logged and noted, and the next provider is evaluated.
///
/// Synchronous providers run without a future and a scope of their own: a loop evaluates several of them at each of its
/// steps, and most return nothing.
pub fn fire<'a>(
    providers: &'a [Rc<dyn ReminderProvider>],
    turn: Turn<'a>,
    event: &'a HookEvent<'a>,
    config: &'a Data,
    strict: bool,
) -> Answer<'a, Outcome<FireReport>> {
    let mut asked = providers.iter().filter(|provider| provider.subscribes_to().contains(event.kind()));
    let quiet = turn.session.last_quiet(turn.scope, event.kind());
    let mut firing =
        Firing { turn, event, config, strict, quiet, repeated: 0, looked: Vec::new(), report: FireReport::default() };
    while let Some(provider) = asked.next() {
        let looked = span_of(&**provider, event).in_scope(|| provider.look(turn, event, config.get(provider.id())));
        let Some(outcome) = looked else {
            return Answer::later(async move {
                firing.wait_for(provider).await?;
                for provider in asked {
                    firing.wait_for(provider).await?;
                }
                Ok(firing.over())
            });
        };
        if let Some(activity) = turn.scope.activity.as_ref().filter(|_| is_notable(&outcome)) {
            record(&activity.enter(), turn, event, &provider.shared_id(), &outcome);
        }
        if let Err(thrown) = firing.take_in(&**provider, outcome) {
            return Answer::Now(Err(thrown));
        }
    }
    Answer::Now(Ok(firing.over()))
}

/// Returns the span of a provider that looks at an event.
fn span_of(provider: &dyn ReminderProvider, event: &HookEvent<'_>) -> Span {
    tracing::debug_span!("provider", provider = provider.id(), event = event.kind().as_str())
}

/// Returns whether a provider that answered at once has done anything. Most look at an event and return nothing.
fn is_notable(outcome: &Outcome<Vec<ReminderSpec>>) -> bool {
    outcome.as_ref().map_or(true, |specs| !specs.is_empty())
}

fn record(
    activity: &Activity,
    turn: Turn<'_>,
    event: &HookEvent<'_>,
    id: &Arc<str>,
    outcome: &Outcome<Vec<ReminderSpec>>,
) {
    activity.provider_ended(turn, event.kind(), id, outcome.as_ref().map(Vec::len).map_err(AsRef::as_ref));
}

/// An event that is being evaluated, and its results so far.
struct Firing<'a> {
    turn: Turn<'a>,
    event: &'a HookEvent<'a>,
    config: &'a Data,
    strict: bool,
    /// Unwritten records of evaluated providers: most add no reminder, and their records are written together.
    looked: Vec<LifecycleRecord>,
    /// The results that were logged when the providers last had nothing to remind of, and how many of them have come
    /// again. Only one that differs is written as a new record.
    quiet: Option<Arc<LifecycleBatch>>,
    repeated: usize,
    report: FireReport,
}

impl Firing<'_> {
    /// Evaluates a provider that may wait.
    async fn wait_for(&mut self, provider: &Rc<dyn ReminderProvider>) -> Outcome<()> {
        // A script may read the log.
        self.put_down();
        let (turn, id) = (self.turn, provider.shared_id());
        let cancel = turn.scope.cancel.child();
        let scope = Scope { cancel: cancel.clone(), activity: turn.scope.enter(), ..turn.scope.clone() };
        let own = Turn { scope: &scope, ..turn };
        let span = span_of(&**provider, self.event);
        let answer = span.in_scope(|| provider.evaluate(own, self.event, self.config.get(&id)));
        let waits = matches!(answer, Answer::Later(_));
        if let Some(activity) = scope.activity.as_ref().filter(|_| waits) {
            activity.provider_began(own, self.event.kind(), &id);
        }
        let late = |thrown| if is_timeout(&thrown) { provider.late(turn.scope.hook_timeout_ms) } else { thrown };
        let outcome = with_timeout(turn.scope, &cancel, answer).instrument(span).await.map_err(late);
        if let Some(activity) = scope.activity.as_ref().filter(|_| waits || is_notable(&outcome)) {
            record(activity, own, self.event, &id, &outcome);
        }
        self.take_in(&**provider, outcome)
    }

    /// Admits the reminders that a provider added, or handles its error.
    fn take_in(&mut self, provider: &dyn ReminderProvider, outcome: Outcome<Vec<ReminderSpec>>) -> Outcome<()> {
        let (turn, id) = (self.turn, &provider.shared_id());
        let source = if provider.is_of_pack() { PolicySource::Pack } else { PolicySource::Provider };
        let thrown = match outcome {
            Ok(specs) => {
                self.admit(id, source, specs, None);
                return Ok(());
            }
            Err(thrown) => thrown,
        };
        let (good, faults) = parts(id, thrown, self.strict);
        let said = faults.first().map(|thrown| Arc::from(thrown.to_string()));
        self.admit(id, source, good, said);
        self.put_down();
        for thrown in faults {
            if matches!(thrown.kind(), CallErrorKind::Cancelled | CallErrorKind::Deadline) {
                return Err(thrown);
            }
            let detail = Some(thrown.to_string().into());
            let dropped = LifecycleRecord::Dropped { reminder_id: None, reason: DropReason::Invalid, detail };
            turn.session.log_lifecycle(turn.scope, [dropped]);
            if self.strict {
                return Err(thrown);
            }
            turn.scope.note(Note::of_fault(id.clone(), thrown));
        }
        Ok(())
    }

    /// Logs the evaluation, then admits the provider's reminders.
    fn admit(&mut self, id: &Arc<str>, source: PolicySource, specs: Vec<ReminderSpec>, error: Option<Arc<str>>) {
        let (turn, event) = (self.turn, self.event);
        if specs.is_empty() && error.is_none() && self.is_repeated(id) {
            self.repeated += 1;
            return;
        }
        self.write_repeated();
        self.looked.push(LifecycleRecord::ProviderEvaluated {
            provider_id: id.clone(),
            event: event.kind(),
            fired: !specs.is_empty(),
            error,
        });
        if !specs.is_empty() {
            self.put_down();
            let admitted = specs.into_iter().filter_map(|spec| admit(turn, event, id, source, spec));
            self.report.reports.extend(admitted);
        }
    }

    /// Returns whether the next of the repeated results is that of a provider that has nothing to remind of.
    fn is_repeated(&self, id: &Arc<str>) -> bool {
        let next = self.quiet.as_ref().and_then(|quiet| quiet.records().get(self.repeated));
        matches!(next, Some(LifecycleRecord::ProviderEvaluated { provider_id, .. }) if provider_id == id)
    }

    /// Writes the repeated results as records of their own.
    fn write_repeated(&mut self) {
        if let Some(quiet) = self.quiet.take() {
            self.looked.extend_from_slice(&quiet.records()[..self.repeated]);
        }
    }

    fn put_down(&mut self) {
        let (session, scope) = (self.turn.session, self.turn.scope);
        match self.quiet.take_if(|quiet| quiet.records().len() == self.repeated) {
            Some(quiet) => session.log_again(scope, &quiet),
            None => self.write_repeated(),
        }
        if !self.looked.is_empty() {
            session.log_evaluations(scope, self.event.kind(), std::mem::take(&mut self.looked));
        }
    }

    fn over(mut self) -> FireReport {
        self.put_down();
        self.report
    }
}

/// Admits a reminder; `None` if the policy refuses it.
fn admit(
    turn: Turn<'_>,
    event: &HookEvent<'_>,
    id: &Arc<str>,
    policy_source: PolicySource,
    spec: ReminderSpec,
) -> Option<ProviderReport> {
    // An event fired manually carries its own turn; in a loop the turn is known.
    let by_hand = matches!(event, HookEvent::Raw { .. }).then(|| event.iteration()).flatten();
    let fired_at_turn = by_hand.unwrap_or(turn.number);
    let from = ReminderProducer { source: ReminderSource::StdlibProvider, policy_source, id: Some(id.clone()) };
    match turn.session.inject_allowed(turn.scope, spec, from, Some(fired_at_turn)) {
        Ok(admitted) => {
            turn.scope.report(event.kind(), &admitted);
            Some(ProviderReport {
                provider: id.clone(),
                reminder_id: admitted.reminder.id.clone(),
                deduped_count: admitted.replaced.len(),
            })
        }
        Err(refusal) => {
            turn.scope.note(refusal.note(id));
            None
        }
    }
}

/// Returns the reminders that can be admitted, and the error. Strict means all or none.
fn parts(id: &str, thrown: Rc<dyn CallError>, strict: bool) -> (Vec<ReminderSpec>, Vec<Rc<dyn CallError>>) {
    match thrown.as_any().downcast_ref::<Malformed>() {
        Some(partly) => {
            let good = if strict { Vec::new() } else { partly.good.clone() };
            let faults = std::iter::once(&partly.first).chain(&partly.rest);
            (good, faults.map(|fault| as_malformed(id, fault.clone())).collect())
        }
        None => (Vec::new(), vec![as_malformed(id, thrown)]),
    }
}

/// Converts the error of a malformed reminder to 006, with the inner reason.
fn as_malformed(id: &str, thrown: Rc<dyn CallError>) -> Rc<dyn CallError> {
    match thrown.as_any().downcast_ref::<ReminderError>() {
        Some(error) => call_error(error.clone().of_provider(id)),
        None => thrown,
    }
}
