//! Channels: values go from task to task, in order, each to one receiver.
//!
//! Nothing is handed to a receiver that only waits: it is woken and takes for itself. So a task that is cancelled at that
//! moment loses no message; it passes the wake on.

use super::args;
use crate::value::{HostBox, HostObject, Str, Value, release};
use crate::vm::tasks::{Waiters, cross};
use crate::vm::{Cx, Holder, Isolate, Next, On, Outcome, Raise, RunCode, Wait};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

crate::builtins! { "" =>
    /// A channel that holds so many values before `send` waits. With a capacity of 0 each `send` waits for its receiver.
    plain "channel(name: string = \"channel\", capacity: int = 256) -> channel" make;
    /// Sends a value, waiting while the channel is full. A closed channel raises.
    waits "send(channel: channel, value: any) -> nil" send;
    /// The next value, waiting for it; nil once the channel is closed and empty.
    waits "receive(channel: channel<T>) -> T?" receive;
    /// The next value if there is one already, else nil.
    plain "try_receive(channel: channel<T>) -> T?" try_receive;
    /// Closes a channel: what was sent can still be received, senders that wait fail, receivers that wait get nil.
    plain "close_channel(channel: channel) -> nil" close_channel;
}

/// A queue with two ends.
pub(super) struct Channel {
    name: Str,
    capacity: usize,
    state: RefCell<ChannelState>,
    receivers: Waiters,
}

#[derive(Default)]
struct ChannelState {
    items: VecDeque<Value>,
    /// Values of senders that wait for room.
    offers: VecDeque<(Value, Rc<Offer>)>,
    closed: bool,
}

/// A sender that waits.
#[derive(Default)]
struct Offer {
    fate: Cell<Fate>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Open,
    Taken,
    Refused,
}

