//! `merge`, `debounce` and `timeout`: streams whose sources are read by tasks of their own.

use super::feed::FeedReader;
use super::make::source;
use crate::builtins::args;
use crate::value::{HostBox, HostObject, Value};
use crate::vm::{Cx, Isolate, Next, On, Raise, RunCode, StreamSource};
use std::any::Any;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

crate::builtins! { "<iter>" =>
    /// Returns a stream of the items of this one and of the others, in the order in which they arrive. A task for each of them
    /// waits for its items.
    ///
    /// ```harn
    /// ["a", "b"].iter().merge([1, 2]).to_list().to_set().count // => 4
    /// ```
    plain "merge(self: iter<T>, ...others) -> stream" merge;
    /// Returns a stream of the items after which no other arrives for `time`; the last one is yielded at the end.
    ///
    /// ```harn
    /// [1, 2, 3].iter().debounce(100ms).to_list() // => [3]
    /// ```
    plain "debounce(self: iter<T>, time: duration) -> stream<T>" debounce;
    /// Returns a stream of the items that raises an error, and ends, if one does not arrive within `time` after it was requested.
    ///
    /// ```harn
    /// [1, 2, 3].iter().timeout(5s).to_list() // => [1, 2, 3]
    /// ```
    plain "timeout(self: iter<T>, time: duration) -> stream<T>" timeout;
}

/// Rule by which a stream hands over what arrives.
enum TimeRule {
    /// At once.
    Merge,
    /// After a time without another item; the item that waits for it, and the time at which it may pass.
    Debounce { ms: u64, held: Option<(Value, u64)> },
    /// Within a time.
    Timeout { ms: u64 },
}

/// Sources of a stream, and the rule by which it hands over their items.
struct TimedSource {
    reader: FeedReader,
    rule: TimeRule,
}

type TimedItem = Result<Option<Value>, Box<Raise>>;

impl TimedSource {
    /// Looks for what has arrived; nothing if that is not known without a wait.
    fn poll_arrived(&mut self, isolate: &Rc<Isolate>, cx: &Context<'_>) -> Poll<TimedItem> {
        loop {
            let arrival = match self.reader.poll_next(cx) {
                Poll::Ready(Ok(arrival)) => arrival,
                Poll::Ready(Err(raise)) => return Poll::Ready(Err(raise)),
                Poll::Pending => {
                    return match &mut self.rule {
                        TimeRule::Debounce { held, .. }
                            if held.as_ref().is_some_and(|(_, at)| *at <= isolate.host().now_ms()) =>
                        {
                            Poll::Ready(Ok(held.take().map(|(item, _)| item)))
                        }
                        _ => Poll::Pending,
                    };
                }
            };
            match (&mut self.rule, arrival) {
                (TimeRule::Debounce { ms, held }, Some(arrival)) => {
                    *held = Some((arrival.item, arrival.at_ms.saturating_add(*ms)));
                }
                (TimeRule::Debounce { held, .. }, None) => return Poll::Ready(Ok(held.take().map(|(item, _)| item))),
                (_, arrival) => return Poll::Ready(Ok(arrival.map(|arrival| arrival.item))),
            }
        }
    }

    /// The time up to which the stream waits.
    fn limit(&self, since_ms: u64) -> Option<u64> {
        match &self.rule {
            TimeRule::Merge => None,
            TimeRule::Debounce { held, .. } => held.as_ref().map(|(_, at)| *at),
            TimeRule::Timeout { ms } => Some(since_ms.saturating_add(*ms)),
        }
    }

    /// Waits for the next item.
    async fn next(&mut self) -> TimedItem {
        let Some(isolate) = self.reader.isolate() else { return Ok(None) };
        let host = isolate.host();
        let since_ms = host.now_ms();
        let mut alarm = None;
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(item) = self.poll_arrived(&isolate, cx) {
                    return Poll::Ready(item);
                }
                let Some(limit) = self.limit(since_ms) else { return Poll::Pending };
                if alarm.as_ref().is_none_or(|(at, _)| *at != limit) {
                    alarm = Some((limit, host.alarm(limit)));
                }
                let Some((_, timer)) = &mut alarm else { return Poll::Pending };
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                alarm = None;
                match &mut self.rule {
                    TimeRule::Timeout { ms } => {
                        self.reader.close();
                        return Poll::Ready(Err(late(*ms)));
                    }
                    TimeRule::Debounce { held, .. } => return Poll::Ready(Ok(held.take().map(|(item, _)| item))),
                    TimeRule::Merge => {}
                }
            }
        })
        .await
    }

    /// Returns the item that is there already.
    fn look(&mut self) -> Poll<TimedItem> {
        let Some(isolate) = self.reader.isolate() else { return Poll::Ready(Ok(None)) };
        self.poll_arrived(&isolate, &Context::from_waker(Waker::noop()))
    }
}

#[cold]
fn late(ms: u64) -> Box<Raise> {
    let message = format!("no item arrived within {}", args::duration_text(ms));
    Raise::error(RunCode::Deadline, message).labelled("did not finish in time")
}

/// A stream as a value.
struct TimedStream {
    source: StreamSource<TimedSource>,
}

impl HostObject for TimedStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        // So that `try_next` gets it.
        Some(match self.source.look(TimedSource::look) {
            Err(taken) => Next::Ready(Err(taken)),
            Ok(Poll::Ready(item)) => Next::Ready(item),
            Ok(Poll::Pending) => {
                let wait = self.source.wait(TimedSource::next);
                Next::Later(wait.on(On::Task("for an item of a stream", None)).taking())
            }
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn stream(cx: &Cx<'_>, sources: Vec<Value>, rule: TimeRule) -> Result<Value, Box<Raise>> {
    let reader = FeedReader::start(cx, sources)?;
    Ok(HostBox::value(TimedStream { source: StreamSource::new(TimedSource { reader, rule }) }))
}

fn merge(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let sources = (0..args.len()).map(|i| source(args, i)).collect::<Result<_, _>>()?;
    stream(cx, sources, TimeRule::Merge)
}

fn debounce(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let ms = args::duration(args, 1)?;
    let source = source(args, 0)?;
    stream(cx, vec![source], TimeRule::Debounce { ms, held: None })
}

fn timeout(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let ms = args::duration(args, 1)?;
    let source = source(args, 0)?;
    stream(cx, vec![source], TimeRule::Timeout { ms })
}
