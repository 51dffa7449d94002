//! Expressions, by kind.

use super::Checker;
use super::want::{DemandOrigin, ExpectedType, ImportedPart};
use crate::ast::*;
use crate::builtin_type::Tag;
use crate::check::items::deprecated;
use crate::check::types::{FnType, Kinds, MOST_KEYS, Nominal, Numbers, Shape, ShapeKey, Type, fill, join};
use crate::resolve::{BindingId, Target};
use crate::source::Span;
use std::rc::Rc;

/// A text longer than this is no choice among texts.
const LONGEST_CHOICE: usize = 40;

impl<'a> Checker<'a> {
    /// The type of an expression. What its place demands has been reported if it does not fit; the type is unknown then.
    pub(super) fn expr(&mut self, e: &'a Expr, want: ExpectedType<'_>) -> Type {
        let ty = self.expr_of_kind(e, want);
        if let Some(types) = &mut self.types {
            types.note(e.id, &ty);
        }
        ty
    }

    #[inline]
    fn expr_of_kind(&mut self, e: &'a Expr, want: ExpectedType<'_>) -> Type {
        match &e.kind {
            // These hand the demand on to what they hold.
            ExprKind::If { cond, then, otherwise } => {
                let ty = self.if_else(cond, then, otherwise.as_deref(), want);
                // The end of a function is checked once for all ways to it.
                if otherwise.is_none() && !matches!(want.why, Some(DemandOrigin::Returns(_))) {
                    self.border(e.id, &Type::Nil, want);
                }
                ty
            }
            ExprKind::Match { value, arms } => self.arms(value, arms, want),
            ExprKind::Ternary(cond, a, b) => self.ternary(cond, a, b, want),
            ExprKind::Block(body) | ExprKind::Mutex(body) => self.block(body, want),
            ExprKind::TryBlock(t) => {
                let ty = self.try_block(t, want);
                let alone = t.catch.is_none() && t.finally.is_none();
                if alone { self.fit_place(e, ty, want) } else { ty }
            }
            ExprKind::Retry { times, body } => self.retry(times, body, want),
            ExprKind::Deadline { limit, body } => {
                self.expr(limit, ExpectedType::must(&Type::Int, DemandOrigin::Implicit));
                self.block(body, want)
            }
            ExprKind::Select(arms) => self.select(arms, want),
            ExprKind::List(items) => self.list(e, items, want),
            ExprKind::Dict(items) => self.dict(e, items, want),
            _ => {
                let ty = self.plain(e, want);
                self.fit_place(e, ty, want)
            }
        }
    }

    fn plain(&mut self, e: &'a Expr, want: ExpectedType<'_>) -> Type {
        match &e.kind {
            ExprKind::Nil => Type::Nil,
            ExprKind::Bool(_) => Type::Bool,
            ExprKind::Int(_) => Type::Int,
            ExprKind::Float(_) => Type::Float,
            ExprKind::Str(parts) => self.text(e, parts),
            ExprKind::Name(_) => self.name(e),
            ExprKind::Placeholder => self.piped.last().cloned().unwrap_or(Type::Any),
            ExprKind::Struct { name, items } => self.structure(name, items),
            ExprKind::Pair(a, b) => {
                let first = self.expr(a, ExpectedType::FREE);
                Type::Pair(Rc::new((first, self.expr(b, ExpectedType::FREE)))).bounded()
            }
            ExprKind::Closure(closure) => self.closure(closure, want),
            ExprKind::Unary(op, a) => self.unary(*op, a),
            ExprKind::Binary(op, _, a, b) => self.binary(*op, a, b, e.span),
            ExprKind::Logic(LogicOp::Coalesce, a, b) => self.coalesce(a, b, want),
            ExprKind::Logic(..) => {
                self.test(e);
                Type::Bool
            }
            ExprKind::Pipe(a, b) => self.pipe(a, b, e.span),
            ExprKind::Range { from, to, .. } => {
                self.expr(from, ExpectedType::must(&Type::Int, DemandOrigin::Implicit));
                self.expr(to, ExpectedType::must(&Type::Int, DemandOrigin::Implicit));
                Type::Range
            }
            ExprKind::Field { object, name, optional } => self.field(object, name, *optional),
            ExprKind::Index { object, index, optional } => self.indexed(object, index, *optional),
            ExprKind::Slice { object, from, to } => self.sliced(object, from.as_deref(), to.as_deref()),
            ExprKind::Call { callee, args } => self.call(callee, args, e.span, want),
            ExprKind::Try(a) => self.unwrapped(a),
            ExprKind::TryStar(a) => {
                // What is no Result is passed on.
                let ty = self.expr(a, ExpectedType::FREE);
                ty.members().iter().fold(Type::Never, |all, m| {
                    join(all, if let Type::Result(both) = m { both.0.clone() } else { m.clone() })
                })
            }
            ExprKind::Return(value) => self.return_from(value.as_deref(), e.span),
            ExprKind::Throw(value) => {
                self.expr(value, ExpectedType::FREE);
                self.leaves(e.span)
            }
            ExprKind::Break => {
                let flow = self.flow.clone();
                if let Some(breaks) = self.loops.last_mut() {
                    breaks.push(flow);
                }
                self.leaves(e.span)
            }
            ExprKind::Continue => self.leaves(e.span),
            ExprKind::Yield(value) => {
                let item = value.as_ref().map_or(Type::Nil, |value| self.expr(value, ExpectedType::FREE));
                self.yields(&item);
                Type::Any
            }
            ExprKind::Emit(value) => {
                let item = self.expr(value, ExpectedType::FREE);
                self.yields(&item);
                Type::Any
            }
            ExprKind::Parallel { kind, over, options, body } => self.parallel(*kind, over, options.as_deref(), body),
            ExprKind::Spawn(body) => self.spawn(body),
            // The rest has been looked at before.
            _ => Type::Any,
        }
    }

