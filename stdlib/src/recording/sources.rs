//! The files of a run, so that a replay can name a file that has changed.

use lang::diagnostic::Diagnostic;
use lang::module::Loader;
use lang::source::SourceRef;
use providers::recording::digest_of;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The files that a run has imported so far: names and digests of their texts.
pub(crate) type Sources = Rc<RefCell<BTreeMap<String, String>>>;

/// Reads as another does, and keeps in mind what.
struct RecordingLoader {
    inner: Rc<dyn Loader>,
    read: Sources,
}

impl Loader for RecordingLoader {
    fn load(&self, path: &str) -> Result<SourceRef, Box<Diagnostic>> {
        let source = self.inner.load(path)?;
        self.read.borrow_mut().insert(path.to_owned(), digest(&source));
        Ok(source)
    }

    fn near(&self, path: &str) -> Option<String> {
        self.inner.near(path)
    }

    fn identity(&self, path: &str) -> String {
        self.inner.identity(path)
    }
}

/// A loader that keeps in mind what it reads, and where that is kept.
pub(crate) fn noting(inner: Rc<dyn Loader>) -> (Rc<dyn Loader>, Sources) {
    let read = Sources::default();
    (Rc::new(RecordingLoader { inner, read: read.clone() }), read)
}

/// A digest of a file's text.
pub(crate) fn digest(source: &SourceRef) -> String {
    digest_of(source.text().as_bytes())
}

/// The files of a replay, and those of the recorded run.
pub(crate) struct Compared {
    /// It is not the script that was recorded.
    pub(crate) is_changed: bool,
    /// The files it has imported.
    pub(crate) read: Sources,
}

impl Compared {
    /// The imported files that are not as the recorded run had them.
    pub(crate) fn changed(&self, recorded: &BTreeMap<String, String>) -> Vec<String> {
        let is_other = |name: &str, digest: &str| recorded.get(name).is_some_and(|then| then != digest);
        let read = self.read.borrow();
        read.iter().filter(|(name, digest)| is_other(name, digest)).map(|(name, _)| name.clone()).collect()
    }
}
