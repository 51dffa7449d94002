//! Pipelines that extend others: the statements of all of them in one function, with the overriding functions in place of
//! those that they override.

use super::Compiler;
use super::function::FnState;
use super::pattern::bound_name;
use crate::ast::visit::{Visit, walk_item, walk_module};
use crate::ast::*;
use crate::resolve::BindingId;
use crate::value::Str;
use crate::vm::{Op, Proto};
use smol_str::SmolStr;
use std::collections::HashMap;
use std::rc::Rc;

/// The pipelines of a file by the ids of their names, each with the id of the name after its `extends`.
pub(super) type Pipelines<'a> = HashMap<NodeId, (&'a FnDecl, Option<NodeId>)>;

/// Finds the pipelines of a module, those in blocks included.
pub(super) fn collect(module: &Module) -> Pipelines<'_> {
    struct Collect<'a>(Pipelines<'a>);
    impl<'a> Visit<'a> for Collect<'a> {
        fn item(&mut self, item: &'a Item) {
            if let ItemKind::Pipeline { decl, extends } = &item.kind {
                self.0.insert(decl.name.id, (decl, extends.as_ref().map(|n| n.id)));
            }
            walk_item(self, item);
        }
    }
    let mut found = Collect(HashMap::new());
    walk_module(&mut found, module);
    found.0
}

impl<'a> Compiler<'a> {
    /// A pipeline and those below it, the nearest first.
    fn levels(&self, decl: &'a FnDecl) -> Vec<&'a FnDecl> {
        let mut levels = vec![decl];
        let mut at = decl.name.id;
        while let Some((_, Some(extends))) = self.extending.get(&at)
            && let Some(base) = self.names.bases.get(extends)
            && let Some((decl, _)) = self.extending.get(base)
        {
            levels.push(decl);
            at = *base;
        }
        levels
    }

    /// The parameters of a pipeline: its own, and those of its bases under names that it does not have itself.
    fn params_of_all(levels: &[&'a FnDecl]) -> Vec<&'a Param> {
        let mut params: Vec<&'a Param> = levels[0].params.iter().collect();
        // A rest parameter is the last one.
        if params.iter().any(|p| p.rest) {
            return params;
        }
        for level in &levels[1..] {
            for param in level.params.iter().filter(|p| !p.rest) {
                let name = bound_name(&param.pattern);
                if name == "_" || !params.iter().any(|p| bound_name(&p.pattern) == name) {
                    params.push(param);
                }
            }
        }
        params
    }

    /// The parameters of a pipeline, those of its bases included.
    pub(super) fn all_params(&self, decl: &'a FnDecl) -> Vec<&'a Param> {
        Self::params_of_all(&self.levels(decl))
    }

    /// The names of a pipeline's parameters.
    pub(super) fn pipeline_params(&self, decl: &'a FnDecl) -> Vec<SmolStr> {
        self.all_params(decl).iter().map(|p| bound_name(&p.pattern)).collect()
    }

    /// A pipeline. Calling it needs no arguments.
    pub(super) fn pipeline(&mut self, decl: &'a FnDecl, own: Option<BindingId>) -> Rc<Proto> {
        let levels = self.levels(decl);
        if levels.len() == 1 {
            return self.function(decl, own, true);
        }
        let span = decl.name.span;
        let params = Self::params_of_all(&levels);
        let outer = std::mem::take(&mut self.overrides);
        for level in &levels {
            self.add_overrides(level);
        }
        self.fns.push(FnState::new(own, None));
        let source = self.source.clone();
        let rest = params.iter().any(|p| p.rest);
        let window = self.index(params.len(), span, "parameters");
        let proto = &mut self.fn_mut().proto;
        proto.source = Some(source);
        proto.name = Some(Str::new(&decl.name.text));
        proto.span = span;
        proto.params = window - u16::from(rest);
        proto.rest = rest;
        self.temps(window);
        self.parameters(params.iter().copied());
        self.levels_in_order(&levels, &params);
        self.end_function(span);
        self.overrides = outer;
        self.finish_fn()
    }

    fn add_overrides(&mut self, level: &'a FnDecl) {
        for stmt in &level.body.stmts {
            if let Some(ItemKind::Override(decl)) = stmt.item()
                && let Some(id) = self.names.overrides.get(&decl.name.id)
            {
                self.overrides.entry(*id).or_insert(decl);
            }
        }
    }

    /// The statements of one pipeline, then those of the ones below it; the last one's value is returned.
    ///
    /// All functions are there before the first statement, those of the bases too: an override may be called from any level,
    /// and what it captures must have its place by then.
    fn levels_in_order(&mut self, levels: &[&'a FnDecl], params: &[&'a Param]) {
        for base in &levels[1..] {
            self.same_params(base, params);
        }
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
        for level in levels {
            self.early_cells(&level.body);
        }
        for level in levels {
            self.place_functions(&level.body.stmts);
        }
        for level in levels {
            self.make_functions(&level.body.stmts);
        }
        self.level(levels);
    }

    fn level(&mut self, levels: &[&'a FnDecl]) {
        let Some((level, below)) = levels.split_first() else { return };
        if below.is_empty() {
            return self.tail_statements(&level.body.stmts);
        }
        self.level_statements(&level.body.stmts, below);
    }

    fn level_statements(&mut self, stmts: &'a [Stmt], below: &[&'a FnDecl]) {
        for (i, stmt) in stmts.iter().enumerate() {
            if let StmtKind::Defer(body) = &stmt.kind {
                let rest = &stmts[i + 1..];
                return self.with_exit(body, None, |c, _| c.level_statements(rest, below));
            }
            self.statement(stmt);
        }
        self.level(below);
    }

    /// A base's parameters that share their names with others have the values of those.
    fn same_params(&mut self, base: &'a FnDecl, params: &[&'a Param]) {
        for param in &base.params {
            if params.iter().any(|p| std::ptr::eq(*p, param)) {
                continue;
            }
            let name = bound_name(&param.pattern);
            let reg = self.temp();
            let first = params.iter().find(|p| bound_name(&p.pattern) == name);
            match first.and_then(|p| self.names.made(p.pattern.id)) {
                Some(id) => self.read_binding(id, reg, param.span),
                None => {
                    self.emit(Op::Nil { dst: reg }, param.span);
                }
            }
            let next = self.fn_ref().next;
            self.fn_mut().floor = next;
            self.parameter(param, reg);
        }
    }
}
