//! Struct literals, variants and the functions of types: names that are not there, and what is too many or too few.

use super::messages;
use crate::ast::*;
use crate::declaration::{DefaultDecl, EnumDecl, Methods, Signature, StructDecl, TypeDecl};
use crate::diagnostic::Diagnostic;
use crate::resolve::Resolution;
use crate::source::{SourceRef, Span};
use std::collections::HashMap;

/// Checks the uses of members.
pub(super) struct Members<'c> {
    source: &'c SourceRef,
    names: &'c Resolution,
    pub(super) found: Vec<Diagnostic>,
}

impl<'c> Members<'c> {
    pub(super) fn new(source: &'c SourceRef, names: &'c Resolution) -> Self {
        Self { source, names, found: Vec::new() }
    }

    /// Checks an expression, without its parts.
    #[inline]
    pub(super) fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Struct { .. } | ExprKind::Field { .. } | ExprKind::Call { .. } => self.use_of_member(e),
            _ => {}
        }
    }

    /// Checks an expression that may use a member. A function of its own, so that the test before it is inlined.
    #[inline(never)]
    fn use_of_member(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Struct { name, items } => {
                if let Some(TypeDecl::Struct(def)) = self.names.named_type(name.id).map(TypeDecl::resolved) {
                    self.literal(&def, name, items);
                }
            }
            ExprKind::Field { name, .. } => {
                if let Some(owner) = self.names.owner_of(name.id) {
                    self.member(&owner, name);
                }
            }
            ExprKind::Call { callee, args } => {
                if let ExprKind::Field { name, .. } = &callee.kind
                    && let Some(owner) = self.names.owner_of(name.id)
                    && args.iter().all(|a| !a.spread)
                {
                    let args: Vec<Span> = args.iter().map(|arg| arg.value.span).collect();
                    self.call(&owner, name, &args, e.span);
                }
            }
            _ => {}
        }
    }

    /// Checks a pattern, without its parts.
    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Dict { name: Some(name), fields, .. } => {
                if let Some(TypeDecl::Struct(def)) = self.names.named_type(name.id).map(TypeDecl::resolved) {
                    for field in fields {
                        if def.position(&field.key.text).is_none() {
                            let end = field.default.as_ref().map_or(field.pattern.span.end, |e| e.span.end);
                            self.no_field(&def, &field.key, Span::new(field.key.span.start, end));
                        }
                    }
                }
            }
            PatternKind::Variant { enum_name, variant, args } => {
                let values: Vec<Span> = args.iter().map(|value| value.span).collect();
                self.variant_pattern(enum_name.as_deref(), variant, &values, pattern.span);
            }
            _ => {}
        }
    }

    fn literal(&mut self, def: &StructDecl, name: &Name, items: &[DictItem]) {
        let mut given: HashMap<&str, (usize, &Name)> = HashMap::new();
        let mut complete = true;
        for (number, item) in items.iter().enumerate() {
            let DictItem::Entry { key, value } = item else {
                complete = false;
                continue;
            };
            if def.position(&key.text).is_none() {
                self.no_field(def, key, Span::new(key.span.start, value.span.end));
            } else if let Some((at, first)) = given.get(key.text.as_str()) {
                let entry = match items.get(at + 1) {
                    Some(DictItem::Entry { key: next, .. }) => Some(Span::new(first.span.start, next.span.start)),
                    _ => None,
                };
                self.found.push(messages::duplicate_field(self.source, key, first.span, entry));
            } else {
                given.insert(&key.text, (number, key));
            }
        }
        let missing: Vec<_> = def
            .fields
            .iter()
            .filter(|f| matches!(f.default, DefaultDecl::None) && !given.contains_key(f.name.as_str()))
            .collect();
        let Some(first) = missing.first().filter(|_| complete) else { return };
        self.found.push(messages::missing_fields(self.source, name, def, &missing, first.span));
    }

    fn no_field(&mut self, def: &StructDecl, key: &Name, entry: Span) {
        self.found.push(messages::unknown_field(self.source, key, def, entry));
    }

    /// `Type.name` must be a variant or a function of the type.
    fn member(&mut self, owner: &TypeDecl, name: &Name) {
        let methods = owner.methods().map(Methods::all).unwrap_or_default();
        let variants: Vec<&str> = match owner {
            TypeDecl::Enum(def) => def.variants.iter().map(|v| v.name.as_str()).collect(),
            _ => Vec::new(),
        };
        let names = variants.into_iter().chain(methods.iter().map(|m| m.signature.name.as_str()));
        let names: Vec<&str> = names.collect();
        // Every type that is a value can be made from data.
        if name.text != "from" && !names.iter().any(|n| *n == name.text) {
            self.found.push(messages::unknown_member(self.source, name, owner, &names));
        }
    }

    fn call(&mut self, owner: &TypeDecl, name: &Name, args: &[Span], span: Span) {
        let given = args.len();
        if let TypeDecl::Enum(def) = owner
            && let Some(variant) = def.position(&name.text).and_then(|at| def.variants.get(at))
        {
            if variant.arity != given {
                self.found.push(messages::variant_count(self.source, def, variant, args, span));
            }
            return;
        }
        let Some(method) = owner.methods().and_then(|m| m.get(&name.text)) else { return };
        let Signature { takes_self, min, max, .. } = &method.signature;
        let own = usize::from(*takes_self);
        let (min, max) = (min + own, max.map(|max| max + own));
        if given >= min && max.is_none_or(|max| given <= max) {
            return;
        }
        self.found.push(messages::method_arity(self.source, owner, name, &method, args, span));
    }

    fn variant_pattern(&mut self, enum_name: Option<&Name>, variant: &Name, values: &[Span], span: Span) {
        let def = match enum_name {
            None => EnumDecl::result(),
            Some(name) => match self.names.named_type(name.id).map(TypeDecl::resolved) {
                Some(TypeDecl::Enum(def)) => def,
                None if name.text == "Result" => EnumDecl::result(),
                _ => return,
            },
        };
        match def.position(&variant.text).and_then(|at| def.variants.get(at)) {
            Some(found) if found.arity == values.len() => {}
            Some(found) => {
                let d = messages::variant_count(self.source, &def, found, values, span);
                let is_short = values.len() < found.arity;
                self.found.push(if is_short { messages::any_value(d, &def, found, values, span) } else { d });
            }
            None if enum_name.is_none() => self.bare_variant(variant),
            None => self.member(&TypeDecl::Enum(def), variant),
        }
    }

    /// `B(x)` without its enum.
    fn bare_variant(&mut self, variant: &Name) {
        let owner = self.names.bindings.iter().find_map(|b| match b.def.as_ref().map(TypeDecl::resolved) {
            Some(TypeDecl::Enum(def)) if def.position(&variant.text).is_some() => Some(b.name.clone()),
            _ => None,
        });
        self.found.push(messages::bare_variant(self.source, variant, owner.as_deref()));
    }
}
