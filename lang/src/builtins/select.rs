//! `select`: the first of several channels that has something, or the end of a duration.

use super::args;
use super::channel::{ReceivePlace, channel_of};
use crate::value::Value;
use crate::vm::{Cx, On, Raise, Wait};
use std::future::poll_fn;
use std::task::Poll;

/// The arm that runs when the time is over.
pub(crate) const TIMEOUT: i16 = -1;
/// The arm that runs when nothing is there.
pub(crate) const DEFAULT: i16 = -2;

crate::builtins! { "<control>" =>
    /// `select { … }`: the number of the arm that runs, and what it received. Of several channels that have something, the
    /// first in the order of the text.
    waits "select_first(timeout: any, has_default: any, ...channels) -> any" select_first;
}

fn select_first(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let places = (2..args.len()).map(|i| channel_of(args, i).map(ReceivePlace::new)).collect::<Result<Vec<_>, _>>()?;
    let limit = if args[0].is_nil() { None } else { Some(args::duration(args, 0)?) };
    let ready = |places: &[ReceivePlace]| {
        let found = places.iter().enumerate().find_map(|(i, place)| Some((i, place.next()?)));
        found.map(|(i, value)| Value::pair(Value::from(i), value))
    };
    if let Some(found) = ready(&places) {
        return Ok(Wait::ready(Ok(found)));
    }
    if args[1].truthy() {
        return Ok(Wait::ready(Ok(Value::pair(Value::Int(DEFAULT.into()), Value::Nil))));
    }
    let host = cx.isolate.host();
    let mut alarm = limit.map(|ms| host.alarm(host.now_ms().saturating_add(ms)));
    let wait = poll_fn(move |cx| {
        if let Some(found) = ready(&places) {
            return Poll::Ready(Ok(found));
        }
        if let Some(alarm) = &mut alarm
            && alarm.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Ok(Value::pair(Value::Int(TIMEOUT.into()), Value::Nil)));
        }
        for place in &places {
            let _ = place.wait(cx.waker());
        }
        Poll::Pending
    });
    Ok(Wait::new(wait).on(On::Task("in a `select` for a channel", None)).taking())
}
