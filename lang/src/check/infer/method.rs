//! Method calls.

use super::Checker;
use super::call::most;
use super::want::{DemandOrigin, ExpectedType, ImportedPart};
use crate::ast::{Expr, ExprKind, FnDecl, ItemKind, ListItem, Name};
use crate::builtin_type::{Kind, Tag};
use crate::check::calls::Call;
use crate::check::items::Declared;
use crate::check::types::{FnType, Handle, Kinds, NamedKind, NamedType, Nominal, Type, fill, join};
use crate::declaration::{BindingKind, Builtin, TypeDecl};
use crate::source::Span;
use std::rc::Rc;

/// Meaning of a called name after a dot.
enum CalledMember<'a> {
    /// A builtin of the receiver's type.
    Row(&'static Builtin),
    /// One that an `impl` gives.
    Declared(&'a FnDecl),
    /// A function of another file, without its receiver.
    Imported(Rc<NamedType>, usize, Rc<FnType>),
    /// A function in a field.
    Value(Type),
    /// Nothing.
    Missing,
    /// Nothing is known about it.
    Unknown,
}

impl<'a> Checker<'a> {
    pub(super) fn method_call(
        &mut self,
        object: &'a Expr,
        name: &'a Name,
        optional: bool,
        args: &'a [ListItem],
        span: Span,
        want: ExpectedType<'_>,
    ) -> Type {
        let holder = self.expr(object, ExpectedType::FREE);
        let receiver = if optional { Self::unlifted(&holder) } else { holder };
        if want.dropped && !optional {
            self.changed_copy(&receiver, object, name, span);
        }
        if receiver == Type::Never {
            self.unknown_arguments(args);
            return Type::Any;
        }
        let result = match receiver.members() {
            [one] => self.call_of(one, object, name, args, span),
            several => self.call_of_either(&receiver, several, object, name, args),
        };
        if optional { result.optional() } else { result }
    }

    /// Reports a call of a builtin by a name that is a variable too, if the value of the variable has a method of this name.
    pub(super) fn hidden_method(&mut self, row: &'static Builtin, namespace: &Expr, name: &Name) {
        let Some(id) = self.world.names.hidden_receivers.get(&name.id).copied() else { return };
        let holder = self.known(id).without_nil();
        let is_method = |ty: &Type| {
            let called = self.method_of(ty, &name.text);
            matches!(called, CalledMember::Row(_) | CalledMember::Declared(_) | CalledMember::Imported(..))
        };
        if !holder.members().is_empty() && holder.members().iter().all(is_method) {
            let bound = self.world.names.binding(id).span;
            self.hides_method(&row.full_name(), namespace.span, name, bound);
        }
    }

    /// Reports a call whose only effect is a changed copy of its receiver, which nothing reads.
    fn changed_copy(&mut self, receiver: &Type, object: &'a Expr, name: &Name, span: Span) {
        match self.method_of(receiver, &name.text) {
            CalledMember::Row(row) if self.returns_copy(row) => {
                let kind = receiver.kind().map_or("value", Kind::name);
                self.unused_copy(row.name, kind, true, object, span);
            }
            CalledMember::Unknown if self.is_own_value(object) => {
                if let Some((name, kind)) = self.copies(&name.text) {
                    self.unused_copy(name, kind, false, object, span);
                }
            }
            _ => {}
        }
    }

    /// Returns whether a method returns a changed copy of its receiver, and does nothing else. A function that is passed to other
    /// methods may be there for its effects.
    fn returns_copy(&self, row: &'static Builtin) -> bool {
        let is_copy = match row.module {
            "<list>" | "<range>" => matches!(self.world.signatures.of(row).returns, Type::List(_)),
            "<dict>" => matches!(self.world.signatures.of(row).returns, Type::Dict(_)),
            "<set>" => matches!(self.world.signatures.of(row).returns, Type::Set(_)),
            "<string>" => self.world.signatures.of(row).returns == Type::Str,
            _ => false,
        };
        is_copy && (row.pure || row.name == "sort")
    }

    /// Returns the name of a method that returns a changed copy whatever its receiver is, and the kind of value that has it. Nothing
    /// in the file or in the types that it imports may be called by this name.
    fn copies(&self, name: &str) -> Option<(&'static str, &'static str)> {
        let rows = || self.world.registry.all().filter(|row| row.is_method() && row.name == name);
        // A range has the methods of a list.
        let first = rows().find(|row| row.module != Tag::Range.module())?;
        if !rows().all(|row| self.returns_copy(row)) || self.is_written_member(name) {
            return None;
        }
        let is_member = |def: &TypeDecl| match def.resolved() {
            TypeDecl::Struct(def) => def.position(name).is_some() || def.methods.get(name).is_some(),
            TypeDecl::Enum(def) => def.methods.get(name).is_some(),
            TypeDecl::Interface(def) => def.methods.iter().any(|method| method.name == name),
            TypeDecl::Alias(_) => false,
        };
        if self.world.names.bindings.iter().filter_map(|b| b.def.as_ref()).any(is_member) {
            return None;
        }
        let module = first.module.trim_matches(['<', '>']);
        let is_alike = |row: &'static Builtin| [first.module, Tag::Range.module()].contains(&row.module);
        let kind = if rows().all(is_alike) { module } else { "value" };
        Some((first.name, kind))
    }

    /// Returns whether the file has a key, a field or a function of that name.
    fn is_written_member(&self, name: &str) -> bool {
        let text = self.source.text();
        text.match_indices(name).any(|(at, _)| {
            let before = text[..at].trim_end_matches('"');
            let after = text[at + name.len()..].trim_start_matches('"').trim_start();
            let is_word = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
            is_word && (after.starts_with(':') || before.ends_with("fn "))
        })
    }

    /// Returns whether the value of a path begins at a name that this file binds to a value.
    fn is_own_value(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(_) => self.plain_binding(e).is_some_and(|id| {
                let binding = self.world.names.binding(id);
                let is_value = !matches!(binding.kind, BindingKind::Import | BindingKind::Outer | BindingKind::Type);
                is_value && binding.origin.is_none()
            }),
            ExprKind::Field { object, .. } | ExprKind::Index { object, .. } => self.is_own_value(object),
            _ => false,
        }
    }

    /// Whether a value can be assigned to a name, or to a field below it.
    pub(super) fn is_assignable(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(_) => {
                self.plain_binding(e).is_some_and(|id| self.world.names.binding(id).kind == BindingKind::Var)
            }
            ExprKind::Field { object, optional, .. } => !optional && self.is_assignable(object),
            _ => false,
        }
    }

    fn unknown_arguments(&mut self, args: &'a [ListItem]) {
        for arg in args {
            self.expr(&arg.value, ExpectedType::FREE);
        }
    }

    fn call_of(&mut self, receiver: &Type, object: &'a Expr, name: &'a Name, args: &'a [ListItem], span: Span) -> Type {
        match self.method_of(receiver, &name.text) {
            CalledMember::Row(row) => {
                let fewer = |n: u8| usize::from(n).saturating_sub(1);
                let max = (!row.arity.rest).then_some(fewer(row.arity.max));
                self.arity(args, span, &row.full_name(), fewer(row.arity.min), max, None, Some(row));
                // The body of a loop may be visited twice.
                if row.lint.is_some() && !self.linted.iter().any(|call| call.span == span) {
                    self.linted.push(Call { row, args, span });
                }
                self.builtin_arguments(row, 1, Some(receiver), args)
            }
            CalledMember::Declared(decl) => {
                let function = self.world.function_type(decl);
                let max = most(&function).map(|n| n.saturating_sub(1));
                let min = function.min.saturating_sub(1);
                self.arity(args, span, &decl.name.text, min, max, Some(decl.name.span), None);
                self.checks_arguments(name.id, args, &function.params);
                let result = self.declared_call(decl, decl.params.get(1..).unwrap_or(&[]), args);
                match receiver {
                    Type::Named(named) => fill(&result, &self.arguments_of(named)),
                    _ => result,
                }
            }
            CalledMember::Imported(named, place, function) => {
                self.arity(args, span, &name.text, function.min, most(&function), None, None);
                let why = |i| DemandOrigin::Imported(named.id, ImportedPart::Method(place, i));
                if !function.rest {
                    self.checks_arguments(name.id, args, &function.params);
                }
                let result = self.typed_call(&function, args, why);
                fill(&result, &self.arguments_of(&named))
            }
            CalledMember::Value(ty) => self.value_call(&ty, &name.text, name.span, args, span),
            CalledMember::Missing => {
                self.unknown_arguments(args);
                self.no_member(receiver, object.span, name, true);
                Type::Any
            }
            CalledMember::Unknown => {
                self.unknown_arguments(args);
                Type::Any
            }
        }
    }

    /// The receiver is one of several: what all of them lack is missing, the rest is only looked at.
    fn call_of_either(
        &mut self,
        receiver: &Type,
        members: &[Type],
        object: &'a Expr,
        name: &'a Name,
        args: &'a [ListItem],
    ) -> Type {
        self.unknown_arguments(args);
        let mut result = Type::Never;
        let mut missing = 0;
        for member in members {
            let one = match self.method_of(member, &name.text) {
                CalledMember::Row(row) => self.result_for(row, member),
                CalledMember::Missing => {
                    missing += 1;
                    Type::Never
                }
                _ => Type::Any,
            };
            result = join(result, one);
        }
        if missing == members.len() {
            self.no_member(receiver, object.span, name, true);
            return Type::Any;
        }
        result
    }

    fn method_of(&self, ty: &Type, name: &str) -> CalledMember<'a> {
        let row = Declared::module(ty).and_then(|module| self.world.registry.find(module, name));
        match ty {
            Type::Any | Type::Never | Type::Param(_) | Type::Union(_) => CalledMember::Unknown,
            Type::Shape(shape) if shape.methods.is_some() && shape.field(name).is_none() => {
                // A value of the host reads like a dict as well.
                let row = row.or_else(|| self.world.registry.find(Tag::Dict.module(), name));
                row.map_or(CalledMember::Missing, CalledMember::Row)
            }
            Type::Shape(shape) => match (shape.field(name), row) {
                (Some(field), _) if !field.optional && !field.ty.kinds().meets(Kinds::of(Tag::Function)) => {
                    CalledMember::Value(field.ty.clone())
                }
                (Some(field), None) => CalledMember::Value(field.ty.clone()),
                (None, Some(row)) if !shape.open => CalledMember::Row(row),
                (None, None) if shape.literal && !shape.open => CalledMember::Missing,
                (Some(_), Some(_)) | (None, _) => CalledMember::Unknown,
            },
            // A key of the dict comes before its methods.
            Type::Dict(of) => match row {
                Some(row) if !of.kinds().meets(Kinds::of(Tag::Function)) => CalledMember::Row(row),
                _ => CalledMember::Unknown,
            },
            Type::Named(named) => self.named_method(named, name, row),
            // A function takes it, or it is a stream of the host, which may have methods of its own.
            Type::Handle(handle, _) if row.is_none() && self.function_of(*handle, name).is_none() => {
                if handle.is_lazy() && *handle != Handle::Stream {
                    CalledMember::Missing
                } else {
                    CalledMember::Unknown
                }
            }
            _ => row.map_or(CalledMember::Missing, CalledMember::Row),
        }
    }

    /// Returns the function of that name whose first argument is such a value: it is called as `name(value)`.
    pub(super) fn function_of(&self, handle: Handle, name: &str) -> Option<&'static Builtin> {
        let row = self.world.registry.find("", name)?;
        let signature = self.world.signatures.of(row);
        let first = signature.params.first()?;
        first.ty.members().iter().any(|ty| matches!(ty, Type::Handle(of, _) if *of == handle)).then_some(row)
    }

    fn named_method(&self, named: &Rc<NamedType>, name: &str, row: Option<&'static Builtin>) -> CalledMember<'a> {
        if let Some(decl) = self.world.method(named, name) {
            return CalledMember::Declared(decl);
        }
        if let Some(item) = self.world.items.get(named.id).filter(|_| named.kind == NamedKind::Interface) {
            let ItemKind::Interface { methods, .. } = &item.kind else { return CalledMember::Unknown };
            return methods.iter().find(|m| m.name.text == name).map_or(CalledMember::Unknown, CalledMember::Declared);
        }
        if let Some((place, head)) = self.world.imported.declared.get(&named.id).and_then(|parts| parts.method(name)) {
            return CalledMember::Imported(named.clone(), place, head.clone());
        }
        if let Some(field) = self.world.fields(named).as_ref().and_then(|fields| fields.field(name)) {
            return CalledMember::Value(fill(&field.ty, &self.arguments_of(named)));
        }
        match row {
            Some(row) => CalledMember::Row(row),
            // A value may have more functions than the interface that is asked for.
            None if named.kind == NamedKind::Interface || self.world.imported_method(named, name) => {
                CalledMember::Unknown
            }
            None => CalledMember::Missing,
        }
    }
}
