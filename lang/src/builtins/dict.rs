//! placeholder
crate::builtins! { "<dict>" => }
