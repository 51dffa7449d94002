//! Tools: registries, definitions.

use crate::bind::{ScriptFn, ScriptTool};
use crate::convert::to_data;
use crate::lint;
use crate::schema;
use crate::table::file_tools::NativeTool;
use base::data::Data;
use lang::builtins::args;
use lang::value::article;
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Raise, RunCode};
use runtime::message::ToolSpec;
use runtime::seam::Tool;
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "" =>
    /// An empty registry of tools.
    ///
    /// ```harn
    /// tool_count(tool_registry()) // => 0
    /// ```
    plain "tool_registry() -> dict" tool_registry;
    /// The registry with one more tool. `handler` gets the arguments as a dict; `parameters` is a JSON Schema, or a dict of names and types: `{path: "string", line: "int?"}`.
    ///
    /// ```harn
    /// let tools = tool_define(tool_registry(), "add", "Adds two numbers.", {
    ///   handler: { args -> args.a + args.b },
    ///   parameters: {a: "int", b: "int"},
    /// })
    /// tool_find(tools, "add").parameters.required // => ["a", "b"]
    /// ```
    plain "tool_define(registry: dict, name: string, description: string, definition: ToolDefinition) -> dict" [lint = lint::tool_define] tool_define;
    /// The tool of that name, else nil.
    ///
    /// ```harn
    /// let tools = tool_define(tool_registry(), "look", "Looks.", {handler: { a -> "seen" }})
    /// [tool_find(tools, "look").description, tool_find(tools, "none")] // => ["Looks.", nil]
    /// ```
    plain "tool_find(registry: dict, name: string) -> any" tool_find;
    /// The tools of a registry, by name.
    ///
    /// ```harn
    /// let tools = tool_define(tool_registry(), "look", "Looks.", {handler: { a -> "seen" }})
    /// tool_list(tools).map({ t -> t.name }) // => ["look"]
    /// ```
    plain "tool_list(registry: dict) -> list" tool_list;
    /// The registry without a tool.
    ///
    /// ```harn
    /// let tools = tool_define(tool_registry(), "look", "Looks.", {handler: { a -> "seen" }})
    /// tool_count(tool_remove(tools, "look")) // => 0
    /// ```
    plain "tool_remove(registry: dict, name: string) -> dict" tool_remove;
    /// Returns the number of tools.
    ///
    /// ```harn
    /// let tools = tool_define(tool_registry(), "look", "Looks.", {handler: { a -> "seen" }})
    /// tool_count(tools) // => 1
    /// ```
    plain "tool_count(registry: dict) -> int" tool_count;
}

/// A registry of these tools.
pub(super) fn registry_of(tools: Dict) -> Value {
    Value::record([("_type", Value::str("tool_registry")), ("tools", Value::dict(tools))])
}

pub(super) fn tools_of(args: &[Value], i: usize) -> Result<Dict, Box<Raise>> {
    let dict = args::dict(args, i)?;
    dict.get_str("tools").and_then(Value::as_dict).cloned().ok_or_else(|| args::mismatch(args, i, "a tool registry"))
}

fn tool_registry(_: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(registry_of(Dict::new()))
}

fn tool_define(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut tools = tools_of(args, 0)?;
    let name = args::str(args, 1)?.clone();
    check_name(&name).map_err(|raise| raise.about(1, "this name"))?;
    let description = args::str(args, 2)?.clone();
    let definition = args::dict(args, 3)?;
    let handler = definition.get_str("handler").filter(|h| h.is_callable()).cloned().ok_or_else(|| {
        Raise::error(lang::check::CheckCode::Type, "`handler` must be a function").about(3, "invalid `handler`")
    })?;
    let mut tool = Dict::new();
    tool.insert(Str::new("_type"), Value::str("tool"));
    tool.insert(Str::new("name"), Value::Str(name.clone()));
    tool.insert(Str::new("description"), Value::Str(description));
    tool.insert(Str::new("handler"), handler);
    let at_fault = |key: &'static str| move |raise: Box<Raise>| raise.about(3, format!("invalid `{key}`"));
    let parameters = schema::of_parameters(definition.get_str("parameters")).map_err(at_fault("parameters"))?;
    tool.insert(Str::new("parameters"), parameters);
    if let Some(returns) = definition.get_str("returns").filter(|v| !v.is_nil()) {
        tool.insert(Str::new("returns"), schema::of_returns(returns).map_err(at_fault("returns"))?);
    }
    if let Some(annotations) = definition.get_str("annotations").filter(|v| !v.is_nil()) {
        check_annotations(annotations).map_err(at_fault("annotations"))?;
        tool.insert(Str::new("annotations"), annotations.clone());
    }
    tools.insert(name, Value::dict(tool));
    Ok(registry_of(tools))
}

/// Model servers take no other names.
fn check_name(name: &str) -> Result<(), Box<Raise>> {
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

/// Checks the annotations: they are hints with any content, but those that are read must have their
/// types.
fn check_annotations(annotations: &Value) -> Result<(), Box<Raise>> {
    let Some(dict) = annotations.as_dict() else {
        let message = format!("`annotations` must be a dict, found {}", article(annotations.type_name()));
        return Err(Raise::error(lang::check::CheckCode::Type, message));
    };
    let is_text = |value: &Value| value.as_str().is_some();
    type Check<'a> = &'a dyn Fn(&Value) -> bool;
    let checks: [(&str, &str, Check<'_>); 6] = [
        ("defer_loading", "a bool", &|value| matches!(value, Value::Bool(_))),
        ("sequential", "a bool", &|value| matches!(value, Value::Bool(_))),
        ("timeout_ms", "a number of at least 1", &|value| value.as_int().is_some_and(|ms| ms >= 1)),
        ("permission", "a bool, or a string with the reason", &|value| {
            matches!(value, Value::Bool(_)) || is_text(value)
        }),
        ("kind", "a string", &is_text),
        ("title", "a string", &is_text),
    ];
    for (key, expected, fits) in checks {
        if dict.get_str(key).is_some_and(|value| !value.is_nil() && !fits(value)) {
            let message = format!("`annotations.{key}` must be {expected}");
            return Err(Raise::error(lang::check::CheckCode::Type, message));
        }
    }
    Ok(())
}

fn tool_find(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let tools = tools_of(args, 0)?;
    Ok(tools.get(args::str(args, 1)?).cloned().unwrap_or_default())
}

fn tool_list(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::list(tools_of(args, 0)?.iter().map(|(_, t)| t.clone()).collect()))
}

fn tool_remove(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut tools = tools_of(args, 0)?;
    tools.remove(args::str(args, 1)?);
    Ok(registry_of(tools))
}

fn tool_count(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(tools_of(args, 0)?.len()))
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
