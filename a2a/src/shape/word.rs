//! States and roles: `input-required` in 0.3, `TASK_STATE_INPUT_REQUIRED` in 1.0.

use std::sync::{Arc, LazyLock};

use base::data::Data;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

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

/// The roles in the order of [`Role::ALL`], each with its number.
const ROLES: [(&str, i64); 2] = [("ROLE_USER", 1), ("ROLE_AGENT", 2)];

pub(super) const STATE_WORDS: [&str; 9] = words(STATES);
pub(super) const ROLE_WORDS: [&str; 2] = words(ROLES);

const fn words<const N: usize>(rows: [(&'static str, i64); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = rows[i].0;
        i += 1;
    }
    words
}

/// A state in capitals, or its number. The JSON of protocol buffers omits it if it is unspecified.
pub(super) struct CapitalState(TaskState);

impl<'de> Deserialize<'de> for CapitalState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CapitalState, D::Error> {
        let Some(word) = Option::<Data>::deserialize(deserializer)? else {
            return Ok(CapitalState(TaskState::Unknown));
        };
        let state = index(&word, &STATES).and_then(|index| TaskState::ALL.get(index));
        state.copied().map(CapitalState).ok_or_else(|| D::Error::unknown_variant("", &STATE_WORDS))
    }
}

impl From<CapitalState> for TaskState {
    fn from(state: CapitalState) -> TaskState {
        state.0
    }
}

/// A role in capitals, or its number.
pub(super) struct CapitalRole(Role);

impl<'de> Deserialize<'de> for CapitalRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CapitalRole, D::Error> {
        let word = Data::deserialize(deserializer)?;
        let role = index(&word, &ROLES).and_then(|index| Role::ALL.get(index));
        role.copied().map(CapitalRole).ok_or_else(|| D::Error::unknown_variant("", &ROLE_WORDS))
    }
}

impl From<CapitalRole> for Role {
    fn from(role: CapitalRole) -> Role {
        role.0
    }
}

/// Returns whether a word is the number of one of the first `count` states or roles.
pub(super) fn is_number(word: &Data, count: usize) -> bool {
    let rows: &[(&str, i64)] = if count == ROLES.len() { &ROLES } else { &STATES };
    rows.iter().any(|(_, number)| word.as_int() == Some(*number))
}

fn index(word: &Data, rows: &[(&str, i64)]) -> Option<usize> {
    rows.iter().position(|(text, number)| word.as_str() == Some(text) || word.as_int() == Some(*number))
}

type Words = LazyLock<Vec<Arc<str>>>;

fn shared(words: &[&str]) -> Vec<Arc<str>> {
    words.iter().map(|word| Arc::from(*word)).collect()
}

fn data(words: &Words, index: usize) -> Data {
    words.get(index).map_or(Data::Nil, Data::from)
}

/// Writes a state in capitals.
pub(super) fn capital_state(state: TaskState) -> Data {
    static WORDS: Words = LazyLock::new(|| shared(&STATE_WORDS));
    data(&WORDS, state as usize)
}

/// Writes a state in small letters.
pub(super) fn small_state(state: TaskState) -> Data {
    static WORDS: Words = LazyLock::new(|| shared(TaskState::WORDS));
    data(&WORDS, state as usize)
}

/// Writes a role in capitals.
pub(super) fn capital_role(role: Role) -> Data {
    static WORDS: Words = LazyLock::new(|| shared(&ROLE_WORDS));
    data(&WORDS, role as usize)
}

/// Writes a role in small letters.
pub(super) fn small_role(role: Role) -> Data {
    static WORDS: Words = LazyLock::new(|| shared(Role::WORDS));
    data(&WORDS, role as usize)
}
