//! [`Claim`]: a session is open in one process at a time.
//!
//! The log names the process that opened a session or loaded it last, and a file beside the log is locked for as long as that
//! process lives. While one looks whose a session is, it holds a lock of the session, so of two that want it one gets it.

use runtime::lock::{LockError, LockFile};

use super::{Store, StoreError, Stored};

/// The right to load a session, and the session. Held until the log says that it was loaded.
#[derive(Debug)]
pub struct Claim {
    /// The session as it is on the log.
    pub stored: Stored,
    _lock: LockFile,
}

impl Store {
    /// Takes a session for this process and reads it.
    ///
    /// # Errors
    /// As [`Store::load`], and where it is open in another process.
    pub fn claim(&self, id: &str) -> Result<Claim, StoreError> {
        // What is no session has no lock either.
        self.load(id)?;
        let lock = match self.lock(id) {
            Ok(lock) => lock,
            Err(LockError::Held) => return Err(StoreError::Elsewhere(id.into())),
            Err(error) => return Err(StoreError::CannotClaim(error.to_string())),
        };
        let stored = self.load(id)?;
        match stored.owner() {
            Some(owner) if **owner != *self.0.process && self.lives(owner)? => Err(StoreError::Elsewhere(id.into())),
            _ => Ok(Claim { stored, _lock: lock }),
        }
    }

    /// Whether a process is still there. What one that was killed has left is taken away by that.
    pub(crate) fn lives(&self, process: &str) -> Result<bool, StoreError> {
        // The log may say anything, and this becomes the name of a file.
        if !process.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
            return Ok(false);
        }
        match self.lock(process) {
            Ok(_) => Ok(false),
            Err(LockError::Held) => Ok(true),
            Err(error) => Err(StoreError::CannotClaim(error.to_string())),
        }
    }
}
