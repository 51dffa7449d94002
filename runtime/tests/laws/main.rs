//! The laws of reminders, held by random sequences of commands over a tree of sessions.
//!
//! A naive model does the same commands by counting down ([`model`]); sessions, queue and log are the real ones ([`world`]).
//! After each command both must agree; at the end the log alone is judged ([`judge`]). `HARN_CASES` says how many sequences
//! are tried (docs/testing.md); a failure prints the shortest that fails.
//!
//! One more law is about the loop: it may be stopped after any of its polls ([`stopped`]).

#![allow(clippy::unwrap_used)]

mod judge;
mod model;
mod step;
mod stopped;
mod tree;
mod world;

use proptest::prelude::*;
use world::World;

/// Returns the configuration with the number of sequences to try: a few thousand, or `HARN_CASES`.
fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("HARN_CASES").ok().and_then(|text| text.replace('_', "").parse().ok());
    ProptestConfig { cases: asked.unwrap_or(cases), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(1_500))]

    /// After every command the same reminders are pending with the same TTL as in the model, an older version of the
    /// transcript is as it was, no reminder is a message. The log alone accounts for every reminder, says that each was seen as
    /// often as promised, and rebuilds what was pending, now and at earlier moments.
    #[test]
    fn laws_of_a_life(steps in prop::collection::vec(step::step(), 1..50), moments in prop::collection::vec(any::<prop::sample::Index>(), 2)) {
        let mut world = World::new();
        for step in steps {
            world.take(step)?;
        }
        world.all_agree()?;
        judge::conservation(&world)?;
        judge::promises(&world)?;
        judge::queues(&world)?;
        judge::rebuilt_whole(&world)?;
        for moment in moments {
            judge::rebuilt(&world, moment.index(world.history.len()))?;
        }
        world.old_versions_are_unchanged()?;
    }
}

proptest! {
    #![proptest_config(config(500))]

    /// `all` reaches every descendant, `session` only direct children, `none` no session.
    #[test]
    fn laws_of_a_tree(tree in tree::tree()) {
        tree::propagation_reaches_as_far_as_it_says(&tree)?;
    }
}
