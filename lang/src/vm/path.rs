//! Names of lines of work that are the same in every run.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// The longest name that is written out; what stands below a longer one is named by a digest of it.
const LONGEST: usize = 96;

/// Path of a line of work in the tree of all of them: `main`, and below each the lines that it started, by kind and in the
/// order of starting (`main.task2`, `main.each1.0`). It does not depend on which finished first, so two runs of one script
/// give the same work the same name however their tasks interleave. Clones share their counters.
#[derive(Clone, Debug)]
pub struct Path(Rc<Node>);

#[derive(Debug)]
struct Node {
    /// Written out when somebody asks: every call of a tool has a path, and hardly any is ever named.
    name: OnceCell<Rc<str>>,
    /// Name of the path above. Only the name is held, so that tasks that start tasks keep no chain alive.
    above: Rc<str>,
    kind: &'static str,
    number: u64,
    started: Cell<u64>,
}

impl Path {
    fn new(above: Rc<str>, kind: &'static str, number: u64) -> Self {
        Self(Rc::new(Node { name: OnceCell::new(), above, kind, number, started: Cell::new(0) }))
    }

    /// The name: letters, digits, dots and tildes.
    #[must_use]
    pub fn name(&self) -> &Rc<str> {
        let Node { name, above, kind, number, .. } = &*self.0;
        name.get_or_init(|| format!("{}.{kind}{number}", short(above)).into())
    }

    /// The next thing that is started here; `kind` is a word of letters.
    #[must_use]
    pub fn child(&self, kind: &'static str) -> Self {
        let started = &self.0.started;
        started.set(started.get() + 1);
        Self::new(self.name().clone(), kind, started.get())
    }

    /// One of several that were started as one.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        Self::new(self.name().clone(), "", index as u64)
    }
}

/// A name of any depth, in bounds: tasks that start tasks have no end.
fn short(name: &str) -> Cow<'_, str> {
    if name.len() <= LONGEST {
        return name.into();
    }
    // FNV-1a: it must be the same for every build.
    let digest = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("deep~{digest:016x}").into()
}

impl Default for Path {
    /// The main line.
    fn default() -> Self {
        let main: Rc<str> = "main".into();
        let path = Self::new(main.clone(), "", 0);
        let _ = path.0.name.set(main);
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_who_started_what_and_stay_short() {
        let main = Path::default();
        let (first, each) = (main.child("task"), main.clone().child("each"));
        assert_eq!(
            [&**first.name(), &**each.name(), &**each.item(7).name()],
            ["main.task1", "main.each2", "main.each2.7"]
        );
        let mut deep = main;
        let mut seen = std::collections::HashSet::new();
        for _ in 0..1_000 {
            deep = deep.child("task");
            assert!(deep.name().len() < LONGEST + 32 && seen.insert(deep.name().clone()), "{}", deep.name());
        }
    }
}
