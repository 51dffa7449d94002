//! `harn preview`: the requests of a run, caught before they reach a model.

use crate::fault::as_diagnostic;
use base::call::{Outcome, call_error};
use lang::diagnostic::Diagnostic;
use providers::model::{HistoryRule, Provider, Route, RouteError, Routes};
use runtime::model::{PrefixMeter, Request, RequestSize};
use runtime::note::Note;
use runtime::reminder::slots::Rendered;
use runtime::seam::Turn;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The requests of a run that are shown instead of sent.
#[derive(Debug, Default)]
pub struct Preview {
    provider: Option<Provider>,
    most: usize,
    requests: RefCell<Vec<PreviewedRequest>>,
    /// The meter of each session.
    meters: RefCell<BTreeMap<Arc<str>, PrefixMeter>>,
    is_over: Cell<bool>,
    /// Tools that run all the same.
    tools: Vec<String>,
    /// The named tools that a loop has offered.
    offered: RefCell<BTreeSet<String>>,
    /// Problems of handlers and providers that did not end the run.
    diagnostics: RefCell<Vec<Diagnostic>>,
}

/// A request that would be sent.
#[derive(Debug, Clone)]
pub struct PreviewedRequest {
    /// The session.
    pub session_id: Arc<str>,
    /// The turn of the session.
    pub turn: u32,
    /// The provider.
    pub provider: &'static str,
    /// The model.
    pub model: Arc<str>,
    /// The wire format.
    pub wire: &'static str,
    /// The JSON document, byte for byte as it would be sent.
    pub body: String,
    /// Its size in the form that the event log measures, in bytes.
    pub size: u64,
    /// The bytes of [`Self::size`] that it shares with the session's request before it, from the first on.
    pub shared: Option<u64>,
    /// The reminders in it, oldest first.
    pub reminders: Vec<PreviewedReminder>,
    /// The number of reminders for which the route has no slot.
    pub dropped: usize,
    /// The rules of the route that changed the document.
    pub rules: Vec<&'static HistoryRule>,
}

/// A reminder in a request.
#[derive(Debug, Clone)]
pub struct PreviewedReminder {
    /// Its id.
    pub id: Arc<str>,
    /// Its name for people: the key, else the tags, else the producer.
    pub name: String,
    /// The slot that it was rendered into.
    pub slot: &'static str,
    /// The rendered text.
    pub text: Arc<str>,
    /// The number of further prompts in which it appears; `None` if it stays until it is cleared.
    pub ttl_left: Option<u32>,
}

impl Preview {
    /// Catches at most `most` requests. With a provider, all of them go there, whatever the script selects.
    ///
    /// # Errors
    /// The provider is unknown.
    pub fn new(provider: Option<&str>, most: usize) -> Result<Self, String> {
        let provider = provider.map(str::parse).transpose().map_err(|error: RouteError| error.to_string())?;
        Ok(Self { provider, most, ..Self::default() })
    }

    /// Lets tools of these names run; all others only appear in the requests.
    #[must_use]
    pub fn with_tools(self, tools: Vec<String>) -> Self {
        Self { tools, ..self }
    }

    /// Returns whether a tool that a loop offers runs.
    pub(crate) fn runs(&self, tool: &str) -> bool {
        let runs = self.tools.iter().any(|name| name == tool);
        if runs {
            self.offered.borrow_mut().insert(tool.to_owned());
        }
        runs
    }

    /// Returns the tools that should run, and that no loop has offered.
    #[must_use]
    pub fn missing_tools(&self) -> Vec<String> {
        let offered = self.offered.borrow();
        self.tools.iter().filter(|name| !offered.contains(*name)).cloned().collect()
    }

    /// Returns the problems of handlers and providers before the last request, each once.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics.borrow().clone()
    }

    /// Returns the names of all providers.
    #[must_use]
    pub fn providers() -> [&'static str; 6] {
        Provider::ALL.map(Provider::as_str)
    }

    /// Returns the caught requests.
    #[must_use]
    pub fn requests(&self) -> Vec<PreviewedRequest> {
        self.requests.borrow().clone()
    }

    /// Returns whether the run was ended because enough requests were caught.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Returns the route of a call: the script's own if it leads to the previewed provider.
    pub(super) fn route(
        &self,
        routes: &Routes,
        provider: Option<&str>,
        model: Option<&str>,
    ) -> Result<Route, RouteError> {
        let own = routes.choose(provider, model);
        match self.provider {
            Some(wanted) if own.as_ref().is_ok_and(|route| route.provider == wanted) => own,
            Some(wanted) => routes.choose(Some(wanted.as_str()), None),
            None => own,
        }
    }

    /// Keeps a request. Returns whether the run goes on.
    pub(super) fn take(&self, turn: Turn<'_>, route: &Route, request: &Request) -> Outcome<bool> {
        let body = route.body(request).map_err(call_error)?.to_string();
        self.note(&turn.scope.notes.all());
        let mut meters = self.meters.borrow_mut();
        let RequestSize { total, shared, .. } = meters.entry(turn.session.id().clone()).or_default().measure(request);
        let mut requests = self.requests.borrow_mut();
        requests.push(PreviewedRequest {
            session_id: turn.session.id().clone(),
            turn: turn.number,
            provider: route.provider.as_str(),
            model: route.model.clone(),
            wire: route.wire.as_str(),
            body,
            size: total,
            shared,
            reminders: reminders(turn, &request.reminders),
            dropped: request.reminders.dropped.len(),
            rules: route.applied_rules(request),
        });
        let goes_on = requests.len() < self.most;
        self.is_over.set(!goes_on);
        Ok(goes_on)
    }
}

impl Preview {
    fn note(&self, notes: &[Note]) {
        let mut known = self.diagnostics.borrow_mut();
        for found in notes.iter().map(as_diagnostic) {
            if !known.iter().any(|other| other.code == found.code && other.message == found.message) {
                known.push(found);
            }
        }
    }
}

/// Returns the rendered reminders.
fn reminders(turn: Turn<'_>, rendered: &Rendered) -> Vec<PreviewedReminder> {
    let transcript = turn.session.transcript();
    let found = rendered.fired.iter().map(|fired| {
        let pending = transcript.find(&fired.id);
        let name = pending.map(|pending| {
            let reminder = &pending.reminder;
            let tags = (!reminder.tags.is_empty()).then(|| reminder.tags.join(", "));
            let key = reminder.dedupe_key.as_ref().map(ToString::to_string);
            key.or(tags).or_else(|| reminder.producer.as_ref().map(ToString::to_string))
        });
        PreviewedReminder {
            id: fired.id.clone(),
            name: name.flatten().unwrap_or_else(|| fired.id.to_string()),
            slot: fired.rendered_role.as_str(),
            text: fired.text.clone(),
            ttl_left: pending.and_then(|pending| transcript.ttl_after_open_prompts(pending)),
        }
    });
    found.collect()
}
