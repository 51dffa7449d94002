//! Declarations as plain data: builtins, and the types of a script.
//!
//! - [`Builtin`]: a row of a table of builtins. [`Registry`]: all tables of a run.
//! - [`OptionTable`]: a named dict, with an [`OptionRow`] for each of its keys.
//! - [`TypeDecl`]: a struct, enum, interface or alias. [`Signature`]: the head of a function.
//!
//! The resolver and the checker read them, and the compiler makes of them what the machine runs.

mod binding;
mod builtin;
mod methods;
mod options;
mod registry;
mod types;

pub use binding::{BindingId, BindingKind};
pub use builtin::{Arity, Builtin, Lint, Right, Run, TypedBy, TypedPart, arity, name_of};
pub use methods::{HasName, Methods};
pub use options::{OptionRow, OptionTable, doc_text, key_text};
pub use registry::{Index, Registry};
pub use types::{
    AliasDecl, Constant, DefaultDecl, EnumDecl, FieldDecl, InterfaceDecl, MethodDecl, Named, Signature, Site,
    StructDecl, TypeDecl, TypeScope, VariantDecl, placeholder_of,
};
