//! [`Authorizer`]: the token of each request to one server.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use providers::web::{Url, Web};
use tokio::sync::Mutex;

use super::challenge::Challenge;
use super::discovery::{Discovery, MAX_SCOPES};
use super::fetch::{Fetcher, is_local};
use super::grant::Grant;
use super::registration::ClientRegistration;
use super::store::{TokenRecord, TokenStore};
use crate::error::{McpError, McpErrorKind};

/// The settings of the authorization of a server.
#[derive(Clone, Default)]
pub struct AuthSettings {
    /// The id of a client that is registered with the authorization server.
    pub client_id: Option<Arc<str>>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// The https URL of a document about the client, which is its id where the authorization server takes one.
    pub client_metadata_url: Option<Arc<str>>,
    /// The scopes to ask for; the default are those that the server names.
    pub scopes: Vec<String>,
    /// Whether the client acts for itself (client credentials), so that no user logs in.
    pub is_service: bool,
    /// The port to which the browser returns; `None` takes a free one.
    pub redirect_port: Option<u16>,
    /// The command by which a user logs in, for messages.
    pub login_command: String,
}

/// The token of the requests to one server.
pub struct Authorizer {
    pub(super) name: Arc<str>,
    pub(super) web: Rc<Web>,
    /// The URL of the server.
    pub(super) url: Arc<str>,
    pub(super) settings: AuthSettings,
    pub(super) store: TokenStore,
    current: RefCell<Option<TokenRecord>>,
    /// Held while a token is requested, so that requests at the same time do not each ask for one.
    renewing: Mutex<()>,
}

impl Authorizer {
    /// Creates the authorizer of the server `name` at `url`. Nothing is read or sent before the first request.
    #[must_use]
    pub fn new(name: Arc<str>, url: Arc<str>, web: Rc<Web>, settings: AuthSettings, store: TokenStore) -> Authorizer {
        Authorizer { name, web, url, settings, store, current: RefCell::default(), renewing: Mutex::default() }
    }

    pub(super) fn parsed_url(&self) -> Result<Url, McpError> {
        Url::parse(&self.url)
            .map_err(|_| McpError::new(McpErrorKind::Address, format!("MCP server `{}` has an invalid URL", self.name)))
    }

