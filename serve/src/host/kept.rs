//! [`Kept`]: a session that is stored, or restored from storage.

use std::sync::Arc;

use runtime::session::Session;
use stdlib::Hosted;

use crate::store::{About, Claim, SessionJournal, Store};

use super::mailbox::Mailbox;
use super::{NewSession, Peer, Served};

/// The number of events to send again before asking the peer for room.
const AT_ONCE: usize = 64;

/// A stored session.
pub(super) enum Kept {
    /// A session that is opened for the first time.
    New(Store),
    /// A session that is restored.
    Again {
        store: Store,
        /// The claim on the session, held until its load is recorded.
        claim: Box<Claim>,
        /// Whether its earlier events are sent again.
        shows: bool,
    },
}

impl Kept {
    /// Creates the journal of the session.
    pub(super) fn book(&self, new: &NewSession, mailbox: &Mailbox, served: &Served) -> Arc<SessionJournal> {
        let (cwd, mode, protocol) = (new.cwd.clone(), new.mode.clone(), served.protocol.into());
        let about = About { cwd, mode, protocol, title: None, metadata: new.metadata.clone() };
        let book = match self {
            Kept::New(store) => SessionJournal::new(store, mailbox.id(), about),
            Kept::Again { store, claim, .. } => {
                let title = claim.stored.about().title.clone();
                SessionJournal::load(store, &claim.stored, About { title, ..about })
            }
        };
        let book = Arc::new(book);
        mailbox.set_book(&book);
        book
    }

    /// Restores the session before the script runs, and sends the earlier events if requested.
    pub(super) async fn restore(&self, hosted: &Hosted, book: &SessionJournal, peer: &Arc<dyn Peer>) {
        let Kept::Again { claim, shows, .. } = self else { return };
        let session: &std::rc::Rc<Session> = hosted.session();
        session.recover(claim.stored.left(), &hosted.scope());
        book.see(session);
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
            peer.show(session.id(), super::Event::Title(title.clone()));
        }
    }

    /// Records that the session is open, after the script's top level has run.
    pub(super) fn opened(&self, book: &SessionJournal) {
        if let Kept::New(store) = self {
            book.opened(store);
        }
    }

    /// Releases the session after a failed opening, so that another process may load it.
    pub(super) fn failed(&self, book: &SessionJournal) {
        if let Kept::Again { .. } = self {
            book.closed();
        }
    }
}
