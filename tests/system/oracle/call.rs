//! Calls and chains of the second evaluator.

use super::value::{Function, Value};
use super::{Evaluated, Oracle, Scope, Stop, method, throw_code, uncovered};
use lang::ast::{Expr, ExprKind, ListItem, Name};
use std::rc::Rc;

/// The value of a link of a chain; nothing when a `?.` before it met nil, which skips the rest.
type Link<'a> = Result<Option<Value<'a>>, Stop<'a>>;

impl<'a> Oracle<'a> {
    pub(crate) fn chain(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Link<'a> {
        self.step()?;
        match &expr.kind {
            ExprKind::Field { object, name, optional } => {
                if let Some(found) = self.static_member(object, name, scope) {
                    return found.map(Some);
                }
                let Some(object) = self.link(object, *optional, scope)? else { return Ok(None) };
                self.member(&object, &name.text).map(Some)
            }
            ExprKind::Index { object, index, optional } => {
                let Some(object) = self.link(object, *optional, scope)? else { return Ok(None) };
                let index = self.expr(index, scope)?;
                Self::index(&object, &index, *optional).map(Some)
            }
            ExprKind::Slice { object, from, to } => {
                let Some(object) = self.chain(object, scope)? else { return Ok(None) };
                let from = self.optional(from.as_deref(), scope)?;
                let to = self.optional(to.as_deref(), scope)?;
                slice(&object, &from, &to).map(Some)
            }
            ExprKind::Call { callee, args } => self.call_link(callee, args, scope),
            _ => self.expr(expr, scope).map(Some),
        }
    }

