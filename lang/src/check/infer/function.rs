//! Functions and closures: what they take and what they give.

use super::Checker;
use super::want::{DemandOrigin, ExpectedType};
use crate::ast::*;
use crate::check::types::{FnType, Handle, Type, join};
use crate::source::Span;
use std::rc::Rc;

/// The function that is being looked at.
#[derive(Default)]
pub(super) struct FunctionFrame {
    /// Declared result type, and its place.
    pub(super) promised: Option<(Type, DemandOrigin)>,
    /// Types of its `return`s so far.
    given: Option<Type>,
    /// The type of what it yields or emits, if it does: its result is another thing.
    yielded: Option<Type>,
    /// Span at which control last left.
    pub(super) left: Option<Span>,
    /// Arguments may be left out.
    pub(super) lenient: bool,
    /// Its type parameters: within it, nothing is known of them.
    generics: Vec<Name>,
}

/// Functions that call one another, of which the results are inferred.
const MOST_CALLS: usize = 16;

impl<'a> Checker<'a> {
    pub(super) fn item(&mut self, item: &'a Item) {
        for arg in item.attribute(TEST).iter().flat_map(|attribute| &attribute.args) {
            self.expr(&arg.value, ExpectedType::FREE);
        }
        match &item.kind {
            ItemKind::Fn(decl) | ItemKind::Test(decl) | ItemKind::Override(decl) => {
                self.function(decl, None, &[], false);
            }
            ItemKind::Pipeline { decl, .. } => self.function(decl, None, &[], true),
            ItemKind::Tool { decl, description } => {
                if let Some(description) = description {
                    self.expr(description, ExpectedType::FREE);
                }
                self.function(decl, None, &[], false);
            }
            ItemKind::Impl { target, methods, .. } => {
                let owner = self.binding_of(target.id);
                let owner_type = owner.map_or(Type::Any, |id| self.named(id, Vec::new()));
                let generics = owner.and_then(|id| self.world.items.get(id)).map_or(&[][..], generics_of);
                for method in methods {
                    if let ItemKind::Fn(decl) = &method.kind {
                        self.function(decl, Some(&owner_type), generics, false);
                    }
                }
            }
            ItemKind::Struct { fields, .. } => {
                for field in fields {
                    if let Some(default) = &field.default {
                        self.default(default, field.ty.as_ref());
                    }
                }
            }
            ItemKind::Enum { .. }
            | ItemKind::Interface { .. }
            | ItemKind::TypeAlias { .. }
            | ItemKind::Import { .. } => {}
        }
    }

    fn default(&mut self, default: &'a Expr, ty: Option<&'a TypeExpr>) {
        match ty {
            Some(ty) => {
                let wanted = self.written(ty).optional();
                self.expr(default, ExpectedType::must(&wanted, DemandOrigin::Written(ty.span)));
            }
            None => {
                self.expr(default, ExpectedType::FREE);
            }
        }
    }

    /// A written type as it is within the function at hand.
    pub(super) fn written(&self, ty: &TypeExpr) -> Type {
        let read = self.world.read(ty, &self.frame.generics);
        crate::check::types::fill(&read, &Vec::new())
    }

    /// Returns the type of a function's result: the declared one, or what its body returns.
    pub(super) fn result_of(&mut self, decl: &'a FnDecl) -> Type {
        let declared = self.world.function_type(decl).returns.clone();
        let hands_over = self.hands_over(&decl.body);
        if decl.returns.is_some() && !hands_over {
            return declared;
        }
        let place = std::ptr::from_ref(decl);
        if let Some(known) = self.results.get(&place) {
            return known.clone();
        }
        // Functions that call one another in a circle, or in a long chain, return something unknown.
        if self.depth == MOST_CALLS {
            return Type::Any;
        }
        self.results.insert(place, Type::Any);
        self.depth += 1;
        // What is wrong in it is reported where it is declared.
        let (found, linted) = (self.found.len(), self.linted.len());
        let loosened = std::mem::take(&mut self.loosened);
        let piped = std::mem::take(&mut self.piped);
        let (types, borders) = (self.types.take(), std::mem::take(&mut self.borders));
        self.function(decl, None, &[], false);
        self.types = types;
        self.borders = borders;
        self.piped = piped;
        self.loosened = loosened;
        self.linted.truncate(linted);
        self.found.truncate(found);
        self.depth -= 1;
        self.results.get(&place).cloned().unwrap_or(Type::Any)
    }

