//! The parts of every node of the syntax tree, defined once.
//!
//! Each match names every kind and binds every field, so a new node or field does not compile until this file says
//! which parts it has. Visitors ([`super::visit`]), [`Expr::children`] and depths are built on it. Parts come in the
//! order in which they are evaluated.

use super::*;

/// A part of a node.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// A body.
    Block(&'a Block),
    /// A function that is made, not run.
    Closure(&'a ClosureExpr),
    /// A parameter.
    Param(&'a Param),
    /// A pattern.
    Pattern(&'a Pattern),
    /// A written type.
    Type(&'a TypeExpr),
    /// A statement.
    Stmt(&'a Stmt),
    /// A declaration.
    Item(&'a Item),
}

impl Expr {
    /// Calls `see` with each part.
    #[inline]
    pub fn parts<'a>(&'a self, mut see: impl FnMut(Part<'a>)) {
        let Self { kind, span: _, id: _, depth: _, parens: _ } = self;
        kind.parts(&mut see);
    }

    /// Calls `see` with each direct subexpression; leaves out those in statements and closures. Branches that may
    /// not run are shown.
    #[inline]
    pub fn children<'a>(&'a self, mut see: impl FnMut(&'a Self)) {
        self.parts(|part| {
            if let Part::Expr(e) = part {
                see(e);
            }
        });
    }
}

impl ExprKind {
    #[inline]
    pub(super) fn parts<'a>(&'a self, see: &mut impl FnMut(Part<'a>)) {
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
            | Self::TooDeep => {}
            Self::Str(parts) => {
                for part in parts {
                    match part {
                        StrPart::Text(_) => {}
                        StrPart::Interp(e) => see(Part::Expr(e)),
                    }
                }
            }
            Self::Type(ty) => see(Part::Type(ty)),
            Self::List(items) => list_parts(items, see),
            Self::Dict(items) | Self::Struct { name: _, items } => {
                for item in items {
                    match item {
                        DictItem::Entry { key: _, value } | DictItem::Spread(value) => see(Part::Expr(value)),
                        DictItem::Computed { key, value } => {
                            see(Part::Expr(key));
                            see(Part::Expr(value));
                        }
                    }
                }
            }
            Self::Unary(_, a)
            | Self::Try(a)
            | Self::TryStar(a)
            | Self::Throw(a)
            | Self::Emit(a)
            | Self::Field { object: a, name: _, optional: _ } => see(Part::Expr(a)),
            Self::Pair(a, b)
            | Self::Binary(_, _, a, b)
            | Self::Logic(_, a, b)
            | Self::Pipe(a, b)
            | Self::Range { from: a, to: b, exclusive: _ }
            | Self::Index { object: a, index: b, optional: _ } => {
                see(Part::Expr(a));
                see(Part::Expr(b));
            }
            Self::Ternary(a, b, c) => {
                see(Part::Expr(a));
                see(Part::Expr(b));
                see(Part::Expr(c));
            }
            Self::Slice { object, from, to } => {
                see(Part::Expr(object));
                from.iter().chain(to).for_each(|e| see(Part::Expr(e)));
            }
            Self::Call { callee, args } => {
                see(Part::Expr(callee));
                list_parts(args, see);
            }
            Self::Return(value) | Self::Yield(value) => value.iter().for_each(|e| see(Part::Expr(e))),
            Self::Closure(closure) => see(Part::Closure(closure)),
            Self::If { cond, then, otherwise } => {
                see(Part::Expr(cond));
                see(Part::Block(then));
                otherwise.iter().for_each(|e| see(Part::Expr(e)));
            }
            Self::Match { value, arms } => {
                see(Part::Expr(value));
                for Arm { pattern, guard, body, span: _ } in arms {
                    see(Part::Pattern(pattern));
                    guard.iter().for_each(|e| see(Part::Expr(e)));
                    see(Part::Expr(body));
                }
            }
            Self::TryBlock(block) => {
                let TryBlock { body, catch, finally } = &**block;
                see(Part::Block(body));
                if let Some(Catch { name: _, ty, body }) = catch {
                    ty.iter().for_each(|ty| see(Part::Type(ty)));
                    see(Part::Block(body));
                }
                finally.iter().for_each(|body| see(Part::Block(body)));
            }
            Self::Block(body) | Self::Spawn(body) | Self::Mutex(body) => see(Part::Block(body)),
            Self::Retry { times: head, body } | Self::Deadline { limit: head, body } => {
                see(Part::Expr(head));
                see(Part::Block(body));
            }
            Self::Parallel { kind: _, over, options, body } => {
                see(Part::Expr(over));
                options.iter().for_each(|e| see(Part::Expr(e)));
                see(Part::Closure(body));
            }
            Self::Select(arms) => {
                for arm in arms {
                    match arm {
                        SelectArm::Receive { name: _, channel: head, body }
                        | SelectArm::Timeout { limit: head, body } => {
                            see(Part::Expr(head));
                            see(Part::Block(body));
                        }
                        SelectArm::Default(body) => see(Part::Block(body)),
                    }
                }
            }
        }
    }
}

#[inline]
fn list_parts<'a>(items: &'a [ListItem], see: &mut impl FnMut(Part<'a>)) {
    for ListItem { value, spread: _ } in items {
        see(Part::Expr(value));
    }
}

impl ClosureExpr {
    /// Shows its parameters and its body.
    #[inline]
    pub fn parts<'a>(&'a self, mut see: impl FnMut(Part<'a>)) {
        let Self { form: _, params, returns, body } = self;
        params.iter().for_each(|param| see(Part::Param(param)));
        returns.iter().for_each(|ty| see(Part::Type(ty)));
        see(Part::Block(body));
    }
}

impl Param {
    /// Calls `see` with each part.
    #[inline]
    pub fn parts<'a>(&'a self, mut see: impl FnMut(Part<'a>)) {
        let Self { pattern, ty, default, rest: _, span: _ } = self;
        ty.iter().for_each(|ty| see(Part::Type(ty)));
        default.iter().for_each(|e| see(Part::Expr(e)));
        see(Part::Pattern(pattern));
    }
}

impl Block {
    /// Shows its statements.
    #[inline]
    pub fn parts<'a>(&'a self, mut see: impl FnMut(Part<'a>)) {
        let Self { stmts, span: _, id: _ } = self;
        stmts.iter().for_each(|stmt| see(Part::Stmt(stmt)));
    }
}

impl Stmt {
    /// Calls `see` with each part.
    #[inline]
    pub fn parts<'a>(&'a self, mut see: impl FnMut(Part<'a>)) {
        let Self { kind, span: _ } = self;
        match kind {
            StmtKind::Let { kind: _, pattern, ty, value, public: _ } => {
                ty.iter().for_each(|ty| see(Part::Type(ty)));
                value.iter().for_each(|e| see(Part::Expr(e)));
                see(Part::Pattern(pattern));
            }
            StmtKind::Assign { target, op: _, value } => {
                see(Part::Expr(target));
                see(Part::Expr(value));
            }
            StmtKind::Expr(e) => see(Part::Expr(e)),
            StmtKind::While { cond: head, body } | StmtKind::Guard { cond: head, otherwise: body } => {
                see(Part::Expr(head));
                see(Part::Block(body));
            }
            StmtKind::For { pattern, iter, body } => {
                see(Part::Expr(iter));
                see(Part::Pattern(pattern));
                see(Part::Block(body));
            }
            StmtKind::Require { cond, message } => {
                see(Part::Expr(cond));
                message.iter().for_each(|e| see(Part::Expr(e)));
            }
            StmtKind::Defer(body) => see(Part::Block(body)),
            StmtKind::Item(item) => see(Part::Item(item)),
            StmtKind::Error => {}
        }
    }
}

impl Item {
    /// Calls `see` with each part.
    pub fn parts<'a>(&'a self, mut see: impl FnMut(Part<'a>)) {
        let Self { kind, public: _, attributes, doc: _, span: _ } = self;
        for Attribute { name: _, args, span: _ } in attributes {
            for AttributeArg { name: _, value } in args {
                see(Part::Expr(value));
            }
        }
        match kind {
            ItemKind::Fn(decl)
            | ItemKind::Test(decl)
            | ItemKind::Override(decl)
            | ItemKind::Pipeline { decl, extends: _ } => decl.parts(see),
            ItemKind::Tool { decl, description } => {
                description.iter().for_each(|e| see(Part::Expr(e)));
                decl.parts(see);
            }
            ItemKind::Struct { name: _, generics: _, fields } => {
                for Field { attributes: _, name: _, ty, default } in fields {
                    ty.iter().for_each(|ty| see(Part::Type(ty)));
                    default.iter().for_each(|e| see(Part::Expr(e)));
                }
            }
            ItemKind::Impl { target: _, interface: _, methods } => methods.iter().for_each(|m| see(Part::Item(m))),
            ItemKind::Enum { name: _, generics: _, variants } => {
                for Variant { attributes: _, name: _, fields } in variants {
                    fields.iter().for_each(|ty| see(Part::Type(ty)));
                }
            }
            ItemKind::Interface { name: _, generics: _, methods } => methods.iter().for_each(|m| m.parts(&mut see)),
            ItemKind::TypeAlias { name: _, generics: _, ty } => see(Part::Type(ty)),
            ItemKind::Import { names: _, path: _ } => {}
        }
    }
}

impl FnDecl {
    /// Calls `see` with each part.
    pub fn parts<'a>(&'a self, mut see: impl FnMut(Part<'a>)) {
        let Self { name: _, generics: _, params, returns, body, generator: _ } = self;
        params.iter().for_each(|param| see(Part::Param(param)));
        returns.iter().for_each(|ty| see(Part::Type(ty)));
        see(Part::Block(body));
    }
}

impl Pattern {
    /// Calls `see` with each part.
    pub fn parts<'a>(&'a self, mut see: impl FnMut(Part<'a>)) {
        let Self { kind, span: _, id: _ } = self;
        match kind {
            PatternKind::Wildcard | PatternKind::Bind(_) | PatternKind::Error => {}
            PatternKind::Literal(e) => see(Part::Expr(e)),
            PatternKind::Dict { name: _, fields, rest: _ } => {
                for PatternField { key: _, pattern, default } in fields {
                    default.iter().for_each(|e| see(Part::Expr(e)));
                    see(Part::Pattern(pattern));
                }
            }
            PatternKind::List { items, rest: _ } => {
                for (item, default) in items {
                    default.iter().for_each(|e| see(Part::Expr(e)));
                    see(Part::Pattern(item));
                }
            }
            PatternKind::Pair(a, b) => {
                see(Part::Pattern(a));
                see(Part::Pattern(b));
            }
            PatternKind::Variant { enum_name: _, variant: _, args } | PatternKind::Or(args) => {
                args.iter().for_each(|pattern| see(Part::Pattern(pattern)));
            }
        }
    }
}
