//! The entry points of a file that a host offers to others: public pipelines and tools, and functions with `@resource` or
//! `@prompt`, each with the JSON Schemas of its parameters and its result.

use super::Compiler;
use super::schema::SchemaWriter;
use super::tool::ParameterDoc;
use crate::ast::*;
use crate::value::{Str, Value};
use smol_str::SmolStr;

/// An entry point that a host offers to others.
#[derive(Clone, Debug)]
pub struct PublicEntry {
    /// The purpose.
    pub kind: PublicKind,
    /// The name of the function.
    pub name: SmolStr,
    /// The documentation comment, without the lines about parameters.
    pub description: String,
    /// The JSON Schema of the arguments: an object. A pipeline's `context` is not one of them.
    pub parameters: Value,
    /// The JSON Schema of the result, if its type says something.
    pub returns: Option<Value>,
    /// The number of the function in the isolate.
    pub function: usize,
    /// The names of the parameters, in their order.
    pub params: Vec<SmolStr>,
    /// The types of the parameters that values are made of from data, by their numbers.
    pub types: Vec<(usize, Value)>,
}

/// The purpose of an entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKind {
    /// A pipeline or a tool that can be called.
    Tool,
    /// Content at a URI.
    Resource {
        /// The URI, with `{name}` for each parameter.
        uri: String,
        /// The media type.
        mime_type: Option<String>,
    },
    /// A message for a model.
    Prompt,
}

/// The parameter of a pipeline that the host fills in.
const CONTEXT: &str = "context";
/// The parameter of a pipeline that is always text.
const TASK: &str = "task";

impl<'a> Compiler<'a> {
    /// Collects the entry points of a file; `numbers` are those of its top-level functions.
    pub(super) fn public_entries(&self, module: &'a Module, numbers: &[usize]) -> Vec<PublicEntry> {
        let mut numbers = numbers.iter();
        let mut found = Vec::new();
        for stmt in &module.body {
            let Some((item, decl)) = super::top_function(stmt) else { continue };
            let Some(function) = numbers.next().copied() else { continue };
            if let Some(kind) = kind(item) {
                found.push(self.public_entry(item, decl, kind, function));
            }
        }
        found
    }

    fn public_entry(&self, item: &'a Item, decl: &'a FnDecl, kind: PublicKind, function: usize) -> PublicEntry {
        let is_pipeline = matches!(item.kind, ItemKind::Pipeline { .. });
        let all: Vec<&Param> = if is_pipeline { self.all_params(decl) } else { decl.params.iter().collect() };
        let params: Vec<SmolStr> = all.iter().map(|param| super::pattern::bound_name(&param.pattern)).collect();
        let doc = ParameterDoc::read(item.doc.as_deref().unwrap_or(""), &decl.params);
        let is_argument = |param: &&Param| !is_pipeline || super::pattern::bound_name(&param.pattern) != CONTEXT;
        let mut parameters = self.parameters_schema(all.iter().copied().filter(is_argument), &doc);
        if is_pipeline
            && all.iter().any(|param| param.ty.is_none() && super::pattern::bound_name(&param.pattern) == TASK)
        {
            parameters = with_text(&parameters);
        }
        let described = match &item.kind {
            ItemKind::Tool { description: Some(text), .. } => text.plain_text().map(str::to_owned),
            _ => None,
        };
        PublicEntry {
            kind,
            name: decl.name.text.clone(),
            description: described.unwrap_or_else(|| doc.description.trim().to_owned()),
            parameters,
            returns: decl.returns.as_ref().and_then(|ty| SchemaWriter::new(self.names).result(ty)),
            function,
            params,
            types: self.decoded_types(all.iter().copied()),
        }
    }
}

/// Returns the schema with the type of `task`, which is text even if the script does not say so.
fn with_text(parameters: &Value) -> Value {
    let mut parameters = parameters.as_dict().cloned().unwrap_or_default();
    let mut properties = parameters.get_str("properties").and_then(Value::as_dict).cloned().unwrap_or_default();
    let mut task = properties.get_str(TASK).and_then(Value::as_dict).cloned().unwrap_or_default();
    task.insert(Str::new("type"), Value::str("string"));
    properties.insert(Str::new(TASK), Value::dict(task));
    parameters.insert(Str::new("properties"), Value::dict(properties));
    Value::dict(parameters)
}

fn kind(item: &Item) -> Option<PublicKind> {
    if let Some(attribute) = item.attribute(RESOURCE) {
        let uri = attribute.args.iter().find(|arg| arg.name.is_none())?.value.plain_text()?.to_owned();
        let mime_type = attribute.arg(MIME_TYPE).and_then(Expr::plain_text).map(str::to_owned);
        return Some(PublicKind::Resource { uri, mime_type });
    }
    if item.attribute(PROMPT).is_some() {
        return Some(PublicKind::Prompt);
    }
    let is_tool = item.public && matches!(item.kind, ItemKind::Pipeline { .. } | ItemKind::Tool { .. });
    is_tool.then_some(PublicKind::Tool)
}