impl Offer {
    fn settle(&self, fate: Fate) {
        self.fate.set(fate);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Holder for Channel {
    fn clear(&self) {
        let state = self.state.take();
        for value in state.items.into_iter().chain(state.offers.into_iter().map(|(value, _)| value)) {
            release(value);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Channel {
    /// An open channel.
    pub(super) fn new(isolate: &Isolate, name: Str, capacity: usize) -> Rc<Self> {
        let channel = Rc::new(Self { name, capacity, state: RefCell::default(), receivers: Waiters::default() });
        let holder: Rc<dyn Holder> = channel.clone();
        isolate.note_holder(&holder);
        channel
    }

    /// Returns the number of values in the channel.
    pub(super) fn len(&self) -> usize {
        self.state.borrow().items.len()
    }

    /// Puts a value in, or offers it until there is room.
    pub(super) fn send(self: &Rc<Self>, value: Value) -> Result<Wait, Box<Raise>> {
        let state = &mut *self.state.borrow_mut();
        if state.closed {
            return Err(self.refused());
        }
        if state.offers.is_empty() && state.items.len() < self.capacity {
            state.items.push_back(value);
            self.receivers.wake_one();
            return Ok(Wait::ready(Ok(Value::Nil)));
        }
        let offer = Rc::<Offer>::default();
        state.offers.push_back((value, offer.clone()));
        self.receivers.wake_one();
        let place = SendPlace { channel: self.clone(), offer };
        let wait = poll_fn(move |cx| match place.offer.fate.get() {
            Fate::Taken => Poll::Ready(Ok(Value::Nil)),
            Fate::Refused => Poll::Ready(Err(place.channel.refused())),
            Fate::Open => {
                *place.offer.waker.borrow_mut() = Some(cx.waker().clone());
                Poll::Pending
            }
        });
        Ok(Wait::new(wait).on(On::Task("to send to the channel", Some(self.name.clone()))))
    }

    fn refused(&self) -> Box<Raise> {
        Raise::error(RunCode::Closed, format!("channel `{}` is closed", self.name))
    }

    /// The next value, if there is one.
    pub(super) fn take(&self) -> Option<Value> {
        let state = &mut *self.state.borrow_mut();
        let item = state.items.pop_front();
        let offered = state.offers.pop_front().map(|(value, offer)| {
            offer.settle(Fate::Taken);
            value
        });
        match (item, offered) {
            (Some(item), offered) => {
                state.items.extend(offered);
                Some(item)
            }
            (None, offered) => offered,
        }
    }

    /// The next value or, when it is closed and empty, `end`; nothing while there is nothing.
    fn next_or(&self, end: impl FnOnce() -> Value) -> Option<Value> {
        self.take().or_else(|| self.is_closed().then(end))
    }

    fn is_closed(&self) -> bool {
        self.state.borrow().closed
    }

    fn has_some(&self) -> bool {
        let state = self.state.borrow();
        !state.items.is_empty() || !state.offers.is_empty()
    }

    /// Waits for the next value.
    pub(super) fn receive(self: &Rc<Self>) -> Wait {
        match self.next_or(Value::default) {
            Some(value) => Wait::ready(Ok(value)),
            None => self.wait_for(|channel| channel.next_or(Value::default)),
        }
    }

    fn wait_for(self: &Rc<Self>, next: impl Fn(&Self) -> Option<Value> + 'static) -> Wait {
        let place = ReceivePlace::new(self);
        let name = Some(self.name.clone());
        Wait::new(poll_fn(move |cx| match next(&place.channel) {
            Some(value) => Poll::Ready(Ok(value)),
            None => place.wait(cx.waker()),
        }))
        .on(On::Task("to receive from the channel", name))
        .taking()
    }

    fn close(&self) {
        let offers = {
            let state = &mut *self.state.borrow_mut();
            state.closed = true;
            std::mem::take(&mut state.offers)
        };
        for (value, offer) in offers {
            offer.settle(Fate::Refused);
            drop(value);
        }
        self.receivers.wake_all();
    }
}

/// A place among the senders: a value that was not taken is taken back.
struct SendPlace {
    channel: Rc<Channel>,
    offer: Rc<Offer>,
}

impl Drop for SendPlace {
    fn drop(&mut self) {
        if self.offer.fate.get() == Fate::Open {
            let mut state = self.channel.state.borrow_mut();
            if let Some(at) = state.offers.iter().position(|(_, offer)| Rc::ptr_eq(offer, &self.offer)) {
                let taken_back = state.offers.remove(at);
                drop(state);
                drop(taken_back);
            }
        }
    }
}

/// A place among the receivers: a wake that was not used is passed on.
pub(super) struct ReceivePlace {
    channel: Rc<Channel>,
    ticket: u64,
}

impl ReceivePlace {
    pub(super) fn new(channel: &Rc<Channel>) -> Self {
        Self { ticket: channel.receivers.ticket(), channel: channel.clone() }
    }

    /// Value that `receive` could return at once.
    pub(super) fn next(&self) -> Option<Value> {
        self.channel.next_or(Value::default)
    }

    pub(super) fn wait(&self, waker: &Waker) -> Poll<Outcome> {
        self.channel.receivers.join(self.ticket, waker);
        Poll::Pending
    }
}

impl Drop for ReceivePlace {
    fn drop(&mut self) {
        self.channel.receivers.leave(self.ticket);
        if self.channel.has_some() {
            self.channel.receivers.wake_one();
        }
    }
}

/// A channel as a value.
struct ChannelValue(Rc<Channel>);

impl HostObject for ChannelValue {
    fn type_name(&self) -> &'static str {
        "channel"
    }

    fn next(&self) -> Option<Next> {
        Some(match self.0.take() {
            Some(value) => Next::Ready(Ok(Some(value))),
            None if self.0.is_closed() => Next::Ready(Ok(None)),
            None => Next::Later(self.0.wait_for(|channel| match channel.take() {
                Some(value) => Some(Value::pair(value, Value::Bool(true))),
                None => channel.is_closed().then_some(Value::Nil),
            })),
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The channel in an argument.
pub(super) fn channel_of(args: &[Value], i: usize) -> Result<&Rc<Channel>, Box<Raise>> {
    match args.get(i).and_then(Value::as_host::<ChannelValue>) {
        Some(channel) => Ok(&channel.0),
        None => Err(args::mismatch(args, i, "a channel").help("create one with `channel(name, capacity)`")),
    }
}

fn make(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let name = args::opt_str(args, 0)?.cloned().unwrap_or_else(|| Str::new("channel"));
    let capacity = if args[1].is_nil() { 256 } else { args::count(args, 1)? };
    Ok(HostBox::value(ChannelValue(Channel::new(cx.isolate, name, capacity))))
}

fn send(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let channel = channel_of(args, 0)?.clone();
    channel.send(cross(cx.isolate, &args[1])?).map_err(|raise| raise.about(0, "closed"))
}

fn receive(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    Ok(channel_of(args, 0)?.receive())
}

fn try_receive(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(channel_of(args, 0)?.take().unwrap_or_default())
}

fn close_channel(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    channel_of(args, 0)?.close();
    Ok(Value::Nil)
}
