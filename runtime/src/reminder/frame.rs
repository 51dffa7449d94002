//! The frames around the bodies of reminders, and the quoting that keeps a body inside of its frame.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::message::quote;

mod turn_marker;

/// The form of a reminder in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A line `System reminder:` before the body.
    Header,
    /// A tag `<system-reminder>` around the body.
    Tag,
}

impl Frame {
    /// Returns a body in this frame.
    pub(crate) fn around(self, body: &str) -> Arc<str> {
        match self {
            Frame::Header => plain(body),
            Frame::Tag => xml(body),
        }
    }
}

/// The own body of a reminder in its frame, as the first prompt that showed it made it. A reminder is in many prompts, and
/// the search for markers in its body costs more than the rest of a prompt.
///
/// A copy of a reminder may get another body, so a clone is empty. It is not part of the reminder's value, so all are equal.
#[derive(Debug, Default)]
pub struct FramedBody(OnceLock<(Frame, Arc<str>)>);

impl FramedBody {
    /// Returns the body in a frame. A route with another frame than the first one gets a text of its own.
    pub(crate) fn get(&self, frame: Frame, body: &str) -> Arc<str> {
        match self.0.get_or_init(|| (frame, frame.around(body))) {
            (known, text) if *known == frame => text.clone(),
            _ => frame.around(body),
        }
    }
}

impl Clone for FramedBody {
    fn clone(&self) -> FramedBody {
        FramedBody::default()
    }
}

impl PartialEq for FramedBody {
    fn eq(&self, _: &FramedBody) -> bool {
        true
    }
}

impl Eq for FramedBody {}

/// Returns the body with markers quoted, so that it does not read as a second reminder.
fn plain(body: &str) -> Arc<str> {
    let body: &str = &quote::quoted(body);
    let body: &str = &turn_marker::quoted(body);
    let mut text = String::with_capacity(body.len() + 20);
    text.push_str("System reminder:\n");
    if may_hide(body) {
        text.extend(body.chars().map(visible));
    } else {
        text.push_str(body);
    }
    text.into()
}

fn xml(body: &str) -> Arc<str> {
    let body = escaped(body);
    // All tags are removed, but the plain header may remain.
    let body: &str = &quote::quoted(&body);
    let body: &str = &turn_marker::quoted(body);
    let mut text = String::with_capacity(body.len() + 40);
    text.push_str("<system-reminder>\n");
    text.push_str(body);
    text.push_str("\n</system-reminder>");
    text.into()
}

/// Returns the body with `&`, `<` and `>` escaped, so that it cannot close its tag.
fn escaped(body: &str) -> Cow<'_, str> {
    if !may_hide(body) && !body.bytes().any(|byte| matches!(byte, b'&' | b'<' | b'>')) {
        return Cow::Borrowed(body);
    }
    let mut text = String::with_capacity(body.len() + 40);
    for c in body.chars().map(visible) {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

/// Returns whether the body may need changes: most bodies are plain, which is detected in one pass.
fn may_hide(body: &str) -> bool {
    body.bytes().fold(false, |found, byte| found | !(byte == b'\n' || (0x20..0x7f).contains(&byte)))
}

/// Returns whether a character is removed. NUL and similar ones mean nothing to a model, and some routes refuse
/// requests with them.
fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

fn visible(c: char) -> char {
    if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }
}

#[cfg(test)]
mod tests {
    use crate::reminder::{Reminder, ReminderSource, ReminderSpec};

    use super::*;

    fn shown(reminder: &Reminder) -> Reminder {
        reminder.framed.get(Frame::Header, &reminder.body);
        reminder.clone()
    }

    #[test]
    fn a_shown_body_is_made_once_for_each_frame() {
        let reminder = ReminderSpec::new("a < b").into_reminder("r".into(), ReminderSource::Hook, 0);
        let first = reminder.framed.get(Frame::Header, &reminder.body);
        assert_eq!(first.as_ref(), "System reminder:\na < b");
        assert!(Arc::ptr_eq(&first, &reminder.framed.get(Frame::Header, &reminder.body)));
        let other = reminder.framed.get(Frame::Tag, &reminder.body);
        assert_eq!(other.as_ref(), "<system-reminder>\na &lt; b\n</system-reminder>");
        assert!(Arc::ptr_eq(&first, &reminder.framed.get(Frame::Header, &reminder.body)));
    }

    #[test]
    fn a_copy_with_another_body_is_shown_with_it() {
        let reminder = ReminderSpec::new("old").into_reminder("r".into(), ReminderSource::Hook, 0);
        let copy = Reminder { body: "new".into(), ..shown(&reminder) };
        assert_eq!(copy.framed.get(Frame::Header, &copy.body).as_ref(), "System reminder:\nnew");
        assert_eq!(reminder, shown(&reminder), "the shown text is no part of the value");
    }
}
