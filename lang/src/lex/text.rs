//! Parts of a string between its quotes.

use logos::Logos;

/// A piece of a string's inside.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// Anything plain.
    #[regex(r#"[^"\\$\n]+"#)]
    #[token("$")]
    Plain,
    /// `\u{…}`
    #[regex(r"\\u\{[^}\n\x22]*\}")]
    Unicode,
    /// `\` and a character.
    #[regex(r"\\[^\n]")]
    Escape,
    /// `\` at the end of a line.
    #[regex(r"\\\r?\n")]
    Join,
    /// `${`
    #[token("${")]
    Interp,
    /// `"`, one or more.
    #[regex("\"+")]
    Quotes,
    /// A line break.
    #[token("\n")]
    LineBreak,
}
