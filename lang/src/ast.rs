//! The syntax tree. Every node keeps its span; no node knows what it means.
//!
//! Depth is bounded: [`Expr::new`] refuses chains deeper than [`MAX_DEPTH`] (left chains such as `1 + 1 + …` are loops
//! in the parser, but recursion in every pass behind it), so that later passes may recurse without care.

use crate::source::Span;
use smol_str::SmolStr;

/// The deepest expression a script may hold.
pub const MAX_DEPTH: u16 = 1000;

/// An identifier where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As written.
    pub text: SmolStr,
    /// Where.
    pub span: Span,
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
}

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Debug)]
pub enum StmtKind {
    /// `let p: T = v`, `const …`, `var …`; without a value it is nil.
    Let {
        /// `let`, `const` or `var`.
        kind: LetKind,
        /// What it binds.
        pattern: Pattern,
        /// The annotation.
        ty: Option<TypeExpr>,
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
        /// What is walked.
        iter: Expr,
        /// The turn.
        body: Block,
    },
    /// `guard c else { … }`.
    Guard {
        /// What must hold.
        cond: Expr,
        /// Must leave the scope.
        otherwise: Block,
    },
    /// `require c, "message"`.
    Require {
        /// What must hold.
        cond: Expr,
        /// Said when it does not.
        message: Option<Expr>,
    },
    /// `defer { … }`.
    Defer(Block),
    /// A declaration.
    Item(Item),
    /// What could not be parsed; a diagnostic has said so.
    Error,
}

/// Which keyword made a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetKind {
    /// Bound once.
    Let,
    /// Bound once.
    Const,
    /// May be assigned to.
    Var,
}

/// A declaration with its attributes and documentation.
#[derive(Debug)]
pub struct Item {
    /// What is declared.
    pub kind: ItemKind,
    /// `pub` before it.
    pub public: bool,
    /// `@test`, `@deprecated("…")` …
    pub attributes: Vec<Attribute>,
    /// `///` and `/** */` before it, without the marks.
    pub doc: Option<String>,
    /// From the first attribute or keyword to the closing brace.
    pub span: Span,
}

/// `@name(args)`.
#[derive(Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// The whole of it.
    pub span: Span,
}

/// The kinds of declaration.
#[derive(Debug)]
pub enum ItemKind {
    /// `fn name(…) { … }`.
    Fn(FnDecl),
    /// `pipeline name(…) extends base { … }`.
    Pipeline {
        /// Parameters and body; `override fn`s stand in the body as `Override` items.
        decl: FnDecl,
        /// The base's name.
        extends: Option<Name>,
    },
    /// `override fn name(…) { … }` in the body of a pipeline.
    Override(FnDecl),
    /// `tool name(…) -> T { description "…" body }`.
    Tool {
        /// Parameters and body (without the description).
        decl: FnDecl,
        /// What the model reads.
        description: Option<Expr>,
    },
    /// `struct P { x: int }`.
    Struct {
        /// Its name.
        name: Name,
        /// Type parameters.
        generics: Vec<Name>,
        /// In the order of the text.
        fields: Vec<Field>,
    },
    /// `impl P { fn … }`.
    Impl {
        /// The struct or enum.
        target: Name,
        /// The interface, for `impl I for P`-like forms; usually nothing.
        interface: Option<Name>,
        /// Methods; the first parameter is `self`.
        methods: Vec<Item>,
    },
    /// `enum E { A, B(int, string) }`.
    Enum {
        /// Its name.
        name: Name,
        /// Type parameters.
        generics: Vec<Name>,
        /// In the order of the text.
        variants: Vec<Variant>,
    },
    /// `interface I { fn m(self) -> T }`.
    Interface {
        /// Its name.
        name: Name,
        /// Type parameters.
        generics: Vec<Name>,
        /// Methods; bodies are empty blocks where there is none.
        methods: Vec<FnDecl>,
    },
    /// `type Name = T`.
    TypeAlias {
        /// Its name.
        name: Name,
        /// Type parameters.
        generics: Vec<Name>,
        /// What it stands for.
        ty: TypeExpr,
    },
    /// `import "path"`, `import {a, b as c} from "path"`.
    Import {
        /// Names taken, with their local names; all public ones when absent.
        names: Option<Vec<(Name, Option<Name>)>>,
        /// The path as written.
        path: SmolStr,
        /// Where the path stands.
        path_span: Span,
    },
}

