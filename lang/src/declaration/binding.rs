//! Kinds of bindings.

/// Number of a binding in its module.
pub type BindingId = u32;

/// Kind of the declaration that made a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// `let`, `const`
    Let,
    /// `var`
    Var,
    /// A parameter
    Parameter,
    /// A loop variable
    Loop,
    /// A name in a pattern, a caught error
    Pattern,
    /// `fn`, `tool`
    Function,
    /// `pipeline`
    Pipeline,
    /// `struct`, `enum`, `interface`, `type`
    Type,
    /// `import`
    Import,
    /// Binding of an earlier piece of the session
    Outer,
}
