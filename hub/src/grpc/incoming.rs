//! Connections, with a limit on how many are open, in all and of one peer, and a timeout for the first bytes.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use base::failures::{FailedOperation, report};
use base::keyed_limit::{KeyedLimit, KeyedPermit};
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;
use tonic::transport::server::{Connected, TcpConnectInfo};

/// The pause after the system refused a connection, usually because too many files are open.
const EXHAUSTED: Duration = Duration::from_millis(50);
/// The time within which a client must send the preface of HTTP/2.
pub(super) const PREFACE_TIMEOUT: Duration = Duration::from_secs(10);
/// The size of the preface in bytes.
const PREFACE: usize = 24;

/// The limits of open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The maximum number in all; further ones wait.
    pub all: u32,
    /// The maximum number of one IP address; further ones are closed. An IPv6 network of 64 bits counts as one address.
    pub peer: u32,
}

/// A connection, and its permits.
pub(super) struct CountedConnection {
    stream: TcpStream,
    preface: Option<AwaitedPreface>,
    _permit: OwnedSemaphorePermit,
    _peer: KeyedPermit<IpAddr>,
}

/// The part of the preface that has not arrived, and the time at which the connection is closed without it.
struct AwaitedPreface {
    missing: usize,
    timeout: Pin<Box<Sleep>>,
}

/// Returns the address that counts: one machine can have all addresses of an IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// Accepts connections.
pub(super) fn connections(
    listener: TcpListener,
    limits: ConnectionLimits,
) -> impl Stream<Item = io::Result<CountedConnection>> {
    let permits = Arc::new(Semaphore::new(limits.all.max(1) as usize));
    let peers = KeyedLimit::new(limits.peer as usize);
    unfold((listener, permits, peers), async |(listener, permits, peers)| {
        if permits.available_permits() == 0 {
            let message = "the limit of open gRPC connections is reached; further ones wait";
            report(FailedOperation::Accept, "gRPC connection limit", message);
        }
        // The semaphore is never closed.
        let permit = permits.clone().acquire_owned().await.ok()?;
        loop {
            match listener.accept().await {
                Ok((stream, from)) => {
                    let Some(peer) = peers.take(network(from.ip())) else {
                        let message = format_args!("closed a gRPC connection: {} has too many", from.ip());
                        report(FailedOperation::Accept, "gRPC connection limit of a peer", message);
                        continue;
                    };
                    let _ = stream.set_nodelay(true);
                    let timeout = Box::pin(tokio::time::sleep(PREFACE_TIMEOUT));
                    let preface = Some(AwaitedPreface { missing: PREFACE, timeout });
                    let connection = CountedConnection { stream, preface, _permit: permit, _peer: peer };
                    return Some((Ok(connection), (listener, permits, peers)));
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
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let CountedConnection { stream, preface, .. } = self.get_mut();
        let Some(awaited) = preface else { return Pin::new(stream).poll_read(cx, to) };
        if awaited.timeout.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "no HTTP/2 preface")));
        }
        let before = to.filled().len();
        ready!(Pin::new(stream).poll_read(cx, to))?;
        awaited.missing = awaited.missing.saturating_sub(to.filled().len() - before);
        if awaited.missing == 0 {
            *preface = None;
        }
        Poll::Ready(Ok(()))
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::pin::pin;

    use futures_util::StreamExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn listener() -> (TcpListener, std::net::SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[tokio::test]
    async fn a_peer_has_a_limit_of_connections_and_gets_a_place_back() {
        let (listener, address) = listener().await;
        let mut accepted = pin!(connections(listener, ConnectionLimits { all: 10, peer: 2 }));
        let _one = TcpStream::connect(address).await.unwrap();
        let _two = TcpStream::connect(address).await.unwrap();
        let first = accepted.next().await.unwrap().unwrap();
        let _second = accepted.next().await.unwrap().unwrap();
        let mut third = TcpStream::connect(address).await.unwrap();
        let mut byte = [0; 1];
        tokio::select! {
            biased;
            _ = accepted.next() => panic!("a third connection was accepted"),
            read = third.read(&mut byte) => assert_eq!(read.unwrap_or(0), 0),
        }
        drop(first);
        let _fourth = TcpStream::connect(address).await.unwrap();
        assert!(accepted.next().await.unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_preface_ends() {
        let (listener, address) = listener().await;
        let mut accepted = pin!(connections(listener, ConnectionLimits { all: 10, peer: 10 }));
        let mut client = TcpStream::connect(address).await.unwrap();
        let mut silent = accepted.next().await.unwrap().unwrap();
        client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r").await.unwrap();
        let mut read = Vec::new();
        let error = silent.read_to_end(&mut read).await.unwrap_err();
        assert_eq!((error.kind(), read.len()), (io::ErrorKind::TimedOut, PREFACE - 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_a_preface_may_be_silent() {
        let (listener, address) = listener().await;
        let mut accepted = pin!(connections(listener, ConnectionLimits { all: 10, peer: 10 }));
        let mut client = TcpStream::connect(address).await.unwrap();
        let mut served = accepted.next().await.unwrap().unwrap();
        client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        let mut preface = [0; PREFACE];
        served.read_exact(&mut preface).await.unwrap();
        let mut byte = [0; 1];
        let late = tokio::time::timeout(PREFACE_TIMEOUT * 10, served.read(&mut byte)).await;
        assert!(late.is_err(), "the connection was closed");
    }

    #[test]
    fn an_ipv6_network_is_one_peer() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::1"), "::");
    }
}
