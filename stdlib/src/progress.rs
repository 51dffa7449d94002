//! The loops that an interrupt cut short, for the user who interrupted.

use crate::interrupt::CutShort;
use crate::world::{Live, World};
use runtime::agent_loop::{LoopEvent, LoopObservation, LoopResult};
use runtime::loop_status::LoopStatus;
use std::cell::RefCell;
use std::rc::Rc;

/// The progress of a loop.
#[derive(Default)]
struct LoopProgress {
    asking: bool,
    idle: bool,
    tools: Vec<String>,
    /// The activity at the time of the cancellation.
    cut: Option<String>,
}

impl LoopProgress {
    fn describe(&self) -> String {
        match self.tools.as_slice() {
            [] if self.asking => "while the model was answering".to_owned(),
            [] if self.idle => "while the daemon was asleep".to_owned(),
            [] => "between two steps".to_owned(),
            [tool] => format!("while the tool `{tool}` was running"),
            tools => format!("while the tools {} were running", tools.join(", ")),
        }
    }

    fn see(&mut self, sight: &LoopObservation<'_>) {
        if self.cut.is_none() && sight.turn.scope.cancel.is_cancelled() {
            self.cut = Some(self.describe());
        }
        match sight.seen {
            LoopEvent::Asked => (self.asking, self.idle) = (true, false),
            LoopEvent::Answered { .. } | LoopEvent::Unanswered { .. } => self.asking = false,
            LoopEvent::ToolBegan(call) => self.tools.push(call.name.to_string()),
            LoopEvent::ToolEnded(call) => {
                if let Some(at) = self.tools.iter().position(|tool| **tool == *call.name) {
                    self.tools.remove(at);
                }
            }
            LoopEvent::Idle => self.idle = true,
            LoopEvent::Began
            | LoopEvent::Piece(_)
            | LoopEvent::Interrupted { .. }
            | LoopEvent::ToolWanted { .. }
            | LoopEvent::ToolAnswered { .. }
            | LoopEvent::Delivered(_)
            | LoopEvent::Ended(_) => {}
        }
    }
}

/// Shows a loop to those who watch the run, and remembers what it was at.
pub(crate) fn watch(world: &Rc<World>) -> Live {
    let live = world.observers.live.clone();
    if world.stop.interrupt.is_none() {
        return live.unwrap_or_else(|| Rc::new(|_| {}));
    }
    let (world, progress) = (Rc::downgrade(world), RefCell::new(LoopProgress::default()));
    Rc::new(move |sight| {
        progress.borrow_mut().see(&sight);
        if let LoopEvent::Ended(result) = sight.seen
            && let Some(world) = world.upgrade()
            && result.status == LoopStatus::Cancelled
            && world.is_interrupted()
        {
            let doing = progress.borrow().cut.clone().unwrap_or_else(|| progress.borrow().describe());
            world.stop.cut_short.borrow_mut().push(cut_short(&sight, result, doing));
        }
        if let Some(live) = &live {
            live(sight);
        }
    })
}

fn cut_short(sight: &LoopObservation<'_>, result: &LoopResult, doing: String) -> CutShort {
    let scope = sight.turn.scope;
    let name = scope.caller.agent_id.as_ref().or(scope.caller.persona.as_ref());
    CutShort {
        name: name.map_or_else(|| "agent".to_owned(), ToString::to_string),
        session_id: result.session_id.to_string(),
        status: result.status,
        iterations: result.iterations,
        doing,
        text: result.text.to_string(),
    }
}
