//! The watch against real files. Nothing waits for a signal here: a look finds what changed.

use std::fs;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        // It waits for nothing but its turn.
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
    }
}

struct WatchedFolder {
    root: PathBuf,
    watch: FileWatch,
}

impl WatchedFolder {
    fn new(name: &str, patterns: &[&str]) -> (WatchedFolder, FileChanges) {
        let root = std::env::temp_dir().join(format!("harn-watch-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let root = root.canonicalize().unwrap();
        let watch = FileWatch::new(patterns.iter().map(|p| Arc::from(*p)).collect()).unwrap();
        let seen = now(watch.begin(root.to_str()).get());
        (WatchedFolder { root, watch }, seen)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn look(&self) -> Vec<String> {
        let seen = now(self.watch.look().get());
        seen.changes.iter().map(|change| format!("{} {}", change.path, change.kind)).collect()
    }
}

impl Drop for WatchedFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

#[test]
fn a_look_tells_each_change_once_and_one_within_a_tick_too() {
    let (place, _) = WatchedFolder::new("once", &["in"]);
    place.write("in/a.txt", "one");
    place.write("in/b/c.txt", "x");
    place.write("out.txt", "nobody watches");
    assert_eq!(place.look(), ["in/a.txt created", "in/b/c.txt created"]);
    assert!(place.look().is_empty());
    // As long as before, and within the same tick of the clock.
    for text in ["two", "six", "ten"] {
        place.write("in/a.txt", text);
        assert_eq!(place.look(), ["in/a.txt modified"], "{text}");
    }
    fs::remove_file(place.root.join("in/b/c.txt")).unwrap();
    assert_eq!(place.look(), ["in/b/c.txt removed"]);
}

#[test]
fn a_folder_that_is_not_there_yet_goes_and_comes_back() {
    let (place, seen) = WatchedFolder::new("gone", &["deep/in"]);
    assert_eq!(seen.remarks, ["the watched path `deep/in` does not exist yet; it is watched once it exists"]);
    for _ in 0..2 {
        place.write("deep/in/a.txt", "x");
        assert_eq!(place.look(), ["deep/in/a.txt created"]);
        fs::remove_dir_all(place.root.join("deep")).unwrap();
        assert_eq!(place.look(), ["deep/in/a.txt removed"]);
    }
}

#[test]
fn a_flood_is_one_look() {
    let (place, _) = WatchedFolder::new("flood", &["in"]);
    fs::create_dir_all(place.root.join("in")).unwrap();
    for n in 0..10_000 {
        fs::write(place.root.join(format!("in/{n:05}")), "").unwrap();
    }
    assert_eq!(place.look().len(), 10_000);
    assert!(place.look().is_empty());
}

#[test]
fn the_system_signals_a_change_wherever_the_folder_comes_from() {
    let (place, _) = WatchedFolder::new("signal", &["in"]);
    for round in 0..3 {
        place.write("in/a.txt", &format!("{round}"));
        // The signal is good for the look.
        let seen = crate::wait::find("a signal", || {
            let mut cx = Context::from_waker(Waker::noop());
            let is_signalled = place.watch.signal().as_mut().poll(&mut cx).is_ready();
            let seen = if is_signalled { place.look() } else { Vec::new() };
            if seen.is_empty() { Err(format!("round {round}")) } else { Ok(seen) }
        });
        assert_eq!(seen.last().map(String::as_str), Some("in/a.txt created"), "{round}");
        fs::remove_dir_all(place.root.join("in")).unwrap();
        place.look();
    }
}

#[test]
fn what_overflows_in_the_system_is_worth_a_look() {
    let lost = notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
    assert!(signals::is_change(&lost));
    let read = notify::event::AccessKind::Open(notify::event::AccessMode::Any);
    assert!(!signals::is_change(&notify::Event::new(notify::EventKind::Access(read))));
}
