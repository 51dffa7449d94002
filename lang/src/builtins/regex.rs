//! placeholder
crate::builtins! { "<regex>" => }
