//! Reads request bodies within a size and a timeout.
//!
//! The layers of `tower-http` respond with plain text, close the connection without reading the rest (so that many
//! clients see a reset instead of the response), and apply a timeout to the whole request, streams included. Here each
//! refusal is a JSON-RPC error that the client can read.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;

/// The multiple of the maximum size that is read of a body that is too large, so that its sender gets the response.
const TOLERATED: usize = 8;

/// The timeout for reading a body.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// The pause of an unwanted body's sender after which it gets the response.
const PAUSE: Duration = Duration::from_millis(200);

/// The reason why a body could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It exceeds the maximum size.
    TooLarge,
    /// It timed out.
    TooSlow,
    /// The connection broke.
    Broken,
}

/// Reads a body of at most `most` bytes.
///
/// # Errors
/// The body could not be read.
pub(super) async fn read(body: Body, most: usize) -> Result<Bytes, BodyError> {
    let is_too_large = usize::try_from(body.size_hint().lower()).map_or(true, |least| least > most);
    if is_too_large {
        skip(body, most).await;
        return Err(BodyError::TooLarge);
    }
    tokio::time::timeout(TIMEOUT, gather(body, most)).await.unwrap_or(Err(BodyError::TooSlow))
}

async fn gather(body: Body, most: usize) -> Result<Bytes, BodyError> {
    let mut pieces = body.into_data_stream();
    let mut whole = Bytes::new();
    // A body that came in one piece is not copied.
    let mut more = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| BodyError::Broken)?;
        if whole.len() + more.len() + piece.len() > most {
            skip_rest(pieces, most.saturating_mul(TOLERATED)).await;
            return Err(BodyError::TooLarge);
        }
        if whole.is_empty() && more.is_empty() {
            whole = piece;
        } else {
            if more.is_empty() {
                more.extend_from_slice(&std::mem::take(&mut whole));
            }
            more.extend_from_slice(&piece);
        }
    }
    Ok(if more.is_empty() { whole } else { more.freeze() })
}

/// Reads an unwanted body and discards it: a client that still writes reads the response only after that. Stops after
/// some more than `most` bytes, when the sender pauses, or at the timeout.
pub(super) async fn skip(body: Body, most: usize) {
    let all = skip_rest(body.into_data_stream(), most.saturating_mul(TOLERATED));
    let _ = tokio::time::timeout(TIMEOUT, all).await;
}

async fn skip_rest(mut pieces: axum::body::BodyDataStream, most: usize) {
    let mut left = most;
    while let Ok(Some(Ok(piece))) = tokio::time::timeout(PAUSE, pieces.next()).await {
        match left.checked_sub(piece.len()) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;

    fn pieces(count: usize) -> Body {
        Body::from_stream(stream::iter((0..count).map(|_| Ok::<_, Infallible>(Bytes::from_static(b"1234")))))
    }

    #[tokio::test]
    async fn a_body_may_have_so_many_bytes() {
        assert_eq!(read(Body::empty(), 4).await.unwrap().len(), 0);
        assert_eq!(&read(Body::from("1234"), 4).await.unwrap()[..], b"1234");
        assert_eq!(read(Body::from("12345"), 4).await, Err(BodyError::TooLarge));
        assert_eq!(&read(pieces(3), 12).await.unwrap()[..], b"123412341234");
        assert_eq!(read(pieces(4), 15).await, Err(BodyError::TooLarge));
        assert_eq!(read(pieces(1_000_000), 8).await, Err(BodyError::TooLarge));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_so_much_time() {
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        assert_eq!(read(never, 4).await, Err(BodyError::TooSlow));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_has_no_more_time_than_any() {
        let drips = stream::unfold((), async |()| {
            tokio::time::sleep(TIMEOUT * 3 / 10).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b"1")), ()))
        });
        let began = tokio::time::Instant::now();
        assert_eq!(read(Body::from_stream(drips), 1000).await, Err(BodyError::TooSlow));
        assert_eq!(began.elapsed(), TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_wanted_is_not_waited_for() {
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let began = tokio::time::Instant::now();
        skip(never, 4).await;
        assert_eq!(began.elapsed(), PAUSE);
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_none() {
        let broken = stream::iter([Ok(Bytes::from_static(b"1")), Err(std::io::Error::other("gone"))]);
        assert_eq!(read(Body::from_stream(broken), 4).await, Err(BodyError::Broken));
    }
}
