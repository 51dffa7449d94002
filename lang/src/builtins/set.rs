//! placeholder
crate::builtins! { "<set>" => }
