//! The syntax tree. Every node keeps its span; no node knows what it means.
//!
//! Depth is bounded: [`Expr::new`] refuses chains deeper than [`MAX_DEPTH`] (left chains such as `1 + 1 + …` are loops
//! in the parser, but recursion in every pass behind it), so that later passes may recurse without care.

mod depth;
mod expr;
mod id;
mod item;
mod operator;
mod parts;
mod pattern;
mod types;
pub mod visit;

pub use expr::*;
pub use id::{NodeAt, NodeId, NodeIds, NodeMap, NodeSet};
pub use item::*;
pub use operator::{BinaryOp, LogicOp, UnaryOp};
pub use parts::Part;
pub use pattern::{Pattern, PatternField, PatternKind};
pub use types::{TypeExpr, TypeKind};

use crate::source::Span;
use smol_str::SmolStr;

/// The deepest expression a script may hold.
pub const MAX_DEPTH: u16 = 1000;

/// An identifier where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// Text as written.
    pub text: SmolStr,
    /// Span of the name.
    pub span: Span,
    /// Its id.
    pub id: NodeId,
}

impl Name {
    /// Returns its id and span.
    #[must_use]
    pub const fn at(&self) -> NodeAt {
        NodeAt { id: self.id, span: self.span }
    }
}

/// A whole file.
#[derive(Debug, Default)]
pub struct Module {
    /// Items and statements in the order of the text.
    pub body: Vec<Stmt>,
}

/// `{ … }` as a body: its last expression is its value.
#[derive(Debug)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// Braces included.
    pub span: Span,
    /// Its id.
    pub id: NodeId,
}

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    /// Kind of the statement.
    pub kind: StmtKind,
    /// Span of the statement.
    pub span: Span,
}

impl Stmt {
    /// Returns the kind of the declaration that it is.
    #[must_use]
    pub fn item(&self) -> Option<&ItemKind> {
        if let StmtKind::Item(item) = &self.kind { Some(&item.kind) } else { None }
    }
}

/// The kinds of statement.
#[derive(Debug)]
pub enum StmtKind {
    /// `let p: T = v`, `const …`, `var …`; without a value it is nil.
    Let {
        /// `let`, `const` or `var`.
        kind: LetKind,
        /// Pattern that it binds.
        pattern: Pattern,
        /// The annotation.
        ty: Option<Box<TypeExpr>>,
        /// The value.
        value: Option<Expr>,
        /// `pub` before it.
        public: bool,
    },
    /// `target = v`, `target += v`.
    Assign {
        /// A name, or a path of fields and indexes that starts at one.
        target: Expr,
        /// The operator of a compound assignment.
        op: Option<BinaryOp>,
        /// The right side.
        value: Expr,
    },
    /// An expression for its effect or, in last place, for its value.
    Expr(Expr),
    /// `while c { … }`.
    While {
        /// Looked at before each turn.
        cond: Expr,
        /// The turn.
        body: Block,
    },
    /// `for p in xs { … }`.
    For {
        /// The loop variables.
        pattern: Pattern,
        /// Value that is iterated over.
        iter: Expr,
        /// The turn.
        body: Block,
    },
    /// `guard c else { … }`.
    Guard {
        /// Condition that must be true.
        cond: Expr,
        /// Must leave the scope.
        otherwise: Block,
    },
    /// `require c, "message"`.
    Require {
        /// Condition that must be true.
        cond: Expr,
        /// Said when it does not.
        message: Option<Expr>,
    },
    /// `defer { … }`.
    Defer(Block),
    /// A declaration.
    Item(Box<Item>),
    /// Placeholder for text that could not be parsed, which a diagnostic reports.
    Error,
}

/// Keyword that makes a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetKind {
    /// Bound once.
    Let,
    /// Bound once.
    Const,
    /// May be assigned to.
    Var,
}
