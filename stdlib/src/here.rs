//! Where a builtin is called: in which session, in which scope.

use crate::world::World;
use lang::vm::{Context, Cx, Raise, codes};
use runtime::reminder::lifecycle::Moment;
use runtime::seam::{Scope, Turn};
use runtime::session::Session;
use std::rc::Rc;
use std::sync::Arc;

/// What travels with the fibers that a session's hooks, tools and providers run on.
#[derive(Clone)]
pub(crate) struct Here {
    pub(crate) session: Rc<Session>,
    pub(crate) scope: Scope,
}

impl Here {
    /// A context for a call out of a turn.
    pub(crate) fn context(base: &Rc<Context>, turn: Turn<'_>) -> Rc<Context> {
        Rc::new(base.with_data(Rc::new(Self { session: turn.session.clone(), scope: turn.scope.clone() })))
    }
}

/// The world of the run.
pub(crate) fn world(cx: &Cx<'_>) -> Result<Rc<World>, Box<Raise>> {
    cx.host::<World>()
        .and_then(World::rc)
        .ok_or_else(|| Raise::error(codes::OUTSIDE, "this builtin needs a host that it does not have"))
}

/// The session at hand, inside a hook, tool or provider.
pub(crate) fn session(cx: &Cx<'_>) -> Option<Rc<Session>> {
    cx.context.data::<Here>().map(|here| here.session.clone())
}

/// The scope at hand, or one that nothing cancels.
pub(crate) fn scope(cx: &Cx<'_>, world: &World) -> Scope {
    cx.context.data::<Here>().map_or_else(|| world.scope(), |here| here.scope.clone())
}

/// The moment of a change to a bare transcript.
pub(crate) fn moment<'a>(id: &'a Arc<str>, scope: &'a Scope, world: &'a World) -> Moment<'a> {
    Moment {
        session_id: id,
        task_id: scope.task_id.as_ref(),
        agent_id: scope.agent_id.as_ref(),
        turn: 0,
        now_ms: scope.clock.now_ms(),
        ids: &world.ids,
    }
}
