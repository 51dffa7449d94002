//! `textDocument/inlayHint`: inferred types, names of parameters, and lifetimes of reminders, shown in the text.

use crate::error::LspError;
use crate::names::{GlobalSymbol, foreign_result, global};
use crate::workspace::{Analysis, Language, Snapshot};
use lang::ast::visit::{Visit, walk_expr, walk_module, walk_stmt};
use lang::ast::{Expr, ExprKind, ListItem, Param, Pattern, PatternKind, Stmt, StmtKind};
use lang::check::{TypeView, signature};
use lang::declaration::Builtin;
use lang::query::{Symbol, declaration};
use lang::resolve::Target;
use lang::source::Span;
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams, InlayHintTooltip};
use std::rc::Rc;
use stdlib::reminder_lifetimes;

/// The longest type that is shown, in characters.
const LONGEST_TYPE: usize = 40;

pub(super) fn hints(snapshot: &Snapshot<'_>, params: &InlayHintParams) -> Result<Option<Vec<InlayHint>>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    if document.language != Language::Harn {
        return Ok(Some(Vec::new()));
    }
    let range = document.text.nearest_span(params.range);
    let mut visit = HintVisit { snapshot, document: &document, range, found: Vec::new() };
    walk_module(&mut visit, document.module());
    let mut found = visit.found;
    if snapshot.settings().hints.reminders {
        for lifetime in reminder_lifetimes(document.module(), &document.names) {
            if range.start <= lifetime.span.end && lifetime.span.end <= range.end {
                let mut hint = hint(&document, lifetime.span.end, lifetime.text);
                hint.padding_left = Some(true);
                hint.tooltip = Some(InlayHintTooltip::String("Lifetime of this reminder".to_owned()));
                found.push(hint);
            }
        }
    }
    found.sort_by_key(|hint| hint.position);
    Ok(Some(found))
}

fn hint(document: &Analysis, at: u32, label: String) -> InlayHint {
    InlayHint {
        position: document.range(Span::new(at, at)).start,
        label: InlayHintLabel::String(label),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: None,
        padding_right: None,
        data: None,
    }
}

struct HintVisit<'a> {
    snapshot: &'a Snapshot<'a>,
    document: &'a Rc<Analysis>,
    range: Span,
    found: Vec<InlayHint>,
}

impl HintVisit<'_> {
    fn is_shown(&self, span: Span) -> bool {
        span.start <= self.range.end && self.range.start <= span.end
    }

    /// Shows the type of a variable that has no annotation.
    fn ty(&mut self, pattern: &Pattern, value: Option<&Expr>) {
        let (PatternKind::Bind(_), Some(id)) = (&pattern.kind, self.document.names.made(pattern.id)) else { return };
        if !self.snapshot.settings().hints.types || !self.is_shown(pattern.span) {
            return;
        }
        let inferred = self.document.types().binding(id).filter(|ty| ty.is_known()).map(TypeView::full);
        let ty = inferred.or_else(|| foreign_result(self.snapshot, self.document, value?));
        let Some(text) = ty else { return };
        if text.chars().count() > LONGEST_TYPE {
            return;
        }
        let mut hint = hint(self.document, pattern.span.end, format!(": {text}"));
        hint.kind = Some(InlayHintKind::TYPE);
        self.found.push(hint);
    }

    /// Shows the names of the parameters that literal arguments are for.
    fn arguments(&mut self, callee: &Expr, args: &[ListItem]) {
        if !self.snapshot.settings().hints.parameters || args.is_empty() {
            return;
        }
        let names = self.parameters(callee);
        // The only argument of a function needs no name.
        if names.len() < 2 {
            return;
        }
        for (arg, name) in args.iter().zip(names) {
            if arg.spread {
                return;
            }
            let span = arg.value.span;
            if !is_plain(&arg.value) || name.is_empty() || !self.is_shown(span) {
                continue;
            }
            let mut hint = hint(self.document, span.start, format!("{name}:"));
            hint.kind = Some(InlayHintKind::PARAMETER);
            hint.padding_right = Some(true);
            self.found.push(hint);
        }
    }

    /// Returns the names of the parameters that a call writes.
    fn parameters(&self, callee: &Expr) -> Vec<String> {
        let names = &self.document.names;
        match &callee.kind {
            ExprKind::Name(_) => match names.used(callee.id) {
                Some(Target::Builtin(row)) => of_builtin(row, 0),
                Some(Target::Binding(id)) => self.declared(&Symbol::Binding(id)).unwrap_or_default(),
                None => Vec::new(),
            },
            ExprKind::Field { name, .. } => {
                if let Some(row) = names.namespaced.get(&name.id) {
                    return of_builtin(row, 0);
                }
                let occurrence = self.document.occurrence_at(name.span);
                match occurrence.map(|found| &found.symbol) {
                    Some(Symbol::Builtin(module, name)) => {
                        crate::names::builtin(module, name).map_or_else(Vec::new, |row| of_builtin(row, 1))
                    }
                    Some(symbol) => self.declared(symbol).unwrap_or_default(),
                    None => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn declared(&self, symbol: &Symbol) -> Option<Vec<String>> {
        let symbol = global(self.snapshot, self.document, symbol);
        if let GlobalSymbol::Builtin(module, name) = symbol {
            return crate::names::builtin(module, name).map(|row| of_builtin(row, 0));
        }
        let (document, span) = crate::names::definitions_of(self.snapshot, &symbol).into_iter().next()?;
        let function = declaration::at(document.source(), document.module(), span)?.function?;
        let skipped = usize::from(function.takes_self());
        Some(function.params.iter().skip(skipped).map(|param| name_of(&param.pattern)).collect())
    }

    fn params(&mut self, params: &[Param]) {
        params.iter().filter(|param| param.ty.is_none()).for_each(|param| self.ty(&param.pattern, None));
    }
}

fn of_builtin(row: &Builtin, skipped: usize) -> Vec<String> {
    let params = signature(row.sig).map(|decl| decl.params).unwrap_or_default();
    params.iter().skip(skipped).map(|param| name_of(&param.pattern)).collect()
}

fn name_of(pattern: &Pattern) -> String {
    if let PatternKind::Bind(name) = &pattern.kind { name.to_string() } else { String::new() }
}

/// Whether an argument says nothing about its meaning.
fn is_plain(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Nil
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Unary(..)
    )
}

/// Whether the type of a value is plain from its text.
fn is_obvious(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Nil
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Dict(_)
        | ExprKind::Struct { .. }
        | ExprKind::Closure(_) => true,
        ExprKind::Unary(_, inner) => is_obvious(inner),
        _ => false,
    }
}

impl<'t> Visit<'t> for HintVisit<'_> {
    fn stmt(&mut self, stmt: &'t Stmt) {
        if !self.is_shown(stmt.span) {
            return;
        }
        match &stmt.kind {
            StmtKind::Let { pattern, ty: None, value: Some(value), .. } if !is_obvious(value) => {
                self.ty(pattern, Some(value));
            }
            StmtKind::For { pattern, .. } => self.ty(pattern, None),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn expr(&mut self, e: &'t Expr) {
        match &e.kind {
            ExprKind::Call { callee, args } => self.arguments(callee, args),
            ExprKind::Closure(closure) => self.params(&closure.params),
            _ => {}
        }
        walk_expr(self, e);
    }
}
