//! The laws of reminders, checked by random sequences of commands over a tree of sessions.
//!
//! A naive model executes the same commands by counting down ([`model`]); sessions, queue and log are the real ones
//! ([`world`]). After each command both must agree; at the end the log alone is checked ([`judge`]). `HARN_CASES` sets
//! the number of sequences (docs/testing.md); a failure prints the shortest that fails.
//!
//! A further law concerns the loop: it may be stopped after any of its polls ([`stopped`]).

#![allow(clippy::unwrap_used)]

mod judge;
mod model;
mod step;
mod stopped;
mod tree;
mod world;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use world::World;

/// Returns the configuration with the number of sequences to try: a few thousand, which are the same in each run, or
/// `HARN_CASES` random ones.
fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("HARN_CASES").ok().and_then(|text| text.replace('_', "").parse().ok());
    let rng_seed = if asked.is_some() { RngSeed::Random } else { RngSeed::Fixed(1) };
    ProptestConfig { cases: asked.unwrap_or(cases), failure_persistence: None, rng_seed, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(1_500))]

    /// Checks after every command that the same reminders are pending with the same TTL as in the model, that an older
    /// version of the transcript is unchanged, and that no reminder is a message. The log alone accounts for every
    /// reminder, shows that each was seen as often as promised, and rebuilds the pending reminders, now and at earlier
    /// moments. It has each judgement of a turn, about a reminder that this turn's prompt carried.
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
        judge::judgements(&world)?;
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
