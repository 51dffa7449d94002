//! What a `tool` declaration builds: a dict with the closure and the JSON Schema of its parameters.

use super::Compiler;
use crate::ast::*;
use crate::value::{Dict, Str, Value};
use crate::vm::{Op, op::Reg};

impl<'a> Compiler<'a> {
    /// Wraps the closure in `reg` as `{_type, name, description, parameters, positional, handler}`.
    pub(super) fn tool_value(&mut self, decl: &FnDecl, description: Option<&'a Expr>, doc: Option<&str>, reg: Reg) {
        let span = decl.name.span;
        let base = self.temps(6);
        let positional: Vec<Value> =
            decl.params.iter().map(|p| Value::str(&super::pattern::bound_name(&p.pattern))).collect();
        self.load(Value::str("tool"), base, span);
        self.load(Value::str(&decl.name.text), base + 1, span);
        match description {
            Some(e) => self.expr(e, base + 2),
            None => self.load(Value::str(doc.unwrap_or("").trim()), base + 2, span),
        }
        self.load(parameters(&decl.params), base + 3, span);
        self.load(Value::list(positional), base + 4, span);
        self.emit(Op::Move { dst: base + 5, src: reg }, span);
        let keys = ["_type", "name", "description", "parameters", "positional", "handler"];
        let keys = keys.iter().map(|k| self.name_value(k)).collect();
        let shape = self.shape(keys, span);
        self.emit(Op::DictOf { dst: reg, base, shape }, span);
        self.free_to(base);
    }
}

fn parameters(params: &[Param]) -> Value {
    let mut properties = Dict::new();
    let mut required = Vec::new();
    for param in params.iter().filter(|p| !p.rest) {
        let name = super::pattern::bound_name(&param.pattern);
        let optional = matches!(param.ty, Some(TypeExpr { kind: TypeKind::Optional(_), .. }));
        if param.default.is_none() && !optional {
            required.push(Value::str(&name));
        }
        properties.insert(Str::new(&name), param.ty.as_ref().map_or_else(any, schema));
    }
    Value::record([
        ("type", Value::str("object")),
        ("properties", Value::dict(properties)),
        ("required", Value::list(required)),
    ])
}

fn any() -> Value {
    Value::dict(Dict::new())
}

fn plain(name: &str) -> Value {
    Value::record([("type", Value::str(name))])
}

/// The JSON Schema of a written type; what has none allows anything.
fn schema(ty: &TypeExpr) -> Value {
    match &ty.kind {
        TypeKind::Name { name, args } => match name.as_str() {
            "int" => plain("integer"),
            "float" => plain("number"),
            "string" => plain("string"),
            "bool" => plain("boolean"),
            "nil" => plain("null"),
            "list" | "set" => match args.first() {
                Some(item) => Value::record([("type", Value::str("array")), ("items", schema(item))]),
                None => plain("array"),
            },
            "dict" => match args.get(1) {
                Some(value) => Value::record([("type", Value::str("object")), ("additionalProperties", schema(value))]),
                None => plain("object"),
            },
            _ => any(),
        },
        TypeKind::Literal(text) => {
            Value::record([("type", Value::str("string")), ("enum", Value::list(vec![Value::str(text)]))])
        }
        TypeKind::Optional(inner) => schema(inner),
        TypeKind::Union(parts) => union(parts),
        TypeKind::Shape { fields, open } => {
            let required = fields.iter().filter(|(_, optional, _)| !optional);
            Value::record([
                ("type", Value::str("object")),
                ("properties", Value::dict(fields.iter().map(|(n, _, t)| (Str::new(&n.text), schema(t))).collect())),
                ("required", Value::list(required.map(|(n, _, _)| Value::str(&n.text)).collect())),
                ("additionalProperties", Value::Bool(*open)),
            ])
        }
        TypeKind::Fn { .. } | TypeKind::Error => any(),
    }
}

fn union(parts: &[TypeExpr]) -> Value {
    let words: Vec<Value> = parts
        .iter()
        .filter_map(|p| if let TypeKind::Literal(text) = &p.kind { Some(Value::str(text)) } else { None })
        .collect();
    if words.len() == parts.len() {
        return Value::record([("type", Value::str("string")), ("enum", Value::list(words))]);
    }
    Value::record([("anyOf", Value::list(parts.iter().map(schema).collect()))])
}
