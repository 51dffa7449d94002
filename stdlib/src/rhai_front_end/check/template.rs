//! `"turn ${n}"`: in double quotes nothing is put in.

use super::visitor::TreeVisitor;
use crate::codes::RhaiCode;
use lang::diagnostic::Diagnostic;
use rhai::Position;

/// Warns of a string in double quotes that names a variable in scope as a template would.
pub(super) fn check(walk: &mut TreeVisitor<'_>, text: &str, at: Position) -> Option<Diagnostic> {
    let named = names(text).find(|name| walk.scopes.find(name).is_some())?.to_owned();
    let span = walk.span(at);
    let written = walk.source.slice(span);
    let inner = written.strip_prefix('"')?.strip_suffix('"')?;
    let found = Diagnostic::new(
        RhaiCode::Template,
        format!(
            "`${{{named}}}` is not interpolated in a string in double \
            quotes"
        ),
    )
    .label(walk.source, span, "printed as written")
    .help("use backticks for a template string");
    let plain = !inner.contains(['`', '\\']);
    Some(if plain { found.fix(span, format!("`{inner}`")) } else { found })
}

/// The names in `${name}`, `${name.…}`, `${name[…]}`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let closed = rest.contains('}') && matches!(&rest[end..=end], "}" | "." | "[");
        (end > 0 && closed).then(|| &rest[..end])
    })
}
