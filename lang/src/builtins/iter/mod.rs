//! Lazy iterators: making them (`make`), what they run between two items (`lazy`), and what uses them up (`sink`).
//! Streams that wait for several sources, or for the clock (`timed`), read them in tasks (`feed`). Generators and streams have
//! the same methods.

mod feed;
mod lazy;
mod make;
mod sink;
mod timed;

use super::Builtin;
use super::under::under;

/// The methods of iterators, for all three kinds of them.
pub(super) static METHODS: [&[Builtin]; 10] = [
    make::TABLE,
    sink::TABLE,
    &under::<{ make::TABLE.len() }>("<generator>", make::TABLE),
    &under::<{ sink::TABLE.len() }>("<generator>", sink::TABLE),
    &under::<{ make::TABLE.len() }>("<stream>", make::TABLE),
    &under::<{ sink::TABLE.len() }>("<stream>", sink::TABLE),
    sink::stream::TABLE,
    timed::TABLE,
    &under::<{ timed::TABLE.len() }>("<generator>", timed::TABLE),
    &under::<{ timed::TABLE.len() }>("<stream>", timed::TABLE),
];

/// `iter` for everything that has items.
pub(super) static ITER: [&[Builtin]; 6] = [
    &under::<1>("<list>", make::iter::TABLE),
    &under::<1>("<range>", make::iter::TABLE),
    &under::<1>("<set>", make::iter::TABLE),
    &under::<1>("<dict>", make::iter::TABLE),
    &under::<1>("<string>", make::iter::TABLE),
    &under::<1>("<bytes>", make::iter::TABLE),
];

pub(super) use make::iter;
