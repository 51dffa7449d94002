//! Expressions of the second evaluator.

use super::scope::Binding;
use super::value::{Function, Value, show};
use super::{Evaluated, Oracle, Scope, Stop, operator, throw_code, uncovered};
use lang::ast::{
    BinaryOp, Block, DictItem, Expr, ExprKind, ListItem, LogicOp, Name, StrPart, TryBlock, TypeExpr, TypeKind, UnaryOp,
};
use std::collections::BTreeMap;
use std::rc::Rc;

impl<'a> Oracle<'a> {
    pub(crate) fn expr(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        self.step()?;
        let value = self.value_of(expr, scope)?;
        self.evaluated.insert((expr.span.start, expr.span.end));
        Ok(value)
    }

    fn value_of(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        Ok(match &expr.kind {
            ExprKind::Nil => Value::Nil,
            ExprKind::Bool(b) => Value::Bool(*b),
            ExprKind::Int(i) => Value::Int(*i),
            ExprKind::Float(f) => Value::Float(*f),
            ExprKind::Str(parts) => return self.text(parts, scope),
            ExprKind::Name(name) => return Self::name(name, scope),
            ExprKind::Placeholder => match scope.find("_") {
                Binding::Bound(value) => value,
                _ => return uncovered("`_` outside of a pipe"),
            },
            ExprKind::List(items) => Value::list(self.arguments(items, scope)?),
            ExprKind::Dict(items) => return self.dict(items, scope),
            ExprKind::Struct { name, items } => return self.make_struct(name, items, scope),
            ExprKind::Pair(a, b) => Value::pair(self.expr(a, scope)?, self.expr(b, scope)?),
            ExprKind::Closure(closure) => Value::Function(Rc::new(Function {
                pipeline: false,
                params: &closure.params,
                body: &closure.body,
                scope: scope.clone(),
            })),
            ExprKind::Unary(UnaryOp::Not, a) => Value::Bool(!self.expr(a, scope)?.truthy()),
            // The smallest int has no positive counterpart, so its literal is the sign and the
            // digits.
            ExprKind::Unary(UnaryOp::Neg, a) if matches!(a.kind, ExprKind::Int(i64::MIN)) => Value::Int(i64::MIN),
            ExprKind::Unary(UnaryOp::Neg, a) => return operator::negate(&self.expr(a, scope)?),
            ExprKind::Binary(op, _, a, b) => return self.binary(*op, a, b, scope),
            ExprKind::Logic(op, a, b) => return self.logic(*op, a, b, scope),
            ExprKind::Pipe(value, into) => return self.pipe(value, into, scope),
            ExprKind::Range { from, to, exclusive } => match (self.expr(from, scope)?, self.expr(to, scope)?) {
                (Value::Int(from), Value::Int(to)) => Value::Range(from, to, *exclusive),
                _ => return throw_code("HARN-RUN-002"),
            },
            ExprKind::Ternary(cond, yes, no) => {
                let chosen = if self.expr(cond, scope)?.truthy() { yes } else { no };
                return self.expr(chosen, scope);
            }
            ExprKind::Field { .. } | ExprKind::Index { .. } | ExprKind::Slice { .. } | ExprKind::Call { .. } => {
                self.chain(expr, scope)?.unwrap_or(Value::Nil)
            }
            ExprKind::Try(a) => match self.expr(a, scope)?.as_result() {
                Some((true, value)) => value,
                Some((false, error)) => return Err(Stop::Return(Value::err(error))),
                None => return uncovered("`?` behind something that is no result"),
            },
            ExprKind::TryStar(a) => match self.expr(a, scope)? {
                value if let Some((ok, inside)) = value.as_result() => {
                    if !ok {
                        return Err(Stop::Throw(inside));
                    }
                    inside
                }
                value => value,
            },
            ExprKind::TryBlock(block) => return self.try_block(block, scope),
            ExprKind::If { cond, then, otherwise } => {
                if self.expr(cond, scope)?.truthy() {
                    return self.block(then, scope);
                }
                return self.optional(otherwise.as_deref(), scope);
            }
            ExprKind::Match { value, arms } => {
                let value = self.expr(value, scope)?;
                for arm in arms {
                    let inner = Scope::inside(scope);
                    let fits = self.fits(&arm.pattern, &value, &inner)?;
                    if fits && arm.guard.as_ref().map_or(Ok(true), |g| Ok(self.expr(g, &inner)?.truthy()))? {
                        return self.expr(&arm.body, &inner);
                    }
                }
                return throw_code("HARN-RUN-008");
            }
            ExprKind::Block(block) => return self.block(block, scope),
            ExprKind::Return(value) => return Err(Stop::Return(self.optional(value.as_deref(), scope)?)),
            ExprKind::Throw(value) => return Err(Stop::Throw(self.expr(value, scope)?)),
            ExprKind::Break => return Err(Stop::Break),
            ExprKind::Continue => return Err(Stop::Continue),
            ExprKind::Retry { times, body } => return self.retry(times, body, scope),
            _ => return uncovered("this expression"),
        })
    }

