//! Handing a task over.

use crate::convert::to_value;
use crate::fault::{of_session, to_raise};
use crate::here;
use crate::lint;
use crate::options::{HandoffOptions, OptionSet};
use crate::workers::handed;
use base::clock::Clock;
use base::data::Data;
use base::ids::Ids;
use lang::value::Value;
use lang::vm::{Cx, Raise, Wait};
use runtime::events::EventKind;
use runtime::hooks::HookEvent;
use runtime::lifecycle::{DiscardReason, discard};
use runtime::listeners::fire;
use runtime::seam::Turn;
use runtime::workers::propagation;
use std::sync::Arc;

lang::builtins! { "" =>
    /// Makes the envelope by which a persona hands a task to another, or to a person: the given
    /// dict with `id`, `session_id` and `reminder_propagation`, the reminders that the recipient
    /// inherits.
    ///
    /// ```harn
    /// let given = handoff({source_persona: "planner", target_persona_or_human: "coder", task: "Fix it.", reason: "It is ready."})
    /// given.task // => "Fix it."
    /// ```
    waits "handoff(handoff: Handoff) -> HandoffEnvelope" [lint = lint::handoff] hand_off;
}

fn hand_off(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let options = HandoffOptions::read(cx, args, 0)?;
    let persona = required(options.source_persona, "source_persona")?;
    let reason = required(options.reason, "reason")?;
    let target = options.target_persona_or_human.ok_or_else(|| missing("target_persona_or_human"))?;
    let task = options.task.ok_or_else(|| missing("task"))?;
    let session = match options.session_id {
        Some(id) => {
            let found = world.agents.sessions.get(&id);
            Some(found.map_err(|e| of_session(&e).about(0, "invalid `session_id`"))?)
        }
        None => here::session(cx),
    };
    let handed = handed(&world, options.reminder_propagation.as_ref(), 0, session.as_ref(), &here::scope(cx, &world))?;
    let now_ms = world.clock.now_ms();
    let id =
        session.as_ref().map_or_else(|| world.random.ids.next_text(now_ms), |session| session.ids().next_text(now_ms));
    let mut envelope = Data::dict([
        ("_type", Data::from("handoff")),
        ("id", (&id).into()),
        ("source_persona", (&persona).into()),
        ("target_persona_or_human", target),
        ("task", task),
        ("reason", reason.into()),
        ("session_id", session.as_ref().map(|session| session.id().clone()).into()),
        ("created_at_ms", now_ms.into()),
        ("reminder_propagation", propagation::to_data(&handed)),
    ]);
    if let Some(metadata) = options.metadata {
        envelope.set("metadata", metadata);
    }
    let scope = here::own_scope(cx, &world);
    let cancel = scope.cancel.clone();
    Ok(Wait::new(async move {
        // Outside of a session its handlers still see it; their reminders would have no reader.
        let alone = session.is_none();
        let session = session.unwrap_or_else(|| world.agents.sessions.detached(&id, now_ms));
        let payload = Data::dict([("persona", Data::from(&persona)), ("handoff", envelope.clone())]);
        let event = HookEvent::Raw { kind: EventKind::OnHandoffEmitted, payload: &payload };
        let turn = Turn { session: &session, number: session.with(|state| state.turns), scope: &scope };
        let fired = fire::fire(&world.agents.hooks, turn, &event, false).get().await;
        if alone {
            session.apply(&scope, |transcript, _| discard(transcript, DiscardReason::Close), std::mem::take);
        }
        fired.map_err(|e| to_raise(&e))?;
        for note in &scope.notes.all() {
            world.console.show(note);
        }
        Ok(to_value(&envelope))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

fn required(text: Option<Arc<str>>, name: &str) -> Result<Arc<str>, Box<Raise>> {
    text.filter(|text| !text.trim().is_empty()).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Box<Raise> {
    let raise = Raise::error(lang::check::CheckCode::Key, format!("a handoff needs `{name}`"));
    raise.about(0, format!("missing `{name}`"))
}