    /// The receiver of a link; nothing when the rest is skipped.
    fn link(&mut self, object: &'a Expr, optional: bool, scope: &Rc<Scope<'a>>) -> Link<'a> {
        let Some(value) = self.chain(object, scope)? else { return Ok(None) };
        let absent = matches!(value, Value::Nil) || matches!(value.as_result(), Some((false, _)));
        Ok((!optional || !absent).then_some(value))
    }

    fn call_link(&mut self, callee: &'a Expr, args: &'a [ListItem], scope: &Rc<Scope<'a>>) -> Link<'a> {
        let ExprKind::Field { object, name, optional } = &callee.kind else {
            let Some(callee) = self.chain(callee, scope)? else { return Ok(None) };
            let args = self.arguments(args, scope)?;
            return self.call(&callee, args, false).map(Some);
        };
        if let Some(found) = self.static_member(object, name, scope) {
            let callee = found?;
            let args = self.arguments(args, scope)?;
            return self.call(&callee, args, false).map(Some);
        }
        let Some(receiver) = self.link(object, *optional, scope)? else { return Ok(None) };
        let args = self.arguments(args, scope)?;
        self.call_method(&receiver, &name.text, args).map(Some)
    }

    /// `E.A` and `P.make`, where `E` and `P` are types and no variables.
    fn static_member(&mut self, object: &'a Expr, name: &'a Name, scope: &Rc<Scope<'a>>) -> Option<Evaluated<'a>> {
        let ExprKind::Name(of) = &object.kind else { return None };
        if !matches!(scope.find(of), super::scope::Binding::Nothing) {
            return None;
        }
        if let Some(variants) = self.enums.get(of.as_str())
            && let Some(variant) = variants.iter().find(|v| v.name.text == name.text)
        {
            let (of, name) = (of.as_str().into(), variant.name.text.as_str().into());
            return Some(Ok(match variant.fields.len() {
                0 => Value::Variant(of, name, Rc::default()),
                n => Value::Constructor(of, name, n),
            }));
        }
        if let Some(method) = self.methods.get(&(of.to_string(), name.text.to_string())) {
            return Some(Ok(method.clone()));
        }
        Some(uncovered("a namespace"))
    }

    pub(crate) fn call(&mut self, callee: &Value<'a>, args: Vec<Value<'a>>, lenient: bool) -> Evaluated<'a> {
        match callee {
            Value::Function(function) => self.call_function(function, args, lenient),
            Value::Builtin(name) => method::builtin(self, name, &args),
            Value::Constructor(of, name, n) if args.len() == *n => {
                Ok(Value::Variant(of.clone(), name.clone(), Rc::new(args)))
            }
            Value::Constructor(..) => throw_code("HARN-RUN-006"),
            _ => throw_code("HARN-RUN-007"),
        }
    }

    fn call_function(&mut self, function: &Function<'a>, mut args: Vec<Value<'a>>, lenient: bool) -> Evaluated<'a> {
        let rest = function.params.last().is_some_and(|p| p.rest);
        let named = function.params.len() - usize::from(rest);
        if args.len() > named && lenient && !rest {
            args.truncate(named);
        }
        let needed = function.params.iter().take(named).rposition(|p| p.default.is_none()).map_or(0, |i| i + 1);
        if (args.len() < needed && !function.pipeline) || (args.len() > named && !rest) {
            return throw_code("HARN-RUN-006");
        }
        if self.depth > 300 {
            return uncovered("deep calls");
        }
        let scope = Scope::inside(&function.scope);
        self.scopes.push(Rc::downgrade(&scope));
        let mut args = args.into_iter();
        for param in &function.params[..named] {
            let value = match (args.next().unwrap_or(Value::Nil), &param.default) {
                (Value::Nil, Some(default)) => self.expr(default, &scope)?,
                (value, _) => value,
            };
            self.bind(&param.pattern, value, &scope)?;
        }
        if rest && let Some(param) = function.params.last() {
            self.bind(&param.pattern, Value::list(args.collect()), &scope)?;
        }
        self.depth += 1;
        let result = self.block(function.body, &scope);
        self.depth -= 1;
        match result {
            Err(Stop::Return(value)) => Ok(value),
            other => other,
        }
    }

    fn call_method(&mut self, receiver: &Value<'a>, name: &str, args: Vec<Value<'a>>) -> Evaluated<'a> {
        if let Value::Struct(of, _) | Value::Variant(of, ..) = receiver
            && let Some(method) = self.methods.get(&(of.to_string(), name.to_owned())).cloned()
        {
            let args = std::iter::once(receiver.clone()).chain(args).collect();
            return self.call(&method, args, false);
        }
        match Self::read_field(receiver, name) {
            Some(Value::Nil) | None => method::method(self, receiver, name, args),
            Some(callee) => self.call(&callee, args, false),
        }
    }

    /// A dict's or struct's own entry; nothing for what has no entries of its own.
    pub(crate) fn read_field(object: &Value<'a>, name: &str) -> Option<Value<'a>> {
        match object {
            Value::Dict(entries) => Some(entries.get(name).cloned().unwrap_or(Value::Nil)),
            Value::Struct(_, fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()),
            Value::Fault(code) if name == "code" => Some(Value::str(code)),
            _ => None,
        }
    }

    /// `x.name` without parentheses: an entry, or one of the four properties.
    fn member(&mut self, object: &Value<'a>, name: &str) -> Evaluated<'a> {
        match (object, Self::read_field(object, name)) {
            (_, Some(value)) if !matches!(value, Value::Nil) => Ok(value),
            (Value::Dict(entries), _) if entries.contains_key(name) => Ok(Value::Nil),
            (Value::Variant(_, variant, _), _) if name == "variant" => Ok(Value::str(variant)),
            (Value::Variant(_, _, args), _) if name == "fields" => Ok(Value::list(args.to_vec())),
            _ if matches!(name, "count" | "empty" | "first" | "last") => method::method(self, object, name, Vec::new()),
            (Value::Dict(_), _) => Ok(Value::Nil),
            (Value::Nil, _) => throw_code("HARN-RUN-005"),
            _ => uncovered("this field"),
        }
    }

    fn index(object: &Value<'a>, index: &Value<'a>, optional: bool) -> Evaluated<'a> {
        let from = |items: &[Value<'a>], i: i64| {
            let at = if i < 0 { i + i64::try_from(items.len()).unwrap_or(0) } else { i };
            match usize::try_from(at).ok().and_then(|at| items.get(at)) {
                Some(item) => Ok(item.clone()),
                None if optional => Ok(Value::Nil),
                None => throw_code("HARN-RUN-004"),
            }
        };
        match (object, index) {
            (Value::List(items), Value::Int(i)) => from(items, *i),
            (Value::Range(..) | Value::Str(_), Value::Int(i)) => from(&Self::items(object)?, *i),
            (Value::Dict(entries), Value::Str(key)) => Ok(entries.get(&**key).cloned().unwrap_or(Value::Nil)),
            _ => uncovered("this index"),
        }
    }
}

/// `x[a:b]`: bounds are clamped, negative ones count from the end.
fn slice<'a>(object: &Value<'a>, from: &Value<'a>, to: &Value<'a>) -> Evaluated<'a> {
    let bound = |value: &Value<'a>, len: usize, absent: usize| {
        let len = i64::try_from(len).unwrap_or(i64::MAX);
        match value {
            Value::Nil => Ok(absent),
            Value::Int(i) => {
                let at = if *i < 0 { i.saturating_add(len) } else { *i };
                Ok(usize::try_from(at.clamp(0, len)).unwrap_or(0))
            }
            _ => throw_code("HARN-RUN-002"),
        }
    };
    match object {
        Value::List(items) => {
            let (from, to) = (bound(from, items.len(), 0)?, bound(to, items.len(), items.len())?);
            Ok(Value::list(items.iter().take(to).skip(from).cloned().collect()))
        }
        Value::Str(text) => {
            let count = text.chars().count();
            let (from, to) = (bound(from, count, 0)?, bound(to, count, count)?);
            Ok(Value::str(text.chars().take(to).skip(from).collect::<String>()))
        }
        _ => uncovered("a slice of this"),
    }
}
