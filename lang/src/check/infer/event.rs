//! The payload that a handler gets, from the names of events in the call that registers it.

use super::Checker;
use crate::ast::{DictItem, Expr, ExprKind, ListItem};
use crate::check::types::{Bound, Shape, ShapeKey, Type, join};
use std::rc::Rc;

/// The key of a payload that names its event.
const EVENT: &str = "event";
/// The keys that every payload has.
const ALWAYS: [&str; 2] = [EVENT, "session"];

impl Checker<'_> {
    /// Returns the type parameters of a call that registers a handler: `E` is the payload of the events that an argument names,
    /// and `N` the name of the event in it.
    pub(super) fn event_parameters(&self, args: &[ListItem]) -> Bound {
        let Some(Type::Shape(payload)) =
            args.iter().filter(|arg| !arg.spread).find_map(|arg| self.event_payload(&arg.value))
        else {
            return Bound::new();
        };
        let name = payload.field(EVENT).map_or(Type::Any, |field| field.ty.clone());
        vec![("E".into(), Type::Shape(payload)), ("N".into(), name)]
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
        let payload = Shape { fields, open: true, literal: false, told: true };
        (!items.is_empty()).then(|| Type::Shape(Rc::new(payload)))
    }
}
