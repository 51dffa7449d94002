//! Secrets that must not be recorded.

use base::data::Data;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The endings of variables whose values are secret.
const ENDINGS: [&str; 6] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_CREDENTIALS"];

/// Shorter values would be found by chance.
const SHORTEST: usize = 8;

/// Keys of a recording's own. A recording without them could not be read, and who sees the gap would know the secret.
const KEYS: [&str; 29] = [
    "additionalProperties",
    "arguments",
    "cache_control",
    "cache_read_tokens",
    "cache_write_tokens",
    "category",
    "cost_nano_usd",
    "description",
    "given_up",
    "input_tokens",
    "is_error",
    "max_tokens",
    "output_schema",
    "output_tokens",
    "parameters",
    "properties",
    "provider",
    "reasoning",
    "required",
    "retry_after_ms",
    "retryable",
    "severity",
    "stop_reason",
    "temperature",
    "thinking",
    "tool_call_id",
    "tool_calls",
    "tool_choice",
    "tool_use_id",
];

/// Words that a recording says by itself, and the keys below which it does.
const WORDS: [(&str, &[&str]); 5] = [
    ("role", &["assistant", "developer"]),
    ("type", &["redacted_thinking", "thinking", "tool_result", "tool_use"]),
    ("stopped", &["cancelled", "deadline"]),
    (
        "category",
        &["bad_request", "bad_response", "cancelled", "connection", "context_window", "overloaded", "rate_limit"],
    ),
    ("stop_reason", &["end_turn", "max_tokens", "tool_calls", "tool_use"]),
];

