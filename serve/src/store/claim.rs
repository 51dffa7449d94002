//! [`SessionClaim`]: ensures that a session is open in one process at a time.
//!
//! The log names the process that opened or loaded a session last, and a file beside the log is locked for as long as
//! that process lives. A process that claims a session holds a lock of the session meanwhile, so that only one of two
//! gets it.

use base::lock::{LockError, LockFile};

use super::{SessionStore, StoreError, StoredSession};

/// The claim of a process to load a session, and the stored session. Held until the load is recorded.
#[derive(Debug)]
pub struct SessionClaim {
    /// The session as stored in the log.
    pub stored: StoredSession,
    _lock: LockFile,
}

impl SessionStore {
    /// Takes a session for this process and reads it.
    ///
    /// # Errors
    /// The errors of [`SessionStore::load`], or another process has the session open.
    pub fn claim(&self, id: &str) -> Result<SessionClaim, StoreError> {
        // An unknown session has no lock.
        self.load(id)?;
        let lock = match self.lock(id) {
            Ok(lock) => lock,
            Err(LockError::Held) => return Err(StoreError::Elsewhere(id.into())),
            Err(error) => return Err(cannot_claim(&error)),
        };
        let stored = self.load(id)?;
        match stored.owner() {
            Some(owner) if **owner != *self.0.process && self.lives(owner)? => Err(StoreError::Elsewhere(id.into())),
            _ => Ok(SessionClaim { stored, _lock: lock }),
        }
    }

    /// Takes a session that no living process has open, for its removal. Returns `None` for one that is open, also here.
    pub(crate) fn take_ended(&self, id: &str) -> Result<Option<LockFile>, StoreError> {
        let lock = match self.lock(id) {
            Ok(lock) => lock,
            Err(LockError::Held) => return Ok(None),
            Err(error) => return Err(cannot_claim(&error)),
        };
        let is_open = match self.load(id) {
            Ok(stored) => match stored.owner() {
                Some(owner) => **owner == *self.0.process || self.lives(owner)?,
                None => false,
            },
            // It has lost its opening in an earlier removal, which did not end.
            Err(StoreError::Unknown(_)) => false,
            Err(error) => return Err(error),
        };
        Ok((!is_open).then_some(lock))
    }

    /// Returns whether a process is alive. Removes the file of a process that was killed.
    pub(crate) fn lives(&self, process: &str) -> Result<bool, StoreError> {
        // The log may contain any text, and this becomes a file name.
        if !process.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
            return Ok(false);
        }
        match self.lock(process) {
            Ok(_) => Ok(false),
            Err(LockError::Held) => Ok(true),
            Err(error) => Err(cannot_claim(&error)),
        }
    }
}

/// Returns and reports the error of a lock file.
fn cannot_claim(error: &LockError) -> StoreError {
    let error = StoreError::CannotClaim(error.to_string());
    error.report();
    error
}
