//! Definitions of structs and variants, which the compiler makes from the declarations of a script.

use super::{Str, Value};
use crate::declaration::{HasName, Methods, Site};
use crate::source::Span;
use std::cell::Cell;

/// A struct while running.
pub struct StructDef {
    /// Its name.
    pub name: Str,
    /// Location of the declaration.
    pub site: Site,
    /// Its fields in the order of the declaration.
    pub fields: Box<[FieldDef]>,
    /// Functions that its `impl`s declare.
    pub methods: Methods<Method>,
}

/// A struct's field.
pub struct FieldDef {
    /// Its name.
    pub name: Str,
    /// Its name in data.
    pub in_data: Str,
    /// Span of the name.
    pub span: Span,
    /// Default, used if a literal leaves it out.
    pub default: FieldDefault,
}

/// Default of a field, used if a literal leaves it out.
pub enum FieldDefault {
    /// It cannot be left out.
    None,
    /// Always the same.
    Constant(Value),
    /// Result type of the function of that number.
    Computed(Cell<u32>),
}

/// An enum while running.
pub struct EnumDef {
    /// Its name.
    pub name: Str,
    /// Location of the declaration, or `None` for `Result`.
    pub site: Option<Site>,
    /// Its variants in the order of the declaration.
    pub variants: Box<[VariantDef]>,
    /// The key by which data tells its variants apart; without one, a variant is its name, or a dict of its name.
    pub tag: Option<Str>,
    /// Functions that its `impl`s declare.
    pub methods: Methods<Method>,
}

/// An enum's variant.
pub struct VariantDef {
    /// Its name.
    pub name: Str,
    /// Its name in data.
    pub in_data: Str,
    /// Span of the name.
    pub span: Span,
    /// Number of values that it holds.
    pub arity: usize,
}

/// An interface while running.
pub struct InterfaceDef {
    /// Its name.
    pub name: Str,
    /// The functions that a value must have.
    pub methods: Box<[Str]>,
}

/// A compiled function of an `impl`.
pub struct Method {
    /// Its name.
    pub name: Str,
    /// Its first parameter is `self`.
    pub takes_self: bool,
    /// Number of arguments besides `self`, if it is fixed.
    pub exact: Option<usize>,
    /// Its number in the isolate.
    pub function: u16,
}

impl HasName for Method {
    fn name(&self) -> &str {
        &self.name
    }
}

impl StructDef {
    /// Returns the index of the field with that name.
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
    /// Returns the index of the variant with that name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|v| v.name.as_str() == name)
    }
}
