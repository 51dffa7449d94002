//! [`Provider`]: who can be asked, and why a call can go nowhere.

use std::fmt;
use std::str::FromStr;

use base::words::nearest;
use runtime::model::{ModelError, ModelErrorKind};

use super::location::ServerLocation;
use super::server::Servers;

/// A provider of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// Scripted answers, in process.
    Mock,
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions or Responses, whichever the model takes.
    Openai,
    /// Google's Gemini API.
    Gemini,
    /// A server of Ollama.
    Ollama,
    /// Any server that speaks Chat Completions.
    OpenaiCompatible,
}

/// A lookup of environment variables.
pub(super) type Env = dyn Fn(&str) -> Option<String>;

/// The reason why a call has no route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// The provider is unknown.
    #[error("unknown provider {got:?}{from}; {help}")]
    UnknownProvider {
        /// The value.
        got: String,
        /// The source of the value, as a phrase; empty for the call's own option.
        from: &'static str,
        /// The way to fix it.
        help: String,
        /// The nearest known name.
        suggestion: Option<&'static str>,
    },
    /// The provider wants a key.
    #[error("no key for {provider}; set {variable}, or set {base_variable} to a local server (http://127.0.0.1:PORT)")]
    NoKey {
        /// The provider.
        provider: Provider,
        /// The variable that should hold it.
        variable: String,
        /// The variable that holds the base URL.
        base_variable: &'static str,
    },
    /// The provider has no base URL.
    #[error("no server for {provider}; set {base_variable}, for example {example}")]
    NoBase {
        /// The provider.
        provider: Provider,
        /// The variable that should hold the base URL.
        base_variable: &'static str,
        /// An example of a base URL.
        example: &'static str,
    },
    /// A base URL cannot be used.
    #[error("{variable} is not the URL of a server: {reason}; use, for example, {example}")]
    BadUrl {
        /// The variable.
        variable: &'static str,
        /// The problem with it.
        reason: String,
        /// An example of a base URL.
        example: &'static str,
    },
    /// A vendor's key would go to an origin that only a project names.
    #[error(
        "the key of {variable} is not sent to {origin}: harn.toml names this server, and you have not allowed it; \
        to allow it, write {origin:?} = [{variable:?}] under [keys] in your own config.toml (`harn trust --list` \
        shows its path)"
    )]
    KeyNotAllowed {
        /// The variable.
        variable: String,
        /// The origin.
        origin: String,
    },
    /// A key would cross a network in the clear.
    #[error(
        "the key of {variable} is not sent to {origin} over unencrypted http; use https, or a server on this \
        machine"
    )]
    PlainHttp {
        /// The variable.
        variable: String,
        /// The origin.
        origin: String,
    },
    /// A key cannot be sent.
    #[error(
        "{variable} contains characters that are not allowed in a header; check that you copied it completely \
        and without line breaks"
    )]
    BadKey {
        /// The variable.
        variable: String,
    },
}

impl From<RouteError> for ModelError {
    fn from(error: RouteError) -> ModelError {
        let kind = match error {
            RouteError::NoKey { .. }
            | RouteError::BadKey { .. }
            | RouteError::KeyNotAllowed { .. }
            | RouteError::PlainHttp { .. } => ModelErrorKind::Auth,
            _ => ModelErrorKind::BadRequest,
        };
        ModelError::new(kind, error.to_string())
    }
}

impl Provider {
    /// All of them.
    pub const ALL: [Provider; 6] = [
        Provider::Anthropic,
        Provider::Openai,
        Provider::Gemini,
        Provider::Ollama,
        Provider::OpenaiCompatible,
        Provider::Mock,
    ];

    /// The providers that are chosen, if none is named, by the first key that is set.
    const BY_KEY: [Provider; 4] = [Provider::Anthropic, Provider::Openai, Provider::Gemini, Provider::OpenaiCompatible];

    /// Returns the name as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Mock => "mock",
            Provider::Anthropic => "anthropic",
            Provider::Openai => "openai",
            Provider::Gemini => "gemini",
            Provider::Ollama => "ollama",
            Provider::OpenaiCompatible => "openai_compatible",
        }
    }

    /// Returns the model that is used if none is named.
    #[must_use]
    pub fn default_model(self) -> &'static str {
        match self {
            Provider::Mock => "mock",
            Provider::Anthropic => "claude-sonnet-4-5",
            Provider::Openai => "gpt-5-mini",
            Provider::Gemini => "gemini-2.5-flash",
            Provider::Ollama => "llama3.2",
            // What servers of one model answer to, whatever it is called.
            Provider::OpenaiCompatible => "default",
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
        let suggestion = nearest(name, Provider::ALL.map(Provider::as_str));
        let help = match suggestion {
            Some(near) => format!("did you mean {near:?}? The providers are {}", Provider::listed()),
            None => format!("the providers are {}", Provider::listed()),
        };
        Err(RouteError::UnknownProvider { got: name.to_owned(), from, help, suggestion })
    }

    /// The provider whose key is set.
    pub(super) fn with_key(env: &Env, servers: &Servers) -> Option<Provider> {
        let has_key = |provider: &Provider| {
            ServerLocation::of(*provider).is_some_and(|place| place.has_key(env, servers.get(provider)))
        };
        Provider::BY_KEY.into_iter().find(has_key)
    }
}

/// A variable that says something, without the blanks that copying leaves.
pub(super) fn set(env: &Env, variable: &str) -> Option<String> {
    env(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
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
