//! A transcript as a value: it reads like a dict and is shared, not copied.

use super::to_value;
use lang::value::{HostBox, HostObject, Str, Value};
use runtime::transcript::Transcript;
use std::any::Any;

/// A transcript.
pub(crate) struct TranscriptValue {
    pub(crate) transcript: Transcript,
}

impl TranscriptValue {
    /// Returns the transcript as a value.
    pub(crate) fn value(transcript: Transcript) -> Value {
        HostBox::value(Self { transcript })
    }
}

impl HostObject for TranscriptValue {
    fn type_name(&self) -> &'static str {
        "transcript"
    }

    fn get(&self, key: &str) -> Option<Value> {
        self.transcript.keys().contains(&key).then(|| to_value(&self.transcript.get(key)))
    }

    fn size(&self) -> Option<usize> {
        Some(self.transcript.keys().len())
    }

    fn keys(&self) -> Vec<Str> {
        self.transcript.keys().into_iter().map(Str::new).collect()
    }

    fn to_value(&self) -> Option<Value> {
        Some(to_value(&self.transcript.to_data()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
