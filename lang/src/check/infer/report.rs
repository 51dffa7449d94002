//! The words for what does not fit.

use super::Checker;
use super::want::{DemandOrigin, ImportedPart};
use crate::advice::{self, Subject};
use crate::ast::{BinaryOp, Expr, ListItem, Name};
use crate::check::CheckCode;
use crate::check::messages::without_extra;
use crate::check::types::{NamedKind, Nominal, Shape, ShapeKey, Type, apart};
use crate::declaration::{Builtin, TypeDecl, placeholder_of};
use crate::diagnostic::fix::{Applicability, Edit, added_element, braces_of, rename_key};
use crate::diagnostic::{Diagnostic, Severity, nearest, spelled_alike};
use crate::resolve::BindingId;
use crate::source::{SourceRef, Span};

impl Checker<'_> {
    pub(super) fn mismatch(&mut self, at: Span, found: &Type, wanted: &Type, why: DemandOrigin) {
        if let Some((min, given)) = too_many_parameters(found, wanted) {
            return self.callback_arity(at, min, given, why);
        }
        let choice = choice(wanted);
        let (asked, given) = apart(wanted, found);
        let message = if choice.is_empty() {
            format!("expected {asked}, found {given}")
        } else {
            let list = choice.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", ");
            format!("expected one of {list}")
        };
        let mut d = Diagnostic::new(CheckCode::Type, message).label(self.source, at, format!("this is {given}"));
        d = self.with_origin(d, why, &asked);
        if let (Type::Text(text), false) = (found, choice.is_empty())
            && let Some(near) = nearest(text, choice.iter().map(String::as_str))
        {
            d = d.help(format!("did you mean \"{near}\"?")).fix(at, format!("\"{near}\""));
        }
        let words =
            wanted.members().iter().filter_map(|m| if let Type::Text(word) = m { Some(word.as_str()) } else { None });
        if let (Type::Text(text), true) = (found, choice.is_empty())
            && let Some(near) = nearest(text, words)
        {
            d = d.help(format!("did you mean \"{near}\"?")).fix(at, format!("\"{near}\""));
        }
        if let Some(lacking) = self.lacking(found, wanted) {
            d = d.help(lacking);
        }
        if d.fixes.is_empty() {
            d = self.with_converted(d, at, wanted);
        }
        if let DemandOrigin::Builtin(_) | DemandOrigin::Implicit = why { self.raises(d) } else { self.say(d) }
    }

    /// A number in a literal that is in none of the ranges that its key allows.
    pub(super) fn out_of_range(&mut self, at: Span, asked: &str, why: DemandOrigin) {
        let written = self.source.slice(at);
        let d = Diagnostic::new(CheckCode::Type, format!("expected {asked}, found {written}")).label(
            self.source,
            at,
            "out of range",
        );
        let d = self.with_origin(d, why, asked);
        if let DemandOrigin::Builtin(_) | DemandOrigin::Implicit = why { self.raises(d) } else { self.say(d) }
    }

    /// Statements that never run; `left` is what leaves before them.
    pub(super) fn dead(&mut self, span: Span, left: Option<Span>, removable: bool) {
        let mut d = Diagnostic::new(CheckCode::Dead, "unreachable statement").label(self.source, span, "never runs");
        if let Some(left) = left {
            let endless = self.source.slice(left).starts_with("while");
            let how = if endless { "this loop never ends" } else { "always exits here" };
            d = d.label(self.source, left, how);
        }
        d = d.help("remove it, or move it before that statement");
        if removable {
            let before = self.source.text().get(..span.range().start).map_or(0, |text| text.trim_end().len());
            let start = u32::try_from(before).unwrap_or(span.start);
            d = d.unsafe_fix(Span::new(start, span.end), "");
        }
        self.say(d);
    }

    /// An arm whose pattern no value of the subject's type matches.
    pub(super) fn idle_arm(&mut self, pattern: Span, subject: &Type) {
        let d = Diagnostic::new(CheckCode::Arm, "arm matches no value")
            .label(self.source, pattern, "never matches")
            .note(format!("the value is {}", subject.described()));
        self.say(self.with_converted(d, pattern, subject));
    }

    /// Adds the literal as one of the wanted type: `42` for `"42"`, and the other way round.
    fn with_converted(&self, d: Diagnostic, literal: Span, wanted: &Type) -> Diagnostic {
        let text = self.source.slice(literal);
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let converted = match (wanted, inner) {
            (Type::Str, None) if is_number(text) && text.parse::<f64>().is_ok() => Some(format!("\"{text}\"")),
            (Type::Int, Some(inner)) if inner.parse::<i64>().is_ok() => Some(inner.to_owned()),
            (Type::Float, Some(inner)) if is_number(inner) && inner.parse::<f64>().is_ok() => Some(inner.to_owned()),
            _ => None,
        };
        match converted {
            Some(converted) => d.unsafe_fix(literal, converted),
            None => d,
        }
    }

    /// A function that needs more arguments than it will be called with.
    fn callback_arity(&mut self, at: Span, min: usize, given: usize, why: DemandOrigin) {
        let takes = advice::arguments(min);
        let message = format!("this function takes {takes}, but will be called with {given}");
        let d = Diagnostic::new(CheckCode::Arity, message).label(self.source, at, format!("takes {takes}"));
        let d = self.with_origin(d, why, "");
        self.raises(d);
    }

    /// Shows where a type is written, or what the builtin takes.
    fn with_origin(&self, d: Diagnostic, why: DemandOrigin, asked: &str) -> Diagnostic {
        match why {
            DemandOrigin::Written(span) => d.label(self.source, span, "declared here"),
            DemandOrigin::Returns(span) => d.label(self.source, span, format!("the function declares {asked}")),
            DemandOrigin::Parameter(span) => d.label(self.source, span, "the parameter is declared here"),
            DemandOrigin::Declared(span) if span != Span::default() => d.label(self.source, span, "declared here"),
            DemandOrigin::Builtin(sig) => d.note(advice::signature(sig)),
            DemandOrigin::Imported(id, part) => match self.imported_site(id, part) {
                Some((source, span)) => d.label(
                    &source,
                    span,
                    if part.is_parameter() { "the parameter is declared here" } else { "declared here" },
                ),
                None => d,
            },
            DemandOrigin::Declared(_) | DemandOrigin::Implicit => d,
        }
    }

    /// Returns the place where a demanded type is written.
    pub(super) fn place_of_origin(&self, why: DemandOrigin) -> Option<(SourceRef, Span)> {
        match why {
            DemandOrigin::Written(span)
            | DemandOrigin::Returns(span)
            | DemandOrigin::Parameter(span)
            | DemandOrigin::Declared(span) => (span != Span::default()).then(|| (self.source.clone(), span)),
            DemandOrigin::Imported(id, part) => self.imported_site(id, part),
            DemandOrigin::Builtin(_) | DemandOrigin::Implicit => None,
        }
    }

    /// Returns the place of a part of a declaration of another file.
    fn imported_site(&self, id: BindingId, part: ImportedPart) -> Option<(SourceRef, Span)> {
        let def = self.world.definition(id);
        match (part, &def) {
            (ImportedPart::Parameter(place), _) => {
                let takes = self.world.names.binding(id).takes.as_ref()?;
                Some((takes.source.clone(), *takes.params.get(place)?))
            }
            (ImportedPart::Method(method, place), Some(def)) => {
                let (name, _) = self.world.imported.declared.get(&id)?.methods.get(method)?;
                let (source, signature) = match def {
                    TypeDecl::Interface(def) => {
                        (def.site.source.clone(), def.methods.iter().find(|method| method.name == *name)?.clone())
                    }
                    _ => {
                        let method = def.methods()?.get(name)?;
                        (method.source.clone(), method.signature.clone())
                    }
                };
                Some((source, signature.params.get(place)?.as_ref()?.span))
            }
            (ImportedPart::Field(place), Some(TypeDecl::Struct(def))) => {
                let field = def.fields.get(place)?;
                Some((def.site.source.clone(), field.ty.as_ref().map_or(field.span, |ty| ty.span)))
            }
            (ImportedPart::Value(variant, value), Some(TypeDecl::Enum(def))) => {
                let ty = def.variants.get(variant)?.types.get(value)?;
                Some((def.site.as_ref()?.source.clone(), ty.span))
            }
            _ => None,
        }
    }

    /// Returns a function of an interface that a type lacks.
    fn lacking(&self, found: &Type, wanted: &Type) -> Option<String> {
        let Type::Named(interface) = wanted else { return None };
        if interface.kind != NamedKind::Interface {
            return None;
        }
        let method = self.world.lacks(found, interface)?;
        Some(match found {
            Type::Named(named) => {
                format!("`{}` has no method `{method}`: add it in an `impl {}`", named.name, named.name)
            }
            _ => format!("it has no method `{method}`"),
        })
    }

    /// A key that the shape does not have; the one that was meant, if one is near.
    pub(super) fn unknown_key<'s>(
        &mut self,
        field: &ShapeKey,
        at: Span,
        shape: &'s Shape,
        why: DemandOrigin,
    ) -> Option<&'s str> {
        let at = field.at.map_or(at, |(key, _)| key);
        let names = || shape.fields.iter().map(|f| f.name.as_str());
        let builtin = matches!(why, DemandOrigin::Builtin(_));
        let what = if builtin { "option" } else { "key" };
        let mut d = Diagnostic::new(CheckCode::Key, format!("unknown {what} `{}`", field.name)).label(
            self.source,
            at,
            "unknown",
        );
        if !builtin {
            d = self.with_origin(d, why, "");
        }
        let has = |name: &str| shape.fields.iter().any(|field| field.name.as_str() == name);
        if let Some(ours) = self.world.registry.option_elsewhere(&field.name, has).filter(|_| builtin) {
            self.say(d.help(format!("use `{ours}`")));
            return None;
        }
        let near = nearest(&field.name, names());
        if let Some(near) = near {
            let edit = rename_key(self.source.text(), at, near);
            d = d.help(format!("did you mean `{near}`?")).fix_by(Applicability::of_name(&field.name), vec![edit]);
        } else {
            d = d.note(format!("known names: {}", names().collect::<Vec<_>>().join(", ")));
        }
        self.say(d);
        near
    }

    pub(super) fn missing_key(&mut self, name: &str, ty: &Type, at: Span, why: DemandOrigin) {
        let d = Diagnostic::new(CheckCode::Missing, format!("missing key `{name}`"))
            .label(self.source, at, "not in this dict")
            .help(format!("add `{name}: …`"));
        let d = if let DemandOrigin::Builtin(_) = why { d } else { self.with_origin(d, why, "") };
        let text = self.source.text();
        let added = placeholder(ty)
            .zip(braces_of(text, at))
            .and_then(|(value, braces)| added_element(text, braces, &format!("{name}: {value}")));
        self.say(d.fix_by_some(Applicability::Unsafe, added.map(|edit| vec![edit])));
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn arity(
        &mut self,
        args: &[ListItem],
        span: Span,
        name: &str,
        min: usize,
        max: Option<usize>,
        declared: Option<Span>,
        row: Option<&'static Builtin>,
    ) {
        let given = args.len();
        if args.iter().any(|a| a.spread) || (given >= min && max.is_none_or(|max| given <= max)) {
            return;
        }
        let name = if name.is_empty() { "this function".to_owned() } else { format!("`{name}`") };
        let message = advice::arity(&name, min, max, given);
        let mut d = Diagnostic::new(CheckCode::Arity, message).label(self.source, span, "called here");
        if let Some(span) = declared {
            d = d.label(self.source, span, "declared here");
        } else if let Some(row) = row {
            d = d.help(advice::signature(row.sig));
        }
        let values: Vec<Span> = args.iter().map(|arg| arg.value.span).collect();
        let kept = max.unwrap_or(usize::MAX);
        self.raises(d.fix_by_some(Applicability::Unsafe, without_extra(self.source.text(), &values, kept)));
    }

    pub(super) fn operator_fails(&mut self, op: BinaryOp, a: &Type, b: &Type, a_at: Span, b_at: Span) {
        let (left, right) = (a.described_value(), b.described_value());
        let message = format!("`{}` does not work on {left} and {right}", op.symbol());
        let mut d = Diagnostic::new(CheckCode::Operator, message).label(self.source, a_at, left).label(
            self.source,
            b_at,
            right,
        );
        let text = |ty: &Type| matches!(ty, Type::Str | Type::Text(_));
        let help = advice::operator(op, a.subject(), b.subject());
        if let Some(help) = help {
            d = d.help(help);
        }
        if help == Some(advice::CONVERT) {
            let (value, value_at) = if text(a) { (b, b_at) } else { (a, a_at) };
            if !(matches!(value, Type::Nil) || text(a) && text(b)) {
                d = d.fix_by(Applicability::Safe, self.joined(a_at, b_at, value_at));
            }
        }
        self.raises(d);
    }

    pub(super) fn cannot_negate(&mut self, ty: &Type, at: Span) {
        let d = Diagnostic::new(CheckCode::Operator, format!("cannot negate {}", ty.described_value())).label(
            self.source,
            at,
            format!("this is {}", ty.described_value()),
        );
        self.raises(d);
    }

    /// Two values of types that have no value in common.
    pub(super) fn never_equals(&mut self, op: BinaryOp, a: (&Type, Span), b: (&Type, Span), at: Span) {
        let mut d = self.never_equal_message(op, a.0, b.0, at);
        for ((_, literal), (wanted, _)) in [(a, b), (b, a)] {
            if d.fixes.is_empty() {
                d = self.with_converted(d, literal, wanted);
            }
        }
        self.say(d);
    }

    fn never_equal_message(&self, op: BinaryOp, a: &Type, b: &Type, at: Span) -> Diagnostic {
        let always = if op == BinaryOp::Eq { "never" } else { "always" };
        let message = format!("comparison is {always} true: {} never equals {}", a.described(), b.described());
        Diagnostic::new(CheckCode::Compared, message).label(self.source, at, format!("{always} true"))
    }

    /// A choice among texts that is compared with another text.
    pub(super) fn never_chosen(&mut self, op: BinaryOp, a: &Type, b: &Type, at: Span, (choice, text): (&Type, &str)) {
        let mut d = self.never_equal_message(op, a, b, at);
        let words = self::choice(choice);
        let alike = words.iter().map(String::as_str).find(|word| spelled_alike(word, text));
        if let Some(near) = alike.or_else(|| nearest(text, words.iter().map(String::as_str))) {
            d = d.help(format!("did you mean \"{near}\"?"));
            let (written, inside) = (format!("\"{text}\""), self.source.slice(at));
            if let (Some(offset), 1) = (inside.find(&written), inside.matches(&written).count()) {
                let start = at.start + u32::try_from(offset).unwrap_or(0);
                let end = start + u32::try_from(written.len()).unwrap_or(0);
                let applicability = if alike.is_some() { Applicability::Safe } else { Applicability::Unsafe };
                d = d.fix_by(applicability, vec![Edit::new(Span::new(start, end), format!("\"{near}\""))]);
            }
        }
        self.say(d);
    }

    pub(super) fn no_member(&mut self, holder: &Type, at: Span, name: &Name, called: bool) {
        let described = holder.described_value();
        if *holder == Type::Nil {
            let d = Diagnostic::new(CheckCode::Member, format!("nil has no method or field `{}`", name.text)).label(
                self.source,
                at,
                "this is nil",
            );
            let d = self.with_uncalled(d, at).help(advice::member_of_nil(&name.text, called));
            return self.raises(d);
        }
        let message = format!("{described} has no method or field `{}`", name.text);
        let mut d = Diagnostic::new(CheckCode::Member, message).label(self.source, name.span, "not found").label(
            self.source,
            at,
            format!("this is {described}"),
        );
        if self.is_method_of(holder, &name.text) {
            let call = Edit::insert(name.span.end, "()");
            d = d.help(advice::uncalled(&name.text)).fix_by(Applicability::Safe, vec![call]);
        } else {
            if let Some(near) = self.near_member(holder, &name.text) {
                // A method that is nearly called so can do something else.
                let is_field = !called && !self.is_method_of(holder, &near);
                let applicability = if is_field { Applicability::of_name(&name.text) } else { Applicability::Unsafe };
                d = d.did_you_mean(name.span, &near, applicability);
            }
            if self.world.registry.find("", &name.text).is_some_and(|row| row.arity.takes_any()) {
                d = d.help(advice::function(&name.text));
            }
            if let Some(help) = advice::stand_in(holder.subject()) {
                d = d.help(help);
            }
        }
        self.raises(d);
    }

    pub(super) fn no_key(&mut self, holder: &Type, at: Span, key_at: Span, key: &str) {
        let message = format!("unknown key `{key}`");
        let mut d = Diagnostic::new(CheckCode::NoKey, message).label(self.source, key_at, "unknown");
        if at != key_at {
            d = d.label(self.source, at, format!("this is `{}`", holder.shortened()));
        }
        if let Some(near) = Self::key_inside(holder, key).or_else(|| self.near_member(holder, key)) {
            let quoted = self.source.slice(key_at).starts_with('"');
            let edit = if quoted { Edit::new(key_at, format!("\"{near}\"")) } else { Edit::new(key_at, near.as_str()) };
            d = d.help(format!("did you mean `{near}`?")).fix_by(Applicability::of_name(key), vec![edit]);
        } else if let Some(known) = told_keys(holder) {
            d = d.help(format!("its keys are {known}"));
        } else {
            d = d.help("end the type with `...` to allow other keys");
        }
        if told_keys(holder).is_some() {
            d.severity = Severity::Warning;
        }
        self.say(d);
    }

    /// A call of a builtin that was meant for a variable. The variable is bound at `bound`.
    pub(super) fn hides_method(&mut self, builtin: &str, variable: Span, name: &Name, bound: Span) {
        let (written, method) = (self.source.slice(variable), &name.text);
        let message = format!("`{written}.{method}` does not call the method of the variable");
        let d = Diagnostic::new(CheckCode::HiddenMethod, message)
            .label(self.source, Span::new(variable.start, name.span.end), format!("this is the builtin `{builtin}`"))
            .label(self.source, bound, "the variable")
            .help("rename the variable: builtins of a module take precedence over variables with its name");
        self.say(d);
    }

    /// A changed copy that is not read. `kind` is that of the receiver, if it is `known`.
    pub(super) fn unused_copy(&mut self, method: &str, kind: &str, known: bool, object: &Expr, span: Span) {
        const LONGEST: usize = 40;
        let message = format!("result of `{method}` is not used: {kind}s do not change");
        let mut d = Diagnostic::new(CheckCode::UnusedCopy, message).label(self.source, span, "has no effect");
        let written = self.source.slice(object.span);
        if self.is_assignable(object) && written.len() <= LONGEST && !written.contains('\n') {
            let is_meant = known && CHANGES.contains(&method);
            let applicability = if is_meant { Applicability::Safe } else { Applicability::Unsafe };
            d = d
                .help(format!("assign it: `{written} = {written}.{method}(…)`"))
                .fix_by(applicability, vec![Edit::insert(span.start, format!("{written} = "))]);
        } else {
            d = d.help(format!("assign the result of `{method}` to a `var`"));
        }
        self.say(d);
    }

    pub(super) fn cannot_be_indexed(&mut self, ty: &Type, at: Span) {
        let described = ty.described_value();
        let d = Diagnostic::new(CheckCode::Indexed, format!("{described} cannot be indexed")).label(
            self.source,
            at,
            format!("this is {described}"),
        );
        let d = match advice::indexed(ty.subject()) {
            Some(help) => d.help(help),
            None => d,
        };
        let opens = self.source.text().get(at.range().end..).is_some_and(|rest| rest.starts_with('['));
        let d = if *ty == Type::Nil && opens {
            d.fix_by(Applicability::Unsafe, vec![Edit::insert(at.end, "?")])
        } else {
            d
        };
        self.raises(d);
    }

    pub(super) fn wrong_index(&mut self, holder: &Type, by: &Type, at: Span, by_at: Span) {
        let wants = match holder {
            Type::Dict(_) | Type::Shape(_) | Type::Named(_) => "a string",
            _ => "an int",
        };
        let (described, index) = (holder.described_value(), by.described_value());
        let d = Diagnostic::new(CheckCode::Indexed, format!("{described} must be indexed by {wants}, not by {index}"))
            .label(self.source, at, format!("this is {described}"))
            .label(self.source, by_at, format!("this is {index}"));
        let d = if wants == "an int" { self.with_converted(d, by_at, &Type::Int) } else { d };
        self.raises(d);
    }

    pub(super) fn cannot_be_sliced(&mut self, ty: &Type, at: Span) {
        let described = ty.described_value();
        let d = Diagnostic::new(CheckCode::Indexed, format!("{described} cannot be sliced")).label(
            self.source,
            at,
            format!("this is {described}"),
        );
        let d = match advice::stand_in(ty.subject()) {
            Some(help) => d.help(help),
            None => d,
        };
        self.raises(d);
    }

    pub(super) fn cannot_be_walked(&mut self, ty: &Type, at: Span, number: Option<i64>) {
        let described = ty.described_value();
        let mut d = Diagnostic::new(CheckCode::Walked, format!("{described} is not iterable")).label(
            self.source,
            at,
            format!("this is {described}"),
        );
        let subject = if number.is_some() { Subject::Int(number) } else { ty.subject() };
        if *ty == Type::Nil {
            d = self.with_uncalled(d, at);
        }
        if let Some(help) = advice::iterated(subject) {
            d = d.help(help);
        }
        if let Some(n) = number {
            d = d.fix(at, format!("0 to {n} exclusive"));
        } else if *ty == Type::Int {
            let written = self.source.slice(at);
            if written.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
                d = d.fix(at, format!("0 to {written} exclusive"));
            }
        }
        self.raises(d);
    }

    /// Adds the help for nil that was read as a method of a dict, if it is one.
    fn with_uncalled(&self, d: Diagnostic, at: Span) -> Diagnostic {
        let is_method = |name: &str| self.is_method_of(&Type::dict(Type::Any), name);
        match advice::uncalled_in(self.source.slice(at), is_method) {
            Some(help) => d.help(help).fix_by(Applicability::Unsafe, vec![Edit::insert(at.end, "()")]),
            None => d,
        }
    }

    /// A call without arguments may mean the value itself.
    pub(super) fn not_a_function(&mut self, ty: &Type, at: Span) {
        let described = ty.described_value();
        let d = Diagnostic::new(CheckCode::Called, format!("{described} is not a function")).label(
            self.source,
            at,
            format!("this is {described}"),
        );
        let d = match advice::called(ty.subject()) {
            Some(help) => d.help(help),
            None => d,
        };
        let called = self.source.text().get(at.range().end..).is_some_and(|rest| rest.starts_with("()"));
        let d = if called { d.unsafe_fix(Span::new(at.end, at.end + 2), "") } else { d };
        self.raises(d);
    }

    pub(super) fn no_result(&mut self, operator: &str, ty: &Type, at: Span) {
        let described = ty.described_value();
        let d = Diagnostic::new(CheckCode::Operator, format!("`{operator}` requires a Result, found {described}"))
            .label(self.source, at, format!("this is {described}"))
            .help(advice::RESULTS);
        self.raises(d);
    }

    /// A body that promises a value and has none.
    pub(super) fn falls_off(&mut self, promised: &Type, why: DemandOrigin, end: Span) {
        if promised.members().iter().any(|m| *m == Type::Nil || m.is_open()) {
            return;
        }
        let asked = promised.described();
        let d = Diagnostic::new(CheckCode::Type, format!("expected {asked}, but the function ends without a value"))
            .label(self.source, end, "returns nil here");
        let d = self.with_origin(d, why, &asked);
        self.say(d.help("end the function with a value, or use `return`"));
    }

    pub(super) fn deprecated(&mut self, name: &str, at: Span, attribute: Span, text: Option<&str>) {
        let mut d = Diagnostic::new(CheckCode::Deprecated, format!("`{name}` is deprecated"))
            .label(self.source, at, "used here")
            .label(self.source, attribute, "marked as deprecated here");
        if let Some(text) = text {
            d = d.help(text);
            if let Some(instead) = replacement(text) {
                d = d.unsafe_fix(at, instead);
            }
        }
        self.say(d);
    }

    /// Returns the edits that make a string of a value that is added to one: `"n = " + n` becomes `"n = ${n}"`, if both are on
    /// one line and simple; else the value is converted.
    fn joined(&self, left: Span, right: Span, value: Span) -> Vec<Edit> {
        let (literal, written) = (self.source.slice(left), self.source.slice(right));
        let inside = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let is_simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        if value == right
            && inside.is_some_and(|inside| !inside.contains(['"', '\n']))
            && self.source.slice(Span::new(left.end, right.start)).trim() == "+"
            && written.chars().all(is_simple)
        {
            let tail = Span::new(left.end.saturating_sub(1), right.end);
            return vec![Edit::new(tail, format!("${{{written}}}\""))];
        }
        vec![Edit::insert(value.start, "to_string("), Edit::insert(value.end, ")")]
    }
}

