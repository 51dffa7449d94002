//! placeholder
crate::builtins! { "<string>" => }
