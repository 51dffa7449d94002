//! One set of rows under several modules: ranges and sets have the methods of lists, floats those of ints.

use super::{Builtin, BuiltinRun};
use crate::value::Value;

/// The first `N` of `rows` as rows of another module.
pub(super) const fn under<const N: usize>(module: &'static str, rows: &[Builtin]) -> [Builtin; N] {
    // What an array holds before its rows are copied; nobody ever sees it.
    let mut out = [const { blank() }; N];
    let mut i = 0;
    while i < N {
        out[i] = Builtin { module, ..rows[i] };
        i += 1;
    }
    out
}

const fn blank() -> Builtin {
    Builtin {
        module: "",
        name: "",
        sig: "()",
        doc: "",
        caps: &[],
        pure: false,
        property: false,
        arity: super::arity("()"),
        run: BuiltinRun::Plain(|_, _| Ok(Value::Nil)),
        lint: None,
        typed_by: &[],
    }
}
