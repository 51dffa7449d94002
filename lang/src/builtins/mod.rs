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
mod dict;
mod each;
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
mod ordering;
mod range;
mod regex;
mod registry;
mod result;
pub(crate) mod select;
mod set;
mod sort;
mod string;
mod task;
mod under;
mod walk;

pub(crate) use items::at as element;
pub use json::{json_text, parse_json};
pub use registry::{Index, Registry};
#[cfg(test)]
pub(crate) use task::task_value;
pub use walk::{elements, long_range};

use crate::value::Value;
use crate::vm::{Cx, Raise, Wait};

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
    math::TABLE,
    regex::TABLE,
    result::TABLE,
    // Methods.
    bytes::TABLE,
    dict::TABLE,
    each::TABLE,
    grow::TABLE,
    list::TABLE,
    sort::TABLE,
    number::TABLE,
    number::FLOAT,
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
    iter::METHODS[0],
    iter::METHODS[1],
    iter::METHODS[2],
    iter::METHODS[3],
    iter::METHODS[4],
    iter::METHODS[5],
    iter::METHODS[6],
    iter::ITER[0],
    iter::ITER[1],
    iter::ITER[2],
    iter::ITER[3],
    iter::ITER[4],
    iter::ITER[5],
];

/// A right that a run may be without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// `fs.read`
    FsRead,
    /// `fs.write`
    FsWrite,
    /// `process`
    Process,
    /// `net`
    Net,
    /// `env`
    Env,
    /// `llm`
    Llm,
}

impl Capability {
    /// As it is written on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FsRead => "fs.read",
            Self::FsWrite => "fs.write",
            Self::Process => "process",
            Self::Net => "net",
            Self::Env => "env",
            Self::Llm => "llm",
        }
    }

    /// All of them.
    pub const ALL: [Self; 6] = [Self::FsRead, Self::FsWrite, Self::Process, Self::Net, Self::Env, Self::Llm];
}

/// How many arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least.
    pub min: u8,
    /// At most; without a rest parameter the missing ones arrive as nil.
    pub max: u8,
    /// `...rest`: any number more.
    pub rest: bool,
}

