//! [`HubClock`]: where a hub reads the time. [`HubTime`]: the time of a hub, by which leases, deadlines and retention end.
//!
//! The system's clock can be set: by a person, by a time server, or by a machine that starts with a wrong one. A hub whose
//! time jumped with it would take the tasks of all workers at once, or lease them until next month. So the time of a hub
//! starts with that of the system, advances with a clock that cannot be set, and only approaches the system's again.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The part of the elapsed time by which a hub's time approaches the system's.
const APPROACH: u64 = 10;
/// The most that it approaches at a time, in milliseconds, also after a long pause.
const MOST_AT_ONCE: u64 = 1_000;
/// A difference that is not a wrong clock, in milliseconds.
const USUAL_DIFFERENCE: i64 = 1_000;

/// Returns a time in milliseconds.
pub type TimeSource = Box<dyn Fn() -> u64 + Send + Sync>;

/// The clocks of a hub.
pub struct HubClock {
    /// The time of the system, in milliseconds since 1970-01-01 UTC. It can jump.
    pub wall: TimeSource,
    /// Milliseconds since any moment. It never jumps, and counts the time for which the machine sleeps.
    pub steady: TimeSource,
}

impl HubClock {
    /// Returns the clocks of the system.
    #[must_use]
    pub fn system() -> HubClock {
        HubClock { wall: Box::new(system_ms), steady: steady_source() }
    }

    /// Returns a clock that does not jump, in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn of(read: impl Fn() -> u64 + Send + Sync + Clone + 'static) -> HubClock {
        HubClock { wall: Box::new(read.clone()), steady: Box::new(read) }
    }
}

/// The time of a hub, in milliseconds since 1970-01-01 UTC. It never decreases, also not across a restart.
pub(super) struct HubTime {
    clock: HubClock,
    moment: Mutex<Moment>,
    /// Milliseconds by which it is ahead of the system's, if they differ by more than usual.
    ahead_ms: AtomicI64,
}

/// The time at a reading of the steady clock.
struct Moment {
    now_ms: u64,
    steady_ms: u64,
    /// Elapsed milliseconds that were not used to approach the system's time.
    unused_ms: u64,
}

impl HubTime {
    /// Starts with the time of the system, or with `stored_ms`, the last time in the store, if that is later.
    pub(super) fn new(clock: HubClock, stored_ms: u64) -> HubTime {
        let now_ms = (clock.wall)().max(stored_ms);
        let moment = Mutex::new(Moment { now_ms, steady_ms: (clock.steady)(), unused_ms: 0 });
        let time = HubTime { clock, moment, ahead_ms: AtomicI64::new(0) };
        time.now_ms();
        time
    }

    /// Returns the time.
    pub(super) fn now_ms(&self) -> u64 {
        let mut moment = self.moment.lock().unwrap_or_else(PoisonError::into_inner);
        let wall_ms = (self.clock.wall)();
        let now_ms = moment.advance((self.clock.steady)(), wall_ms);
        let ahead_ms = difference(now_ms, wall_ms);
        let is_usual = ahead_ms.abs() <= USUAL_DIFFERENCE;
        self.ahead_ms.store(if is_usual { 0 } else { ahead_ms }, Ordering::Relaxed);
        now_ms
    }

    /// Returns the milliseconds by which the time that was read last is ahead of the system's; 0 if they differ by a
    /// second at most. A client's deadline is a time of the system.
    pub(super) fn ahead_ms(&self) -> i64 {
        self.ahead_ms.load(Ordering::Relaxed)
    }
}

impl Moment {
    fn advance(&mut self, steady_ms: u64, wall_ms: u64) -> u64 {
        let elapsed = steady_ms.saturating_sub(self.steady_ms);
        self.steady_ms = self.steady_ms.max(steady_ms);
        self.unused_ms = self.unused_ms.saturating_add(elapsed).min(MOST_AT_ONCE * APPROACH);
        let expected = self.now_ms.saturating_add(elapsed);
        let most = self.unused_ms / APPROACH;
        let approached = if wall_ms >= expected {
            expected + most.min(wall_ms - expected)
        } else {
            // Slower, but not backwards.
            expected - most.min(expected - wall_ms).min(elapsed)
        };
        self.unused_ms -= approached.abs_diff(expected) * APPROACH;
        self.now_ms = approached;
        approached
    }
}

