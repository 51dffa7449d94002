//! [`Spelling`]: the differences between the versions, in what is read and in what is written.

use base::data::{Data, Entries};
use serde::de::DeserializeOwned;

use super::fields::Fields;
use crate::{Configuration, Part, Role, TaskState};

/// The differences between the versions.
pub(super) trait Spelling {
    type Part: DeserializeOwned + Into<Part>;
    type State: DeserializeOwned + Into<TaskState>;
    type Role: DeserializeOwned + Into<Role>;
    /// The time in a status.
    type StatusTime: DeserializeOwned + Into<Option<u64>>;
    type Configuration: DeserializeOwned + Into<Configuration>;

    /// Returns whether a member of an object does not count because of the others.
    fn ignores(name: &str, entries: &Entries) -> bool;

    fn part(part: &Part) -> Data;
    fn state(state: TaskState) -> Data;
    fn role(role: Role) -> Data;
    fn configuration(configuration: &Configuration) -> Fields;
    /// Returns an object that says what it is, if the version has it so.
    fn of_kind(kind: &'static str) -> Fields;
}
