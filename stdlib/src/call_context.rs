//! [`CallContext`]: what a call of a script function inherits from the turn that makes it.

use lang::vm::{Context, Halt};
use runtime::receipt::AuditLog;
use runtime::scope::{Scope, WorkPath};
use runtime::seam::Turn;
use runtime::session::Session;
use std::any::Any;
use std::rc::Rc;

/// The context that a fiber passes on to those that it starts.
#[derive(Clone, Default)]
pub(crate) struct CallContext {
    /// The session whose hook, tool or provider it is.
    pub(crate) session: Option<Rc<Session>>,
    /// The scope around the turn.
    pub(crate) scope: Option<Scope>,
    /// The script that the mock model answers from.
    pub(crate) script: Option<u64>,
    /// The log of tool-call receipts.
    pub(crate) audit: Option<Rc<AuditLog>>,
}

impl CallContext {
    /// A context for a call out of a turn, which `halt` stops by itself.
    pub(crate) fn context(base: &Context, turn: Turn<'_>, halt: Halt) -> Context {
        let (session, scope) = (Some(turn.session.clone()), Some(turn.scope.clone()));
        let here = Self {
            session,
            scope,
            script: turn.scope.script,
            audit: turn.scope.receipts.as_ref().map(|receipts| receipts.log.clone()),
        };
        // It works in the line of those who call it, not of those who registered it.
        let line = turn.scope.caller.path.as_any().downcast_ref::<WorkLine>();
        let mut context = base.clone();
        context.halt = Some(halt);
        context.data = Some(Rc::new(here));
        if let Some(line) = line {
            context.path = line.0.clone();
        }
        context
    }

    /// A context in which receipts of tool calls are filed, with the place for them.
    pub(crate) fn with_audit(base: &Context) -> (Context, Rc<AuditLog>) {
        let here = base.data::<Self>().cloned().unwrap_or_default();
        let audit = AuditLog::inside(here.audit.clone());
        (base.with_data(Rc::new(Self { audit: Some(audit.clone()), ..here })), audit)
    }

    /// A context in which the mock model answers from a script.
    pub(crate) fn with_script(base: &Context, script: u64) -> Context {
        let here = base.data::<Self>().cloned().unwrap_or_default();
        base.with_data(Rc::new(Self { script: Some(script), ..here }))
    }
}

/// A line of work of the language, as the core sees it.
pub(crate) struct WorkLine(pub(crate) lang::vm::Path);

impl WorkPath for WorkLine {
    fn name(&self) -> Rc<str> {
        self.0.name().clone()
    }

    fn child(&self, kind: &'static str) -> Rc<dyn WorkPath> {
        Rc::new(Self(self.0.child(kind)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
