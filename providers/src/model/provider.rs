//! [`Provider`]: who can be asked, and where each lives according to the environment.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;
use reqwest::header::HeaderValue;
use runtime::model::{ModelError, ModelErrorKind};
use runtime::words::nearest;

use super::anthropic;
use super::http::Endpoint;
use super::http::endpoint::{is_local, shown};

/// Who can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// Scripted answers, in process.
    Mock,
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions.
    Openai,
}

/// How a variable of the environment is looked up.
pub(super) type Env = dyn Fn(&str) -> Option<String>;

/// Names that will be providers, but are none yet.
const PLANNED: &[&str] = &["gemini", "ollama", "openai_compatible"];

/// Why a call can go nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// There is no such provider.
    #[error("unknown provider {got:?}{from}; {help}")]
    UnknownProvider {
        /// What was given.
        got: String,
        /// Where it was given, as a phrase; empty for the call's own option.
        from: &'static str,
        /// What to write instead.
        help: String,
        /// The nearest known name.
        suggestion: Option<&'static str>,
    },
    /// The provider has no route yet.
    #[error("the provider {name:?}{from} is not supported yet; use {}", Provider::listed())]
    NotYet {
        /// The provider.
        name: String,
        /// Where it was given, as a phrase; empty for the call's own option.
        from: &'static str,
    },
    /// The provider wants a key.
    #[error(
        "no key for {provider}; set {variable}, or point {base_variable} to a local server (http://127.0.0.1:PORT)"
    )]
    NoKey {
        /// The provider.
        provider: Provider,
        /// The variable that should hold it.
        variable: &'static str,
        /// The variable that holds the base URL.
        base_variable: &'static str,
    },
    /// A base URL cannot be used.
    #[error("{variable} is no URL of a server: {reason}; write for example {example}")]
    BadUrl {
        /// The variable.
        variable: &'static str,
        /// What is wrong with it.
        reason: String,
        /// How it could look.
        example: &'static str,
    },
    /// A key cannot be sent.
    #[error("{variable} holds characters that no header can carry; was it copied whole and without line breaks?")]
    BadKey {
        /// The variable.
        variable: &'static str,
    },
}

impl From<RouteError> for ModelError {
    fn from(error: RouteError) -> ModelError {
        let kind = match error {
            RouteError::NoKey { .. } | RouteError::BadKey { .. } => ModelErrorKind::Auth,
            _ => ModelErrorKind::BadRequest,
        };
        ModelError::new(kind, error.to_string())
    }
}

/// Where a vendor's server is found.
struct Place {
    base_variable: &'static str,
    default_base: &'static str,
    key_variable: &'static str,
    /// What the base URL gets behind it.
    path: fn(&mut Url),
}

const ANTHROPIC: Place = Place {
    base_variable: "ANTHROPIC_BASE_URL",
    default_base: "https://api.anthropic.com",
    key_variable: "ANTHROPIC_API_KEY",
    path: |url| {
        // By convention the base URL ends before the version; those who write it mean the same.
        let base = url.path().trim_end_matches('/').trim_end_matches("/v1").trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/v1/messages"));
    },
};

const OPENAI: Place = Place {
    base_variable: "OPENAI_BASE_URL",
    default_base: "https://api.openai.com/v1",
    key_variable: "OPENAI_API_KEY",
    path: |url| {
        // By convention the base URL holds the version, whatever it is called; only a bare host lacks it.
        let base = url.path().trim_end_matches('/').to_owned();
        let base = if base.is_empty() { "/v1" } else { &base };
        url.set_path(&format!("{base}/chat/completions"));
    },
};

