//! Facts about variables at a point of the text, from tests and assignments.

use super::Checker;
use crate::ast::Block;
use crate::check::types::{Type, join};
use crate::resolve::BindingId;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;

/// Narrower types than the bindings always have. Branches share what they do not change.
type Facts = OrdMap<BindingId, Type>;

/// The facts at a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// About variables that are assigned to somewhere.
    passing: Facts,
    /// About all others: these hold in functions and deferred blocks as well.
    lasting: Facts,
    /// Control does not get here.
    pub(super) dead: bool,
}

impl Flow {
    /// Returns the flow at an unreachable point.
    pub(super) fn nowhere() -> Self {
        Self { dead: true, ..Self::default() }
    }

    /// The facts that still hold when a body runs at another time.
    pub(super) fn at_another_time(&self) -> Self {
        Self { lasting: self.lasting.clone(), ..Self::default() }
    }

    pub(super) fn fact(&self, id: BindingId) -> Option<&Type> {
        self.passing.get(&id).or_else(|| self.lasting.get(&id))
    }

    fn forget(&mut self, id: BindingId) {
        self.passing.remove(&id);
        self.lasting.remove(&id);
    }
}

impl Checker<'_> {
    /// Facts about a binding at this point.
    pub(super) fn known(&self, id: BindingId) -> Type {
        self.flow.fact(id).cloned().unwrap_or_else(|| self.base(id))
    }

    /// Type that a binding has everywhere.
    pub(super) fn base(&self, id: BindingId) -> Type {
        self.bases.get(id as usize).cloned().unwrap_or(Type::Any)
    }

    pub(super) fn set_base(&mut self, id: BindingId, ty: Type) {
        if let Some(base) = self.bases.get_mut(id as usize) {
            *base = ty;
        }
    }

    /// Only what nobody else can assign to meanwhile keeps a fact.
    pub(super) fn trackable(&self, id: BindingId) -> bool {
        let binding = self.world.names.binding(id);
        !(binding.assigned && (binding.captured || binding.global))
    }

    pub(super) fn learn(&mut self, id: BindingId, ty: Type) {
        if self.trackable(id) {
            let flow = std::mem::take(&mut self.flow);
            self.flow = self.with_fact(flow, id, ty);
        }
    }

    /// The facts of `flow` and one more.
    pub(super) fn with_fact(&self, mut flow: Flow, id: BindingId, ty: Type) -> Flow {
        let facts = if self.world.names.binding(id).assigned { &mut flow.passing } else { &mut flow.lasting };
        facts.insert(id, ty);
        flow
    }

    /// Makes the fact about a binding what it was in `before`.
    pub(super) fn restore(&mut self, before: &Flow, id: BindingId) {
        match before.fact(id).cloned() {
            Some(ty) => self.learn(id, ty),
            None => self.flow.forget(id),
        }
    }

    /// Forgets what is known of the bindings that a block, or the loop whose body it is, assigns to.
    pub(super) fn forget_assigned(&mut self, block: &Block) {
        for id in self.world.names.assigned_in(block.id) {
            self.flow.forget(*id);
        }
    }

    /// Facts that hold after two branches.
    pub(super) fn meet(&self, a: Flow, b: Flow) -> Flow {
        if a.dead {
            return b;
        }
        if b.dead {
            return a;
        }
        let passing = self.met(&a.passing, &b.passing);
        Flow { passing, lasting: self.met(&a.lasting, &b.lasting), dead: false }
    }

    fn met(&self, a: &Facts, b: &Facts) -> Facts {
        let mut met = a.clone();
        for item in a.diff(b) {
            // What only one road knows is what the other always knew.
            let (id, both) = match item {
                DiffItem::Update { old: (id, x), new: (_, y) } => (*id, join(x.clone(), y.clone())),
                DiffItem::Add(id, ty) | DiffItem::Remove(id, ty) => (*id, join(ty.clone(), self.base(*id))),
            };
            if both == Type::Any {
                met.remove(&id);
            } else {
                met.insert(id, both);
            }
        }
        met
    }
}
