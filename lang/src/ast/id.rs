//! The numbers of nodes, by which later stages keep what they find out about them.

use crate::source::Span;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// The number of an expression, a pattern, a type, a block or a name within its file.
///
/// Ids are dense: a table by id is a vector. Nodes that stand for text that could not be parsed have [`NodeId::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The id of a node that no table knows.
    pub const NONE: Self = Self(0);

    /// Returns the index of the node in a table by id.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Hands out the ids of one file.
#[derive(Debug, Default)]
pub struct NodeIds(Cell<u32>);

impl NodeIds {
    /// Returns the next id.
    #[inline]
    pub fn next(&self) -> NodeId {
        // A text of 4 GiB, the largest there is, has fewer nodes than bytes.
        let id = self.0.get() + 1;
        self.0.set(id);
        NodeId(id)
    }
}

/// A node's id and span, where a stage needs both and nothing else of it.
#[derive(Clone, Copy, Debug)]
pub struct NodeAt {
    /// Its id.
    pub id: NodeId,
    /// Its span.
    pub span: Span,
}

/// Hashes node ids, which are distinct already.
#[derive(Default)]
pub struct NodeHasher(u64);

impl Hasher for NodeHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 << 8) ^ u64::from(b);
        }
    }
    fn write_u32(&mut self, id: u32) {
        self.0 = u64::from(id).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// A table of the few nodes that have something: a map by id.
pub type NodeMap<T> = HashMap<NodeId, T, BuildHasherDefault<NodeHasher>>;

/// A set of the few nodes that are something.
pub type NodeSet = HashSet<NodeId, BuildHasherDefault<NodeHasher>>;
