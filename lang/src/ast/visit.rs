//! Walking a whole tree: blocks, declarations, patterns and types included.
//!
//! A pass says what it does at the nodes that it is about, and calls the `walk_…` function to go on below them.

use super::*;

/// Methods that a pass overrides for each kind of node; the defaults visit the children.
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

/// Goes on below a statement.
pub fn walk_stmt<'a, V: Visit<'a> + ?Sized>(v: &mut V, stmt: &'a Stmt) {
    stmt.parts(|part| walk_part(v, part));
}

/// Goes on below a declaration.
pub fn walk_item<'a, V: Visit<'a> + ?Sized>(v: &mut V, item: &'a Item) {
    item.parts(|part| walk_part(v, part));
}

/// Goes on below a block.
pub fn walk_block<'a, V: Visit<'a> + ?Sized>(v: &mut V, block: &'a Block) {
    block.parts(|part| walk_part(v, part));
}

/// Goes on below a pattern.
pub fn walk_pattern<'a, V: Visit<'a> + ?Sized>(v: &mut V, pattern: &'a Pattern) {
    pattern.parts(|part| walk_part(v, part));
}

/// Goes on below an expression.
pub fn walk_expr<'a, V: Visit<'a> + ?Sized>(v: &mut V, e: &'a Expr) {
    e.parts(|part| walk_part(v, part));
}

#[inline]
fn walk_part<'a, V: Visit<'a> + ?Sized>(v: &mut V, part: Part<'a>) {
    match part {
        Part::Expr(e) => v.expr(e),
        Part::Block(block) => v.block(block),
        Part::Closure(closure) => closure.parts(|part| walk_part(v, part)),
        Part::Param(param) => param.parts(|part| walk_part(v, part)),
        Part::Pattern(pattern) => v.pattern(pattern),
        Part::Type(ty) => v.ty(ty),
        Part::Stmt(stmt) => v.stmt(stmt),
        Part::Item(item) => v.item(item),
    }
}
