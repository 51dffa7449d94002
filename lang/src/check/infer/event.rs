//! The payload that a handler gets, from the names of events in the call that registers it.

use super::Checker;
use crate::ast::{DictItem, Expr, ExprKind, ListItem, UnaryOp};
use crate::check::types::{Bound, Numbers, Shape, ShapeKey, Type, join};
use std::rc::Rc;

/// The key of a payload that names its event.
const EVENT: &str = "event";
/// The key of a registration that declares the configuration, with the defaults.
const CONFIG: &str = "config";
/// The keys that every payload has.
const ALWAYS: [&str; 2] = [EVENT, "session"];

impl Checker<'_> {
    /// Returns the type parameters of a call that registers a handler: `E` is the payload of the events that an argument names,
    /// `N` the name of the event in it, and `C` the configuration that a dict declares.
    pub(super) fn event_parameters(&self, args: &[ListItem]) -> Bound {
        let mut bound = Bound::new();
        let args = || args.iter().filter(|arg| !arg.spread).map(|arg| &arg.value);
        if let Some(Type::Shape(payload)) = args().find_map(|arg| self.event_payload(arg)) {
            let name = payload.field(EVENT).map_or(Type::Any, |field| field.ty.clone());
            bound.extend([("E".into(), Type::Shape(payload)), ("N".into(), name)]);
        }
        if let Some(config) = args().find_map(configuration) {
            bound.push(("C".into(), config));
        }
        bound
    }

    /// The payload of the event that a text names, or of the events that a list in a dict names.
    fn event_payload(&self, named: &Expr) -> Option<Type> {
        let ExprKind::Dict(items) = &named.kind else { return self.world.signatures.payload(named.plain_text()?) };
        items.iter().find_map(|item| match item {
            DictItem::Entry { value, .. } => self.payload_of_any(value),
            DictItem::Computed { .. } | DictItem::Spread(_) => None,
        })
    }

    /// The payload of any of the events in a list, if all of them are known. Such an event can also be fired by a script, with a
    /// payload of its own.
    fn payload_of_any(&self, list: &Expr) -> Option<Type> {
        let ExprKind::List(items) = &list.kind else { return None };
        let mut fields: Vec<ShapeKey> = Vec::new();
        for item in items {
            let name = item.value.plain_text().filter(|_| !item.spread)?;
            let Type::Shape(payload) = self.world.signatures.payload(name)? else { return None };
            for field in &payload.fields {
                match fields.iter_mut().find(|known| known.name == field.name) {
                    Some(known) => known.ty = join(known.ty.clone(), field.ty.clone()),
                    None => fields.push(ShapeKey { optional: !ALWAYS.contains(&field.name.as_str()), ..field.clone() }),
                }
            }
        }
        let payload = Shape { fields, open: true, literal: false, told: true, methods: None };
        (!items.is_empty()).then(|| Type::Shape(Rc::new(payload)))
    }
}

/// The type of the configuration that a dict declares under `config`: each key has a value of the kind of its default.
fn configuration(declaration: &Expr) -> Option<Type> {
    let ExprKind::Dict(items) = &declaration.kind else { return None };
    let declared = items.iter().find_map(|item| match item {
        DictItem::Entry { key, value } if key.text == CONFIG => Some(value),
        _ => None,
    });
    let ExprKind::Dict(defaults) = &declared?.kind else { return None };
    let mut fields: Vec<ShapeKey> = Vec::new();
    for item in defaults {
        let DictItem::Entry { key, value } = item else { return None };
        fields.retain(|known| known.name != key.text);
        fields.push(ShapeKey {
            name: key.text.clone(),
            ty: kind_of(value),
            optional: false,
            at: None,
            numbers: Numbers::Open,
        });
    }
    Some(Type::Shape(Rc::new(Shape { fields, open: false, literal: false, told: true, methods: None })))
}

/// The kind of value that a literal is. What a list or a dict holds is not compared with the default.
fn kind_of(default: &Expr) -> Type {
    match &default.kind {
        ExprKind::Bool(_) => Type::Bool,
        ExprKind::Int(_) => Type::Int,
        ExprKind::Float(_) => Type::Float,
        ExprKind::Str(_) => Type::Str,
        ExprKind::Unary(UnaryOp::Neg, inner) => kind_of(inner),
        ExprKind::List(_) => Type::List(Rc::new(Type::Any)),
        ExprKind::Dict(_) => Type::Dict(Rc::new(Type::Any)),
        _ => Type::Any,
    }
}
