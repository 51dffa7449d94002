//! Time. Every clock of the runtime obeys the mock.

use crate::here;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, On, Raise, Wait, codes, yield_once};
use runtime::clock::Clock;

lang::builtins! { "" =>
    /// Milliseconds since 1970-01-01 UTC.
    plain "now_ms() -> int" now_ms;
    /// Milliseconds of a clock that never goes back.
    plain "monotonic_ms() -> int" now_ms;
    /// The time as text: `2025-01-31T12:00:00.000Z`.
    plain "timestamp() -> string" timestamp;
    /// Waits. Other tasks go on; mocked time passes at once.
    waits "sleep(duration: int) -> nil" sleep;
    /// Time stands still from now on, at `at_ms` or at the present moment.
    plain "mock_time(at_ms: int? = nil) -> nil" mock_time;
    /// Moves mocked time.
    plain "advance_time(duration: int) -> nil" advance_time;
    /// Time goes on as it did before it was mocked.
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
    Err(Raise::error(codes::VALUE, "time is not mocked").help("call `mock_time()` first"))
}

fn unmock_time(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    here::world(cx)?.clock.unmock();
    Ok(Value::Nil)
}

/// A moment in milliseconds since 1970-01-01 UTC as RFC 3339 writes it. The civil date is found by the algorithm of counting eras of 400 years from March 1st.
pub fn rfc3339(ms: u64) -> String {
    let (days, rest) = (ms / 86_400_000, ms % 86_400_000);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", rest % 1000)
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates() {
        assert_eq!(super::rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(super::rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(super::rfc3339(1_735_689_599_999), "2024-12-31T23:59:59.999Z");
    }
}
