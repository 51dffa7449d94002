//! `words!`: an enum of words. One row generates `Display`, `FromStr`, serde and the list of all words, so a state is
//! spelled the same in code, scripts, logs and wire formats.

use std::borrow::Cow;

/// A word that is not one of those expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {expected}, got {got:?}")]
pub struct UnknownWord {
    /// The given word.
    pub got: String,
    /// All words, as a phrase.
    pub expected: String,
    /// The nearest of them, if one is near.
    pub suggestion: Option<&'static str>,
}

impl UnknownWord {
    /// Creates the error for `got`, which is not one of `all`.
    #[must_use]
    pub fn new(got: &str, all: &[&'static str]) -> UnknownWord {
        let expected = all.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
        UnknownWord { got: got.to_owned(), expected, suggestion: nearest(got, all.iter().copied()) }
    }
}

/// Returns the candidate that is most similar to `got`.
pub fn nearest<'a>(got: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_in(got, &mut candidates.into_iter())
}

fn nearest_in<'a>(got: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    // One letter is near to every other, and comparing very long texts takes too long.
    if got.chars().nth(1).is_none() || got.len() > 256 {
        return None;
    }
    let got = got.to_lowercase();
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&got, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns a name in snake_case: `dedupeKey` as `dedupe_key`. A name already in snake_case is unchanged.
#[must_use]
pub fn snake_case(name: &str) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    Cow::Owned(out)
}

/// Returns a name in camelCase: `dedupe_key` as `dedupeKey`. A name already in camelCase is unchanged.
#[must_use]
pub fn camel_case(name: &str) -> Cow<'_, str> {
    if !name.contains('_') {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut is_after_underscore = false;
    for c in name.chars() {
        match c {
            '_' => is_after_underscore = true,
            c => {
                out.push(if is_after_underscore && !out.is_empty() { c.to_ascii_uppercase() } else { c });
                is_after_underscore = false;
            }
        }
    }
    Cow::Owned(out)
}

/// Returns a type without the bar at its end.
#[doc(hidden)]
#[must_use]
pub const fn without_last_bar(ty: &'static str) -> &'static str {
    ty.split_at(ty.len() - " | ".len()).0
}

/// Defines an enum of words; [`mod@crate::words`] describes the generated items.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$word_meta:meta])* $variant:ident = $word:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $( $(#[$word_meta])* #[serde(rename = $word)] $variant, )+ }

        impl $name {
            /// All of them, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The words.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
            /// The words as a type of a script: `"a" | "b"`.
            pub const TYPE: &'static str = $crate::words::without_last_bar(concat!($("\"", $word, "\" | "),+));

            /// Returns the written form.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $( $name::$variant => $word, )+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<$name, $crate::words::UnknownWord> {
                match text {
                    $( $word => Ok($name::$variant), )+
                    other => Err($crate::words::UnknownWord::new(other, $name::WORDS)),
                }
            }
        }
    };
}
pub use words;
