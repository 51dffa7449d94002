//! [`UriTemplate`]: a URI in which `{name}` stands for a value (RFC 6570, level 1).

use std::sync::Arc;

use base::data::Data;
use percent_encoding::percent_decode_str;

/// A URI in which `{name}` stands for a value without `/`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UriTemplate {
    /// The text before each variable, and the variable.
    variables: Vec<(String, Arc<str>)>,
    /// The text after the last one.
    end: String,
}

impl UriTemplate {
    /// Reads a URI that `check` has accepted.
    pub(super) fn new(uri: &str) -> UriTemplate {
        let mut variables = Vec::new();
        let mut rest = uri;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            variables.push((before.to_owned(), name.into()));
            rest = after;
        }
        UriTemplate { variables, end: rest.to_owned() }
    }

    /// Returns whether it has variables.
    pub(super) fn is_template(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Returns the values of the variables in a URI as text; `None` if the URI is another one.
    pub(super) fn values(&self, uri: &str) -> Option<Data> {
        let mut rest = uri;
        let mut values = Data::empty_dict();
        for (place, (before, name)) in self.variables.iter().enumerate() {
            rest = rest.strip_prefix(before.as_str())?;
            let next = self.variables.get(place + 1).map_or(self.end.as_str(), |(before, _)| before);
            let end = match next {
                "" => rest.len(),
                next => rest.find(next)?,
            };
            let value = &rest[..end];
            if value.is_empty() || value.contains('/') {
                return None;
            }
            values.set(name.clone(), percent_decode_str(value).decode_utf8().ok()?.as_ref().into());
            rest = &rest[end..];
        }
        (rest == self.end).then_some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_from_a_uri() {
        for (template, uri, values) in [
            ("notes://today", "notes://today", Some("{}")),
            ("notes://today", "notes://todays", None),
            ("orders://{id}", "orders://7", Some(r#"{"id":"7"}"#)),
            ("orders://{id}", "orders://a%20b%C3%A4", Some(r#"{"id":"a bä"}"#)),
            ("orders://{id}", "orders://", None),
            ("orders://{id}", "orders://7/8", None),
            ("orders://{id}", "orders://%FF", None),
            ("a://{x}/b/{y}.txt", "a://1/b/2.txt", Some(r#"{"x":"1","y":"2"}"#)),
            ("a://{x}/b/{y}.txt", "a://1/c/2.txt", None),
        ] {
            let found = UriTemplate::new(template).values(uri);
            assert_eq!(found.map(|found| found.to_json()), values.map(str::to_owned), "{template} {uri}");
        }
    }
}
