//! Text for addresses and models.

use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

lang::builtins! { "" =>
    /// Makes a text for addresses and names of files: small letters, digits and hyphens. Accents are removed.
    ///
    /// ```harn
    /// slugify("Äpfel & Birnen: 2 für 1!") // => "apfel-birnen-2-fur-1"
    /// ```
    plain "slugify(text: string) -> string" slugify;
    /// Estimates the number of tokens of a text: one for each four bytes. Models count differently.
    ///
    /// ```harn
    /// count_tokens("The quick brown fox") // => 5
    /// ```
    plain "count_tokens(text: string) -> int" count_tokens;
}

/// Methods of strings.
pub(super) mod of_strings {
    use super::{count_tokens, slugify};

    lang::builtins! { "<string>" =>
        /// Makes a text for addresses and names of files: small letters, digits and hyphens. Accents are removed.
        ///
        /// ```harn
        /// "Crème brûlée".slugify() // => "creme-brulee"
        /// ```
        plain "slugify(self: string) -> string" [pure] slugify;
        /// Estimates the number of tokens of the string, as the function `count_tokens` does.
        ///
        /// ```harn
        /// "The quick brown fox".count_tokens() // => 5
        /// ```
        plain "count_tokens(self: string) -> int" [pure] count_tokens;
    }
}

/// Letters that have no accent to remove, and what is written for them.
const LETTERS: [(char, &str); 8] =
    [('ß', "ss"), ('æ', "ae"), ('œ', "oe"), ('ø', "o"), ('ł', "l"), ('đ', "d"), ('ð', "d"), ('þ', "th")];

fn slugify(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    cx.check_size(text.len().checked_mul(2))?;
    let mut slug = String::new();
    let mut gap = false;
    for c in text.chars().flat_map(char::to_lowercase).nfkd().filter(|c| !is_combining_mark(*c)) {
        // An apostrophe joins its word.
        if matches!(c, '\'' | '’') {
            continue;
        }
        if !c.is_alphanumeric() {
            gap = !slug.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            slug.push('-');
        }
        match LETTERS.iter().find(|(letter, _)| *letter == c) {
            Some((_, written)) => slug.push_str(written),
            None => slug.push(c),
        }
    }
    Ok(Value::from(slug))
}

fn count_tokens(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(args::str(args, 0)?.len().div_ceil(4)))
}