    fn text(&mut self, e: &'a Expr, parts: &'a [StrPart]) -> Type {
        if let Some(text) = e.plain_text() {
            return if text.len() <= LONGEST_CHOICE { Type::Text(text.into()) } else { Type::Str };
        }
        for part in parts {
            if let StrPart::Interp(inner) = part {
                self.expr(inner, ExpectedType::FREE);
            }
        }
        Type::Str
    }

    /// Returns the binding that a name means.
    pub(super) fn binding_of(&self, name: NodeId) -> Option<BindingId> {
        match self.world.names.used(name) {
            Some(Target::Binding(id)) => Some(id),
            _ => None,
        }
    }

    fn name(&mut self, e: &'a Expr) -> Type {
        match self.world.names.used(e.id) {
            Some(Target::Binding(id)) => {
                self.used(id, e.span);
                match self.world.items.get(id).map(|item| &item.kind) {
                    Some(ItemKind::Fn(decl)) => {
                        let head =
                            FnType { returns: self.result_of(decl), ..(*self.world.function_type(decl)).clone() };
                        fill(&Type::Fn(Rc::new(head)), &Vec::new())
                    }
                    Some(_) => Type::Any,
                    None if self.world.imported.is_tool(id) => Type::Any,
                    None => self.known(id).or_unknown(),
                }
            }
            Some(Target::Builtin(_)) => Type::function(),
            None => Type::Any,
        }
    }

    /// Something of the file is used: it may be marked as deprecated.
    pub(super) fn used(&mut self, id: BindingId, span: Span) {
        if let Some(item) = self.world.items.get(id)
            && !item.attributes.is_empty()
            && let Some((attribute, text)) = deprecated(&item.attributes)
        {
            self.deprecated(&self.world.names.binding(id).name.clone(), span, attribute.span, text);
        }
    }

    fn structure(&mut self, name: &'a Name, items: &'a [DictItem]) -> Type {
        let id = self.binding_of(name.id);
        if let Some(id) = id {
            self.used(id, name.span);
        }
        let declared = id.and_then(|id| self.world.items.get(id)).map(|item| &item.kind);
        let Some(ItemKind::Struct { fields, generics, .. }) = declared else {
            return match id.filter(|_| declared.is_none()) {
                Some(id) => self.imported_structure(id, name, items),
                None => {
                    self.entries(items);
                    Type::Any
                }
            };
        };
        let mut bound = Vec::new();
        for item in items {
            match item {
                DictItem::Entry { key, value } => match fields.iter().find(|f| f.name.text == key.text) {
                    Some(crate::ast::Field { ty: Some(ty), .. }) => {
                        let wanted = self.world.read(ty, generics);
                        let demanded = fill(&wanted, &Vec::new());
                        let found = self.expr(value, ExpectedType::must(&demanded, DemandOrigin::Declared(ty.span)));
                        crate::check::types::bind(&wanted, &found, &mut bound);
                    }
                    _ => {
                        self.expr(value, ExpectedType::FREE);
                    }
                },
                DictItem::Spread(inner) => self.spread_fields(id, name, inner, items),
                DictItem::Computed { .. } => self.entries(std::slice::from_ref(item)),
            }
        }
        let args = generics.iter().map(|g| fill(&Type::Param(g.text.clone()), &bound)).collect();
        id.map_or(Type::Any, |id| self.named(id, args))
    }

