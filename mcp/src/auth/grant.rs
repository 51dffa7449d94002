//! [`Grant`]: a token and how it is renewed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::data::Data;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use providers::web::Url;

use super::fetch::{Fetcher, form};
use super::registration::{ClientProof, ClientRegistration};
use crate::error::{McpError, McpErrorKind, excerpt};

/// A token that expires within this time is renewed before it is used.
const EARLY: Duration = Duration::from_secs(30);
/// The longest token.
const LONGEST: usize = 64 << 10;

/// A token for one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The identifier of the MCP server.
    pub(crate) resource: String,
    pub(crate) issuer: String,
    pub(crate) token_endpoint: String,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) client: ClientRegistration,
    pub(crate) access_token: String,
    pub(crate) refresh_token: Option<String>,
    /// In seconds since 1970.
    pub(crate) expires_at: Option<u64>,
    pub(crate) scopes: Vec<String>,
}

/// A request for a token that the authorization server refused.
pub(crate) struct TokenRefusal {
    /// `invalid_grant`, `invalid_scope` …; may be empty.
    pub(crate) code: String,
    pub(crate) error: McpError,
}

impl Grant {
    /// Returns whether the token expires soon.
    pub(crate) fn is_stale(&self) -> bool {
        self.expires_at.is_some_and(|at| at <= now() + EARLY.as_secs())
    }

    /// Asks for a token. `pairs` are those of the kind of grant; `before` has what the answer may leave out.
    pub(crate) async fn request(
        fetcher: &Fetcher<'_>,
        pairs: &[(&str, &str)],
        before: &Grant,
    ) -> Result<Grant, TokenRefusal> {
        let plain = |error: McpError| TokenRefusal { code: String::new(), error };
        let endpoint = fetcher.checked_url("token endpoint", &before.token_endpoint).map_err(plain)?;
        let mut pairs = pairs.to_vec();
        pairs.push(("resource", &before.resource));
        let reply = before.send(fetcher, &endpoint, pairs).await.map_err(plain)?;
        if reply.status != 200 {
            let code = reply.body.get("error").as_str().unwrap_or_default();
            let said = reply.body.get("error_description").as_str().unwrap_or_default();
            let why = match (code, said) {
                ("", _) => format!("its authorization server answered with HTTP status {}", reply.status),
                (code, "") => excerpt(code),
                (code, said) => format!("{} ({})", excerpt(said), excerpt(code)),
            };
            return Err(TokenRefusal { code: code.to_owned(), error: fetcher.failed(why) });
        }
        let invalid = |why: &str| plain(fetcher.failed(format_args!("its authorization server {why}")));
        let token = reply.body.get("access_token").as_str().unwrap_or_default();
        if token.is_empty() || token.len() > LONGEST || !token.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(invalid("returned no usable `access_token`"));
        }
        if !reply.body.get("token_type").as_str().unwrap_or("Bearer").eq_ignore_ascii_case("bearer") {
            return Err(invalid("returned a token that is not a bearer token"));
        }
        let refresh = reply.body.get("refresh_token").as_str().filter(|t| !t.is_empty() && t.len() <= LONGEST);
        let lifetime = reply.body.get("expires_in").as_float().filter(|s| s.is_finite() && *s >= 0.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a saturating cast of a positive number"
        )]
        let expires_at = lifetime.map(|seconds| now().saturating_add(seconds as u64));
        let scopes =
            reply.body.get("scope").as_str().map(|scope| scope.split_whitespace().map(str::to_owned).collect());
        Ok(Grant {
            access_token: token.to_owned(),
            refresh_token: refresh.map(str::to_owned).or_else(|| before.refresh_token.clone()),
            expires_at,
            scopes: scopes.unwrap_or_else(|| before.scopes.clone()),
            ..before.clone()
        })
    }

    /// Gets a new token for one that expired; nothing if that is not possible.
    pub(crate) async fn renewed(&self, fetcher: &Fetcher<'_>) -> Option<Result<Grant, TokenRefusal>> {
        let refresh = self.refresh_token.as_deref()?;
        Some(Grant::request(fetcher, &[("grant_type", "refresh_token"), ("refresh_token", refresh)], self).await)
    }

    /// Tells the authorization server to forget the token, if it can. Its answer does not matter.
    pub(crate) async fn revoke(&self, fetcher: &Fetcher<'_>) {
        let Some(endpoint) = &self.revocation_endpoint else { return };
        let Ok(endpoint) = fetcher.checked_url("revocation endpoint", endpoint) else { return };
        let token = self.refresh_token.as_deref().unwrap_or(&self.access_token);
        let _ = self.send(fetcher, &endpoint, vec![("token", token)]).await;
    }

    async fn send<'a>(
        &'a self,
        fetcher: &Fetcher<'_>,
        endpoint: &Url,
        mut pairs: Vec<(&'a str, &'a str)>,
    ) -> Result<super::fetch::AuthReply, McpError> {
        let mut headers = Vec::new();
        let secret = self.client.secret.as_deref().unwrap_or_default();
        match self.client.proof {
            ClientProof::Basic => {
                let encoded = |text: &str| form(&[("", text)])[1..].to_owned();
                let pair = format!("{}:{}", encoded(&self.client.id), encoded(secret));
                headers.push(("authorization".to_owned(), format!("Basic {}", STANDARD.encode(pair))));
            }
            ClientProof::Post => pairs.extend([("client_id", self.client.id.as_str()), ("client_secret", secret)]),
            ClientProof::None => pairs.push(("client_id", &self.client.id)),
        }
        fetcher.post_form(endpoint, &pairs, headers).await
    }

    /// Returns the grant as it is stored.
    pub(crate) fn to_data(&self) -> Data {
        let expires = self.expires_at.and_then(|at| i64::try_from(at).ok());
        Data::dict_of_present([
            ("resource", Data::from(self.resource.as_str())),
            ("issuer", self.issuer.as_str().into()),
            ("token_endpoint", self.token_endpoint.as_str().into()),
            ("revocation_endpoint", self.revocation_endpoint.as_deref().into()),
            ("client_id", self.client.id.as_str().into()),
            ("client_secret", self.client.secret.as_deref().into()),
            ("client_proof", self.client.proof.as_str().into()),
            ("access_token", self.access_token.as_str().into()),
            ("refresh_token", self.refresh_token.as_deref().into()),
            ("expires_at", expires.into()),
            ("scope", self.scopes.join(" ").into()),
        ])
    }

    /// Reads a stored grant.
    pub(crate) fn from_data(data: &Data) -> Option<Grant> {
        let text = |key: &str| data.get(key).as_str().map(str::to_owned);
        let client = ClientRegistration {
            id: text("client_id")?,
            secret: text("client_secret"),
            proof: ClientProof::of_name(&text("client_proof")?)?,
        };
        Some(Grant {
            resource: text("resource")?,
            issuer: text("issuer")?,
            token_endpoint: text("token_endpoint")?,
            revocation_endpoint: text("revocation_endpoint"),
            client,
            access_token: text("access_token")?,
            refresh_token: text("refresh_token"),
            expires_at: data.get("expires_at").as_int().and_then(|at| u64::try_from(at).ok()),
            scopes: text("scope").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
        })
    }
}

/// Returns the seconds since 1970. The clock of a run may be a test's; tokens expire by the real one.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl From<TokenRefusal> for McpError {
    fn from(refusal: TokenRefusal) -> McpError {
        debug_assert_eq!(refusal.error.kind, McpErrorKind::Authorization);
        refusal.error
    }
}
