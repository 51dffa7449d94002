//! Whether a value fits where it stands.

use super::Checker;
use super::want::{DemandOrigin, ExpectedType};
use crate::ast::Expr;
use crate::check::types::{Shape, ShapeKey, Type, refuses};
use crate::source::Span;
use std::rc::Rc;

impl Checker<'_> {
    /// Reports a value that certainly is not what is demanded; the type that is known afterwards.
    pub(super) fn fit(&mut self, at: Span, found: Type, want: ExpectedType<'_>) -> Type {
        let (Some(wanted), Some(why)) = (want.ty, want.why) else { return found };
        if let (Type::Shape(given), Some(shape)) = (&found, Self::one_shape(wanted))
            && given.literal
        {
            return if self.against(at, given, &shape, why, false) { found } else { Type::Any };
        }
        // An error leaves a function in place of its result.
        if let (Type::Result(both), DemandOrigin::Returns(_)) = (&found, why)
            && both.0 == Type::Never
        {
            return found;
        }
        if refuses(&found, wanted, &self.world) {
            self.mismatch(at, &found, wanted, why);
            return Type::Any;
        }
        found
    }

    /// Checks the value of an expression like [`Self::fit`]; what cannot be known now is checked while running.
    pub(super) fn fit_place(&mut self, e: &Expr, found: Type, want: ExpectedType<'_>) -> Type {
        self.border(e.id, &found, want);
        self.fit(e.span, found, want)
    }

    /// Checks a dict literal in place like [`Self::fit`]; its values have already been checked one by one.
    pub(super) fn fit_dict(&mut self, at: Span, found: Type, want: ExpectedType<'_>, shape: Option<Rc<Shape>>) -> Type {
        let (Type::Shape(given), Some(shape), Some(why)) = (&found, shape, want.why) else {
            return self.fit(at, found, want);
        };
        if self.against(at, given, &shape, why, true) { found } else { Type::Any }
    }

    /// Compares a dict of known keys with the one shape that is asked for.
    fn against(&mut self, at: Span, given: &Shape, shape: &Shape, why: DemandOrigin, direct: bool) -> bool {
        let before = self.found.len();
        let mut meant = Vec::new();
        for field in &given.fields {
            match shape.field(&field.name) {
                Some(wanted) => self.against_field(at, field, wanted, why),
                // A dict with more keys than a function reads does no harm; an option that nobody reads does.
                None if !shape.open && (direct || matches!(why, DemandOrigin::Builtin(_))) => {
                    meant.extend(self.unknown_key(field, at, shape, why));
                }
                None => {}
            }
        }
        if !given.open {
            for wanted in shape.fields.iter().filter(|w| !w.optional) {
                if given.field(&wanted.name).is_none() && !meant.contains(&wanted.name.as_str()) {
                    self.missing_key(&wanted.name, &wanted.ty, at, why);
                }
            }
        }
        self.found.len() == before
    }

    fn against_field(&mut self, at: Span, field: &ShapeKey, wanted: &ShapeKey, why: DemandOrigin) {
        let ty = if wanted.optional { wanted.ty.clone().optional() } else { wanted.ty.clone() };
        let at = field.at.map_or(at, |(_, value)| value);
        if let Some(asked) = wanted.numbers.refused(&field.numbers)
            && field.at.is_some()
            && matches!(field.ty, Type::Int | Type::Float)
        {
            return self.out_of_range(at, &asked, why);
        }
        self.fit(at, field.ty.clone(), ExpectedType::must(&ty, why));
    }

    /// The shape that a dict must have to be of this type, if there is one and nothing else would do.
    pub(super) fn one_shape(ty: &Type) -> Option<Rc<Shape>> {
        let mut shape = None;
        for member in ty.members() {
            match member {
                Type::Shape(one) if shape.is_none() && !one.literal => shape = Some(one.clone()),
                Type::Shape(_) | Type::Dict(_) | Type::Any | Type::Param(_) => return None,
                _ => {}
            }
        }
        shape
    }

    /// Returns the type of a variable with an annotation: of several alternatives, those that its value may have.
    pub(super) fn as_written(&self, found: Type, written: &Type) -> Type {
        if *written == Type::Any {
            return found;
        }
        if found.is_open() {
            return written.clone();
        }
        let fits = |m: &Type| found.members().iter().any(|f| !refuses(f, m, &self.world));
        match written.only(fits) {
            Type::Never => written.clone(),
            narrowed => narrowed,
        }
    }
}