impl Provider {
    /// All of them.
    pub const ALL: [Provider; 3] = [Provider::Anthropic, Provider::Openai, Provider::Mock];

    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Mock => "mock",
            Provider::Anthropic => "anthropic",
            Provider::Openai => "openai",
        }
    }

    /// The model that is asked where nobody names one.
    #[must_use]
    pub fn default_model(self) -> &'static str {
        match self {
            Provider::Mock => "mock",
            Provider::Anthropic => "claude-sonnet-4-5",
            Provider::Openai => "gpt-5-mini",
        }
    }

    fn listed() -> String {
        Provider::ALL.map(|provider| format!("{:?}", provider.as_str())).join(", ")
    }

    /// Reads a name that came `from` somewhere else than the call itself.
    pub(super) fn parse(name: &str, from: &'static str) -> Result<Provider, RouteError> {
        let found = Provider::ALL.into_iter().find(|provider| provider.as_str() == name);
        if let Some(provider) = found {
            return Ok(provider);
        }
        if PLANNED.contains(&name) {
            return Err(RouteError::NotYet { name: name.to_owned(), from });
        }
        let suggestion = nearest(name, Provider::ALL.map(Provider::as_str));
        let help = match suggestion {
            Some(near) => format!("did you mean {near:?}? Known are {}", Provider::listed()),
            None => format!("known are {}", Provider::listed()),
        };
        Err(RouteError::UnknownProvider { got: name.to_owned(), from, help, suggestion })
    }

    /// The provider whose key is set.
    pub(super) fn with_key(env: &Env) -> Option<Provider> {
        let has = |variable| set(env, variable).is_some();
        if has("ANTHROPIC_API_KEY") || has("ANTHROPIC_AUTH_TOKEN") {
            Some(Provider::Anthropic)
        } else {
            has("OPENAI_API_KEY").then_some(Provider::Openai)
        }
    }

    /// Where it lives; the mock lives nowhere.
    pub(super) fn endpoint(self, env: &Env) -> Result<Option<Endpoint>, RouteError> {
        let place = match self {
            Provider::Mock => return Ok(None),
            Provider::Anthropic => ANTHROPIC,
            Provider::Openai => OPENAI,
        };
        let base = base_url(&place, env)?;
        let mut headers = Vec::new();
        let mut secret = None;
        match self.key_header(env) {
            Some((variable, name, key, value)) => {
                let mut value = HeaderValue::from_str(&value).map_err(|_| RouteError::BadKey { variable })?;
                value.set_sensitive(true);
                headers.push((name, value));
                secret = Some(key);
            }
            None if is_local(&base) => {}
            None => {
                return Err(RouteError::NoKey {
                    provider: self,
                    variable: place.key_variable,
                    base_variable: place.base_variable,
                });
            }
        }
        if self == Provider::Anthropic {
            headers.push(("anthropic-version", HeaderValue::from_static(anthropic::VERSION)));
        }
        let mut url = base.clone();
        (place.path)(&mut url);
        Ok(Some(Endpoint {
            provider: self.as_str(),
            base_variable: place.base_variable,
            key_variable: place.key_variable,
            shown: shown(&base),
            url,
            headers,
            secret,
        }))
    }

    /// The variable, the header, the key, and the header's value.
    fn key_header(self, env: &Env) -> Option<(&'static str, &'static str, String, String)> {
        let read = |variable, header, prefix: &str| {
            set(env, variable).map(|key| (variable, header, key.clone(), format!("{prefix}{key}")))
        };
        match self {
            Provider::Mock => None,
            Provider::Anthropic => read("ANTHROPIC_API_KEY", "x-api-key", "")
                .or_else(|| read("ANTHROPIC_AUTH_TOKEN", "authorization", "Bearer ")),
            Provider::Openai => read("OPENAI_API_KEY", "authorization", "Bearer "),
        }
    }
}

/// A variable that says something, without the blanks that copying leaves.
pub(super) fn set(env: &Env, variable: &str) -> Option<String> {
    env(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn base_url(place: &Place, env: &Env) -> Result<Url, RouteError> {
    let text = set(env, place.base_variable).unwrap_or_else(|| place.default_base.to_owned());
    let bad =
        |reason: String| RouteError::BadUrl { variable: place.base_variable, reason, example: place.default_base };
    let mut url = Url::parse(&text).map_err(|error| bad(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad(format!("its scheme is {:?}, not http or https", url.scheme())));
    }
    url.set_fragment(None);
    Ok(url)
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = RouteError;

    fn from_str(name: &str) -> Result<Provider, RouteError> {
        Provider::parse(name, "")
    }
}
