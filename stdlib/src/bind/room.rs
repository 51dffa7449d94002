//! Models and tools that wait until the host has room for what they will show.

use crate::hosting::Hosting;
use base::call::{Answer, Outcome};
use runtime::budget::Quote;
use runtime::message::{ToolCall, ToolSpec};
use runtime::model::{Delta, Destination, ModelReply, Request};
use runtime::seam::{Model, Output, Preview, Tool, Turn};
use std::rc::Rc;

/// A model or tool that waits for room, and the inner one.
struct WaitingForRoom<T: ?Sized> {
    inner: Rc<T>,
    hosting: Rc<Hosting>,
}

/// A model that waits for room.
pub(crate) fn roomy_model(inner: Rc<dyn Model>, hosting: &Rc<Hosting>) -> Rc<dyn Model> {
    Rc::new(WaitingForRoom { inner, hosting: hosting.clone() })
}

/// Tools that wait for room.
pub(crate) fn roomy_tools(tools: Vec<Rc<dyn Tool>>, hosting: &Rc<Hosting>) -> Vec<Rc<dyn Tool>> {
    let roomy = |inner| Rc::new(WaitingForRoom { inner, hosting: hosting.clone() }) as Rc<dyn Tool>;
    tools.into_iter().map(roomy).collect()
}

impl Model for WaitingForRoom<dyn Model> {
    fn ready(&self, request: &Request) -> Outcome<()> {
        self.inner.ready(request)
    }

    fn destination(&self, request: &Request) -> Destination {
        self.inner.destination(request)
    }

    fn quote(&self, request: &Request) -> Outcome<Quote> {
        self.inner.quote(request)
    }

    fn grace_ms(&self) -> u64 {
        self.inner.grace_ms()
    }

    fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        Answer::later(async move {
            (self.hosting.room)().await;
            self.inner.call(turn, request, live).get().await
        })
    }
}

impl Tool for WaitingForRoom<dyn Tool> {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::later(async move {
            (self.hosting.room)().await;
            self.inner.call(turn, call).get().await
        })
    }

    fn preview(&self, call: &ToolCall) -> Result<Option<Preview>, String> {
        self.inner.preview(call)
    }

    fn call_previewed<'a>(
        &'a self,
        turn: Turn<'a>,
        call: &'a ToolCall,
        preview: &'a Preview,
    ) -> Answer<'a, Outcome<Output>> {
        Answer::later(async move {
            (self.hosting.room)().await;
            self.inner.call_previewed(turn, call, preview).get().await
        })
    }
}
