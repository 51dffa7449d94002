//! [`Token`]: the secret that callers must send.

use std::fmt;

use axum::http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The secret that callers must send. Only its digest is kept: comparing digests takes constant time for any input of
/// any length.
#[derive(Clone)]
pub struct Token([u8; 32]);

/// The reason why a text cannot be a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It contains a character that cannot be sent in a header.
    #[error("it contains a character that is not allowed in a header; use ASCII letters, digits and punctuation")]
    Character,
}

/// The reason why a caller is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessError {
    /// The caller sent no token.
    #[error("missing token: send the header `Authorization: Bearer TOKEN`")]
    Missing,
    /// The header is not of the form `Bearer TOKEN`.
    #[error("invalid authorization scheme: send `Authorization: Bearer TOKEN`")]
    Scheme,
    /// The token is wrong.
    #[error("invalid token")]
    Wrong,
}

impl Token {
    /// Creates a token.
    ///
    /// # Errors
    /// The text cannot be sent in a header.
    pub fn new(text: &str) -> Result<Token, TokenError> {
        match text {
            "" => Err(TokenError::Empty),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => Err(TokenError::Character),
            _ => Ok(Token(digest(text.as_bytes()))),
        }
    }

    /// Checks the token in the `Authorization` header.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), AccessError> {
        if self.is(&bearer_of(headers)?) { Ok(()) } else { Err(AccessError::Wrong) }
    }

    /// Returns whether the caller sent this token, in constant time.
    pub(crate) fn is(&self, offered: &OfferedToken) -> bool {
        offered.0.ct_eq(&self.0).into()
    }
}

/// The digest of the token that a caller sent.
pub(crate) struct OfferedToken([u8; 32]);

/// Reads the token in the `Authorization` header.
pub(crate) fn bearer_of(headers: &HeaderMap) -> Result<OfferedToken, AccessError> {
    let mut offered = headers.get_all(header::AUTHORIZATION).iter();
    let first = offered.next().ok_or(AccessError::Missing)?.as_bytes();
    // With two headers it is ambiguous which one counts.
    let offered = if offered.next().is_none() { first } else { return Err(AccessError::Wrong) };
    let space = offered.iter().position(|byte| *byte == b' ').ok_or(AccessError::Scheme)?;
    let (scheme, token) = offered.split_at(space);
    if !scheme.eq_ignore_ascii_case(b"bearer") {
        return Err(AccessError::Scheme);
    }
    Ok(OfferedToken(digest(token.trim_ascii())))
}

/// Returns the `WWW-Authenticate` header of a response to a caller that is denied, by the headers of the request.
pub(super) fn challenge(headers: &HeaderMap) -> HeaderValue {
    let offered = headers.contains_key(header::AUTHORIZATION);
    let challenge = if offered { "Bearer realm=\"harn\", error=\"invalid_token\"" } else { "Bearer realm=\"harn\"" };
    HeaderValue::from_static(challenge)
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_admitted() {
        let token = Token::new("s3cret-Token").unwrap();
        let admit_all = |values: &[&[u8]]| {
            let values = values.iter().map(|value| (header::AUTHORIZATION, value.to_vec().try_into().unwrap()));
            let mut headers = HeaderMap::new();
            values.for_each(|(name, value): (_, HeaderValue)| {
                headers.append(name, value);
            });
            token.admit(&headers)
        };
        let admit = |value: &str| admit_all(&[value.as_bytes()]);
        for good in ["Bearer s3cret-Token", "bearer s3cret-Token", "BEARER  s3cret-Token "] {
            assert_eq!(admit(good), Ok(()), "{good}");
        }
        for wrong in
            ["Bearer s3cret-Toke", "Bearer s3cret-Tokens", "Bearer S3cret-Token", "Bearer ", "Bearer s3cret-Token x"]
        {
            assert_eq!(admit(wrong), Err(AccessError::Wrong), "{wrong}");
        }
        for other in ["s3cret-Token", "Basic s3cret-Token", ""] {
            assert_eq!(admit(other), Err(AccessError::Scheme), "{other}");
        }
        assert_eq!(admit_all(&[]), Err(AccessError::Missing));
        assert_eq!(admit_all(&[b"Bearer \xff\xfe"]), Err(AccessError::Wrong));
        assert_eq!(admit_all(&[b"Bearer s3cret-Token", b"Bearer other"]), Err(AccessError::Wrong));
    }

    #[test]
    fn a_token_that_no_header_carries_is_none() {
        assert_eq!(Token::new("").unwrap_err(), TokenError::Empty);
        for bad in ["two words", "newline\n", "größe", "\u{7f}"] {
            assert_eq!(Token::new(bad).unwrap_err(), TokenError::Character, "{bad}");
        }
        assert_eq!(format!("{:?}", Token::new("secret").unwrap()), "Token");
    }
}
