//! Gates for tests.

use std::path::PathBuf;

use crate::tokio_wait::until;

/// A folder through which a pipeline and its test wait for each other.
pub(super) struct GateFolder(PathBuf);

impl GateFolder {
    /// Creates the folder of a test.
    pub(super) fn new(name: &str) -> GateFolder {
        let folder = std::env::temp_dir().join(format!("harn-injection-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        GateFolder(folder)
    }

    /// Returns its path.
    pub(super) fn text(&self) -> String {
        self.0.to_str().unwrap().to_owned()
    }

    /// Waits until the pipeline has written a file.
    pub(super) async fn has(&self, name: &str) {
        until(name, || self.0.join(name).exists()).await;
    }

    /// Lets the pipeline continue.
    pub(super) fn open(&self) {
        std::fs::write(self.0.join("gate"), "").unwrap();
    }
}

impl Drop for GateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
