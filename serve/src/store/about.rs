//! [`SessionDescription`]: the description of a session without its conversation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::data::Data;

/// The description of a session without its conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionDescription {
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The protocol that opened it.
    pub protocol: Arc<str>,
    /// The account that owns it; `None` if that is unknown.
    pub account: Option<Arc<str>>,
    /// Its mode.
    pub mode: Option<Arc<str>>,
    /// Its title.
    pub title: Option<Arc<str>>,
    /// The protocol's metadata.
    pub metadata: Data,
}

impl SessionDescription {
    /// Returns the content of every lifecycle record, so that a list needs only one record of each session.
    pub(super) fn brief(&self, id: &Arc<str>) -> Data {
        Data::dict_of_present([
            ("session_id", Data::from(id)),
            ("account", self.account.as_ref().into()),
            ("cwd", self.cwd.as_deref().map(text_of).into()),
            ("mode", self.mode.as_ref().into()),
            ("title", self.title.as_ref().into()),
        ])
    }

    /// Reads the content of a lifecycle record.
    pub(super) fn read_brief(&mut self, payload: &Data) {
        // A session keeps its first account.
        self.account = self.account.take().or_else(|| account_of(payload));
        self.cwd = payload.get("cwd").as_str().map(PathBuf::from);
        self.mode = payload.get("mode").as_shared_str();
        self.title = payload.get("title").as_shared_str();
    }
}

/// The account of sessions that a server without channels opens.
pub(crate) const LOCAL_ACCOUNT: &str = "local";

/// The protocols of servers without channels, whose sessions belong to [`LOCAL_ACCOUNT`].
const LOCAL_PROTOCOLS: [&str; 3] = ["acp", "a2a", "mcp"];

/// Returns the account that a lifecycle record names. Earlier versions named none: a session that a server without channels
/// opened is local, and the owner of another one is known from the records of its channel, if at all.
pub(crate) fn account_of(payload: &Data) -> Option<Arc<str>> {
    let is_local = || payload.get("protocol").as_str().is_some_and(|it| LOCAL_PROTOCOLS.contains(&it));
    payload.get("account").as_shared_str().or_else(|| is_local().then(|| LOCAL_ACCOUNT.into()))
}

fn text_of(path: &Path) -> Arc<str> {
    path.to_string_lossy().into()
}

/// Returns the default title of a session: the beginning of its first prompt.
pub(super) fn title_of(prompt: &str) -> Option<Arc<str>> {
    const MOST: usize = 80;
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
    match line.char_indices().nth(MOST) {
        None => Some(line.into()),
        Some((end, _)) => Some(format!("{}…", line[..end].trim_end()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        assert_eq!(title_of("\n  mend it \nplease").as_deref(), Some("mend it"));
        assert_eq!(title_of(" \n"), None);
        assert_eq!(title_of(&"ä".repeat(81)).map(|title| title.chars().count()), Some(81));
    }
}
