//! Patterns of the second evaluator.

use super::value::{Value, equal};
use super::{Oracle, Scope, Stop, uncovered};
use lang::ast::{Expr, Name, Pattern, PatternField, PatternKind};
use std::rc::Rc;

impl<'a> Oracle<'a> {
    /// Binds what a `let`, `for` or parameter names: what is missing is nil, or the default.
    pub(crate) fn bind(
        &mut self,
        pattern: &'a Pattern,
        value: Value<'a>,
        scope: &Rc<Scope<'a>>,
    ) -> Result<(), Stop<'a>> {
        match &pattern.kind {
            PatternKind::Wildcard => {}
            PatternKind::Bind(name) => scope.bind(name, value),
            PatternKind::Dict { name: None, fields, rest } => {
                let Value::Dict(entries) = &value else { return uncovered("taking a non-dict apart") };
                for field in fields {
                    let found = entries.get(field.key.text.as_str()).cloned().unwrap_or(Value::Nil);
                    let found = self.or_default(found, field.default.as_ref(), scope)?;
                    self.bind(&field.pattern, found, scope)?;
                }
                if let Some(Some(rest)) = rest {
                    scope.bind(&rest.text, without(&value, fields));
                }
            }
            PatternKind::List { items, rest } => {
                let Value::List(values) = &value else { return uncovered("taking a non-list apart") };
                for (i, (pattern, default)) in items.iter().enumerate() {
                    let found = values.get(i).cloned().unwrap_or(Value::Nil);
                    let found = self.or_default(found, default.as_ref(), scope)?;
                    self.bind(pattern, found, scope)?;
                }
                bind_tail(rest.as_ref(), values, items.len(), scope);
            }
            PatternKind::Pair(first, second) => {
                let Value::Pair(pair) = &value else { return uncovered("taking a non-pair apart") };
                self.bind(first, pair.0.clone(), scope)?;
                self.bind(second, pair.1.clone(), scope)?;
            }
            _ => return uncovered("this pattern in a binding"),
        }
        Ok(())
    }

    fn or_default(
        &mut self,
        found: Value<'a>,
        default: Option<&'a Expr>,
        scope: &Rc<Scope<'a>>,
    ) -> Result<Value<'a>, Stop<'a>> {
        match (found, default) {
            (Value::Nil, Some(default)) => self.expr(default, scope),
            (found, _) => Ok(found),
        }
    }

    /// Whether a value fits the pattern of a `match` arm; binds its names on the way.
    pub(crate) fn fits(
        &mut self,
        pattern: &'a Pattern,
        value: &Value<'a>,
        scope: &Rc<Scope<'a>>,
    ) -> Result<bool, Stop<'a>> {
        Ok(match &pattern.kind {
            PatternKind::Wildcard => true,
            PatternKind::Bind(name) => {
                scope.bind(name, value.clone());
                true
            }
            PatternKind::Literal(literal) => match (self.expr(literal, scope)?, value) {
                (Value::Range(from, to, exclusive), Value::Int(i)) => {
                    from <= *i && (*i < to || (!exclusive && *i == to))
                }
                (Value::Range(..), _) => return uncovered("a range pattern and no int"),
                (literal, value) => equal(&literal, value),
            },
            PatternKind::Or(alternatives) => {
                for alternative in alternatives {
                    if self.fits(alternative, value, scope)? {
                        return Ok(true);
                    }
                }
                false
            }
            PatternKind::Pair(first, second) => match value {
                Value::Pair(pair) => self.fits(first, &pair.0, scope)? && self.fits(second, &pair.1, scope)?,
                _ => false,
            },
            PatternKind::List { items, rest } => {
                let Value::List(values) = value else { return Ok(false) };
                if values.len() < items.len() || (rest.is_none() && values.len() != items.len()) {
                    return Ok(false);
                }
                for ((pattern, _), value) in items.iter().zip(values.iter()) {
                    if !self.fits(pattern, value, scope)? {
                        return Ok(false);
                    }
                }
                bind_tail(rest.as_ref(), values, items.len(), scope);
                true
            }
            PatternKind::Dict { name, fields, rest } => {
                return self.fits_fields(name.as_deref(), fields, rest.as_ref(), value, scope);
            }
            PatternKind::Variant { enum_name, variant, args } => match value {
                Value::Variant(of, name, fields) => {
                    if enum_name.as_ref().is_some_and(|e| e.text != **of) || variant.text != **name {
                        return Ok(false);
                    }
                    if args.len() != fields.len() {
                        return uncovered("a variant pattern with other than all values");
                    }
                    for (arg, field) in args.iter().zip(fields.iter()) {
                        if !self.fits(arg, field, scope)? {
                            return Ok(false);
                        }
                    }
                    true
                }
                _ => false,
            },
            PatternKind::Error => return uncovered("a broken pattern"),
        })
    }

    /// A dict pattern needs its keys, and fits structs too.
    fn fits_fields(
        &mut self,
        name: Option<&'a Name>,
        fields: &'a [PatternField],
        rest: Option<&'a Option<Box<Name>>>,
        value: &Value<'a>,
        scope: &Rc<Scope<'a>>,
    ) -> Result<bool, Stop<'a>> {
        if let Some(name) = name
            && !matches!(value, Value::Struct(of, _) if name.text == **of)
        {
            return Ok(false);
        }
        if !matches!(value, Value::Struct(..) | Value::Dict(_)) {
            return if matches!(value, Value::Fault(_)) { uncovered("a match on an error") } else { Ok(false) };
        }
        for field in fields {
            let found = Self::read_field(value, &field.key.text).unwrap_or(Value::Nil);
            let present = has(value, &field.key.text);
            if !present && field.default.is_none() {
                return Ok(false);
            }
            let found = self.or_default(found, field.default.as_ref(), scope)?;
            if !self.fits(&field.pattern, &found, scope)? {
                return Ok(false);
            }
        }
        if let Some(Some(rest)) = rest {
            scope.bind(&rest.text, without(value, fields));
        }
        Ok(true)
    }
}

fn has(value: &Value<'_>, key: &str) -> bool {
    match value {
        Value::Dict(entries) => entries.contains_key(key),
        Value::Struct(_, fields) => fields.iter().any(|(name, _)| name == key),
        _ => false,
    }
}

fn bind_tail<'a>(rest: Option<&Option<Box<Name>>>, values: &[Value<'a>], from: usize, scope: &Rc<Scope<'a>>) {
    if let Some(Some(rest)) = rest {
        scope.bind(&rest.text, Value::list(values.iter().skip(from).cloned().collect()));
    }
}

fn without<'a>(value: &Value<'a>, fields: &[PatternField]) -> Value<'a> {
    let entries: Vec<(String, Value<'a>)> = match value {
        Value::Dict(entries) => entries.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
        Value::Struct(_, fields) => fields.to_vec(),
        _ => Vec::new(),
    };
    Value::dict(entries.into_iter().filter(|(key, _)| fields.iter().all(|f| f.key.text != *key)))
}
