//! Options of a builtin whose dict has few keys, which its signature lists.

use lang::builtins::args;
use lang::diagnostic::nearest;
use lang::value::{Dict, Value, article};
use lang::vm::{Raise, RunCode};

/// The dict of options of a call.
pub(super) struct ReadOptions<'a> {
    dict: Option<&'a Dict>,
    argument: usize,
}

impl<'a> ReadOptions<'a> {
    /// Reads the options in an argument, which may be absent.
    ///
    /// # Errors
    /// There is another key than the known ones.
    pub(super) fn of(args: &'a [Value], argument: usize, known: &[&str]) -> Result<Self, Box<Raise>> {
        let dict = args::opt_dict(args, argument)?;
        let mut keys = dict.iter().flat_map(|dict| dict.iter()).map(|(key, _)| key);
        if let Some(unknown) = keys.find(|key| !known.contains(&key.as_str())) {
            let raise =
                Raise::error(RunCode::Value, format!("unknown option `{}`", short(unknown))).about(argument, "");
            return Err(match nearest(unknown, known.iter().copied()) {
                Some(near) => raise.help(format!("did you mean `{near}`?")),
                None => raise.help(format!("use `{}`", known.join("`, `"))),
            });
        }
        Ok(Self { dict, argument })
    }

    /// Returns an error about the options.
    pub(super) fn wrong(&self, message: impl Into<String>) -> Box<Raise> {
        Raise::error(RunCode::Value, message).about(self.argument, "")
    }

    fn mismatch(&self, key: &str, expected: &str, found: &Value) -> Box<Raise> {
        let message = format!("`{key}` must be {expected}, found {}", article(found.type_name()));
        Raise::error(RunCode::Type, message).about(self.argument, format!("invalid `{key}`"))
    }

    /// Returns the value of a key, unless it is nil.
    pub(super) fn value(&self, key: &str) -> Option<&'a Value> {
        self.dict.and_then(|dict| dict.get_str(key)).filter(|value| !value.is_nil())
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, Box<Raise>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Bool(set)) => Ok(Some(*set)),
            Some(other) => Err(self.mismatch(key, "a bool", other)),
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, Box<Raise>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Str(text)) => Ok(Some(text)),
            Some(other) => Err(self.mismatch(key, "a string", other)),
        }
    }

    /// Returns an int that is not negative, such as a duration.
    pub(super) fn count(&self, key: &str) -> Result<Option<u64>, Box<Raise>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Int(n)) if *n >= 0 => Ok(Some(n.unsigned_abs())),
            Some(other) => Err(self.mismatch(key, "an int of at least 0", other)),
        }
    }

    pub(super) fn entries(&self, key: &str) -> Result<Option<&'a Dict>, Box<Raise>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Dict(entries)) => Ok(Some(&entries.dict)),
            Some(other) => Err(self.mismatch(key, "a dict", other)),
        }
    }
}

fn short(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(at, _)| &text[..at])
}
