//! Struct literals, variants and the functions of types: names that are not there, and what is too many or too few.

use super::CheckCode;
use crate::ast::*;
use crate::declaration::{DefaultDecl, EnumDecl, Methods, Signature, Site, StructDecl, TypeDecl, VariantDecl};
use crate::diagnostic::{Diagnostic, nearest};
use crate::resolve::Resolution;
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::collections::HashMap;
use std::rc::Rc;

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
                    self.call(&owner, name, args.len(), e.span);
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
                            self.no_field(&def, &field.key);
                        }
                    }
                }
            }
            PatternKind::Variant { enum_name, variant, args } => {
                self.variant_pattern(enum_name.as_deref(), variant, args.len(), pattern.span);
            }
            _ => {}
        }
    }

    fn error(&self, code: CheckCode, message: String, span: Span, label: &str) -> Diagnostic {
        Diagnostic::new(code, message).label(self.source, span, label)
    }

    fn literal(&mut self, def: &StructDecl, name: &Name, items: &[DictItem]) {
        let mut given: HashMap<&str, &Name> = HashMap::new();
        let mut complete = true;
        for item in items {
            let DictItem::Entry { key, .. } = item else {
                complete = false;
                continue;
            };
            if def.position(&key.text).is_none() {
                self.no_field(def, key);
            } else if let Some(first) = given.get(key.text.as_str()) {
                let d = self
                    .error(
                        CheckCode::FieldTwice,
                        format!("duplicate field `{}`", key.text),
                        key.span,
                        "given again here",
                    )
                    .label(self.source, first.span, "first given here")
                    .help("remove one of them");
                self.found.push(d);
            } else {
                given.insert(&key.text, key);
            }
        }
        let missing: Vec<_> = def
            .fields
            .iter()
            .filter(|f| matches!(f.default, DefaultDecl::None) && !given.contains_key(f.name.as_str()))
            .collect();
        let Some(first) = missing.first().filter(|_| complete) else { return };
        let list = listed(missing.iter().map(|f| f.name.as_str()), "and");
        let fields = if missing.len() == 1 { "field" } else { "fields" };
        let add: Vec<String> = missing.iter().map(|f| format!("{}: …", f.name)).collect();
        let d = self
            .error(
                CheckCode::FieldMissing,
                format!("missing {fields} {list} of `{}`", def.name),
                name.span,
                "incomplete",
            )
            .label(&def.site.source, first.span, "declared without a default")
            .help(format!("add `{}`", add.join(", ")));
        self.found.push(d);
    }

    fn no_field(&mut self, def: &StructDecl, key: &Name) {
        let d = self
            .error(CheckCode::NoField, format!("`{}` has no field `{}`", def.name, key.text), key.span, "unknown field")
            .label(&def.site.source, def.site.span, "declared here");
        let names = || def.names().map(SmolStr::as_str);
        self.found.push(suggest(d, key, names, "the fields are"));
    }

    /// `Type.name` must be a variant or a function of the type.
    fn member(&mut self, owner: &TypeDecl, name: &Name) {
        let methods = owner.methods().map(Methods::all).unwrap_or_default();
        let variants: Vec<&str> = match owner {
            TypeDecl::Enum(def) => def.variants.iter().map(|v| v.name.as_str()).collect(),
            _ => Vec::new(),
        };
        let names = || variants.iter().copied().chain(methods.iter().map(|m| m.signature.name.as_str()));
        if names().any(|n| n == name.text) {
            return;
        }
        if let TypeDecl::Interface(_) | TypeDecl::Alias(_) = owner {
            let message = format!("`{}` is {} and has no functions", owner.name(), owner.sort());
            let d = self.error(CheckCode::NoMember, message, name.span, "not found");
            return self.found.push(declared(d, owner.site()));
        }
        let what = if variants.is_empty() { "function" } else { "variant or function" };
        let message = format!("`{}` has no {what} `{}`", owner.name(), name.text);
        let d = declared(self.error(CheckCode::NoMember, message, name.span, "not found"), owner.site());
        if let TypeDecl::Struct(def) = owner
            && def.position(&name.text).is_some()
        {
            let help = format!("read the field from a value: `value.{}`", name.text);
            return self.found.push(d.help(help));
        }
        self.found.push(suggest(d, name, names, "there are"));
    }

    fn call(&mut self, owner: &TypeDecl, name: &Name, given: usize, span: Span) {
        if let TypeDecl::Enum(def) = owner
            && let Some(variant) = def.position(&name.text).and_then(|at| def.variants.get(at))
        {
            if variant.arity != given {
                let d = self.wrong_count(def, variant, given, span);
                self.found.push(d);
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
        let message = format!("`{}.{}` takes {}, but {} given", owner.name(), name.text, range(min, max), were(given));
        let mut d = self.error(CheckCode::Arity, message, span, "called here").label(
            &method.source,
            method.signature.span,
            "declared here",
        );
        if *takes_self {
            d = d.help(format!("call it on a value, which is passed as `self`: `value.{}(…)`", name.text));
        }
        self.found.push(d);
    }

    fn variant_pattern(&mut self, enum_name: Option<&Name>, variant: &Name, given: usize, span: Span) {
        let def = match enum_name {
            None => EnumDecl::result(),
            Some(name) => match self.names.named_type(name.id).map(TypeDecl::resolved) {
                Some(TypeDecl::Enum(def)) => def,
                None if name.text == "Result" => EnumDecl::result(),
                _ => return,
            },
        };
        match def.position(&variant.text).and_then(|at| def.variants.get(at)) {
            Some(found) if found.arity == given => {}
            Some(found) => {
                let mut d = self.wrong_count(&def, found, given, span);
                if given == 0 {
                    d = d.help(format!("use `{}.{}(_)` to match any value", def.name, found.name));
                }
                self.found.push(d);
            }
            None if enum_name.is_none() => self.bare_variant(variant),
            None => self.member(&TypeDecl::Enum(def), variant),
        }
    }

    /// `B(x)` without its enum.
    fn bare_variant(&mut self, variant: &Name) {
        let mut d = self.error(
            CheckCode::NoMember,
            format!("`{}` is not a variant of `Result`", variant.text),
            variant.span,
            "unknown variant",
        );
        let owner = self.names.bindings.iter().find_map(|b| match b.def.as_ref().map(TypeDecl::resolved) {
            Some(TypeDecl::Enum(def)) if def.position(&variant.text).is_some() => Some(b.name.clone()),
            _ => None,
        });
        d = match owner {
            Some(owner) => d
                .help(format!("write the name of the enum: `{owner}.{}(…)`", variant.text))
                .fix(variant.span, format!("{owner}.{}", variant.text)),
            None => d.help("write `Enum.Variant(…)`; only `Ok(…)` and `Err(…)` can be written without their enum"),
        };
        self.found.push(d);
    }

    fn wrong_count(&self, def: &Rc<EnumDecl>, variant: &VariantDecl, given: usize, span: Span) -> Diagnostic {
        let holds = match variant.arity {
            0 => "holds no values".to_owned(),
            1 => "holds 1 value".to_owned(),
            n => format!("holds {n} values"),
        };
        let message = format!("`{}.{}` {holds}, but {} given", def.name, variant.name, were(given));
        let d = self.error(CheckCode::Values, message, span, "here");
        match &def.site {
            Some(site) => d.label(&site.source, variant.span, "declared here"),
            None => d,
        }
    }
}

fn declared(d: Diagnostic, site: Option<&Site>) -> Diagnostic {
    match site {
        Some(site) => d.label(&site.source, site.span, "declared here"),
        None => d,
    }
}

/// The nearest name, or all of them.
fn suggest<'n, I: Iterator<Item = &'n str>>(
    d: Diagnostic,
    written: &Name,
    names: impl Fn() -> I,
    they_are: &str,
) -> Diagnostic {
    match nearest(&written.text, names()) {
        Some(near) => d.help(format!("did you mean `{near}`?")).fix(written.span, near),
        None if names().next().is_some() => d.note(format!("{they_are} {}", listed(names(), "and"))),
        None => d,
    }
}

/// `a`, `b` and `c`.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>, last: &str) -> String {
    let names: Vec<String> = names.map(|n| format!("`{n}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [some @ .., end] => format!("{} {last} {end}", some.join(", ")),
    }
}

fn range(min: usize, max: Option<usize>) -> String {
    let arguments = |n: usize| if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") };
    match max {
        None => format!("at least {}", arguments(min)),
        Some(max) if max == min => arguments(min),
        Some(max) => format!("{min} to {}", arguments(max)),
    }
}

fn were(given: usize) -> String {
    if given == 1 { "1 was".to_owned() } else { format!("{given} were") }
}
