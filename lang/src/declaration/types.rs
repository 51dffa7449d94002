//! The types that a script declares.
//!
//! They hold all that checking and compiling must know of a type, so a type of an earlier piece of a session or of another file is
//! known as well as one of the same file.

use super::methods::{HasName, Methods};
use crate::ast::{TypeExpr, TypeKind};
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// Declaration that the name of a type stands for.
#[derive(Clone)]
pub enum TypeDecl {
    /// `struct`
    Struct(Rc<StructDecl>),
    /// `enum`
    Enum(Rc<EnumDecl>),
    /// `interface`
    Interface(Rc<InterfaceDecl>),
    /// `type`
    Alias(Rc<AliasDecl>),
}

/// Location of a declaration.
#[derive(Clone)]
pub struct Site {
    /// The file.
    pub source: SourceRef,
    /// The name.
    pub span: Span,
}

/// A struct as declared.
pub struct StructDecl {
    /// Its name.
    pub name: SmolStr,
    /// Location of the declaration.
    pub site: Site,
    /// Its fields in the order of the declaration.
    pub fields: Box<[FieldDecl]>,
    /// The names in the types of its fields.
    pub scope: TypeScope,
    /// Functions that its `impl`s declare.
    pub methods: Methods<MethodDecl>,
}

/// A struct's field.
pub struct FieldDecl {
    /// Its name.
    pub name: SmolStr,
    /// Its name in data, if that is another one.
    pub in_data: Option<SmolStr>,
    /// Span of the name.
    pub span: Span,
    /// Its annotation.
    pub ty: Option<TypeExpr>,
    /// Default, used if a literal leaves it out.
    pub default: DefaultDecl,
}

impl FieldDecl {
    /// Returns the text of a value that its type accepts, for the place of one that only the author knows.
    #[must_use]
    pub fn placeholder(&self) -> Option<String> {
        placeholder_of_type(self.ty.as_ref())
    }
}

fn placeholder_of_type(ty: Option<&TypeExpr>) -> Option<String> {
    Some(match ty.map(|ty| &ty.kind) {
        None | Some(TypeKind::Optional(_)) => "nil".to_owned(),
        Some(TypeKind::Name { name, .. }) => placeholder_of(name)?.to_owned(),
        Some(TypeKind::Literal(text)) => format!("\"{text}\""),
        Some(TypeKind::Union(parts)) => placeholder_of_type(parts.first())?,
        Some(_) => return None,
    })
}

/// Returns the text of a value of a built-in type.
#[must_use]
pub fn placeholder_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" => "0",
        "float" => "0.0",
        "string" => "\"\"",
        "bool" => "false",
        "list" => "[]",
        "dict" => "{}",
        "nil" => "nil",
        _ => return None,
    })
}

/// Default of a field, used if a literal leaves it out.
pub enum DefaultDecl {
    /// It cannot be left out.
    None,
    /// Always the same.
    Constant(Constant),
    /// Value of its expression.
    Computed,
}

/// The value of an expression that is always the same.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// An int.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(SmolStr),
    /// `[]`
    EmptyList,
    /// `{}`
    EmptyDict,
}

/// An enum as declared.
pub struct EnumDecl {
    /// Its name.
    pub name: SmolStr,
    /// Location of the declaration, or `None` for `Result`.
    pub site: Option<Site>,
    /// Its variants in the order of the declaration.
    pub variants: Box<[VariantDecl]>,
    /// The key by which data tells its variants apart; without one, a variant is its name, or a dict of its name.
    pub tag: Option<SmolStr>,
    /// The names in the types of its values.
    pub scope: TypeScope,
    /// Functions that its `impl`s declare.
    pub methods: Methods<MethodDecl>,
}

/// An enum's variant.
pub struct VariantDecl {
    /// Its name.
    pub name: SmolStr,
    /// Its name in data, if that is another one.
    pub in_data: Option<SmolStr>,
    /// Span of the name.
    pub span: Span,
    /// Number of values that it holds.
    pub arity: usize,
    /// Their annotations.
    pub types: Box<[TypeExpr]>,
}

/// An interface as declared.
pub struct InterfaceDecl {
    /// Its name.
    pub name: SmolStr,
    /// Location of the declaration.
    pub site: Site,
    /// Functions that a value must have.
    pub methods: Box<[Signature]>,
}

/// `type Name = T`.
pub struct AliasDecl {
    /// Its name.
    pub name: SmolStr,
    /// Location of the declaration.
    pub site: Site,
    /// Its type parameters.
    pub generics: Box<[SmolStr]>,
    /// Type that it stands for.
    pub ty: TypeExpr,
    /// The types that `ty` names.
    pub names: RefCell<Vec<(SmolStr, Named)>>,
}

/// A type that an alias names: aliases may name one another in a circle.
pub enum Named {
    /// A struct, enum or interface.
    Type(TypeDecl),
    /// Another alias, or itself.
    Alias(Weak<AliasDecl>),
}

/// The names in the types of a struct's fields or an enum's values.
#[derive(Default)]
pub struct TypeScope {
    /// Its type parameters.
    pub generics: Box<[SmolStr]>,
    names: RefCell<Vec<(SmolStr, WeakDecl)>>,
}

