//! Scopes of the second evaluator: maps of names, one inside the other.

use super::value::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A variable: nothing until it is bound. Closures share it.
type Variable<'a> = Rc<RefCell<Option<Value<'a>>>>;

/// The names of a block, loop turn, function or file.
#[derive(Default)]
pub(crate) struct Scope<'a> {
    names: RefCell<HashMap<String, Variable<'a>>>,
    outer: Option<Rc<Scope<'a>>>,
}

/// The meaning of a name in a scope.
pub(crate) enum Binding<'a> {
    /// A variable that has a value.
    Bound(Value<'a>),
    /// A variable that will have one, further down.
    Unbound,
    /// A variable that will have one, and hides one that has: which is meant depends on who asks.
    Ambiguous,
    /// The name is not a variable.
    Nothing,
}

impl<'a> Scope<'a> {
    pub(crate) fn inside(outer: &Rc<Self>) -> Rc<Self> {
        Rc::new(Self { names: RefCell::default(), outer: Some(outer.clone()) })
    }

    /// Makes a name known that will be bound further down.
    pub(crate) fn announce(&self, name: &str) {
        self.names.borrow_mut().entry(name.to_owned()).or_default();
    }

    pub(crate) fn bind(&self, name: &str, value: Value<'a>) {
        let variable = self.names.borrow_mut().entry(name.to_owned()).or_default().clone();
        *variable.borrow_mut() = Some(value);
    }

    pub(crate) fn find(&self, name: &str) -> Binding<'a> {
        let Some(variable) = self.names.borrow().get(name).cloned() else {
            return self.outer.as_ref().map_or(Binding::Nothing, |outer| outer.find(name));
        };
        let value = variable.borrow().clone();
        match (value, self.outer.as_ref().map(|outer| outer.find(name))) {
            (Some(value), _) => Binding::Bound(value),
            (None, None | Some(Binding::Nothing)) => Binding::Unbound,
            (None, Some(_)) => Binding::Ambiguous,
        }
    }

    /// Assigns to a bound variable; returns whether there is one.
    pub(crate) fn assign(&self, name: &str, value: Value<'a>) -> bool {
        let Some(variable) = self.names.borrow().get(name).cloned() else {
            return self.outer.as_ref().is_some_and(|outer| outer.assign(name, value));
        };
        let bound = variable.borrow().is_some();
        if bound {
            *variable.borrow_mut() = Some(value);
        }
        bound
    }

    /// Lets go of every variable, so that closures that hold themselves are freed.
    pub(crate) fn clear(&self) {
        let names = std::mem::take(&mut *self.names.borrow_mut());
        for variable in names.into_values() {
            *variable.borrow_mut() = None;
        }
    }
}
