//! Waits of tests. A test waits for an event (a line, a file, a status), never for a time: these functions look again until
//! the event is there. If it does not come, they fail with what they saw last.

use std::pin::pin;
use std::process::Child;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The time after which a wait fails. It only bounds a hang: a busy machine needs a small part of it.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks until something is found. An error describes what is there instead.
#[track_caller]
pub(crate) fn find<T>(what: &str, look: impl FnMut() -> Result<T, String>) -> T {
    match try_find(look) {
        Ok(found) => found,
        Err(seen) => panic!("not within {LIMIT:?}: {what}; {seen}"),
    }
}

fn try_find<T>(mut look: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    loop {
        match look() {
            Err(_) if start.elapsed() < LIMIT => thread::sleep(PAUSE),
            end => return end,
        }
    }
}

/// Waits until a condition is true.
#[track_caller]
pub(crate) fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    find(what, || if is_true() { Ok(()) } else { Err("it is not so".to_owned()) });
}

/// Waits until a process has ended, and returns its exit code. A process that does not end is killed; `look` is called
/// while it runs.
#[track_caller]
pub(crate) fn ended(child: &mut Child, mut look: impl FnMut(&Child)) -> Option<i32> {
    let ended = try_find(|| {
        look(child);
        child.try_wait().map_err(|error| error.to_string())?.ok_or_else(String::new)
    });
    if ended.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    ended.unwrap_or_else(|error| panic!("the process did not end within {LIMIT:?} {error}")).code()
}

struct UnparkThread(Thread);

impl Wake for UnparkThread {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future that waits for another thread, which must wake this one.
#[track_caller]
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(UnparkThread(thread::current())));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        let start = Instant::now();
        thread::park_timeout(LIMIT);
        assert!(start.elapsed() < LIMIT, "the future was not woken within {LIMIT:?}");
    }
}

/// Returns the time that this thread has been on a processor, which other programs do not add to. Zero on systems without
/// `/proc`.
pub(crate) fn thread_cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(stat.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or_default())
}

/// Returns how often this thread has given up its processor to wait. Zero on systems without `/proc`.
pub(crate) fn thread_waits() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}
