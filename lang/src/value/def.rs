//! Declared types: what `struct`, `enum`, `interface` and `type` declare, as values and the passes before them see it.
//!
//! The resolver makes them, `check` and `compile` read them, and values point at them; so a type of an earlier piece of a
//! session or of another file is known as well as one of the same file.

use super::{Str, Value};
use crate::ast::TypeExpr;
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

/// What the name of a type stands for.
#[derive(Clone)]
pub enum TypeDef {
    /// `struct`
    Struct(Rc<StructDef>),
    /// `enum`
    Enum(Rc<EnumDef>),
    /// `interface`
    Interface(Rc<InterfaceDef>),
    /// `type`
    Alias(Rc<AliasDef>),
}

/// Where something is declared.
#[derive(Clone)]
pub struct Site {
    /// The file.
    pub source: SourceRef,
    /// The name.
    pub span: Span,
}

/// A struct as declared.
pub struct StructDef {
    /// Its name.
    pub name: Str,
    /// Where.
    pub site: Site,
    /// Its fields in the order of the declaration.
    pub fields: Box<[FieldDef]>,
    /// What its `impl`s declare.
    pub methods: Methods,
}

/// A struct's field.
pub struct FieldDef {
    /// Its name.
    pub name: Str,
    /// Where.
    pub span: Span,
    /// Its annotation.
    pub ty: Option<TypeExpr>,
    /// What it is where a literal leaves it out.
    pub default: FieldDefault,
}

/// What a field is where a literal leaves it out.
pub enum FieldDefault {
    /// It cannot be left out.
    None,
    /// Always the same.
    Constant(Value),
    /// What the function of that number gives.
    Computed(Cell<u32>),
}

/// An enum as declared.
pub struct EnumDef {
    /// Its name.
    pub name: Str,
    /// Where; nothing for `Result`.
    pub site: Option<Site>,
    /// Its variants in the order of the declaration.
    pub variants: Box<[VariantDef]>,
    /// What its `impl`s declare.
    pub methods: Methods,
}

/// An enum's variant.
pub struct VariantDef {
    /// Its name.
    pub name: Str,
    /// Where.
    pub span: Span,
    /// How many values it holds.
    pub arity: usize,
    /// Their annotations.
    pub types: Box<[TypeExpr]>,
}

/// An interface as declared.
pub struct InterfaceDef {
    /// Its name.
    pub name: Str,
    /// Where.
    pub site: Site,
    /// What a value must have.
    pub methods: Box<[Signature]>,
}

/// `type Name = T`.
pub struct AliasDef {
    /// Its name.
    pub name: Str,
    /// Where.
    pub site: Site,
    /// Its type parameters.
    pub generics: Box<[SmolStr]>,
    /// What it stands for.
    pub ty: TypeExpr,
    /// The types that `ty` names.
    pub names: RefCell<Vec<(SmolStr, Named)>>,
}

/// A type that an alias names: aliases may name one another in a circle.
pub enum Named {
    /// A struct, enum or interface.
    Type(TypeDef),
    /// Another alias, or itself.
    Alias(Weak<AliasDef>),
}

/// A function's head, for callers.
#[derive(Clone)]
pub struct Signature {
    /// Its name.
    pub name: Str,
    /// Where.
    pub span: Span,
    /// Its first parameter is `self`, which is not counted in what follows.
    pub takes_self: bool,
    /// Arguments that must be given.
    pub min: usize,
    /// Arguments that may be given; nothing with a rest parameter.
    pub max: Option<usize>,
    /// The annotations of its parameters.
    pub params: Vec<Option<TypeExpr>>,
    /// The annotation of its result.
    pub returns: Option<TypeExpr>,
}

/// A function of an `impl`.
pub struct Method {
    /// Its head.
    pub signature: Signature,
    /// The file.
    pub source: SourceRef,
    /// Its number in the isolate, once it is compiled.
    pub function: Cell<Option<u16>>,
}

/// The functions of a type's `impl`s.
#[derive(Default)]
pub struct Methods(RefCell<Listed>);

#[derive(Default)]
struct Listed {
    all: Vec<Rc<Method>>,
    /// Where each name is, once there are more than [`FEW`].
    places: HashMap<String, usize>,
}

