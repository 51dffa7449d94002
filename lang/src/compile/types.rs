//! Written types that are asked while running: `catch (e: Type)`.

use super::Compiler;
use crate::ast::{NodeId, TypeExpr, TypeKind};
use crate::builtin_type::{Kind, builtin_type};
use crate::declaration::{AliasDecl, TypeDecl};
use crate::value::{EnumDef, Str, Value};
use crate::vm::TypeTest;
use std::rc::Rc;

/// Lookup of the names of a type, with the aliases that already have an entry.
#[derive(Default)]
struct Around {
    alias: Option<Rc<AliasDecl>>,
    met: Vec<(*const AliasDecl, usize)>,
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
            TypeKind::Name { name, args } => self.named(name, args, ty.id, around),
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

    fn named(&mut self, name: &str, args: &[TypeExpr], id: NodeId, around: &mut Around) -> TypeTest {
        let def = match &around.alias {
            Some(alias) => alias.named(name),
            None => self.names.named_type(id).cloned(),
        };
        match def {
            Some(TypeDecl::Struct(decl)) => return TypeTest::Struct(self.struct_def(&decl)),
            Some(TypeDecl::Enum(decl)) => return TypeTest::Enum(self.enum_def(&decl)),
            Some(TypeDecl::Interface(decl)) => return TypeTest::Interface(self.interface_def(&decl)),
            Some(TypeDecl::Alias(alias)) => return self.alias(&alias, around),
            None => {}
        }
        // A type parameter stands for any type.
        if around.alias.as_ref().is_some_and(|a| a.generics.iter().any(|g| g == name)) {
            return TypeTest::Any;
        }
        let Some(row) = builtin_type(name) else { return TypeTest::Named(self.name_value(name)) };
        let mut arg = |c: &mut Self, i: usize| Box::new(args.get(i).map_or(TypeTest::Any, |a| c.written(a, around)));
        match row.kind {
            Kind::Any => TypeTest::Any,
            Kind::Never => TypeTest::Never,
            Kind::List => TypeTest::List(arg(self, 0)),
            Kind::Dict => TypeTest::Dict(arg(self, 1)),
            Kind::Set => TypeTest::Set(arg(self, 0)),
            Kind::Result => TypeTest::Result(arg(self, 0), arg(self, 1)),
            Kind::Channel | Kind::Generator | Kind::Iter | Kind::Stream | Kind::Task => {
                TypeTest::Named(self.name_value(row.name))
            }
            kind => TypeTest::Named(self.name_value(kind.name())),
        }
    }

    /// An alias has an entry of its own, so that it can hold itself.
    fn alias(&mut self, alias: &Rc<AliasDecl>, around: &mut Around) -> TypeTest {
        if let Some((_, at)) = around.met.iter().find(|(met, _)| *met == Rc::as_ptr(alias)) {
            return TypeTest::See(*at);
        }
        let types = &mut self.fn_mut().proto.types;
        let at = types.len();
        types.push(TypeTest::Any);
        around.met.push((Rc::as_ptr(alias), at));
        let outer = around.alias.replace(alias.clone());
        let test = self.written(&alias.ty, around);
        // It stays among those that were met: an alias that is named again is not written down again.
        around.alias = outer;
        if let Some(slot) = self.fn_mut().proto.types.get_mut(at) {
            *slot = test;
        }
        TypeTest::See(at)
    }

    /// The enum that `Ok` and `Err` belong to, or the one that is named.
    pub(super) fn pattern_enum(&self, name: Option<&crate::ast::Name>) -> Option<Rc<EnumDef>> {
        let Some(name) = name else { return Some(Value::result_def()) };
        match self.names.named_type(name.id).map(TypeDecl::resolved) {
            Some(TypeDecl::Enum(decl)) => Some(self.enum_def(&decl)),
            None if name.text == "Result" => Some(Value::result_def()),
            _ => None,
        }
    }
}
