//! [`ServerLocation`]: where each provider lives and how it is addressed, by the variables that its own SDK reads.

use reqwest::Url;
use reqwest::header::HeaderValue;
use runtime::capabilities::WireFormat;

use super::CapabilityTable;
use super::anthropic;
use super::http::Endpoint;
use super::http::endpoint::{is_local, is_loopback, shown};
use super::provider::{Env, Provider, RouteError, set};
use super::server::{Server, origin};

/// The location of a provider's server.
pub(super) struct ServerLocation {
    /// The variables that may hold the base URL; the first that is set counts.
    bases: &'static [&'static str],
    /// The URL of the vendor's own server.
    default_base: Option<&'static str>,
    /// An example of a base URL.
    example: &'static str,
    /// The variables that may hold the key; the first that is set counts.
    keys: &'static [KeyVariable],
    /// Whether a server elsewhere than on this machine wants a key.
    wants_key: bool,
    /// The text of the base URL, as its variable says it, into a URL.
    read: fn(&str) -> String,
}

/// A variable that holds a key, and the header that carries it.
struct KeyVariable {
    variable: &'static str,
    header: &'static str,
    prefix: &'static str,
}

/// A base URL that was found.
struct BaseUrl {
    /// The setting that determines it, or could change it.
    said_by: String,
    url: Url,
    named_by: NamedBy,
}

/// The origin of a base URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedBy {
    /// A variable of the environment, or the vendor's own server for lack of one.
    User,
    /// The project's `harn.toml`.
    Project,
}

/// The key that was found.
#[derive(Default)]
struct FoundKey {
    variable: String,
    header: &'static str,
    prefix: &'static str,
    secret: Option<String>,
}

const fn bearer(variable: &'static str) -> KeyVariable {
    KeyVariable { variable, header: "authorization", prefix: "Bearer " }
}

const ANTHROPIC: ServerLocation = ServerLocation {
    bases: &["ANTHROPIC_BASE_URL"],
    default_base: Some("https://api.anthropic.com"),
    example: "https://api.anthropic.com",
    keys: &[
        KeyVariable { variable: "ANTHROPIC_API_KEY", header: "x-api-key", prefix: "" },
        bearer("ANTHROPIC_AUTH_TOKEN"),
    ],
    wants_key: true,
    read: str::to_owned,
};

const OPENAI: ServerLocation = ServerLocation {
    bases: &["OPENAI_BASE_URL"],
    default_base: Some("https://api.openai.com/v1"),
    example: "https://api.openai.com/v1",
    keys: &[bearer("OPENAI_API_KEY")],
    wants_key: true,
    read: str::to_owned,
};

const GEMINI: ServerLocation = ServerLocation {
    bases: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
    default_base: Some("https://generativelanguage.googleapis.com"),
    example: "https://generativelanguage.googleapis.com",
    keys: &[google("GEMINI_API_KEY"), google("GOOGLE_API_KEY")],
    wants_key: true,
    read: str::to_owned,
};

const fn google(variable: &'static str) -> KeyVariable {
    KeyVariable { variable, header: "x-goog-api-key", prefix: "" }
}

const OLLAMA: ServerLocation = ServerLocation {
    bases: &["OLLAMA_BASE_URL", "OLLAMA_HOST"],
    default_base: Some("http://127.0.0.1:11434"),
    example: "http://127.0.0.1:11434",
    keys: &[bearer("OLLAMA_API_KEY")],
    wants_key: false,
    read: ollama_host,
};

const OPENAI_COMPATIBLE: ServerLocation = ServerLocation {
    bases: &["OPENAI_COMPATIBLE_BASE_URL"],
    default_base: None,
    example: "http://127.0.0.1:8000/v1",
    keys: &[bearer("OPENAI_COMPATIBLE_API_KEY")],
    wants_key: false,
    read: str::to_owned,
};

