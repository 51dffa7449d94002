//! Reading what a peer may write in a later version of the protocol: words that are unknown here do not make an answer
//! or a stream unreadable. What is known is read strictly first, so that usual documents cost nothing more.

use base::data::Data;

use super::error::is_same_word;
use super::{ShapeError, Version, word};
use crate::{Frame, Role, Task, TaskState};

/// The names of frames in version 1.0, in both spellings, and their kinds in version 0.3.
const MEMBERS: [&str; 6] = ["task", "message", "statusUpdate", "status_update", "artifactUpdate", "artifact_update"];
const KINDS: [&str; 4] = ["task", "message", "status-update", "artifact-update"];

/// The members of a part that say what it is in version 1.0, the kinds of parts in version 0.3, and the members that
/// say nothing about the content.
const PART_MEMBERS: [&str; 4] = ["text", "raw", "url", "data"];
const PART_KINDS: [&str; 3] = ["text", "file", "data"];
const BESIDE: [&str; 4] = ["filename", "mediaType", "media_type", "metadata"];

impl Version {
    /// Reads a task of a peer, like [`Version::read_task`]: an unknown state counts as [`TaskState::Unknown`], an unknown
    /// sender of a message as the agent, and an unknown part is data.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_task_of_peer(self, data: &Data) -> Result<Task, ShapeError> {
        self.tolerant(data, |data| self.read_task(data))
    }

    /// Reads a result of sending a message to a peer, like [`Version::read_frame`], with the rules of
    /// [`Version::read_task_of_peer`].
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_frame_of_peer(self, data: &Data) -> Result<Frame, ShapeError> {
        self.tolerant(data, |data| self.read_frame(data))
    }

    /// Reads an event of a peer's stream, like [`Version::read_frame_of_peer`]. Returns `None` if this kind of event is
    /// unknown.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_event_of_peer(self, data: &Data) -> Result<Option<Frame>, ShapeError> {
        let is_unknown = match self {
            Version::V1_0 => data.as_dict().is_some_and(|it| !it.is_empty() && !has_any(data, &MEMBERS)),
            Version::V0_3 => data.get("kind").as_str().is_some_and(|kind| !KINDS.contains(&kind)),
        };
        if is_unknown { Ok(None) } else { self.read_frame_of_peer(data).map(Some) }
    }

    fn tolerant<T>(self, data: &Data, read: impl Fn(&Data) -> Result<T, ShapeError>) -> Result<T, ShapeError> {
        read(data).or_else(|error| {
            let mut has_changed = false;
            let known = self.known(data, "", &mut has_changed);
            if has_changed { read(&known) } else { Err(error) }
        })
    }

    /// Returns a value with known words in place of unknown ones. `name` is the member that holds it.
    fn known(self, data: &Data, name: &str, has_changed: &mut bool) -> Data {
        match data {
            Data::List(items) if name == "parts" => {
                items.iter().map(|part| self.known_part(part, has_changed)).collect()
            }
            Data::List(items) => items.iter().map(|item| self.known(item, name, has_changed)).collect(),
            Data::Dict(entries) => {
                let value = |key: &str, value: &Data, has_changed: &mut bool| match key {
                    "metadata" => value.clone(),
                    "state" if name == "status" => {
                        self.known_word(value, self.states(), TaskState::Unknown as usize, has_changed)
                    }
                    "role" => self.known_word(value, self.roles(), Role::Agent as usize, has_changed),
                    _ => self.known(value, key, has_changed),
                };
                Data::dict(
                    entries.iter().map(|(key, held)| (key.clone(), value(key, held, has_changed))).collect::<Vec<_>>(),
                )
            }
            plain => plain.clone(),
        }
    }

    /// Returns the word, that of another version as the one of this version, and an unknown one as `other`.
    fn known_word(self, word: &Data, known: &[&'static str], other: usize, has_changed: &mut bool) -> Data {
        let is_number = self == Version::V1_0 && word.as_int().is_some();
        let Some(text) = word.as_str().or_else(|| is_number.then_some("")).filter(|text| !known.contains(text)) else {
            return word.clone();
        };
        if is_number && word::is_number(word, known.len()) {
            return word.clone();
        }
        *has_changed = true;
        let same = known.iter().find(|known| is_same_word(known, text));
        same.or(known.get(other)).map_or(Data::Nil, |word| Data::from(*word))
    }

    fn known_part(self, part: &Data, has_changed: &mut bool) -> Data {
        let is_unknown = match self {
            Version::V1_0 => {
                let is_beside = |key: &str| BESIDE.contains(&key);
                !has_any(part, &PART_MEMBERS) && part.as_dict().is_some_and(|it| it.keys().any(|key| !is_beside(key)))
            }
            Version::V0_3 => part.get("kind").as_str().is_some_and(|kind| !PART_KINDS.contains(&kind)),
        };
        if !is_unknown {
            return part.clone();
        }
        *has_changed = true;
        match self {
            Version::V1_0 => Data::dict([("data", part.clone())]),
            Version::V0_3 => Data::dict([("kind", Data::from("data")), ("data", part.clone())]),
        }
    }

    fn states(self) -> &'static [&'static str] {
        match self {
            Version::V1_0 => &word::STATE_WORDS,
            Version::V0_3 => TaskState::WORDS,
        }
    }

    fn roles(self) -> &'static [&'static str] {
        match self {
            Version::V1_0 => &word::ROLE_WORDS,
            Version::V0_3 => Role::WORDS,
        }
    }
}

