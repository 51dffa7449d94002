//! The registered handlers. A running event keeps the list it started with, so a handler registered meanwhile does not
//! affect it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::events::{EventKind, EventSet};
use crate::reminder::bridge::Seam;

use super::{Hook, HookEvent};

mod pattern;

pub use pattern::{Pattern, PatternError};

/// Handlers around tool calls.
#[derive(Clone)]
pub struct ToolHook {
    /// The tools that it handles.
    pub pattern: Pattern,
    /// Handler that is called before the call.
    pub pre: Option<Rc<dyn Hook>>,
    /// Handler that is called after the call.
    pub post: Option<Rc<dyn Hook>>,
    /// Refuses the call, with this reason.
    pub deny: Option<Arc<str>>,
    /// Limit of the output, in characters.
    pub max_output: Option<usize>,
}

/// A handler of a session event, a seam or a worker event.
#[derive(Clone)]
pub struct SessionHook {
    /// The event it handles.
    pub event: EventKind,
    /// Filter on the events; `None` means all.
    pub pattern: Option<Pattern>,
    /// Seams at [`EventKind::LoopCheckpoint`]; `None` means all.
    pub seams: Option<Rc<[Seam]>>,
    /// The handler.
    pub hook: Rc<dyn Hook>,
}

impl SessionHook {
    /// Creates a handler of all events of a kind.
    pub fn new(event: EventKind, hook: Rc<dyn Hook>) -> SessionHook {
        SessionHook { event, pattern: None, seams: None, hook }
    }

    /// Returns whether it handles this event.
    #[must_use]
    pub fn wants(&self, event: &HookEvent<'_>) -> bool {
        let right_seam = || match (&self.seams, event) {
            (Some(seams), HookEvent::LoopCheckpoint { kind, .. }) => seams.contains(kind),
            _ => true,
        };
        self.event == event.kind() && right_seam() && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(event))
    }
}

/// A handler of a persona's or a step's event.
#[derive(Clone)]
pub struct PersonaHook {
    /// The personas it handles.
    pub persona: Pattern,
    /// The steps it handles; `None` means all, and the events outside of steps.
    pub step: Option<Pattern>,
    /// The event it handles.
    pub event: EventKind,
    /// The handler.
    pub hook: Rc<dyn Hook>,
}

impl PersonaHook {
    /// Returns whether it handles this event.
    #[must_use]
    pub fn wants(&self, event: &HookEvent<'_>) -> bool {
        let names = |pattern: &Pattern, field: &str| pattern.matches_name(event.get(field).as_str().unwrap_or(""));
        self.event == event.kind()
            && names(&self.persona, "persona")
            && self.step.as_ref().is_none_or(|step| names(step, "step"))
    }
}

/// A list that grows in place, unless a running event holds it.
type SharedList<T> = RefCell<Rc<Vec<T>>>;

/// All handlers of a program.
#[derive(Default)]
pub struct Hooks {
    tool: SharedList<ToolHook>,
    session: SharedList<SessionHook>,
    persona: SharedList<PersonaHook>,
    /// The events that have a handler, tool hooks excluded.
    heard: Cell<EventSet>,
}

impl Hooks {
    /// Maximum number of handlers that a program should register; each event calls all of them.
    pub const MOST: usize = 4096;

    /// Returns whether the limit is reached.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.tool.borrow().len() + self.session.borrow().len() + self.persona.borrow().len() >= Hooks::MOST
    }

    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Hooks {
        Hooks::default()
    }

    /// Registers a tool hook.
    pub fn add_tool(&self, hook: ToolHook) {
        append(&self.tool, hook);
    }

    /// Registers a handler of a session event, a seam or a worker event.
    pub fn add_session(&self, hook: SessionHook) {
        self.heard.set(self.heard.get().with(hook.event));
        append(&self.session, hook);
    }

    /// Registers a handler of a persona's or a step's event.
    pub fn add_persona(&self, hook: PersonaHook) {
        self.heard.set(self.heard.get().with(hook.event));
        append(&self.persona, hook);
    }

    /// Returns the tool hooks, in the order of registration.
    #[must_use]
    pub fn tool(&self) -> Rc<Vec<ToolHook>> {
        self.tool.borrow().clone()
    }

    /// Returns the handlers of session events, seams and worker events, in the order of registration.
    #[must_use]
    pub fn session(&self) -> Rc<Vec<SessionHook>> {
        self.session.borrow().clone()
    }

    /// Returns whether a handler is registered for events of this kind, other than around tool calls.
    #[must_use]
    pub fn hears(&self, kind: EventKind) -> bool {
        self.heard.get().contains(kind)
    }

    /// Returns the handlers for an event of a session, a worker or a persona, in the order of registration.
    #[must_use]
    pub fn wanting(&self, event: &HookEvent<'_>) -> Vec<Rc<dyn Hook>> {
        if event.kind().is_step() {
            let all = self.persona.borrow();
            return all.iter().filter(|registered| registered.wants(event)).map(|r| r.hook.clone()).collect();
        }
        let all = self.session.borrow();
        all.iter().filter(|registered| registered.wants(event)).map(|r| r.hook.clone()).collect()
    }

    /// Returns the handlers of personas and steps, in the order of registration.
    #[must_use]
    pub fn persona(&self) -> Rc<Vec<PersonaHook>> {
        self.persona.borrow().clone()
    }

    /// Removes all tool hooks.
    pub fn clear_tool(&self) {
        *self.tool.borrow_mut() = Rc::default();
    }

    /// Removes all handlers of session events, seams and worker events.
    pub fn clear_session(&self) {
        *self.session.borrow_mut() = Rc::default();
        self.heard.set(self.persona.borrow().iter().map(|hook| hook.event).collect());
    }

    /// Removes all handlers of personas and steps.
    pub fn clear_persona(&self) {
        *self.persona.borrow_mut() = Rc::default();
        self.heard.set(self.session.borrow().iter().map(|hook| hook.event).collect());
    }
}

fn append<T: Clone>(list: &SharedList<T>, item: T) {
    Rc::make_mut(&mut *list.borrow_mut()).push(item);
}
