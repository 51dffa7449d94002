//! [`ModelStep`]: one request to a model, from the reservation of what it can cost to its answer. Loops, bare calls,
//! compactions and judges all make their requests with it.

use std::rc::Rc;

use base::call::{Outcome, call_error};

use crate::budget::{Charge, Purpose};
use crate::model::{ModelReply, Request, failure_kind};
use crate::scope::Scope;
use crate::seam::{Model, Turn};
use crate::spans::Activity;
use crate::stop::until_stopped;

/// A request to a model that is about to be sent, or on its way.
#[derive(Debug)]
pub struct ModelStep {
    charge: Option<Rc<Charge>>,
    /// The scope of the request, if it differs from that around it.
    scope: Option<Box<Scope>>,
}

impl ModelStep {
    /// Prepares a request: checks that it can be sent, and reserves its cost.
    ///
    /// # Errors
    /// The request cannot be sent, or the budget does not cover it. Nothing has changed then.
    pub fn begin(around: &Scope, model: &dyn Model, request: &Request, purpose: Purpose) -> Outcome<ModelStep> {
        model.ready(request)?;
        let charge = reserve(around, model, request, purpose)?;
        let activity = around.enter();
        let is_own = activity.is_some() || charge.is_some();
        let scope = is_own.then(|| Box::new(scope_of(around, charge.as_ref(), activity)));
        Ok(ModelStep { charge, scope })
    }

    /// Returns the turn in which the request is sent, and records that it begins.
    pub fn send<'a>(&'a self, around: Turn<'a>, request: &Request) -> Turn<'a> {
        let turn = Turn { scope: self.scope.as_deref().unwrap_or(around.scope), ..around };
        if let Some(activity) = &turn.scope.activity {
            activity.model_began(turn, request);
        }
        turn
    }

    /// Turns the reservation into what the request used.
    pub fn settle(&self, answered: &Outcome<ModelReply>) {
        settle(self.charge.as_ref(), answered);
    }

    /// Records the end of the request: its reply, or the kind of its failure.
    pub fn end(&self, turn: Turn<'_>, outcome: Result<&ModelReply, &'static str>) {
        if let Some(activity) = &turn.scope.activity {
            activity.model_ended(turn, outcome);
        }
    }

    /// Settles the request, and records its end.
    pub fn settle_and_end(&self, turn: Turn<'_>, answered: &Outcome<ModelReply>) {
        self.settle(answered);
        self.end(turn, answered.as_ref().map_err(|thrown| failure_kind(thrown.as_ref())));
    }
}

/// Reserves the most that a request can use from the budget of a scope; `None` if it has none.
///
/// # Errors
/// The budget does not cover the request, or the price or the largest answer is unknown and a limit needs it. Nothing has
/// changed then.
pub fn reserve(scope: &Scope, model: &dyn Model, request: &Request, purpose: Purpose) -> Outcome<Option<Rc<Charge>>> {
    let Some(budget) = &scope.budget else { return Ok(None) };
    let quote = model.quote(request)?;
    Charge::new(budget, quote, purpose).map(|charge| Some(Rc::new(charge))).map_err(call_error)
}

/// Returns the scope in which a request is sent.
#[must_use]
pub fn scope_of(scope: &Scope, charge: Option<&Rc<Charge>>, activity: Option<Activity>) -> Scope {
    let inner = charge.and_then(|charge| charge.inner.clone());
    Scope { activity, budget: inner.or_else(|| scope.budget.clone()), charge: charge.cloned(), ..scope.clone() }
}

/// Turns a reservation into what the request used.
pub fn settle(charge: Option<&Rc<Charge>>, answered: &Outcome<ModelReply>) {
    if let Some(charge) = charge {
        match answered {
            Ok(reply) => charge.settle(&reply.usage),
            Err(thrown) => charge.failed(thrown.as_ref()),
        }
    }
}

/// Makes a request that belongs to no prompt of a session: it shows no reminder, and its text is not streamed.
///
/// # Errors
/// The request cannot be sent, the budget does not cover it, it fails, or the work is stopped.
pub async fn ask_beside(
    around: Turn<'_>,
    model: &dyn Model,
    request: &Request,
    purpose: Purpose,
) -> Outcome<ModelReply> {
    let step = ModelStep::begin(around.scope, model, request, purpose)?;
    let turn = step.send(around, request);
    let answer = model.call(turn, request, &|_| ());
    let answered = until_stopped(turn.scope, 0, answer.get()).await.map_err(call_error).and_then(|outcome| outcome);
    step.settle_and_end(turn, &answered);
    answered
}
