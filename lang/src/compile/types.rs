//! Written types that are asked while running: `catch (e: Type)`, and types as values.

use super::Compiler;
use super::schema::SchemaWriter;
use crate::ast::{NodeId, Param, TypeExpr, TypeKind};
use crate::builtin_type::{Kind, builtin_type};
use crate::check::types::{ShapeKey, Type};
use crate::declaration::{AliasDecl, EnumDecl, StructDecl, TypeDecl};
use crate::source::Span;
use crate::value::{Dict, EnumDef, Str, StructDef, Value};
use crate::vm::op::Reg;
use crate::vm::{TypeTest, TypeValue, WrittenTypes};
use std::rc::Rc;

/// The declaration whose own types are being written, which says what the names in them mean.
#[derive(Clone)]
enum NamesOfType {
    File,
    Alias(Rc<AliasDecl>),
    Struct(Rc<StructDecl>),
    Enum(Rc<EnumDecl>),
}

/// Writes types into a table.
struct TypeWriter<'c, 'a> {
    compiler: &'c Compiler<'a>,
    table: WrittenTypes,
    within: NamesOfType,
    /// The aliases that have an entry already.
    met: Vec<(*const AliasDecl, usize)>,
    /// Whether the types of fields and values are written as well.
    is_whole: bool,
}

