//! A call, answered from what was written down.

use super::sources::Compared;
use super::{Models, report};
use crate::clock::Gate;
use base::call::{Outcome, call_error};
use base::clock::Clock;
use providers::recording::{CallOutcome, LastRequest, Recording, Secrets, difference};
use runtime::model::{Delta, ModelReply, Request};
use runtime::seam::{Model, Turn};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;

/// The maximum wait for the repetition of a cancellation after its recorded time, in milliseconds.
const PATIENCE_MS: u64 = 600_000;

/// The requests of the lines of work so far, as they would be recorded.
#[derive(Default)]
pub(super) struct RequestsByLine {
    asked: RefCell<BTreeMap<String, LastRequest>>,
    secrets: OnceCell<Secrets>,
}

impl Models {
    /// Returns the recorded answer to an equal request, with the recorded pieces and times.
    pub(super) async fn replay(
        &self,
        recording: &Recording,
        compared: &Compared,
        turn: Turn<'_>,
        request: &Request,
        live: &dyn Fn(Delta<'_>),
    ) -> Outcome<ModelReply> {
        let gate = Gate::new(&self.clock);
        let fiber = turn.scope.caller.path.name();
        let to = self.destination(request);
        let (call, then) = match recording.next(&fiber) {
            Ok(found) => found,
            Err(lost) => {
                self.break_off(report::lost(recording, &fiber, &lost, compared));
                return std::future::pending().await;
            }
        };
        let different = {
            let lines = &mut *self.lines.asked.borrow_mut();
            let line = lines.entry(fiber.to_string()).or_default();
            line.next(request, &to, self.lines.secrets.get_or_init(|| super::secrets(Some(self.routes.table()))));
            // What both took over from the call before was found to be the same there.
            difference(&then, &line.asked, call.kept().min(line.kept))
        };
        if let Some(different) = different {
            self.break_off(report::different(recording, &call, &different, compared));
            return std::future::pending().await;
        }
        let model = to.model.unwrap_or_default();
        // The mock answers from the script, which may look at what it was sent: its books are kept, its answer is on the recording.
        let mut mock =
            (to.provider.as_deref() == Some("mock")).then(|| Box::pin(self.routes.ask_mock(turn, request, &model)));
        let mut told = pin!(async {
            for piece in &call.pieces {
                if let Some(after_ms) = piece.after_ms {
                    gate.at(after_ms).await;
                }
                live(piece.piece.as_delta());
            }
            if call.waited {
                gate.at(call.took_ms).await;
            }
        });
        poll_fn(|cx| {
            if mock.as_mut().is_some_and(|mock| mock.as_mut().poll(cx).is_ready()) {
                mock = None;
            }
            told.as_mut().poll(cx)
        })
        .await;
        if let (CallOutcome::OverBudget(failure), Some(charge)) = (&call.answered, &turn.scope.charge)
            && let Some(refused) = charge.refused_again(failure)
        {
            return Err(call_error(refused));
        }
        if let Some(outcome) = call.answered.outcome() {
            call.notes.iter().for_each(|note| turn.scope.note(note.clone()));
            return outcome;
        }
        self.clock.sleep_until(self.clock.now_ms().saturating_add(PATIENCE_MS)).await;
        self.break_off(report::given_up(recording, &call));
        std::future::pending().await
    }
}