    pub(super) fn fetcher<'a>(&'a self, url: &Url) -> Fetcher<'a> {
        Fetcher { web: &self.web, name: &self.name, is_local: is_local(url) }
    }

    fn record(&self) -> TokenRecord {
        self.current.borrow_mut().get_or_insert_with(|| self.store.load(&self.url)).clone()
    }

    fn set(&self, record: TokenRecord) {
        *self.current.borrow_mut() = Some(record);
    }

    fn keep(&self, record: TokenRecord) {
        // Tokens of a service are requested again by the next run.
        if !self.settings.is_service
            && let Err(why) = self.store.save(&self.url, &record)
        {
            tracing::warn!(server = &*self.name, "the token of an MCP server was not stored: {why}");
        }
        self.set(record);
    }

    /// Returns the token for a request; nothing if there is none yet. One that is about to expire is renewed first.
    pub(crate) async fn token(&self) -> Option<String> {
        let grant = self.record().grant?;
        if grant.is_stale() && grant.refresh_token.is_some() {
            let _renewing = self.renewing.lock().await;
            // If this fails, the server rejects the old token, and that is reported.
            let _ = self.renew(&grant).await;
            return self.record().grant.map(|grant| grant.access_token);
        }
        Some(grant.access_token)
    }

    /// Replaces a token by a new one. Returns false if that is not possible without the user.
    async fn renew(&self, used: &Grant) -> Result<bool, McpError> {
        let before = self.record();
        if before.grant.as_ref().is_some_and(|grant| grant.access_token != used.access_token) {
            return Ok(true);
        }
        // Another process may have renewed it, or the user may have logged in meanwhile.
        let stored = self.store.load(&self.url);
        if stored.grant.as_ref().is_some_and(|grant| grant.access_token != used.access_token) {
            self.set(stored);
            return Ok(true);
        }
        let fetcher = self.fetcher(&self.parsed_url()?);
        match used.renewed(&fetcher).await {
            None => Ok(false),
            Some(Ok(grant)) => {
                self.keep(TokenRecord { grant: Some(grant), ..before });
                Ok(true)
            }
            Some(Err(refusal)) if refusal.code == "invalid_grant" || refusal.code == "invalid_client" => {
                // The other process may have been faster.
                let stored = self.store.load(&self.url);
                let is_other = stored.grant.as_ref().is_some_and(|grant| grant.refresh_token != used.refresh_token);
                if is_other {
                    self.set(stored);
                }
                Ok(is_other)
            }
            Some(Err(refusal)) => Err(refusal.error),
        }
    }

    /// Takes a response 401 or 403 to a request with the token `used`. On success, the request may be sent again.
    pub(crate) async fn rejected(
        &self,
        status: u16,
        challenges: &[String],
        used: Option<&str>,
    ) -> Result<(), McpError> {
        let challenge = Challenge::read(challenges);
        let needs_scopes = challenge.wants_scopes();
        if status == 403 && !needs_scopes {
            let message = format!("MCP server `{}` refused the request (HTTP status 403)", self.name);
            return Err(McpError::new(McpErrorKind::Refused, message));
        }
        let _renewing = self.renewing.lock().await;
        let record = self.record();
        let current = record.grant.as_ref().map(|grant| grant.access_token.as_str());
        if current.is_some() && current != used {
            return Ok(());
        }
        if self.settings.is_service {
            return self.service_token(&challenge, record.grant.as_ref()).await;
        }
        if needs_scopes {
            return Err(self.step_up(record, &challenge));
        }
        if let Some(grant) = &record.grant
            && self.renew(grant).await?
        {
            return Ok(());
        }
        Err(self.login_needed(match record.grant {
            None => "requires a login",
            Some(_) => "requires a new login: the stored token is no longer valid",
        }))
    }

    fn login_needed(&self, what: &str) -> McpError {
        let message = format!("MCP server `{}` {what}", self.name);
        McpError::new(McpErrorKind::Login, message).help(format!("run `{}`", self.settings.login_command))
    }

    /// Notes the scopes that are missing for the next login.
    fn step_up(&self, record: TokenRecord, challenge: &Challenge) -> McpError {
        let granted = record.grant.as_ref().map(|grant| grant.scopes.clone()).unwrap_or_default();
        let wanted = union(&[&record.wanted, &challenge.scopes]);
        let missing: Vec<&str> =
            challenge.scopes.iter().filter(|scope| !granted.contains(scope)).map(String::as_str).collect();
        let what = match missing.join(", ").as_str() {
            "" => "needs a login with more scopes".to_owned(),
            missing => format!("needs a login with more scopes: {}", crate::error::excerpt(missing)),
        };
        self.keep(TokenRecord { wanted, ..record });
        self.login_needed(&what)
    }

    /// Requests a token for the client itself.
    async fn service_token(&self, challenge: &Challenge, before: Option<&Grant>) -> Result<(), McpError> {
        let url = self.parsed_url()?;
        let fetcher = self.fetcher(&url);
        let found = Discovery::find(&fetcher, &url, challenge).await?;
        let granted = before.map(|grant| grant.scopes.as_slice()).unwrap_or_default();
        let scopes = self.wanted_scopes(&found, challenge, granted);
        // A second token with the same scopes would be refused as the first was.
        if challenge.wants_scopes() && before.is_some() && scopes.iter().all(|scope| granted.contains(scope)) {
            return Err(fetcher.failed("the token has all scopes that it asks for, and is refused"));
        }
        let Some(client) = ClientRegistration::of_settings(&self.settings, &found) else {
            return Err(fetcher.failed("client credentials need `oauth.client_id`"));
        };
        let draft = draft(&found, client, &scopes, &fetcher)?;
        let joined = scopes.join(" ");
        let mut pairs = vec![("grant_type", "client_credentials")];
        pairs.extend((!joined.is_empty()).then_some(("scope", joined.as_str())));
        let grant = Grant::request(&fetcher, &pairs, &draft).await?;
        self.set(TokenRecord { grant: Some(grant), wanted: Vec::new() });
        Ok(())
    }

    /// Returns the scopes to ask for: those of the settings, else those that the request needs, else all of the server; and
    /// those of the token so far.
    pub(super) fn wanted_scopes(&self, found: &Discovery, challenge: &Challenge, more: &[String]) -> Vec<String> {
        let first = match (self.settings.scopes.as_slice(), challenge.scopes.as_slice()) {
            ([], []) => &found.scopes,
            ([], needed) => needed,
            (set, _) => set,
        };
        let needed: &[String] = if challenge.wants_scopes() { &challenge.scopes } else { &[] };
        union(&[first, needed, more])
    }

    /// Checks that the settings give a token to a client that acts for itself.
    ///
    /// # Errors
    /// There is none.
    pub(super) async fn try_service(&self, challenge: &Challenge) -> Result<(), McpError> {
        self.service_token(challenge, None).await
    }

    /// Removes the stored token, and tells the authorization server to forget it. Returns whether there was one.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub async fn logout(&self) -> Result<bool, McpError> {
        let record = self.store.load(&self.url);
        if let (Some(grant), Ok(url)) = (&record.grant, self.parsed_url()) {
            grant.revoke(&self.fetcher(&url)).await;
        }
        self.set(TokenRecord::default());
        let removed = self.store.remove(&self.url);
        removed.map_err(|why| McpError::new(McpErrorKind::Authorization, why))
    }
}

/// Returns a grant without a token, as the base of a request for one.
pub(super) fn draft(
    found: &Discovery,
    client: ClientRegistration,
    scopes: &[String],
    fetcher: &Fetcher<'_>,
) -> Result<Grant, McpError> {
    Ok(Grant {
        resource: found.resource.clone(),
        issuer: found.issuer.clone(),
        token_endpoint: found.token_endpoint.to_string(),
        revocation_endpoint: found.endpoint(fetcher, "revocation_endpoint")?.map(|url| url.to_string()),
        client,
        access_token: String::new(),
        refresh_token: None,
        expires_at: None,
        scopes: scopes.to_vec(),
    })
}

/// Joins lists of scopes, each once.
pub(super) fn union(lists: &[&[String]]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in lists.iter().flat_map(|list| list.iter()) {
        if all.len() < MAX_SCOPES && !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}
