//! [`CookieJar`]: the cookies that servers set, and those that a request has, as RFC 6265 says.

use super::Url;
use std::net::IpAddr;
use std::time::UNIX_EPOCH;

/// Cookies of a jar, and of one domain. The oldest are forgotten.
const MOST_COOKIES: usize = 3000;
const MOST_OF_DOMAIN: usize = 100;

/// Bytes of a name with its value.
const LONGEST: usize = 4096;

/// The second labels under which countries register names, such as `co.uk`.
const SECOND_LEVEL: [&str; 14] =
    ["ac", "co", "com", "edu", "go", "gob", "gov", "gv", "info", "mil", "ne", "net", "or", "org"];

/// A cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// The host that has set it, or the domain that it has named.
    pub domain: String,
    /// Whether only that host gets it.
    pub host_only: bool,
    /// The path under which it is sent.
    pub path: String,
    /// The time at which it ends, in milliseconds; never if absent.
    pub expires_ms: Option<u64>,
    /// Whether it is sent over TLS only.
    pub secure: bool,
}

/// The cookies of a series of requests.
#[derive(Debug, Default)]
pub struct CookieJar {
    /// The oldest first.
    cookies: Vec<Cookie>,
}

impl CookieJar {
    /// Takes in a `set-cookie` header of an answer. One that the server may not set is ignored, as by a browser.
    pub fn take_in(&mut self, url: &Url, header: &str, now_ms: u64) {
        let Some(mut cookie) = Cookie::parse(url, header, now_ms) else { return };
        let is_same = |old: &Cookie| old.name == cookie.name && old.domain == cookie.domain && old.path == cookie.path;
        let place = self.cookies.iter().position(is_same);
        // A server without TLS does not replace what is for TLS.
        if place.is_some_and(|at| self.cookies[at].secure) && url.scheme() != "https" {
            return;
        }
        let has_ended = cookie.has_ended(now_ms);
        match place {
            Some(at) if has_ended => drop(self.cookies.remove(at)),
            // Its place in requests stays.
            Some(at) => std::mem::swap(&mut self.cookies[at], &mut cookie),
            None if has_ended => {}
            None => self.add(cookie, now_ms),
        }
    }

    fn add(&mut self, cookie: Cookie, now_ms: u64) {
        self.cookies.retain(|old| !old.has_ended(now_ms));
        let mut of_domain = self.cookies.iter().enumerate().filter(|(_, old)| old.domain == cookie.domain);
        let oldest = of_domain.next().map(|(at, _)| at);
        if let Some(oldest) = oldest.filter(|_| of_domain.count() + 1 >= MOST_OF_DOMAIN) {
            self.cookies.remove(oldest);
        } else if self.cookies.len() >= MOST_COOKIES {
            self.cookies.remove(0);
        }
        self.cookies.push(cookie);
    }

    /// Returns the `cookie` header of a request.
    #[must_use]
    pub fn header(&self, url: &Url, now_ms: u64) -> Option<String> {
        let mut sent: Vec<&Cookie> = self.cookies.iter().filter(|cookie| cookie.is_for(url, now_ms)).collect();
        // The most specific path first.
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<String> = sent.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        Some(pairs.join("; ")).filter(|header| !header.is_empty())
    }

    /// The cookies that have not ended, the oldest first.
    pub fn cookies(&self, now_ms: u64) -> impl Iterator<Item = &Cookie> {
        self.cookies.iter().filter(move |cookie| !cookie.has_ended(now_ms))
    }
}

impl Cookie {
    fn parse(url: &Url, header: &str, now_ms: u64) -> Option<Cookie> {
        let host = url.host_str()?.to_ascii_lowercase();
        let mut parts = header.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let is_text = |text: &str| !text.chars().any(char::is_control);
        if name.is_empty() || name.len() + value.len() > LONGEST || !is_text(name) || !is_text(value) {
            return None;
        }
        let mut cookie = Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: host.clone(),
            host_only: true,
            path: default_path(url),
            expires_ms: None,
            secure: false,
        };
        let mut max_age = None;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" if !value.is_empty() => {
                    let domain = value.trim_start_matches('.').to_ascii_lowercase();
                    if domain != host && (!is_within(&host, &domain) || is_public_suffix(&domain)) {
                        return None;
                    }
                    cookie.host_only = is_public_suffix(&domain);
                    cookie.domain = domain;
                }
                "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
                "expires" => cookie.expires_ms = date_ms(value),
                "max-age" => max_age = value.parse::<i64>().ok().or(max_age),
                "secure" => cookie.secure = true,
                _ => {}
            }
        }
        if let Some(seconds) = max_age {
            let ms = u64::try_from(seconds).unwrap_or(0).saturating_mul(1000);
            cookie.expires_ms = Some(if ms == 0 { 0 } else { now_ms.saturating_add(ms) });
        }
        (!cookie.secure || url.scheme() == "https").then_some(cookie)
    }

    fn has_ended(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|at_ms| at_ms <= now_ms)
    }

    fn is_for(&self, url: &Url, now_ms: u64) -> bool {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let is_of_host = host == self.domain || (!self.host_only && is_within(&host, &self.domain));
        let path = url.path();
        let rest = path.strip_prefix(self.path.as_str());
        let is_of_path = rest.is_some_and(|rest| rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/'));
        is_of_host && is_of_path && !self.has_ended(now_ms) && (!self.secure || url.scheme() == "https")
    }
}

/// Returns the folder of the path of a URL, without the last `/`.
fn default_path(url: &Url) -> String {
    match url.path().rfind('/') {
        Some(at) if at > 0 => url.path()[..at].to_owned(),
        _ => "/".to_owned(),
    }
}

