//! [`ChannelScope`]: what a channel may do.

use base::data::Data;
use base::words::{UnknownWord, words};

words! {
    /// A right of a channel.
    pub enum ChannelScope {
        /// See the events of sessions.
        View = "view",
        /// Open sessions, prompt them, answer their questions, and cancel their work.
        Prompt = "prompt",
        /// Inject reminders and messages.
        Inject = "inject",
        /// Answer permission questions; an "always" answer holds only while the channel is connected.
        Permit = "permit",
        /// Answer permission questions with "always" for the whole session.
        PermitSession = "permit:session",
        /// Change the mode of sessions, and close them.
        Admin = "admin",
    }
}

/// The rights of a channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelScopes(u8);

impl ChannelScopes {
    /// Reads rights that are separated by commas.
    ///
    /// # Errors
    /// One of them is unknown.
    pub fn parse(text: &str) -> Result<ChannelScopes, UnknownWord> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(str::parse::<ChannelScope>).collect()
    }

    /// Returns whether the right is among them.
    #[must_use]
    pub fn has(self, scope: ChannelScope) -> bool {
        self.0 & bit(scope) != 0
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the words, in the order of their declaration.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        ChannelScope::ALL.iter().filter(move |scope| self.has(**scope)).map(|scope| scope.as_str())
    }

    pub(crate) fn to_data(self) -> Data {
        Data::list(self.words().map(Data::from))
    }

    pub(crate) fn from_data(data: &Data) -> ChannelScopes {
        // A right that a later version adds is not granted by this one.
        data.as_list().into_iter().flatten().filter_map(|word| word.as_str()?.parse().ok()).collect()
    }
}

fn bit(scope: ChannelScope) -> u8 {
    1 << scope as u8
}

impl FromIterator<ChannelScope> for ChannelScopes {
    fn from_iter<I: IntoIterator<Item = ChannelScope>>(scopes: I) -> ChannelScopes {
        ChannelScopes(scopes.into_iter().fold(0, |all, scope| all | bit(scope)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_in_any_order_and_only_those_are_granted() {
        let scopes = ChannelScopes::parse("permit, view").unwrap();
        assert_eq!(scopes.words().collect::<Vec<_>>(), ["view", "permit"]);
        assert!(!scopes.has(ChannelScope::PermitSession) && !scopes.has(ChannelScope::Admin));
        assert_eq!(ChannelScopes::from_data(&scopes.to_data()), scopes);
        assert!(ChannelScopes::parse(" ").unwrap().is_empty());
        assert_eq!(ChannelScopes::parse("view,promt").unwrap_err().suggestion, Some("prompt"));
        let later = Data::list(["view", "fly"].map(Data::from));
        assert_eq!(ChannelScopes::from_data(&later), ChannelScopes::parse("view").unwrap());
    }
}
