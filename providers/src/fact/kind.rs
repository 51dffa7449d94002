//! Kinds of facts and of evidence. Scripts write them in any case: `decision`, `Decision`, `FileRange`, `file-range`.

use std::fmt;

use base::data::Data;

use super::{FactCode, FactError};

macro_rules! kinds {
    ($(#[$meta:meta])* $name:ident, $what:literal { $( $(#[$doc:meta])* $variant:ident = $word:literal, )+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $( $(#[$doc])* $variant, )+ }

        impl $name {
            /// The words, as they are stored.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the word as it is stored.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $( $name::$variant => $word, )+ }
            }

            /// Reads it in any case.
            ///
            /// # Errors
            /// Fails if the value is not a string, or not one of the words; suggests the nearest
            /// one.
            pub fn read(data: &Data, field: &str) -> Result<$name, FactError> {
                let Some(word) = data.as_str() else { return Err(FactError::wrong(field, "a string", data)) };
                let plain = flat(word);
                $( if plain == flat($word) { return Ok($name::$variant); } )+
                Err(FactError::unknown(FactCode::Kind, field, $what, word, $name::WORDS))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

kinds! {
    /// The kind of a fact's claim.
    FactKind, "kind of fact" {
        /// An observation.
        Observation = "observation",
        /// An assertion.
        Claim = "claim",
        /// A hypothesis.
        Hypothesis = "hypothesis",
        /// A decision.
        Decision = "decision",
        /// A constraint.
        Constraint = "constraint",
    }
}

kinds! {
    /// The kind of object that a piece of evidence refers to.
    EvidenceKind, "kind of evidence" {
        /// A trace or a part of one.
        TraceRef = "trace_ref",
        /// Lines of a file.
        FileRange = "file_range",
        /// The output of a tool.
        ToolOutput = "tool_output",
        /// The words of a person.
        UserInput = "user_input",
    }
}

/// Letters and digits in lower case: so all ways of writing several words as one are the same.
fn flat(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Reads a filter by kinds: nil for all, one, or a list.
///
/// # Errors
/// Fails on an unknown kind, or a value that is neither a word nor a list.
pub fn kinds(data: &Data, field: &str) -> Result<Vec<FactKind>, FactError> {
    match data {
        Data::Nil => Ok(Vec::new()),
        Data::List(items) => {
            items.iter().enumerate().map(|(i, item)| FactKind::read(item, &format!("{field}.{i}"))).collect()
        }
        one => Ok(vec![FactKind::read(one, field)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_in_any_case() {
        for word in ["decision", "Decision", "DECISION"] {
            assert_eq!(FactKind::read(&word.into(), "kind").unwrap(), FactKind::Decision, "{word}");
        }
        for word in ["file_range", "FileRange", "fileRange", "file-range", "FILE_RANGE"] {
            assert_eq!(EvidenceKind::read(&word.into(), "kind").unwrap(), EvidenceKind::FileRange, "{word}");
        }
        let error = FactKind::read(&"descision".into(), "kind").unwrap_err();
        assert_eq!((error.code, error.suggestion.as_deref()), (FactCode::Kind, Some("decision")));
        assert!(
            FactKind::read(&"rumour".into(), "kind").unwrap_err().help.unwrap().starts_with("use one of observation")
        );
        assert_eq!(FactKind::read(&Data::from(3), "kind").unwrap_err().code, FactCode::Shape);
    }

    #[test]
    fn a_filter_is_one_kind_or_several() {
        assert!(kinds(&Data::Nil, "kind").unwrap().is_empty());
        assert_eq!(kinds(&"Claim".into(), "kind").unwrap(), [FactKind::Claim]);
        let list = Data::list(["claim".into(), "Constrant".into()]);
        assert_eq!(kinds(&list, "kind").unwrap_err().field, "kind.1");
    }
}
