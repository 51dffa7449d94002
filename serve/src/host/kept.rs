//! [`Kept`]: a session that is written down while it lives, or comes back from there.

use std::sync::Arc;

use runtime::session::Session;
use stdlib::Hosted;

use crate::store::{About, Claim, SessionJournal, Store};

use super::mailbox::Mailbox;
use super::{NewSession, Peer, Served};

/// How many events are shown again before the peer is asked for room.
const AT_ONCE: usize = 64;

/// A session that is kept.
pub(super) enum Kept {
    /// One that is opened for the first time.
    New(Store),
    /// One that comes back.
    Again {
        store: Store,
        /// It is this process's until the log says so.
        claim: Box<Claim>,
        /// Whether what was shown of it is shown again.
        shows: bool,
    },
}

impl Kept {
    /// Begins its book.
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

    /// Puts a session that comes back in place, before anything of the script runs, and shows again what is wanted.
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

    /// The script's top level has run: it is open.
    pub(super) fn opened(&self, book: &SessionJournal) {
        if let Kept::New(store) = self {
            book.opened(store);
        }
    }

    /// It did not: another process may have it again.
    pub(super) fn failed(&self, book: &SessionJournal) {
        if let Kept::Again { .. } = self {
            book.closed();
        }
    }
}