/// A builtin that answers at once.
pub type PlainFn = fn(&mut Cx<'_>, &mut [Value]) -> Result<Value, Box<Raise>>;
/// A builtin that may have to wait.
pub type WaitFn = fn(&mut Cx<'_>, &mut [Value]) -> Result<Wait, Box<Raise>>;

/// Goes on with what a closure gave.
pub type ResumeFn = fn(&mut Cx<'_>, &mut [Value], Value) -> Result<Step, Box<Raise>>;

/// Goes on with the item that a [`Step::Next`] asked for, or with its absence.
pub type ItemFn = fn(&mut Cx<'_>, &mut [Value], Option<Value>) -> Result<Step, Box<Raise>>;

/// What a step of a [`Native`] gave.
pub enum Step {
    /// It is done. An iterator's machine has no more items.
    Return(Value),
    /// An iterator's machine has made an item, and will be entered again for the next.
    Yield(Value),
    /// It wants the next item of the iterator in register `source`.
    Next {
        /// Register of the iterator.
        source: usize,
    },
    /// It wants the value in register `callee` called with `argc` arguments from register `args` on.
    Call {
        /// Register of the callee.
        callee: usize,
        /// Register of the first argument.
        args: usize,
        /// How many.
        argc: usize,
    },
}

/// A builtin that calls closures: a machine whose state is in the registers of its own window, so that nothing recurses
/// on the native stack and a closure may wait.
pub struct Native {
    /// Starts it; the arguments are in the first registers.
    pub enter: fn(&mut Cx<'_>, &mut [Value]) -> Result<Step, Box<Raise>>,
    /// Goes on with what the closure gave.
    pub resume: ResumeFn,
    /// Goes on with an item of an iterator.
    pub item: ItemFn,
    /// Registers beyond the arguments.
    pub slots: u8,
}

/// For a [`Native`] that asks no iterator.
///
/// # Errors
/// None.
pub fn no_item(_: &mut Cx<'_>, _: &mut [Value], _: Option<Value>) -> Result<Step, Box<Raise>> {
    Ok(Step::Return(Value::Nil))
}

/// How a builtin runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// At once.
    Plain(PlainFn),
    /// It may wait.
    Waits(WaitFn),
    /// It calls closures.
    Native(&'static Native),
}

/// A check that a signature cannot express, made on the syntax of a call.
pub type Lint = fn(&crate::check::CallView<'_>, &mut Vec<crate::diagnostic::Diagnostic>);

/// A row.
pub struct Builtin {
    /// The namespace; empty for the global ones, `<list>` and so on for methods.
    pub module: &'static str,
    /// Its name in the namespace.
    pub name: &'static str,
    /// `name(a: type, b: type = default, ...rest) -> type`
    pub sig: &'static str,
    /// One or two sentences.
    pub doc: &'static str,
    /// What a run must be allowed to do.
    pub caps: &'static [Capability],
    /// Calls no closure and, when it fails, leaves its first argument alone: `x = x.f(…)` may change x in place.
    pub pure: bool,
    /// A method that may also be read without parentheses.
    pub property: bool,
    /// From the signature.
    pub arity: Arity,
    /// The function.
    pub run: Run,
    /// More checks.
    pub lint: Option<Lint>,
}

impl Builtin {
    /// As a script writes it.
    #[must_use]
    pub fn full_name(&self) -> String {
        if self.module.is_empty() {
            self.name.to_owned()
        } else if let Some(of) = self.module.strip_prefix('<').and_then(|m| m.strip_suffix('>')) {
            format!("{of}.{}", self.name)
        } else {
            format!("{}.{}", self.module, self.name)
        }
    }

    /// Whether it is a method of a value.
    #[must_use]
    pub fn is_method(&self) -> bool {
        self.module.starts_with('<')
    }
}

/// The arity that a signature states, worked out when the program is built.
///
/// # Panics
/// When building, if the signature has no parameter list.
#[must_use]
pub const fn arity(sig: &str) -> Arity {
    let text = sig.as_bytes();
    let mut i = 0;
    while text[i] != b'(' {
        i += 1;
    }
    i += 1;
    let (mut min, mut max, mut rest) = (0, 0, false);
    let (mut depth, mut named, mut optional, mut quoted) = (0, false, false, false);
    loop {
        let c = text[i];
        if quoted {
            quoted = c != b'"';
        } else if depth == 0 && (c == b',' || c == b')') {
            if named && !rest {
                max += 1;
                if !optional {
                    min += 1;
                }
            }
            named = false;
            optional = false;
            if c == b')' {
                return Arity { min, max, rest };
            }
        } else {
            match c {
                b'"' => quoted = true,
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b'>' if text[i - 1] == b'-' => {}
                b')' | b']' | b'}' | b'>' => depth -= 1,
                b'=' if depth == 0 => optional = true,
                b'.' if depth == 0 && text[i + 1] == b'.' => rest = true,
                b' ' => {}
                _ => named = true,
            }
        }
        i += 1;
    }
}

/// Makes the table of a namespace.
///
/// ```text
/// builtins! { "transcript" =>
///     /// Documentation.
///     plain "clear_reminders(t: transcript, selector: dict) -> dict" [pure] clear_reminders;
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
                };
                $( $( $crate::builtins!(@flag row $flag $(= $value)?); )* )?
                row
            }, )*
        ];
    };
    (@run plain $run:path) => { $crate::builtins::Run::Plain($run) };
    (@run waits $run:path) => { $crate::builtins::Run::Waits($run) };
    (@run native $run:path) => { $crate::builtins::Run::Native($run) };
    (@flag $row:ident pure) => { $row.pure = true };
    (@flag $row:ident property) => { $row.property = true };
    (@flag $row:ident caps = $caps:expr) => { $row.caps = $caps };
    (@flag $row:ident lint = $lint:expr) => { $row.lint = Some($lint) };
}

/// The name at the front of a signature.
#[must_use]
pub const fn name_of(sig: &'static str) -> &'static str {
    let text = sig.as_bytes();
    let mut i = 0;
    while text[i] != b'(' {
        i += 1;
    }
    sig.split_at(i).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arity_comes_from_the_signature() {
        let of = |sig| {
            let a = arity(sig);
            (a.min, a.max, a.rest)
        };
        assert_eq!(of("f() -> nil"), (0, 0, false));
        assert_eq!(of("f(a: int, b: fn(int) -> list<int>, c: dict<string, any> = {}) -> nil"), (2, 3, false));
        assert_eq!(of("f(a, ...rest) -> nil"), (1, 1, true));
        assert_eq!(of("f(a: \"x,y\" | nil = nil) -> nil"), (0, 1, false));
    }
}
