//! Tools as values of a script: dicts with a handler, alone or in a registry.

use crate::bind::{ScriptFn, ScriptTool};
use crate::convert::{to_data, to_value};
use crate::schema;
use base::data::Data;
use lang::value::{Dict, HostBox, HostObject, Str, Value, article};
use lang::vm::{Cx, Raise, RunCode};
use runtime::message::ToolSpec;
use runtime::seam::Tool;
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

/// A tool that is not written in the language, as the handler of a tool's dict.
struct NativeTool {
    tool: Rc<dyn Tool>,
}

impl HostObject for NativeTool {
    fn type_name(&self) -> &'static str {
        "tool handler"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The dict of a tool that is not written in the language.
pub(crate) fn native_tool(tool: Rc<dyn Tool>) -> Value {
    let mut dict = to_value(&tool.spec().to_data()).as_dict().cloned().unwrap_or_default();
    dict.insert(Str::new("_type"), Value::str("tool"));
    dict.insert(Str::new("handler"), HostBox::value(NativeTool { tool }));
    Value::dict(dict)
}

/// Model servers take no other names.
pub(crate) fn check_name(name: &str) -> Result<(), Box<Raise>> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=64).contains(&name.len()) && name.chars().all(fits) {
        return Ok(());
    }
    let why = if name.trim().is_empty() {
        "a tool needs a name".to_owned()
    } else {
        format!("{name:?} cannot be the name of a tool")
    };
    Err(Raise::error(RunCode::Value, why).help("use 1 to 64 letters, digits, `_` and `-`"))
}

/// The tools that an option holds: a registry, a tool, or a list of either.
pub(crate) fn tools_from(cx: &Cx<'_>, value: &Value, found: &mut Vec<Rc<dyn Tool>>) -> Result<(), Box<Raise>> {
    match value {
        Value::Nil => Ok(()),
        Value::List(l) => l.items.iter().try_for_each(|item| tools_from(cx, item, found)),
        Value::Dict(d) => match d.dict.get_str("tools") {
            Some(Value::Dict(tools)) => tools.dict.iter().try_for_each(|(_, tool)| tools_from(cx, tool, found)),
            _ => {
                found.push(tool_from(cx, &d.dict)?);
                Ok(())
            }
        },
        other => Err(no_tool(&format!("found {}", article(other.type_name())))),
    }
}

fn tool_from(cx: &Cx<'_>, dict: &Dict) -> Result<Rc<dyn Tool>, Box<Raise>> {
    let handler = dict.get_str("handler").ok_or_else(|| no_tool("it has no `handler`"))?;
    if let Some(native) = handler.as_host::<NativeTool>() {
        return Ok(native.tool.clone());
    }
    let handler = ScriptFn::of(cx, handler).ok_or_else(|| no_tool("its `handler` is not a function"))?;
    let text = |key: &str| dict.get_str(key).and_then(Value::as_str).unwrap_or("");
    let name = text("name");
    if name.is_empty() {
        return Err(no_tool("it has no `name`"));
    }
    check_name(name)?;
    let data = |key: &str| dict.get_str(key).map_or(Ok(Data::Nil), to_data);
    let parameters = dict.get_str("parameters").filter(|p| !p.is_nil());
    parameters
        .map_or(Ok(()), schema::check)
        .map_err(|raise| raise.help(format!("the value is in the tool `{name}`")))?;
    let mut spec = ToolSpec::new(name, text("description"), data("parameters")?);
    spec.returns = data("returns")?;
    spec.annotations = data("annotations")?;
    let positional = dict.get_str("positional").and_then(Value::as_list);
    let positional: Option<Vec<Arc<str>>> =
        positional.map(|names| names.iter().filter_map(Value::as_str).map(Arc::from).collect());
    let typed = dict.get_str("types").and_then(Value::as_dict);
    let typed = |(at, name): (usize, &Arc<str>)| Some((at, typed?.get_str(name)?.clone()));
    let types = positional.iter().flatten().enumerate().filter_map(typed).collect();
    Ok(Rc::new(ScriptTool { spec, handler, positional, types }))
}

fn no_tool(why: &str) -> Box<Raise> {
    Raise::error(lang::check::CheckCode::Type, format!("not a tool: {why}"))
        .help("declare one with `tool name(…) { … }`, or use `tool_define(tool_registry(), …)`")
}
