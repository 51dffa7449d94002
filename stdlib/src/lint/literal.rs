//! Literals as data.

use base::data::Data;
use lang::ast::{Expr, ExprKind, UnaryOp};
use lang::check::CallView;
use std::sync::Arc;

/// A literal of more values than this is not looked into: a few names can make one of any size.
const MOST_VALUES: usize = 10_000;

/// The data that an expression is certain to be; nothing where any part of it is known only at run time.
pub(super) fn data<'a>(view: &CallView<'a>, e: &'a Expr) -> Option<Data> {
    let mut left = MOST_VALUES;
    read(view, e, &mut left)
}

fn read<'a>(view: &CallView<'a>, e: &'a Expr, left: &mut usize) -> Option<Data> {
    *left = left.checked_sub(1)?;
    let e = view.follow(e);
    Some(match &e.kind {
        ExprKind::Nil => Data::Nil,
        ExprKind::Bool(b) => Data::Bool(*b),
        ExprKind::Int(i) => Data::Int(*i),
        ExprKind::Float(f) => Data::Float(*f),
        ExprKind::Unary(UnaryOp::Neg, inner) if matches!(inner.kind, ExprKind::Int(i64::MIN)) => Data::Int(i64::MIN),
        ExprKind::Unary(UnaryOp::Neg, inner) => match read(view, inner, left)? {
            Data::Int(i) => Data::Int(i.checked_neg()?),
            Data::Float(f) => Data::Float(-f),
            _ => return None,
        },
        ExprKind::Str(_) => Data::from(view.text(e)?),
        ExprKind::List(items) => {
            if items.iter().any(|i| i.spread) {
                return None;
            }
            Data::from(items.iter().map(|i| read(view, &i.value, left)).collect::<Option<Vec<_>>>()?)
        }
        ExprKind::Dict(_) => {
            let dict = view.dict(e)?;
            if !dict.complete {
                return None;
            }
            let entries = dict.entries().map(|(k, v)| Some((Arc::<str>::from(k.text.as_str()), read(view, v, left)?)));
            Data::dict(entries.collect::<Option<Vec<_>>>()?)
        }
        // Certainly no data at all; the reader says so by its type.
        _ => return None,
    })
}
