//! [`AgentTokens`]: the tokens of the agents of a hub.

use std::collections::HashSet;

use axum::http::HeaderMap;
use hub::broker::{Caller, HUB};
use hub::grpc::Authenticate;

use crate::http::{AccessError, Token, TokenError, bearer_of};

/// The minimum length of a token: shorter ones can be guessed.
const MIN_LENGTH: usize = 16;

/// The maximum number of agents with a token.
const MAX_AGENTS: usize = 10_000;

/// The tokens of the agents of a hub.
#[derive(Debug, Default, Clone)]
pub struct AgentTokens(Vec<(String, Token)>);

/// The reason why a token file is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenFileError {
    /// The file has no tokens.
    #[error("it contains no tokens")]
    Empty,
    /// The file has too many tokens.
    #[error("it contains more than {MAX_AGENTS} tokens")]
    TooMany,
    /// A line is not an id and a token.
    #[error("line {0}: expected the id of an agent, a space, and a token")]
    Line(usize),
    /// A token is too short.
    #[error("line {0}: the token is shorter than {MIN_LENGTH} characters")]
    Short(usize),
    /// A token is invalid.
    #[error("line {0}: invalid token: {1}")]
    Invalid(usize, TokenError),
    /// An id belongs to the hub.
    #[error("line {0}: the agent id `{1}` is reserved")]
    Reserved(usize, &'static str),
    /// An agent or a token is repeated.
    #[error("line {0}: the {1} is already used by an earlier line")]
    Repeated(usize, &'static str),
}

impl AgentTokens {
    /// Reads the content of a token file: lines of an agent's id and its token.
    ///
    /// # Errors
    /// A line is invalid, or there are no lines.
    pub fn parse(text: &str) -> Result<AgentTokens, TokenFileError> {
        let mut tokens = Vec::new();
        let (mut agents, mut known) = (HashSet::new(), HashSet::new());
        for (at, line) in text.lines().enumerate() {
            let (number, line) = (at + 1, line.trim());
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_whitespace();
            let (Some(agent), Some(token), None) = (words.next(), words.next(), words.next()) else {
                return Err(TokenFileError::Line(number));
            };
            if agent == HUB {
                return Err(TokenFileError::Reserved(number, HUB));
            }
            if token.len() < MIN_LENGTH {
                return Err(TokenFileError::Short(number));
            }
            if !agents.insert(agent) {
                return Err(TokenFileError::Repeated(number, "agent"));
            }
            if !known.insert(token) {
                return Err(TokenFileError::Repeated(number, "token"));
            }
            if tokens.len() == MAX_AGENTS {
                return Err(TokenFileError::TooMany);
            }
            let token = Token::new(token).map_err(|why| TokenFileError::Invalid(number, why))?;
            tokens.push((agent.to_owned(), token));
        }
        if tokens.is_empty() { Err(TokenFileError::Empty) } else { Ok(AgentTokens(tokens)) }
    }

    /// Returns the agent whose token a request has. All tokens are compared, so the time does not depend on which one
    /// matches.
    pub(super) fn agent(&self, headers: &HeaderMap) -> Result<&str, AccessError> {
        let offered = bearer_of(headers)?;
        let mut found = None;
        for (agent, token) in &self.0 {
            if token.is(&offered) {
                found = Some(agent.as_str());
            }
        }
        found.ok_or(AccessError::Wrong)
    }
}

impl Authenticate for AgentTokens {
    fn caller(&self, headers: &HeaderMap) -> Result<Caller, String> {
        self.agent(headers).map(|agent| Caller::Agent(agent.to_owned())).map_err(|why| why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    const FILE: &str = "# agents of the hub\n\nanna  anna-0123456789abcdef\nben ben-0123456789abcdef\n";

    fn agent(tokens: &AgentTokens, value: &str) -> Result<String, AccessError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        tokens.agent(&headers).map(ToOwned::to_owned)
    }

    #[test]
    fn a_token_identifies_its_agent() {
        let tokens = AgentTokens::parse(FILE).unwrap();
        assert_eq!(agent(&tokens, "Bearer anna-0123456789abcdef"), Ok("anna".to_owned()));
        assert_eq!(agent(&tokens, "bearer ben-0123456789abcdef"), Ok("ben".to_owned()));
        for wrong in ["Bearer anna", "Bearer anna-0123456789abcdeg", "Bearer "] {
            assert_eq!(agent(&tokens, wrong), Err(AccessError::Wrong), "{wrong}");
        }
        assert_eq!(agent(&tokens, "Basic YTpi"), Err(AccessError::Scheme));
        assert_eq!(tokens.agent(&HeaderMap::new()), Err(AccessError::Missing));
        assert!(!format!("{tokens:?}").contains("0123"));
    }

    #[test]
    fn an_invalid_line_is_named() {
        for (text, error) in [
            ("", TokenFileError::Empty),
            ("# none\n", TokenFileError::Empty),
            ("anna\n", TokenFileError::Line(1)),
            ("\nanna 0123456789abcdef more\n", TokenFileError::Line(2)),
            ("anna 0123456789abcdef\nhub 1123456789abcdef\n", TokenFileError::Reserved(2, "hub")),
            ("anna 0123456789abcde\n", TokenFileError::Short(1)),
            ("anna 0123456789abcdef\nanna 1123456789abcdef\n", TokenFileError::Repeated(2, "agent")),
            ("anna 0123456789abcdef\nben 0123456789abcdef\n", TokenFileError::Repeated(2, "token")),
            ("anna größe-0123456789abc\n", TokenFileError::Invalid(1, TokenError::Character)),
        ] {
            assert_eq!(AgentTokens::parse(text).unwrap_err(), error, "{text:?}");
        }
    }
}
