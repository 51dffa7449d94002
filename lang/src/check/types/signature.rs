//! Signatures of builtins, read from their rows when a script uses them.

use super::{Shape, ShapeKey, Type, TypeReader};
use crate::ast::{PatternKind, TypeExpr};
use crate::declaration::{Arity, Builtin, Index, Registry};
use crate::diagnostic::spelled_alike;
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
    /// A function in it takes the parameter `E`, the payload of an event, or a dict with it.
    pub(in crate::check) mentions_event: bool,
}

/// The signatures and shapes of a registry that were read so far, each once.
pub(in crate::check) struct Signatures {
    registry: Registry,
    read: RefCell<HashMap<*const u8, Rc<BuiltinSignature>>>,
    shapes: RefCell<HashMap<&'static str, Type>>,
    /// The types of payloads, by their texts.
    payloads: RefCell<HashMap<&'static str, Type>>,
}

impl Signatures {
    fn new(registry: Registry) -> Self {
        Self { registry, read: RefCell::default(), shapes: RefCell::default(), payloads: RefCell::default() }
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

    /// A named type of the registry, or the payload of an event of that name.
    pub(in crate::check) fn shape(&self, name: &str) -> Option<Type> {
        if let Some(known) = self.shapes.borrow().get(name) {
            return Some(known.clone());
        }
        let Some(table) = self.registry.table(name) else { return self.payload(name) };
        let name = table.name;
        // A shape that mentions itself is unknown there.
        self.shapes.borrow_mut().insert(name, Type::Any);
        let ty = if table.linted { Type::dict(Type::Any) } else { self.of_text(&table.to_string()) };
        let ty = if self.registry.hands_over(name) { told(ty) } else { ty };
        let ty = match (ty, self.registry.methods_of(name)) {
            (Type::Shape(shape), methods @ Some(_)) => Type::Shape(Rc::new(Shape { methods, ..(*shape).clone() })),
            (ty, _) => ty,
        };
        self.shapes.borrow_mut().insert(name, ty.clone());
        Some(ty)
    }

    /// The payload of an event, whose name is in snake_case or in PascalCase.
    pub(in crate::check) fn payload(&self, event: &str) -> Option<Type> {
        let (_, text) = self.registry.payloads().iter().find(|(name, _)| spelled_alike(name, event))?;
        if let Some(known) = self.payloads.borrow().get(text) {
            return Some(known.clone());
        }
        let ty = told(self.of_text(text));
        self.payloads.borrow_mut().insert(text, ty.clone());
        Some(ty)
    }

    fn of_text(&self, text: &str) -> Type {
        let decl = signature(&format!("shape() -> {text}"));
        decl.and_then(|decl| decl.returns).map_or(Type::Any, |ty| self.ty(&ty))
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
            mentions_event: false,
        });
        let params = params.map(|param| BuiltinParam { mentions_event: takes_event(&param.ty), ..param });
        Self { params: params.collect(), returns: told(ty(decl.returns.as_ref())) }
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

/// A dict that a builtin hands over, and those in it, as a type that says so.
fn told(ty: Type) -> Type {
    match ty {
        Type::Shape(shape) => {
            let fields = shape.fields.iter().map(|field| ShapeKey { ty: told(field.ty.clone()), ..field.clone() });
            Type::Shape(Rc::new(Shape { told: true, fields: fields.collect(), ..(*shape).clone() }))
        }
        Type::List(of) => Type::List(Rc::new(told((*of).clone()))),
        other => other,
    }
}

/// Whether a function that takes an event is part of a type.
fn takes_event(ty: &Type) -> bool {
    let is_event = |ty: &Type| matches!(ty, Type::Param(name) if name == "E");
    match ty {
        Type::Fn(function) => function.params.iter().any(|param| match param {
            Type::Shape(shape) => shape.fields.iter().any(|field| is_event(&field.ty)),
            other => is_event(other) || takes_event(other),
        }),
        Type::Shape(shape) => shape.fields.iter().any(|field| takes_event(&field.ty)),
        Type::Union(members) => members.iter().any(takes_event),
        Type::List(of) | Type::Dict(of) => takes_event(of),
        _ => false,
    }
}