/// Names that are found soonest by looking at each.
const FEW: usize = 16;

impl Listed {
    fn place(&self, name: &str) -> Option<usize> {
        if self.all.len() > FEW {
            return self.places.get(name).copied();
        }
        self.all.iter().position(|m| m.signature.name.as_str() == name)
    }

    fn push(&mut self, method: Rc<Method>) {
        self.all.push(method);
        let known = self.places.len();
        if self.all.len() > FEW {
            let new = self.all.iter().enumerate().skip(known);
            self.places.extend(new.map(|(at, method)| (method.signature.name.as_str().to_owned(), at)));
        }
    }
}

impl Methods {
    /// The function of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Rc<Method>> {
        let listed = self.0.borrow();
        listed.place(name).and_then(|at| listed.all.get(at)).cloned()
    }

    /// Adds a function; one of the same name is replaced.
    pub fn add(&self, method: Rc<Method>) {
        let mut listed = self.0.borrow_mut();
        let place = listed.place(method.signature.name.as_str());
        match place.and_then(|at| listed.all.get_mut(at)) {
            Some(old) => *old = method,
            None => listed.push(method),
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<Method>> {
        self.0.borrow().all.clone()
    }
}

impl Signature {
    /// What it takes, in a few words.
    #[must_use]
    pub fn parameters(&self) -> String {
        let count = match self.max {
            Some(1) if self.min == 1 => "1 argument".to_owned(),
            Some(max) if max == self.min => format!("{max} arguments"),
            Some(max) => format!("{} to {max} arguments", self.min),
            None => format!("at least {} arguments", self.min),
        };
        match (self.takes_self, self.max) {
            (true, Some(0)) => "takes only `self`".to_owned(),
            (true, _) => format!("takes `self` and {count}"),
            (false, _) => format!("takes {count}"),
        }
    }
}

impl StructDef {
    /// Which field has that name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name.as_str() == name)
    }

    /// The names of its fields.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Str> + DoubleEndedIterator {
        self.fields.iter().map(|f| &f.name)
    }
}

impl EnumDef {
    /// Which variant has that name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|v| v.name.as_str() == name)
    }
}

impl AliasDef {
    /// The type that a name in it stands for.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<TypeDef> {
        let names = self.names.borrow();
        names.iter().find(|(n, _)| n == name).and_then(|(_, named)| match named {
            Named::Type(def) => Some(def.clone()),
            Named::Alias(alias) => alias.upgrade().map(TypeDef::Alias),
        })
    }
}

impl TypeDef {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &Str {
        match self {
            Self::Struct(d) => &d.name,
            Self::Enum(d) => &d.name,
            Self::Interface(d) => &d.name,
            Self::Alias(d) => &d.name,
        }
    }

    /// Where it is declared; nothing for what is built in.
    #[must_use]
    pub fn site(&self) -> Option<&Site> {
        match self {
            Self::Struct(d) => Some(&d.site),
            Self::Enum(d) => d.site.as_ref(),
            Self::Interface(d) => Some(&d.site),
            Self::Alias(d) => Some(&d.site),
        }
    }

    /// In a sentence: `a struct`.
    #[must_use]
    pub fn sort(&self) -> &'static str {
        match self {
            Self::Struct(_) => "a struct",
            Self::Enum(_) => "an enum",
            Self::Interface(_) => "an interface",
            Self::Alias(_) => "a name for another type",
        }
    }

    /// The functions of its `impl`s.
    #[must_use]
    pub fn methods(&self) -> Option<&Methods> {
        match self {
            Self::Struct(d) => Some(&d.methods),
            Self::Enum(d) => Some(&d.methods),
            Self::Interface(_) | Self::Alias(_) => None,
        }
    }

    /// The struct or enum behind aliases that are just another name for it.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let mut def = self.clone();
        // Aliases may name one another in a circle.
        for _ in 0..32 {
            let Self::Alias(alias) = &def else { return def };
            let crate::ast::TypeKind::Name { name, .. } = &alias.ty.kind else { return def };
            let Some(next) = alias.named(name) else { return def };
            def = next;
        }
        def
    }
}

impl std::fmt::Debug for TypeDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.sort(), self.name())
    }
}
