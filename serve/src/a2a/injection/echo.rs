//! [`Echo`]: what a peer said of its reminder and what nobody here makes use of. It is told again with the reminder.

use std::sync::Arc;

use runtime::data::Data;

/// What a peer said of its reminder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Echo {
    /// Whose reminder it is, in the peer's words.
    pub source: Option<Arc<str>>,
    /// A dict, or nil.
    pub metadata: Data,
}

impl Echo {
    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.source.is_none() && self.metadata.is_nil()
    }

    /// Roughly the bytes it takes.
    pub(super) fn weight(&self) -> usize {
        self.source.as_ref().map_or(0, |source| source.len()) + self.metadata.weight()
    }

    /// As it stands in the session's log, as `meta` of what is queued.
    pub(super) fn to_meta(&self) -> Data {
        if self.is_empty() {
            return Data::Nil;
        }
        let harn = Data::dict_of_present([("source", Data::from(self.source.as_ref()))]);
        Data::dict_of_present([("harn", harn), ("metadata", self.metadata.clone())])
    }
}
