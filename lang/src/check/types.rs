//! Literals against signatures.

use super::calls::{Call, Callee, Calls};
use super::codes;
use crate::ast::*;
use crate::builtins::{Builtin, Registry};
use crate::diagnostic::{Diagnostic, nearest};
use crate::lex::token::KEYWORDS;
use crate::parse::parse;
use crate::source::{Source, SourceRef, Span};
use std::collections::HashMap;
use std::rc::Rc;

pub(super) struct Types<'a> {
    source: &'a SourceRef,
    registry: Registry,
    calls: &'a Calls<'a>,
    /// Signatures read so far.
    signatures: HashMap<*const Builtin, Option<Rc<FnDecl>>>,
    /// Named shapes read so far.
    shapes: HashMap<&'static str, Option<Rc<TypeExpr>>>,
}

/// Reads a signature in the language's own syntax.
#[must_use]
pub fn signature(sig: &str) -> Option<FnDecl> {
    let sig = sig.replacen("(self: ", "(receiver: ", 1);
    let (name, rest) = sig.split_at(sig.find('(')?);
    // The name may be a word that no function of a script could have (`emit`).
    let name = if KEYWORDS.contains(&name) { "named" } else { name };
    let source = Source::new("<signature>", format!("fn {name}{rest} {{}}"));
    let parsed = parse(&source);
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    parsed.module.body.into_iter().next().and_then(|stmt| match stmt.kind {
        StmtKind::Item(Item { kind: ItemKind::Fn(decl), .. }) => Some(decl),
        _ => None,
    })
}

/// Reads a type.
fn written(text: &str) -> Option<TypeExpr> {
    signature(&format!("f(x: {text}) -> nil"))?.params.into_iter().next()?.ty
}

impl<'a> Types<'a> {
    pub(super) fn new(source: &'a SourceRef, registry: Registry, calls: &'a Calls<'a>) -> Self {
        Self { source, registry, calls, signatures: HashMap::new(), shapes: HashMap::new() }
    }

    pub(super) fn call(&mut self, call: &Call<'a>, found: &mut Vec<Diagnostic>) {
        let spread = call.args.iter().any(|a| a.spread);
        match call.callee {
            Callee::Builtin(row) => {
                if !spread {
                    let (min, max) = (usize::from(row.arity.min), usize::from(row.arity.max));
                    self.arity(call, &row.full_name(), min, (!row.arity.rest).then_some(max), None, found);
                }
                let Some(decl) = self.signature_of(row) else { return };
                self.arguments(call, &decl, found);
            }
            Callee::Function(decl, attributes) => {
                let positional = decl.params.iter().filter(|p| !p.rest).count();
                let rest = decl.params.iter().any(|p| p.rest);
                let min = decl.params.iter().take_while(|p| !p.rest && p.default.is_none()).count();
                if !spread {
                    self.arity(call, &decl.name.text, min, (!rest).then_some(positional), Some(decl.name.span), found);
                }
                self.deprecated(call, decl, attributes, found);
                for (arg, param) in call.args.iter().take_while(|a| !a.spread).zip(&decl.params) {
                    if let (Some(ty), false) = (&param.ty, param.rest) {
                        self.expect(&arg.value, ty, found);
                    }
                }
            }
        }
    }

    fn arguments(&mut self, call: &Call<'a>, decl: &FnDecl, found: &mut Vec<Diagnostic>) {
        for (arg, param) in call.args.iter().take_while(|a| !a.spread).zip(&decl.params) {
            let nil_default = matches!(param.default.as_ref().map(|d| &d.kind), Some(ExprKind::Nil));
            let nil_given = matches!(arg.value.kind, ExprKind::Nil);
            if let (Some(ty), false) = (&param.ty, param.rest || (nil_default && nil_given)) {
                self.expect(&arg.value, ty, found);
            }
        }
    }

    fn signature_of(&mut self, row: &'static Builtin) -> Option<Rc<FnDecl>> {
        self.signatures.entry(std::ptr::from_ref(row)).or_insert_with(|| signature(row.sig).map(Rc::new)).clone()
    }

    fn arity(
        &self,
        call: &Call<'_>,
        name: &str,
        min: usize,
        max: Option<usize>,
        declared: Option<Span>,
        found: &mut Vec<Diagnostic>,
    ) {
        let given = call.args.len();
        if given >= min && max.is_none_or(|max| given <= max) {
            return;
        }
        let plural = |n: usize| if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") };
        let takes = match max {
            None => format!("at least {}", plural(min)),
            Some(max) if max == min => plural(min),
            Some(max) => format!("{min} to {}", plural(max)),
        };
        let was = if given == 1 { "was" } else { "were" };
        let mut d = Diagnostic::error(codes::ARITY, format!("`{name}` takes {takes}, but {given} {was} given")).label(
            self.source,
            call.span,
            "called here",
        );
        if let Some(span) = declared {
            d = d.label(self.source, span, "declared here");
        } else if let Callee::Builtin(row) = call.callee {
            d = d.help(format!("its signature is `{}`", row.sig));
        }
        found.push(d);
    }

