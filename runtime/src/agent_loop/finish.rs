//! The steps after the last iteration. They run whatever ended the loop, cancellation included.

use base::call::Outcome;
use base::data::Data;
use eventlog::Ticket;

use crate::cancel::Cancel;
use crate::hooks::HookEvent;
use crate::loop_status::LoopStatus;
use crate::note::NoteMark;
use crate::reminder::bridge::Seam;
use crate::scope::Scope;

use super::observe::LoopEvent;
use super::persist::Checkpoint;
use super::{LoopEnd, LoopResult, LoopState, RunningLoop, sentinel};

impl RunningLoop<'_> {
    /// Passes `loop_exit`, reports the end, waits for the log, and builds the result.
    pub(super) async fn finish(
        self,
        mut state: LoopState,
        ended: LoopEnd,
        first_note: NoteMark,
    ) -> Outcome<LoopResult> {
        // The cancellation that stopped the loop must not stop its closing message.
        let scope = Scope { cancel: Cancel::new(), deadline_ms: None, ..self.scope.clone() };
        let run = RunningLoop { scope, ..self };
        let suspension = Some(ended.status).filter(|status| *status == LoopStatus::Suspended);
        let suspension = suspension.and(run.parking.requested()).map(|request| request.reason);
        // A loop that can be resumed has not ended.
        let stays = suspension.is_some() && run.options.continuity.parking.is_some();
        if !stays {
            run.pass(Seam::LoopExit, &mut state).await?;
            let event = HookEvent::SessionEnd {
                final_status: ended.status,
                stop_reason: ended.stop_reason,
                iterations: state.iteration,
            };
            run.emit(&event).await?;
        }
        run.keep_spending(&mut state);
        run.persist(&state, Checkpoint::Over(&ended)).await?;
        if let Some(storage) = &run.options.continuity.persist {
            storage.release().await;
        }
        run.scope.log.durable(Ticket::ALL).await?;
        let visible_text = sentinel::without(&run.options.sentinel.word, &state.text);
        let diagnostics = run.scope.notes.since(first_note);
        let daemon = run.options.daemon.as_ref();
        let daemon_state = daemon.map_or(Data::Nil, |daemon| state.daemon.to_data(state.naps, daemon.watch.is_some()));
        let left = stays.then(|| Box::new(state.clone()));
        let iteration = state.iteration;
        let (status, stop_reason) = (ended.status.as_str(), ended.stop_reason.as_str());
        tracing::debug!(status, stop_reason, iterations = iteration, "loop ended");
        let result = LoopResult {
            suspension,
            left,
            daemon_state,
            status: ended.status,
            stop_reason: ended.stop_reason,
            answer_end: state.answer_end,
            text: state.text,
            visible_text: visible_text.clone(),
            error: ended.error,
            iterations: state.iteration,
            duration_ms: run.scope.clock.now_ms().saturating_sub(state.started_at_ms),
            usage: state.usage,
            reminder_costs: state.reminder_costs,
            budget: run.budget_data(),
            tools: state.tools,
            tool_mode: run.options.model.tool_mode,
            data: run.structured(&visible_text).unwrap_or_default(),
            session_id: run.session.id().clone(),
            transcript: run.session.transcript(),
            diagnostics,
        };
        if let Some(activity) = &run.scope.activity {
            let ended = (result.status, result.stop_reason);
            activity.loop_ended(run.turn(), ended, &result.error, result.iterations, result.usage);
        }
        run.let_see(iteration, LoopEvent::Ended(&result));
        Ok(result)
    }
}
