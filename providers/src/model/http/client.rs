//! The connection pool of a worker. It is built on the first question, since reading the system's certificates takes
//! milliseconds, and a connection lives on the runtime that dialled it, so workers do not share one.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{NoProxy, Proxy, Url, redirect};
use rustls::{ClientConfig, RootCertStore};

/// The timeout of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why no client could be created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    #[error("cannot use the proxy in {variable}: {reason}")]
    Proxy { variable: String, reason: String },
    #[error("cannot set up the HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

/// The proxies that the environment names, as `(variable, value)`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proxies {
    http: Option<(String, String)>,
    https: Option<(String, String)>,
    except: Option<String>,
}

impl Proxies {
    pub(crate) fn from_env(env: &crate::model::provider::Env) -> Proxies {
        let first = |names: &[&str]| {
            names.iter().find_map(|name| {
                env(name).filter(|value| !value.trim().is_empty()).map(|value| ((*name).to_owned(), value))
            })
        };
        Proxies {
            // HTTP_PROXY in capitals is not read: in a CGI environment it is a request header.
            http: first(&["http_proxy", "ALL_PROXY", "all_proxy"]),
            https: first(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]),
            except: first(&["NO_PROXY", "no_proxy"]).map(|(_, value)| value),
        }
    }
}

/// The clients of a worker, made when they are first needed: one without TLS for plain http, so that a local server needs
/// no certificates and no time to read them, and one with TLS.
#[derive(Debug, Default)]
pub(crate) struct Client {
    proxies: Proxies,
    /// Whether redirects are followed; without it none are.
    redirects: Option<fn() -> redirect::Policy>,
    plain: OnceCell<reqwest::Client>,
    secure: OnceCell<reqwest::Client>,
}

impl Client {
    pub(crate) fn new(proxies: Proxies) -> Client {
        Client { proxies, ..Client::default() }
    }

    /// Returns the client with redirects followed.
    pub(crate) fn following(self, redirects: fn() -> redirect::Policy) -> Client {
        Client { redirects: Some(redirects), ..self }
    }

    /// The client for a URL.
    pub(crate) fn get(&self, url: &Url) -> Result<&reqwest::Client, ClientError> {
        let secure = url.scheme() == "https";
        let cell = if secure { &self.secure } else { &self.plain };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        let client = self.build(if secure { trusted_roots() } else { RootCertStore::empty() })?;
        Ok(cell.get_or_init(|| client))
    }

    fn build(&self, roots: RootCertStore) -> Result<reqwest::Client, ClientError> {
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls(roots)?)
            .connect_timeout(CONNECT_TIMEOUT)
            // To a model: a redirect would send the prompt, and perhaps the key, to an unintended
            // server.
            .redirect(self.redirects.map_or_else(redirect::Policy::none, |policy| policy()))
            .user_agent(concat!("harn/", env!("CARGO_PKG_VERSION")))
            .no_proxy();
        // A server on this machine is never behind a proxy.
        let except = format!("localhost,127.0.0.0/8,::1,{}", self.proxies.except.as_deref().unwrap_or_default());
        for (named, proxy) in [
            (&self.proxies.http, Proxy::http::<String> as fn(String) -> reqwest::Result<Proxy>),
            (&self.proxies.https, Proxy::https::<String>),
        ] {
            if let Some((variable, value)) = named {
                let proxy = proxy(value.clone()).map_err(|error| ClientError::Proxy {
                    variable: variable.clone(),
                    reason: super::failure::root_cause(&error),
                })?;
                builder = builder.proxy(proxy.no_proxy(NoProxy::from_string(&except)));
            }
        }
        Ok(builder.build()?)
    }
}

pub(crate) fn tls(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Returns the system's certificates, else those of Mozilla.
#[must_use]
pub fn trusted_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
