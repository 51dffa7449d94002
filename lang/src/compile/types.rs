//! Written types that are asked while running: `catch (e: Type)`.

use super::Compiler;
use crate::ast::{TypeExpr, TypeKind};
use crate::source::Span;
use crate::value::{AliasDef, Str, TypeDef, Value};
use crate::vm::TypeTest;
use std::rc::Rc;

/// Where the names of a type are looked up, and which aliases are being written down around it.
#[derive(Default)]
struct Around {
    alias: Option<Rc<AliasDef>>,
    open: Vec<(*const AliasDef, usize)>,
}

impl Compiler<'_> {
    /// The number of a type among those of the function.
    pub(super) fn type_test(&mut self, ty: &TypeExpr) -> u16 {
        let test = self.written(ty, &mut Around::default());
        let types = &mut self.fn_mut().proto.types;
        types.push(test);
        let at = types.len() - 1;
        self.index(at, ty.span, "types")
    }

    fn written(&mut self, ty: &TypeExpr, around: &mut Around) -> TypeTest {
        match &ty.kind {
            TypeKind::Name { name, args } => self.named(name, args, ty.span, around),
            TypeKind::Fn { .. } => TypeTest::Named(Str::new("fn")),
            TypeKind::Shape { fields, .. } => TypeTest::Shape(
                fields
                    .iter()
                    .map(|(n, optional, ty)| (Str::new(&n.text), *optional, self.written(ty, around)))
                    .collect(),
            ),
            TypeKind::Literal(text) => TypeTest::Literal(Str::new(text)),
            TypeKind::Union(parts) => TypeTest::Either(parts.iter().map(|p| self.written(p, around)).collect()),
            TypeKind::Optional(inner) => {
                TypeTest::Either(vec![self.written(inner, around), TypeTest::Named(Str::new("nil"))])
            }
            TypeKind::Error => TypeTest::Any,
        }
    }

    fn named(&mut self, name: &str, args: &[TypeExpr], span: Span, around: &mut Around) -> TypeTest {
        let def = match &around.alias {
            Some(alias) => alias.named(name),
            None => self.names.type_at(span).cloned(),
        };
        match def {
            Some(TypeDef::Struct(def)) => return TypeTest::Struct(def),
            Some(TypeDef::Enum(def)) => return TypeTest::Enum(def),
            Some(TypeDef::Interface(def)) => return TypeTest::Interface(def),
            Some(TypeDef::Alias(alias)) => return self.alias(&alias, around),
            None => {}
        }
        let mut arg = |c: &mut Self, i: usize| Box::new(args.get(i).map_or(TypeTest::Any, |a| c.written(a, around)));
        match name {
            "any" | "unknown" => TypeTest::Any,
            "never" => TypeTest::Never,
            "list" => TypeTest::List(arg(self, 0)),
            "dict" => TypeTest::Dict(arg(self, 1)),
            "set" => TypeTest::Set(arg(self, 0)),
            "Result" => TypeTest::Result(arg(self, 0), arg(self, 1)),
            // A type parameter stands for any type.
            _ if around.alias.as_ref().is_some_and(|a| a.generics.iter().any(|g| g == name)) => TypeTest::Any,
            _ => TypeTest::Named(self.name_value(name)),
        }
    }

    /// An alias has an entry of its own, so that it can hold itself.
    fn alias(&mut self, alias: &Rc<AliasDef>, around: &mut Around) -> TypeTest {
        if let Some((_, at)) = around.open.iter().find(|(open, _)| *open == Rc::as_ptr(alias)) {
            return TypeTest::See(*at);
        }
        let types = &mut self.fn_mut().proto.types;
        let at = types.len();
        types.push(TypeTest::Any);
        around.open.push((Rc::as_ptr(alias), at));
        let outer = around.alias.replace(alias.clone());
        let test = self.written(&alias.ty, around);
        around.alias = outer;
        around.open.pop();
        if let Some(slot) = self.fn_mut().proto.types.get_mut(at) {
            *slot = test;
        }
        TypeTest::See(at)
    }

    /// The enum that `Ok` and `Err` belong to, or the one that is named.
    pub(super) fn pattern_enum(&self, name: Option<&crate::ast::Name>) -> Option<Rc<crate::value::EnumDef>> {
        let Some(name) = name else { return Some(Value::result_def()) };
        match self.names.type_at(name.span).map(TypeDef::resolved) {
            Some(TypeDef::Enum(def)) => Some(def),
            None if name.text == "Result" => Some(Value::result_def()),
            _ => None,
        }
    }
}
