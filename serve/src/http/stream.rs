//! [`HttpStream`]: the bytes of a connection, with or without TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// A connection. One type for both kinds, so that `hyper` is compiled once; a connection without TLS stays small.
pub(super) enum HttpStream<S> {
    Plain(S),
    Tls(Box<TlsStream<S>>),
}

/// Calls a function of either kind.
macro_rules! either {
    ($stream:expr, $inner:ident => $call:expr) => {
        match $stream.get_mut() {
            HttpStream::Plain($inner) => $call,
            HttpStream::Tls($inner) => $call,
        }
    };
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for HttpStream<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => Pin::new(inner).poll_read(cx, to))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for HttpStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self, inner => Pin::new(inner).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, inner => Pin::new(inner).poll_write_vectored(cx, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            HttpStream::Plain(inner) => inner.is_write_vectored(),
            HttpStream::Tls(inner) => inner.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => Pin::new(inner).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => Pin::new(inner).poll_shutdown(cx))
    }
}
