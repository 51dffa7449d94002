//! The clock of a run, in one of three modes: it follows the system, it stops except for waiting,
//! or it follows the system in steps.
//!
//! | run | gait | begins |
//! |---|---|---|
//! | plain | the system's | now |
//! | with a seed | stands still; who waits is there at once | 2025-01-01 |
//! | recorded | steps: stands still while anything computes, and waits as long as it says | now, as recorded |
//! | replayed | stands still; who waits is there at once | as recorded |
//!
//! Time that is stopped moves when no task can run: to the next timer, with every earlier one
//! firing in its turn. So tasks that sleep side by side wake in the order of their times, as they
//! would in real time. Events from outside get a place in the same order by their [`Gate`]: a
//! recorded run admits them only when everything before them has happened, so that it can be
//! repeated from the recording alone.

use base::call::LocalFuture;
use base::clock::Clock;
use lang::vm::Idle;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

mod gate;

pub(crate) use gate::Gate;

/// The mode of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockMode {
    /// It follows the system.
    System,
    /// It jumps to the next timer.
    Jumps,
    /// It jumps to the next timer once the real wait was as long as the timer says.
    Steps,
}

/// A clock that can be mocked while it runs.
pub(crate) struct RunClock {
    /// The mode, unless a script mocks the clock.
    own: ClockMode,
    /// A script may move it although it has not mocked it.
    seeded: bool,
    /// It is the clock of a run that is run again.
    replays: bool,
    /// Whether a script may move the clock without having mocked it.
    busy: Cell<usize>,
    /// The time of the run itself, where it does not follow the system.
    now: Cell<u64>,
    /// The time that a script has put in its place.
    mocked: Cell<Option<u64>>,
    /// The number of waits for the real outside: programs, servers, the user.
    timers: RefCell<BTreeMap<TimerKey, Timer>>,
    last: Cell<u64>,
    /// The last that was let go.
    passed: Cell<Option<TimerKey>>,
}

/// A place in the order of what happens: by time, at one time sleepers before gates, then by the order of coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TimerKey {
    at_ms: u64,
    is_gate: bool,
    number: u64,
}

struct Timer {
    waker: Waker,
    /// It moves mocked time; an alarm only goes off when time has come to it.
    sleeps: bool,
    /// The wait was as long as it says.
    is_due: bool,
    /// The timers, in the order of their times.
    let_go: Option<Rc<Cell<bool>>>,
}

impl RunClock {
    /// The start time of a seeded run: 2025-01-01T00:00:00Z.
    pub(crate) const SEEDED_START_MS: u64 = 1_735_689_600_000;

    fn new(own: ClockMode, start_ms: u64, seeded: bool) -> Self {
        Self {
            own,
            seeded,
            replays: false,
            busy: Cell::default(),
            now: Cell::new(start_ms),
            mocked: Cell::default(),
            timers: RefCell::default(),
            last: Cell::default(),
            passed: Cell::default(),
        }
    }

    /// The system's clock.
    pub(crate) fn system() -> Self {
        Self::new(ClockMode::System, 0, false)
    }

    /// Set when the timer is released, if the time alone does not show it.
    pub(crate) fn fixed() -> Self {
        Self::new(ClockMode::Jumps, Self::SEEDED_START_MS, true)
    }

    /// A clock that follows the system in steps.
    pub(crate) fn stepped(start_ms: u64) -> Self {
        Self::new(ClockMode::Steps, start_ms, false)
    }

    /// The clock of a run that is run again.
    pub(crate) fn replayed(start_ms: u64, seeded: bool) -> Self {
        Self { replays: true, ..Self::new(ClockMode::Jumps, start_ms, seeded) }
    }

    /// Counts a wait for a program, a server or the user, until the guard is dropped. A replay
    /// takes its time meanwhile, as the recorded run did, so that short waits still end before long
    /// ones.
    pub(crate) fn outside(self: &Rc<Self>) -> Outside {
        self.keep_busy(self.busy.get() + 1);
        Outside(self.clone())
    }

    fn keep_busy(&self, count: usize) {
        let changes = (self.busy.replace(count) == 0) != (count == 0);
        if self.replays && changes {
            // Who waits begins, or ceases, to look at real time.
            self.timers.borrow().values().for_each(|timer| timer.waker.wake_by_ref());
        }
    }

    /// Whether time goes as the system's, so that nothing has to happen again in the same order.
    pub(crate) fn follows_system(&self) -> bool {
        self.mode() == ClockMode::System
    }

    fn mode(&self) -> ClockMode {
        match self.mocked.get() {
            Some(_) => ClockMode::Jumps,
            None if self.replays && !self.seeded && self.busy.get() > 0 => ClockMode::Steps,
            None => self.own,
        }
    }

