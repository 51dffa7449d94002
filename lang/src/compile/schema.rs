//! JSON Schema of written types, for models: what stands in a `tool` declaration, the types it names included.
//!
//! A named type is written out where it is used first. Where it is used again, or inside itself, stands a `$ref` to
//! `$defs`, so a schema grows with the declarations and not with their combinations.

use crate::ast::{Param, TypeExpr, TypeKind};
use crate::builtin_type::{Kind, builtin_type};
use crate::declaration::{
    AliasDecl, Constant, DefaultDecl, EnumDecl, Registry, Site, StructDecl, TypeDecl, VariantDecl,
};
use crate::resolve::Resolution;
use crate::value::{Dict, Str, Value};
use std::rc::Rc;
use std::sync::Arc;

/// The schema of a type as it is written in a script (`list<string>`, `"a" | "b"`, `{line: int, ...}`) and as far as it is
/// known without declarations; nothing where the text is no such type. The flag says whether it ends in `?`: such a value may
/// be left out.
#[must_use]
pub fn type_schema(written: &str, registry: Registry) -> Option<(Value, bool)> {
    let decl = crate::check::signature(&format!("named(value: {written})"))?;
    let [Param { ty: Some(ty), rest: false, default: None, .. }] = decl.params.as_slice() else { return None };
    let (ty, optional) = match &ty.kind {
        TypeKind::Optional(inner) => (&**inner, true),
        _ => (&**ty, false),
    };
    let mut known = true;
    ty.each_name(&mut |name, _| known &= builtin_type(name).is_some() || registry.types().contains(&name.as_str()));
    let names = Resolution::default();
    known.then(|| (Value::dict(SchemaWriter::new(&names).schema(ty)), optional))
}

/// Writes the schemas of one tool.
pub(super) struct SchemaWriter<'a> {
    names: &'a Resolution,
    /// The named types met so far.
    met: Vec<Met>,
    /// The declaration whose own types are being written.
    inside: Option<TypeDecl>,
}

struct Met {
    site: Option<Site>,
    name: String,
    /// Nothing while it is being written.
    schema: Option<Value>,
    /// Whether a `$ref` names it.
    referred: bool,
}

impl<'a> SchemaWriter<'a> {
    pub(super) fn new(names: &'a Resolution) -> Self {
        Self { names, met: Vec::new(), inside: None }
    }

    /// An object with these properties and no others, and the definitions that they name.
    pub(super) fn object(self, properties: Dict, required: Vec<Value>) -> Value {
        let mut out = closed(properties, required);
        self.define(&mut out);
        Value::dict(out)
    }

    /// The schema of a result; nothing where it could be anything.
    pub(super) fn result(mut self, ty: &TypeExpr) -> Option<Value> {
        let mut out = self.schema(ty);
        self.define(&mut out);
        (!out.is_empty()).then(|| Value::dict(out))
    }

    /// The schema of a declared type; an empty dict where it could be anything.
    pub(super) fn declared(mut self, decl: &TypeDecl) -> Value {
        let mut out = self.declaration(decl);
        self.define(&mut out);
        Value::dict(out)
    }

    fn define(self, out: &mut Dict) {
        let defs: Dict = self
            .met
            .into_iter()
            .filter(|met| met.referred)
            .filter_map(|met| Some((Str::new(&met.name), met.schema?)))
            .collect();
        if !defs.is_empty() {
            out.insert(Str::new("$defs"), Value::dict(defs));
        }
    }

    /// The schema of a written type; what has none allows anything.
    pub(super) fn schema(&mut self, ty: &TypeExpr) -> Dict {
        match &ty.kind {
            TypeKind::Name { name, args } => self.named(name, args, ty),
            TypeKind::Literal(text) => enumeration(vec![Value::str(text)]),
            TypeKind::Optional(inner) => {
                let inner = self.schema(inner);
                or_null(inner)
            }
            TypeKind::Union(parts) => self.union(parts),
            TypeKind::Shape { fields, open } => {
                let mut properties = Dict::new();
                let mut required = Vec::new();
                for (name, optional, ty) in fields {
                    if !optional {
                        required.push(Value::str(&name.text));
                    }
                    properties.insert(Str::new(&name.text), Value::dict(self.schema(ty)));
                }
                let mut out = closed(properties, required);
                if *open {
                    out.remove(&Str::new("additionalProperties"));
                }
                out
            }
            TypeKind::Fn { .. } | TypeKind::Error => Dict::new(),
        }
    }

