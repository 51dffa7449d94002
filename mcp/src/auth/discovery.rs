//! [`Discovery`]: where the tokens of a server come from.

use base::data::Data;
use providers::web::Url;

use super::challenge::Challenge;
use super::fetch::Fetcher;
use crate::error::{McpError, excerpt};

/// The number of authorization servers of one server that are tried.
const MAX_ISSUERS: usize = 3;
/// The largest number of scopes that are asked for.
pub(crate) const MAX_SCOPES: usize = 100;

/// The authorization server of an MCP server.
#[derive(Debug, Clone)]
pub(crate) struct Discovery {
    /// The identifier of the MCP server, for which tokens are issued (RFC 8707).
    pub(crate) resource: String,
    /// The scopes that the MCP server names.
    pub(crate) scopes: Vec<String>,
    /// The identifier of the authorization server.
    pub(crate) issuer: String,
    pub(crate) token_endpoint: Url,
    metadata: Data,
}

impl Discovery {
    /// Finds the authorization server of the MCP server at `url`, with what its challenge says.
    pub(crate) async fn find(fetcher: &Fetcher<'_>, url: &Url, challenge: &Challenge) -> Result<Discovery, McpError> {
        let protected = protected_resource(fetcher, url, challenge).await?;
        let (resource, scopes, issuers) = match &protected {
            Some(metadata) => (resource_of(fetcher, url, metadata)?, texts(metadata.get("scopes_supported")), {
                let issuers = texts(metadata.get("authorization_servers"));
                if issuers.is_empty() {
                    return Err(fetcher.failed("its metadata names no `authorization_servers`"));
                }
                issuers
            }),
            // Servers of 2025-03-26 are their own authorization servers.
            None => (canonical(url), Vec::new(), vec![url.origin().ascii_serialization()]),
        };
        let mut failure = None;
        for issuer in issuers.iter().take(MAX_ISSUERS) {
            match authorization_server(fetcher, issuer).await {
                Ok(metadata) => {
                    let endpoint = required(fetcher, &metadata, "token_endpoint")?;
                    let token_endpoint = fetcher.checked_url("token endpoint", &endpoint)?;
                    // The spelling of its own metadata is the one that `iss` repeats.
                    let issuer = required(fetcher, &metadata, "issuer")?;
                    return Ok(Discovery { resource, scopes, issuer, token_endpoint, metadata });
                }
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
        match (protected, failure) {
            (Some(_), Some(failure)) => Err(failure),
            _ => Err(fetcher
                .failed("it does not say which authorization server issues them")
                .help("pass a token with `token_env`, the name of the variable that holds it, or with `headers`")),
        }
    }

    /// Returns an endpoint of the authorization server, checked; nothing if it has none.
    pub(crate) fn endpoint(&self, fetcher: &Fetcher<'_>, key: &str) -> Result<Option<Url>, McpError> {
        let written = self.metadata.get(key).as_str();
        written.map(|written| fetcher.checked_url(&key.replace('_', " "), written)).transpose()
    }

    /// Returns whether a list of the metadata contains a word; `missing` if there is no list.
    pub(crate) fn supports(&self, key: &str, word: &str, missing: bool) -> bool {
        let list = self.metadata.get(key).as_list();
        list.map_or(missing, |list| list.iter().any(|item| item.as_str() == Some(word)))
    }

    /// Returns whether a flag of the metadata is set.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.metadata.get(key).as_bool() == Some(true)
    }
}

/// Gets the metadata of the MCP server; nothing if it has none.
async fn protected_resource(fetcher: &Fetcher<'_>, url: &Url, challenge: &Challenge) -> Result<Option<Data>, McpError> {
    if let Some(named) = &challenge.resource_metadata {
        let named = fetcher.checked_url("metadata URL", named)?;
        let reply = fetcher.get(&named).await?;
        if reply.status != 200 || reply.body.as_dict().is_none() {
            let why = format!("its metadata at {named} has HTTP status {} and cannot be read", reply.status);
            return Err(fetcher.failed(why));
        }
        return Ok(Some(reply.body));
    }
    for path in well_known(url, "oauth-protected-resource") {
        let reply = fetcher.get(&path).await?;
        if reply.status == 200 && reply.body.as_dict().is_some() {
            return Ok(Some(reply.body));
        }
    }
    Ok(None)
}

/// Returns the URLs of a well-known document: with the path of the URL, and without.
fn well_known(url: &Url, document: &str) -> Vec<Url> {
    let at = |path: &str| {
        let mut at = url.clone();
        at.set_path(path);
        at.set_query(None);
        at.set_fragment(None);
        at
    };
    let path = url.path().trim_end_matches('/');
    let root = format!("/.well-known/{document}");
    if path.is_empty() { vec![at(&root)] } else { vec![at(&format!("{root}{path}")), at(&root)] }
}

/// Returns the URL as the identifier of the server.
fn canonical(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let text = url.to_string();
    // A bare host is written without a slash.
    if url.path() == "/" && url.query().is_none() { text.trim_end_matches('/').to_owned() } else { text }
}

/// Returns the identifier in the metadata, if it is that of this server: else another server could get a token that is meant
/// for this one, or the other way round.
fn resource_of(fetcher: &Fetcher<'_>, url: &Url, metadata: &Data) -> Result<String, McpError> {
    let Some(written) = metadata.get("resource").as_str() else {
        return Err(fetcher.failed("its metadata names no `resource`"));
    };
    let fits = Url::parse(written).is_ok_and(|resource| {
        let (own, named) = (url.path().trim_end_matches('/'), resource.path().trim_end_matches('/'));
        let below = own.strip_prefix(named).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        resource.origin() == url.origin() && below
    });
    if fits {
        return Ok(written.to_owned());
    }
    Err(fetcher.failed(format_args!("its metadata is that of another server, {}", excerpt(written))))
}

/// Gets the metadata of an authorization server, whose `issuer` must be the one that was asked.
async fn authorization_server(fetcher: &Fetcher<'_>, issuer: &str) -> Result<Data, McpError> {
    let url = fetcher.checked_url("authorization server", issuer)?;
    let mut places = vec![well_known(&url, "oauth-authorization-server").swap_remove(0)];
    places.push(well_known(&url, "openid-configuration").swap_remove(0));
    let path = url.path().trim_end_matches('/');
    if !path.is_empty() {
        let mut below = url.clone();
        below.set_path(&format!("{path}/.well-known/openid-configuration"));
        places.push(below);
    }
    for place in places {
        let reply = fetcher.get(&place).await?;
        if reply.status != 200 || reply.body.as_dict().is_none() {
            continue;
        }
        let named = reply.body.get("issuer").as_str().unwrap_or_default();
        if named.trim_end_matches('/') != issuer.trim_end_matches('/') {
            let why = format!("the authorization server {} says that it is {:?}", excerpt(issuer), excerpt(named));
            return Err(fetcher.failed(why));
        }
        return Ok(reply.body);
    }
    Err(fetcher.failed(format_args!("the authorization server {} has no metadata", excerpt(issuer))))
}

fn required(fetcher: &Fetcher<'_>, metadata: &Data, key: &str) -> Result<String, McpError> {
    let value = metadata.get(key).as_str().map(str::to_owned);
    value.ok_or_else(|| fetcher.failed(format_args!("its authorization server names no `{key}`")))
}

fn texts(list: &Data) -> Vec<String> {
    let texts = list.as_list().unwrap_or_default().iter().filter_map(Data::as_str);
    texts.take(MAX_SCOPES).map(str::to_owned).collect()
}
