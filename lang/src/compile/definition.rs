//! Makes run-time definitions of declared types.

use super::Compiler;
use crate::declaration::{Constant, DefaultDecl, EnumDecl, InterfaceDecl, Methods, StructDecl, TypeDecl};
use crate::value::{Dict, EnumDef, FieldDef, FieldDefault, InterfaceDef, Method, Str, StructDef, Value, VariantDef};
use std::cell::Cell;
use std::rc::Rc;

impl Compiler<'_> {
    /// Returns the definition of a struct.
    pub(super) fn struct_def(&self, decl: &Rc<StructDecl>) -> Rc<StructDef> {
        self.isolate.definitions().of_struct(decl, || StructDef {
            name: Str::new(&decl.name),
            site: decl.site.clone(),
            fields: decl
                .fields
                .iter()
                .map(|field| FieldDef {
                    name: Str::new(&field.name),
                    in_data: self.name_value(field.data_name()),
                    span: field.span,
                    default: match &field.default {
                        DefaultDecl::None => FieldDefault::None,
                        DefaultDecl::Constant(constant) => FieldDefault::Constant(value(constant)),
                        DefaultDecl::Computed => FieldDefault::Computed(Cell::new(u32::MAX)),
                    },
                })
                .collect(),
            methods: Methods::default(),
        })
    }

    /// Returns the definition of an enum.
    pub(super) fn enum_def(&self, decl: &Rc<EnumDecl>) -> Rc<EnumDef> {
        if Rc::ptr_eq(decl, &EnumDecl::result()) {
            return Value::result_def();
        }
        self.isolate.definitions().of_enum(decl, || EnumDef {
            name: Str::new(&decl.name),
            site: decl.site.clone(),
            variants: decl
                .variants
                .iter()
                .map(|v| VariantDef {
                    name: Str::new(&v.name),
                    in_data: Str::new(v.data_name()),
                    span: v.span,
                    arity: v.arity,
                })
                .collect(),
            tag: decl.tag.as_deref().map(Str::new),
            methods: Methods::default(),
        })
    }

    /// Returns the definition of an interface.
    pub(super) fn interface_def(&self, decl: &Rc<InterfaceDecl>) -> Rc<InterfaceDef> {
        self.isolate.definitions().of_interface(decl, || InterfaceDef {
            name: Str::new(&decl.name),
            methods: decl.methods.iter().map(|m| Str::new(&m.name)).collect(),
        })
    }

    /// Returns the compiled functions of the `impl`s of a type.
    pub(super) fn with_methods<T>(&self, decl: &TypeDecl, look: impl FnOnce(&Methods<Method>) -> T) -> Option<T> {
        match decl {
            TypeDecl::Struct(decl) => Some(look(&self.struct_def(decl).methods)),
            TypeDecl::Enum(decl) => Some(look(&self.enum_def(decl).methods)),
            TypeDecl::Interface(_) | TypeDecl::Alias(_) => None,
        }
    }
}

/// Returns the value of a constant.
pub(super) fn value(constant: &Constant) -> Value {
    match constant {
        Constant::Nil => Value::Nil,
        Constant::Bool(b) => Value::Bool(*b),
        Constant::Int(i) => Value::Int(*i),
        Constant::Float(f) => Value::Float(*f),
        Constant::Str(text) => Value::str(text),
        Constant::EmptyList => Value::list(Vec::new()),
        Constant::EmptyDict => Value::dict(Dict::new()),
    }
}
