//! How deep a node is: kept in each expression, so that finding it out costs nothing twice.

use super::*;

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
