//! The reminder extension: its name, and the headers that request it.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base::data::Data;
use runtime::reminder::{Propagate, RoleHint};

/// The URI of the extension.
pub const REMINDERS: &str = "urn:harn:ext:reminders:1";

/// The URI that also requests the draft's notifications. It is separate because clients of the SDKs abort a stream at a
/// notification.
pub(super) const NOTIFICATIONS: &str = "urn:harn:ext:reminders:1#notifications";

/// Both URIs, as they are confirmed.
const BOTH: &str = "urn:harn:ext:reminders:1, urn:harn:ext:reminders:1#notifications";

/// The headers that name the extensions in use; the second is the name in earlier versions.
const HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("a2a-extensions"), HeaderName::from_static("x-a2a-extensions")];

/// Returns the `reminders` entry of the card's capabilities.
pub(super) fn capability() -> Data {
    let words = |words: &[&'static str]| Data::list(words.iter().map(|word| Data::from(*word)));
    Data::dict([
        ("inject", Data::from(true)),
        ("emit", true.into()),
        ("propagate", words(Propagate::WORDS)),
        ("roleHints", words(RoleHint::WORDS)),
    ])
}

/// The URIs of the extension that a caller names, by header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RequestedExtension([NamedUris; 2]);

/// The URIs in one header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct NamedUris {
    extension: bool,
    notifications: bool,
}

impl RequestedExtension {
    /// Reads the headers of a request.
    pub(super) fn of(headers: &HeaderMap) -> RequestedExtension {
        RequestedExtension(HEADERS.map(|header| {
            let lists = headers.get_all(header).iter().filter_map(|value| value.to_str().ok());
            lists.flat_map(|list| list.split(',').map(str::trim)).fold(NamedUris::default(), |named, uri| NamedUris {
                extension: named.extension || uri == REMINDERS,
                notifications: named.notifications || uri == NOTIFICATIONS,
            })
        }))
    }

    /// Returns whether the extension is requested, with or without notifications.
    pub(super) fn is_any(self) -> bool {
        self.0.iter().any(|named| named.confirmed().is_some())
    }

    /// Returns whether the draft's notifications are requested.
    pub(super) fn wants_notifications(self) -> bool {
        self.0.iter().any(|named| named.notifications)
    }

    /// Confirms the extension in a response, with the header names that the caller used.
    pub(super) fn confirm(self, headers: &mut HeaderMap) {
        for (header, named) in HEADERS.into_iter().zip(self.0) {
            if let Some(uris) = named.confirmed() {
                headers.insert(header, HeaderValue::from_static(uris));
            }
        }
    }
}

impl NamedUris {
    fn confirmed(self) -> Option<&'static str> {
        match (self.extension, self.notifications) {
            (true, true) => Some(BOTH),
            (true, false) => Some(REMINDERS),
            (false, true) => Some(NOTIFICATIONS),
            (false, false) => None,
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
        for other in ["urn:harn:ext:reminders:12", "urn:harn:ext:reminders:1#other"] {
            assert!(!asked("a2a-extensions", other).is_any(), "{other}");
        }
    }

    #[test]
    fn notifications_are_asked_for_by_a_uri_of_their_own() {
        assert!(!asked("a2a-extensions", REMINDERS).wants_notifications());
        let both = "urn:harn:ext:reminders:1,urn:harn:ext:reminders:1#notifications";
        for (value, confirmed) in [(NOTIFICATIONS, NOTIFICATIONS), (both, BOTH)] {
            let asked = asked("x-a2a-extensions", value);
            assert!(asked.is_any() && asked.wants_notifications());
            let mut answer = HeaderMap::new();
            asked.confirm(&mut answer);
            assert_eq!(answer["x-a2a-extensions"].to_str().unwrap(), confirmed);
        }
    }
}
