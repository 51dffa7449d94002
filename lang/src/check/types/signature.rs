//! Signatures of builtins, read from their rows when a script uses them.

use super::{Type, TypeReader};
use crate::ast::{PatternKind, TypeExpr, TypeKind};
use crate::declaration::{Arity, Builtin, Index, Registry};
use crate::parse::signature;
use smol_str::SmolStr;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A builtin's parameters and result; single capital letters are type parameters.
#[derive(Debug, PartialEq)]
pub(in crate::check) struct BuiltinSignature {
    /// Name, type, and whether nil stands for a default. The receiver of a method comes first.
    pub(in crate::check) params: Vec<BuiltinParam>,
    pub(in crate::check) returns: Type,
}

/// A parameter of a builtin.
#[derive(Debug, PartialEq)]
pub(in crate::check) struct BuiltinParam {
    pub(in crate::check) name: SmolStr,
    pub(in crate::check) ty: Type,
    pub(in crate::check) optional: bool,
    pub(in crate::check) rest: bool,
    /// Its type has the parameter `E`, which stands for the payload of an event.
    pub(in crate::check) mentions_event: bool,
}

/// The signatures and shapes of a registry that were read so far, each once.
pub(in crate::check) struct Signatures {
    registry: Registry,
    read: RefCell<HashMap<*const u8, Rc<BuiltinSignature>>>,
    shapes: RefCell<HashMap<&'static str, Type>>,
}

impl Signatures {
    fn new(registry: Registry) -> Self {
        Self { registry, read: RefCell::default(), shapes: RefCell::default() }
    }

    /// Returns those of a registry. A thread keeps the last one's: a server checks a script for each task, and the signatures
    /// of builtins never change.
    pub(in crate::check) fn of_registry(registry: Registry) -> Rc<Self> {
        thread_local! {
            static KEPT: RefCell<Option<(&'static Index, Rc<Signatures>)>> = const { RefCell::new(None) };
        }
        let Some(place) = registry.place() else { return Rc::new(Self::new(registry)) };
        KEPT.with_borrow_mut(|kept| match kept {
            Some((known, signatures)) if std::ptr::eq(*known, place) => signatures.clone(),
            _ => kept.insert((place, Rc::new(Self::new(registry)))).1.clone(),
        })
    }

    pub(in crate::check) fn of(&self, row: &'static Builtin) -> Rc<BuiltinSignature> {
        // Rows that share their text share their signature.
        let key = row.sig.as_ptr();
        if let Some(known) = self.read.borrow().get(&key) {
            return known.clone();
        }
        let signature = Rc::new(BuiltinSignature::read(row, self));
        self.read.borrow_mut().insert(key, signature.clone());
        signature
    }

    /// A type of a signature: it names no declarations of a file.
    fn ty(&self, ty: &TypeExpr) -> Type {
        TypeReader { file: None, signatures: self, generics: &[], open: Vec::new() }.read(ty)
    }

    /// A named type of the registry.
    pub(in crate::check) fn shape(&self, name: &str) -> Option<Type> {
        if let Some(known) = self.shapes.borrow().get(name) {
            return Some(known.clone());
        }
        let (name, text) = self.registry.shape(name)?;
        // A shape that mentions itself is unknown there.
        self.shapes.borrow_mut().insert(name, Type::Any);
        let decl = signature(&format!("shape() -> {text}"));
        let ty = decl.and_then(|decl| decl.returns).map_or(Type::Any, |ty| self.ty(&ty));
        self.shapes.borrow_mut().insert(name, ty.clone());
        Some(ty)
    }
}

impl BuiltinSignature {
    fn read(row: &Builtin, signatures: &Signatures) -> Self {
        let Some(decl) = signature(row.sig) else { return Self::unknown(row) };
        let ty = |ty: Option<&TypeExpr>| ty.map_or(Type::Any, |ty| signatures.ty(ty));
        let params = decl.params.iter().map(|param| BuiltinParam {
            name: if let PatternKind::Bind(name) = &param.pattern.kind { name.clone() } else { SmolStr::default() },
            ty: ty(param.ty.as_deref()),
            optional: param.default.is_some(),
            rest: param.rest,
            mentions_event: param.ty.as_deref().is_some_and(takes_event),
        });
        Self { params: params.collect(), returns: ty(decl.returns.as_ref()) }
    }

    /// The signature of a row whose text is not well formed: only the number of its parameters is known.
    fn unknown(row: &Builtin) -> Self {
        let Arity { min, max, rest } = row.arity;
        let param = |optional, rest| BuiltinParam {
            name: SmolStr::default(),
            ty: Type::Any,
            optional,
            rest,
            mentions_event: false,
        };
        let params = (0..max).map(|i| param(i >= min, false)).chain(rest.then(|| param(false, true)));
        Self { params: params.collect(), returns: Type::Any }
    }
}

/// Whether a function that takes an event is part of a type.
fn takes_event(ty: &TypeExpr) -> bool {
    let is_event = |ty: &TypeExpr| matches!(&ty.kind, TypeKind::Name { name, args } if name == "E" && args.is_empty());
    match &ty.kind {
        TypeKind::Fn { params, returns } => {
            matches!(params.as_slice(), [only] if is_event(only))
                || params.iter().any(takes_event)
                || takes_event(returns)
        }
        TypeKind::Name { args: parts, .. } | TypeKind::Union(parts) => parts.iter().any(takes_event),
        TypeKind::Shape { fields, .. } => fields.iter().any(|(_, _, ty)| takes_event(ty)),
        TypeKind::Optional(inner) => takes_event(inner),
        TypeKind::Literal(_) | TypeKind::Error => false,
    }
}
