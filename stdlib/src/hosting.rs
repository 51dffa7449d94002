//! [`Hosting`]: what a run is told by the host that serves it, and what it tells the host.

use lang::diagnostic::Diagnostic;
use lang::vm::codes;
use runtime::data::Data;
use runtime::seam::{Local, Permissions};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// What a run is told by the host that serves it, and what it tells the host. Both hold the same one.
pub struct Hosting {
    /// The session that is current in all of the script: a loop that names none works there.
    pub session_id: Arc<str>,
    /// `context.protocol`.
    pub protocol: &'static str,
    /// `context.cwd`.
    pub cwd: Option<PathBuf>,
    /// `context.metadata` where the prompt has none.
    pub metadata: Data,
    /// The session's mode; the host may change it at any time.
    pub mode: Arc<Mutex<Arc<str>>>,
    /// Ready once there is room for more to be shown: waited for before each call of a model and each tool.
    pub room: Rc<dyn Fn() -> Local<'static, ()>>,
    /// Who is asked for a permission where the script itself asks nobody.
    pub asker: Option<Rc<dyn Permissions>>,
}

impl Hosting {
    /// The session's mode now.
    #[must_use]
    pub fn mode(&self) -> Arc<str> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the system did not give a host.
#[must_use]
pub fn outside(message: String) -> Diagnostic {
    Diagnostic::error(codes::OUTSIDE, message)
}