/// A function's head and body.
#[derive(Debug)]
pub struct FnDecl {
    /// Its name.
    pub name: Name,
    /// Type parameters.
    pub generics: Vec<Name>,
    /// Parameters.
    pub params: Vec<Param>,
    /// The annotation of the result.
    pub returns: Option<TypeExpr>,
    /// The body.
    pub body: Block,
    /// `gen fn`.
    pub generator: bool,
}

/// A parameter: `name`, `name: T = default`, `{a, b}`, `...rest`.
#[derive(Debug)]
pub struct Param {
    /// What it binds.
    pub pattern: Pattern,
    /// The annotation.
    pub ty: Option<TypeExpr>,
    /// Used when the argument is missing or nil.
    pub default: Option<Expr>,
    /// `...` before it.
    pub rest: bool,
    /// The whole of it.
    pub span: Span,
}

/// A struct's field.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Option<TypeExpr>,
    /// Used when the literal leaves it out.
    pub default: Option<Expr>,
}

/// An enum's variant.
#[derive(Debug)]
pub struct Variant {
    /// Its name.
    pub name: Name,
    /// The types of its values; a name before a type (`B(r: float)`) is documentation.
    pub fields: Vec<TypeExpr>,
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
    /// How many expressions lie under it, at the deepest.
    pub depth: u16,
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
    /// `{ a, b -> … }`.
    Closure(Box<Closure>),
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
        /// What is called.
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
        /// What is matched.
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
        /// How often at most.
        times: Box<Expr>,
        /// What is tried.
        body: Block,
    },
    /// `parallel n { i -> … }`, `parallel each xs with {…} { x -> … }`, `parallel settle …`.
    Parallel {
        /// Which of the three.
        kind: ParallelKind,
        /// The number or the list.
        over: Box<Expr>,
        /// The options behind `with`.
        options: Option<Box<Expr>>,
        /// The body, a closure.
        body: Box<Closure>,
    },
    /// `spawn { … }`.
    Spawn(Block),
    /// `deadline 30s { … }`.
    Deadline {
        /// How long, in milliseconds.
        limit: Box<Expr>,
        /// What must be done by then.
        body: Block,
    },
    /// `mutex { … }`.
    Mutex(Block),
    /// `select { m from ch { … } timeout 5s { … } default { … } }`.
    Select(Vec<SelectArm>),
    /// What could not be parsed; a diagnostic has said so.
    Error,
    /// Deeper than [`MAX_DEPTH`]; what was below is gone and the parser says so.
    TooDeep,
}

/// A closure's parameters and body.
#[derive(Debug)]
pub struct Closure {
    /// Parameters.
    pub params: Vec<Param>,
    /// The body; its span is that of the whole closure.
    pub body: Block,
}

