//! Fingerprints of messages and requests: whether one that has the id of an earlier one is the same.

use prost::Message;

/// Builds a fingerprint with FNV-1a. It is stored, so it must be the same in every process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    /// Begins the fingerprint of a kind of request.
    pub(super) fn of(kind: &str) -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325).text(kind)
    }

    /// Adds a text.
    pub(super) fn text(self, text: &str) -> Fingerprint {
        self.bytes(text.as_bytes())
    }

    /// Adds a message.
    pub(super) fn message(self, message: &impl Message) -> Fingerprint {
        self.bytes(&message.encode_to_vec())
    }

    /// Adds messages.
    pub(super) fn messages<'a, M: Message + 'a>(self, messages: impl IntoIterator<Item = &'a M>) -> Fingerprint {
        messages.into_iter().fold(self, Fingerprint::message)
    }

    /// Adds bytes. Their number comes first, so that two pieces differ from one with the same bytes.
    pub(super) fn bytes(self, bytes: &[u8]) -> Fingerprint {
        let length = (bytes.len() as u64).to_be_bytes();
        let hash = length
            .iter()
            .chain(bytes)
            .fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        Fingerprint(hash)
    }

    /// Returns the fingerprint, which is not 0.
    pub(super) fn end(self) -> u64 {
        self.0.max(1)
    }
}

/// Returns whether a request is the one with a stored fingerprint. An earlier version stored none.
pub(super) fn is_same(stored: u64, digest: u64) -> bool {
    stored == 0 || stored == digest
}
