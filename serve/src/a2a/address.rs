//! The addresses of a server.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use stdlib::Diagnostic;

use super::A2aCode;

/// The default port.
const PORT: u16 = 41_241;

/// The default address to listen on; only this machine can reach it.
pub const USUAL: &str = "127.0.0.1:41241";

/// Resolves `HOST:PORT`, `HOST`, or a port of this machine. Port 0 selects a free port.
///
/// # Errors
/// `written` is not an address, or its host name does not resolve.
pub fn resolve(written: &str) -> Result<SocketAddr, Box<Diagnostic>> {
    let wrong = |why: &str| {
        let diagnostic = Diagnostic::new(A2aCode::Address, format!("invalid listen address `{written}`: {why}"));
        Box::new(diagnostic.help(format!("use `{USUAL}`, `[::1]:{PORT}`, `localhost:{PORT}`, or only a port")))
    };
    if let Ok(port) = written.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    if let Ok(address) = written.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(address) = written.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, PORT));
    }
    let (name, port) = written.rsplit_once(':').unwrap_or((written, "41241"));
    let port = port.parse::<u16>().map_err(|_| wrong("its port is not a number from 0 to 65535"))?;
    let found = (name, port).to_socket_addrs().map_err(|_| wrong("its host name cannot be resolved"))?;
    // If a name resolves to both IPv4 and IPv6, more clients reach the IPv4 address.
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied().ok_or_else(|| wrong("its host name cannot be resolved"))
}

/// Returns whether only this machine can connect to `address`.
pub(crate) fn is_local(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_leave_out_what_is_usual() {
        for (written, expected) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("0", "127.0.0.1:0"),
            ("8080", "127.0.0.1:8080"),
            ("0.0.0.0", "0.0.0.0:41241"),
            ("[::1]", "[::1]:41241"),
            ("::1", "[::1]:41241"),
            ("[::]:7", "[::]:7"),
            ("localhost:9", "127.0.0.1:9"),
        ] {
            assert_eq!(resolve(written).unwrap().to_string(), expected, "{written}");
        }
        for wrong in ["127.0.0.1:65536", "localhost:", "localhost:http", ""] {
            assert_eq!(resolve(wrong).unwrap_err().code.as_str(), "HARN-A2A-015", "{wrong}");
        }
    }

    #[test]
    fn only_loopback_is_the_machines_own() {
        for (address, expected) in [
            ("127.0.0.1:1", true),
            ("127.8.8.8:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("10.0.0.1:1", false),
        ] {
            assert_eq!(is_local(&address.parse().unwrap()), expected, "{address}");
        }
    }
}
