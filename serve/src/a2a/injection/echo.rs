//! [`PeerEcho`]: a peer's own data about its reminder, which this server does not use. Reports on the reminder repeat
//! it.

use std::sync::Arc;

use base::data::Data;

/// A peer's own data about its reminder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PeerEcho {
    /// The source of the reminder, as the peer named it.
    pub source: Option<Arc<str>>,
    /// The peer's metadata: a dict, or nil.
    pub metadata: Data,
}

impl PeerEcho {
    /// Returns whether the peer gave no data.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.source.is_none() && self.metadata.is_nil()
    }

    /// Returns the approximate size in bytes.
    pub(super) fn weight(&self) -> usize {
        self.source.as_ref().map_or(0, |source| source.len()) + self.metadata.weight()
    }

    /// Converts it to the `meta` of a queued item in the session's log.
    pub(super) fn to_meta(&self) -> Data {
        if self.is_empty() {
            return Data::Nil;
        }
        let harn = Data::dict_of_present([("source", Data::from(self.source.as_ref()))]);
        Data::dict_of_present([("harn", harn), ("metadata", self.metadata.clone())])
    }
}
