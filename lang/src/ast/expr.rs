//! Expressions.

use super::{BinaryOp, Block, LogicOp, Name, NodeAt, NodeId, Param, Pattern, TypeExpr, UnaryOp};
use crate::source::Span;
use smol_str::SmolStr;

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// Kind of the expression.
    pub kind: ExprKind,
    /// Span of the expression, including the parentheses around it, because an error points at all of it.
    pub span: Span,
    /// Its id.
    pub id: NodeId,
    /// Deepest nesting of expressions in this one.
    pub depth: u16,
    /// Number of pairs of parentheses around the expression.
    pub parens: u8,
}

impl Expr {
    /// Returns its id and span.
    #[must_use]
    pub const fn at(&self) -> NodeAt {
        NodeAt { id: self.id, span: self.span }
    }

    /// The text of a string literal without interpolation.
    #[must_use]
    pub fn plain_text(&self) -> Option<&str> {
        let ExprKind::Str(parts) = &self.kind else { return None };
        match parts.as_slice() {
            [] => Some(""),
            [StrPart::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// The kinds of expression.
#[derive(Debug)]
pub enum ExprKind {
    /// `nil`.
    Nil,
    /// `true`, `false`.
    Bool(bool),
    /// `42`, `0xff`, `5s` (milliseconds).
    Int(i64),
    /// `3.14`.
    Float(f64),
    /// `"…${…}…"` with escapes resolved; a plain string has one text part or none.
    Str(Vec<StrPart>),
    /// `name`.
    Name(SmolStr),
    /// `list<T>`: a type as a value. A type that is only a name is a [`ExprKind::Name`].
    Type(Box<TypeExpr>),
    /// `_` in the right side of `|>`.
    Placeholder,
    /// `[a, ...b]`.
    List(Vec<ListItem>),
    /// `{a: 1, ...d}`.
    Dict(Vec<DictItem>),
    /// `P {x: 1}`.
    Struct {
        /// The struct.
        name: Name,
        /// Its fields.
        items: Vec<DictItem>,
    },
    /// `(a, b)`.
    Pair(Box<Expr>, Box<Expr>),
    /// `{ a, b -> … }`, `fn(a, b) { … }`.
    Closure(Box<ClosureExpr>),
    /// `!e`, `-e`.
    Unary(UnaryOp, Box<Expr>),
    /// `a op b`; the span is of the operator.
    Binary(BinaryOp, Span, Box<Expr>, Box<Expr>),
    /// `a && b`, `a || b`, `a ?? b`.
    Logic(LogicOp, Box<Expr>, Box<Expr>),
    /// `x |> f`.
    Pipe(Box<Expr>, Box<Expr>),
    /// `a to b`, `a to b exclusive`.
    Range {
        /// First.
        from: Box<Expr>,
        /// Last.
        to: Box<Expr>,
        /// Without the last.
        exclusive: bool,
    },
    /// `c ? a : b`.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x.f`, `x?.f`.
    Field {
        /// The receiver.
        object: Box<Expr>,
        /// The name behind the dot.
        name: Name,
        /// `?.`.
        optional: bool,
    },
    /// `x[i]`, `x?[i]`.
    Index {
        /// The receiver.
        object: Box<Expr>,
        /// The index.
        index: Box<Expr>,
        /// `?[`.
        optional: bool,
    },
    /// `x[a:b]`.
    Slice {
        /// The receiver.
        object: Box<Expr>,
        /// First, from the start when absent.
        from: Option<Box<Expr>>,
        /// One past the last, to the end when absent.
        to: Option<Box<Expr>>,
    },
    /// `f(a, ...b)`. A method call is a call whose callee is a [`ExprKind::Field`].
    Call {
        /// Called value.
        callee: Box<Expr>,
        /// Its arguments.
        args: Vec<ListItem>,
    },
    /// `e?`.
    Try(Box<Expr>),
    /// `try* e`.
    TryStar(Box<Expr>),
    /// `try { … } catch (e: T) { … } finally { … }`.
    TryBlock(Box<TryBlock>),
    /// `if c { … } else { … }`; `otherwise` is a block or another `if`.
    If {
        /// The condition.
        cond: Box<Expr>,
        /// When it holds.
        then: Block,
        /// When it does not.
        otherwise: Option<Box<Expr>>,
    },
    /// `match v { … }`.
    Match {
        /// Matched value.
        value: Box<Expr>,
        /// Tried in order.
        arms: Vec<Arm>,
    },
    /// `{ … }` as a block.
    Block(Block),
    /// `return e`.
    Return(Option<Box<Expr>>),
    /// `throw e`.
    Throw(Box<Expr>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `yield e`.
    Yield(Option<Box<Expr>>),
    /// `emit e`.
    Emit(Box<Expr>),
    /// `retry n { … }`.
    Retry {
        /// Maximum number of attempts.
        times: Box<Expr>,
        /// Block that is tried.
        body: Block,
    },
    /// `parallel n { i -> … }`, `parallel each xs with {…} { x -> … }`, `parallel settle …`.
    Parallel {
        /// Kind of parallel block.
        kind: ParallelKind,
        /// The number or the list.
        over: Box<Expr>,
        /// The options behind `with`.
        options: Option<Box<Expr>>,
        /// The body, a closure.
        body: Box<ClosureExpr>,
    },
    /// `spawn { … }`.
    Spawn(Block),
    /// `deadline 30s { … }`.
    Deadline {
        /// Time limit in milliseconds.
        limit: Box<Expr>,
        /// Block that must be done by then.
        body: Block,
    },
    /// `mutex { … }`.
    Mutex(Block),
    /// `select { m from ch { … } timeout 5s { … } default { … } }`.
    Select(Vec<SelectArm>),
    /// Placeholder for text that could not be parsed, which a diagnostic reports.
    Error,
    /// Deeper than [`MAX_DEPTH`]; what was below is gone and the parser says so.
    TooDeep,
}

/// A closure's parameters and body.
#[derive(Debug)]
pub struct ClosureExpr {
    /// Form in which it is written.
    pub form: ClosureForm,
    /// Parameters.
    pub params: Vec<Param>,
    /// Declared result type.
    pub returns: Option<TypeExpr>,
    /// The body; in braces, its span is that of the whole closure.
    pub body: Block,
}

/// The two forms of a closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosureForm {
    /// `{ a, b -> … }`.
    Braces,
    /// `fn(a, b) { … }`.
    Function,
}

/// `try` with its handlers; without any it gives a `Result`.
#[derive(Debug)]
pub struct TryBlock {
    /// Block that is tried.
    pub body: Block,
    /// `catch`.
    pub catch: Option<Catch>,
    /// `finally`.
    pub finally: Option<Block>,
}

/// `catch (e: T) { … }`.
#[derive(Debug)]
pub struct Catch {
    /// The name of the error.
    pub name: Option<Name>,
    /// Only errors of this type.
    pub ty: Option<TypeExpr>,
    /// The handler.
    pub body: Block,
}

/// `pattern if guard -> body`.
#[derive(Debug)]
pub struct Arm {
    /// Pattern to match.
    pub pattern: Pattern,
    /// And must hold.
    pub guard: Option<Expr>,
    /// A block or an expression.
    pub body: Expr,
    /// The whole arm.
    pub span: Span,
}

/// One arm of a `select`.
#[derive(Debug)]
pub enum SelectArm {
    /// `m from ch { … }`.
    Receive {
        /// The message.
        name: Name,
        /// The channel.
        channel: Expr,
        /// Body to run.
        body: Block,
    },
    /// `timeout 5s { … }`.
    Timeout {
        /// Time limit.
        limit: Expr,
        /// Body to run.
        body: Block,
    },
    /// `default { … }`.
    Default(Block),
}

/// The three forms of `parallel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParallelKind {
    /// `parallel n`.
    Count,
    /// `parallel each`.
    Each,
    /// `parallel settle`.
    Settle,
}

/// A piece of a string literal.
#[derive(Debug)]
pub enum StrPart {
    /// Text with its escapes resolved.
    Text(String),
    /// `${…}`.
    Interp(Expr),
}

/// An element of a list literal, or an argument.
#[derive(Debug)]
pub struct ListItem {
    /// The value.
    pub value: Expr,
    /// `...` before it.
    pub spread: bool,
}

/// An entry of a dict literal.
#[derive(Debug)]
pub enum DictItem {
    /// `a: 1`, `"b c": 2`, and `a` (short for `a: a`).
    Entry {
        /// The key.
        key: Name,
        /// The value; for the short form a name with the key's span.
        value: Expr,
    },
    /// `[k]: v`.
    Computed {
        /// The key.
        key: Expr,
        /// The value.
        value: Expr,
    },
    /// `...d`.
    Spread(Expr),
}
