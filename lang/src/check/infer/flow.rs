//! What is known at a point of the text: facts about variables that tests and assignments have told.

use super::Checker;
use crate::check::types::{Type, join};
use crate::resolve::BindingId;
use crate::source::Span;

/// The facts at a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// Narrower types than the bindings always have.
    facts: Vec<(BindingId, Type)>,
    /// Control does not get here.
    pub(super) dead: bool,
}

impl Flow {
    /// Where no road leads.
    pub(super) fn nowhere() -> Self {
        Self { facts: Vec::new(), dead: true }
    }

    fn fact(&self, id: BindingId) -> Option<&Type> {
        self.facts.iter().find(|(known, _)| *known == id).map(|(_, ty)| ty)
    }

    pub(super) fn set(&mut self, id: BindingId, ty: Type) {
        match self.facts.iter_mut().find(|(known, _)| *known == id) {
            Some((_, old)) => *old = ty,
            None => self.facts.push((id, ty)),
        }
    }

    fn forget(&mut self, id: BindingId) {
        self.facts.retain(|(known, _)| *known != id);
    }
}

impl Checker<'_> {
    /// What is known of a binding here.
    pub(super) fn known(&self, id: BindingId) -> Type {
        self.flow.fact(id).cloned().unwrap_or_else(|| self.base(id))
    }

    /// What a binding is wherever it is seen.
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
            self.flow.set(id, ty);
        }
    }

    /// Forgets what an assignment in `span` may have changed.
    pub(super) fn forget_assigned(&mut self, span: Span) {
        let assigned = &self.world.names.assigned;
        let from = assigned.partition_point(|(at, _)| *at < span.start);
        for (at, id) in &assigned[from..] {
            if *at >= span.end {
                break;
            }
            self.flow.forget(*id);
        }
    }

    /// What is known where two roads meet.
    pub(super) fn meet(&self, a: Flow, b: Flow) -> Flow {
        if a.dead {
            return b;
        }
        if b.dead {
            return a;
        }
        let mut met = Flow::default();
        // What only one road knows is what the other always knew.
        for (id, ty) in a.facts {
            let other = b.fact(id).cloned().unwrap_or_else(|| self.base(id));
            let both = join(ty, other);
            if both != Type::Any {
                met.facts.push((id, both));
            }
        }
        for (id, ty) in b.facts {
            if met.fact(id).is_none() {
                let both = join(self.base(id), ty);
                if both != Type::Any && both != self.base(id) {
                    met.facts.push((id, both));
                }
            }
        }
        met
    }
}
