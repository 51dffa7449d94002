//! Mailboxes: channels with a name that any task of the run can find, and that are never full.

use super::args;
use super::channel::{Channel, ReceivePlace};
use crate::value::{HostBox, HostObject, Str, Value};
use crate::vm::tasks::cross;
use crate::vm::{Cx, On, Raise, RunCode, Wait};
use std::any::Any;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

/// Messages that a mailbox holds: more means that nobody reads it.
const FULL: usize = 100_000;

crate::builtins! { "" =>
    /// The mailbox of that name, made where there is none yet.
    plain "mailbox_open(name: string) -> any" mailbox_open;
    /// Puts a message into a mailbox, given by its name or as `mailbox_open` gave it.
    plain "mailbox_send(mailbox: any, message: any) -> nil" mailbox_send;
    /// The next message, waiting for it; nil when none came within `timeout`.
    waits "mailbox_receive(mailbox: any, timeout: int? = nil) -> any" mailbox_receive;
}

/// A mailbox as a value.
struct Mailbox(Rc<Channel>);

impl HostObject for Mailbox {
    fn type_name(&self) -> &'static str {
        "mailbox"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn open(cx: &Cx<'_>, name: &Str) -> Result<Value, Box<Raise>> {
    cx.isolate.named(&format!("mailbox {name}"), || {
        Ok(HostBox::value(Mailbox(Channel::new(cx.isolate, name.clone(), usize::MAX))))
    })
}

/// The mailbox in the first argument.
fn mailbox_of(cx: &Cx<'_>, args: &[Value]) -> Result<Rc<Channel>, Box<Raise>> {
    let found = match &args[0] {
        Value::Str(name) => open(cx, name)?,
        other => other.clone(),
    };
    match found.as_host::<Mailbox>() {
        Some(mailbox) => Ok(mailbox.0.clone()),
        None => Err(args::mismatch(args, 0, "a mailbox or its name").help("open one with `mailbox_open(name)`")),
    }
}

fn mailbox_open(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    open(cx, args::str(args, 0)?)
}

fn mailbox_send(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mailbox = mailbox_of(cx, args)?;
    if mailbox.len() >= FULL {
        let message = format!("mailbox is full: it holds {FULL} unread messages");
        return Err(Raise::error(RunCode::Size, message).about(0, "full"));
    }
    mailbox.send(cross(cx.isolate, &args[1])?)?;
    Ok(Value::Nil)
}

fn mailbox_receive(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let mailbox = mailbox_of(cx, args)?;
    if args[1].is_nil() {
        return Ok(mailbox.receive());
    }
    let host = cx.isolate.host();
    let mut alarm = host.alarm(host.now_ms().saturating_add(args::duration(args, 1)?));
    let place = ReceivePlace::new(&mailbox);
    if let Some(message) = place.next() {
        return Ok(Wait::ready(Ok(message)));
    }
    Ok(Wait::new(poll_fn(move |cx| match place.next() {
        Some(message) => Poll::Ready(Ok(message)),
        None if alarm.as_mut().poll(cx).is_ready() => Poll::Ready(Ok(Value::Nil)),
        None => place.wait(cx.waker()),
    }))
    .on(On::Task("for a message in a mailbox", None))
    .taking())
}