    fn deprecated(&self, call: &Call<'_>, decl: &FnDecl, attributes: &[Attribute], found: &mut Vec<Diagnostic>) {
        let Some(attribute) = attributes.iter().find(|a| a.name.text == "deprecated") else { return };
        let mut d = Diagnostic::warning(codes::DEPRECATED, format!("`{}` is deprecated", decl.name.text)).label(
            self.source,
            call.name,
            "called here",
        );
        if let Some(Expr { kind: ExprKind::Str(parts), .. }) = attribute.args.first()
            && let [StrPart::Text(text)] = parts.as_slice()
        {
            d = d.help(text.clone());
        }
        found.push(d);
    }

    /// Reports where `e` is certain not to be of type `ty`.
    fn expect(&mut self, e: &'a Expr, ty: &TypeExpr, found: &mut Vec<Diagnostic>) {
        let literal = self.calls.follow(e);
        if self.fits(literal, ty) {
            return;
        }
        if let Some(shape) = self.shape_of(ty)
            && let ExprKind::Dict(items) = &literal.kind
        {
            return self.against_shape(literal, items, &shape, found);
        }
        let Some(kind) = kind_of(literal) else { return };
        let words = self.words(ty);
        let mut d = if words.is_empty() {
            Diagnostic::error(codes::TYPE, format!("expected {}, found {kind}", self.describe(ty)))
        } else {
            let list = words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", ");
            Diagnostic::error(codes::TYPE, format!("expected one of {list}"))
        };
        d = d.label(self.source, e.span, format!("this is {kind}"));
        if let ExprKind::Str(parts) = &literal.kind
            && let [StrPart::Text(text)] = parts.as_slice()
            && let Some(near) = nearest(text, words.iter().map(String::as_str))
        {
            d = d.help(format!("did you mean \"{near}\"?"));
        }
        found.push(d);
    }

    fn against_shape(&mut self, dict: &'a Expr, items: &'a [DictItem], shape: &TypeExpr, found: &mut Vec<Diagnostic>) {
        let TypeKind::Shape { fields, open } = &shape.kind else { return };
        let mut complete = true;
        for item in items {
            match item {
                DictItem::Entry { key, value } => match fields.iter().find(|(name, _, _)| name.text == key.text) {
                    Some((_, optional, ty)) => {
                        let nil = matches!(self.calls.follow(value).kind, ExprKind::Nil);
                        if !(*optional && nil) {
                            self.expect(value, ty, found);
                        }
                    }
                    None if !open => self.unknown_key(key, fields, found),
                    None => {}
                },
                DictItem::Spread(_) | DictItem::Computed { .. } => complete = false,
            }
        }
        if !complete {
            return;
        }
        for (name, optional, _) in fields {
            let given = items.iter().any(|i| matches!(i, DictItem::Entry { key, .. } if key.text == name.text));
            if !optional && !given {
                found.push(
                    Diagnostic::error(codes::MISSING, format!("`{}` is missing", name.text))
                        .label(self.source, dict.span, "in this dict")
                        .help(format!("add `{}: …`", name.text)),
                );
            }
        }
    }

    fn unknown_key(&self, key: &Name, fields: &[(Name, bool, TypeExpr)], found: &mut Vec<Diagnostic>) {
        let names = || fields.iter().map(|(name, _, _)| name.text.as_str());
        let mut d = Diagnostic::error(codes::KEY, format!("there is no option `{}`", key.text)).label(
            self.source,
            key.span,
            "unknown",
        );
        if let Some(near) = nearest(&key.text, names()) {
            d = d.help(format!("did you mean `{near}`?")).fix(key.span, near);
        } else {
            d = d.note(format!("known are {}", names().collect::<Vec<_>>().join(", ")));
        }
        found.push(d);
    }

    /// Whether `e` may be of type `ty`: only what is certain says no.
    fn fits(&mut self, e: &'a Expr, ty: &TypeExpr) -> bool {
        match &ty.kind {
            TypeKind::Error => true,
            TypeKind::Optional(inner) => matches!(e.kind, ExprKind::Nil) || self.fits(e, inner),
            TypeKind::Union(parts) => parts.iter().any(|p| self.fits(e, p)),
            TypeKind::Literal(text) => match &e.kind {
                ExprKind::Str(parts) => match parts.as_slice() {
                    [] => text.is_empty(),
                    [StrPart::Text(t)] => t.as_str() == text.as_str(),
                    _ => true,
                },
                _ => kind_of(e).is_none(),
            },
            TypeKind::Fn { .. } => matches!(kind_of(e), None | Some("a closure")),
            TypeKind::Shape { fields, open } => match &e.kind {
                ExprKind::Dict(items) => self.fits_shape(items, fields, *open),
                _ => kind_of(e).is_none(),
            },
            TypeKind::Name { name, args } => self.fits_name(e, name, args),
        }
    }

    fn fits_shape(&mut self, items: &'a [DictItem], fields: &[(Name, bool, TypeExpr)], open: bool) -> bool {
        let mut complete = true;
        let fine = items.iter().all(|item| match item {
            DictItem::Entry { key, value } => match fields.iter().find(|(name, _, _)| name.text == key.text) {
                Some((_, optional, ty)) => {
                    let value = self.calls.follow(value);
                    (*optional && matches!(value.kind, ExprKind::Nil)) || self.fits(value, ty)
                }
                None => open,
            },
            DictItem::Spread(_) | DictItem::Computed { .. } => {
                complete = false;
                true
            }
        });
        let given =
            |name: &Name| items.iter().any(|i| matches!(i, DictItem::Entry { key, .. } if key.text == name.text));
        fine && (!complete || fields.iter().all(|(name, optional, _)| *optional || given(name)))
    }

    fn fits_name(&mut self, e: &'a Expr, name: &str, args: &[TypeExpr]) -> bool {
        let Some(kind) = kind_of(e) else { return true };
        match name {
            "int" => kind == "an int",
            "float" => kind == "a float" || kind == "an int",
            "string" => kind == "a string",
            "bool" => kind == "a bool",
            "nil" => kind == "nil",
            "dict" => kind == "a dict",
            "list" => match (&e.kind, args.first()) {
                (ExprKind::List(items), Some(item)) => {
                    items.iter().all(|i| i.spread || self.fits(self.calls.follow(&i.value), item))
                }
                _ => kind == "a list",
            },
            "fn" => kind == "a closure",
            "set" | "bytes" => false,
            _ => match self.named(name) {
                Some(shape) => self.fits(e, &shape),
                // A transcript, a stream …: what a dict, or a name, may turn out to be.
                None => true,
            },
        }
    }

    fn named(&mut self, name: &str) -> Option<Rc<TypeExpr>> {
        let (name, text) = self.registry.shape(name)?;
        self.shapes.entry(name).or_insert_with(|| written(text).map(Rc::new)).clone()
    }

    /// The shape that a type comes to, where it is one.
    fn shape_of(&mut self, ty: &TypeExpr) -> Option<Rc<TypeExpr>> {
        match &ty.kind {
            TypeKind::Shape { .. } => Some(Rc::new(ty.clone())),
            TypeKind::Optional(inner) => self.shape_of(inner),
            TypeKind::Union(parts) => parts.iter().find_map(|p| self.shape_of(p)),
            TypeKind::Name { name, .. } => {
                let shape = self.named(name)?;
                if matches!(shape.kind, TypeKind::Shape { .. }) { Some(shape) } else { self.shape_of(&shape) }
            }
            _ => None,
        }
    }

    fn words(&mut self, ty: &TypeExpr) -> Vec<String> {
        match &ty.kind {
            TypeKind::Literal(text) => vec![text.to_string()],
            TypeKind::Union(parts) if parts.iter().all(|p| matches!(p.kind, TypeKind::Literal(_))) => {
                parts.iter().flat_map(|p| self.words(p)).collect()
            }
            TypeKind::Optional(inner) => self.words(inner),
            _ => Vec::new(),
        }
    }

    fn describe(&self, ty: &TypeExpr) -> String {
        match &ty.kind {
            TypeKind::Name { name, .. } => match name.as_str() {
                "int" => "an int".to_owned(),
                "nil" => "nil".to_owned(),
                "any" | "unknown" => "anything".to_owned(),
                other if self.registry.shape(other).is_some() => "a dict".to_owned(),
                other => format!("a {other}"),
            },
            TypeKind::Fn { .. } => "a function".to_owned(),
            TypeKind::Shape { .. } => "a dict".to_owned(),
            TypeKind::Literal(text) => format!("\"{text}\""),
            TypeKind::Optional(inner) => format!("{} or nil", self.describe(inner)),
            TypeKind::Union(parts) => parts.iter().map(|p| self.describe(p)).collect::<Vec<_>>().join(" or "),
            TypeKind::Error => "anything".to_owned(),
        }
    }
}

/// What a literal certainly is.
pub(super) fn kind_of(e: &Expr) -> Option<&'static str> {
    Some(match &e.kind {
        ExprKind::Nil => "nil",
        ExprKind::Bool(_) => "a bool",
        ExprKind::Int(_) => "an int",
        ExprKind::Float(_) => "a float",
        ExprKind::Str(_) => "a string",
        ExprKind::List(_) => "a list",
        ExprKind::Dict(_) => "a dict",
        ExprKind::Closure(_) => "a closure",
        ExprKind::Unary(UnaryOp::Neg, inner) => return kind_of(inner).filter(|k| *k == "an int" || *k == "a float"),
        _ => return None,
    })
}
