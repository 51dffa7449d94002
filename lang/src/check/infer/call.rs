//! Calls of functions: how many arguments, of which types, and what comes back.

use super::Checker;
use super::want::{DemandOrigin, ExpectedType, ImportedPart};
use crate::ast::{Expr, ExprKind, FnDecl, ItemKind, ListItem, Name, TypeExpr};
use crate::builtin_type::Tag;
use crate::check::types::{Bound, FnType, Kinds, Type, bind, fill};
use crate::declaration::Builtin;
use crate::resolve::Target;
use crate::source::Span;
use smol_str::SmolStr;
use std::rc::Rc;

/// Demand of a parameter: its type and origin.
pub(in crate::check) type Taken = (Type, DemandOrigin);

impl<'a> Checker<'a> {
    pub(super) fn call(&mut self, callee: &'a Expr, args: &'a [ListItem], span: Span, want: ExpectedType<'_>) -> Type {
        if let ExprKind::Field { object, name, optional } = &callee.kind {
            if let Some(row) = self.world.names.namespaced.get(&name.id).copied() {
                self.hidden_method(row, object, name);
                return self.builtin_call(row, args, span);
            }
            if let Some(ty) = self.call_of_from(object, name, args, span) {
                return ty;
            }
            if let Some(ty) = self.variant_call(object, name, args, want) {
                return ty;
            }
            return self.method_call(object, name, *optional, args, span, want);
        }
        match self.called_by_name(callee) {
            Some(NamedFunction::Builtin(row)) => self.builtin_call(row, args, span),
            Some(NamedFunction::Function(decl)) => {
                let name = decl.name.text.as_str();
                let function = self.world.function_type(decl);
                self.arity(args, span, name, function.min, most(&function), Some(decl.name.span), None);
                self.checks_arguments(callee.id, args, &function.params);
                self.declared_call(decl, &decl.params, args)
            }
            Some(NamedFunction::Pipeline) => {
                self.arguments(args, &[], None, false);
                Type::Any
            }
            None => {
                let function = self.expr(callee, ExpectedType::FREE);
                if let Some(ty) = self.imported_call(callee, args, span) {
                    return ty;
                }
                let name = if let ExprKind::Name(name) = &callee.kind { name.as_str() } else { "" };
                self.value_call(&function, name, callee.span, args, span)
            }
        }
    }

