//! Detection of a model that repeats the same calls and gets the same results each time.

use std::hash::{BuildHasher, Hash, Hasher};

use base::data::Data;
use foldhash::fast::{FixedState, FoldHasher};

use crate::hooks::event::ToolResult;
use crate::message::ToolCall;

/// Number of consecutive repetitions from which on the model is told.
const TOLD_FROM: u32 = 3;

/// For each call of the last turn, a hash of the call with its result and the number of consecutive repetitions.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Repeats(Vec<(u64, u32)>);

impl Repeats {
    /// Records the n-th call of a turn. If the call has been repeated too often, the returned result says so.
    pub(super) fn noticed(
        &mut self,
        index: usize,
        call: &ToolCall,
        result: ToolResult,
        is_rejected: bool,
    ) -> ToolResult {
        let print = fingerprint(call, &result);
        let times = match self.0.get_mut(index) {
            Some((known, times)) if *known == print => {
                *times += 1;
                *times
            }
            Some(slot) => {
                *slot = (print, 1);
                1
            }
            None => {
                self.0.push((print, 1));
                1
            }
        };
        // The result of a call that did not run already says why.
        if times < TOLD_FROM || is_rejected {
            return result;
        }
        let text = format!(
            "{}\n[this call has returned the same result {times} times in a row; try something else, or explain \
            what blocks you]",
            result.text
        );
        ToolResult { text: text.into(), ..result }
    }

    /// Records that the turn had `calls` calls.
    pub(super) fn truncate(&mut self, calls: usize) {
        self.0.truncate(calls);
    }

    /// Returns the number of times in a row that the whole last turn was repeated.
    pub(super) fn in_a_row(&self) -> u32 {
        self.0.iter().map(|(_, times)| *times).min().unwrap_or(0)
    }
}

/// Returns half of a hash, because numbers in a snapshot are signed. The seed is fixed, so that a loop resumed in
/// another process recognises its calls; a collision costs no more than a hint.
fn fingerprint(call: &ToolCall, result: &ToolResult) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    call.name.hash(&mut hasher);
    hash(&call.arguments, &mut hasher);
    result.text.hash(&mut hasher);
    result.ok.hash(&mut hasher);
    hasher.finish() >> 1
}

fn hash(data: &Data, hasher: &mut FoldHasher<'_>) {
    std::mem::discriminant(data).hash(hasher);
    match data {
        Data::Nil => {}
        Data::Bool(value) => value.hash(hasher),
        Data::Int(value) => value.hash(hasher),
        Data::Float(value) => value.to_bits().hash(hasher),
        Data::Str(text) => text.hash(hasher),
        Data::List(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| hash(item, hasher));
        }
        Data::Dict(entries) => {
            entries.len().hash(hasher);
            for (key, value) in entries.iter() {
                key.hash(hasher);
                hash(value, hasher);
            }
        }
    }
}
