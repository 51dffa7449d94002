//! [`OauthSpec`]: the key `oauth` of a description.

use super::spec::{SpecError, count, text, texts, wrong};
use crate::options::MCP_OAUTH;
use base::data::Data;
use mcp::{AuthSettings, TokenStore};
use std::sync::Arc;

/// The way in which a server's tokens are obtained.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OauthSpec {
    client_id: Option<Arc<str>>,
    /// The variable that holds the secret of the client.
    pub(super) client_secret_env: Option<Arc<str>>,
    client_metadata_url: Option<Arc<str>>,
    scopes: Vec<Arc<str>>,
    is_service: bool,
    redirect_port: Option<u16>,
}

impl OauthSpec {
    /// Reads the key; nothing if it is `false`.
    pub(super) fn from_data(value: &Data) -> Result<Option<OauthSpec>, SpecError> {
        let entries = match value {
            Data::Nil | Data::Bool(true) => return Ok(Some(OauthSpec::default())),
            Data::Bool(false) => return Ok(None),
            Data::Dict(entries) => entries,
            other => return Err(wrong("oauth", "a bool or a dict", other)),
        };
        if let Some(unknown) = entries.keys().find(|key| !MCP_OAUTH.has(key)) {
            let error = SpecError::new("oauth", format!("unknown key `{unknown}` of `oauth`"));
            return Err(error.help(format!(
                "the keys are {}",
                MCP_OAUTH.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
            )));
        }
        let in_oauth = |error: SpecError| SpecError { key: "oauth".to_owned(), ..error };
        let text = |key: &str| text(value, key).map_err(in_oauth);
        let is_service = match text("grant")?.as_deref() {
            None | Some("authorization_code") => false,
            Some("client_credentials") => true,
            Some(other) => {
                let message =
                    format!("`grant` must be \"authorization_code\" or \"client_credentials\", found {other:?}");
                return Err(SpecError::new("oauth", message));
            }
        };
        let port = count(value, "redirect_port").map_err(in_oauth)?;
        let port = port.map(|port| {
            u16::try_from(port).map_err(|_| SpecError::new("oauth", format!("`redirect_port` cannot be {port}")))
        });
        let spec = OauthSpec {
            client_id: text("client_id")?,
            client_secret_env: text("client_secret_env")?,
            client_metadata_url: text("client_metadata_url")?,
            scopes: texts(value, "scopes").map_err(in_oauth)?.unwrap_or_default(),
            is_service,
            redirect_port: port.transpose()?,
        };
        if is_service && (spec.client_id.is_none() || spec.client_secret_env.is_none()) {
            let error = SpecError::new("oauth", "client credentials need `client_id` and `client_secret_env`");
            return Err(error.help("name the variable that holds the secret in `client_secret_env`"));
        }
        if spec.client_metadata_url.as_ref().is_some_and(|url| !url.starts_with("https://")) {
            return Err(SpecError::new("oauth", "`client_metadata_url` must be an https URL"));
        }
        Ok(Some(spec))
    }

    /// Returns the settings, with the value of the variable that holds the secret.
    pub(super) fn settings(&self, secret: Option<String>, login_command: String) -> AuthSettings {
        AuthSettings {
            client_id: self.client_id.clone(),
            client_secret: secret,
            client_metadata_url: self.client_metadata_url.clone(),
            scopes: self.scopes.iter().map(ToString::to_string).collect(),
            is_service: self.is_service,
            redirect_port: self.redirect_port,
            login_command,
        }
    }

    /// Returns whether no user has to log in.
    pub(crate) fn is_service(&self) -> bool {
        self.is_service
    }
}

/// Returns the user's tokens: they are in the folder of the user's settings, outside of every project.
pub(super) fn token_store() -> TokenStore {
    TokenStore::new(crate::trust::config_folder().map(|folder| folder.join("mcp")))
}
