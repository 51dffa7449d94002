//! Demands on an expression.

use crate::check::types::Type;
use crate::source::Span;

/// The type that the place of an expression suggests or demands.
#[derive(Clone, Copy)]
pub(super) struct Want<'t> {
    pub(super) ty: Option<&'t Type>,
    /// Set where it is demanded: who demands it.
    pub(super) why: Option<Why>,
}

/// Origin of a demanded type.
#[derive(Clone, Copy)]
pub(super) enum Why {
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
    /// The pattern of a receiver …: nobody that could be shown.
    Nobody,
}

impl<'t> Want<'t> {
    pub(super) const FREE: Want<'static> = Want { ty: None, why: None };

    /// Suggests: closures learn their parameters from it.
    pub(super) fn hint(ty: &'t Type) -> Self {
        Self { ty: Some(ty), why: None }
    }

    pub(super) fn must(ty: &'t Type, why: Why) -> Self {
        Self { ty: Some(ty), why: Some(why) }
    }

    /// Returns this demand for a part.
    pub(super) fn part(self, ty: &'t Type) -> Self {
        Self { ty: Some(ty), why: self.why }
    }
}
