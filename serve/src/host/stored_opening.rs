//! [`StoredOpening`]: a session that is stored, or restored from storage.

use std::sync::Arc;

use runtime::session::Session;
use stdlib::Hosted;

use crate::store::{SessionClaim, SessionDescription, SessionJournal, SessionStore};

use super::mailbox::Mailbox;
use super::{NewSession, Peer, Served};

/// The number of events to send again before asking the peer for room.
const AT_ONCE: usize = 64;

/// A stored session.
pub(super) enum StoredOpening {
    /// A session that is opened for the first time.
    New(SessionStore),
    /// A session that is restored.
    Again {
        store: SessionStore,
        /// The claim on the session, held until its load is recorded.
        claim: Box<SessionClaim>,
        /// Whether its earlier events are sent again.
        shows: bool,
    },
}

impl StoredOpening {
    /// Creates the journal of the session.
    pub(super) fn journal(
        &self,
        new: &NewSession,
        mailbox: &Mailbox,
        served: &Served,
        peer: &dyn Peer,
    ) -> Arc<SessionJournal> {
        let (cwd, mode, protocol) = (new.cwd.clone(), new.mode.clone(), served.protocol.into());
        let account = match self {
            StoredOpening::New(_) => peer.owner(mailbox.id(), true),
            StoredOpening::Again { claim, .. } => {
                claim.stored.about().account.clone().or_else(|| peer.owner(mailbox.id(), false))
            }
        };
        let about = SessionDescription { cwd, account, mode, protocol, title: None, metadata: new.metadata.clone() };
        let journal = match self {
            StoredOpening::New(store) => SessionJournal::new(store, mailbox.id(), about),
            StoredOpening::Again { store, claim, .. } => {
                let title = claim.stored.about().title.clone();
                SessionJournal::load(store, &claim.stored, SessionDescription { title, ..about })
            }
        };
        let journal = Arc::new(journal);
        mailbox.set_journal(&journal);
        journal
    }

    /// Restores the session before the script runs, and sends the earlier events if requested.
    pub(super) async fn restore(&self, hosted: &Hosted, journal: &SessionJournal, peer: &Arc<dyn Peer>) {
        let StoredOpening::Again { claim, shows, .. } = self else { return };
        let session: &std::rc::Rc<Session> = hosted.session();
        session.recover(claim.stored.left(), &hosted.scope());
        journal.see(session);
        if !shows {
            return;
        }
        let ends = claim.stored.ends();
        for (count, event) in claim.stored.shown().iter().chain(&ends).enumerate() {
            if count % AT_ONCE == 0 {
                peer.room(session.id()).await;
            }
            peer.show(session.id(), event.clone());
        }
        if let Some(title) = &claim.stored.about().title {
            peer.show(session.id(), super::SessionEvent::Title(title.clone()));
        }
    }

    /// Records that the session is open, after the script's top level has run.
    pub(super) fn opened(&self, journal: &SessionJournal) {
        if let StoredOpening::New(store) = self {
            journal.opened(store);
        }
    }

    /// Releases the session after a failed opening, so that another process may load it.
    pub(super) fn failed(&self, journal: &SessionJournal) {
        if let StoredOpening::Again { .. } = self {
            journal.closed();
        }
    }
}
