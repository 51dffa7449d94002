//! Functions of types, by name.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A function of a type.
pub trait HasName {
    /// Its name.
    fn name(&self) -> &str;
}

/// The functions of a type's `impl`s.
pub struct Methods<M>(RefCell<ListedMethods<M>>);

struct ListedMethods<M> {
    all: Vec<Rc<M>>,
    /// Index of each name, once there are more than [`FEW`].
    places: HashMap<String, usize>,
}

impl<M> Default for Methods<M> {
    fn default() -> Self {
        Self(RefCell::new(ListedMethods { all: Vec::new(), places: HashMap::new() }))
    }
}

/// Names that are found soonest by looking at each.
const FEW: usize = 16;

impl<M: HasName> ListedMethods<M> {
    fn place(&self, name: &str) -> Option<usize> {
        if self.all.len() > FEW {
            return self.places.get(name).copied();
        }
        self.all.iter().position(|m| m.name() == name)
    }

    fn push(&mut self, method: Rc<M>) {
        self.all.push(method);
        let known = self.places.len();
        if self.all.len() > FEW {
            let new = self.all.iter().enumerate().skip(known);
            self.places.extend(new.map(|(at, method)| (method.name().to_owned(), at)));
        }
    }
}

impl<M: HasName> Methods<M> {
    /// The function of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Rc<M>> {
        let listed = self.0.borrow();
        listed.place(name).and_then(|at| listed.all.get(at)).cloned()
    }

    /// Adds a function; one of the same name is replaced.
    pub fn add(&self, method: Rc<M>) {
        let mut listed = self.0.borrow_mut();
        let place = listed.place(method.name());
        match place.and_then(|at| listed.all.get_mut(at)) {
            Some(old) => *old = method,
            None => listed.push(method),
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<M>> {
        self.0.borrow().all.clone()
    }
}
