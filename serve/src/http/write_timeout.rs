//! [`WriteTimeout`]: closes a connection whose client reads nothing for a long time. Without it, such clients would
//! keep their permits forever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use base::failures::{FailedOperation, report};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection that fails if its client reads nothing for a given time.
pub(super) struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    /// The timer that runs while nothing can be written.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(super) fn new(stream: S, timeout: Duration) -> WriteTimeout<S> {
        WriteTimeout { stream, timeout, waits: None }
    }

    /// Applies the timeout to a write or a flush.
    fn timed<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        waits.as_mut().poll(cx).map(|()| {
            let seconds = self.timeout.as_secs();
            let message = format_args!("closed an HTTP connection: its client read nothing for {seconds} s");
            report(FailedOperation::Delivery, "client does not read", message);
            Err(io::ErrorKind::TimedOut.into())
        })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, to)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.timed(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.timed(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn who_never_reads_is_given_up_and_what_was_written_before_is_there() {
        let (ours, mut theirs) = duplex(4);
        let mut ours = WriteTimeout::new(ours, Duration::from_millis(1));
        assert_eq!(ours.write_all(b"12345").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(ours);
        let mut read = String::new();
        theirs.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "1234");
    }

    #[tokio::test]
    async fn who_reads_is_waited_for() {
        let (ours, mut theirs) = duplex(4);
        let mut ours = WriteTimeout::new(ours, Duration::from_secs(3600));
        let writes = async {
            for _ in 0..100 {
                ours.write_all(b"1234").await.unwrap();
            }
            drop(ours);
        };
        let mut read = Vec::new();
        let (read_all, ()) = tokio::join!(theirs.read_to_end(&mut read), writes);
        assert_eq!(read_all.unwrap(), 400);
    }
}
