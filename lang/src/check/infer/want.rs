//! Demands on an expression.

use crate::check::types::Type;
use crate::resolve::BindingId;
use crate::source::Span;

/// The type that the place of an expression suggests or demands.
#[derive(Clone, Copy)]
pub(super) struct ExpectedType<'t> {
    pub(super) ty: Option<&'t Type>,
    /// Set where it is demanded: who demands it.
    pub(super) why: Option<DemandOrigin>,
    /// Nothing reads the value.
    pub(super) dropped: bool,
}

/// Origin of a demanded type.
#[derive(Clone, Copy)]
pub(in crate::check) enum DemandOrigin {
    /// An annotation at that place.
    Written(Span),
    /// The result of a function, written there.
    Returns(Span),
    /// A builtin, which raises when it gets something else.
    Builtin(&'static str),
    /// A parameter of the function of that name, written there.
    Parameter(Span),
    /// The field of a struct or the value of a variant, written there.
    Declared(Span),
    /// A part of a declaration of another file.
    Imported(BindingId, ImportedPart),
    /// The language itself, such as an index or a range. No place in the script requires it.
    Implicit,
}

/// A part of a declaration of another file, by its number.
#[derive(Clone, Copy)]
pub(in crate::check) enum ImportedPart {
    /// A parameter of a function.
    Parameter(usize),
    /// A field of a struct.
    Field(usize),
    /// A parameter of a function with a receiver, which is not counted: the function, and the parameter.
    Method(usize, usize),
    /// A value of a variant: the variant, and the value.
    Value(usize, usize),
}

impl ImportedPart {
    /// Returns whether it is a parameter.
    pub(in crate::check) const fn is_parameter(self) -> bool {
        matches!(self, Self::Parameter(_) | Self::Method(..))
    }
}

impl<'t> ExpectedType<'t> {
    pub(super) const FREE: ExpectedType<'static> = ExpectedType { ty: None, why: None, dropped: false };
    /// The place of a statement.
    pub(super) const DROPPED: ExpectedType<'static> = ExpectedType { dropped: true, ..Self::FREE };

    /// Suggests: closures learn their parameters from it.
    pub(super) fn hint(ty: &'t Type) -> Self {
        Self { ty: Some(ty), ..ExpectedType::FREE }
    }

    pub(super) fn must(ty: &'t Type, why: DemandOrigin) -> Self {
        Self { ty: Some(ty), why: Some(why), dropped: false }
    }

    /// Returns this demand for a part.
    pub(super) fn part(self, ty: &'t Type) -> Self {
        Self { ty: Some(ty), why: self.why, dropped: false }
    }
}