impl ServerLocation {
    /// The place of a provider; the mock lives nowhere.
    pub(super) fn of(provider: Provider) -> Option<&'static ServerLocation> {
        match provider {
            Provider::Mock => None,
            Provider::Anthropic => Some(&ANTHROPIC),
            Provider::Openai => Some(&OPENAI),
            Provider::Gemini => Some(&GEMINI),
            Provider::Ollama => Some(&OLLAMA),
            Provider::OpenaiCompatible => Some(&OPENAI_COMPATIBLE),
        }
    }

    /// Whether one of its keys is set.
    pub(super) fn has_key(&self, env: &Env, server: Option<&Server>) -> bool {
        self.key(env, server).is_some_and(|key| key.secret.is_some())
    }

    /// The key that counts: that of the variable which the project names, else the first that is set, else the usual one.
    fn key(&self, env: &Env, server: Option<&Server>) -> Option<FoundKey> {
        let usual = self.keys.first()?;
        if let Some(variable) = server.and_then(|server| server.key_env.clone()) {
            return Some(FoundKey {
                secret: set(env, &variable),
                variable,
                header: usual.header,
                prefix: usual.prefix,
            });
        }
        let found = self.keys.iter().find_map(|key| Some((key, set(env, key.variable)?)));
        let (key, secret) = found.map_or((usual, None), |(key, secret)| (key, Some(secret)));
        Some(FoundKey { secret, variable: key.variable.to_owned(), header: key.header, prefix: key.prefix })
    }

    /// Returns the endpoint for `model` on `wire` at this location.
    ///
    /// # Errors
    /// Fails without a usable base URL, without a required key, or with a key that must not be sent
    /// to this server.
    pub(super) fn endpoint(
        &self,
        provider: Provider,
        wire: WireFormat,
        model: &str,
        env: &Env,
        table: &CapabilityTable,
    ) -> Result<Endpoint, RouteError> {
        let server = table.servers().get(&provider);
        let BaseUrl { said_by: base_variable, url: base, named_by } = self.base(provider, env, server)?;
        let key = self.key(env, server).unwrap_or_default();
        let mut headers = Vec::new();
        if let Some(secret) = &key.secret {
            self.may_send(&key, &base, named_by, table)?;
            let value = HeaderValue::from_str(&format!("{}{secret}", key.prefix));
            let mut value = value.map_err(|_| RouteError::BadKey { variable: key.variable.clone() })?;
            value.set_sensitive(true);
            headers.push((key.header, value));
        } else if self.wants_key && !is_local(&base) {
            let base_variable = self.bases.first().copied().unwrap_or_default();
            return Err(RouteError::NoKey { provider, variable: key.variable, base_variable });
        }
        if wire == WireFormat::Anthropic {
            headers.push(("anthropic-version", HeaderValue::from_static(anthropic::VERSION)));
        }
        let is_own = self.is_own(&base);
        Ok(Endpoint {
            provider: provider.as_str(),
            base_variable,
            key_variable: key.variable,
            shown: shown(&base),
            url: asked(&base, wire, model, false),
            stream_url: asked(&base, wire, model, true),
            headers,
            is_own,
            sent_elsewhere: key.secret.is_some() && !is_loopback(&base) && !is_own,
            secret: key.secret,
        })
    }

    /// Refuses to send a key where it must not go.
    ///
    /// A vendor's own key goes to the vendor's origin, to a base URL of the provider's own variable, and where the user's
    /// settings allow it. A `harn.toml` cannot name another origin for it, trusted or not. A key that belongs to no vendor
    /// goes where the trusted `harn.toml` that names it says. No key crosses a network without TLS.
    fn may_send(
        &self,
        key: &FoundKey,
        base: &Url,
        named_by: NamedBy,
        table: &CapabilityTable,
    ) -> Result<(), RouteError> {
        let origin = origin(base);
        if base.scheme() == "http" && !is_loopback(base) {
            return Err(RouteError::PlainHttp { variable: key.variable.clone(), origin });
        }
        let of_user = named_by == NamedBy::User && self.keys.iter().any(|own| own.variable == key.variable);
        let at_home = owner(&key.variable).is_none_or(|vendor| vendor.is_own(base));
        if of_user || at_home || table.allowed_keys().contains(&(origin.clone(), key.variable.clone())) {
            return Ok(());
        }
        Err(RouteError::KeyNotAllowed { variable: key.variable.clone(), origin })
    }

    /// Returns whether a URL leads to the vendor's own server.
    fn is_own(&self, url: &Url) -> bool {
        let own = self.default_base.and_then(|base| Url::parse(base).ok());
        own.is_some_and(|own| own.origin() == url.origin())
    }

    /// The base URL, and what says or could say it.
    fn base(&self, provider: Provider, env: &Env, server: Option<&Server>) -> Result<BaseUrl, RouteError> {
        let first = self.bases.first().copied().unwrap_or_default();
        let said = self.bases.iter().find_map(|variable| Some((*variable, (self.read)(&set(env, variable)?))));
        if let (None, Some(text)) = (&said, server.and_then(|server| server.base_url.as_ref())) {
            // It was looked at when the file was read.
            let url = Url::parse(text).map_err(|error| RouteError::BadUrl {
                variable: first,
                reason: error.to_string(),
                example: self.example,
            })?;
            let said_by = format!("`base_url` of [providers.{provider}] in harn.toml");
            return Ok(BaseUrl { said_by, url, named_by: NamedBy::Project });
        }
        let Some((variable, text)) = said.or_else(|| Some((first, self.default_base?.to_owned()))) else {
            return Err(RouteError::NoBase { provider, base_variable: first, example: self.example });
        };
        let bad = |reason: String| RouteError::BadUrl { variable, reason, example: self.example };
        let mut url = Url::parse(&text).map_err(|error| bad(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(format!("its scheme is {:?}, not http or https", url.scheme())));
        }
        url.set_fragment(None);
        Ok(BaseUrl { said_by: variable.to_owned(), url, named_by: NamedBy::User })
    }
}