/// Returns a value of a type, for the place of one that only the author knows.
fn placeholder(ty: &Type) -> Option<String> {
    match ty.members().first()? {
        Type::Text(text) => Some(format!("\"{text}\"")),
        member => Some(placeholder_of(member.kind()?.name())?.to_owned()),
    }
}

/// Methods after which a script means to go on with the changed value.
const CHANGES: [&str; 12] =
    ["add", "concat", "insert", "merge", "pop", "push", "remove", "remove_at", "reverse", "set", "sort", "with"];

/// Returns the keys of a dict that a builtin hands over.
fn told_keys(holder: &Type) -> Option<String> {
    let told = holder.members().iter().find_map(|m| if let Type::Shape(shape) = m { Some(shape) } else { None });
    let shape = told.filter(|shape| shape.told)?;
    Some(shape.fields.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", "))
}

/// Returns the name in a hint of the form "use name" or "use `name`".
fn replacement(hint: &str) -> Option<&str> {
    let name = hint.strip_prefix("use ")?.trim().trim_matches('`').trim_end_matches("()");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_name)).then_some(name)
}

/// Returns the number of required arguments of a function and the number that it gets, if that is too few.
fn too_many_parameters(found: &Type, wanted: &Type) -> Option<(usize, usize)> {
    let functions = wanted.members().iter().filter_map(|m| if let Type::Fn(f) = m { Some(f) } else { None });
    match (found, functions.collect::<Vec<_>>().as_slice()) {
        (Type::Fn(found), [wanted]) if !wanted.rest && found.min > wanted.params.len() => {
            Some((found.min, wanted.params.len()))
        }
        _ => None,
    }
}

/// The texts among which a type chooses; nothing when it allows anything else but nil.
fn choice(ty: &Type) -> Vec<String> {
    let mut words = Vec::new();
    for member in ty.members() {
        match member {
            Type::Text(text) => words.push(text.to_string()),
            Type::Nil => {}
            _ => return Vec::new(),
        }
    }
    words
}
