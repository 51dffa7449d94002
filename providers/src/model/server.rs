//! [`Server`]: where a project says that a provider lives, in `[providers.NAME]` of its `harn.toml`.

use std::collections::{BTreeMap, BTreeSet};

use base::words::nearest;
use reqwest::Url;

use super::provider::Provider;

/// The keys of a `[providers.NAME]` table.
pub const KEYS: &[&str] = &["base_url", "key_env"];

/// The server of a provider. The provider's own variables take precedence over the URL; if a
/// variable is named for the key, only that one is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) base_url: Option<String>,
    /// The variable that holds the key, never the key itself.
    pub(super) key_env: Option<String>,
}

/// The providers' servers, by name.
pub(super) type Servers = BTreeMap<Provider, Server>;

/// The keys that the user lets go to an origin: pairs of an origin as [`origin`] writes it and a variable.
pub type AllowedKeys = BTreeSet<(String, String)>;

/// Returns scheme, host and port of a URL, as they are compared and shown.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Reads an origin as a user writes it (`https://gateway.example.com`).
///
/// # Errors
/// Text that is not an http or https URL, or that has more than an origin.
pub fn parse_origin(text: &str) -> Result<String, String> {
    let url = Url::parse(text.trim()).map_err(|error| format!("{text:?} is not a URL: {error}"))?;
    let bare = url.path().trim_matches('/').is_empty() && url.query().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !bare || !url.username().is_empty() || url.password().is_some() {
        return Err(format!("{text:?} is not an origin; write one such as \"https://gateway.example.com\""));
    }
    Ok(origin(&url))
}

/// An invalid server table, and the key to blame.
#[derive(Debug)]
pub(super) struct ServerTableError {
    pub(super) key: Option<String>,
    pub(super) message: String,
}

impl From<String> for ServerTableError {
    fn from(message: String) -> ServerTableError {
        ServerTableError { key: None, message }
    }
}

fn at(key: &str, message: impl Into<String>) -> ServerTableError {
    ServerTableError { key: Some(key.to_owned()), message: message.into() }
}

/// Reads one table: the provider that it speaks of and what it says, else what is wrong with it.
pub(super) fn read(name: &str, table: &toml::Value) -> Result<(Provider, Server), ServerTableError> {
    let provider = name.parse::<Provider>().map_err(|error| ServerTableError::from(error.to_string()))?;
    if provider == Provider::Mock {
        return Err("the mock runs inside the process and has no server".to_owned().into());
    }
    let Some(entries) = table.as_table() else {
        return Err(format!("`{name}` must be a table with `base_url` or `key_env`, got {}", table.type_str()).into());
    };
    let mut server = Server::default();
    for (key, value) in entries {
        let slot = match key.as_str() {
            "base_url" => &mut server.base_url,
            "key_env" => &mut server.key_env,
            unknown => {
                let near = nearest(unknown, KEYS.iter().copied());
                let help = near.map_or_else(
                    || format!("the keys are {}", KEYS.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(at(unknown, format!("unknown key `{unknown}`; {help}")));
            }
        };
        let Some(text) = value.as_str() else {
            return Err(at(key, format!("`{key}` must be a string, got {}", value.type_str())));
        };
        *slot = Some(text.trim().to_owned());
    }
    if let Some(url) = &server.base_url {
        let read = Url::parse(url).map_err(|error| at("base_url", format!("`base_url` is not a URL: {error}")))?;
        if !matches!(read.scheme(), "http" | "https") {
            let scheme = read.scheme();
            return Err(at("base_url", format!("`base_url` has the scheme {scheme:?}; use http or https")));
        }
        if read.password().is_some() {
            let message = "`base_url` contains a password, which must not be in the file; use `key_env`";
            return Err(at("base_url", message));
        }
    }
    match &server.key_env {
        Some(variable) if !is_variable(variable) => Err(at(
            "key_env",
            "`key_env` must be the name of the environment variable that holds the key, not the key itself",
        )),
        Some(variable) if !names_a_key(variable) => Err(at(
            "key_env",
            format!(
                "`{variable}` is not allowed as the name of a model's key: use a name that ends in `_KEY` or \
                `_TOKEN`, and is not one of AWS, SSH or a private key, secret or password"
            ),
        )),
        _ => Ok((provider, server)),
    }
}

/// Parts of names that belong to secrets other than the key of a model.
const OTHER_SECRETS: [&str; 6] = ["SECRET", "PRIVATE", "PASSWORD", "PASSWD", "ACCESS_KEY", "SIGNING"];

/// Returns whether a variable looks like the key of a model. A project chooses the name, so without this rule it could
/// send any variable of the environment.
fn names_a_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = name.ends_with("_KEY") || name.ends_with("_TOKEN");
    ends && !OTHER_SECRETS.iter().any(|part| name.contains(part))
        && !["AWS_", "SSH_", "GPG_"].iter().any(|start| name.starts_with(start))
}

fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
