//! `event_log.…`: the append-only log of a run.

use crate::convert::{to_data, to_value};
use crate::fault::to_raise;
use crate::here;
use crate::log::read_log;
use crate::options::{LogFilter, OptionSet};
use crate::values::EventStream;
use base::call::{Answer, Outcome, call_error};
use base::clock::Clock;
use eventlog::{NewRecord, Record, RecordFilter, RecordPosition};
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode, Wait, take_over};
use runtime::event_log::Topic;
use std::sync::Arc;

lang::builtins! { "event_log" =>
    /// Appends a record; its number within the topic, from 1. Where the log is a file, it has been written by then.
    ///
    /// ```harn
    /// event_log.emit("orders", "paid", {id: 7}) // => 1
    /// event_log.emit("orders", "sent", {id: 7}) // => 2
    /// ```
    waits "emit(topic: string, kind: string, payload: any = nil, headers: dict? = nil) -> int" emit;
    /// The number of the last record of a topic, else nil.
    ///
    /// ```harn
    /// event_log.emit("orders", "paid") // => 1
    /// [event_log.latest("orders"), event_log.latest("none")] // => [1, nil]
    /// ```
    waits "latest(topic: string) -> int | nil" latest;
    /// The records of a topic that are there now.
    ///
    /// ```harn
    /// event_log.emit("orders", "paid", {id: 7}) // => 1
    /// event_log.read("orders").map({ record -> record.payload.id }) // => [7]
    /// ```
    waits "read(filter: string | LogFilter) -> list<LogRecord>" read;
    /// A stream of records: history first, then what comes.
    ///
    /// ```harn
    /// let records = event_log.subscribe("orders")
    /// event_log.emit("orders", "paid", {id: 7}) // => 1
    /// records.next().value.kind // => "paid"
    /// ```
    waits "subscribe(filter: string | LogFilter) -> stream" subscribe;
}

fn emit(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let topic: Arc<str> = Arc::from(args::str(args, 0)?.as_str());
    if topic.trim().is_empty() {
        return Err(Raise::error(RunCode::Value, "a record needs a topic").about(0, "blank"));
    }
    // What audit and replay read must come from the runtime alone.
    if let Some(reserved) = Topic::reservation(&topic) {
        let message = format!("the topic `{topic}` is reserved for the runtime; scripts cannot write to it");
        return Err(Raise::error(RunCode::Value, message)
            .about(0, "reserved")
            .help(format!("choose a topic that does not start with `{reserved}`")));
    }
    if args::str(args, 1)?.trim().is_empty() {
        return Err(Raise::error(RunCode::Value, "a record needs a kind").about(1, "blank"));
    }
    if !args[3].is_nil() && args[3].as_dict().is_none() {
        return Err(args::mismatch(args, 3, "a dict"));
    }
    let record = NewRecord {
        topic,
        kind: Arc::from(args::str(args, 1)?.as_str()),
        payload: to_data(&args[2]).map_err(|raise| raise.about(2, ""))?.into(),
        headers: to_data(&args[3]).map_err(|raise| raise.about(3, ""))?,
        occurred_at_ms: world.clock.now_ms(),
    };
    let number = |written: Outcome<RecordPosition>| written.map(|place| int(place.id)).map_err(|e| to_raise(&e));
    Ok(match world.observers.log.emit(record) {
        Answer::Now(written) => Wait::ready(number(written)),
        Answer::Later(written) => Wait::new(async move { number(written.await) }),
    })
}

fn int(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn latest(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let (log, topic) = (world.observers.log.reader(), args::str(args, 0)?.to_string());
    let shown = |id: Option<u64>| id.map_or(Value::Nil, int);
    if !log.blocks() {
        return Ok(Wait::ready(log.latest(&topic).map(shown).map_err(|e| to_raise(&call_error(e)))));
    }
    Ok(Wait::new(async move { read_log(&world, log, move |log| log.latest(&topic)).await.map(shown) }))
}

fn filter_arg(cx: &Cx<'_>, args: &[Value]) -> Result<RecordFilter, Box<Raise>> {
    if let Some(Value::Str(topic)) = args.first() {
        return Ok(RecordFilter::topic(topic.as_str()));
    }
    if args.first().and_then(Value::as_dict).is_none() {
        return Err(args::mismatch(args, 0, "a topic or a dict"));
    }
    let LogFilter { topic, from_cursor, kind_prefix } = LogFilter::read(cx, args, 0)?;
    Ok(RecordFilter { topic, kind_prefix, after: from_cursor.unwrap_or(0) })
}

/// Records that are read at a time: a log in a file may hold more than the run has memory for.
const PAGE: usize = 1024;

fn read(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let log = world.observers.log.reader();
    let mut reading = Reading { filter: filter_arg(cx, args)?, found: Vec::new(), is_done: false };
    if !log.blocks() {
        while !reading.is_done {
            let page = log.read(&reading.filter, PAGE).map_err(|e| to_raise(&call_error(e)))?;
            reading.take(cx, &page)?;
        }
        return Ok(Wait::ready(Ok(Value::list(reading.found))));
    }
    let (isolate, context) = (cx.isolate.clone(), cx.context.clone());
    Ok(Wait::new(async move {
        let mut cx = Cx { isolate: &isolate, context: &context };
        while !reading.is_done {
            let filter = reading.filter.clone();
            let page = read_log(&world, log.clone(), move |log| log.read(&filter, PAGE)).await?;
            take_over(page.iter().map(|record| record.weight()).sum());
            reading.take(&mut cx, &page)?;
        }
        Ok(Value::list(reading.found))
    }))
}

/// Records that are read, page by page.
struct Reading {
    filter: RecordFilter,
    found: Vec<Value>,
    is_done: bool,
}

impl Reading {
    fn take(&mut self, cx: &mut Cx<'_>, page: &[Arc<Record>]) -> Result<(), Box<Raise>> {
        self.found.extend(page.iter().map(|record| to_value(&record.to_data())));
        cx.check_room(0)?;
        match page.last() {
            Some(last) if page.len() == PAGE => self.filter.after = last.cursor,
            _ => self.is_done = true,
        }
        Ok(())
    }
}

fn subscribe(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let (log, filter) = (&world.observers.log, filter_arg(cx, args)?);
    let subscribed = match world.pool() {
        Some(pool) => log.subscribe_on(filter, pool),
        None => Answer::Now(log.subscribe(filter)),
    };
    Ok(match subscribed {
        Answer::Now(subscription) => Wait::ready(Ok(EventStream::value(subscription))),
        Answer::Later(subscription) => Wait::new(async move { Ok(EventStream::value(subscription.await)) }),
    })
}