    fn named(&mut self, name: &str, args: &[TypeExpr], ty: &TypeExpr) -> Dict {
        if let Some(decl) = self.find(name, ty) {
            return self.declaration(&decl);
        }
        let Some((row, word)) = builtin_type(name).and_then(|row| Some((row, row.schema?))) else { return Dict::new() };
        let mut out = plain(word);
        match row.kind {
            Kind::List | Kind::Set => {
                if let Some(item) = args.first().map(|item| self.schema(item)).filter(|item| !item.is_empty()) {
                    out.insert(Str::new("items"), Value::dict(item));
                }
                if row.kind == Kind::Set {
                    out.insert(Str::new("uniqueItems"), Value::Bool(true));
                }
            }
            Kind::Dict => {
                if let Some(value) = args.get(1).map(|value| self.schema(value)).filter(|value| !value.is_empty()) {
                    out.insert(Str::new("additionalProperties"), Value::dict(value));
                }
            }
            _ => {}
        }
        out
    }

    fn declaration(&mut self, decl: &TypeDecl) -> Dict {
        match decl {
            TypeDecl::Struct(def) => self.once(decl, |writer| writer.structure(def)),
            TypeDecl::Enum(def) if def.tag.is_none() && def.variants.iter().all(|variant| variant.arity == 0) => {
                enumeration(def.variants.iter().map(|variant| Value::str(variant.data_name())).collect())
            }
            TypeDecl::Enum(def) if def.site.is_some() => self.once(decl, |writer| writer.variants(def)),
            TypeDecl::Alias(def) if def.generics.is_empty() => self.once(decl, |writer| writer.alias(def)),
            TypeDecl::Enum(_) | TypeDecl::Interface(_) | TypeDecl::Alias(_) => Dict::new(),
        }
    }

    /// Returns the declared type that a name means, if it is one.
    fn find(&self, name: &str, ty: &TypeExpr) -> Option<TypeDecl> {
        match &self.inside {
            Some(TypeDecl::Alias(alias)) => alias.named(name),
            Some(TypeDecl::Struct(def)) => def.scope.named(name),
            Some(TypeDecl::Enum(def)) => def.scope.named(name),
            _ => self.names.named_type(ty.id).cloned(),
        }
    }