/// `try` with its handlers; without any it gives a `Result`.
#[derive(Debug)]
pub struct TryBlock {
    /// What is tried.
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
    /// What fits.
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
        /// What then.
        body: Block,
    },
    /// `timeout 5s { … }`.
    Timeout {
        /// How long.
        limit: Expr,
        /// What then.
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

/// A pattern.
#[derive(Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of pattern.
#[derive(Debug)]
pub enum PatternKind {
    /// `_`.
    Wildcard,
    /// `name`.
    Bind(SmolStr),
    /// `1`, `-1`, `"a"`, `true`, `nil`, `1 to 5`; an expression of constants.
    Literal(Expr),
    /// `{a, b: p, c = d, ...rest}`; `name` for `P {x, y}`.
    Dict {
        /// The struct's name.
        name: Option<Name>,
        /// Its entries.
        fields: Vec<PatternField>,
        /// `...rest`; `Some(None)` for a bare `...` or `..._`.
        rest: Option<Option<Name>>,
    },
    /// `[x, _, ...tail]`.
    List {
        /// Elements before the rest, each with its default.
        items: Vec<(Pattern, Option<Expr>)>,
        /// `...tail`; `Some(None)` for a bare `...`.
        rest: Option<Option<Name>>,
    },
    /// `(k, v)`.
    Pair(Box<Pattern>, Box<Pattern>),
    /// `E.B(x, y)`, `E.A`, `Ok(v)`.
    Variant {
        /// `E`, where it was written.
        enum_name: Option<Name>,
        /// `B`.
        variant: Name,
        /// The values in it.
        args: Vec<Pattern>,
    },
    /// `a | b`.
    Or(Vec<Pattern>),
    /// What could not be parsed.
    Error,
}

/// `key: pattern = default` in a dict pattern.
#[derive(Debug)]
pub struct PatternField {
    /// The key.
    pub key: Name,
    /// What its value must fit; a binding of the same name in the short form.
    pub pattern: Pattern,
    /// Used when the key is missing or nil.
    pub default: Option<Expr>,
}

/// A written type.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of written type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `int`, `list<T>`, `Point`, `nil`.
    Name {
        /// The name.
        name: SmolStr,
        /// The arguments in `< >`.
        args: Vec<TypeExpr>,
    },
    /// `fn(T) -> U`.
    Fn {
        /// Parameters.
        params: Vec<TypeExpr>,
        /// Result.
        returns: Box<TypeExpr>,
    },
    /// `{a: T, b?: U}`; `...` at the end leaves it open.
    Shape {
        /// Name, optional, type.
        fields: Vec<(Name, bool, TypeExpr)>,
        /// Other keys are allowed.
        open: bool,
    },
    /// `"literal"`.
    Literal(SmolStr),
    /// `A | B`.
    Union(Vec<TypeExpr>),
    /// `T?`.
    Optional(Box<TypeExpr>),
    /// What could not be parsed.
    Error,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Neg,
}

/// Operators whose both sides are always evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `**`
    Pow,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `not in`
    NotIn,
}

impl BinaryOp {
    /// As it is written.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::Pow => "**",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }
}

/// Operators that may leave their right side alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogicOp {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `??`
    Coalesce,
}

impl Expr {
    /// A node with its depth; [`ExprKind::TooDeep`] in place of what would pass [`MAX_DEPTH`].
    #[must_use]
    pub fn new(kind: ExprKind, span: Span) -> Self {
        let depth = kind.depth_below().saturating_add(1);
        if depth > MAX_DEPTH {
            return Self { kind: ExprKind::TooDeep, span, depth: 1 };
        }
        Self { kind, span, depth }
    }
}

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
            | ExprKind::Deadline { limit: a, .. }
            | ExprKind::Parallel { over: a, .. } => visit(a),
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

impl Block {
    /// The depth of its deepest expression.
    #[must_use]
    pub fn depth(&self) -> u16 {
        self.stmts.iter().map(Stmt::depth).max().unwrap_or(0)
    }
}

impl Stmt {
    fn depth(&self) -> u16 {
        match &self.kind {
            StmtKind::Let { value, pattern, .. } => value.as_ref().map_or(0, |v| v.depth).max(pattern.depth()),
            StmtKind::Assign { target, value, .. } => target.depth.max(value.depth),
            StmtKind::Expr(e) => e.depth,
            StmtKind::While { cond, body } => cond.depth.max(body.depth()),
            StmtKind::For { iter, body, pattern } => iter.depth.max(body.depth()).max(pattern.depth()),
            StmtKind::Guard { cond, otherwise } => cond.depth.max(otherwise.depth()),
            StmtKind::Require { cond, message } => cond.depth.max(message.as_ref().map_or(0, |m| m.depth)),
            StmtKind::Defer(body) => body.depth(),
            StmtKind::Item(item) => item.depth(),
            StmtKind::Error => 0,
        }
        .saturating_add(1)
    }
}