    fn function(&mut self, decl: &'a FnDecl, owner: Option<&Type>, generics: &[Name], lenient: bool) {
        let frame = FunctionFrame {
            lenient,
            generics: decl.generics.iter().chain(generics).cloned().collect(),
            ..FunctionFrame::default()
        };
        self.in_frame(frame, |checker| {
            checker.flow = checker.flow.at_another_time();
            let promised = decl.returns.as_ref().map(|ty| (checker.written(ty), DemandOrigin::Returns(ty.span)));
            checker.frame.promised = promised.filter(|_| !checker.hands_over(&decl.body));
            for (i, param) in decl.params.iter().enumerate() {
                // A function of a type without `self` has no receiver.
                let known = owner.filter(|_| i == 0 && decl.takes_self() && param.ty.is_none());
                checker.parameter(param, known);
            }
            checker.result_border(&decl.body);
            let result = checker.body(&decl.body);
            if owner.is_some() {
                return;
            }
            let items = |checker: &mut Self| checker.frame.yielded.take().unwrap_or(Type::Any).or_unknown();
            let result = match (decl.generator, checker.hands_over(&decl.body)) {
                (true, _) => Type::handle(Handle::Stream, items(checker)),
                (false, true) => Type::handle(Handle::Generator, items(checker)),
                // A text of now may be another one at the next call.
                (false, false) if decl.returns.is_none() => result.widened().or_unknown(),
                (false, false) => return,
            };
            checker.results.insert(std::ptr::from_ref(decl), result);
        });
    }

    /// Whether the function of a body hands over items.
    fn hands_over(&self, body: &Block) -> bool {
        self.world.names.iterators.contains_key(&body.id)
    }

    /// A body under the promise of its frame.
    fn body(&mut self, body: &'a Block) -> Type {
        let promised = self.frame.promised.clone();
        let value = match &promised {
            // Falling off the end gives nil, but who returns elsewhere may never fall off it.
            Some((ty, why)) if falls_off(body) => {
                if Self::frame_returns(body) {
                    self.block(body, ExpectedType::FREE)
                } else {
                    self.block(body, ExpectedType::FREE);
                    let end = Span::new(body.span.end.saturating_sub(1), body.span.end);
                    if !self.flow.dead {
                        self.falls_off(ty, *why, end);
                    }
                    Type::Nil
                }
            }
            Some((ty, why)) => self.block(body, ExpectedType::must(ty, *why)),
            None => self.block(body, ExpectedType::FREE),
        };
        join(value, self.given())
    }

    /// Returns the type of the `return`s of the function that is left.
    pub(super) fn given(&mut self) -> Type {
        self.frame.given.take().unwrap_or(Type::Never)
    }

    fn frame_returns(body: &Block) -> bool {
        let mut found = false;
        any_in(Part::Block(body), &mut |e| {
            found = found || matches!(e.kind, ExprKind::Return(Some(_)) | ExprKind::Throw(_));
        });
        found
    }

    fn parameter(&mut self, param: &'a Param, known: Option<&Type>) {
        if let Some(default) = &param.default {
            self.default(default, param.ty.as_deref());
        }
        let ty = match (&param.ty, known) {
            (Some(ty), _) if param.rest => self.rest_type(ty),
            (Some(ty), _) => self.given_type(ty, param.default.as_ref()),
            (None, _) if param.rest => Type::list(Type::Any),
            (None, Some(known)) => known.clone(),
            (None, None) => Type::Any,
        };
        self.parameter_border(param, &ty);
        self.bind_pattern(&param.pattern, &ty, false);
    }

    /// `...rest: T` takes any number of T; `...rest: list<T>` says the same.
    fn rest_type(&self, ty: &TypeExpr) -> Type {
        match self.written(ty) {
            list @ Type::List(_) => list,
            other => Type::list(other),
        }
    }

    /// Returns the type of a parameter: never nil if a default replaces it, unless the default is nil.
    fn given_type(&self, ty: &TypeExpr, default: Option<&Expr>) -> Type {
        let ty = self.written(ty);
        match default.map(|d| &d.kind) {
            Some(ExprKind::Nil) => ty.optional(),
            _ => ty,
        }
    }

    /// Looks at the body of a function with a frame of its own; variables around it keep what is known of them.
    pub(super) fn in_frame<R>(&mut self, frame: FunctionFrame, look: impl FnOnce(&mut Self) -> R) -> R {
        let flow = self.flow.clone();
        let frame = std::mem::replace(&mut self.frame, frame);
        let loops = std::mem::take(&mut self.loops);
        let result = look(self);
        self.loops = loops;
        self.frame = frame;
        self.flow = flow;
        result
    }