    pub(crate) fn optional(&mut self, expr: Option<&'a Expr>, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        expr.map_or(Ok(Value::Nil), |expr| self.expr(expr, scope))
    }

    pub(crate) fn name(name: &str, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        match scope.find(name) {
            Binding::Bound(value) => Ok(value),
            Binding::Unbound => throw_code("HARN-RUN-012"),
            Binding::Ambiguous => uncovered("a name that hides another one further down"),
            Binding::Nothing => Ok(Value::Builtin(name.into())),
        }
    }

    fn text(&mut self, parts: &'a [StrPart], scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let mut text = String::new();
        for part in parts {
            match part {
                StrPart::Text(part) => text.push_str(part),
                StrPart::Interp(expr) => {
                    let value = self.expr(expr, scope)?;
                    match show(&value) {
                        Some(shown) => text.push_str(&shown),
                        None => return uncovered("the text of this"),
                    }
                }
            }
        }
        Ok(Value::str(text))
    }

    /// Elements or arguments, spreads included.
    pub(crate) fn arguments(
        &mut self,
        items: &'a [ListItem],
        scope: &Rc<Scope<'a>>,
    ) -> Result<Vec<Value<'a>>, Stop<'a>> {
        let mut values = Vec::new();
        for item in items {
            let value = self.expr(&item.value, scope)?;
            if item.spread {
                if !matches!(value, Value::List(_) | Value::Set(_) | Value::Range(..)) {
                    return uncovered("spreading this");
                }
                values.extend(Self::items(&value)?);
            } else {
                values.push(value);
            }
        }
        Ok(values)
    }

