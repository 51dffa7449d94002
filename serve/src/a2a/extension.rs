//! The reminder extension: its name, and the headers that request it.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use runtime::data::Data;
use runtime::reminder::{Propagate, RoleHint};

/// The URI of the extension.
pub const REMINDERS: &str = "urn:harn:ext:reminders:1";

/// The headers that name the extensions in use; the second is the name in earlier versions.
const HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("a2a-extensions"), HeaderName::from_static("x-a2a-extensions")];

/// Returns the parameters of the extension for the card.
pub(super) fn capability() -> Data {
    let words = |words: &[&'static str]| Data::list(words.iter().map(|word| Data::from(*word)));
    Data::dict([
        ("inject", Data::from(true)),
        ("emit", true.into()),
        ("propagate", words(Propagate::WORDS)),
        ("roleHints", words(RoleHint::WORDS)),
    ])
}

/// The headers in which a caller names the extension.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RequestedExtension([bool; 2]);

impl RequestedExtension {
    /// Reads the headers of a request.
    pub(super) fn of(headers: &HeaderMap) -> RequestedExtension {
        let named =
            |value: &HeaderValue| value.to_str().is_ok_and(|list| list.split(',').any(|uri| uri.trim() == REMINDERS));
        RequestedExtension(HEADERS.map(|header| headers.get_all(header).iter().any(named)))
    }

    /// Returns whether the extension is requested.
    pub(super) fn is_any(self) -> bool {
        self.0.contains(&true)
    }

    /// Confirms the extension in a response, with the header names that the caller used.
    pub(super) fn confirm(self, headers: &mut HeaderMap) {
        for (header, _) in HEADERS.into_iter().zip(self.0).filter(|(_, asked)| *asked) {
            headers.insert(header, HeaderValue::from_static(REMINDERS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &'static str, value: &'static str) -> RequestedExtension {
        let mut headers = HeaderMap::new();
        headers.append("a2a-extensions", HeaderValue::from_static("https://example.com/other"));
        headers.append(name, HeaderValue::from_static(value));
        RequestedExtension::of(&headers)
    }

    #[test]
    fn it_is_asked_for_by_either_name_in_lists_and_in_several_lines() {
        for name in ["a2a-extensions", "x-a2a-extensions"] {
            for value in [REMINDERS, "https://example.com/ext/v1, urn:harn:ext:reminders:1"] {
                let asked = asked(name, value);
                assert!(asked.is_any(), "{name}: {value}");
                let mut answer = HeaderMap::new();
                asked.confirm(&mut answer);
                assert_eq!((answer.len(), answer[name].to_str().unwrap()), (1, REMINDERS));
            }
        }
        assert!(!asked("a2a-extensions", "urn:harn:ext:reminders:12").is_any());
    }
}
