//! [`Parts`]: state of a run that belongs to later modules, which the world does not know.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

/// Parts of a run by their types. A run has a few of them, so a search is as fast as a table.
#[derive(Default)]
pub(super) struct Parts(RefCell<Vec<Rc<dyn Any>>>);

impl Parts {
    /// Returns the part of a type. If there is none yet, `make` makes it.
    pub(super) fn get<T: 'static>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        let known = self.0.borrow().iter().find(|part| part.is::<T>()).cloned();
        if let Some(Ok(part)) = known.map(Rc::downcast) {
            return part;
        }
        let part = Rc::new(make());
        self.0.borrow_mut().push(part.clone());
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_made_once() {
        let parts = Parts::default();
        let first = parts.get(|| "first".to_owned());
        assert!(Rc::ptr_eq(&first, &parts.get(|| "second".to_owned())));
        assert_eq!(*parts.get(|| 7), 7);
    }
}
