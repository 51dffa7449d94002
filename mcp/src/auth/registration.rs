//! [`ClientRegistration`]: the id by which an authorization server knows this client.

use base::data::Data;

use super::authorizer::AuthSettings;
use super::discovery::Discovery;
use super::fetch::Fetcher;
use crate::error::{McpError, excerpt};

/// The way in which a client proves itself at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientProof {
    /// It has no secret.
    None,
    /// In the header `Authorization`.
    Basic,
    /// In the form.
    Post,
}

impl ClientProof {
    /// Returns the name of the method.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ClientProof::None => "none",
            ClientProof::Basic => "client_secret_basic",
            ClientProof::Post => "client_secret_post",
        }
    }

    /// Returns the method of a name.
    pub(crate) fn of_name(name: &str) -> Option<ClientProof> {
        [ClientProof::None, ClientProof::Basic, ClientProof::Post].into_iter().find(|proof| proof.as_str() == name)
    }
}

/// A client as an authorization server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRegistration {
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
    pub(crate) proof: ClientProof,
}

impl ClientRegistration {
    /// Returns the client of the settings; nothing if they name none.
    pub(crate) fn of_settings(settings: &AuthSettings, found: &Discovery) -> Option<ClientRegistration> {
        if let Some(id) = &settings.client_id {
            // Without the list, RFC 8414 says that the server takes the header.
            let methods = "token_endpoint_auth_methods_supported";
            let proof = match &settings.client_secret {
                None => ClientProof::None,
                Some(_) if found.supports(methods, "client_secret_basic", true) => ClientProof::Basic,
                Some(_) => ClientProof::Post,
            };
            return Some(ClientRegistration { id: id.to_string(), secret: settings.client_secret.clone(), proof });
        }
        let document = settings.client_metadata_url.as_ref();
        let document = document.filter(|_| found.has("client_id_metadata_document_supported"))?;
        Some(ClientRegistration { id: document.to_string(), secret: None, proof: ClientProof::None })
    }

    /// Returns the client of the settings, else registers one that returns to `redirect` (RFC 7591).
    pub(crate) async fn obtain(
        fetcher: &Fetcher<'_>,
        settings: &AuthSettings,
        found: &Discovery,
        redirect: &str,
        scopes: &str,
    ) -> Result<ClientRegistration, McpError> {
        if let Some(client) = ClientRegistration::of_settings(settings, found) {
            return Ok(client);
        }
        let Some(endpoint) = found.endpoint(fetcher, "registration_endpoint")? else {
            let why = "its authorization server does not register clients by itself";
            return Err(fetcher.failed(why).help("register a client there and set `oauth.client_id`"));
        };
        let words = |words: &[&str]| Data::list(words.iter().map(|word| Data::from(*word)).collect::<Vec<_>>());
        let scopes = if scopes.is_empty() { Data::Nil } else { Data::from(scopes) };
        let body = Data::dict_of_present([
            ("client_name", Data::from("harn")),
            ("application_type", "native".into()),
            ("redirect_uris", words(&[redirect])),
            ("grant_types", words(&["authorization_code", "refresh_token"])),
            ("response_types", words(&["code"])),
            ("token_endpoint_auth_method", "none".into()),
            ("scope", scopes),
        ]);
        let reply = fetcher.post_json(&endpoint, &body).await?;
        let refused =
            |why: String| fetcher.failed(format_args!("its authorization server does not register harn: {why}"));
        if !(200..300).contains(&reply.status) {
            let said =
                [reply.body.get("error_description"), reply.body.get("error")].into_iter().find_map(Data::as_str);
            return Err(refused(said.map_or(format!("HTTP status {}", reply.status), excerpt)));
        }
        let Some(id) = reply.body.get("client_id").as_str().filter(|id| !id.is_empty()) else {
            return Err(refused("the answer has no `client_id`".to_owned()));
        };
        let secret = reply.body.get("client_secret").as_str().filter(|secret| !secret.is_empty()).map(str::to_owned);
        let wanted = reply.body.get("token_endpoint_auth_method").as_str();
        let proof = match (&secret, wanted.map(|name| (name, ClientProof::of_name(name)))) {
            (_, Some((name, None))) => return Err(refused(format!("it wants the proof {:?}", excerpt(name)))),
            (None, _) => ClientProof::None,
            (Some(_), Some((_, Some(proof)))) => proof,
            (Some(_), None) => ClientProof::Basic,
        };
        Ok(ClientRegistration { id: id.to_owned(), secret, proof })
    }
}