/// Returns whether an object has one of these members, and not as null.
fn has_any(data: &Data, names: &[&str]) -> bool {
    names.iter().any(|name| !data.get(name).is_nil())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Content;

    const VERSIONS: [Version; 2] = [Version::V1_0, Version::V0_3];

    fn json(text: &str) -> Data {
        Data::from_json(text).unwrap()
    }

    /// Returns a task with this state, role and part.
    fn task(version: Version, state: &str, role: &str, part: &str) -> Data {
        let kind = if version == Version::V0_3 { r#""kind": "task","# } else { "" };
        json(&format!(
            r#"{{{kind} "id": "t", "contextId": "c", "status": {{"state": {state}}},
                "history": [{{"messageId": "m", "role": {role}, "parts": [{part}], "metadata": {{"state": "odd"}}}}]}}"#
        ))
    }

    #[test]
    fn unknown_words_are_read() {
        for (version, state, role, part) in [
            (
                Version::V1_0,
                r#""TASK_STATE_PAUSED""#,
                r#""ROLE_SYSTEM""#,
                r#"{"video": {"url": "x"}, "mediaType": "a/b"}"#,
            ),
            (Version::V1_0, "42", "7", r#"{"video": {"url": "x"}, "mediaType": "a/b"}"#),
            (Version::V0_3, r#""paused""#, r#""system""#, r#"{"kind": "video", "video": {"url": "x"}}"#),
        ] {
            let data = task(version, state, role, part);
            assert!(version.read_task(&data).is_err(), "it is strict elsewhere");
            let read = version.read_task_of_peer(&data).unwrap();
            assert_eq!(read.status.state, TaskState::Unknown);
            assert!(!read.status.state.is_terminal() && !read.status.state.is_interrupted());
            let message = &read.history[0];
            assert_eq!((message.role, &message.parts[0].content), (Role::Agent, &Content::Data(json(part))));
            assert_eq!(message.metadata, json(r#"{"state": "odd"}"#), "what is free is not touched");
        }
    }

    #[test]
    fn words_of_another_version_keep_their_meaning() {
        let part = [r#"{"text": "x"}"#, r#"{"kind": "text", "text": "x"}"#];
        for (version, part, state, role) in [
            (Version::V1_0, part[0], r#""completed""#, r#""user""#),
            (Version::V0_3, part[1], r#""TASK_STATE_COMPLETED""#, r#""ROLE_USER""#),
        ] {
            let read = version.read_task_of_peer(&task(version, state, role, part)).unwrap();
            assert_eq!((read.status.state, read.history[0].role), (TaskState::Completed, Role::User));
        }
    }

    #[test]
    fn unknown_events_are_none_and_known_ones_are_read() {
        for (version, text) in [
            (Version::V1_0, r#"{"taskArchived": {"taskId": "t"}}"#),
            (Version::V1_0, r#"{"task": null, "heartbeat": {}}"#),
            (Version::V0_3, r#"{"kind": "heartbeat"}"#),
            (Version::V0_3, r#"{"kind": "status-updated", "taskId": "t"}"#),
        ] {
            assert_eq!(version.read_event_of_peer(&json(text)), Ok(None), "{text}");
            assert!(version.read_frame_of_peer(&json(text)).is_err(), "a result is one of the known");
        }
        let update = r#"{"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_PAUSED"}}}"#;
        let Ok(Some(Frame::Status(update))) = Version::V1_0.read_event_of_peer(&json(update)) else { panic!() };
        assert_eq!(update.status.state, TaskState::Unknown);
    }

    #[test]
    fn what_is_broken_stays_an_error() {
        for version in VERSIONS {
            for text in ["null", "[]", "{}", "7"] {
                assert!(version.read_event_of_peer(&json(text)).is_err(), "{text}");
            }
            for (state, part) in [("true", "{}"), (r#"["working"]"#, "{}"), (r#""odd""#, "7")] {
                assert!(version.read_task_of_peer(&task(version, state, r#""x""#, part)).is_err(), "{state} {part}");
            }
        }
    }
}
