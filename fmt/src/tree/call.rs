//! Fields, indexes and calls behind an operand.

use super::Writer;
use super::comments::Sep;
use super::expression::ExprContext;
use crate::document::Style;
use lang::ast::{Expr, ExprKind, ListItem};

impl Writer<'_> {
    /// Prints an operand and what is attached to it. Several calls of methods may each have a line of its own.
    pub(super) fn chain(&mut self, e: &Expr) {
        let mut links = Vec::new();
        let mut root = e;
        // The parentheses around the whole are printed already.
        while (root.parens == 0 || links.is_empty())
            && let Some(inner) = receiver(root)
        {
            links.push(root);
            root = inner;
        }
        links.reverse();
        let calls = links.windows(2).filter(|pair| is_method_call(pair[0], pair[1])).count();
        if calls < 2 {
            self.expr(root, ExprContext::Receiver);
            for link in links {
                self.link(link);
            }
            return;
        }
        self.doc.open(Style::Chain);
        self.expr(root, ExprContext::Receiver);
        self.doc.indent();
        // `transcript.reminders(t)` is one call, of a function in a namespace.
        let mut close = matches!(root.kind, ExprKind::Name(_)) && !takes_closure(links[1]);
        let behind = links.iter().skip(1).map(|next| Some(*next)).chain([None]);
        for (link, next) in links.iter().zip(behind) {
            if next.is_some_and(|next| is_method_call(link, next)) {
                let broken = self.cursor.on_new_line();
                if broken {
                    self.doc.ask();
                }
                if !close || broken {
                    self.sep(Sep::Soft);
                }
            }
            close = false;
            self.link(link);
        }
        self.doc.dedent();
        self.doc.close();
    }

    /// Prints what is attached to an operand.
    fn link(&mut self, link: &Expr) {
        match &link.kind {
            ExprKind::Field { .. } => {
                self.tok();
                self.tok();
            }
            ExprKind::Index { object: _, index, optional: _ } => {
                self.tok();
                self.expr(index, ExprContext::Free);
                self.tok();
            }
            ExprKind::Slice { object: _, from, to } => {
                self.tok();
                if let Some(from) = from {
                    self.expr(from, ExprContext::Free);
                }
                self.tok();
                if let Some(to) = to {
                    self.expr(to, ExprContext::Free);
                }
                self.tok();
            }
            ExprKind::Call { callee: _, args } => self.arguments(args),
            ExprKind::Try(_) => self.tok(),
            _ => {}
        }
    }

    /// Prints arguments with their parentheses.
    fn arguments(&mut self, args: &[ListItem]) {
        let style = match args {
            [only] if matches!(only.value.kind, ExprKind::Str(_) | ExprKind::Name(_)) => Style::Never,
            _ => Style::Hug,
        };
        let group = self.doc.open(style);
        self.tok();
        self.doc.opened();
        if self.cursor.on_new_line() {
            self.doc.wish();
        }
        let mut last = None;
        self.elements(args, &mut |w: &mut Self, item: &ListItem| {
            last = w.hugs(&item.value).then(|| w.doc.next_group());
            w.list_item(item);
        });
        self.doc.close();
        if let Some(last) = last {
            self.doc.set_last(group, last);
        }
    }
}

/// Returns whether a call is given a closure at last.
fn takes_closure(call: &Expr) -> bool {
    let ExprKind::Call { args, .. } = &call.kind else { return false };
    args.last().is_some_and(|last| matches!(last.value.kind, ExprKind::Closure(_)))
}

/// Returns the operand that a field, an index or a call is attached to.
fn receiver(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Field { object, .. }
        | ExprKind::Index { object, .. }
        | ExprKind::Slice { object, .. }
        | ExprKind::Call { callee: object, .. }
        | ExprKind::Try(object) => Some(object),
        _ => None,
    }
}

fn is_method_call(link: &Expr, next: &Expr) -> bool {
    matches!(link.kind, ExprKind::Field { .. }) && matches!(next.kind, ExprKind::Call { .. })
}
