//! Literals as data.

use lang::ast::{Expr, ExprKind, UnaryOp};
use lang::check::CallView;
use runtime::data::Data;
use std::sync::Arc;

/// The data that an expression is certain to be; nothing where any part of it is known only at run time.
pub(super) fn data<'a>(view: &CallView<'a>, e: &'a Expr) -> Option<Data> {
    let e = view.follow(e);
    Some(match &e.kind {
        ExprKind::Nil => Data::Nil,
        ExprKind::Bool(b) => Data::Bool(*b),
        ExprKind::Int(i) => Data::Int(*i),
        ExprKind::Float(f) => Data::Float(*f),
        ExprKind::Unary(UnaryOp::Neg, inner) => match data(view, inner)? {
            Data::Int(i) => Data::Int(i.checked_neg()?),
            Data::Float(f) => Data::Float(-f),
            _ => return None,
        },
        ExprKind::Str(_) => Data::from(view.text(e)?),
        ExprKind::List(items) => {
            if items.iter().any(|i| i.spread) {
                return None;
            }
            Data::from(items.iter().map(|i| data(view, &i.value)).collect::<Option<Vec<_>>>()?)
        }
        ExprKind::Dict(_) => {
            let dict = view.dict(e)?;
            if !dict.complete {
                return None;
            }
            let entries = dict.entries().map(|(k, v)| Some((Arc::<str>::from(k.text.as_str()), data(view, v)?)));
            Data::dict(entries.collect::<Option<Vec<_>>>()?)
        }
        // Certainly no data at all; the reader says so by its type.
        _ => return None,
    })
}
