//! [`Id`]: the id of a request, kept as it was written, so that a response repeats it exactly.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::envelope::{Problem, kind};

/// The id of a request, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(Box<str>);

impl From<i64> for Id {
    fn from(number: i64) -> Id {
        Id(number.to_string().into())
    }
}

/// The ids that a wire accepts beside strings and null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRule {
    /// Any number.
    Numbers,
    /// Integers of 64 bits.
    Integers,
}

impl IdRule {
    fn wanted(self) -> &'static str {
        match self {
            IdRule::Numbers => "a string, a number or null",
            IdRule::Integers => "a string, an integer or null",
        }
    }

    fn accepts(self, number: &str) -> bool {
        match self {
            IdRule::Numbers => true,
            // JSON reads `-0` as a number with a fraction.
            IdRule::Integers => number != "-0" && number.parse::<i64>().is_ok(),
        }
    }
}

impl Id {
    /// Returns the id of a response to a request whose id could not be read.
    #[must_use]
    pub fn null() -> Id {
        Id("null".into())
    }

    /// Returns the id of an own request.
    #[must_use]
    pub fn text(text: &str) -> Id {
        Id(serde_json::Value::from(text).to_string().into())
    }

    /// Returns the id that a member of other parameters names, such as a cancelled request.
    #[must_use]
    pub fn of_json(value: &serde_json::Value) -> Option<Id> {
        (value.is_string() || value.is_i64() || value.is_u64()).then(|| Id(value.to_string().into()))
    }

    /// Returns the id as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// Reads an id of at most `max_len` bytes.
    ///
    /// # Errors
    /// The value may not name a request.
    pub(crate) fn read(written: &RawValue, rule: IdRule, max_len: usize) -> Result<Id, Problem> {
        let text = written.get();
        let wrong = |problem| Err(Problem::Member { name: "id", problem });
        if text.len() > max_len {
            return wrong(format!("has {} bytes; at most {max_len} are allowed", text.len()));
        }
        let is_good = match text.as_bytes().first() {
            Some(b'{' | b'[' | b't' | b'f') => false,
            // The parser of raw values lets lone surrogates pass, and a response that repeats one is invalid JSON.
            Some(b'"') => match serde_json::from_str::<Cow<'_, str>>(text) {
                Ok(_) => true,
                Err(error) => return Err(Problem::InvalidId { message: error.to_string() }),
            },
            Some(b'n') => true,
            _ => rule.accepts(text),
        };
        if is_good { Ok(Id(text.into())) } else { wrong(format!("must be {}, not {}", rule.wanted(), kind(text))) }
    }
}
