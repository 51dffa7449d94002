//! [`ServedEntry`]: a public function of a script, which a host calls by itself.

use super::super::{Engine, RunOptions, errors};
use crate::codes::ServedCode;
use crate::convert::to_data_lossy;
use crate::hosting::{ServedEntry, ServedKind};
use crate::rhai_front_end::is_rhai;
use base::data::Data;
use lang::compile::{CompileMode, PublicEntry, PublicKind};
use lang::diagnostic::Diagnostic;
use lang::script::Options;
use lang::source::SourceRef;

/// A call of a public function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServedCall {
    /// The place of the function in the list that [`check_entries`] returns.
    pub entry: usize,
    /// The arguments: a dict.
    pub arguments: Data,
}

/// Returns the options for loading a script whose public functions are served.
pub(super) fn options() -> Options<'static> {
    Options { mode: CompileMode { public: true, ..CompileMode::default() }, ..Options::default() }
}

/// Returns the public functions of a script, after everything that `check` finds wrong with it.
///
/// # Errors
/// Returns the problems with the script.
pub fn check_entries(source: &SourceRef, run: RunOptions) -> Result<Vec<ServedEntry>, Vec<Diagnostic>> {
    let engine = Engine::new(run);
    let found = errors(engine.check(source));
    if !found.is_empty() {
        return Err(found);
    }
    let entries: Vec<ServedEntry> = if is_rhai(source) {
        engine.front_end().parse(source)?.public_entries()?.into_iter().map(|entry| entry.served).collect()
    } else {
        let unit = engine.load(source, options()).unit;
        unit.map(|unit| unit.public.iter().map(of_unit).collect()).unwrap_or_default()
    };
    if entries.is_empty() {
        let message = format!("`{}` has no tools, resources or prompts", source.name());
        let help = match is_rhai(source) {
            true => "describe a function: `const TOOLS = #{ name: #{ description: \"…\", parameters: #{} } };`",
            false => {
                "make a pipeline public: `pub pipeline name(…) { … }`; or put `@resource(\"…\")` or `@prompt` before a `fn`"
            }
        };
        return Err(vec![Diagnostic::new(ServedCode::NothingPublic, message).help(help)]);
    }
    Ok(entries)
}

fn of_unit(entry: &PublicEntry) -> ServedEntry {
    ServedEntry {
        kind: match &entry.kind {
            PublicKind::Tool => ServedKind::Tool,
            PublicKind::Prompt => ServedKind::Prompt,
            PublicKind::Resource { uri, mime_type } => {
                ServedKind::Resource { uri: uri.as_str().into(), mime_type: mime_type.as_deref().map(Into::into) }
            }
        },
        name: entry.name.as_str().into(),
        description: entry.description.as_str().into(),
        parameters: to_data_lossy(&entry.parameters),
        returns: entry.returns.as_ref().map(to_data_lossy).unwrap_or_default(),
    }
}