    /// Writes a declared type out, or refers to it where that was done already.
    fn once(&mut self, def: &TypeDecl, write: impl FnOnce(&mut Self) -> Dict) -> Dict {
        let site = def.site();
        let same = |met: &Met| match (&met.site, site) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a.source, &b.source) && a.span == b.span,
            _ => false,
        };
        if let Some(met) = self.met.iter_mut().find(|met| same(met)) {
            met.referred = true;
            let mut out = Dict::new();
            out.insert(Str::new("$ref"), Value::from(format!("#/$defs/{}", met.name)));
            return out;
        }
        let at = self.met.len();
        let mut name = def.name().to_string();
        if self.met.iter().any(|met| met.name == name) {
            name = format!("{name}{at}");
        }
        self.met.push(Met { site: site.cloned(), name, schema: None, referred: false });
        let outer = self.inside.replace(def.clone());
        let schema = write(self);
        self.inside = outer;
        self.met[at].schema = Some(Value::dict(schema.clone()));
        schema
    }

    fn structure(&mut self, def: &Rc<StructDecl>) -> Dict {
        let mut properties = Dict::new();
        let mut required = Vec::new();
        for field in &def.fields {
            let mut property = field.ty.as_ref().map_or_else(Dict::new, |ty| self.schema(ty));
            match &field.default {
                // What may be nil may be missing, too.
                DefaultDecl::None if field.ty.as_ref().is_some_and(takes_nil) => {}
                DefaultDecl::None => required.push(Value::str(field.data_name())),
                DefaultDecl::Constant(constant) if *constant != Constant::Nil => {
                    property.insert(Str::new("default"), super::definition::value(constant));
                }
                DefaultDecl::Constant(_) | DefaultDecl::Computed => {}
            }
            properties.insert(Str::new(field.data_name()), Value::dict(property));
        }
        closed(properties, required)
    }

    /// The schema of an enum some of whose variants hold values.
    fn variants(&mut self, def: &Rc<EnumDecl>) -> Dict {
        let Some(tag) = &def.tag else {
            let plain = def.variants.iter().filter(|variant| variant.arity == 0);
            let plain: Vec<Value> = plain.map(|variant| Value::str(variant.data_name())).collect();
            let mut alternatives = if plain.is_empty() { Vec::new() } else { vec![enumeration(plain)] };
            for variant in def.variants.iter().filter(|variant| variant.arity > 0) {
                let mut properties = Dict::new();
                properties.insert(Str::new(variant.data_name()), Value::dict(self.values(variant)));
                alternatives.push(closed(properties, vec![Value::str(variant.data_name())]));
            }
            return any_of(alternatives);
        };
        any_of(def.variants.iter().map(|variant| self.tagged(tag, variant)).collect())
    }

    /// The schema of the values of a variant: one alone, several as a list.
    fn values(&mut self, variant: &VariantDecl) -> Dict {
        if let [one] = &*variant.types {
            return self.schema(one);
        }
        let parts: Vec<Value> = variant.types.iter().map(|ty| Value::dict(self.schema(ty))).collect();
        let count = Value::Int(i64::try_from(parts.len()).unwrap_or(i64::MAX));
        let mut out = plain("array");
        out.insert(Str::new("prefixItems"), Value::list(parts));
        out.insert(Str::new("minItems"), count.clone());
        out.insert(Str::new("maxItems"), count);
        out
    }

    /// The schema of a variant that a key names: the fields of its struct are beside the key.
    fn tagged(&mut self, tag: &str, variant: &VariantDecl) -> Dict {
        let value = match &*variant.types {
            [TypeExpr { kind: TypeKind::Name { name, .. }, .. }] => self.find(name, &variant.types[0]),
            _ => None,
        };
        let mut out = match value.as_ref().map(TypeDecl::resolved) {
            Some(TypeDecl::Struct(def)) => {
                let outer = self.inside.replace(TypeDecl::Struct(def.clone()));
                let out = self.structure(&def);
                self.inside = outer;
                out
            }
            _ if variant.arity == 0 => closed(Dict::new(), Vec::new()),
            _ => plain("object"),
        };
        let mut properties = out.get_str("properties").and_then(Value::as_dict).cloned().unwrap_or_default();
        properties.insert(Str::new(tag), Value::dict(enumeration(vec![Value::str(variant.data_name())])));
        let mut required = vec![Value::str(tag)];
        required.extend(out.get_str("required").and_then(Value::as_list).into_iter().flatten().cloned());
        out.insert(Str::new("properties"), Value::dict(properties));
        out.insert(Str::new("required"), Value::list(required));
        out
    }

    fn alias(&mut self, def: &Rc<AliasDecl>) -> Dict {
        self.schema(&def.ty)
    }

    fn union(&mut self, parts: &[TypeExpr]) -> Dict {
        let is_nil = |part: &&TypeExpr| matches!(&part.kind, TypeKind::Name { name, .. } if name == "nil");
        let word = |part: &&TypeExpr| match &part.kind {
            TypeKind::Literal(text) => Some(Value::str(text)),
            _ => None,
        };
        let words: Vec<Value> = parts.iter().filter_map(|part| word(&part)).collect();
        let others: Vec<&TypeExpr> = parts.iter().filter(|part| word(part).is_none() && !is_nil(part)).collect();
        let mut alternatives: Vec<Dict> = others.into_iter().map(|part| self.schema(part)).collect();
        if !words.is_empty() {
            alternatives.insert(0, enumeration(words));
        }
        if alternatives.iter().any(Dict::is_empty) {
            return Dict::new();
        }
        if parts.iter().any(|part| is_nil(&part)) {
            alternatives.push(plain("null"));
        }
        if alternatives.len() == 1 { alternatives.remove(0) } else { any_of(alternatives) }
    }
}

fn enumeration(words: Vec<Value>) -> Dict {
    let mut out = plain("string");
    out.insert(Str::new("enum"), Value::list(words));
    out
}

fn plain(name: &str) -> Dict {
    let mut out = Dict::new();
    out.insert(Str::new("type"), Value::str(name));
    out
}

fn closed(properties: Dict, required: Vec<Value>) -> Dict {
    let mut out = plain("object");
    out.insert(Str::new("properties"), Value::dict(properties));
    out.insert(Str::new("required"), Value::list(required));
    out.insert(Str::new("additionalProperties"), Value::Bool(false));
    out
}

fn any_of(alternatives: Vec<Dict>) -> Dict {
    let mut out = Dict::new();
    out.insert(Str::new("anyOf"), Value::list(alternatives.into_iter().map(Value::dict).collect()));
    out
}

/// Returns a schema that also allows `null`.
fn or_null(schema: Dict) -> Dict {
    if schema.is_empty() { schema } else { any_of(vec![schema, plain("null")]) }
}

/// Whether a written type says that nil is one of its values.
fn takes_nil(ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeKind::Optional(_) => true,
        TypeKind::Union(parts) => parts.iter().any(takes_nil),
        TypeKind::Name { name, .. } => name == "nil",
        _ => false,
    }
}
