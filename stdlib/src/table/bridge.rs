//! Host operations over a bridge, as builtins: for tests, and for hosts that embed the runtime.

use crate::arguments::session_arg;
use crate::codes::AgentCode;
use crate::convert::{to_data, to_value};
use crate::fault::{of_reminder, to_raise};
use crate::here;
use crate::lint;
use crate::options::label_of;
use base::data::Data;
use eventlog::Ticket;
use lang::builtins::args;
use lang::diagnostic::nearest;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode, Wait};
use runtime::reminder::Surface;
use runtime::reminder::bridge::{MessagePayload, Queue, QueueError, RemindPayload, Revocation, Seam};
use runtime::scope::Scope;
use std::sync::{MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

lang::builtins! { "" =>
    /// Injects an item as a host would: the parameters of `session/remind`, or with `content` those
    /// of `session/inject`. Returns once the log holds it. A queued reminder with the same
    /// `dedupe_key` is replaced, whatever its mode.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_push_bridge_injection("s", {content: "Stop.", mode: "finish_step"})
    /// agent_session_pending_injections("s").pendingCount // => 1
    /// ```
    waits "agent_session_push_bridge_injection(id: any, params: BridgeInjection) -> InjectionAccepted" [lint = lint::bridge_injection] push;
    /// Returns the items in a session's queue, oldest first: `{pendingCount, injections}`.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_pending_injections("s").pendingCount // => 0
    /// ```
    plain "agent_session_pending_injections(id: any) -> InjectionsPending" pending;
    /// Takes a queued item back: `{status: "revoked" | "already_revoked" | "replaced"}`.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// let pushed = agent_session_push_bridge_injection("s", {body: "Be brief.", mode: "finish_step"})
    /// agent_session_revoke_reminder("s", pushed.reminderId).status // => "revoked"
    /// ```
    waits "agent_session_revoke_reminder(id: any, reminder_id: string) -> ReminderRevoked" revoke;
    /// Delivers what is due at a seam, as a loop that passes it would: `{delivered, injections}`.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_push_bridge_injection("s", {content: "Stop.", mode: "finish_step"})
    /// agent_session_drain_bridge_injections("s", "iteration_end").delivered // => 1
    /// ```
    plain "agent_session_drain_bridge_injections(id: any, seam: string) -> InjectionsDelivered" drain;
}

fn push(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_push_bridge_injection")?;
    let params = to_data(&args[1]).map_err(|raise| raise.about(1, ""))?;
    let scope = here::scope(cx, &world);
    let is_message = params.get("body").is_nil() && !(params.get("content").is_nil() && params.get("text").is_nil());
    let (key, mode, accepted) = if is_message {
        let payload = MessagePayload::from_data(&params).map_err(|e| of_reminder(&e).about(1, label_of(&e)))?;
        ("injectionId", payload.mode, session.accept_message(&scope, payload))
    } else {
        let payload = RemindPayload::from_data(&params).map_err(|e| of_reminder(&e).about(1, label_of(&e)))?;
        ("reminderId", payload.mode, session.accept_reminder(&scope, payload))
    };
    let accepted = accepted.map_err(|e| of_queue(&e).about(0, "this session"))?;
    Ok(once_durable(
        &scope,
        Value::record([
            ("status", Value::str("accepted")),
            (key, Value::str(&accepted.id)),
            ("mode", Value::str(mode.as_str())),
            ("dedupedCount", Value::from(accepted.deduped_count)),
        ]),
    ))
}

fn pending(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_pending_injections")?;
    let rows: Data = locked(session.queue()).pending().map(|item| item.to_data(Surface::Script)).collect();
    let count = rows.as_list().map_or(0, <[Data]>::len);
    Ok(to_value(&Data::dict([("pendingCount", Data::from(count)), ("injections", rows)])))
}

fn revoke(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_revoke_reminder")?;
    let id = args::str(args, 1)?;
    let scope = here::scope(cx, &world);
    let revoked = session.revoke_injection(&scope, id);
    let status = match revoked.map_err(|e| of_queue(&e).about(1, ""))? {
        Revocation::Now => "revoked",
        Revocation::Already => "already_revoked",
        Revocation::Replaced => "replaced",
    };
    Ok(once_durable(&scope, Value::record([("status", Value::str(status)), ("reminderId", Value::str(id))])))
}

/// An answer that a crash must not make untrue.
fn once_durable(scope: &Scope, answer: Value) -> Wait {
    let log = scope.log.clone();
    let mut durable = log.durable(Ticket::ALL);
    match durable.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(safe) => Wait::ready(safe.map(|()| answer).map_err(|e| to_raise(&e))),
        Poll::Pending => {
            drop(durable);
            Wait::new(async move { log.durable(Ticket::ALL).await.map(|()| answer).map_err(|e| to_raise(&e)) })
        }
    }
}

fn drain(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_drain_bridge_injections")?;
    let seam = seam_arg(args::str(args, 1)?, 1)?;
    let delivered = session.deliver(&here::scope(cx, &world), seam);
    let rows: Data = delivered.iter().map(|item| item.to_data(Surface::Script)).collect();
    Ok(to_value(&Data::dict([("delivered", Data::from(delivered.len())), ("injections", rows)])))
}

/// The seam of a name.
pub(super) fn seam_arg(name: &str, i: usize) -> Result<Seam, Box<Raise>> {
    name.parse::<Seam>().map_err(|_| {
        let raise = Raise::error(RunCode::Value, format!("unknown seam `{name}`")).about(i, "unknown seam");
        match nearest(name, Seam::WORDS.iter().copied()) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise.help(format!("the seams are {}", Seam::WORDS.join(", "))),
        }
    })
}

pub(super) fn of_queue(error: &QueueError) -> Box<Raise> {
    let status = match error {
        QueueError::Full(_) | QueueError::LogBehind => "queue_full",
        QueueError::AlreadyDelivered(_) => "already_delivered",
        QueueError::Unknown(_) => "unknown",
        QueueError::Closed => "closed",
        QueueError::Refused(_) => "policy",
    };
    let code = if matches!(error, QueueError::Unknown(_)) { AgentCode::UnknownReminder } else { AgentCode::Queue };
    Raise::error(code, error.to_string()).field("status", status)
}

fn locked(queue: &runtime::reminder::bridge::SharedQueue) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
