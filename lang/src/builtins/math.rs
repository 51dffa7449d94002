//! placeholder
crate::builtins! { "<math>" => }
