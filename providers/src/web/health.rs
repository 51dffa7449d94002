//! [`HealthProbe`]: asks a server whether it works. The URL comes from others, so the addresses that it may lead to are
//! limited.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::{Attempt, Policy};
use rustls::RootCertStore;

use super::Url;
use crate::model::http::client::{tls, trusted_roots};
use crate::model::http::failure::root_cause;

/// The maximum number of redirects.
const MAX_REDIRECTS: usize = 3;

/// The reason that an address is not asked.
const NOT_PUBLIC: &str = "the address is not public";

/// The reason that an address of another machine is not asked without TLS.
const NO_TLS: &str = "`http://` is only for this machine; use `https://`";

/// Asks servers whether they work.
#[derive(Debug, Clone)]
pub struct HealthProbe {
    client: reqwest::Client,
    allows_private: bool,
}

impl HealthProbe {
    /// Creates a probe. Without `allows_private`, it asks only public addresses. It uses no proxy, and follows redirects to the
    /// same host only.
    ///
    /// # Errors
    /// A sentence: TLS cannot be set up.
    pub fn new(timeout: Duration, allows_private: bool) -> Result<HealthProbe, String> {
        let roots: RootCertStore = trusted_roots();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls(roots).map_err(|error| error.to_string())?)
            .timeout(timeout)
            .redirect(Policy::custom(same_host))
            .dns_resolver(std::sync::Arc::new(LimitedResolver { allows_private }))
            .pool_max_idle_per_host(0)
            .user_agent(concat!("harn/", env!("CARGO_PKG_VERSION")))
            .no_proxy();
        let client = client.build().map_err(|error| error.to_string())?;
        Ok(HealthProbe { client, allows_private })
    }

    /// Asks a URL with GET. It works if the status is one of success.
    ///
    /// # Errors
    /// A sentence that says why it does not.
    pub async fn ask(&self, url: &str) -> Result<(), String> {
        let url = Url::parse(url).map_err(|error| format!("invalid URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("the URL must begin with `http://` or `https://`".to_owned());
        }
        let literal = match url.host() {
            Some(host) => host.to_string().trim_matches(['[', ']']).parse::<IpAddr>().ok(),
            None => return Err("the URL has no host".to_owned()),
        };
        if url.scheme() == "http" && !literal.map_or(url.host_str() == Some("localhost"), |ip| ip.is_loopback()) {
            return Err(NO_TLS.to_owned());
        }
        // The resolver sees names only.
        if literal.is_some_and(|ip| !is_allowed(ip, self.allows_private)) {
            return Err(NOT_PUBLIC.to_owned());
        }
        let response = self.client.get(url).send().await.map_err(|error| root_cause(&error))?;
        let status = response.status();
        if status.is_success() { Ok(()) } else { Err(format!("status {}", status.as_u16())) }
    }
}

/// Follows redirects to the same scheme, host and port.
fn same_host(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let first = attempt.previous().first();
    let place =
        |url: &Url| (url.scheme().to_owned(), url.host_str().map(ToOwned::to_owned), url.port_or_known_default());
    let is_same = first.is_some_and(|first| place(first) == place(attempt.url()));
    if is_same && attempt.previous().len() <= MAX_REDIRECTS { attempt.follow() } else { attempt.stop() }
}

/// Resolves names to the addresses that are allowed.
#[derive(Debug)]
struct LimitedResolver {
    allows_private: bool,
}

impl Resolve for LimitedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_private = self.allows_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|at| is_allowed(at.ip(), allows_private)).collect();
            if allowed.is_empty() {
                return Err(NOT_PUBLIC.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Returns whether an address may be asked.
fn is_allowed(ip: IpAddr, allows_private: bool) -> bool {
    let ip = ip.to_canonical();
    if ip.is_unspecified() || ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
        return false;
    }
    allows_private || is_public(ip)
}

fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [first, second, ..] = ip.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            !(ip.is_loopback() || ip.is_private() || ip.is_link_local() || is_shared || first == 0)
        }
        IpAddr::V6(ip) => {
            let first = ip.segments()[0];
            let (is_local, is_link_local) = (first & 0xfe00 == 0xfc00, first & 0xffc0 == 0xfe80);
            !(ip.is_loopback() || is_local || is_link_local)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_asked_without_leave() {
        for ip in ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "::1"] {
            assert!(!is_allowed(ip.parse().unwrap(), false) && is_allowed(ip.parse().unwrap(), true), "{ip}");
        }
        for ip in ["fc00::1", "fd12::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"] {
            assert!(!is_allowed(ip.parse().unwrap(), false), "{ip}");
        }
        for ip in ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "172.32.0.1", "100.128.0.1"] {
            assert!(is_allowed(ip.parse().unwrap(), false), "{ip}");
        }
        for ip in ["0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "ff02::1"] {
            assert!(!is_allowed(ip.parse().unwrap(), true), "{ip}");
        }
    }

    #[tokio::test]
    async fn invalid_urls_are_refused() {
        let probe = HealthProbe::new(Duration::from_secs(1), false).unwrap();
        for (url, why) in [
            ("ftp://example.com/", "http://"),
            ("nowhere", "invalid URL"),
            ("http://example.com/", NO_TLS),
            ("http://localhost.example.com/", NO_TLS),
            ("http://localhost@example.com/", NO_TLS),
            ("http://10.0.0.1/", NO_TLS),
            ("http://[::ffff:10.0.0.1]/", NO_TLS),
            ("http://127.0.0.1:1/", NOT_PUBLIC),
            ("http://[::1]:1/", NOT_PUBLIC),
            ("http://localhost:1/", NOT_PUBLIC),
        ] {
            let error = probe.ask(url).await.unwrap_err();
            assert!(error.contains(why), "{url}: {error}");
        }
    }
}
