//! Builtins are rows of tables: name, signature in the language's own type syntax, documentation, capabilities, function.
//!
//! The compiler, the checker, completion, the docs and other front ends all read these rows; nothing runs at start. A
//! file per namespace holds its rows ([`crate::builtins!`] makes them), [`TABLES`] joins those of the language; the
//! crate above adds its own when it makes an isolate.

pub mod args;
mod atomic;
mod bytes;
mod channel;
pub(crate) mod control;
mod core;
mod decode;
mod dict;
mod each;
mod format;
mod free;
mod global;
mod grow;
mod hash;
mod items;
mod iter;
mod json;
mod list;
mod mailbox;
mod math;
mod number;
mod observe;
mod options;
mod ordering;
mod random;
mod range;
mod regex;
mod result;
pub(crate) mod select;
mod set;
mod sort;
mod statistics;
mod string;
mod task;
mod text;
mod under;
mod variant;
mod walk;

pub use crate::declaration::{Arity, Builtin, Index, OptionRow, OptionTable, Registry, Right, TypedBy, arity, name_of};
#[doc(hidden)]
pub use crate::declaration::{doc_text, key_text};
pub use crate::vm::native::{BuiltinRun, ItemFn, Native, PlainFn, ResumeFn, Step, WaitFn, no_item};
pub use crate::vm::{elements, long_range};
pub use core::Unequal;
pub use json::{json_parse_at_once, json_text, json_text_pretty, parse_json};
pub(crate) use observe::{ASSERT_PARTS, COVER};
pub use options::OPTIONS;
#[cfg(test)]
pub(crate) use task::task_value;

/// The tables of the language itself.
pub static TABLES: &[&[Builtin]] = &[
    // Globals.
    core::TABLE,
    atomic::TABLE,
    channel::TABLE,
    mailbox::TABLE,
    task::TABLE,
    control::TABLE,
    select::TABLE,
    global::TABLE,
    hash::TABLE,
    json::TABLE,
    format::TABLE,
    free::TABLE,
    math::TABLE,
    random::TABLE,
    regex::TABLE,
    result::TABLE,
    statistics::TABLE,
    text::global::TABLE,
    // Methods.
    bytes::TABLE,
    decode::TABLE,
    dict::TABLE,
    each::TABLE,
    grow::TABLE,
    list::TABLE,
    sort::TABLE,
    number::TABLE,
    number::FLOAT,
    format::of_numbers::TABLE,
    format::OF_FLOATS,
    range::TABLE,
    range::RANGE[0],
    range::RANGE[1],
    range::RANGE[2],
    range::RANGE[3],
    result::METHODS,
    set::TABLE,
    range::SET[0],
    range::SET[1],
    range::SET[2],
    string::TABLE,
    text::TABLE,
    format::of_strings::TABLE,
    regex::methods::TABLE,
    variant::TABLE,
    iter::METHODS[0],
    iter::METHODS[1],
    iter::METHODS[2],
    iter::METHODS[3],
    iter::METHODS[4],
    iter::METHODS[5],
    iter::METHODS[6],
    iter::METHODS[7],
    iter::METHODS[8],
    iter::METHODS[9],
    iter::ITER[0],
    iter::ITER[1],
    iter::ITER[2],
    iter::ITER[3],
    iter::ITER[4],
    iter::ITER[5],
];

/// Makes the table of a namespace.
///
/// ```text
/// builtins! { "queue" =>
///     /// Documentation.
///     plain "push(queue: any, value: any) -> int" push;
/// }
/// ```
#[macro_export]
macro_rules! builtins {
    ($module:literal => $( $(#[doc = $doc:literal])+ $kind:ident $sig:literal $([$($flag:ident $(= $value:expr)?),*])? $run:path; )*) => {
        /// The rows of this namespace.
        #[allow(unreachable_pub)] // the crates that use the macro differ in what they show
        pub static TABLE: &[$crate::builtins::Builtin] = &[
            $( {
                #[allow(unused_mut)]
                let mut row = $crate::builtins::Builtin {
                    module: $module,
                    name: $crate::builtins::name_of($sig),
                    sig: $sig,
                    doc: concat!($($doc, "\n"),+),
                    caps: &[],
                    pure: false,
                    property: false,
                    arity: $crate::builtins::arity($sig),
                    run: $crate::builtins!(@run $kind $run),
                    lint: None,
                    typed_by: &[],
                };
                $( $( $crate::builtins!(@flag row $flag $(= $value)?); )* )?
                row
            }, )*
        ];
    };
    (@run plain $run:path) => { $crate::builtins::BuiltinRun::Plain($run) };
    (@run waits $run:path) => { $crate::builtins::BuiltinRun::Waits($run) };
    (@run native $run:path) => { $crate::builtins::BuiltinRun::Native($run) };
    (@flag $row:ident pure) => { $row.pure = true };
    (@flag $row:ident property) => { $row.property = true };
    (@flag $row:ident caps = $caps:expr) => { $row.caps = $caps };
    (@flag $row:ident lint = $lint:expr) => { $row.lint = Some($lint) };
    (@flag $row:ident typed_by = $option:expr) => { $row.typed_by = $option };
}
