//! A call, written down while it is made.

use super::Models;
use crate::clock::Gate;
use base::call::Outcome;
use providers::recording::{BegunCall, CallOutcome, CallResult, RecordedPiece, Recorder, TimedPiece};
use runtime::model::{Delta, ModelReply, Request};
use runtime::note::Note;
use runtime::scope::Scope;
use runtime::seam::{Model, Turn};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

impl Models {
    /// Asks the route, hands on what it says in its turn, and writes down both.
    pub(super) async fn record(
        &self,
        recorder: &Recorder,
        turn: Turn<'_>,
        request: &Request,
        live: &dyn Fn(Delta<'_>),
    ) -> Outcome<ModelReply> {
        let begun = recorder.begin(turn, request, &self.destination(request));
        let mut call = CallInProgress {
            models: self,
            recorder,
            gate: Gate::new(&self.clock),
            begun: Some(begun),
            pieces: Vec::new(),
            waited: false,
        };
        let come = RefCell::new(VecDeque::new());
        let take = |delta: Delta<'_>| come.borrow_mut().push_back(RecordedPiece::of(delta));
        // What the route has to say is written down as well.
        let scope = Scope { notes: Rc::default(), ..turn.scope.clone() };
        let inside = Turn { scope: &scope, ..turn };
        let mut asking = Box::pin(self.routes.call(inside, request, &take).get());
        let mut outcome = None;
        loop {
            let piece = poll_fn(|cx| {
                if outcome.is_none()
                    && let Poll::Ready(answered) = asking.as_mut().poll(cx)
                {
                    outcome = Some(answered);
                }
                match come.borrow_mut().pop_front() {
                    Some(piece) => Poll::Ready(Some(piece)),
                    None if outcome.is_some() => Poll::Ready(None),
                    None => {
                        call.waited = true;
                        Poll::Pending
                    }
                }
            })
            .await;
            let after_ms = if call.waited { Some(call.gate.arrived().await) } else { None };
            match piece {
                Some(piece) => {
                    live(piece.as_delta());
                    call.pieces.push(TimedPiece { after_ms, piece });
                }
                None => break,
            }
        }
        // The loop ends with an outcome only; without one it would be the call that was given up.
        match outcome {
            Some(outcome) => {
                let notes = scope.notes.take();
                notes.iter().for_each(|note| turn.scope.note(note.clone()));
                call.end(CallOutcome::of(&outcome), notes);
                if self.broken().is_some() {
                    // The run has ended: what would follow the answer must not happen.
                    std::future::pending::<()>().await;
                }
                outcome
            }
            None => std::future::pending().await,
        }
    }
}

/// A call in progress. If its caller is cancelled, that is recorded too.
struct CallInProgress<'a> {
    models: &'a Models,
    recorder: &'a Recorder,
    gate: Gate,
    begun: Option<BegunCall>,
    pieces: Vec<TimedPiece>,
    waited: bool,
}

impl CallInProgress<'_> {
    fn end(&mut self, answered: CallOutcome, notes: Vec<Note>) {
        if let Some(begun) = self.begun.take() {
            let pieces = std::mem::take(&mut self.pieces);
            let came = CallResult { pieces, notes, answered, took_ms: self.gate.age_ms(), waited: self.waited };
            self.models.written(self.recorder.end(begun, came));
        }
    }
}

impl Drop for CallInProgress<'_> {
    fn drop(&mut self) {
        self.end(CallOutcome::GivenUp, Vec::new());
    }
}
