//! What must not get onto a tape.

use std::borrow::Cow;

/// Variables whose values are nobody else's business.
const ENDINGS: [&str; 6] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_CREDENTIALS"];

/// Shorter values would be found by chance.
const SHORTEST: usize = 8;

/// The values of secret variables, as they would stand in JSON.
#[derive(Debug, Default)]
pub struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Those of an environment: everything that is named like a key, a token or a password.
    #[must_use]
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Secrets {
        let is_secret = |name: &str| {
            let name = name.to_ascii_uppercase();
            ENDINGS.iter().any(|ending| name.ends_with(ending))
        };
        let mut found: Vec<(String, String)> = variables
            .into_iter()
            .filter(|(name, value)| is_secret(name) && value.len() >= SHORTEST)
            .map(|(name, value)| {
                let quoted = serde_json::Value::from(value).to_string();
                (format!("[{name}]"), quoted[1..quoted.len() - 1].to_owned())
            })
            .collect();
        // One may hold another.
        found.sort_by(|(_, one), (_, other)| other.len().cmp(&one.len()).then(one.cmp(other)));
        Secrets(found)
    }

    /// JSON with the names of variables where their values stood.
    #[must_use]
    pub fn hide<'a>(&self, json: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(json), |json, (name, value)| {
            if json.contains(value.as_str()) { Cow::Owned(json.replace(value.as_str(), name)) } else { json }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_keys_are_hidden_and_others_are_not() {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let secrets = Secrets::of([
            of("OPENAI_API_KEY", "sk-12345678"),
            of("LONGER_TOKEN", "sk-12345678-9"),
            of("ODD_SECRET", "a\"b\\c\nd-e"),
            of("HOME", "/home/somebody"),
            of("SHORT_KEY", "abc"),
        ]);
        let json = serde_json::json!({ "a": "Bearer sk-12345678", "b": "sk-12345678-9 abc", "c": "a\"b\\c\nd-e", "sk-12345678": "/home/somebody" });
        let hidden: serde_json::Value = serde_json::from_str(&secrets.hide(&json.to_string())).unwrap();
        let expected = serde_json::json!({ "a": "Bearer [OPENAI_API_KEY]", "b": "[LONGER_TOKEN] abc", "c": "[ODD_SECRET]", "[OPENAI_API_KEY]": "/home/somebody" });
        assert_eq!(hidden, expected);
    }
}
