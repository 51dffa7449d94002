//! The routes of a run, with a recording around them.

use super::replay::RequestsByLine;
use super::{Preview, RecordingMode, report};
use crate::clock::RunClock;
use base::call::{Answer, Outcome, call_error};
use lang::diagnostic::Diagnostic;
use lang::source::{SourceRef, Span};
use providers::model::{Mock, Routes};
use providers::recording::{RecordedRoute, RecordingError};
use runtime::budget::Quote;
use runtime::capabilities::Capabilities;
use runtime::model::{Delta, Destination, ModelError, ModelReply, Request};
use runtime::seam::{Model, Turn};
use std::cell::{OnceCell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

/// Finds the place in the script that waits for a model.
type PlaceFinder = Box<dyn Fn() -> Option<(SourceRef, Span)>>;

/// The routes of a run, with a recording around them.
pub(crate) struct Models {
    pub(super) routes: Routes,
    pub(super) clock: Rc<RunClock>,
    deck: RecordingMode,
    /// The error that broke the run off: it cannot go on as it was recorded, or cannot be recorded.
    broken: RefCell<Option<Diagnostic>>,
    place: OnceCell<PlaceFinder>,
    /// The requests of a replay so far.
    pub(super) lines: RequestsByLine,
}

impl Models {
    pub(crate) fn new(routes: Routes, clock: Rc<RunClock>, deck: RecordingMode) -> Self {
        Self {
            routes,
            clock,
            deck,
            broken: RefCell::default(),
            place: OnceCell::new(),
            lines: RequestsByLine::default(),
        }
    }

    /// Returns the capabilities of the usual model of a provider.
    pub(crate) fn capabilities(&self, provider: &str) -> Capabilities {
        self.routes.table().lookup(provider, "")
    }

    /// The mock, for scripting it and for seeing what it was sent.
    pub(crate) fn mock(&self) -> &Rc<Mock> {
        self.routes.mock()
    }

    /// Sets the function that finds the place in the script that waits.
    pub(crate) fn set_place(&self, place: impl Fn() -> Option<(SourceRef, Span)> + 'static) {
        let _ = self.place.set(Box::new(place));
    }

    /// Chooses the route of a call; a run that is run again chooses as it did.
    ///
    /// # Errors
    /// Fails if no route can be chosen.
    pub(crate) fn choose(&self, provider: Option<&str>, model: Option<&str>) -> Result<RecordedRoute, ModelError> {
        let choose = || self.routes.choose(provider, model).map(RecordedRoute::from).map_err(ModelError::from);
        match &self.deck {
            RecordingMode::Empty => choose(),
            RecordingMode::Previews(preview) => {
                preview.route(&self.routes, provider, model).map(RecordedRoute::from).map_err(ModelError::from)
            }
            RecordingMode::Records(recorder, _) => {
                let chosen = choose();
                self.written(recorder.chosen(provider, model, &chosen));
                chosen
            }
            RecordingMode::Replays { recording, .. } => recording.chosen(provider, model).unwrap_or_else(choose),
        }
    }

    /// Ends the run where something could not be written.
    pub(super) fn written(&self, outcome: Result<(), RecordingError>) {
        if let Err(error) = outcome {
            self.break_off(report::of(&error));
        }
    }

    /// Ends the run; the first reason counts.
    pub(super) fn break_off(&self, mut why: Diagnostic) {
        let mut broken = self.broken.borrow_mut();
        if broken.is_some() {
            return;
        }
        if let Some((source, span)) = self.place.get().and_then(|place| place()) {
            why = why.label(&source, span, "in this call");
        }
        *broken = Some(why);
    }

    /// Returns the error that broke the run off.
    pub(crate) fn broken(&self) -> Option<Diagnostic> {
        self.broken.borrow().clone()
    }

    /// Returns the preview, if requests are shown instead of sent.
    pub(crate) fn as_preview(&self) -> Option<&Preview> {
        if let RecordingMode::Previews(preview) = &self.deck { Some(preview) } else { None }
    }

    /// Returns whether requests are shown instead of sent.
    pub(crate) fn is_preview(&self) -> bool {
        self.as_preview().is_some()
    }

    /// Returns whether the run must not go on: it broke off, or enough of its requests were shown.
    pub(crate) fn is_stopped(&self) -> bool {
        self.broken.borrow().is_some() || matches!(&self.deck, RecordingMode::Previews(preview) if preview.is_over())
    }

    /// Does some work of the run; nothing where the run breaks off meanwhile.
    pub(crate) async fn unless_broken<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            let polled = work.as_mut().poll(cx);
            if self.is_stopped() { Poll::Ready(None) } else { polled.map(Some) }
        })
        .await
    }

    /// Keeps a request. The mock answers it, from its script if there is one; the last request gets no answer.
    async fn preview(&self, preview: &Preview, turn: Turn<'_>, request: &Request) -> Outcome<ModelReply> {
        let route = preview.route(&self.routes, request.provider.as_deref(), request.model.as_deref());
        let route = route.map_err(|error| call_error(ModelError::from(error)))?;
        if preview.take(turn, &route, request)? {
            return self.routes.ask_mock(turn, request, &route.model).await;
        }
        std::future::pending().await
    }

    /// There was nothing to run: the folder is as it was.
    pub(crate) fn discard(&self) {
        if let RecordingMode::Records(recorder, _) = &self.deck {
            recorder.discard();
        }
    }

    /// The run is over: the recording is closed, or found not to be at its end.
    pub(crate) fn finish(&self, exit_code: i32) -> Vec<Diagnostic> {
        match &self.deck {
            RecordingMode::Empty | RecordingMode::Previews(_) => Vec::new(),
            RecordingMode::Records(recorder, read) => {
                recorder.close(exit_code, &read.borrow()).err().iter().map(report::of).collect()
            }
            RecordingMode::Replays { recording, compared } => report::unused(recording, compared).into_iter().collect(),
        }
    }
}

impl Model for Models {
    fn ready(&self, request: &Request) -> Outcome<()> {
        match &self.deck {
            RecordingMode::Empty => self.routes.ready(request),
            _ => {
                let chosen = self.choose(request.provider.as_deref(), request.model.as_deref());
                chosen.map(drop).map_err(call_error)
            }
        }
    }

    fn destination(&self, request: &Request) -> Destination {
        match self.choose(request.provider.as_deref(), request.model.as_deref()) {
            Ok(choice) => Destination { provider: Some(choice.provider), model: Some(choice.model) },
            Err(_) => Destination { provider: request.provider.clone(), model: request.model.clone() },
        }
    }

    fn quote(&self, request: &Request) -> Outcome<Quote> {
        let route = self.choose(request.provider.as_deref(), request.model.as_deref()).map_err(call_error)?;
        route.quote(request).map_err(call_error)
    }

    fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        match &self.deck {
            RecordingMode::Empty => self.routes.call(turn, request, live),
            RecordingMode::Previews(preview) => Answer::later(self.preview(preview, turn, request)),
            RecordingMode::Records(recorder, _) => Answer::later(self.record(recorder, turn, request, live)),
            RecordingMode::Replays { recording, compared } => {
                Answer::later(self.replay(recording, compared, turn, request, live))
            }
        }
    }
}
