//! Tools of servers: for loops as `NAME__tool`, and for calls of scripts.

use super::cache::cached_tools;
use super::error::of_mcp;
use super::servers::McpServer;
use crate::catalogue::to_core;
use crate::codes::McpCode;
use base::call::{Answer, Outcome};
use base::codes::CodeRef;
use base::codes::Severity;
use base::data::Data;
use lang::diagnostic::nearest;
use lang::vm::Raise;
use mcp::{McpError, SkippedTool, ToolInfo, ToolList, text_of};
use providers::model::ToolCode;
use runtime::message::{ToolCall, ToolSpec};
use runtime::note::Note;
use runtime::schema::compiled;
use runtime::seam::{Output, Tool, Turn};
use runtime::stop::stopped;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// The longest name of a tool that model servers take.
const MAX_NAME: usize = 64;

/// A tool of a server, as a loop offers it.
struct McpTool {
    spec: ToolSpec,
    info: Rc<ToolInfo>,
    server: Rc<McpServer>,
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::later(async move {
            let called = tokio::select! {
                biased;
                why = stopped(turn.scope) => return Ok(Output::error(format!("stopped: {why}"))),
                called = call_tool(&self.server, &self.info, call.arguments.clone()) => called,
            };
            Ok(called.map_or_else(|error| Output::error(error.with_stderr()), ToolResult::into_output))
        })
    }
}

/// The result of a call.
pub(crate) struct ToolResult {
    pub(crate) ok: bool,
    pub(crate) text: String,
    /// The structured result; else nil.
    pub(crate) data: Data,
    /// The content blocks.
    pub(crate) content: Data,
}

impl ToolResult {
    fn into_output(self) -> Output {
        let text: Arc<str> = self.text.into();
        let value = if self.data.is_nil() { Data::Str(text.clone()) } else { self.data };
        Output { text, value, ok: self.ok, truncated: false }
    }
}

async fn call_tool(server: &Rc<McpServer>, info: &ToolInfo, arguments: Data) -> Result<ToolResult, McpError> {
    let call = server.client.call_tool(&info.name, arguments, &info.input_schema, server.user());
    let result = server.with_reminders(call).await?;
    let data = result.get("structuredContent").clone();
    let mut text = text_of(result.get("content").as_list().unwrap_or_default());
    if text.is_empty() && !data.is_nil() {
        text = data.to_json();
    }
    let mut ok = !result.get("isError").truthy();
    // A server that breaks its own promise must not be believed.
    if ok
        && !info.output_schema.is_nil()
        && let Ok(schema) = compiled(&info.output_schema)
        && let Err(mismatches) = schema.check(&data, "the structured result")
    {
        ok = false;
        text =
            format!("the MCP server `{}` broke the schema of its own result: {mismatches}\n{text}", server.spec.name);
    }
    Ok(ToolResult { ok, text, data, content: result.get("content").clone() })
}

/// Calls a tool by the name that its server has for it, with checked arguments.
pub(crate) async fn checked_call(
    server: &Rc<McpServer>,
    name: &str,
    arguments: Data,
) -> Result<ToolResult, Box<Raise>> {
    let of = |error: &McpError| of_mcp(&server.spec.name, error).about(0, "this server");
    let list = server.client.tools().await.map_err(|error| of(&error))?;
    let Some(info) = list.tools.iter().find(|tool| &*tool.name == name && is_offered(server, tool)) else {
        let message = format!("the MCP server `{}` has no tool `{name}`", server.spec.name);
        let raise = Raise::error(McpCode::Tool, message).about(1, "unknown tool");
        let names = list.tools.iter().filter(|tool| is_offered(server, tool)).map(|tool| &*tool.name);
        return Err(match nearest(name, names) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise.help("`tool_list(mcp.tools(server))` lists the tools"),
        });
    };
    let arguments = if arguments.is_nil() { Data::empty_dict() } else { arguments };
    if let Ok(schema) = compiled(&info.input_schema)
        && let Err(mismatches) = schema.check(&arguments, "the arguments")
    {
        let message = format!("invalid arguments for the tool `{name}`: {mismatches}");
        return Err(Raise::error(McpCode::Tool, message).about(2, "does not match the schema of the tool"));
    }
    call_tool(server, info, arguments).await.map_err(|error| of(&error))
}

fn is_offered(server: &McpServer, tool: &ToolInfo) -> bool {
    server.spec.tools.as_ref().is_none_or(|wanted| wanted.contains(&tool.name))
}

/// Returns the tools of a server: those stored in the project if it does not run, so that it need not be started for them.
async fn known_tools(server: &McpServer) -> Result<Rc<ToolList>, McpError> {
    let stored = server.spec.folder.as_ref().filter(|_| !server.client.is_connected());
    match stored.and_then(|folder| cached_tools(folder, &server.spec.name)) {
        Some(list) => Ok(Rc::new(list)),
        None => server.client.tools().await,
    }
}

