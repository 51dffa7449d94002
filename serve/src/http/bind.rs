//! Listens at an address.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

use super::address::{ListenError, is_local};
use super::tls::ServerTls;

/// The size of the system's send buffer for each connection in bytes; the system doubles it for its own use.
const UNREAD: u32 = 128 * 1024;

/// The size of the data that the system buffers but has not begun to send, in bytes. It limits the cost of a client
/// that does not read, beside the client's own receive buffer. It does not slow clients that read, even with a high
/// latency.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 16 * 1024;

/// The maximum number of connections that wait to be accepted.
const WAITING: u32 = 1024;

/// A port that listens.
pub(crate) struct HttpPort {
    pub(super) listener: TcpListener,
    /// The address, with the actual port.
    pub(crate) address: SocketAddr,
    pub(super) tls: Option<ServerTls>,
}

impl HttpPort {
    /// Listens at an address.
    ///
    /// # Errors
    /// Other machines can reach the address and it `is_protected` by nothing, or the system refuses the address.
    pub(crate) fn open(
        address: SocketAddr,
        is_protected: bool,
        tls: Option<ServerTls>,
    ) -> Result<HttpPort, ListenError> {
        let (listener, address) = bind(address, is_protected)?;
        Ok(HttpPort { listener, address, tls })
    }

    /// Returns the URL of the port, without a path.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.address)
    }
}

/// Listens at an address, and returns the address with its actual port.
///
/// # Errors
/// Other machines can reach the address and it `is_protected` by nothing, or the system refuses the address.
pub(crate) fn bind(address: SocketAddr, is_protected: bool) -> Result<(TcpListener, SocketAddr), ListenError> {
    if !is_local(&address) && !is_protected {
        return Err(ListenError::Exposed(address));
    }
    let listening = listen(address).and_then(|listener| listener.local_addr().map(|bound| (listener, bound)));
    listening.map_err(|error| ListenError::Refused(address, error))
}

/// Listens at an address. Connections inherit the socket options.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Without this, the address cannot be reused for a minute after a shutdown.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(UNREAD)?;
    #[cfg(target_os = "linux")]
    // If the system lacks this option, clients that do not read cost more memory, and all are still served.
    let _ = socket2::SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT);
    socket.bind(address)?;
    socket.listen(WAITING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn little_is_taken_of_what_a_client_does_not_read() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let silent = TcpSocket::new_v4().unwrap();
        silent.set_recv_buffer_size(4096).unwrap();
        let silent = silent.connect(listener.local_addr().unwrap()).await.unwrap();
        let (ours, _) = listener.accept().await.unwrap();
        ours.writable().await.unwrap();
        let piece = [0; 4096];
        let taken: usize = std::iter::from_fn(|| ours.try_write(&piece).ok()).sum();
        // Without the limit it is the whole buffer, which is twice the configured size.
        assert!((1..UNREAD as usize).contains(&taken), "{taken} bytes");
        drop(silent);
    }

    #[tokio::test]
    async fn a_public_address_needs_a_token_and_a_taken_one_is_refused() {
        let public = "0.0.0.0:0".parse().unwrap();
        assert!(matches!(bind(public, false), Err(ListenError::Exposed(address)) if address == public));
        assert!(bind(public, true).is_ok());
        let (_listener, bound) = bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        assert_ne!(bound.port(), 0);
        let refused = bind(bound, false).unwrap_err();
        assert!(matches!(&refused, ListenError::Refused(_, error) if error.kind() == io::ErrorKind::AddrInUse));
    }
}
