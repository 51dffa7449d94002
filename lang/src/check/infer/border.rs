//! Borders: places with a written type that a value enters of which the type is not certain.
//!
//! They are checked while running. Where the type of a value is certain, nothing is checked: `fn area(side: float)` costs nothing
//! if each of its callers in the file is known to pass a number.

use super::Checker;
use super::want::{DemandOrigin, ExpectedType};
use crate::ast::{Block, Expr, ExprKind, ListItem, NodeId, NodeMap, NodeSet, Param};
use crate::check::types::{Type, proves};
use crate::source::{SourceRef, Span};

/// The borders of a file, for the compiler.
#[derive(Default)]
pub struct Borders {
    /// By the expression that may have another type, the written type of the parameter, or the body that may end without a value.
    places: NodeMap<Border>,
    /// The names of the called functions whose arguments are checked where they are written.
    checked_calls: NodeSet,
}

/// A check of a value.
#[derive(Clone)]
pub(crate) struct Border {
    /// The type that is demanded.
    pub(crate) ty: Type,
    /// The kind of place.
    pub(crate) kind: BorderKind,
    /// The place where the type is written; nothing where no place says so.
    pub(crate) written: Option<(SourceRef, Span)>,
}

/// The kind of place that demands a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BorderKind {
    /// A variable, a field or a value of a variant.
    Value,
    /// A parameter.
    Parameter,
    /// The result of a function. An error may leave in its place.
    Result,
    /// The fields of a struct, from a dict.
    Spread,
}

impl Borders {
    /// Returns the check of the value of a node.
    pub(crate) fn at(&self, node: NodeId) -> Option<&Border> {
        self.places.get(&node)
    }

    /// Returns whether the arguments of a call of the function of this name are checked where they are written.
    pub(crate) fn checks_arguments(&self, callee: NodeId) -> bool {
        self.checked_calls.contains(&callee)
    }
}

impl<'a> Checker<'a> {
    /// Notes a value of which the type is not certain to be the demanded one.
    pub(super) fn border(&mut self, node: NodeId, found: &Type, want: ExpectedType<'_>) {
        let (Some(wanted), Some(why)) = (want.ty, want.why) else { return };
        let kind = match why {
            DemandOrigin::Parameter(_) => BorderKind::Parameter,
            DemandOrigin::Imported(_, part) if part.is_parameter() => BorderKind::Parameter,
            DemandOrigin::Written(_) | DemandOrigin::Declared(_) | DemandOrigin::Imported(..) => BorderKind::Value,
            DemandOrigin::Returns(_) => BorderKind::Result,
            // A builtin looks at its arguments, and a function value at its own.
            DemandOrigin::Builtin(_) | DemandOrigin::Implicit => return,
        };
        if proves(found, wanted, &self.world) {
            return;
        }
        let written = self.place_of_origin(why);
        self.borders.places.insert(node, Border { ty: wanted.clone(), kind, written });
    }

    /// In `xs = xs.push(x)`, checks `x` in place of the list, which may be long.
    pub(super) fn pushed_border(&mut self, target: &Expr, value: &Expr, want: ExpectedType<'_>) {
        if let ExprKind::Call { callee, args } = &value.kind
            && let ExprKind::Field { object, name, optional: false } = &callee.kind
            && name.text == "push"
            && let [pushed] = args.as_slice()
            && !pushed.spread
            && let Some(Type::List(of)) = want.ty
            && self.source.slice(object.span) == self.source.slice(target.span)
            && self.borders.places.remove(&value.id).is_some()
        {
            self.border(pushed.value.id, &Type::Any, want.part(of));
        }
    }

    /// Notes that the arguments of a call are checked where they are written, unless a list of them is spread that the function
    /// has to look at.
    pub(super) fn checks_arguments(&mut self, callee: NodeId, args: &[ListItem], params: &[Type]) {
        let looks = params.iter().any(|ty| !matches!(ty, Type::Any | Type::Param(_)));
        if !looks || args.iter().all(|arg| !arg.spread) {
            self.borders.checked_calls.insert(callee);
        }
    }

    /// Notes a dict or struct of which the entries become the fields of a struct.
    pub(super) fn spread_border(&mut self, inner: &Expr, found: &Type, fields: Type, name: Span) {
        if !proves(found, &fields, &self.world) {
            let written = Some((self.source.clone(), name));
            self.borders.places.insert(inner.id, Border { ty: fields, kind: BorderKind::Spread, written });
        }
    }

    /// Notes the type of a parameter, for calls of which the arguments are not known.
    pub(super) fn parameter_border(&mut self, param: &'a Param, ty: &Type) {
        let Some(written) = &param.ty else { return };
        // A default takes the place of nil, and a host may leave the arguments of a pipeline out.
        let takes_nil = param.default.is_some() || self.frame.lenient;
        let ty = if takes_nil { ty.clone().optional() } else { ty.clone() };
        if ty == Type::Any {
            return;
        }
        let written_at = Some((self.source.clone(), written.span));
        self.borders.places.insert(written.id, Border { ty, kind: BorderKind::Parameter, written: written_at });
    }

    /// Notes the type of the result of a function whose body may end without a value.
    pub(super) fn result_border(&mut self, body: &'a Block) {
        let Some((ty, DemandOrigin::Returns(span))) = &self.frame.promised else { return };
        if proves(&Type::Nil, ty, &self.world) {
            return;
        }
        let border = Border { ty: ty.clone(), kind: BorderKind::Result, written: Some((self.source.clone(), *span)) };
        self.borders.places.insert(body.id, border);
    }
}