    /// Values for the fields of a struct that its literal does not name, from a dict or a struct.
    fn spread_fields(&mut self, id: Option<BindingId>, name: &Name, inner: &'a Expr, items: &[DictItem]) {
        let found = self.expr(inner, ExpectedType::FREE);
        let Some(Type::Named(named)) = id.map(|id| self.named(id, Vec::new())) else { return };
        let is_same = matches!(&found, Type::Named(other) if other.id == named.id);
        let Some(fields) = self.world.fields(&named).filter(|_| !is_same) else { return };
        let is_named = |field: &&ShapeKey| {
            items.iter().any(|item| matches!(item, DictItem::Entry { key, .. } if key.text == field.name))
        };
        let fields = fields.fields.iter().filter(|field| !is_named(field)).map(|field| ShapeKey {
            ty: fill(&field.ty, &Vec::new()),
            optional: true,
            ..field.clone()
        });
        let wanted = Type::Shape(Rc::new(Shape {
            fields: fields.collect(),
            open: true,
            literal: false,
            told: false,
            methods: None,
        }));
        self.spread_border(inner, &found, wanted, name.span);
    }

    /// A literal of a struct of another file.
    fn imported_structure(&mut self, id: BindingId, name: &Name, items: &'a [DictItem]) -> Type {
        let fields = self.world.imported.declared.get(&id).and_then(|parts| parts.fields.clone());
        let mut bound = Vec::new();
        for item in items {
            if let DictItem::Spread(inner) = item {
                self.spread_fields(Some(id), name, inner, items);
                continue;
            }
            let place = match item {
                DictItem::Entry { key, .. } => {
                    fields.as_ref().and_then(|shape| shape.fields.iter().position(|field| field.name == key.text))
                }
                DictItem::Computed { .. } | DictItem::Spread(_) => None,
            };
            let (Some(place), DictItem::Entry { value, .. }, Some(shape)) = (place, item, &fields) else {
                self.entries(std::slice::from_ref(item));
                continue;
            };
            let wanted = &shape.fields[place].ty;
            let why = DemandOrigin::Imported(id, ImportedPart::Field(place));
            let found = self.expr(value, ExpectedType::must(&fill(wanted, &Vec::new()), why));
            crate::check::types::bind(wanted, &found, &mut bound);
        }
        let args = self.world.generics(id).into_iter().map(|name| fill(&Type::Param(name), &bound)).collect();
        self.named(id, args)
    }

    fn entries(&mut self, items: &'a [DictItem]) {
        for item in items {
            match item {
                DictItem::Entry { value, .. } | DictItem::Spread(value) => {
                    self.expr(value, ExpectedType::FREE);
                }
                DictItem::Computed { key, value } => {
                    self.expr(key, ExpectedType::FREE);
                    self.expr(value, ExpectedType::FREE);
                }
            }
        }
    }

    fn list(&mut self, e: &'a Expr, items: &'a [ListItem], want: ExpectedType<'_>) -> Type {
        let lists = want.ty.map_or(&[][..], Type::members);
        let mut lists = lists.iter().filter_map(|m| if let Type::List(of) = m { Some(of.clone()) } else { None });
        // The one list that is asked for says what its elements are.
        let element = lists.next().filter(|_| lists.next().is_none());
        let of = match &element {
            Some(of) => want.part(of),
            None => ExpectedType::FREE,
        };
        let mut joined = Type::Never;
        for item in items {
            let found = if item.spread {
                let walked = self.expr(&item.value, ExpectedType::FREE);
                Self::element_of(&walked)
            } else {
                self.expr(&item.value, of)
            };
            joined = join(joined, found.widened());
        }
        let ty = Type::list(joined).bounded();
        // What did not fit as an element has been told.
        if element.is_none() {
            return self.fit_place(e, ty, want);
        }
        let fitted = self.fit(e.span, ty.clone().loose(), want);
        // An element that is written is checked on its own.
        if items.iter().any(|item| item.spread) {
            self.border(e.id, &ty, want);
        }
        if fitted == Type::Any { fitted } else { ty }
    }