    pub(super) fn closure(&mut self, closure: &'a ClosureExpr, want: ExpectedType<'_>) -> Type {
        let functions = want.ty.map_or(&[][..], Type::members).iter();
        let functions: Vec<&Rc<FnType>> =
            functions.filter_map(|m| if let Type::Fn(f) = m { Some(f) } else { None }).collect();
        // Of several functions, the number of parameters says which one is meant.
        let meant = functions.iter().find(|f| f.params.len() == closure.params.len());
        let hints = meant.or(functions.first()).map(|f| Rc::clone(f));
        let params = hints.as_ref().map_or(&[][..], |f| &f.params);
        let returns = hints.as_ref().map(|f| &f.returns).filter(|r| !r.is_open());
        let want = match (returns, want.why) {
            (Some(ty), Some(why)) => ExpectedType::must(ty, why),
            (Some(ty), None) => ExpectedType::hint(ty),
            _ => ExpectedType::FREE,
        };
        Type::Fn(Rc::new(self.closure_of(closure, params, want))).bounded()
    }

    /// A closure whose parameters its caller gives; `want` is about its result.
    pub(super) fn closure_of(&mut self, closure: &'a ClosureExpr, params: &[Type], want: ExpectedType<'_>) -> FnType {
        let generics = self.frame.generics.clone();
        let frame = FunctionFrame { generics, ..FunctionFrame::default() };
        let yielding = self.hands_over(&closure.body);
        let declared = closure.returns.as_ref().filter(|_| !yielding);
        let declared = declared.map(|ty| (self.written(ty), DemandOrigin::Returns(ty.span)));
        let promised = declared.clone().or_else(|| want.ty.cloned().zip(want.why).filter(|_| !yielding));
        self.in_frame(frame, |checker| {
            checker.flow.dead = false;
            checker.frame.promised = promised;
            let mut types = Vec::new();
            for (i, param) in closure.params.iter().enumerate() {
                let known = params.get(i).filter(|_| !param.rest && param.default.is_none());
                checker.parameter(param, known);
                if !param.rest {
                    let ty = param.ty.as_ref().map(|ty| checker.written(ty));
                    types.push(ty.or_else(|| known.cloned()).unwrap_or(Type::Any));
                }
            }
            if declared.is_some() {
                checker.result_border(&closure.body);
            }
            let value = checker.body(&closure.body);
            let returns = match declared {
                Some((ty, _)) => ty,
                None if yielding || checker.frame.yielded.is_some() => Type::Any,
                None => value,
            };
            let min = closure.params.iter().take_while(|p| !p.rest && p.default.is_none()).count();
            let rest = closure.params.iter().any(|p| p.rest);
            FnType { params: types, min, rest, returns }
        })
    }

    pub(super) fn return_from(&mut self, value: Option<&'a Expr>, span: Span) -> Type {
        let promised = self.frame.promised.clone();
        let found = match (value, &promised) {
            (Some(value), Some((ty, why))) => self.expr(value, ExpectedType::must(ty, *why)),
            (Some(value), None) => self.expr(value, ExpectedType::FREE),
            (None, _) => Type::Nil,
        };
        let given = self.frame.given.take().unwrap_or(Type::Never);
        self.frame.given = Some(join(given, found));
        self.leaves(span)
    }

    /// Control goes elsewhere.
    pub(super) fn leaves(&mut self, span: Span) -> Type {
        self.flow.dead = true;
        self.frame.left = Some(span);
        Type::Never
    }

    pub(super) fn yields(&mut self, item: &Type) {
        let before = self.frame.yielded.take().unwrap_or(Type::Never);
        self.frame.yielded = Some(join(before, item.widened()));
    }
}

fn generics_of(item: &Item) -> &[Name] {
    match &item.kind {
        ItemKind::Struct { generics, .. } | ItemKind::Enum { generics, .. } => generics,
        _ => &[],
    }
}

/// A body that ends in no expression: its value is nil, if control gets to its end.
fn falls_off(body: &Block) -> bool {
    let last = body.stmts.iter().rfind(|s| !matches!(s.kind, StmtKind::Item(_)));
    !matches!(last.map(|s| &s.kind), Some(StmtKind::Expr(_) | StmtKind::Error))
}

/// Shows every expression that runs when the part does: those of functions and tasks inside are left out.
fn any_in(part: Part<'_>, look: &mut dyn FnMut(&Expr)) {
    match part {
        Part::Expr(e) => {
            look(e);
            if !matches!(e.kind, ExprKind::Spawn(_)) {
                e.parts(|part| any_in(part, look));
            }
        }
        Part::Block(block) => block.parts(|part| any_in(part, look)),
        Part::Stmt(stmt) => stmt.parts(|part| any_in(part, look)),
        Part::Closure(_) | Part::Param(_) | Part::Pattern(_) | Part::Type(_) | Part::Item(_) => {}
    }
}
