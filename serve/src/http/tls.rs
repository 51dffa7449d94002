//! [`ServerTls`]: the certificate and the key of a server.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{InconsistentKeys, ServerConfig};
use tokio_rustls::TlsAcceptor;

/// The protocol that clients can ask for.
const ALPN: &[u8] = b"http/1.1";

/// The certificate and the key of a server, read and checked. Connections use TLS 1.2 or 1.3.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    certificate: Arc<[u8]>,
    key: Arc<[u8]>,
}

/// The reason why a server cannot use a certificate and a key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {}", .0.display(), .1)]
    Unreadable(PathBuf, #[source] io::Error),
    /// A file does not contain a certificate chain in PEM.
    #[error("`{}` is not a certificate chain in PEM", .0.display())]
    NoCertificate(PathBuf),
    /// A file does not contain a private key in PEM.
    #[error("`{}` is not a private key in PEM", .0.display())]
    NoKey(PathBuf),
    /// The key is that of another certificate.
    #[error("the key `{}` does not belong to the certificate `{}`", .key.display(), .certificate.display())]
    Mismatch {
        /// The file with the certificate.
        certificate: PathBuf,
        /// The file with the key.
        key: PathBuf,
    },
    /// The certificate or the key cannot be used.
    #[error("cannot use the certificate `{}` with its key: {}", .0.display(), .1)]
    Unusable(PathBuf, #[source] rustls::Error),
}

impl ServerTls {
    /// Reads a certificate chain and its private key, both in PEM.
    ///
    /// # Errors
    /// A file cannot be read or is not PEM, or the key does not belong to the certificate.
    pub fn read(certificate: &Path, key: &Path) -> Result<ServerTls, TlsError> {
        let read = |path: &Path| fs::read(path).map_err(|error| TlsError::Unreadable(path.to_owned(), error));
        let (chain_pem, key_pem) = (read(certificate)?, read(key)?);
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&chain_pem)
            .collect::<Result<_, _>>()
            .ok()
            .filter(|chain: &Vec<_>| !chain.is_empty())
            .ok_or_else(|| TlsError::NoCertificate(certificate.to_owned()))?;
        let private = PrivateKeyDer::from_pem_slice(&key_pem).map_err(|_| TlsError::NoKey(key.to_owned()))?;
        let unusable = |error| match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                TlsError::Mismatch { certificate: certificate.to_owned(), key: key.to_owned() }
            }
            error => TlsError::Unusable(certificate.to_owned(), error),
        };
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private));
        let mut config = config.map_err(unusable)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(ServerTls { config: Arc::new(config), certificate: chain_pem.into(), key: key_pem.into() })
    }

    /// Returns the certificate chain and its key in PEM.
    pub(crate) fn pem(&self) -> (&[u8], &[u8]) {
        (&self.certificate, &self.key)
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.clone())
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerTls")
    }
}
