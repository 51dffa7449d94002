//! A tree of sessions, each of which inherits its parent's reminders when it is started.

use std::sync::Arc;

use proptest::prelude::*;
use runtime::lifecycle::{ReminderOrigin, propagation};
use runtime::reminder::{Propagate, ReminderSource, ReminderSpec};
use runtime::session::Session;

use crate::world::World;

/// The tree. Each session but the first has a parent, given as a number modulo the sessions before it. Some sessions
/// make a reminder of each kind; the early ones do so before the others start.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    parents: Vec<prop::sample::Index>,
    makers: Vec<bool>,
}

pub(crate) fn tree() -> impl Strategy<Value = Tree> {
    let parents = prop::collection::vec(any::<prop::sample::Index>(), 1..12);
    (parents, prop::collection::vec(any::<bool>(), 12)).prop_map(|(parents, makers)| Tree { parents, makers })
}

pub(crate) fn propagation_reaches_as_far_as_it_says(tree: &Tree) -> Result<(), TestCaseError> {
    let world = World::new();
    let open = |n: usize| world.sessions.open(Some(&format!("tree {n}")), 1);
    let make = |session: &Session, n: usize| {
        for propagate in Propagate::ALL.iter().filter(|_| tree.makers[n]) {
            let spec = ReminderSpec { propagate: *propagate, ..ReminderSpec::new(format!("{n} {propagate}")) };
            session.inject_reminder(&world.scope, spec, ReminderSource::InPipeline, None);
        }
    };
    make(&open(0), 0);
    let mut parent_of = vec![None];
    for parent in &tree.parents {
        let (n, parent) = (parent_of.len(), parent.index(parent_of.len()));
        let (from, child) = (open(parent), open(n));
        for reminder in propagation(&from.transcript(), from.id()) {
            child.admit_reminder(&world.scope, reminder, ReminderOrigin::Inherited);
        }
        make(&child, n);
        parent_of.push(Some(parent));
    }
    for (n, _) in parent_of.iter().enumerate() {
        for (maker, _) in parent_of.iter().enumerate().filter(|(maker, _)| tree.makers[*maker]) {
            let above = std::iter::successors(parent_of[n], |above| parent_of[*above]).position(|above| above == maker);
            for propagate in Propagate::ALL {
                let reaches = match (propagate, above) {
                    (_, None) => n == maker,
                    (Propagate::All, Some(_)) => true,
                    (Propagate::Session, Some(distance)) => distance == 0,
                    (Propagate::None, Some(_)) => false,
                };
                let body = format!("{maker} {propagate}");
                let transcript = open(n).transcript();
                let found: Vec<_> = transcript.pending().filter(|p| p.reminder.body.as_ref() == body).collect();
                prop_assert_eq!(found.len(), usize::from(reaches), "{} in session {}", body, n);
                let origin: Option<Arc<str>> = (n != maker && reaches).then(|| format!("tree {maker}").into());
                prop_assert!(found.iter().all(|p| p.reminder.originating_agent_id == origin), "origin of {}", body);
            }
        }
    }
    Ok(())
}
