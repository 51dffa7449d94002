//! The messages about imports of files.

use super::ModuleCode;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceRef, Span};

/// Returns the error for an import whose file does not exist.
#[must_use]
pub fn missing(path: &str) -> Diagnostic {
    Diagnostic::new(ModuleCode::Missing, format!("file `{path}` not found"))
}

/// Returns the path of an import, in its quotes, with another name of the file.
pub(super) fn renamed_file(quoted: &str, name: &str) -> Option<String> {
    let path = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let (folder, file) = path.rsplit_once('/').map_or(("", path), |(folder, _)| path.split_at(folder.len() + 1));
    let ending = if file.ends_with(".harn") { ".harn" } else { "" };
    Some(format!("\"{folder}{name}{ending}\""))
}

/// Returns the error for an import that the host does not allow.
#[must_use]
pub fn refused(path: &str, why: &str) -> Diagnostic {
    Diagnostic::new(ModuleCode::Refused, format!("cannot import `{path}`: {why}"))
}

pub(super) fn too_many_files(source: &SourceRef, import: Span, most: usize) -> Diagnostic {
    let message = format!("the script imports more than {most} files");
    Diagnostic::new(ModuleCode::TooMany, message).label(source, import, "this import exceeds the limit")
}

/// Returns the error for a file that imports itself.
#[must_use]
pub fn imports_itself(source: &SourceRef, import: Span) -> Diagnostic {
    Diagnostic::new(ModuleCode::Cycle, format!("`{}` imports itself", source.name()))
        .label(source, import, "this path names the same file")
        .help("remove the import: a file can use its own names")
}

/// Returns the error for an import that leads back to the file whose name is the first of `names`. `between` are the imports on
/// the way to it.
#[must_use]
pub fn cycle<'a>(
    source: &SourceRef,
    import: Span,
    names: &[&str],
    between: impl Iterator<Item = (&'a SourceRef, Span)>,
) -> Diagnostic {
    let first = names.first().copied().unwrap_or_default();
    let d = Diagnostic::new(ModuleCode::Cycle, format!("import cycle: {}", names.join(" → "))).label(
        source,
        import,
        format!("leads back to `{first}`"),
    );
    between
        .fold(d, |d, (source, span)| d.label(source, span, "part of the cycle"))
        .help("move the shared code into a separate file that imports none of these")
}
