//! The formatter of scripts: one style, and no choice but the width of a line.
//!
//! A straight road: the parser's tree and tokens are read together by [`tree`], which prints the tokens in their order into a
//! [`document`]; the [`layout`] makes text of that. Since only tokens are printed, a script keeps all of them but line breaks,
//! separators, commas behind a last element and parentheses that change nothing.

mod cursor;
mod document;
mod layout;
mod tree;

use lang::diagnostic::{Diagnostic, Severity};
use lang::source::{Source, SourceRef};

/// The width of a line if nothing else is asked for.
pub const WIDTH: u32 = 100;

/// Formats a script whose lines should not be longer than `width` columns.
///
/// # Errors
/// The syntax errors of the script.
pub fn format(source: &SourceRef, width: u32) -> Result<String, Vec<Diagnostic>> {
    let unix = source.text().contains('\r').then(|| Source::new(source.name(), source.text().replace("\r\n", "\n")));
    let source = unix.as_ref().unwrap_or(source);
    let (parsed, tokens) = lang::parse::parse_with_tokens(source);
    if !parsed.is_ok() {
        return Err(parsed.diagnostics.into_iter().filter(|found| found.severity == Severity::Error).collect());
    }
    Ok(tree::print(source.text(), &parsed.module, &tokens, &parsed.comments, width))
}
