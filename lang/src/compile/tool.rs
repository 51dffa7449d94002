//! Compilation of a `tool` declaration to a dict with the closure and the JSON Schemas of its parameters and its result.

use super::Compiler;
use super::schema::SchemaWriter;
use crate::ast::*;
use crate::declaration::Constant;
use crate::resolve::constant;
use crate::value::{Dict, Str, Value};
use crate::vm::{Op, op::Reg};

impl<'a> Compiler<'a> {
    /// Wraps the closure in `reg` as `{_type, name, description, parameters, positional, handler, returns?, types?}`.
    pub(super) fn tool_value(&mut self, decl: &FnDecl, description: Option<&'a Expr>, doc: Option<&str>, reg: Reg) {
        let span = decl.name.span;
        let returns = decl.returns.as_ref().and_then(|ty| SchemaWriter::new(self.names).result(ty));
        let name = |at: usize| decl.params.get(at).map(|p| super::pattern::bound_name(&p.pattern)).unwrap_or_default();
        let types = self.decoded_types(&decl.params).into_iter();
        let types: Dict = types.map(|(at, ty)| (Str::new(&name(at)), ty)).collect();
        let base = self.temps(8);
        let positional: Vec<Value> =
            decl.params.iter().map(|p| Value::str(&super::pattern::bound_name(&p.pattern))).collect();
        let doc = ParameterDoc::read(doc.unwrap_or(""), &decl.params);
        self.load(Value::str("tool"), base, span);
        self.load(Value::str(&decl.name.text), base + 1, span);
        match description {
            Some(e) => self.expr(e, base + 2),
            None => self.load(Value::str(doc.description.trim()), base + 2, span),
        }
        let parameters = self.parameters_schema(&decl.params, &doc);
        self.load(parameters, base + 3, span);
        self.load(Value::list(positional), base + 4, span);
        self.emit(Op::Move { dst: base + 5, src: reg }, span);
        let mut keys = vec!["_type", "name", "description", "parameters", "positional", "handler"];
        let mut last = base + 5;
        if let Some(returns) = returns {
            last += 1;
            self.load(returns, last, span);
            keys.push("returns");
        }
        if !types.is_empty() {
            self.load(Value::dict(types), last + 1, span);
            keys.push("types");
        }
        let keys = keys.iter().map(|k| self.name_value(k)).collect();
        let shape = self.shape(keys, span);
        self.emit(Op::DictOf { dst: reg, base, shape }, span);
        self.free_to(base);
    }

    /// The object that the arguments are.
    pub(super) fn parameters_schema<'p>(
        &self,
        params: impl IntoIterator<Item = &'p Param>,
        doc: &ParameterDoc,
    ) -> Value {
        let mut writer = SchemaWriter::new(self.names);
        let mut properties = Dict::new();
        let mut required = Vec::new();
        for param in params.into_iter().filter(|p| !p.rest) {
            let name = super::pattern::bound_name(&param.pattern);
            let (ty, optional) = match param.ty.as_deref() {
                Some(TypeExpr { kind: TypeKind::Optional(inner), .. }) => (Some(&**inner), true),
                ty => (ty, param.default.is_some()),
            };
            if !optional {
                required.push(Value::str(&name));
            }
            let mut property = ty.map_or_else(Dict::new, |ty| writer.schema(ty));
            if let Some(default) = param.default.as_ref().and_then(constant).filter(|c| *c != Constant::Nil) {
                property.insert(Str::new("default"), super::definition::value(&default));
            }
            if let Some(text) = doc.of(&name) {
                property.insert(Str::new("description"), Value::str(text));
            }
            properties.insert(Str::new(&name), Value::dict(property));
        }
        writer.object(properties, required)
    }
}

/// A documentation comment: what the tool does, and a line for each parameter that one is written for: `@param name …`, or
/// `- name: …`.
pub(super) struct ParameterDoc {
    pub(super) description: String,
    params: Vec<(String, String)>,
}

impl ParameterDoc {
    pub(super) fn read(text: &str, params: &[Param]) -> ParameterDoc {
        let names: Vec<String> = params.iter().map(|p| super::pattern::bound_name(&p.pattern).to_string()).collect();
        let mut doc = ParameterDoc { description: String::new(), params: Vec::new() };
        // A line that is indented goes on with what the parameter before it says.
        let mut inside = false;
        for line in text.lines() {
            match param_line(line).filter(|(name, _)| names.iter().any(|known| known == name)) {
                Some((name, said)) => {
                    doc.params.push((name.to_owned(), said.to_owned()));
                    inside = true;
                }
                None if inside && line.starts_with([' ', '\t']) && !line.trim().is_empty() => {
                    if let Some((_, said)) = doc.params.last_mut() {
                        said.push(' ');
                        said.push_str(line.trim());
                    }
                }
                None => {
                    inside = false;
                    doc.description.push_str(line);
                    doc.description.push('\n');
                }
            }
        }
        doc
    }

    fn of(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(known, _)| known == name).map(|(_, said)| said.as_str())
    }
}

/// The name and the text of a line about a parameter.
fn param_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, said) = match line.strip_prefix("@param ") {
        Some(rest) => rest.trim_start().split_once(char::is_whitespace)?,
        None => line.strip_prefix("- ")?.split_once(':')?,
    };
    let name = name.trim().trim_matches('`').trim_end_matches(':');
    let said = said.trim_start_matches([' ', '-', ':']).trim();
    (!said.is_empty()).then_some((name, said))
}
