//! placeholder
crate::builtins! { "<sort>" => }
