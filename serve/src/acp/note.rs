//! What the front tells whoever started it, on standard error. Nobody may be reading there, so nothing waits for it.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};

/// How many notes may wait; more are dropped.
const WAITING: usize = 64;

/// Says one line.
pub(crate) fn note(line: &str) {
    static NOTES: OnceLock<SyncSender<String>> = OnceLock::new();
    let notes = NOTES.get_or_init(|| {
        let (notes, waiting) = sync_channel::<String>(WAITING);
        std::thread::spawn(move || {
            for line in waiting {
                // There is nobody left to tell of it.
                let _ = writeln!(std::io::stderr(), "harn: {line}");
            }
        });
        notes
    });
    let shown = line.chars().filter(|c| !c.is_control()).take(400).collect();
    let _ = notes.try_send(shown);
}
