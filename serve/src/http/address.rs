//! The addresses of a server.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

/// The names that configure a server, for messages, and its default port.
#[derive(Debug, Clone, Copy)]
pub struct ListenerNames {
    /// The option with the address, such as `--listen`.
    pub option: &'static str,
    /// The environment variable with the token.
    pub token: &'static str,
    /// The port of an address without one.
    pub port: u16,
}

/// The reason why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The text is not an address.
    #[error("invalid listen address `{written}`: {why}")]
    Invalid {
        /// The text.
        written: String,
        /// The reason.
        why: &'static str,
    },
    /// Other machines can reach the address, and callers need no token.
    #[error("`{0}` can be reached from other machines, but no token is set")]
    Exposed(SocketAddr),
    /// The system refuses the address.
    #[error("cannot listen on `{0}`: {1}")]
    Refused(SocketAddr, #[source] io::Error),
}

impl ListenerNames {
    /// Resolves `HOST:PORT`, `HOST`, or a port of this machine. Port 0 selects a free port.
    ///
    /// # Errors
    /// `written` is not an address, or its host name does not resolve.
    pub fn resolve(&self, written: &str) -> Result<SocketAddr, ListenError> {
        let invalid = |why| ListenError::Invalid { written: written.to_owned(), why };
        if let Ok(port) = written.parse::<u16>() {
            return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
        }
        if let Ok(address) = written.parse::<SocketAddr>() {
            return Ok(address);
        }
        if let Ok(address) = written.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            return Ok(SocketAddr::new(address, self.port));
        }
        let (name, port) = match written.rsplit_once(':') {
            Some((name, port)) => {
                (name, port.parse::<u16>().map_err(|_| invalid("its port is not a number from 0 to 65535"))?)
            }
            None => (written, self.port),
        };
        let unresolved = "its host name cannot be resolved";
        // If a name resolves to both IPv4 and IPv6, more clients reach the IPv4 address.
        let mut found: Vec<SocketAddr> = (name, port).to_socket_addrs().map_err(|_| invalid(unresolved))?.collect();
        found.sort_by_key(SocketAddr::is_ipv6);
        found.first().copied().ok_or_else(|| invalid(unresolved))
    }

    /// Returns the help for an error.
    #[must_use]
    pub fn help(&self, error: &ListenError) -> String {
        let ListenerNames { option, token, port } = self;
        match error {
            ListenError::Invalid { .. } => {
                format!("use `127.0.0.1:{port}`, `[::1]:{port}`, `localhost:{port}`, or only a port")
            }
            ListenError::Exposed(_) => format!(
                "set {token} to a value that is hard to guess, or listen on 127.0.0.1, which only this machine can reach"
            ),
            ListenError::Refused(_, error) => match error.kind() {
                io::ErrorKind::AddrInUse => {
                    format!("another process uses this address; `{option} 127.0.0.1:0` selects a free port")
                }
                io::ErrorKind::AddrNotAvailable => "this machine does not have such an address".to_owned(),
                io::ErrorKind::PermissionDenied => {
                    "ports below 1024 need special permissions; use a higher port".to_owned()
                }
                _ => "use another address".to_owned(),
            },
        }
    }
}

/// Returns whether only this machine can connect to `address`.
pub(crate) fn is_local(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: ListenerNames = ListenerNames { option: "--here", token: "TOKEN", port: 41_241 };

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
            ("localhost", "127.0.0.1:41241"),
        ] {
            assert_eq!(NAMES.resolve(written).unwrap().to_string(), expected, "{written}");
        }
        for wrong in ["127.0.0.1:65536", "localhost:", "localhost:http", ""] {
            assert!(matches!(NAMES.resolve(wrong), Err(ListenError::Invalid { .. })), "{wrong}");
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

    #[test]
    fn the_help_names_the_option_and_the_variable() {
        let address = "127.0.0.1:80".parse().unwrap();
        let help = |error| NAMES.help(&error);
        assert!(help(ListenError::Refused(address, io::ErrorKind::AddrInUse.into())).contains("`--here 127.0.0.1:0`"));
        assert!(help(ListenError::Exposed(address)).starts_with("set TOKEN "));
    }
}
