//! Lists of sessions.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtime::event_log::Topic;

use super::{SessionDescription, SessionStore, StoreError, is_session};

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The id of the session.
    pub id: Arc<str>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The title.
    pub title: Option<Arc<str>>,
    /// The account that its last record names.
    pub account: Option<Arc<str>>,
    /// The time of the last record, in milliseconds since 1970-01-01 UTC.
    pub updated_at_ms: u64,
}

/// A page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions, most recently active first.
    pub rows: Vec<SessionSummary>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

impl SessionStore {
    /// The default number of sessions on a page.
    pub const PAGE: usize = 100;

    /// Returns a page of the sessions, most recently active first; with `cwd` only those with this working directory.
    /// `cursor` comes from the previous page.
    ///
    /// # Errors
    /// The cursor is invalid, or the log cannot be read.
    pub fn list(&self, cwd: Option<&Path>, cursor: Option<&str>, most: usize) -> Result<SessionPage, StoreError> {
        let before =
            cursor.map_or(Ok(u64::MAX), |cursor| read(cursor).ok_or_else(|| StoreError::Cursor(cursor.into())))?;
        let (mut page, mut last) = (SessionPage::default(), 0);
        let most = most.max(1);
        let read = self.log().look(|file| {
            file.last_of_runs(Topic::Life.as_str(), before, |record| {
                let mut about = SessionDescription::default();
                about.read_brief(&record.payload);
                let Some(id) = record.payload.get("session_id").as_shared_str().filter(|id| is_session(id)) else {
                    return ControlFlow::Continue(());
                };
                if cwd.is_some_and(|cwd| about.cwd.as_deref() != Some(cwd)) {
                    return ControlFlow::Continue(());
                }
                if page.rows.len() == most {
                    page.next = Some(format!("{last:x}"));
                    return ControlFlow::Break(());
                }
                last = record.cursor;
                let SessionDescription { cwd, title, account, .. } = about;
                page.rows.push(SessionSummary { id, cwd, title, account, updated_at_ms: record.occurred_at_ms });
                ControlFlow::Continue(())
            })
        });
        read.map_err(StoreError::from).inspect_err(StoreError::report)?;
        Ok(page)
    }
}

fn read(cursor: &str) -> Option<u64> {
    let plain = cursor.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(cursor, 16).ok().filter(|_| plain)
}
