//! Connections, with a limit on how many are open.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use runtime::failures::{FailedOperation, report};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::transport::server::{Connected, TcpConnectInfo};

/// The pause after the system refused a connection, usually because too many files are open.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// A connection, and its permit.
pub(super) struct CountedConnection {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
}

/// Accepts connections. If `most` of them are open, further ones wait until one is closed.
pub(super) fn connections(listener: TcpListener, most: u32) -> impl Stream<Item = io::Result<CountedConnection>> {
    let permits = Arc::new(Semaphore::new(most.max(1) as usize));
    unfold((listener, permits), async |(listener, permits)| {
        if permits.available_permits() == 0 {
            let message = "the limit of open gRPC connections is reached; further ones wait";
            report(FailedOperation::Accept, "gRPC connection limit", message);
        }
        // The semaphore is never closed.
        let permit = permits.clone().acquire_owned().await.ok()?;
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let _ = stream.set_nodelay(true);
                    return Some((Ok(CountedConnection { stream, _permit: permit }), (listener, permits)));
                }
                Err(error) => {
                    let cause = error.kind().to_string();
                    report(FailedOperation::Accept, &cause, format_args!("cannot accept a gRPC connection: {error}"));
                    tokio::time::sleep(EXHAUSTED).await;
                }
            }
        }
    })
}

impl Connected for CountedConnection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for CountedConnection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, to)
    }
}

impl AsyncWrite for CountedConnection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