fn skipped(server: &str, message: String) -> Note {
    warning(ToolCode::Skipped.into(), server, message)
}

fn warning(code: CodeRef, server: &str, message: String) -> Note {
    Note {
        code: Some(code),
        severity: Severity::Warning,
        message,
        about: Some(format!("mcp:{server}").into()),
        fault: None,
    }
}

/// Returns warnings about a list that was cut, and about its tools that cannot be offered.
pub(crate) fn skipped_notes(server: &str, list: &ToolList) -> Vec<Note> {
    let note = |tool: &SkippedTool| {
        skipped(server, format!("the tool `{}` of the MCP server `{server}` is left out: {}", tool.name, tool.why))
    };
    let cut = |why: &String| {
        warning(
            to_core(McpCode::EndlessList.code()),
            server,
            format!("the list of the MCP server `{server}` was ended: {why}"),
        )
    };
    list.cut.iter().map(cut).chain(list.skipped.iter().map(note)).collect()
}

/// Returns the tools of a server for loops, and warnings about those that are left out.
pub(crate) async fn offered_tools(server: &Rc<McpServer>) -> Result<(Vec<Rc<dyn Tool>>, Vec<Note>), McpError> {
    let list = known_tools(server).await?;
    let name = &server.spec.name;
    let mut notes = skipped_notes(name, &list);
    for wanted in server.spec.tools.iter().flatten() {
        if !list.tools.iter().any(|tool| tool.name == *wanted) {
            notes.push(skipped(name, format!("the MCP server `{name}` has no tool `{wanted}`, which `tools` names")));
        }
    }
    let mut taken = BTreeSet::new();
    let mut tools: Vec<Rc<dyn Tool>> = Vec::new();
    for info in list.tools.iter().filter(|tool| is_offered(server, tool)) {
        let offered = unique(&offered_name(name, &info.name), &mut taken);
        let spec = spec(offered, info, name);
        tools.push(Rc::new(McpTool { spec, info: info.clone(), server: server.clone() }));
    }
    Ok((tools, notes))
}

/// Returns the name of a tool for models, which take letters, digits, `_` and `-` only.
fn offered_name(server: &str, tool: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let tool: String = tool.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    let mut name = format!("{server}__{tool}");
    name.truncate(MAX_NAME);
    name
}

/// Returns the name, with a number if it is taken.
fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut unique = name.to_owned();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        let end = format!("_{number}");
        unique = format!("{}{end}", &name[..name.len().min(MAX_NAME - end.len())]);
        number += 1;
    }
    unique
}

/// Describes a tool. Its annotations decide about permissions as those of any tool do; one that does not say that it only
/// reads needs a permission where there is someone to ask.
fn spec(name: String, info: &ToolInfo, server: &str) -> ToolSpec {
    let hint = |key: &str| info.annotations.get(key).as_bool();
    let mut annotations = info.annotations.clone();
    if hint("readOnlyHint") != Some(true) || hint("destructiveHint") == Some(true) {
        let what =
            if hint("destructiveHint") == Some(false) { "change something" } else { "change or delete something" };
        let reason = format!("the tool `{}` of the MCP server `{server}` may {what}", info.name);
        annotations.set("permission", reason.into());
    }
    annotations.set("title", format!("{server}: {}", info.title.as_ref().unwrap_or(&info.name)).into());
    let description = if info.description.trim().is_empty() {
        format!("The tool `{}` of the server `{server}`.", info.name)
    } else {
        info.description.to_string()
    };
    ToolSpec {
        returns: info.output_schema.clone(),
        annotations,
        ..ToolSpec::new(name, description, info.input_schema.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_models_and_are_unique() {
        let mut taken = BTreeSet::new();
        let long = "x".repeat(80);
        let mut name = |tool: &str| unique(&offered_name("files", tool), &mut taken);
        assert_eq!(
            [name("read file"), name("read.file"), name("ok")],
            ["files__read_file", "files__read_file_2", "files__ok"]
        );
        let (one, two) = (name(&long), name(&long));
        assert!(one != two && one.len() == MAX_NAME && two.len() == MAX_NAME && two.ends_with("_2"));
    }

    #[test]
    fn tools_that_may_change_something_need_permission() {
        let wish = |annotations: &str| {
            let entry = format!(r#"{{"name": "t", "inputSchema": {{}}, "annotations": {annotations}}}"#);
            let info = ToolInfo::read(&Data::from_json(&entry).unwrap(), 0).unwrap();
            spec("s__t".to_owned(), &info, "s").annotations.get("permission").as_str().map(str::to_owned)
        };
        assert_eq!(wish(r#"{"readOnlyHint": true}"#), None);
        assert!(wish("{}").unwrap().ends_with("may change or delete something"));
        assert!(wish(r#"{"destructiveHint": false}"#).unwrap().ends_with("may change something"));
        assert!(
            wish(r#"{"readOnlyHint": true, "destructiveHint": true}"#).is_some(),
            "contradictory hints are not believed"
        );
    }
}
