//! [`Challenge`]: what a server says in `WWW-Authenticate` about the token that it wants.

/// The parameters of the scheme `Bearer` that matter here.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// The URL of the metadata of the server (RFC 9728).
    pub(crate) resource_metadata: Option<String>,
    /// The scopes that the request needs.
    pub(crate) scopes: Vec<String>,
    /// `invalid_token`, `insufficient_scope` …
    pub(crate) error: Option<String>,
}

/// The longest header that is read.
const LONGEST: usize = 8 << 10;

impl Challenge {
    /// Reads the challenge of the scheme `Bearer` from the values of `WWW-Authenticate`. What cannot be read is left out.
    pub(crate) fn read(headers: &[String]) -> Challenge {
        let mut challenge = Challenge::default();
        for header in headers.iter().filter(|header| header.len() <= LONGEST) {
            let mut is_bearer = false;
            for part in parts(header) {
                let Some((left, value)) = part.split_once('=') else {
                    is_bearer = part.eq_ignore_ascii_case("bearer");
                    continue;
                };
                // `Bearer key=value` begins a scheme, `key=value` belongs to the one before.
                let mut words = left.split_whitespace().rev();
                let key = words.next().unwrap_or_default();
                if let Some(scheme) = words.next() {
                    is_bearer = scheme.eq_ignore_ascii_case("bearer");
                }
                if !is_bearer {
                    continue;
                }
                let value = unquoted(value.trim());
                match key.to_ascii_lowercase().as_str() {
                    "resource_metadata" => challenge.resource_metadata = Some(value),
                    "scope" => challenge.scopes = value.split_ascii_whitespace().map(str::to_owned).collect(),
                    "error" => challenge.error = Some(value),
                    _ => {}
                }
            }
        }
        challenge
    }

    /// Returns whether a token with more scopes would do.
    pub(crate) fn wants_scopes(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// Splits at commas outside of quotes.
fn parts(header: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in header.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(header[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(header[from..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').map(|value| value.strip_suffix('"').unwrap_or(value)) else {
        return value.to_owned();
    };
    let (mut text, mut escaped) = (String::new(), false);
    for c in inner.chars() {
        match c {
            '\\' if !escaped => escaped = true,
            c => {
                text.push(c);
                escaped = false;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bearer_challenge_is_found_among_others() {
        let read = |header: &str| Challenge::read(&[header.to_owned()]);
        let challenge = read(
            r#"Basic realm="a, b", Bearer resource_metadata="https://x.org/.well-known/r", scope="read write", error=insufficient_scope"#,
        );
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://x.org/.well-known/r"));
        assert_eq!(challenge.scopes, ["read", "write"]);
        assert!(challenge.wants_scopes());
        assert_eq!(read(r#"bearer  error = "invalid_token""#).error.as_deref(), Some("invalid_token"));
        assert_eq!(read(r#"Bearer scope="a\"b""#).scopes, ["a\"b"]);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        for header in ["", "Bearer", "Basic realm=\"x\"", "Basic scope=\"x\"", "=,=,\"", "Bearer ,,,", "ü=ö \"é"] {
            assert_eq!(Challenge::read(&[header.to_owned()]), Challenge::default(), "{header}");
        }
        assert_eq!(Challenge::read(&[format!("Bearer scope={}", "x".repeat(9000))]), Challenge::default());
    }
}