/// Returns whether a host is below a domain.
fn is_within(host: &str, domain: &str) -> bool {
    let is_below = host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    is_below && host.trim_matches(['[', ']']).parse::<IpAddr>().is_err()
}

/// Returns whether names of several owners may be below a domain: `com`, `co.uk`. The list of all such domains changes each
/// week and takes more room than all of HTTP here; this covers the common form.
fn is_public_suffix(domain: &str) -> bool {
    match domain.split_once('.') {
        None => true,
        Some((second, country)) => country.len() == 2 && SECOND_LEVEL.contains(&second),
    }
}

/// Returns the moment of a date: in the forms of HTTP, also with `-` between its parts.
fn date_ms(text: &str) -> Option<u64> {
    let date = httpdate::parse_http_date(text).or_else(|_| httpdate::parse_http_date(&text.replace('-', " "))).ok()?;
    let since = date.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    /// Returns the header of a request after an answer from a URL had a `set-cookie` header.
    fn sent(from: &str, header: &str, to: &str) -> Option<String> {
        let mut jar = CookieJar::default();
        jar.take_in(&url(from), header, 1000);
        jar.header(&url(to), 1000)
    }

    #[test]
    fn a_cookie_goes_to_its_host_and_path() {
        for (header, to, wanted) in [
            ("a=1", "https://shop.example.com/", Some("a=1")),
            ("a=1", "https://example.com/", None),
            ("a=1", "https://x.shop.example.com/", None),
            ("a=1; Domain=example.com", "https://other.example.com/x", Some("a=1")),
            ("a=1; Domain=.Example.COM", "https://example.com/", Some("a=1")),
            ("a=1; domain=ample.com", "https://shop.example.com/", None),
            ("a=1; domain=other.com", "https://other.com/", None),
            ("a=1; domain=com", "https://shop.example.com/", None),
            ("a=1; path=/cart", "https://shop.example.com/cart/2", Some("a=1")),
            ("a=1; path=/cart", "https://shop.example.com/carton", None),
            ("a=1; secure", "http://shop.example.com/", None),
            ("a = b=c ; HttpOnly", "https://shop.example.com/", Some("a=b=c")),
            ("=1", "https://shop.example.com/", None),
            ("a", "https://shop.example.com/", None),
            ("a=1; max-age=0", "https://shop.example.com/", None),
            ("a=1; max-age=-5", "https://shop.example.com/", None),
            ("a=1; max-age=1", "https://shop.example.com/", Some("a=1")),
            ("a=1; expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://shop.example.com/", None),
            ("a=1; expires=Wed, 09-Jun-2100 10:18:14 GMT", "https://shop.example.com/", Some("a=1")),
            ("a=1; expires=Thu, 01 Jan 1970 00:00:00 GMT; max-age=9", "https://shop.example.com/", Some("a=1")),
            ("a=1; expires=soon", "https://shop.example.com/", Some("a=1")),
        ] {
            assert_eq!(sent("https://shop.example.com/login", header, to).as_deref(), wanted, "{header} to {to}");
        }
        assert_eq!(sent("https://a.co.uk/", "a=1; domain=co.uk", "https://b.co.uk/"), None);
        assert_eq!(sent("http://127.0.0.1/", "a=1; domain=0.0.1", "http://127.0.0.1/"), None);
        assert_eq!(sent("http://127.0.0.1/", "a=1; domain=127.0.0.1", "http://127.0.0.1/").as_deref(), Some("a=1"));
        assert_eq!(sent("http://localhost/a/b", "a=1", "http://localhost/a/c").as_deref(), Some("a=1"));
        assert_eq!(sent("http://localhost/a/b", "a=1", "http://localhost/c"), None);
        assert_eq!(sent("http://localhost/", "a=1; secure", "https://localhost/"), None);
    }

    #[test]
    fn a_cookie_is_replaced_removed_and_ends() {
        let (mut jar, from) = (CookieJar::default(), url("https://example.com/a/b"));
        for header in ["a=1; path=/", "b=2; max-age=1; path=/", "c=3"] {
            jar.take_in(&from, header, 1000);
        }
        assert_eq!(jar.header(&from, 1999).as_deref(), Some("c=3; a=1; b=2"));
        assert_eq!(jar.header(&from, 2000).as_deref(), Some("c=3; a=1"));
        jar.take_in(&from, "a=new; path=/", 1000);
        jar.take_in(&from, "c=; max-age=0", 1000);
        assert_eq!(jar.header(&from, 1000).as_deref(), Some("a=new; b=2"));
        assert_eq!(jar.cookies(3000).map(|cookie| cookie.name.as_str()).collect::<Vec<_>>(), ["a"]);
        jar.take_in(&from, "s=1; secure; path=/", 1000);
        jar.take_in(&url("http://example.com/"), "s=2; path=/", 1000);
        assert_eq!(jar.header(&from, 3000).as_deref(), Some("a=new; s=1"));
    }

    #[test]
    fn a_jar_has_a_limit_for_each_domain_and_for_all() {
        let mut jar = CookieJar::default();
        for i in 0..MOST_OF_DOMAIN + 20 {
            jar.take_in(&url("https://one.com/"), &format!("c{i}=1"), 0);
        }
        assert_eq!(jar.cookies(0).count(), MOST_OF_DOMAIN);
        assert!(jar.cookies(0).all(|cookie| cookie.name != "c19") && jar.cookies(0).any(|cookie| cookie.name == "c20"));
        for i in 0..MOST_COOKIES {
            jar.take_in(&url(&format!("https://h{i}.com/")), "a=1", 0);
        }
        assert_eq!(jar.cookies(0).count(), MOST_COOKIES);
        let long = format!("a={}", "x".repeat(LONGEST));
        assert_eq!(sent("https://example.com/", &long, "https://example.com/"), None);
    }
}