    fn entries(&mut self, items: &'a [DictItem], scope: &Rc<Scope<'a>>) -> Result<Vec<(String, Value<'a>)>, Stop<'a>> {
        let mut entries = Vec::new();
        for item in items {
            match item {
                DictItem::Entry { key, value } => entries.push((key.text.to_string(), self.expr(value, scope)?)),
                DictItem::Computed { key, value } => {
                    let Value::Str(key) = self.expr(key, scope)? else { return uncovered("a computed key") };
                    entries.push((key.to_string(), self.expr(value, scope)?));
                }
                DictItem::Spread(whole) => match self.expr(whole, scope)? {
                    Value::Dict(more) => entries.extend(more.iter().map(|(k, v)| (k.clone(), v.clone()))),
                    Value::Struct(_, more) => entries.extend(more.iter().cloned()),
                    _ => return uncovered("spreading this into a dict"),
                },
            }
        }
        Ok(entries)
    }

    fn dict(&mut self, items: &'a [DictItem], scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let entries: BTreeMap<_, _> = self.entries(items, scope)?.into_iter().collect();
        Ok(Value::Dict(Rc::new(entries)))
    }

    fn make_struct(&mut self, name: &'a Name, items: &'a [DictItem], scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let Some(fields) = self.structs.get(name.text.as_str()).copied() else { return uncovered("an unknown struct") };
        let given: BTreeMap<_, _> = self.entries(items, scope)?.into_iter().collect();
        let mut made = Vec::new();
        for field in fields {
            let value = match (given.get(field.name.text.as_str()), &field.default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => self.expr(default, scope)?,
                (None, None) => return uncovered("a struct without one of its fields"),
            };
            made.push((field.name.text.to_string(), value));
        }
        Ok(Value::Struct(name.text.as_str().into(), Rc::new(made)))
    }

    fn binary(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let a = self.expr(a, scope)?;
        let b = self.expr(b, scope)?;
        operator::binary(op, &a, &b)
    }

    fn logic(&mut self, op: LogicOp, a: &'a Expr, b: &'a Expr, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let a = self.expr(a, scope)?;
        match op {
            LogicOp::And => Ok(Value::Bool(a.truthy() && self.expr(b, scope)?.truthy())),
            LogicOp::Or => Ok(Value::Bool(a.truthy() || self.expr(b, scope)?.truthy())),
            LogicOp::Coalesce if matches!(a, Value::Nil) => self.expr(b, scope),
            LogicOp::Coalesce => Ok(a),
        }
    }

    fn pipe(&mut self, value: &'a Expr, into: &'a Expr, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let value = self.expr(value, scope)?;
        if !has_placeholder(into) {
            let callee = self.expr(into, scope)?;
            return self.call(&callee, vec![value], false);
        }
        // Closures on the right see it too, also when they are called later.
        let inner = Scope::inside(scope);
        self.scopes.push(Rc::downgrade(&inner));
        inner.bind("_", value);
        self.expr(into, &inner)
    }

    fn try_block(&mut self, block: &'a TryBlock, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let mut result = self.block(&block.body, scope);
        match (&block.catch, &block.finally) {
            (None, None) => {
                result = match result {
                    Ok(value) => Ok(Value::ok(value)),
                    Err(Stop::Throw(error)) => Ok(Value::err(error)),
                    Err(stop) => Err(stop),
                };
            }
            (Some(catch), _) => {
                if let Err(Stop::Throw(error)) = &result
                    && is_of_type(error, catch.ty.as_ref())?
                {
                    let inner = Scope::inside(scope);
                    if let Some(name) = &catch.name {
                        inner.bind(&name.text, error.clone());
                    }
                    result = self.block(&catch.body, &inner);
                }
            }
            (None, Some(_)) => {}
        }
        if let Some(finally) = &block.finally
            && !matches!(result, Err(Stop::Uncovered(_)))
        {
            self.block(finally, scope)?;
        }
        result
    }

    fn retry(&mut self, times: &'a Expr, body: &'a Block, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let Value::Int(times) = self.expr(times, scope)? else { return throw_code("HARN-RUN-002") };
        for tried in 1..=times {
            match self.block(body, scope) {
                Err(Stop::Throw(_)) if tried < times => {}
                result => return result,
            }
        }
        Ok(Value::Nil)
    }
}

/// Whether `catch (e: T)` takes an error; only the names of plain types are known here.
fn is_of_type<'a>(error: &Value<'a>, ty: Option<&TypeExpr>) -> Result<bool, Stop<'a>> {
    let Some(ty) = ty else { return Ok(true) };
    match &ty.kind {
        TypeKind::Name { name, args } if args.is_empty() => match name.as_str() {
            "any" => Ok(true),
            plain @ ("int" | "float" | "string" | "bool" | "nil" | "list" | "dict") => Ok(error.type_name() == plain),
            other => match error {
                Value::Struct(of, _) | Value::Variant(of, _, _) => Ok(**of == *other),
                _ => uncovered("a catch of this type"),
            },
        },
        _ => uncovered("a catch of this type"),
    }
}

/// Returns whether `_` appears in the right side of a pipe. No visitor enters blocks, but the
/// printed tree shows them.
fn has_placeholder(expr: &Expr) -> bool {
    format!("{:?}", expr.kind).contains("kind: Placeholder") || matches!(expr.kind, ExprKind::Placeholder)
}
