//! Structs and enums: literals, variants, and the functions of their types.

use super::Compiler;
use super::function::{FnState, in_a_row};
use crate::ast::visit::{Visit, walk_item};
use crate::ast::*;
use crate::declaration::TypeDecl;
use crate::source::Span;
use crate::value::{Closure, EnumDef, FieldDefault, Method, Str, StructDef, Value};
use crate::vm::{Op, Proto, Rebuild, op::Reg};
use std::collections::HashMap;
use std::rc::Rc;

/// A function of a type, whose body is compiled when all numbers are given out.
pub(super) struct TypeFunction<'a> {
    number: usize,
    /// Name in stack traces.
    title: String,
    span: Span,
    body: MemberBody<'a>,
}

enum MemberBody<'a> {
    Method(&'a FnDecl),
    /// Default of a field, used if a literal leaves it out.
    Default(&'a Expr),
}

/// Variants that are made once and shared: those without values, and constructors as functions.
#[derive(Default)]
pub(super) struct Variants(HashMap<(*const EnumDef, u32), Value>);

/// Meaning of `Type.name`.
pub(super) enum Static {
    Variant(Rc<EnumDef>, u32),
    Function(u16),
}

impl<'a> Compiler<'a> {
    /// Gives out the numbers of the functions of all types in the module.
    pub(super) fn number_members(&mut self, module: &'a Module) -> Vec<TypeFunction<'a>> {
        let mut types = Types(Vec::new());
        visit::walk_module(&mut types, module);
        let mut members = Vec::new();
        for item in types.0 {
            match &item.kind {
                ItemKind::Struct { name, fields, .. } => self.number_defaults(name, fields, &mut members),
                ItemKind::Impl { target, methods, .. } => self.number_methods(target, methods, &mut members),
                _ => {}
            }
        }
        members
    }

    fn declared(&self, name: &Name) -> Option<TypeDecl> {
        self.names.made(name.id).and_then(|id| self.names.binding(id).def.clone())
    }

    fn number_defaults(&mut self, name: &Name, fields: &'a [Field], members: &mut Vec<TypeFunction<'a>>) {
        let Some(TypeDecl::Struct(decl)) = self.declared(name) else { return };
        let def = self.struct_def(&decl);
        for (field, made) in fields.iter().zip(&def.fields) {
            if let (FieldDefault::Computed(function), Some(default)) = (&made.default, &field.default) {
                let number = self.isolate.add_function(Rc::default());
                function.set(u32::try_from(number).unwrap_or(u32::MAX));
                let title = format!("{}.{}", def.name, field.name.text);
                members.push(TypeFunction { number, title, span: field.name.span, body: MemberBody::Default(default) });
            }
        }
    }

    fn number_methods(&mut self, target: &Name, items: &'a [Item], members: &mut Vec<TypeFunction<'a>>) {
        let Some(def) = self.names.named_type(target.id).map(TypeDecl::resolved) else { return };
        for item in items {
            let ItemKind::Fn(decl) = &item.kind else { continue };
            let Some(declared) = def.methods().and_then(|all| all.get(&decl.name.text)) else { continue };
            // A later piece of a session gives an old number new code.
            let known = self.with_methods(&def, |all| all.get(&decl.name.text)).flatten();
            let number = match known {
                Some(method) => usize::from(method.function),
                None => self.isolate.add_function(Rc::default()),
            };
            match u16::try_from(number) {
                Ok(function) => {
                    let head = &declared.signature;
                    let exact = head.max.filter(|max| *max == head.min);
                    let name = Str::new(&head.name);
                    let method = Method { name, takes_self: head.takes_self, exact, function };
                    self.with_methods(&def, |all| all.add(Rc::new(method)));
                }
                Err(_) => self.too_large(decl.name.span, "functions"),
            }
            let title = format!("{}.{}", def.name(), decl.name.text);
            members.push(TypeFunction { number, title, span: decl.name.span, body: MemberBody::Method(decl) });
        }
    }

    /// Compiles the bodies of [`Self::number_members`].
    pub(super) fn members(&mut self, members: Vec<TypeFunction<'a>>) {
        for member in members {
            let proto = match member.body {
                MemberBody::Method(decl) => self.method_proto(decl, &member.title),
                MemberBody::Default(e) => self.default_proto(e, &member.title, member.span),
            };
            self.made.push((member.number, proto));
        }
    }

    pub(super) fn default_proto(&mut self, e: &'a Expr, title: &str, span: Span) -> Rc<Proto> {
        self.fns.push(FnState::new(None, Some(0)));
        let source = self.source.clone();
        let proto = &mut self.fn_mut().proto;
        proto.source = Some(source);
        proto.name = Some(Str::new(title));
        proto.span = span;
        self.tail(e);
        self.emit(Op::ReturnNil, span);
        self.finish_fn()
    }

    /// Returns the meaning of `Type.name`, if the name before the dot is that of a type.
    pub(super) fn static_member(&self, name: &Name) -> Option<Static> {
        let owner = self.names.owner_of(name.id)?;
        if let TypeDecl::Enum(decl) = &owner
            && let Some(tag) = decl.position(&name.text)
        {
            return Some(Static::Variant(self.enum_def(decl), u32::try_from(tag).unwrap_or(u32::MAX)));
        }
        self.with_methods(&owner, |all| all.get(&name.text))?.map(|method| Static::Function(method.function))
    }

    /// `Type.name` as a value.
    pub(super) fn static_value(&mut self, member: &Static, dst: Reg, span: Span) {
        match member {
            Static::Function(func) => {
                self.emit(Op::Function { dst, func: *func }, span);
            }
            Static::Variant(def, tag) => {
                let value = self.variant_value(def, *tag);
                self.load(value, dst, span);
            }
        }
    }

    /// A variant without values, or the function that makes one with values.
    fn variant_value(&mut self, def: &Rc<EnumDef>, tag: u32) -> Value {
        let made = self.variants.0.entry((Rc::as_ptr(def), tag)).or_insert_with(|| {
            let Some(variant) = def.variants.get(tag as usize) else { return Value::Nil };
            if variant.arity == 0 {
                return Value::Variant(crate::value::Record::take(def.clone(), tag, &mut []));
            }
            let arity = u16::try_from(variant.arity).unwrap_or(u16::MAX);
            let proto = Proto {
                name: Some(Str::new(&format!("{}.{}", def.name, variant.name))),
                source: def.site.as_ref().map(|s| s.source.clone()),
                span: variant.span,
                params: arity,
                required: arity,
                exact: arity,
                regs: arity.saturating_add(1),
                code: vec![Op::VariantOf { dst: 0, base: 0, site: 0 }, Op::Return { src: 0 }],
                spans: vec![variant.span; 2],
                variants: vec![(def.clone(), tag)],
                ..Proto::default()
            };
            Value::Closure(Rc::new(Closure { proto: Rc::new(proto), captures: Vec::new() }))
        });
        made.clone()
    }

    /// `E.B(1, "x")` with the right number of values. False when this must go through the constructor as a function.
    pub(super) fn make_variant(
        &mut self,
        def: &Rc<EnumDef>,
        tag: u32,
        args: &'a [ListItem],
        dst: Reg,
        span: Span,
    ) -> bool {
        let arity = def.variants.get(tag as usize).map_or(0, |v| v.arity);
        if arity == 0 || args.len() != arity || args.iter().any(|a| a.spread) {
            return false;
        }
        let count = self.index(arity, span, "values in a variant");
        let base = self.temps(count);
        for (reg, arg) in in_a_row(base, count).zip(args) {
            self.expr(&arg.value, reg);
        }
        let variants = &mut self.fn_mut().proto.variants;
        let at = variants.iter().position(|(d, t)| Rc::ptr_eq(d, def) && *t == tag).unwrap_or_else(|| {
            variants.push((def.clone(), tag));
            variants.len() - 1
        });
        let site = self.index(at, span, "variants");
        self.emit(Op::VariantOf { dst, base, site }, span);
        true
    }

    /// `P {x: 1, ...rest}`
    pub(super) fn struct_literal(&mut self, name: &Name, items: &'a [DictItem], dst: Reg, span: Span) {
        let Some(TypeDecl::Struct(decl)) = self.names.named_type(name.id).map(TypeDecl::resolved) else { return };
        let def = self.struct_def(&decl);
        if items.iter().all(|i| matches!(i, DictItem::Entry { .. })) {
            self.plain_literal(&def, items, dst, span);
        } else {
            self.spread_literal(&def, name, items, dst, span);
        }
    }

    fn plain_literal(&mut self, def: &Rc<StructDef>, items: &'a [DictItem], dst: Reg, span: Span) {
        let count = self.index(def.fields.len(), span, "fields");
        let base = self.temps(count);
        let mut given = vec![false; def.fields.len()];
        for item in items {
            if let DictItem::Entry { key, value } = item
                && let Some(at) = def.position(&key.text)
            {
                given[at] = true;
                self.expr(value, base.saturating_add(u16::try_from(at).unwrap_or(0)));
            }
        }
        for (reg, (field, given)) in in_a_row(base, count).zip(def.fields.iter().zip(given)) {
            if !given {
                self.default_value(&field.default, reg, span);
            }
        }
        let structs = &mut self.fn_mut().proto.structs;
        let at = structs.iter().position(|d| Rc::ptr_eq(d, def)).unwrap_or_else(|| {
            structs.push(def.clone());
            structs.len() - 1
        });
        let def = self.index(at, span, "structs");
        self.emit(Op::StructOf { dst, base, def }, span);
    }

    fn default_value(&mut self, default: &FieldDefault, dst: Reg, span: Span) {
        match default {
            // The checker has reported it.
            FieldDefault::None => {
                self.emit(Op::Nil { dst }, span);
            }
            FieldDefault::Constant(value) => self.load(value.clone(), dst, span),
            FieldDefault::Computed(function) => {
                let func = self.index(function.get() as usize, span, "functions");
                let base = self.fn_ref().next;
                self.note_call(None, Vec::new());
                self.emit(Op::CallFn { argc: 0, dst, base, func }, span);
            }
        }
    }

    fn spread_literal(&mut self, def: &Rc<StructDef>, name: &Name, items: &'a [DictItem], dst: Reg, span: Span) {
        // The usual one, `P {...p, x: 1}`, copies `p` and sets `x`; others are collected in a dict first.
        let simple = matches!(items, [DictItem::Spread(_), rest @ ..]
            if rest.iter().all(|i| matches!(i, DictItem::Entry { .. })) && rest.len() < 200);
        let named = if simple { &items[1..] } else { &[] };
        let base = self.temps(u16::try_from(named.len() + 1).unwrap_or(1));
        let mut spread = name.span;
        match items.first() {
            Some(DictItem::Spread(e)) if simple => {
                spread = e.span;
                self.expr(e, base);
            }
            _ => self.dict(items, base, span),
        }
        self.shares(base);
        let mut given = Vec::with_capacity(named.len());
        for (reg, item) in in_a_row(base.saturating_add(1), u16::MAX).zip(named) {
            if let DictItem::Entry { key, value } = item {
                self.expr(value, reg);
                given.push(u16::try_from(def.position(&key.text).unwrap_or(usize::MAX)).unwrap_or(u16::MAX));
            }
        }
        let later: Vec<usize> = (0..def.fields.len())
            .filter(|at| matches!(def.fields[*at].default, FieldDefault::Computed(_)))
            .filter(|at| !given.iter().any(|g| usize::from(*g) == *at))
            .collect();
        let rebuilds = &mut self.fn_mut().proto.rebuilds;
        rebuilds.push(Rebuild { def: def.clone(), given: given.into() });
        let at = rebuilds.len() - 1;
        let site = self.index(at, span, "struct literals");
        self.emit(Op::StructFrom { dst: base, base, site }, spread);
        for at in later {
            let index = self.index(at, span, "fields");
            let has = self.emit(Op::JumpIfSlot { object: base, index, by: 0 }, span);
            let src = self.temp();
            self.default_value(&def.fields[at].default, src, span);
            self.emit(Op::SetSlot { object: base, src, index }, span);
            self.free_to(src);
            self.patch_here(&[has]);
        }
        self.emit(Op::Take { dst, src: base }, span);
    }
}

/// The declarations of types, wherever they stand.
struct Types<'a>(Vec<&'a Item>);

impl<'a> Visit<'a> for Types<'a> {
    fn item(&mut self, item: &'a Item) {
        if let ItemKind::Struct { .. } | ItemKind::Enum { .. } | ItemKind::Impl { .. } = &item.kind {
            self.0.push(item);
        }
        walk_item(self, item);
    }
}
