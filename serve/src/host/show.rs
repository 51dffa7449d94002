//! What a session shows: what is seen of its loops, as [`Event`]s for the peer.