/// Returns the vendor that a variable holds a key of, among those that have a server of their own.
fn owner(variable: &str) -> Option<&'static ServerLocation> {
    let vendors = [&ANTHROPIC, &OPENAI, &GEMINI, &OLLAMA];
    vendors.into_iter().find(|vendor| vendor.keys.iter().any(|key| key.variable == variable))
}

/// `OLLAMA_HOST` as Ollama itself reads it: the scheme may be missing, and so may host or port. The address on which a server
/// listens everywhere (`0.0.0.0`) is asked on this machine.
fn ollama_host(text: &str) -> String {
    let text = text.trim_end_matches('/');
    let (scheme, rest, port) = match text.split_once("://") {
        Some((scheme, rest)) => (scheme, rest, None),
        None => ("http", text, Some("11434")),
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let end = host.rfind(']').map_or(0, |end| end + 1);
    let (name, given) = match host[end..].rfind(':') {
        Some(colon) => (&host[..end + colon], Some(&host[end + colon + 1..])),
        None => (host, None),
    };
    let name = if name.is_empty() || name == "0.0.0.0" { "127.0.0.1" } else { name };
    match given.filter(|port| !port.is_empty()).or(port) {
        Some(port) => format!("{scheme}://{name}:{port}{path}"),
        None => format!("{scheme}://{name}{path}"),
    }
}

/// Returns the URL of a request below a base URL. Each vendor's base ends at another point, and
/// users often include a part more or less.
fn asked(base: &Url, wire: WireFormat, model: &str, streamed: bool) -> Url {
    let mut url = base.clone();
    let path = base.path().trim_end_matches('/').to_owned();
    let without = |ends: &[&str]| {
        let end = ends.iter().find_map(|end| path.strip_suffix(end));
        end.unwrap_or(&path).trim_end_matches('/').to_owned()
    };
    match wire {
        WireFormat::Anthropic => url.set_path(&format!("{}/v1/messages", without(&["/v1"]))),
        WireFormat::OpenaiChat | WireFormat::OpenaiResponses => {
            // By convention the base URL holds the version, whatever it is called; only a bare host lacks it.
            let base = if path.is_empty() { "/v1" } else { &path };
            let end = if wire == WireFormat::OpenaiChat { "chat/completions" } else { "responses" };
            url.set_path(&format!("{base}/{end}"));
        }
        WireFormat::Ollama => url.set_path(&format!("{}/api/chat", without(&["/api", "/v1"]))),
        WireFormat::Gemini => {
            let has_version = ["/v1", "/v1beta", "/v1alpha"].iter().any(|version| path.ends_with(version));
            url.set_path(&if has_version { path } else { format!("{path}/v1beta") });
            let method = if streamed { "streamGenerateContent" } else { "generateContent" };
            if let Ok(mut segments) = url.path_segments_mut() {
                let (kind, name) = match model.split_once('/') {
                    Some((kind @ ("models" | "tunedModels"), name)) => (kind, name),
                    _ => ("models", model),
                };
                segments.push(kind).push(&format!("{name}:{method}"));
            }
            if streamed {
                url.query_pairs_mut().append_pair("alt", "sse");
            }
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_ollama_is_read_as_ollama_reads_it() {
        for (text, url) in [
            ("1.2.3.4", "http://1.2.3.4:11434"),
            (":56789", "http://127.0.0.1:56789"),
            ("1.2.3.4:56789", "http://1.2.3.4:56789"),
            ("http://1.2.3.4", "http://1.2.3.4"),
            ("https://example.com:56789/path/", "https://example.com:56789/path"),
            ("example.com", "http://example.com:11434"),
            ("example.com/path", "http://example.com:11434/path"),
            ("[0001:002:003:0004::1]", "http://[0001:002:003:0004::1]:11434"),
            ("[0001:002:003:0004::1]:56789/path", "http://[0001:002:003:0004::1]:56789/path"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
        ] {
            assert_eq!(ollama_host(text), url, "{text}");
        }
    }

    #[test]
    fn a_models_name_is_one_part_of_the_path() {
        let base = Url::parse("http://localhost:1").unwrap();
        for (model, streamed, url) in [
            ("gemini-2.5-pro", false, "/v1beta/models/gemini-2.5-pro:generateContent"),
            ("gemini-2.5-pro", true, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
            ("models/gemini-x", false, "/v1beta/models/gemini-x:generateContent"),
            ("tunedModels/mine", false, "/v1beta/tunedModels/mine:generateContent"),
            ("../../x?y#z", false, "/v1beta/models/..%2F..%2Fx%3Fy%23z:generateContent"),
        ] {
            let found = asked(&base, WireFormat::Gemini, model, streamed);
            assert_eq!(found.as_str(), format!("http://localhost:1{url}"), "{model}");
        }
    }
}
