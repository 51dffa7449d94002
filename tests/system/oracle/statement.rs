//! Statements, blocks and items of the second evaluator.

use super::value::{Function, Value};
use super::{Evaluated, Oracle, Scope, Stop, operator, throw_code, uncovered};
use lang::ast::{Block, Expr, ExprKind, FnDecl, Item, ItemKind, Pattern, PatternKind, Stmt, StmtKind};
use std::rc::Rc;

impl<'a> Oracle<'a> {
    /// A block in a scope of its own; its value is that of its last expression.
    pub(crate) fn block(&mut self, block: &'a Block, outer: &Rc<Scope<'a>>) -> Evaluated<'a> {
        self.body(&block.stmts, &Scope::inside(outer))
    }

    /// Statements in a scope that is there already; what they deferred runs at the end, last first.
    pub(crate) fn body(&mut self, stmts: &'a [Stmt], scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        self.announce(stmts, scope)?;
        let mut deferred = Vec::new();
        let mut result = self.run(stmts, scope, &mut deferred);
        while let Some(block) = deferred.pop()
            && !matches!(result, Err(Stop::Uncovered(_)))
        {
            if let Err(stop) = self.block(block, scope) {
                result = Err(stop);
            }
        }
        result
    }

    fn run(&mut self, stmts: &'a [Stmt], scope: &Rc<Scope<'a>>, deferred: &mut Vec<&'a Block>) -> Evaluated<'a> {
        let mut last = Value::Nil;
        for stmt in stmts {
            last = match &stmt.kind {
                StmtKind::Defer(block) => {
                    deferred.push(block);
                    Value::Nil
                }
                _ => self.statement(stmt, scope)?,
            };
        }
        Ok(last)
    }

    /// Makes the names of a block known to its functions before any statement runs.
    fn announce(&mut self, stmts: &'a [Stmt], scope: &Rc<Scope<'a>>) -> Result<(), Stop<'a>> {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { pattern, .. } => announce_pattern(pattern, scope),
                StmtKind::Item(item) => self.declare(item, scope)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn declare(&mut self, item: &'a Item, scope: &Rc<Scope<'a>>) -> Result<(), Stop<'a>> {
        match &item.kind {
            ItemKind::Fn(decl) if !decl.generator => {
                scope.bind(&decl.name.text, function(decl, scope, false));
                Ok(())
            }
            ItemKind::Pipeline { decl, extends: None } if self.depth == 0 => {
                self.pipelines.push(decl);
                if decl.name.text != "default" {
                    scope.bind(&decl.name.text, function(decl, scope, true));
                }
                Ok(())
            }
            ItemKind::Struct { name, fields, .. } if self.depth == 0 => {
                self.structs.insert(name.text.to_string(), fields);
                Ok(())
            }
            ItemKind::Enum { name, variants, .. } if self.depth == 0 => {
                self.enums.insert(name.text.to_string(), variants);
                Ok(())
            }
            ItemKind::Impl { target, interface: None, methods } if self.depth == 0 => {
                for method in methods {
                    let ItemKind::Fn(decl) = &method.kind else { return uncovered("this in an impl") };
                    let key = (target.text.to_string(), decl.name.text.to_string());
                    self.methods.insert(key, function(decl, scope, false));
                }
                Ok(())
            }
            ItemKind::Interface { .. } | ItemKind::TypeAlias { .. } => Ok(()),
            _ => uncovered("this item"),
        }
    }

    fn statement(&mut self, stmt: &'a Stmt, scope: &Rc<Scope<'a>>) -> Evaluated<'a> {
        self.step()?;
        match &stmt.kind {
            StmtKind::Expr(expr) => return self.expr(expr, scope),
            StmtKind::Let { pattern, value, .. } => {
                let value = self.optional(value.as_ref(), scope)?;
                self.bind(pattern, value, scope)?;
            }
            StmtKind::Assign { target, op, value } => self.assign(target, *op, value, scope)?,
            StmtKind::While { cond, body } => {
                while self.expr(cond, scope)?.truthy() {
                    self.step()?;
                    if self.turn(body, &Scope::inside(scope))? {
                        break;
                    }
                }
            }
            StmtKind::For { pattern, iter, body } => {
                let whole = self.expr(iter, scope)?;
                for item in Self::items(&whole)? {
                    self.step()?;
                    let turn = Scope::inside(scope);
                    self.bind(pattern, item, &turn)?;
                    if self.turn(body, &turn)? {
                        break;
                    }
                }
            }
            StmtKind::Guard { cond, otherwise } => {
                if !self.expr(cond, scope)?.truthy() {
                    self.block(otherwise, scope)?;
                    return uncovered("a guard that does not leave");
                }
            }
            StmtKind::Require { cond, .. } => {
                if !self.expr(cond, scope)?.truthy() {
                    return throw_code("HARN-RUN-009");
                }
            }
            StmtKind::Item(_) => {}
            StmtKind::Defer(_) | StmtKind::Error => return uncovered("a broken statement"),
        }
        Ok(Value::Nil)
    }

    /// One turn of a loop; whether it was the last.
    fn turn(&mut self, body: &'a Block, scope: &Rc<Scope<'a>>) -> Result<bool, Stop<'a>> {
        match self.block(body, scope) {
            Ok(_) | Err(Stop::Continue) => Ok(false),
            Err(Stop::Break) => Ok(true),
            Err(stop) => Err(stop),
        }
    }

    /// Returns the items that `for` and the list methods visit.
    pub(crate) fn items(whole: &Value<'a>) -> Result<Vec<Value<'a>>, Stop<'a>> {
        Ok(match whole {
            Value::List(items) | Value::Set(items) => items.to_vec(),
            Value::Str(text) => text.chars().map(|c| Value::str(c.to_string())).collect(),
            Value::Range(from, to, exclusive) => {
                let end = i128::from(*to) + i128::from(!*exclusive);
                if end - i128::from(*from) > 1_000_000 {
                    return uncovered("a very long range");
                }
                (i128::from(*from)..end).filter_map(|i| i64::try_from(i).ok()).map(Value::Int).collect()
            }
            Value::Dict(entries) => {
                let entry = |(k, v): (&String, &Value<'a>)| {
                    Value::dict([("key".into(), Value::str(k)), ("value".into(), v.clone())])
                };
                entries.iter().map(entry).collect()
            }
            Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) => return throw_code("HARN-RUN-002"),
            _ => return uncovered("walking over this"),
        })
    }

    fn assign(
        &mut self,
        target: &'a Expr,
        op: Option<lang::ast::BinaryOp>,
        value: &'a Expr,
        scope: &Rc<Scope<'a>>,
    ) -> Result<(), Stop<'a>> {
        // Indexes are evaluated once, before the value.
        let mut path = Vec::new();
        let mut at = target;
        let name = loop {
            match &at.kind {
                ExprKind::Name(name) => break name,
                ExprKind::Field { object, name, optional: false } => {
                    path.push(Step::Field(name.text.to_string()));
                    at = object;
                }
                ExprKind::Index { object, index, optional: false } => {
                    path.push(Step::Index(index));
                    at = object;
                }
                _ => return uncovered("this target"),
            }
        };
        let mut keys = Vec::new();
        for step in path.into_iter().rev() {
            keys.push(match step {
                Step::Field(name) => Value::str(name),
                Step::Index(index) => self.expr(index, scope)?,
            });
        }
        let new = self.expr(value, scope)?;
        let mut whole = Self::name(name, scope)?;
        self.copied(match &whole {
            Value::List(items) => items.len(),
            Value::Dict(entries) => entries.len(),
            Value::Str(text) => text.len() / 64,
            _ => 0,
        })?;
        store(&mut whole, &keys, op, new)?;
        if scope.assign(name, whole) { Ok(()) } else { uncovered("an assignment to no variable") }
    }
}