    fn set(&self, now_ms: u64) {
        match self.mocked.get() {
            Some(_) => self.mocked.set(Some(now_ms)),
            None => self.now.set(now_ms),
        }
    }

    /// Mocks the time: it stops at `now_ms`.
    pub(crate) fn mock(&self, now_ms: u64) {
        self.mocked.set(Some(now_ms));
        self.look_again();
    }

    /// Goes on as it did before it was mocked.
    pub(crate) fn unmock(&self) {
        self.mocked.set(None);
        self.look_again();
    }

    /// Moves mocked time; false where time is not mocked.
    pub(crate) fn advance(&self, ms: u64) -> bool {
        if self.mocked.get().is_none() && !self.seeded {
            return false;
        }
        self.set(self.now_ms().saturating_add(ms));
        self.let_sleepers_go();
        true
    }

    /// Moves a stopped clock to the next timer when nothing else can run.
    pub(crate) fn idle(&self, outside: bool) -> Idle {
        let next = {
            let timers = self.timers.borrow();
            let Some(first) = timers.keys().next().copied() else { return Idle::Never };
            let may_move = match self.mode() {
                ClockMode::System => false,
                ClockMode::Jumps => !outside || timers.values().any(|timer| timer.sleeps),
                ClockMode::Steps => timers.values().any(|timer| timer.is_due),
            };
            if !may_move {
                return Idle::Later;
            }
            first
        };
        self.set(self.now_ms().max(next.at_ms));
        if next.is_gate {
            self.let_go(next);
        } else {
            self.let_sleepers_go();
        }
        Idle::Moved
    }

    /// Lets those go whose time has come, the earliest first. Gates go one by one, when all before them has settled.
    fn let_sleepers_go(&self) {
        let now = self.now_ms();
        let due: Vec<TimerKey> = {
            let timers = self.timers.borrow();
            timers.keys().take_while(|key| key.at_ms <= now).filter(|key| !key.is_gate).copied().collect()
        };
        due.into_iter().for_each(|key| self.let_go(key));
    }

    fn let_go(&self, key: TimerKey) {
        let timer = self.timers.borrow_mut().remove(&key);
        self.passed.set(self.passed.get().max(Some(key)));
        if let Some(timer) = timer {
            if let Some(let_go) = timer.let_go {
                let_go.set(true);
            }
            timer.waker.wake();
        }
    }

    /// Time is another: everybody who waits reckons anew.
    fn look_again(&self) {
        self.passed.set(None);
        let timers = std::mem::take(&mut *self.timers.borrow_mut());
        timers.into_values().for_each(|timer| timer.waker.wake());
    }

    fn number(&self) -> u64 {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// Waits until the time has come, however the clock moves.
    async fn until(&self, at_ms: u64, sleeps: bool) {
        let key = TimerKey { at_ms, is_gate: false, number: self.number() };
        let entry = Entry { clock: self, key };
        let mut real: Option<Pin<Box<tokio::time::Sleep>>> = None;
        poll_fn(move |cx| {
            let clock = entry.clock;
            let now = clock.now_ms();
            if now >= at_ms {
                return Poll::Ready(());
            }
            let mode = clock.mode();
            let mut is_due = false;
            if mode == ClockMode::Jumps {
                real = None;
            } else {
                let left = Duration::from_millis(at_ms - now);
                let timer = real.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
                is_due = timer.is_elapsed() || timer.as_mut().poll(cx).is_ready();
                if is_due && mode == ClockMode::System {
                    return Poll::Ready(());
                }
            }
            let timer = Timer { waker: cx.waker().clone(), sleeps, is_due, let_go: None };
            clock.timers.borrow_mut().insert(key, timer);
            Poll::Pending
        })
        .await;
    }
}

/// A guard of a wait for the real outside.
pub(crate) struct Outside(Rc<RunClock>);

impl Drop for Outside {
    fn drop(&mut self) {
        self.0.keep_busy(self.0.busy.get().saturating_sub(1));
    }
}

/// Milliseconds since 1970, by the system's clock.
pub(crate) fn system_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Takes its timer out when the wait is over, so that what was dropped moves no time.
struct Entry<'a> {
    clock: &'a RunClock,
    key: TimerKey,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.clock.timers.borrow_mut().remove(&self.key);
    }
}

impl Clock for RunClock {
    fn now_ms(&self) -> u64 {
        match (self.mocked.get(), self.own) {
            (Some(now), _) => now,
            (None, ClockMode::System) => system_ms(),
            (None, _) => self.now.get(),
        }
    }

    fn sleep_until(&self, at_ms: u64) -> LocalFuture<'_, ()> {
        Box::pin(self.until(at_ms, true))
    }

    fn alarm(&self, at_ms: u64) -> LocalFuture<'_, ()> {
        Box::pin(self.until(at_ms, false))
    }
}

#[cfg(test)]
mod tests;