impl Item {
    fn depth(&self) -> u16 {
        match &self.kind {
            ItemKind::Fn(d)
            | ItemKind::Override(d)
            | ItemKind::Pipeline { decl: d, .. }
            | ItemKind::Tool { decl: d, .. } => d.body.depth().max(params_depth(&d.params)),
            ItemKind::Impl { methods, .. } => methods.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }
}

impl Pattern {
    fn depth(&self) -> u16 {
        match &self.kind {
            PatternKind::Literal(e) => e.depth,
            PatternKind::Dict { fields, .. } => fields
                .iter()
                .map(|f| f.pattern.depth().max(f.default.as_ref().map_or(0, |d| d.depth)))
                .max()
                .unwrap_or(0),
            PatternKind::List { items, .. } => {
                items.iter().map(|(p, d)| p.depth().max(d.as_ref().map_or(0, |d| d.depth))).max().unwrap_or(0)
            }
            PatternKind::Pair(a, b) => a.depth().max(b.depth()),
            PatternKind::Variant { args, .. } | PatternKind::Or(args) => {
                args.iter().map(Self::depth).max().unwrap_or(0)
            }
            PatternKind::Wildcard | PatternKind::Bind(_) | PatternKind::Error => 0,
        }
        .saturating_add(1)
    }
}

fn params_depth(params: &[Param]) -> u16 {
    params.iter().map(|p| p.pattern.depth().max(p.default.as_ref().map_or(0, |d| d.depth))).max().unwrap_or(0)
}

impl ExprKind {
    fn depth_below(&self) -> u16 {
        let of = |e: &Expr| e.depth;
        let opt = |e: &Option<Box<Expr>>| e.as_ref().map_or(0, |e| e.depth);
        match self {
            Self::Nil
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Name(_)
            | Self::Placeholder
            | Self::Break
            | Self::Continue
            | Self::Error
            | Self::TooDeep => 0,
            Self::Str(parts) => parts
                .iter()
                .map(|p| match p {
                    StrPart::Text(_) => 0,
                    StrPart::Interp(e) => e.depth,
                })
                .max()
                .unwrap_or(0),
            Self::List(items) => items.iter().map(|i| i.value.depth).max().unwrap_or(0),
            Self::Dict(items) | Self::Struct { items, .. } => items
                .iter()
                .map(|i| match i {
                    DictItem::Entry { value, .. } => value.depth,
                    DictItem::Computed { key, value } => key.depth.max(value.depth),
                    DictItem::Spread(e) => e.depth,
                })
                .max()
                .unwrap_or(0),
            Self::Unary(_, e) | Self::Try(e) | Self::TryStar(e) | Self::Throw(e) | Self::Emit(e) => of(e),
            Self::Field { object, .. } => of(object),
            Self::Pair(a, b)
            | Self::Binary(_, _, a, b)
            | Self::Logic(_, a, b)
            | Self::Pipe(a, b)
            | Self::Range { from: a, to: b, .. }
            | Self::Index { object: a, index: b, .. } => of(a).max(of(b)),
            Self::Ternary(a, b, c) => of(a).max(of(b)).max(of(c)),
            Self::Slice { object, from, to } => of(object).max(opt(from)).max(opt(to)),
            Self::Call { callee, args } => of(callee).max(args.iter().map(|a| a.value.depth).max().unwrap_or(0)),
            Self::Closure(c) => c.body.depth().max(params_depth(&c.params)),
            Self::TryBlock(t) => t
                .body
                .depth()
                .max(t.catch.as_ref().map_or(0, |c| c.body.depth()))
                .max(t.finally.as_ref().map_or(0, Block::depth)),
            Self::If { cond, then, otherwise } => of(cond).max(then.depth()).max(opt(otherwise)),
            Self::Match { value, arms } => arms
                .iter()
                .map(|a| a.body.depth.max(a.pattern.depth()).max(a.guard.as_ref().map_or(0, |g| g.depth)))
                .max()
                .unwrap_or(0)
                .max(of(value)),
            Self::Block(b) | Self::Spawn(b) | Self::Mutex(b) => b.depth(),
            Self::Return(e) | Self::Yield(e) => opt(e),
            Self::Retry { times: e, body } | Self::Deadline { limit: e, body } => of(e).max(body.depth()),
            Self::Parallel { over, options, body, .. } => {
                of(over).max(opt(options)).max(body.body.depth()).max(params_depth(&body.params))
            }
            Self::Select(arms) => arms
                .iter()
                .map(|a| match a {
                    SelectArm::Receive { channel, body, .. } => channel.depth.max(body.depth()),
                    SelectArm::Timeout { limit, body } => limit.depth.max(body.depth()),
                    SelectArm::Default(body) => body.depth(),
                })
                .max()
                .unwrap_or(0),
        }
    }
}
