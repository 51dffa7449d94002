//! Calls of tools of MCP servers whose lists are stored in the project.

use super::literal;
use crate::capability::Capability;
use crate::codes::McpCode;
use crate::mcp::cached_tools;
use crate::trust::{find, is_trusted_folder};
use base::data::Data;
use lang::check::CallView;
use lang::diagnostic::{Diagnostic, nearest};
use runtime::schema::compiled;
use std::path::Path;

/// `mcp.call_tool(server, name, arguments)`
pub(crate) fn call_tool(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    let script = Path::new(view.source().name());
    let text = |i: usize| view.arg(i).and_then(|arg| Some((arg, view.text(arg)?)));
    let (Some((_, server)), Some((name_arg, name))) = (text(0), text(1)) else { return };
    if view.is_denied(Capability::FsRead) || !script.exists() {
        return;
    }
    let Some(project) = find(script) else { return };
    let folder = project.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The lists of another author count as little as the other settings that need trust.
    let is_trusted = folder.canonicalize().is_ok_and(|folder| is_trusted_folder(&folder));
    let Some(list) = cached_tools(folder, server).filter(|_| is_trusted) else { return };
    let stale = format!("if the server has changed, run `harn mcp sync {server}`");
    let Some(tool) = list.tools.iter().find(|tool| &*tool.name == name) else {
        let message = format!("the MCP server `{server}` has no tool `{name}`");
        let d = Diagnostic::new(McpCode::Tool, message).label(view.source(), name_arg.span, "unknown tool");
        found.push(match nearest(name, list.tools.iter().map(|tool| &*tool.name)) {
            Some(near) => {
                d.help(format!("did you mean `{near}`? Otherwise {stale}")).fix(name_arg.span, format!("{near:?}"))
            }
            None => d.help(stale),
        });
        return;
    };
    let (arguments, place) = match view.arg(2) {
        Some(arg) => match literal::data(view, arg) {
            Some(arguments) => (arguments, arg.span),
            None => return,
        },
        None => (Data::Nil, view.span()),
    };
    let arguments = if arguments.is_nil() { Data::empty_dict() } else { arguments };
    if let Ok(schema) = compiled(&tool.input_schema)
        && let Err(mismatches) = schema.check(&arguments, "the arguments")
    {
        let message = format!("invalid arguments for the tool `{name}`: {mismatches}");
        let d = Diagnostic::new(McpCode::Tool, message);
        found.push(d.label(view.source(), place, "does not match the schema of the tool").help(stale));
    }
}