    fn dict(&mut self, e: &'a Expr, items: &'a [DictItem], want: ExpectedType<'_>) -> Type {
        let shape = want.ty.and_then(Self::one_shape);
        let of = want.ty.and_then(|ty| {
            ty.members().iter().find_map(|m| if let Type::Dict(of) = m { Some(of.clone()) } else { None })
        });
        let mut fields: Vec<ShapeKey> = Vec::with_capacity(items.len());
        let (mut open, mut wide) = (false, false);
        for item in items {
            if fields.len() > MOST_KEYS {
                fields.clear();
                wide = true;
            }
            match item {
                DictItem::Entry { key, value } => {
                    let wanted = shape.as_ref().and_then(|s| s.field(&key.text));
                    let wanted = wanted.map(|f| if f.optional { f.ty.clone().optional() } else { f.ty.clone() });
                    let found = match (&wanted, &of) {
                        (Some(ty), _) => self.expr(value, want.part(ty)),
                        (None, Some(of)) if shape.is_none() => self.expr(value, want.part(of)),
                        _ => self.expr(value, ExpectedType::FREE),
                    };
                    put(
                        &mut fields,
                        ShapeKey {
                            name: key.text.clone(),
                            ty: found,
                            optional: false,
                            at: Some((key.span, value.span)),
                            numbers: Numbers::of_literal(value),
                        },
                    );
                }
                DictItem::Computed { key, value } => {
                    let key_type = self.expr(key, ExpectedType::FREE);
                    self.dict_key(&key_type, key.span);
                    let _ = self.expr(value, ExpectedType::FREE);
                    open = true;
                }
                DictItem::Spread(inner) => match self.expr(inner, ExpectedType::FREE) {
                    Type::Shape(other) if other.literal && !other.open => {
                        for field in &other.fields {
                            put_spread(&mut fields, field);
                        }
                    }
                    Type::Nil => {}
                    _ => {
                        // Whatever comes may hide what was before.
                        fields.iter_mut().for_each(|f| f.ty = Type::Any);
                        open = true;
                    }
                },
            }
        }
        if wide {
            return self.fit_place(e, Type::dict(Type::Any), want);
        }
        let ty = Type::Shape(Rc::new(Shape { fields, open, literal: true, told: false, methods: None })).bounded();
        // A value that is written under a known key is checked on its own.
        let is_of_parts = shape.is_some() || of.is_some();
        if !is_of_parts || open {
            self.border(e.id, &ty, want);
        }
        self.fit_dict(e.span, ty, want, shape)
    }

    fn coalesce(&mut self, a: &'a Expr, b: &'a Expr, want: ExpectedType<'_>) -> Type {
        let hint = want.ty.map_or(ExpectedType::FREE, ExpectedType::hint);
        let left = self.expr(a, hint);
        let before = self.flow.clone();
        let right = self.expr(b, hint);
        let after = std::mem::take(&mut self.flow);
        self.flow = self.meet(before, after);
        join(left.without_nil(), right)
    }

    fn pipe(&mut self, a: &'a Expr, b: &'a Expr, span: Span) -> Type {
        let value = self.expr(a, ExpectedType::FREE);
        if self.world.names.piped(b.id).is_some() {
            self.piped.push(value);
            let ty = self.expr(b, ExpectedType::FREE);
            self.piped.pop();
            return ty;
        }
        self.piped_call(a, &value, b, span)
    }

    /// Whether a value of the type may be a dict of the host that says how some work ended.
    fn may_be_outcome(&self, ty: &Type) -> bool {
        match ty {
            Type::Dict(of) => of.is_open(),
            Type::Shape(shape) => {
                let keys = self.world.registry.outcome();
                !shape.literal && !keys.is_empty() && keys.iter().all(|key| shape.field(key).is_some())
            }
            _ => false,
        }
    }

    /// `e?`
    fn unwrapped(&mut self, e: &'a Expr) -> Type {
        let ty = self.expr(e, ExpectedType::FREE);
        if self.may_be_outcome(&ty) {
            return ty;
        }
        if !ty.is_open() && !ty.kinds().meets(Kinds::of(Tag::Variant)) {
            self.no_result("?", &ty, e.span);
            return Type::Any;
        }
        match &ty {
            Type::Result(both) => both.0.clone(),
            _ => Type::Any,
        }
    }
}

/// A later key of the same name wins.
fn put(fields: &mut Vec<ShapeKey>, new: ShapeKey) {
    match fields.iter_mut().find(|f| f.name == new.name) {
        Some(old) => *old = new,
        None => fields.push(new),
    }
}

fn put_spread(fields: &mut Vec<ShapeKey>, new: &ShapeKey) {
    let mut new = new.clone();
    if new.optional
        && let Some(old) = fields.iter().find(|f| f.name == new.name)
    {
        new.ty = join(new.ty, old.ty.clone());
        new.numbers = Numbers::Open;
        new.optional = old.optional;
    }
    put(fields, new);
}