/// A declaration that another names, or itself: the run keeps them all.
enum WeakDecl {
    Struct(Weak<StructDecl>),
    Enum(Weak<EnumDecl>),
    Interface(Weak<InterfaceDecl>),
    Alias(Weak<AliasDecl>),
}

impl TypeScope {
    /// One without names yet.
    #[must_use]
    pub fn new(generics: Box<[SmolStr]>) -> Self {
        Self { generics, names: RefCell::default() }
    }

    /// Says which type a name stands for.
    pub fn add(&self, name: SmolStr, decl: &TypeDecl) {
        let decl = match decl {
            TypeDecl::Struct(decl) => WeakDecl::Struct(Rc::downgrade(decl)),
            TypeDecl::Enum(decl) => WeakDecl::Enum(Rc::downgrade(decl)),
            TypeDecl::Interface(decl) => WeakDecl::Interface(Rc::downgrade(decl)),
            TypeDecl::Alias(decl) => WeakDecl::Alias(Rc::downgrade(decl)),
        };
        self.names.borrow_mut().push((name, decl));
    }

    /// The declaration that a name stands for.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<TypeDecl> {
        let names = self.names.borrow();
        match &names.iter().find(|(known, _)| known == name)?.1 {
            WeakDecl::Struct(decl) => decl.upgrade().map(TypeDecl::Struct),
            WeakDecl::Enum(decl) => decl.upgrade().map(TypeDecl::Enum),
            WeakDecl::Interface(decl) => decl.upgrade().map(TypeDecl::Interface),
            WeakDecl::Alias(decl) => decl.upgrade().map(TypeDecl::Alias),
        }
    }
}

/// A function's head, for callers.
#[derive(Clone)]
pub struct Signature {
    /// Its name.
    pub name: SmolStr,
    /// Span of the name.
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
pub struct MethodDecl {
    /// Its head.
    pub signature: Signature,
    /// The file.
    pub source: SourceRef,
}

impl HasName for MethodDecl {
    fn name(&self) -> &str {
        &self.signature.name
    }
}

impl Signature {
    /// Describes the parameters in a few words.
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

impl FieldDecl {
    /// Returns its name in data.
    #[must_use]
    pub fn data_name(&self) -> &SmolStr {
        self.in_data.as_ref().unwrap_or(&self.name)
    }
}

impl VariantDecl {
    /// Returns its name in data.
    #[must_use]
    pub fn data_name(&self) -> &SmolStr {
        self.in_data.as_ref().unwrap_or(&self.name)
    }
}

impl StructDecl {
    /// Returns the index of the field with that name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name.as_str() == name)
    }

    /// The names of its fields.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &SmolStr> + DoubleEndedIterator {
        self.fields.iter().map(|f| &f.name)
    }
}

thread_local! {
    static RESULT: Rc<EnumDecl> = Rc::new(EnumDecl {
        name: SmolStr::new_static("Result"),
        site: None,
        variants: ["Ok", "Err"]
            .map(|name| {
                let (name, span) = (SmolStr::new_static(name), Span::default());
                VariantDecl { name, in_data: None, span, arity: 1, types: Box::default() }
            })
            .into(),
        tag: None,
        scope: TypeScope::default(),
        methods: Methods::default(),
    });
}

impl EnumDecl {
    /// The enum that `Ok` and `Err` are variants of.
    #[must_use]
    pub fn result() -> Rc<Self> {
        RESULT.with(Rc::clone)
    }

    /// Returns the index of the variant with that name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|v| v.name.as_str() == name)
    }
}

impl AliasDecl {
    /// The type that a name in it stands for.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<TypeDecl> {
        let names = self.names.borrow();
        names.iter().find(|(n, _)| n == name).and_then(|(_, named)| match named {
            Named::Type(def) => Some(def.clone()),
            Named::Alias(alias) => alias.upgrade().map(TypeDecl::Alias),
        })
    }
}

impl TypeDecl {
    /// Returns the address of the declaration, by which two of them are told apart.
    #[must_use]
    pub fn address(&self) -> *const () {
        match self {
            Self::Struct(d) => Rc::as_ptr(d).cast(),
            Self::Enum(d) => Rc::as_ptr(d).cast(),
            Self::Interface(d) => Rc::as_ptr(d).cast(),
            Self::Alias(d) => Rc::as_ptr(d).cast(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &SmolStr {
        match self {
            Self::Struct(d) => &d.name,
            Self::Enum(d) => &d.name,
            Self::Interface(d) => &d.name,
            Self::Alias(d) => &d.name,
        }
    }

    /// Returns the location of the declaration, or `None` if the type is built in.
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
    pub fn methods(&self) -> Option<&Methods<MethodDecl>> {
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
            let TypeKind::Name { name, .. } = &alias.ty.kind else { return def };
            let Some(next) = alias.named(name) else { return def };
            def = next;
        }
        def
    }
}

impl std::fmt::Debug for TypeDecl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.sort(), self.name())
    }
}
