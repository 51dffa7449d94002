//! placeholder
crate::builtins! { "<range>" => }
