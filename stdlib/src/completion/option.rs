//! The keys of options, also of those in others.

use super::{Completion, CompletionKind};
use crate::table::registry;
use lang::ast::{FnDecl, TypeExpr, TypeKind};
use lang::builtins::Builtin;
use lang::check::signature;
use lang::query::{Callee, Cursor, Surrounding};

/// The type of the value at a cursor, as the signature of a builtin states it.
pub(super) struct OptionShape {
    /// The named type, for its documentation.
    name: String,
    ty: TypeExpr,
}

impl OptionShape {
    /// Returns the type of the dict around a cursor where a key begins, or of the value whose key is before it.
    pub(super) fn at(cursor: &Cursor) -> Option<Self> {
        // What a handler returns is in no call.
        let innermost = cursor.around.iter().find_map(|around| match around {
            Surrounding::Dict { key: Some(key), .. } => Some(key.as_str()),
            _ => None,
        });
        if let Some((callee, argument, keys)) = cursor.call() {
            let found = builtin_of(callee).and_then(|row| Self::of_argument(row, callee, argument));
            if let Some(found) = found.and_then(|shape| shape.below(&keys)) {
                return Some(found);
            }
        }
        innermost.filter(|key| *key == "reminder").and_then(|_| Self::named("ReminderSpec"))
    }

    /// Returns the type of an argument of a builtin.
    fn of_argument(row: &Builtin, callee: &Callee, argument: usize) -> Option<Self> {
        let decl = signature(row.sig)?;
        // The receiver of a method is its first parameter.
        let skipped = usize::from(row.is_method() && callee.is_member);
        let ty = param(&decl, argument + skipped)?.clone();
        Some(Self { name: String::new(), ty })
    }

    fn named(name: &str) -> Option<Self> {
        let ty = shape(name)?;
        Some(Self { name: name.to_owned(), ty })
    }

    /// Follows keys, `[]` for an element of a list.
    fn below(self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self, |shape, key| {
            if *key == "[]" {
                return Some(Self { name: String::new(), ty: element(&shape.ty)? });
            }
            let field = shape.fields().into_iter().find(|field| field.name == *key)?;
            Some(Self { name: String::new(), ty: field.ty })
        })
    }

    /// Returns the keys that the dict can have.
    pub(super) fn keys(&self) -> Vec<Completion> {
        self.fields().iter().map(OptionField::completion).collect()
    }

    fn fields(&self) -> Vec<OptionField> {
        fields(&self.name, &self.ty)
    }

    /// Returns the texts that the value may be.
    pub(super) fn literals(&self) -> Vec<String> {
        let mut found = Vec::new();
        literals(&self.ty, &mut found);
        found
    }
}

/// Returns the type, default and documentation of the option whose key is at the end of a text.
#[must_use]
pub fn option_at(cursor: &Cursor, key: &str) -> Option<Completion> {
    let shape = OptionShape::at(cursor)?;
    let field = shape.fields().into_iter().find(|field| field.name == key)?;
    Some(field.completion())
}

/// A key of a dict type.
struct OptionField {
    /// The named type that it belongs to; may be empty.
    owner: String,
    name: String,
    ty: TypeExpr,
}

impl OptionField {
    fn completion(&self) -> Completion {
        let row = registry().table(&self.owner).and_then(|table| table.find(&self.name));
        let default = row.map_or("", |row| row.default);
        let mut detail = written(&self.ty);
        if !default.is_empty() {
            detail.push_str(&format!(" = {default}"));
        }
        let doc = row.map_or(String::new(), |row| row.doc.to_owned());
        Completion { doc, ..Completion::new(CompletionKind::Key, self.name.as_str(), detail) }
    }
}

/// Returns the builtin that a callee certainly is.
pub(super) fn builtin_of(callee: &Callee) -> Option<&'static Builtin> {
    match (&callee.namespace, callee.is_member) {
        (Some(namespace), _) => registry().find(namespace, &callee.name),
        (None, false) => registry().find("", &callee.name),
        (None, true) => None,
    }
}

/// Returns the type of the parameter that takes an argument.
fn param(decl: &FnDecl, argument: usize) -> Option<&TypeExpr> {
    decl.params.get(argument).or_else(|| decl.params.last().filter(|param| param.rest))?.ty.as_deref()
}

fn shape(name: &str) -> Option<TypeExpr> {
    let table = registry().table(name)?;
    signature(&format!("dict() -> {table}"))?.returns
}

fn fields(owner: &str, ty: &TypeExpr) -> Vec<OptionField> {
    match &ty.kind {
        TypeKind::Shape { fields, .. } => {
            let field = |(name, _, ty): &(lang::ast::Name, bool, TypeExpr)| OptionField {
                owner: owner.to_owned(),
                name: name.text.to_string(),
                ty: ty.clone(),
            };
            fields.iter().map(field).collect()
        }
        TypeKind::Optional(inner) => fields(owner, inner),
        TypeKind::Union(members) => members.iter().flat_map(|member| fields(owner, member)).collect(),
        TypeKind::Name { name, .. } => shape(name).map_or_else(Vec::new, |ty| fields(name, &ty)),
        _ => Vec::new(),
    }
}

fn element(ty: &TypeExpr) -> Option<TypeExpr> {
    match &ty.kind {
        TypeKind::Name { name, args } if name == "list" => args.first().cloned(),
        TypeKind::Optional(inner) => element(inner),
        TypeKind::Union(members) => members.iter().find_map(element),
        _ => None,
    }
}

fn literals(ty: &TypeExpr, found: &mut Vec<String>) {
    match &ty.kind {
        TypeKind::Literal(text) => found.push(text.to_string()),
        TypeKind::Optional(inner) => literals(inner, found),
        TypeKind::Union(members) => members.iter().for_each(|member| literals(member, found)),
        _ => {}
    }
}

/// A type as a signature writes it; the keys of a dict without their types.
fn written(ty: &TypeExpr) -> String {
    let list = |types: &[TypeExpr], between: &str| types.iter().map(written).collect::<Vec<_>>().join(between);
    match &ty.kind {
        TypeKind::Name { name, args } if args.is_empty() => name.to_string(),
        TypeKind::Name { name, args } => format!("{name}<{}>", list(args, ", ")),
        TypeKind::Fn { params, returns } => format!("fn({}) -> {}", list(params, ", "), written(returns)),
        TypeKind::Shape { fields, .. } => {
            let fields: Vec<String> = fields.iter().map(|(name, _, _)| name.text.to_string()).collect();
            format!("{{{}}}", fields.join(", "))
        }
        TypeKind::Literal(text) => format!("\"{text}\""),
        TypeKind::Union(members) => list(members, " | "),
        TypeKind::Optional(inner) => format!("{}?", written(inner)),
        TypeKind::Error => String::new(),
    }
}