    fn called_by_name(&mut self, callee: &Expr) -> Option<NamedFunction<'a>> {
        let ExprKind::Name(_) = &callee.kind else { return None };
        match self.world.names.used(callee.id)? {
            Target::Builtin(row) => Some(NamedFunction::Builtin(row)),
            Target::Binding(id) => {
                let item = self.world.items.get(id)?;
                let named = match &item.kind {
                    ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } => NamedFunction::Function(decl),
                    ItemKind::Pipeline { .. } => NamedFunction::Pipeline,
                    _ => return None,
                };
                self.used(id, callee.span);
                Some(named)
            }
        }
    }

    /// A call of a function of another file.
    fn imported_call(&mut self, callee: &Expr, args: &'a [ListItem], span: Span) -> Option<Type> {
        let (ExprKind::Name(name), Some(Target::Binding(id))) = (&callee.kind, self.world.names.used(callee.id)) else {
            return None;
        };
        let binding = self.world.names.binding(id);
        let takes = binding.takes.clone().filter(|_| binding.origin.is_some())?;
        let before = self.found.len();
        self.arity(args, span, name, takes.min, takes.max, None, None);
        if self.found.len() > before
            && let Some(d) = self.found.pop()
        {
            self.found.push(d.label(&takes.source, takes.span, "declared here"));
        }
        let Type::Fn(function) = self.known(id) else {
            self.arguments(args, &[], None, true);
            return Some(Type::Any);
        };
        if !function.rest {
            self.checks_arguments(callee.id, args, &function.params);
        }
        Some(self.typed_call(&function, args, |i| DemandOrigin::Imported(id, ImportedPart::Parameter(i))))
    }

    /// The arguments of a call of a function of which only the type is known, and its result. `why` demands each parameter.
    pub(super) fn typed_call(
        &mut self,
        function: &FnType,
        args: &'a [ListItem],
        why: impl Fn(usize) -> DemandOrigin,
    ) -> Type {
        let taken = |(i, ty): (usize, &Type)| {
            let ty = if i < function.min { ty.clone() } else { ty.clone().optional() };
            (ty, why(i))
        };
        let taken: Vec<Taken> = function.params.iter().enumerate().map(taken).collect();
        let bound = self.arguments(args, &taken, None, true);
        fill(&function.returns, &bound)
    }

    /// A call of a function of the file; `params` without those that the call does not write.
    pub(super) fn declared_call(
        &mut self,
        decl: &'a FnDecl,
        params: &'a [crate::ast::Param],
        args: &'a [ListItem],
    ) -> Type {
        let rest = params.iter().find(|p| p.rest).and_then(|p| p.ty.as_ref());
        let rest = rest.map(|ty| (self.one_of_rest(ty, &decl.generics), DemandOrigin::Parameter(ty.span)));
        // Types are read once a function, not once a call.
        let head = self.world.function_type(decl);
        let written = params.iter().filter(|p| !p.rest);
        let types = head.params.iter().skip(head.params.len().saturating_sub(written.clone().count()));
        let taken: Vec<Taken> = written
            .zip(types)
            .map(|(p, ty)| (ty.clone(), DemandOrigin::Parameter(p.ty.as_ref().map_or(p.span, |ty| ty.span))))
            .collect();
        let bound = self.arguments(args, &taken, rest.as_ref(), true);
        fill(&self.result_of(decl), &bound)
    }

    fn one_of_rest(&self, ty: &TypeExpr, generics: &[Name]) -> Type {
        match self.world.read(ty, generics) {
            Type::List(of) => (*of).clone(),
            other => other,
        }
    }

    fn builtin_call(&mut self, row: &'static Builtin, args: &'a [ListItem], span: Span) -> Type {
        let max = (!row.arity.rest).then_some(usize::from(row.arity.max));
        self.arity(args, span, &row.full_name(), usize::from(row.arity.min), max, None, Some(row));
        let result = self.builtin_arguments(row, 0, None, args);
        let result = self.decoded(row, args, result);
        // Behind `assert(x)`, x holds.
        if let ("", "assert", Some(test)) = (row.module, row.name, args.first())
            && !test.spread
            && Self::is_short(test.value.span)
        {
            (self.flow, _) = self.told_by(&test.value);
        }
        result
    }

    /// The arguments of a builtin from parameter `skip` on; the receiver of a method binds type parameters.
    pub(super) fn builtin_arguments(
        &mut self,
        row: &'static Builtin,
        skip: usize,
        receiver: Option<&Type>,
        args: &'a [ListItem],
    ) -> Type {
        let signature = self.world.signatures.of(row);
        let why = DemandOrigin::Builtin(row.sig);
        let mut bound = Bound::new();
        if let (Some(receiver), Some(first)) = (receiver, signature.params.first()) {
            bind(&first.ty, receiver, &mut bound);
        }
        if signature.params.iter().any(|p| p.mentions_event) {
            bound.extend(self.event_parameters(args));
        }
        let taken: Vec<Taken> = signature
            .params
            .iter()
            .skip(skip)
            .filter(|p| !p.rest)
            .map(|p| {
                // A function in a dict learns from the events that the dict names.
                let ty =
                    if p.mentions_event && matches!(p.ty, Type::Shape(_)) { fill(&p.ty, &bound) } else { p.ty.clone() };
                (if p.optional { ty.optional() } else { ty }, why)
            })
            .collect();
        let rest = signature.params.iter().find(|p| p.rest).map(|p| (p.ty.clone(), why));
        // Its closure is there to fail.
        let catches = row.name == "assert_throws";
        let mut bound = self.arguments_with(args, &taken, rest.as_ref(), catches, bound);
        for left_out in signature.params.iter().skip(skip + args.len()).filter(|p| p.optional) {
            bind(&left_out.ty, &Type::Nil, &mut bound);
        }
        let result = fill(&signature.returns, &bound);
        if signature.returns == Type::Never {
            let end = args.last().map_or(0, |a| a.value.span.end);
            let start = args.first().map_or(end, |a| a.value.span.start);
            return self.leaves(Span::new(start, end));
        }
        result
    }

    fn arguments(&mut self, args: &'a [ListItem], taken: &[Taken], rest: Option<&Taken>, catches: bool) -> Bound {
        self.arguments_with(args, taken, rest, catches, Bound::new())
    }

    /// Looks at arguments in their order; what they say of type parameters. With `catches`, the function may be one that
    /// calls what it is given and catches what that raises.
    fn arguments_with(
        &mut self,
        args: &'a [ListItem],
        taken: &[Taken],
        rest: Option<&Taken>,
        catches: bool,
        mut bound: Bound,
    ) -> Bound {
        let mut spread = false;
        for (i, arg) in args.iter().enumerate() {
            spread |= arg.spread;
            let param = taken.get(i).or(rest).filter(|_| !spread);
            let closure = matches!(arg.value.kind, ExprKind::Closure(_));
            let caught = usize::from(closure && catches);
            self.caught += caught;
            match param {
                Some((ty, why)) => {
                    // What a type parameter is must not be demanded of one argument because of another.
                    let wanted = if closure { as_callback(ty, &bound) } else { fill(ty, &Bound::new()) };
                    let found = self.expr(&arg.value, ExpectedType::must(&wanted, *why));
                    bind(ty, &found, &mut bound);
                }
                None => {
                    self.expr(&arg.value, ExpectedType::FREE);
                }
            }
            self.caught -= caught;
        }
        bound
    }

    /// A call of a value.
    pub(super) fn value_call(
        &mut self,
        function: &Type,
        name: &str,
        at: Span,
        args: &'a [ListItem],
        span: Span,
    ) -> Type {
        if !function.is_open() && !function.kinds().meets(Kinds::of(Tag::Function)) {
            self.not_a_function(function, at);
            self.arguments(args, &[], None, true);
            return Type::Any;
        }
        let Type::Fn(function) = function else {
            self.arguments(args, &[], None, true);
            return Type::Any;
        };
        self.arity(args, span, name, function.min, most(function), None, None);
        self.typed_call(function, args, |_| DemandOrigin::Implicit)
    }

    /// `x |> f`
    pub(super) fn piped_call(&mut self, a: &'a Expr, value: &Type, f: &'a Expr, span: Span) -> Type {
        let (params, returns) = match self.called_by_name(f) {
            Some(NamedFunction::Builtin(row)) => {
                let signature = self.world.signatures.of(row);
                let first = signature.params.first().filter(|p| !p.rest);
                let first = first.map(|p| {
                    (if p.optional { p.ty.clone().optional() } else { p.ty.clone() }, DemandOrigin::Builtin(row.sig))
                });
                (first, signature.returns.clone())
            }
            Some(NamedFunction::Function(decl)) => {
                let param = decl.params.first().filter(|p| !p.rest);
                let at = |p: &crate::ast::Param| p.ty.as_ref().map_or(p.span, |ty| ty.span);
                let head = self.world.function_type(decl);
                let first = param.zip(head.params.first()).map(|(p, ty)| (ty.clone(), DemandOrigin::Parameter(at(p))));
                if first.is_some() {
                    self.checks_arguments(f.id, &[], &[]);
                }
                (first, self.result_of(decl))
            }
            Some(NamedFunction::Pipeline) => (None, Type::Any),
            None => {
                let hint =
                    Type::Fn(Rc::new(FnType { params: vec![value.clone()], min: 1, rest: false, returns: Type::Any }));
                match self.expr(f, ExpectedType::hint(&hint)) {
                    Type::Fn(function) => {
                        (function.params.first().map(|p| (p.clone(), DemandOrigin::Implicit)), function.returns.clone())
                    }
                    other if other.is_open() || other.kinds().meets(Kinds::of(Tag::Function)) => (None, Type::Any),
                    other => {
                        self.not_a_function(&other, f.span);
                        (None, Type::Any)
                    }
                }
            }
        };
        let _ = span;
        let mut bound = Bound::new();
        if let Some((ty, why)) = params {
            let wanted = fill(&ty, &Bound::new());
            self.fit_place(a, value.clone(), ExpectedType::must(&wanted, why));
            bind(&ty, value, &mut bound);
        }
        fill(&returns, &bound)
    }

    /// `E.B(…)`
    fn variant_call(
        &mut self,
        object: &Expr,
        name: &Name,
        args: &'a [ListItem],
        want: ExpectedType<'_>,
    ) -> Option<Type> {
        let id = self.plain_binding(object)?;
        if !self.world.is_enum(id) {
            return None;
        }
        self.used(id, object.span);
        // A function of the enum, unless it is a variant.
        let is_own = self.world.items.get(id).is_some();
        let Some(taken) = self.world.variant(id, &name.text).or_else(|| is_own.then(Vec::new)) else {
            self.arguments(args, &[], None, true);
            return Some(Type::Any);
        };
        let bound = self.arguments(args, &taken, None, false);
        let _ = want;
        let arg = |g: &SmolStr| bound.iter().find(|(n, _)| n == g).map_or(Type::Never, |(_, ty)| ty.clone());
        Some(self.named(id, self.world.generics(id).iter().map(arg).collect()))
    }
}

/// Function that is called by its name.
enum NamedFunction<'a> {
    Builtin(&'static Builtin),
    Function(&'a FnDecl),
    Pipeline,
}

/// Returns the maximum number of arguments of a function.
pub(super) fn most(function: &FnType) -> Option<usize> {
    (!function.rest).then_some(function.params.len())
}

/// A function that is asked for, with what is known of its arguments; what it gives decides type parameters, so that is
/// not demanded.
fn as_callback(ty: &Type, bound: &Bound) -> Type {
    match ty {
        Type::Fn(f) => Type::Fn(Rc::new(FnType {
            params: f.params.iter().map(|p| fill(p, bound)).collect(),
            returns: fill(&f.returns, &Bound::new()),
            ..**f
        })),
        Type::Union(members) => {
            members.iter().map(|m| as_callback(m, bound)).fold(Type::Never, crate::check::types::join)
        }
        other => fill(other, &Bound::new()),
    }
}
