//! Checks of values that enter a place with a written type.

use super::Compiler;
use super::pattern::bound_name;
use crate::ast::{Expr, Param};
use crate::check::{Border, BorderKind};
use crate::source::Span;
use crate::value::Str;
use crate::vm::{BorderSite, Exempt, Op, TypeTest, op::Reg};

impl<'a> Compiler<'a> {
    /// Checks the value of an expression, if it may have another type than its place has.
    pub(super) fn check_border(&mut self, e: &Expr, src: Reg) {
        let Some(border) = self.borders.at(e.id) else { return };
        if let Some(at) = self.border_site(border, None, e.span) {
            self.expect(src, at, e.span);
        }
    }

    /// Checks the arguments of calls of which the arguments are not known, before the function begins.
    pub(super) fn check_parameters(&mut self, params: &'a [Param]) {
        let borders = self.borders;
        let checked = |param: &'a Param| param.ty.as_ref().and_then(|ty| Some((ty.span, borders.at(ty.id)?)));
        if !params.iter().any(|param| checked(param).is_some()) {
            return;
        }
        let entry = self.here();
        for (reg, param) in (0..).zip(params) {
            let Some((span, border)) = checked(param) else { continue };
            let name = (Str::new(&bound_name(&param.pattern)), reg);
            if let Some(at) = self.border_site(border, Some(name), span) {
                self.expect(reg, at, span);
            }
        }
        let back = self.emit(Op::Loop { by: 0 }, Span::default());
        self.patch(back, 0);
        self.fn_mut().proto.entry = u32::try_from(entry).unwrap_or(0);
    }

    /// Emits a check of the function.
    pub(super) fn expect(&mut self, src: Reg, at: u16, span: Span) {
        let plain = self.fn_ref().proto.borders.get(usize::from(at)).map_or(0, BorderSite::plain);
        self.emit(Op::Expect { src, at, plain }, span);
    }

    /// The number of a check among those of the function; nothing if every value passes it.
    pub(super) fn border_site(&mut self, border: &Border, parameter: Option<(Str, Reg)>, span: Span) -> Option<u16> {
        let test = self.type_test_of(&border.ty);
        if let TypeTest::Any = test {
            return None;
        }
        let site = BorderSite {
            tags: BorderSite::tags_of(&test),
            test,
            expected: Str::new(&border.ty.to_string()),
            parameter,
            exempt: match border.kind {
                BorderKind::Value | BorderKind::Parameter => Exempt::Nothing,
                BorderKind::Result => Exempt::Errors,
                BorderKind::Spread => Exempt::NotDicts,
            },
            written: border.written.clone(),
        };
        let borders = &mut self.fn_mut().proto.borders;
        borders.push(site);
        let at = borders.len() - 1;
        Some(self.index(at, span, "checked values"))
    }
}