/// Returns `a - b`.
fn difference(a: u64, b: u64) -> i64 {
    let distance = i64::try_from(a.abs_diff(b)).unwrap_or(i64::MAX);
    if a >= b { distance } else { -distance }
}

fn system_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(target_os = "linux")]
fn steady_source() -> TimeSource {
    use rustix::time::{ClockId, clock_gettime};
    // The clock of `Instant` stops while the machine sleeps.
    Box::new(|| {
        let time = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        seconds.saturating_mul(1_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000_000)
    })
}

#[cfg(not(target_os = "linux"))]
fn steady_source() -> TimeSource {
    let began = std::time::Instant::now();
    Box::new(move || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use super::*;

    const START: u64 = 1_800_000_000_000;
    const DAYS: u64 = 30 * 86_400_000;

    /// Clocks that a test sets.
    #[derive(Clone, Default)]
    struct Clocks {
        wall: Arc<AtomicU64>,
        steady: Arc<AtomicU64>,
    }

    impl Clocks {
        fn time(&self, stored_ms: u64) -> HubTime {
            self.wall.store(START, Ordering::SeqCst);
            let (wall, steady) = (self.wall.clone(), self.steady.clone());
            let wall: TimeSource = Box::new(move || wall.load(Ordering::SeqCst));
            HubTime::new(HubClock { wall, steady: Box::new(move || steady.load(Ordering::SeqCst)) }, stored_ms)
        }

        fn pass(&self, ms: u64) {
            self.wall.fetch_add(ms, Ordering::SeqCst);
            self.steady.fetch_add(ms, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_clock_that_jumps_for_a_second_changes_little() {
        let clocks = Clocks::default();
        let time = clocks.time(0);
        clocks.wall.fetch_add(DAYS, Ordering::SeqCst);
        (0..100).for_each(|_| {
            clocks.pass(10);
            time.now_ms();
        });
        let ahead = time.now_ms() - START;
        assert!((1_000..=1_100).contains(&ahead), "{ahead}");
        assert_eq!(time.ahead_ms(), -i64::try_from(DAYS + 1_000 - ahead).unwrap());
        clocks.wall.fetch_sub(DAYS, Ordering::SeqCst);
        clocks.pass(2_000);
        assert_eq!((time.now_ms(), time.ahead_ms()), (START + 3_000, 0));
    }

    #[test]
    fn a_clock_that_is_set_back_slows_the_time_and_never_turns_it() {
        let clocks = Clocks::default();
        let time = clocks.time(START + DAYS);
        assert_eq!((time.now_ms(), time.ahead_ms()), (START + DAYS, i64::try_from(DAYS).unwrap()));
        let mut last = time.now_ms();
        for _ in 0..1_000 {
            clocks.pass(7);
            let now = time.now_ms();
            assert!((last..=last + 7).contains(&now));
            last = now;
        }
        assert_eq!(last, START + DAYS + 6_300);
    }

    #[test]
    fn a_clock_that_drifts_is_followed_however_often_the_time_is_read() {
        let clocks = Clocks::default();
        let time = clocks.time(0);
        for _ in 0..10_000 {
            clocks.pass(1);
            clocks.wall.fetch_add(u64::from(clocks.wall.load(Ordering::SeqCst) % 100 == 0), Ordering::SeqCst);
            time.now_ms();
        }
        assert_eq!(time.now_ms(), clocks.wall.load(Ordering::SeqCst));
    }

    #[test]
    fn clocks_of_any_value_do_not_overflow() {
        let clocks = Clocks::default();
        let time = clocks.time(u64::MAX);
        for value in [0, u64::MAX, 1, u64::MAX - 1, 0] {
            clocks.wall.store(value, Ordering::SeqCst);
            clocks.steady.store(value, Ordering::SeqCst);
            time.now_ms();
        }
    }
}
