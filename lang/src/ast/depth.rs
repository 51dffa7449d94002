//! Depth of a node, kept in each expression so that it is never computed twice.

use super::*;

impl Expr {
    /// A node with its depth; [`ExprKind::TooDeep`] in place of what would pass [`MAX_DEPTH`].
    #[must_use]
    pub fn new(kind: ExprKind, span: Span, id: NodeId) -> Self {
        let mut below = 0;
        kind.parts(&mut |part| below = below.max(part.depth()));
        let depth = below.saturating_add(1);
        if depth > MAX_DEPTH {
            return Self { kind: ExprKind::TooDeep, span, id, depth: 1, parens: 0 };
        }
        Self { kind, span, id, depth, parens: 0 }
    }

    /// Makes a node without parts.
    #[must_use]
    #[inline]
    pub const fn leaf(kind: ExprKind, span: Span, id: NodeId) -> Self {
        Self { kind, span, id, depth: 1, parens: 0 }
    }
}

impl Part<'_> {
    /// Returns the deepest nesting of nodes in this one. Bodies and heads of functions count with their contents.
    fn depth(self) -> u16 {
        let mut below = 0;
        let see = |part: Part<'_>| below = below.max(part.depth());
        match self {
            Self::Expr(e) => return e.depth,
            Self::Type(_) => return 0,
            Self::Block(block) => block.parts(see),
            Self::Closure(closure) => closure.parts(see),
            Self::Param(param) => param.parts(see),
            Self::Item(item) => item.parts(see),
            Self::Stmt(stmt) => {
                stmt.parts(see);
                below = below.saturating_add(1);
            }
            Self::Pattern(pattern) => {
                pattern.parts(see);
                below = below.saturating_add(1);
            }
        }
        below
    }
}
