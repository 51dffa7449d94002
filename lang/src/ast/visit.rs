//! Walking a whole tree: blocks, declarations, patterns and types included.
//!
//! A pass says what it does at the nodes that it is about, and calls the `walk_…` function to go on below them.

use super::*;

/// What a pass does at each node; left alone, it goes on below.
#[allow(missing_docs)] // Each is named after its node.
pub trait Visit<'a> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        walk_stmt(self, stmt);
    }
    fn item(&mut self, item: &'a Item) {
        walk_item(self, item);
    }
    fn block(&mut self, block: &'a Block) {
        walk_block(self, block);
    }
    fn expr(&mut self, e: &'a Expr) {
        walk_expr(self, e);
    }
    fn pattern(&mut self, pattern: &'a Pattern) {
        walk_pattern(self, pattern);
    }
    fn ty(&mut self, _ty: &'a TypeExpr) {}
}

/// Goes through a file.
pub fn walk_module<'a, V: Visit<'a> + ?Sized>(v: &mut V, module: &'a Module) {
    module.body.iter().for_each(|s| v.stmt(s));
}

/// Goes on below a block.
pub fn walk_block<'a, V: Visit<'a> + ?Sized>(v: &mut V, block: &'a Block) {
    block.stmts.iter().for_each(|s| v.stmt(s));
}

/// Goes on below a statement.
pub fn walk_stmt<'a, V: Visit<'a> + ?Sized>(v: &mut V, stmt: &'a Stmt) {
    match &stmt.kind {
        StmtKind::Let { pattern, ty, value, .. } => {
            ty.iter().for_each(|t| v.ty(t));
            value.iter().for_each(|e| v.expr(e));
            v.pattern(pattern);
        }
        StmtKind::Assign { target, value, .. } => {
            v.expr(target);
            v.expr(value);
        }
        StmtKind::Expr(e) => v.expr(e),
        StmtKind::While { cond, body } => {
            v.expr(cond);
            v.block(body);
        }
        StmtKind::For { pattern, iter, body } => {
            v.expr(iter);
            v.pattern(pattern);
            v.block(body);
        }
        StmtKind::Guard { cond, otherwise } => {
            v.expr(cond);
            v.block(otherwise);
        }
        StmtKind::Require { cond, message } => {
            v.expr(cond);
            message.iter().for_each(|e| v.expr(e));
        }
        StmtKind::Defer(body) => v.block(body),
        StmtKind::Item(item) => v.item(item),
        StmtKind::Error => {}
    }
}

/// Goes on below a declaration.
pub fn walk_item<'a, V: Visit<'a> + ?Sized>(v: &mut V, item: &'a Item) {
    item.attributes.iter().flat_map(|a| &a.args).for_each(|e| v.expr(e));
    match &item.kind {
        ItemKind::Fn(decl) | ItemKind::Override(decl) | ItemKind::Pipeline { decl, .. } => walk_fn(v, decl),
        ItemKind::Tool { decl, description } => {
            description.iter().for_each(|e| v.expr(e));
            walk_fn(v, decl);
        }
        ItemKind::Struct { fields, .. } => {
            for field in fields {
                field.ty.iter().for_each(|t| v.ty(t));
                field.default.iter().for_each(|e| v.expr(e));
            }
        }
        ItemKind::Impl { methods, .. } => methods.iter().for_each(|m| v.item(m)),
        ItemKind::Enum { variants, .. } => variants.iter().flat_map(|variant| &variant.fields).for_each(|t| v.ty(t)),
        ItemKind::Interface { methods, .. } => methods.iter().for_each(|m| walk_fn(v, m)),
        ItemKind::TypeAlias { ty, .. } => v.ty(ty),
        ItemKind::Import { .. } => {}
    }
}

/// Goes through a function's head and body.
pub fn walk_fn<'a, V: Visit<'a> + ?Sized>(v: &mut V, decl: &'a FnDecl) {
    walk_params(v, &decl.params);
    decl.returns.iter().for_each(|t| v.ty(t));
    v.block(&decl.body);
}

fn walk_params<'a, V: Visit<'a> + ?Sized>(v: &mut V, params: &'a [Param]) {
    for param in params {
        param.ty.iter().for_each(|t| v.ty(t));
        param.default.iter().for_each(|e| v.expr(e));
        v.pattern(&param.pattern);
    }
}

/// Goes on below a pattern.
pub fn walk_pattern<'a, V: Visit<'a> + ?Sized>(v: &mut V, pattern: &'a Pattern) {
    match &pattern.kind {
        PatternKind::Wildcard | PatternKind::Bind(_) | PatternKind::Error => {}
        PatternKind::Literal(e) => v.expr(e),
        PatternKind::Dict { fields, .. } => {
            for field in fields {
                field.default.iter().for_each(|e| v.expr(e));
                v.pattern(&field.pattern);
            }
        }
        PatternKind::List { items, .. } => {
            for (item, default) in items {
                default.iter().for_each(|e| v.expr(e));
                v.pattern(item);
            }
        }
        PatternKind::Pair(a, b) => {
            v.pattern(a);
            v.pattern(b);
        }
        PatternKind::Variant { args, .. } | PatternKind::Or(args) => args.iter().for_each(|p| v.pattern(p)),
    }
}

/// Goes on below an expression.
pub fn walk_expr<'a, V: Visit<'a> + ?Sized>(v: &mut V, e: &'a Expr) {
    e.children(&mut |child| v.expr(child));
    match &e.kind {
        ExprKind::Closure(closure) => walk_closure(v, closure),
        ExprKind::If { then, otherwise, .. } => {
            v.block(then);
            otherwise.iter().for_each(|o| v.expr(o));
        }
        ExprKind::Match { arms, .. } => {
            for arm in arms {
                v.pattern(&arm.pattern);
                arm.guard.iter().for_each(|g| v.expr(g));
                v.expr(&arm.body);
            }
        }
        ExprKind::TryBlock(t) => {
            v.block(&t.body);
            if let Some(catch) = &t.catch {
                catch.ty.iter().for_each(|ty| v.ty(ty));
                v.block(&catch.body);
            }
            t.finally.iter().for_each(|b| v.block(b));
        }
        ExprKind::Block(b) | ExprKind::Spawn(b) | ExprKind::Mutex(b) => v.block(b),
        ExprKind::Retry { body, .. } | ExprKind::Deadline { body, .. } => v.block(body),
        ExprKind::Parallel { body, .. } => walk_closure(v, body),
        ExprKind::Select(arms) => {
            for arm in arms {
                match arm {
                    SelectArm::Receive { channel: head, body, .. } | SelectArm::Timeout { limit: head, body } => {
                        v.expr(head);
                        v.block(body);
                    }
                    SelectArm::Default(body) => v.block(body),
                }
            }
        }
        _ => {}
    }
}

fn walk_closure<'a, V: Visit<'a> + ?Sized>(v: &mut V, closure: &'a Closure) {
    walk_params(v, &closure.params);
    v.block(&closure.body);
}
