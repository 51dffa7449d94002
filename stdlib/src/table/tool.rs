//! Tools: registries, definitions.

use crate::lint;
use crate::schema;
use crate::tool_value::check_name;
use lang::builtins::args;
use lang::value::article;
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Raise};

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
