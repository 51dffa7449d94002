//! Work on many scripts, on all processors.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Stack of a thread. A tree may be a thousand levels deep.
const STACK: usize = 64 << 20;

/// Returns the result of `make` for each item, in their order. Each thread has a state of its own; a single item is worked on by
/// the caller's thread.
pub(crate) fn in_parallel<T: Sync, S, R: Send>(
    items: &[T],
    state: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    if let [only] = items {
        return vec![make(&mut state(), only)];
    }
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::with_capacity(items.len()));
    let work = || {
        let mut state = state();
        loop {
            let number = next.fetch_add(1, Relaxed);
            let Some(item) = items.get(number) else { return };
            let result = make(&mut state, item);
            if let Ok(mut made) = made.lock() {
                made.push((number, result));
            }
        }
    };
    thread::scope(|scope| {
        let start = || thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let started = (0..threads).filter(|_| start().is_ok()).count();
        if started == 0 {
            work();
        }
    });
    let mut made = made.into_inner().unwrap_or_default();
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let double = |calls: &mut usize, item: &usize| {
            *calls += 1;
            item * 2
        };
        assert_eq!(in_parallel(&items, || 0, double), items.iter().map(|n| n * 2).collect::<Vec<_>>());
        assert_eq!(in_parallel(&[7], || 0, double), [14]);
        assert!(in_parallel(&[], || 0, double).is_empty());
    }
}