enum Step<'a> {
    Field(String),
    Index(&'a Expr),
}

/// Puts a value where the keys lead, copying every collection on the way.
fn store<'a>(
    whole: &mut Value<'a>,
    keys: &[Value<'a>],
    op: Option<lang::ast::BinaryOp>,
    new: Value<'a>,
) -> Result<(), Stop<'a>> {
    let Some((key, rest)) = keys.split_first() else {
        *whole = match op {
            Some(op) => operator::binary(op, whole, &new)?,
            None => new,
        };
        return Ok(());
    };
    match (whole, key) {
        (Value::List(items), Value::Int(i)) => {
            let items = Rc::make_mut(items);
            let at = if *i < 0 { *i + i64::try_from(items.len()).unwrap_or(0) } else { *i };
            match usize::try_from(at).ok().and_then(|at| items.get_mut(at)) {
                Some(slot) => store(slot, rest, op, new),
                None => throw_code("HARN-RUN-004"),
            }
        }
        (Value::Dict(entries), Value::Str(key)) => {
            let entries = Rc::make_mut(entries);
            if !entries.contains_key(&**key) {
                if !rest.is_empty() || op.is_some() {
                    return uncovered("a path through a key that is not there");
                }
                entries.insert(key.to_string(), Value::Nil);
            }
            entries.get_mut(&**key).map_or(Ok(()), |slot| store(slot, rest, op, new))
        }
        (Value::Struct(_, fields), Value::Str(key)) => {
            match Rc::make_mut(fields).iter_mut().find(|(name, _)| *name == **key) {
                Some((_, slot)) => store(slot, rest, op, new),
                None => uncovered("a field that the struct does not have"),
            }
        }
        _ => uncovered("a path through this"),
    }
}

fn announce_pattern(pattern: &Pattern, scope: &Rc<Scope<'_>>) {
    match &pattern.kind {
        PatternKind::Bind(name) => scope.announce(name),
        PatternKind::Dict { fields, rest, .. } => {
            fields.iter().for_each(|f| announce_pattern(&f.pattern, scope));
            rest.iter().flatten().for_each(|r| scope.announce(&r.text));
        }
        PatternKind::List { items, rest } => {
            items.iter().for_each(|(p, _)| announce_pattern(p, scope));
            rest.iter().flatten().for_each(|r| scope.announce(&r.text));
        }
        PatternKind::Pair(first, second) => {
            announce_pattern(first, scope);
            announce_pattern(second, scope);
        }
        _ => {}
    }
}

fn function<'a>(decl: &'a FnDecl, scope: &Rc<Scope<'a>>, pipeline: bool) -> Value<'a> {
    Value::Function(Rc::new(Function { params: &decl.params, body: &decl.body, scope: scope.clone(), pipeline }))
}
