//! Waiting for a call of a script's function that must end when its scope is stopped.

use lang::vm::{Halt, Local, Outcome};
use runtime::scope::{Scope, Stopped};
use runtime::stop::{GRACE_MS, stopped};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits for a call. When the scope is stopped, the function is notified and cleans up within the
/// grace period; after that it runs up to its next wait. Returns the reason of the stop as well.
///
/// Written out, since calls nest in calls: each level of the stack counts.
pub(super) struct Halting<'a> {
    scope: &'a Scope,
    halt: Halt,
    work: Local<Outcome>,
    /// The stop signal, until it has come.
    stop: Option<Pin<Box<dyn Future<Output = Stopped> + 'a>>>,
    /// The end of the grace.
    over: Option<Pin<Box<dyn Future<Output = ()> + 'a>>>,
    why: Option<Stopped>,
}

impl<'a> Halting<'a> {
    pub(super) fn new(scope: &'a Scope, halt: Halt, work: Local<Outcome>) -> Self {
        Self { scope, halt, work, stop: Some(Box::pin(stopped(scope))), over: None, why: None }
    }
}

impl Future for Halting<'_> {
    type Output = (Outcome, Option<Stopped>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            // What is done at the moment of the signal is done.
            if let Poll::Ready(done) = this.work.as_mut().poll(cx) {
                return Poll::Ready((done, this.why.take()));
            }
            if let Some(Poll::Ready(why)) = this.stop.as_mut().map(|stop| stop.as_mut().poll(cx)) {
                this.halt.halt(&match &why {
                    Stopped::Cancelled(reason) => reason.to_string(),
                    Stopped::Deadline => why.to_string(),
                });
                let clock = &this.scope.clock;
                this.over = Some(clock.alarm(clock.now_ms().saturating_add(GRACE_MS)));
                (this.stop, this.why) = (None, Some(why));
                continue;
            }
            if let Some(Poll::Ready(())) = this.over.as_mut().map(|over| over.as_mut().poll(cx)) {
                this.halt.end_grace();
                this.over = None;
                continue;
            }
            return Poll::Pending;
        }
    }
}
