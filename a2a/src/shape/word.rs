//! States and roles: `input-required` in 0.3, `TASK_STATE_INPUT_REQUIRED` in 1.0.

use std::sync::{Arc, LazyLock};

use runtime::data::Data;

use super::ShapeError;
use super::key::Key;
use super::object::Object;
use crate::{Role, TaskState};

/// The states in the order of [`TaskState::ALL`], each with its number.
const STATES: [(&str, i64); 9] = [
    ("TASK_STATE_SUBMITTED", 1),
    ("TASK_STATE_WORKING", 2),
    ("TASK_STATE_INPUT_REQUIRED", 6),
    ("TASK_STATE_AUTH_REQUIRED", 8),
    ("TASK_STATE_COMPLETED", 3),
    ("TASK_STATE_CANCELED", 5),
    ("TASK_STATE_FAILED", 4),
    ("TASK_STATE_REJECTED", 7),
    ("TASK_STATE_UNSPECIFIED", 0),
];

const STATE_WORDS: [&str; 9] = {
    let mut words = [""; 9];
    let mut i = 0;
    while i < words.len() {
        words[i] = STATES[i].0;
        i += 1;
    }
    words
};

/// The roles in the order of [`Role::ALL`].
const ROLES: [&str; 2] = ["ROLE_USER", "ROLE_AGENT"];

type Words = LazyLock<Vec<Arc<str>>>;

fn shared(words: &[&str]) -> Vec<Arc<str>> {
    words.iter().map(|word| Arc::from(*word)).collect()
}

fn data(words: &Words, index: usize) -> Data {
    words.get(index).map_or(Data::Nil, Data::from)
}

/// Writes a state in capitals.
pub(super) fn loud_state(state: TaskState) -> Data {
    static WORDS: Words = LazyLock::new(|| shared(&STATE_WORDS));
    data(&WORDS, state as usize)
}

/// Writes a state in small letters.
pub(super) fn quiet_state(state: TaskState) -> Data {
    static WORDS: Words = LazyLock::new(|| shared(TaskState::WORDS));
    data(&WORDS, state as usize)
}

/// Writes a role in capitals.
pub(super) fn loud_role(role: Role) -> Data {
    static WORDS: Words = LazyLock::new(|| shared(&ROLES));
    data(&WORDS, role as usize)
}

/// Writes a role in small letters.
pub(super) fn quiet_role(role: Role) -> Data {
    static WORDS: Words = LazyLock::new(|| shared(Role::WORDS));
    data(&WORDS, role as usize)
}

/// Reads a state in capitals, or its number.
pub(super) fn read_loud_state(object: &Object<'_>, key: &Key) -> Result<Option<TaskState>, ShapeError> {
    object.word(key, &STATE_WORDS, |data| {
        let is_meant = |(word, number): &(&str, i64)| data.as_str() == Some(word) || data.as_int() == Some(*number);
        let index = STATES.iter().position(is_meant)?;
        TaskState::ALL.get(index).copied()
    })
}

/// Reads a state in small letters.
pub(super) fn read_quiet_state(object: &Object<'_>, key: &Key) -> Result<Option<TaskState>, ShapeError> {
    object.word(key, TaskState::WORDS, |data| data.as_str()?.parse().ok())
}

/// Reads a role in capitals, or its number.
pub(super) fn read_loud_role(object: &Object<'_>, key: &Key) -> Result<Option<Role>, ShapeError> {
    object.word(key, &ROLES, |data| match (data.as_str(), data.as_int()) {
        (Some("ROLE_USER"), _) | (_, Some(1)) => Some(Role::User),
        (Some("ROLE_AGENT"), _) | (_, Some(2)) => Some(Role::Agent),
        _ => None,
    })
}

/// Reads a role in small letters.
pub(super) fn read_quiet_role(object: &Object<'_>, key: &Key) -> Result<Option<Role>, ShapeError> {
    object.word(key, Role::WORDS, |data| data.as_str()?.parse().ok())
}