impl Compiler<'_> {
    /// The number of a type among those of the function.
    pub(super) fn type_test(&mut self, ty: &TypeExpr) -> u16 {
        let tests = std::mem::take(&mut self.fn_mut().proto.types);
        let mut writer = TypeWriter::new(self, false);
        writer.table.tests = tests;
        let at = writer.root(ty);
        let tests = writer.table.tests;
        self.fn_mut().proto.types = tests;
        self.index(at, ty.span, "types")
    }

    /// The test of a type that the checker knows.
    pub(super) fn type_test_of(&self, ty: &Type) -> TypeTest {
        let one = |part: &Type| Box::new(self.type_test_of(part));
        let named = |name: &str| TypeTest::Named(self.name_value(name));
        match ty {
            Type::Any | Type::Param(_) => TypeTest::Any,
            Type::Never => TypeTest::Never,
            Type::Nil => named(Kind::Nil.name()),
            Type::Bool => named(Kind::Bool.name()),
            Type::Int => named(Kind::Int.name()),
            Type::Float => named(Kind::Float.name()),
            Type::Str => named(Kind::Str.name()),
            Type::Bytes => named(Kind::Bytes.name()),
            Type::Range => named(Kind::Range.name()),
            Type::Pair(_) => named(Kind::Pair.name()),
            Type::Fn(_) => named("fn"),
            Type::Text(text) => TypeTest::Literal(Str::new(text)),
            Type::List(of) => TypeTest::List(one(of)),
            Type::Set(of) => TypeTest::Set(one(of)),
            Type::Dict(of) => TypeTest::Dict(one(of)),
            Type::Result(both) => TypeTest::Result(one(&both.0), one(&both.1)),
            Type::Handle(handle, _) if handle.is_lazy() => TypeTest::Lazy(self.name_value(handle.kind().name())),
            Type::Handle(handle, _) => named(handle.kind().name()),
            // A value of the host says of itself what it is.
            Type::Shape(shape) if shape.told || shape.methods.is_some() => TypeTest::Any,
            Type::Shape(shape) => {
                let field = |f: &ShapeKey| (Str::new(&f.name), f.optional, self.type_test_of(&f.ty));
                TypeTest::Shape(shape.fields.iter().map(field).collect(), shape.open)
            }
            Type::Named(named) => match self.names.binding(named.id).def.as_ref().map(TypeDecl::resolved) {
                Some(TypeDecl::Struct(decl)) => TypeTest::Struct(self.struct_def(&decl)),
                Some(TypeDecl::Enum(decl)) => TypeTest::Enum(self.enum_def(&decl)),
                // A builtin type may have the methods of an interface, too.
                _ => TypeTest::Any,
            },
            Type::Union(parts) => {
                let parts: Vec<TypeTest> = parts.iter().map(|part| self.type_test_of(part)).collect();
                if parts.iter().any(|part| matches!(part, TypeTest::Any)) {
                    return TypeTest::Any;
                }
                TypeTest::Either(parts)
            }
        }
    }

    /// Loads a written type as a value.
    pub(super) fn type_value(&mut self, ty: &TypeExpr, dst: Reg, span: Span) {
        let mut writer = TypeWriter::new(self, true);
        let at = writer.root(ty);
        let schema = SchemaWriter::new(self.names).result(ty).unwrap_or_else(|| Value::dict(Dict::new()));
        let value = TypeValue::value(writer.table, at, schema);
        self.load(value, dst, span);
    }

    /// The types of parameters of which values are made from data, by their numbers.
    pub(super) fn decoded_types<'p>(&self, params: impl IntoIterator<Item = &'p Param>) -> Vec<(usize, Value)> {
        let typed = |(at, param): (usize, &Param)| Some((at, self.decoded_type(param.ty.as_deref()?)?));
        params.into_iter().enumerate().filter_map(typed).collect()
    }

    /// The value of a written type of which values are made from data: one that names a struct or an enum.
    fn decoded_type(&self, ty: &TypeExpr) -> Option<Value> {
        let mut writer = TypeWriter::new(self, true);
        let at = writer.root(ty);
        if writer.table.structs.is_empty() && writer.table.enums.is_empty() {
            return None;
        }
        let schema = SchemaWriter::new(self.names).result(ty).unwrap_or_else(|| Value::dict(Dict::new()));
        Some(TypeValue::value(writer.table, at, schema))
    }

    /// Loads a declared type as a value.
    pub(super) fn named_type_value(&mut self, decl: &TypeDecl, dst: Reg, span: Span) {
        let value = self.isolate.definitions().of_type(decl, || {
            let mut writer = TypeWriter::new(self, true);
            let test = writer.declared(decl);
            let at = writer.add(test);
            let schema = SchemaWriter::new(self.names).declared(decl);
            TypeValue::value(writer.table, at, schema)
        });
        self.load(value, dst, span);
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

impl<'c, 'a> TypeWriter<'c, 'a> {
    fn new(compiler: &'c Compiler<'a>, is_whole: bool) -> Self {
        Self { compiler, table: WrittenTypes::default(), within: NamesOfType::File, met: Vec::new(), is_whole }
    }

    /// Adds a type as an entry of its own.
    fn root(&mut self, ty: &TypeExpr) -> usize {
        let test = self.written(ty);
        self.add(test)
    }

    fn add(&mut self, test: TypeTest) -> usize {
        self.table.tests.push(test);
        self.table.tests.len() - 1
    }

    fn written(&mut self, ty: &TypeExpr) -> TypeTest {
        match &ty.kind {
            TypeKind::Name { name, args } => self.named(name, args, ty.id),
            TypeKind::Fn { .. } => TypeTest::Named(Str::new("fn")),
            TypeKind::Shape { fields, open } => TypeTest::Shape(
                fields.iter().map(|(n, optional, ty)| (Str::new(&n.text), *optional, self.written(ty))).collect(),
                *open,
            ),
            TypeKind::Literal(text) => TypeTest::Literal(Str::new(text)),
            TypeKind::Union(parts) => TypeTest::Either(parts.iter().map(|p| self.written(p)).collect()),
            TypeKind::Optional(inner) => TypeTest::Either(vec![self.written(inner), TypeTest::Named(Str::new("nil"))]),
            TypeKind::Error => TypeTest::Any,
        }
    }

    fn named(&mut self, name: &str, args: &[TypeExpr], id: NodeId) -> TypeTest {
        let (decl, is_parameter) = match &self.within {
            NamesOfType::File => (self.compiler.names.named_type(id).cloned(), false),
            NamesOfType::Alias(alias) => (alias.named(name), alias.generics.iter().any(|g| g == name)),
            NamesOfType::Struct(def) => (def.scope.named(name), def.scope.generics.iter().any(|g| g == name)),
            NamesOfType::Enum(def) => (def.scope.named(name), def.scope.generics.iter().any(|g| g == name)),
        };
        // A type parameter stands for any type.
        if is_parameter {
            return TypeTest::Any;
        }
        if let Some(decl) = decl {
            return self.declared(&decl);
        }
        let Some(row) = builtin_type(name) else { return TypeTest::Named(self.compiler.name_value(name)) };
        let arg = |w: &mut Self, i: usize| Box::new(args.get(i).map_or(TypeTest::Any, |a| w.written(a)));
        match row.kind {
            Kind::Any => TypeTest::Any,
            Kind::Never => TypeTest::Never,
            Kind::List => TypeTest::List(arg(self, 0)),
            Kind::Dict => TypeTest::Dict(arg(self, 1)),
            Kind::Set => TypeTest::Set(arg(self, 0)),
            Kind::Result => TypeTest::Result(arg(self, 0), arg(self, 1)),
            Kind::Generator | Kind::Iter | Kind::Stream => TypeTest::Lazy(self.compiler.name_value(row.kind.name())),
            kind => TypeTest::Named(self.compiler.name_value(kind.name())),
        }
    }

    fn declared(&mut self, decl: &TypeDecl) -> TypeTest {
        match decl {
            TypeDecl::Struct(decl) => {
                let def = self.compiler.struct_def(decl);
                self.fields(decl, &def);
                TypeTest::Struct(def)
            }
            TypeDecl::Enum(decl) => {
                let def = self.compiler.enum_def(decl);
                self.variants(decl, &def);
                TypeTest::Enum(def)
            }
            TypeDecl::Interface(decl) => TypeTest::Interface(self.compiler.interface_def(decl)),
            TypeDecl::Alias(alias) => self.alias(alias),
        }
    }

    /// Writes the types of a struct's fields, once.
    fn fields(&mut self, decl: &Rc<StructDecl>, def: &Rc<StructDef>) {
        if !self.is_whole || self.table.structs.contains_key(&Rc::as_ptr(def)) {
            return;
        }
        // A struct may hold itself.
        self.table.structs.insert(Rc::as_ptr(def), Box::default());
        let outer = std::mem::replace(&mut self.within, NamesOfType::Struct(decl.clone()));
        let types = decl.fields.iter().map(|f| f.ty.as_ref().map_or(TypeTest::Any, |ty| self.written(ty))).collect();
        self.within = outer;
        self.table.structs.insert(Rc::as_ptr(def), types);
    }

    /// Writes the types of the values of an enum's variants, once.
    fn variants(&mut self, decl: &Rc<EnumDecl>, def: &Rc<EnumDef>) {
        if !self.is_whole || self.table.enums.contains_key(&Rc::as_ptr(def)) {
            return;
        }
        self.table.enums.insert(Rc::as_ptr(def), Box::default());
        let outer = std::mem::replace(&mut self.within, NamesOfType::Enum(decl.clone()));
        let types =
            decl.variants.iter().map(|variant| variant.types.iter().map(|ty| self.written(ty)).collect()).collect();
        self.within = outer;
        self.table.enums.insert(Rc::as_ptr(def), types);
    }

    /// An alias has an entry of its own, so that it can hold itself.
    fn alias(&mut self, alias: &Rc<AliasDecl>) -> TypeTest {
        if let Some((_, at)) = self.met.iter().find(|(met, _)| *met == Rc::as_ptr(alias)) {
            return TypeTest::See(*at);
        }
        let at = self.add(TypeTest::Any);
        self.met.push((Rc::as_ptr(alias), at));
        let outer = std::mem::replace(&mut self.within, NamesOfType::Alias(alias.clone()));
        let test = self.written(&alias.ty);
        // It stays among those that were met: an alias that is named again is not written down again.
        self.within = outer;
        if let Some(slot) = self.table.tests.get_mut(at) {
            *slot = test;
        }
        TypeTest::See(at)
    }
}
