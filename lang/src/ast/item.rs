//! Declarations.

use super::{Block, Expr, Name, Pattern, PatternKind, TypeExpr};
use crate::source::Span;

/// A declaration with its attributes and documentation.
#[derive(Debug)]
pub struct Item {
    /// Declaration.
    pub kind: ItemKind,
    /// `pub` before it.
    pub public: bool,
    /// `@test`, `@deprecated("…")` …
    pub attributes: Vec<Attribute>,
    /// `///` and `/** */` before it, without the marks.
    pub doc: Option<String>,
    /// From the first attribute or keyword to the closing brace.
    pub span: Span,
}

/// The attribute of a pipeline that may run again where a process ended in the middle of it.
pub const RESUMABLE: &str = "resumable";
/// The attribute of a function or pipeline that a host serves as a resource, at a URI.
pub const RESOURCE: &str = "resource";
/// The argument of [`RESOURCE`] that names the media type.
pub const MIME_TYPE: &str = "mime_type";
/// The attribute of a function or pipeline that a host serves as a prompt.
pub const PROMPT: &str = "prompt";
/// The attribute of a function that is a test.
pub const TEST: &str = "test";
/// The attribute of a function that runs before each test of its file.
pub const BEFORE: &str = "before";
/// The attribute of a function that runs after each test of its file.
pub const AFTER: &str = "after";
/// The attribute of a field or variant that data calls by another name.
pub const NAME: &str = "name";
/// The attribute of an enum whose variants data tells apart by a key.
pub const TAG: &str = "tag";

impl Item {
    /// Returns its attribute of that name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name.text == name)
    }

    /// Whether it may run again where a process ended in the middle of it.
    #[must_use]
    pub fn is_resumable(&self) -> bool {
        self.attribute(RESUMABLE).is_some()
    }
}

/// `@name(args)`.
#[derive(Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// Its arguments.
    pub args: Vec<AttributeArg>,
    /// The whole of it.
    pub span: Span,
}

impl Attribute {
    /// Returns its argument, if it is one text and no more.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.args.as_slice() {
            [AttributeArg { name: None, value }] => value.plain_text(),
            _ => None,
        }
    }

    /// Returns the value of its argument of that name.
    #[must_use]
    pub fn arg(&self, name: &str) -> Option<&Expr> {
        self.args.iter().find(|arg| arg.name.as_ref().is_some_and(|known| known.text == name)).map(|arg| &arg.value)
    }
}

/// An argument of an attribute: `value`, or `name: value`.
#[derive(Debug)]
pub struct AttributeArg {
    /// Its name.
    pub name: Option<Name>,
    /// Its value.
    pub value: Expr,
}

/// The kinds of declaration.
#[derive(Debug)]
pub enum ItemKind {
    /// `fn name(…) { … }`.
    Fn(FnDecl),
    /// `test "name" { … }`. The name of the function is the text.
    Test(FnDecl),
    /// `pipeline name(…) extends base { … }`.
    Pipeline {
        /// Parameters and body; `override fn`s stand in the body as `Override` items.
        decl: FnDecl,
        /// The base's name.
        extends: Option<Name>,
    },
    /// `override fn name(…) { … }` in the body of a pipeline.
    Override(FnDecl),
    /// `tool name(…) -> T { description "…" body }`.
    Tool {
        /// Parameters and body (without the description).
        decl: FnDecl,
        /// Description that the model reads.
        description: Option<Expr>,
    },
    /// `struct P { x: int }`.
    Struct {
        /// Its name.
        name: Name,
        /// Type parameters.
        generics: Vec<Name>,
        /// In the order of the text.
        fields: Vec<Field>,
    },
    /// `impl P { fn … }`.
    Impl {
        /// The struct or enum.
        target: Name,
        /// The interface, for `impl I for P`-like forms; usually nothing.
        interface: Option<Name>,
        /// Methods; the first parameter is `self`.
        methods: Vec<Item>,
    },
    /// `enum E { A, B(int, string) }`.
    Enum {
        /// Its name.
        name: Name,
        /// Type parameters.
        generics: Vec<Name>,
        /// In the order of the text.
        variants: Vec<Variant>,
    },
    /// `interface I { fn m(self) -> T }`.
    Interface {
        /// Its name.
        name: Name,
        /// Type parameters.
        generics: Vec<Name>,
        /// Methods; bodies are empty blocks where there is none.
        methods: Vec<FnDecl>,
    },
    /// `type Name = T`.
    TypeAlias {
        /// Its name.
        name: Name,
        /// Type parameters.
        generics: Vec<Name>,
        /// Type that it stands for.
        ty: TypeExpr,
    },
    /// `import "path"`, `import {a, b as c} from "path"`.
    Import {
        /// Names taken, with their local names; all public ones when absent.
        names: Option<Vec<(Name, Option<Name>)>>,
        /// The path as written.
        path: Name,
    },
}

/// A function's head and body.
#[derive(Debug)]
pub struct FnDecl {
    /// Its name.
    pub name: Name,
    /// Type parameters.
    pub generics: Vec<Name>,
    /// Parameters.
    pub params: Vec<Param>,
    /// The annotation of the result.
    pub returns: Option<TypeExpr>,
    /// The body.
    pub body: Block,
    /// `gen fn`.
    pub generator: bool,
}

impl FnDecl {
    /// Whether its first parameter is `self`, so that it is called on a value.
    #[must_use]
    pub fn takes_self(&self) -> bool {
        self.params.first().is_some_and(|p| matches!(&p.pattern.kind, PatternKind::Bind(name) if name == "self"))
    }
}

/// A parameter: `name`, `name: T = default`, `{a, b}`, `...rest`.
#[derive(Debug)]
pub struct Param {
    /// Pattern that it binds.
    pub pattern: Pattern,
    /// The annotation.
    pub ty: Option<Box<TypeExpr>>,
    /// Used when the argument is missing or nil.
    pub default: Option<Expr>,
    /// `...` before it.
    pub rest: bool,
    /// The whole of it.
    pub span: Span,
}

/// A struct's field.
#[derive(Debug)]
pub struct Field {
    /// `@name("…")` before it.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Option<TypeExpr>,
    /// Used when the literal leaves it out.
    pub default: Option<Expr>,
}

/// An enum's variant.
#[derive(Debug)]
pub struct Variant {
    /// `@name("…")` before it.
    pub attributes: Vec<Attribute>,
    /// Its name.
    pub name: Name,
    /// The types of its values; a name before a type (`B(r: float)`) is documentation.
    pub fields: Vec<TypeExpr>,
}

/// Returns the name by which data calls a field or variant, if an attribute gives it another one.
#[must_use]
pub fn name_in_data(attributes: &[Attribute]) -> Option<&str> {
    attributes.iter().find(|attribute| attribute.name.text == NAME).and_then(Attribute::text)
}
