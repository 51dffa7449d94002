//! placeholder
crate::builtins! { "<hash>" => }
