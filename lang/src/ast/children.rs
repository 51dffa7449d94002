//! Looking at the expressions inside an expression.

use super::{DictItem, Expr, ExprKind, StrPart};

impl Expr {
    /// Calls `visit` with each expression directly inside this one; statements of blocks are left out.
    pub fn children<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Str(parts) => {
                for part in parts {
                    if let StrPart::Interp(e) = part {
                        visit(e);
                    }
                }
            }
            ExprKind::List(items) => items.iter().for_each(|i| visit(&i.value)),
            ExprKind::Dict(items) | ExprKind::Struct { items, .. } => {
                for item in items {
                    match item {
                        DictItem::Entry { value, .. } | DictItem::Spread(value) => visit(value),
                        DictItem::Computed { key, value } => {
                            visit(key);
                            visit(value);
                        }
                    }
                }
            }
            ExprKind::Unary(_, a)
            | ExprKind::Try(a)
            | ExprKind::TryStar(a)
            | ExprKind::Throw(a)
            | ExprKind::Emit(a)
            | ExprKind::Field { object: a, .. }
            | ExprKind::Match { value: a, .. }
            | ExprKind::If { cond: a, .. }
            | ExprKind::Retry { times: a, .. }
            | ExprKind::Deadline { limit: a, .. } => visit(a),
            ExprKind::Parallel { over, options, .. } => {
                visit(over);
                options.iter().for_each(|e| visit(e));
            }
            ExprKind::Pair(a, b)
            | ExprKind::Binary(_, _, a, b)
            | ExprKind::Logic(_, a, b)
            | ExprKind::Pipe(a, b)
            | ExprKind::Range { from: a, to: b, .. }
            | ExprKind::Index { object: a, index: b, .. } => {
                visit(a);
                visit(b);
            }
            ExprKind::Ternary(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            ExprKind::Slice { object, from, to } => {
                visit(object);
                from.iter().chain(to).for_each(|e| visit(e));
            }
            ExprKind::Call { callee, args } => {
                visit(callee);
                args.iter().for_each(|a| visit(&a.value));
            }
            ExprKind::Return(value) | ExprKind::Yield(value) => value.iter().for_each(|e| visit(e)),
            _ => {}
        }
    }
}
