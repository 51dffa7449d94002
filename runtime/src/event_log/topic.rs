//! [`Topic`]: the topics of the records that the runtime and its servers write.

use std::sync::{Arc, LazyLock};

use base::words::words;

words! {
    /// A topic that scripts cannot write to. Records of scripts have any other topics.
    pub enum Topic {
        /// Lives of single reminders.
        Reminder = "transcript.reminder.lifecycle",
        /// Turns, which affect all reminders at once. It is separate, so that readers of the reminders' own topic see
        /// nothing else.
        Turn = "transcript.turn",
        /// The durable messages of a session.
        Message = "session.message",
        /// The remaining state of a conversation.
        State = "session.state",
        /// Items that hosts inject.
        Injection = "session.injection",
        /// The activity of loops, model calls and tool calls, from which traces are made.
        Activity = "session.activity",
        /// The answers to permission requests.
        Permission = "session.permission",
        /// The lifecycle of a served session.
        Life = "session.life",
        /// The events that a client of a session saw.
        Shown = "session.shown",
        /// The lifecycle of an A2A task.
        Task = "a2a.task",
        /// The content of an A2A task.
        TaskContent = "a2a.content",
        /// The changes of a hub's state.
        Hub = "hub.change",
        /// Remote channels: enrolment, what they did and were refused, and who decided about permissions.
        Channel = "channel",
    }
}

impl Topic {
    /// The beginnings of topics that scripts cannot write to.
    pub const RESERVED: [&'static str; 5] = ["transcript.", "session.", "a2a.", "hub.", "channel."];

    /// Returns the beginning that reserves a topic for the runtime; `None` if scripts can write to it.
    #[must_use]
    pub fn reservation(name: &str) -> Option<&'static str> {
        Topic::RESERVED.into_iter().find(|reserved| {
            name.starts_with(reserved) || reserved.strip_suffix('.') == Some(name) && Topic::named(name).is_some()
        })
    }

    /// Returns the topic with this name; `None` if scripts chose it.
    #[must_use]
    pub fn named(name: &str) -> Option<Topic> {
        Topic::ALL.iter().copied().find(|topic| topic.as_str() == name)
    }

    /// Returns the topic of records of a kind, and the last word of the kind.
    #[must_use]
    pub fn of_kind(kind: &str) -> Option<(Topic, &str)> {
        let (prefix, word) = kind.rsplit_once('.')?;
        Some((Topic::ALL.iter().copied().find(|topic| topic.kind_prefix() == prefix)?, word))
    }

    /// Returns the last word of a kind of this topic; `None` for kinds of other topics.
    #[must_use]
    pub fn word_of(self, kind: &str) -> Option<&str> {
        kind.strip_prefix(self.kind_prefix())?.strip_prefix('.')
    }

    /// Returns the kind of records of this topic with a word.
    #[must_use]
    pub fn kind(self, word: &str) -> String {
        format!("{}.{word}", self.kind_prefix())
    }

    /// Returns its name, shared by all records.
    #[must_use]
    pub fn shared(self) -> &'static Arc<str> {
        static NAMES: LazyLock<[Arc<str>; Topic::ALL.len()]> =
            LazyLock::new(|| std::array::from_fn(|index| Topic::ALL[index].as_str().into()));
        &NAMES[self as usize]
    }

    /// Returns the kinds of its records without their last word.
    fn kind_prefix(self) -> &'static str {
        if self == Topic::Reminder { "transcript.reminder" } else { self.as_str() }
    }
}

impl From<Topic> for Arc<str> {
    fn from(topic: Topic) -> Arc<str> {
        topic.shared().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_is_reserved_and_found_by_its_name_and_its_kinds() {
        for topic in Topic::ALL.iter().copied() {
            assert!(Topic::reservation(topic.as_str()).is_some(), "{topic}");
            assert_eq!(Topic::named(topic.as_str()), Some(topic));
            assert_eq!(&**topic.shared(), topic.as_str());
            let kind = topic.kind("word");
            assert_eq!(Topic::of_kind(&kind), Some((topic, "word")));
            assert_eq!(topic.word_of(&kind), Some("word"));
        }
        assert_eq!(Topic::Reminder.kind("fired"), "transcript.reminder.fired");
        assert_eq!((Topic::named("deploys"), Topic::of_kind("deploys"), Topic::of_kind("a.b")), (None, None, None));
        assert_eq!(Topic::Turn.word_of("transcript.turning"), None);
        assert_eq!(Topic::reservation("channel"), Some("channel."));
        assert_eq!([Topic::reservation("channels"), Topic::reservation("session")], [None, None]);
    }
}
