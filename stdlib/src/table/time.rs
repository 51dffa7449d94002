//! Time. Every clock of the runtime obeys the mock.
use base::clock::Clock;

use crate::here;
use base::moment::rfc3339;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, On, Raise, RunCode, Wait, yield_once};

lang::builtins! { "" =>
    /// Returns the milliseconds since 1970-01-01 UTC, as `now` does.
    ///
    /// ```harn
    /// mock_time(86400000)
    /// now_ms() // => 86400000
    /// ```
    plain "now_ms() -> int" now_ms;
    /// Returns the milliseconds of a clock that never goes back.
    ///
    /// ```harn
    /// mock_time(5000)
    /// monotonic_ms() // => 5000
    /// ```
    plain "monotonic_ms() -> int" now_ms;
    /// Returns the time as text: `2025-01-31T12:00:00.000Z`.
    ///
    /// ```harn
    /// mock_time(0)
    /// timestamp() // => "1970-01-01T00:00:00.000Z"
    /// ```
    plain "timestamp() -> string" timestamp;
    /// Waits. Other tasks go on; mocked time passes at once.
    ///
    /// ```harn
    /// mock_time(0)
    /// sleep(2s)
    /// now() // => 2000
    /// ```
    waits "sleep(duration: int) -> nil" sleep;
    /// Stops time, at `at_ms` or at the present moment.
    ///
    /// ```harn
    /// mock_time(1000)
    /// now() // => 1000
    /// ```
    plain "mock_time(at_ms: int? = nil) -> nil" mock_time;
    /// Moves mocked time.
    ///
    /// ```harn
    /// mock_time(0)
    /// advance_time(90s)
    /// now() // => 90000
    /// ```
    plain "advance_time(duration: int) -> nil" advance_time;
    /// Lets time go on as it did before it was mocked.
    ///
    /// ```harn
    /// mock_time(0)
    /// unmock_time()
    /// now() == 0 // => false
    /// ```
    plain "unmock_time() -> nil" unmock_time;
}

fn int(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn duration(args: &[Value], i: usize) -> Result<u64, Box<Raise>> {
    args::duration(args, i)
}

fn now_ms(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(int(here::world(cx)?.clock.now_ms()))
}

fn timestamp(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(rfc3339(here::world(cx)?.clock.now_ms())))
}

fn sleep(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let until = world.clock.now_ms().saturating_add(duration(args, 0)?);
    Ok(Wait::new(async move {
        // Also a sleep of no time lets the other tasks go first.
        yield_once().await;
        world.clock.sleep_until(until).await;
        Ok(Value::Nil)
    })
    .on(On::Clock))
}

fn mock_time(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let at = if args[0].is_nil() { world.clock.now_ms() } else { duration(args, 0)? };
    world.clock.mock(at);
    Ok(Value::Nil)
}

fn advance_time(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if here::world(cx)?.clock.advance(duration(args, 0)?) {
        return Ok(Value::Nil);
    }
    Err(Raise::error(RunCode::Value, "time is not mocked").help("call `mock_time()` first"))
}

fn unmock_time(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    here::world(cx)?.clock.unmock();
    Ok(Value::Nil)
}
