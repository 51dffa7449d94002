//! Parking: suspending a loop. The caller requests it; the loop checks at the start of its next iteration, when no work
//! is half done. The model requests it with the tool `agent_await_resumption`, which loops offer that can go on later.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use base::call::{Answer, Outcome};
use base::data::Data;
use tokio::sync::Notify;

use crate::message::{ToolCall, ToolSpec};
use crate::seam::{Output, Tool, Turn};

use super::RunningLoop;

/// A request to suspend the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkRequest {
    /// The reason.
    pub reason: Arc<str>,
    /// Whether the model itself requested it with its tool.
    pub by_itself: bool,
}

/// Holds requests to suspend a loop.
#[derive(Debug, Default)]
pub struct Parking {
    request: RefCell<Option<ParkRequest>>,
    /// Wakes a sleeping daemon.
    requested: Notify,
}

impl Parking {
    /// Requests that the loop be suspended at the start of its next iteration. The first request wins.
    pub fn request(&self, reason: impl Into<Arc<str>>, by_itself: bool) {
        self.request.borrow_mut().get_or_insert_with(|| ParkRequest { reason: reason.into(), by_itself });
        self.requested.notify_waiters();
    }

    /// Waits for a request.
    pub(super) async fn wait(&self) {
        loop {
            let requested = self.requested.notified();
            if self.request.borrow().is_some() {
                return;
            }
            requested.await;
        }
    }

    /// Returns the request, if there is one.
    #[must_use]
    pub fn requested(&self) -> Option<ParkRequest> {
        self.request.borrow().clone()
    }

    /// Clears the request: the loop goes on, or is over.
    pub fn clear(&self) {
        self.request.borrow_mut().take();
    }
}

impl RunningLoop<'_> {
    /// Returns the queue of requests that the model may use.
    pub(super) fn own_parking(&self) -> Option<&Rc<Parking>> {
        Some(&self.parking).filter(|_| self.options.continuity.can_suspend())
    }
}

/// The tool by which a model parks itself.
pub(super) struct AwaitResumption {
    parking: Rc<Parking>,
}

/// The tool's specification, as sent to the model.
static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let text = Data::dict([("type", Data::from("string")), ("description", "The event that you wait for.".into())]);
    let parameters = Data::dict([
        ("type", Data::from("object")),
        ("properties", Data::dict([("reason", text)])),
        ("required", Data::list(["reason".into()])),
    ]);
    let description = "Suspends you after this turn until you are resumed. Call it when you can only wait for an \
        outside event.";
    ToolSpec::new(AwaitResumption::NAME, description, parameters)
});

impl AwaitResumption {
    const NAME: &'static str = "agent_await_resumption";

    /// Returns the tools of a loop and this one, unless one of them has its name.
    pub(super) fn beside(tools: &[Rc<dyn Tool>], parking: &Rc<Parking>) -> Vec<Rc<dyn Tool>> {
        let mut all = tools.to_vec();
        if !all.iter().any(|tool| tool.spec().name.as_ref() == Self::NAME) {
            all.push(Rc::new(AwaitResumption { parking: parking.clone() }));
        }
        all
    }
}

impl Tool for AwaitResumption {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn call<'a>(&'a self, _: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        let reason = call.arguments.get("reason").to_text();
        if reason.trim().is_empty() {
            return Answer::Now(Ok(Output::error("set `reason` to the event that you wait for")));
        }
        let text = format!("You will be suspended after this turn ({reason}) and can continue once you are resumed.");
        self.parking.request(reason, true);
        Answer::Now(Ok(Output::of(Data::from(text))))
    }
}
