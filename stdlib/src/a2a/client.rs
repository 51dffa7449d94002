//! Asking other agents. Nothing here knows of scripts: what is said and what comes back is the protocol's model, and data.
//!
//! - [`Access`]: where a peer is and how it is asked.
//! - [`Cards`]: the cards of the peers of a run. `card`: one of them, and what harn reads from it.
//! - [`Peer`]: a peer whose card has been read: calls, and [`Stream`]s of what becomes of a task.
//! - [`reminder`]: reminders as peers write them; [`Outbox`]: those that wait for the next message to a task, [`Lease`]: those
//!   that are on their way with it.
//! - [`shown`]: tasks and events as data for scripts.
//! - [`PeerError`]: every way in which that fails; [`PeerCode`] has their rows.

mod access;
mod card;
mod cards;
mod error;
mod outbox;
mod peer;
pub(crate) mod reminder;
pub(crate) mod shown;
mod stream;

pub(crate) use access::{Access, address};
pub(crate) use card::REMINDERS;
pub(crate) use cards::Cards;
pub(crate) use error::{ErrorKind, PeerError};
pub(crate) use outbox::{Lease, Outbox};
pub(crate) use peer::{Method, Peer};
pub(crate) use stream::{Event, Stream};

/// The state of a run's peers.
#[derive(Default)]
pub(crate) struct Peers {
    /// Their cards.
    pub(crate) cards: Cards,
    /// Reminders that wait for a message to go with.
    pub(crate) outbox: Outbox,
    /// The links to their tasks.
    pub(crate) links: super::linked::KnownLinks,
}
