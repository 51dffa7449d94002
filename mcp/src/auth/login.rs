//! The login of a user: the authorization code grant with a proof key, in the browser of the user.

use std::time::Duration;

use base::data::Data;
use providers::web::Url;
use tokio::time::timeout;

use super::authorizer::{Authorizer, draft, union};
use super::challenge::Challenge;
use super::discovery::Discovery;
use super::fetch::Fetcher;
use super::grant::Grant;
use super::loopback::{Loopback, Returned};
use super::registration::ClientRegistration;
use super::secret::{challenge_of, random_text};
use super::store::TokenRecord;
use crate::error::{McpError, McpErrorKind, excerpt};

/// The time for the user to log in.
const PATIENCE: Duration = Duration::from_secs(600);

impl Authorizer {
    /// Logs the user in and stores the token. `show` gets the URL that the user must open in a browser. Returns the scopes of
    /// the token.
    ///
    /// # Errors
    /// The server does not offer a login, the user declined, or the authorization server is not to be trusted.
    pub async fn login(&self, show: &dyn Fn(&str)) -> Result<Vec<String>, McpError> {
        let url = self.parsed_url()?;
        let fetcher = self.fetcher(&url);
        let challenge = self.challenge(&fetcher, &url).await?;
        if self.settings.is_service {
            self.try_service(&challenge).await?;
            return Ok(Vec::new());
        }
        let found = Discovery::find(&fetcher, &url, &challenge).await?;
        // Without a proof key, another program could use a stolen code.
        if !found.supports("code_challenge_methods_supported", "S256", false) {
            return Err(fetcher.failed("its authorization server does not support PKCE with S256"));
        }
        let Some(endpoint) = found.endpoint(&fetcher, "authorization_endpoint")? else {
            return Err(fetcher.failed("its authorization server has no login in a browser"));
        };
        let loopback = Loopback::open(self.settings.redirect_port)
            .await
            .map_err(|error| fetcher.failed(format_args!("no address to which the browser can return: {error}")))?;
        let redirect = loopback.url();
        let before = self.store.load(&self.url);
        let granted = before.grant.as_ref().map(|grant| grant.scopes.as_slice()).unwrap_or_default();
        let mut scopes = self.wanted_scopes(&found, &challenge, &union(&[&before.wanted, granted]));
        // Without it, some servers issue no refresh token.
        let offline = "offline_access".to_owned();
        if found.supports("scopes_supported", &offline, false) && !scopes.contains(&offline) {
            scopes.push(offline);
        }
        let joined = scopes.join(" ");
        let client = ClientRegistration::obtain(&fetcher, &self.settings, &found, &redirect, &joined).await?;
        let (state, verifier) = (random(&fetcher)?, random(&fetcher)?);
        let draft = draft(&found, client, &scopes, &fetcher)?;
        let page = authorization_url(endpoint, &draft, &redirect, &state, &verifier, &joined);
        show(page.as_str());
        let returned = timeout(PATIENCE, loopback.returned(&state)).await.map_err(|_| {
            fetcher.failed(format_args!("the login was not completed within {} minutes", PATIENCE.as_secs() / 60))
        })?;
        let code = code_of(&fetcher, &found, &returned)?;
        let pairs = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect.as_str()),
            ("code_verifier", verifier.as_str()),
        ];
        let grant = Grant::request(&fetcher, &pairs, &draft).await?;
        let scopes = grant.scopes.clone();
        let record = TokenRecord { grant: Some(grant), wanted: Vec::new() };
        self.store.save(&self.url, &record).map_err(|why| fetcher.failed(why))?;
        Ok(scopes)
    }

    /// Asks the server what token it wants.
    async fn challenge(&self, fetcher: &Fetcher<'_>, url: &Url) -> Result<Challenge, McpError> {
        let ping = Data::dict([("jsonrpc", Data::from("2.0")), ("id", 1.into()), ("method", "ping".into())]);
        let reply = fetcher.post_json(url, &ping).await.map_err(|error| {
            McpError::new(McpErrorKind::Connection, error.message).help("check that the server is running")
        })?;
        Ok(Challenge::read(&reply.challenges))
    }
}

fn random(fetcher: &Fetcher<'_>) -> Result<String, McpError> {
    random_text().map_err(|why| fetcher.failed(why))
}

fn authorization_url(mut page: Url, draft: &Grant, redirect: &str, state: &str, verifier: &str, scopes: &str) -> Url {
    let mut pairs = page.query_pairs_mut();
    pairs.extend_pairs([
        ("response_type", "code"),
        ("client_id", &draft.client.id),
        ("redirect_uri", redirect),
        ("state", state),
        ("code_challenge", &challenge_of(verifier)),
        ("code_challenge_method", "S256"),
        ("resource", &draft.resource),
    ]);
    if !scopes.is_empty() {
        pairs.append_pair("scope", scopes);
    }
    drop(pairs);
    page
}

/// Returns the code, if the answer comes from the authorization server that was asked (RFC 9207).
fn code_of<'a>(fetcher: &Fetcher<'_>, found: &Discovery, returned: &'a Returned) -> Result<&'a str, McpError> {
    match returned.get("iss") {
        Some(issuer) if *issuer != found.issuer => {
            let why = format!("the login was answered by another authorization server, {:?}", excerpt(issuer));
            return Err(fetcher.failed(why));
        }
        None if found.has("authorization_response_iss_parameter_supported") => {
            return Err(fetcher.failed("the answer to the login does not name its authorization server (`iss`)"));
        }
        _ => {}
    }
    if let Some(error) = returned.get("error") {
        let said = returned.get("error_description").map(|said| format!(" ({})", excerpt(said))).unwrap_or_default();
        return Err(fetcher.failed(format_args!("the login failed: {}{said}", excerpt(error))));
    }
    match returned.get("code") {
        Some(code) => Ok(code),
        None => Err(fetcher.failed("the answer to the login has no code")),
    }
}
