//! Folders for the files of tests.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// A temporary folder, removed with the test.
pub(crate) struct TestFolder(pub(super) PathBuf);

impl TestFolder {
    pub(crate) fn new() -> TestFolder {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let name = format!("harn-log-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        TestFolder(path)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("events.db")
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
