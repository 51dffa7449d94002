//! Patterns: those that must fit (`let`, parameters, `for`) and those that are tried (`match`).

use super::Compiler;
use crate::ast::*;
use crate::declaration::TypeDecl;
use crate::source::Span;
use crate::value::Str;
use crate::vm::{Failure, Op, Test, op::Reg};
use smol_str::SmolStr;

impl<'a> Compiler<'a> {
    /// Binds what a pattern names; what is missing is nil, or its default.
    pub(super) fn destructure(&mut self, pattern: &'a Pattern, src: Reg) {
        self.bind_parts(pattern, src, None);
    }

    /// Tries a pattern: jumps in `fails` where it does not fit, binds its names where it does.
    pub(super) fn test(&mut self, pattern: &'a Pattern, src: Reg, fails: &mut Vec<usize>) {
        self.bind_parts(pattern, src, Some(fails));
    }

    fn bind_parts(&mut self, pattern: &'a Pattern, src: Reg, mut fails: Option<&mut Vec<usize>>) {
        let span = pattern.span;
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error => {}
            PatternKind::Bind(_) => {
                let reg = self.temp();
                self.emit(Op::Move { dst: reg, src }, span);
                self.bind_or_store(pattern.at(), reg);
            }
            PatternKind::Literal(e) => self.literal(e, src, fails, span),
            PatternKind::Dict { name, fields, rest } => {
                let mut unfit = Vec::new();
                if let Some(fails) = fails.as_deref_mut().or(name.as_ref().map(|_| &mut unfit)) {
                    let test = match name.as_ref().map(|n| self.names.named_type(n.id).map(TypeDecl::resolved)) {
                        Some(Some(TypeDecl::Struct(decl))) => Test::Struct(self.struct_def(&decl)),
                        _ => Test::Keys(
                            fields.iter().filter(|f| f.default.is_none()).map(|f| Str::new(&f.key.text)).collect(),
                        ),
                    };
                    let test = self.pattern_test(test, span);
                    self.ask(|dst| Op::HasKeys { dst, src, test }, span, fails);
                }
                self.unfit(&unfit, src, span);
                for field in fields {
                    let reg = self.temp();
                    let site = self.field_site(&field.key.text, field.key.span);
                    self.emit(Op::Key { dst: reg, src, field: site }, field.key.span);
                    self.part(&field.pattern, field.default.as_ref(), reg, fails.as_deref_mut());
                }
                if let Some(Some(name)) = rest {
                    let keys = fields.iter().map(|f| self.name_value(&f.key.text)).collect();
                    let shape = self.shape(keys, span);
                    let reg = self.temp();
                    self.emit(Op::KeysBut { dst: reg, src, shape }, name.span);
                    self.bind_or_store(name.at(), reg);
                }
            }
            PatternKind::List { items, rest } => {
                if let Some(fails) = fails.as_deref_mut() {
                    let test = self.pattern_test(Test::List { len: items.len(), rest: rest.is_some() }, span);
                    self.ask(|dst| Op::IsList { dst, src, test }, span, fails);
                }
                for (index, (item, default)) in (0..).zip(items) {
                    let reg = self.temp();
                    self.emit(Op::Item { dst: reg, src, index }, item.span);
                    self.part(item, default.as_ref(), reg, fails.as_deref_mut());
                }
                if let Some(Some(name)) = rest {
                    let reg = self.temp();
                    let index = self.index(items.len(), span, "elements in a pattern");
                    self.emit(Op::ItemsFrom { dst: reg, src, index }, name.span);
                    self.bind_or_store(name.at(), reg);
                }
            }
            PatternKind::Pair(a, b) => {
                if let Some(fails) = fails.as_deref_mut() {
                    self.ask(|dst| Op::IsPair { dst, src }, span, fails);
                }
                for (index, part) in (0..).zip([&**a, &**b]) {
                    let reg = self.temp();
                    self.emit(Op::Part { dst: reg, src, index }, part.span);
                    self.part(part, None, reg, fails.as_deref_mut());
                }
            }
            PatternKind::Variant { enum_name, variant, args } => {
                // What there is no such variant of has been reported.
                let Some(def) = self.pattern_enum(enum_name.as_deref()) else { return };
                let Some(tag) = def.position(&variant.text) else { return };
                if fails.is_none() && def.variants.len() > 1 {
                    return self.must_fit(span, "the value may be a different variant");
                }
                let tag = u32::try_from(tag).unwrap_or(u32::MAX);
                let test = self.pattern_test(Test::Variant(def, tag), span);
                let unless = self.emit(Op::UnlessVariant { a: src, test, by: 0 }, span);
                match fails.as_deref_mut() {
                    Some(fails) => fails.push(unless),
                    None => self.unfit(&[unless], src, span),
                }
                for (index, part) in (0..).zip(args) {
                    let reg = self.temp();
                    self.emit(Op::Value { dst: reg, src, index }, part.span);
                    self.part(part, None, reg, fails.as_deref_mut());
                }
            }
            PatternKind::Or(alternatives) => self.alternatives(alternatives, src, fails),
        }
    }

    /// A part of a pattern whose value is in `reg`.
    fn part(&mut self, pattern: &'a Pattern, default: Option<&'a Expr>, reg: Reg, fails: Option<&mut Vec<usize>>) {
        if let Some(default) = default {
            let given = self.emit(Op::JumpIfNotNil { a: reg, by: 0 }, default.span);
            self.expr(default, reg);
            self.patch_here(&[given]);
        }
        match &pattern.kind {
            PatternKind::Bind(_) => self.bind_or_store(pattern.at(), reg),
            _ => self.bind_parts(pattern, reg, fails),
        }
    }

    /// The register becomes the binding's home, or its value goes to where the binding lives already.
    fn bind_or_store(&mut self, at: NodeAt, reg: Reg) {
        let Some(id) = self.names.made(at.id) else { return };
        if self.globals.contains_key(&id) || self.fn_ref().register_of(id).is_some() {
            let place = self.place_of(id);
            self.store(place, reg, at.span);
        } else {
            self.adopt(at, reg);
        }
    }

    fn literal(&mut self, e: &'a Expr, src: Reg, fails: Option<&mut Vec<usize>>, span: Span) {
        let Some(fails) = fails else {
            return self.must_fit(span, "a literal binds no name");
        };
        let next = self.fn_ref().next;
        let b = self.operand(e);
        let within = matches!(e.kind, ExprKind::Range { .. });
        self.ask(|dst| if within { Op::In { dst, a: src, b } } else { Op::Eq { dst, a: src, b } }, span, fails);
        self.free_to(next);
    }

    fn alternatives(&mut self, alternatives: &'a [Pattern], src: Reg, fails: Option<&mut Vec<usize>>) {
        let Some(fails) = fails else {
            let span = alternatives.first().map_or_else(Span::default, |a| a.span);
            return self.must_fit(span, "alternatives can be used only in `match`");
        };
        let mut fits = Vec::new();
        for (i, alternative) in alternatives.iter().enumerate() {
            let mut misses = Vec::new();
            self.test(alternative, src, &mut misses);
            if i + 1 == alternatives.len() {
                fails.extend(misses);
            } else {
                fits.push(self.jump(alternative.span));
                self.patch_here(&misses);
            }
        }
        self.patch_here(&fits);
    }

    /// A pattern that may not fit stands where one must.
    fn must_fit(&mut self, span: Span, why: &str) {
        self.nonsense(span, why, "use `match` to compare, or write a name to bind the value");
    }

    /// Compiles the target of jumps that a value takes if it does not fit a pattern that must match.
    fn unfit(&mut self, jumps: &[usize], src: Reg, span: Span) {
        if jumps.is_empty() {
            return;
        }
        let fits = self.jump(span);
        self.patch_here(jumps);
        let kind = self.failure(Failure::Unfit, span);
        self.emit(Op::Fail { src, kind }, span);
        self.patch_here(&[fits]);
    }

    fn ask(&mut self, question: impl FnOnce(Reg) -> Op, span: Span, fails: &mut Vec<usize>) {
        let answer = self.temp();
        self.emit(question(answer), span);
        fails.push(self.emit(Op::JumpUnless { a: answer, by: 0 }, span));
        self.free_to(answer);
    }

    pub(super) fn pattern_test(&mut self, test: Test, span: Span) -> u16 {
        let tests = &mut self.fn_mut().proto.tests;
        tests.push(test);
        let i = tests.len() - 1;
        self.index(i, span, "patterns")
    }
}

/// The name a parameter binds, `_` when it is a pattern.
pub(super) fn bound_name(pattern: &Pattern) -> SmolStr {
    match &pattern.kind {
        PatternKind::Bind(name) => name.clone(),
        _ => SmolStr::new_static("_"),
    }
}