/// The values of secret variables and the names that replace them, the longest first: one may
/// contain another.
#[derive(Debug, Default)]
pub struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Returns the secrets of an environment: every variable that is named like a key, a token or a
    /// password, or that `is_key` accepts.
    #[must_use]
    pub fn of(variables: impl IntoIterator<Item = (String, String)>, is_key: impl Fn(&str) -> bool) -> Secrets {
        let is_secret = |name: &str| {
            let upper = name.to_ascii_uppercase();
            ENDINGS.iter().any(|ending| upper.ends_with(ending)) || is_key(name)
        };
        let mut found = Vec::new();
        for (name, value) in variables.into_iter().filter(|(name, _)| is_secret(name)) {
            // Keys are used without the blanks that copying leaves.
            let value = value.trim();
            if value.len() < SHORTEST {
                continue;
            }
            let (name, quoted) = (format!("[{name}]"), serde_json::Value::from(value).to_string());
            // Arguments come as JSON text.
            let quoted = &quoted[1..quoted.len() - 1];
            if quoted != value {
                found.push((name.clone(), quoted.to_owned()));
            }
            found.push((name, value.to_owned()));
        }
        found.sort_by(|(_, one), (_, other)| other.len().cmp(&one.len()).then(one.cmp(other)));
        Secrets(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns data as it is written and read back: secret values are replaced by their names, and
    /// numbers that JSON cannot express by nil.
    #[must_use]
    pub fn hide(&self, data: &Data) -> Data {
        match data {
            Data::Float(number) if !number.is_finite() => Data::Nil,
            Data::Str(text) => match self.replaced(text) {
                Cow::Borrowed(_) => Data::Str(text.clone()),
                Cow::Owned(text) => text.into(),
            },
            Data::List(items) => items.iter().map(|item| self.hide(item)).collect(),
            Data::Dict(entries) => Data::dict(entries.iter().map(|(key, value)| {
                let is_own = WORDS.iter().any(|(of, words)| {
                    *of == key.as_ref() && value.as_str().is_some_and(|value| words.contains(&value))
                });
                let value = if is_own { value.clone() } else { self.hide(value) };
                if KEYS.contains(&key.as_ref()) { (key.clone(), value) } else { (self.hide_shared(key), value) }
            })),
            other => other.clone(),
        }
    }

    /// Returns a text with secret values replaced.
    #[must_use]
    pub fn hide_text(&self, text: &str) -> String {
        self.replaced(text).into_owned()
    }

    fn hide_shared(&self, text: &Arc<str>) -> Arc<str> {
        match self.replaced(text) {
            Cow::Borrowed(_) => text.clone(),
            Cow::Owned(text) => text.into(),
        }
    }

    /// Replaces secret values in a text that is split into several.
    pub(super) fn hide_across(&self, texts: &mut [&mut Arc<str>]) {
        let whole: String = texts.iter().map(|text| &***text).collect();
        let found = self.found(&whole);
        if found.is_empty() {
            return;
        }
        let mut start = 0;
        for text in texts {
            let cut = start..start + text.len();
            start = cut.end;
            let in_it = |(span, _): &&(Range<usize>, &str)| span.start < cut.end && cut.start < span.end;
            if found.iter().any(|span| in_it(&span)) {
                let mut at = cut.start;
                let mut out = String::new();
                for (span, name) in found.iter().filter(in_it) {
                    if span.start >= at {
                        out.push_str(&whole[at..span.start]);
                        out.push_str(name);
                    }
                    at = span.end.min(cut.end);
                }
                out.push_str(&whole[at..cut.end]);
                **text = out.into();
            }
        }
    }

    fn replaced<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.found(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for (span, name) in found {
            out.push_str(&text[at..span.start]);
            out.push_str(name);
            at = span.end;
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }

    /// Returns the positions of secret values, in the order of the text; of overlapping ones the
    /// longest counts.
    fn found(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let mut found: std::collections::BTreeMap<usize, (usize, &str)> = std::collections::BTreeMap::new();
        for (name, value) in &self.0 {
            for (start, _) in text.match_indices(value.as_str()) {
                let end = start + value.len();
                let before = found.range(..end).next_back();
                if before.is_none_or(|(_, (before, _))| *before <= start) {
                    found.insert(start, (end, name));
                }
            }
        }
        found.into_iter().map(|(start, (end, name))| (start..end, name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(pairs: &[(&str, &str)]) -> Secrets {
        Secrets::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())), |name| name == "GPU")
    }

    #[test]
    fn values_of_keys_are_hidden_and_others_are_not() {
        let secrets = secrets(&[
            ("OPENAI_API_KEY", " sk-12345678\n"),
            ("LONGER_TOKEN", "sk-12345678-9"),
            ("ODD_SECRET", "a\"b\\c\nd-e"),
            ("GPU", "not-named-so"),
            ("HOME", "/home/somebody"),
            ("SHORT_KEY", "abc"),
        ]);
        let data = |json: serde_json::Value| Data::from(json);
        let said = data(serde_json::json!({
            "a": "Bearer sk-12345678", "b": ["sk-12345678-9 abc", "not-named-so"], "c": "a\"b\\c\nd-e",
            "sk-12345678": "/home/somebody", "arguments": "{\"x\": \"a\\\"b\\\\c\\nd-e\"}",
        }));
        let expected = data(serde_json::json!({
            "a": "Bearer [OPENAI_API_KEY]", "b": ["[LONGER_TOKEN] abc", "[GPU]"], "c": "[ODD_SECRET]",
            "[OPENAI_API_KEY]": "/home/somebody", "arguments": "{\"x\": \"[ODD_SECRET]\"}",
        }));
        assert_eq!(secrets.hide(&said), expected);
    }

    #[test]
    fn a_value_in_several_pieces_is_hidden_in_the_first() {
        let secrets = secrets(&[("A_KEY", "sk-abcdef123456"), ("B_KEY", "12345678")]);
        let mut texts: Vec<Arc<str>> =
            ["it is sk-abc", "def", "123456, é1234", "5678!", "sk-abcdef"].map(Arc::from).to_vec();
        secrets.hide_across(&mut texts.iter_mut().collect::<Vec<_>>());
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        assert_eq!(texts, ["it is [A_KEY]", "", ", é[B_KEY]", "!", "sk-abcdef"]);
    }

    #[test]
    fn the_words_of_a_tape_stay_where_it_says_them_by_itself() {
        let secrets = secrets(&[("A_PASSWORD", "assistant"), ("B_PASSWORD", "arguments")]);
        let said = serde_json::json!({"role": "assistant", "content": "assistant", "arguments": {"x": "arguments"}});
        let expected =
            serde_json::json!({"role": "assistant", "content": "[A_PASSWORD]", "arguments": {"x": "[B_PASSWORD]"}});
        assert_eq!(secrets.hide(&Data::from(said)), Data::from(expected));
    }
}
