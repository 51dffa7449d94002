//! placeholder
crate::builtins! { "<result>" => }
