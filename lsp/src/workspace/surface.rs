//! The view that other files have of a file, and whether two analyses of it are the same to them.

use lang::check::ExportedTypes;
use lang::declaration::TypeDecl;
use lang::module::{Export, Exports};
use lang::source::{SourceRef, Span};
use std::rc::Rc;

/// The view that other files have of a file. The same one as long as nothing in it changes.
pub(crate) struct Surface {
    /// Its names.
    pub(crate) exports: Rc<Exports>,
    /// The types of its values.
    pub(crate) types: ExportedTypes,
}

impl Surface {
    /// Returns whether two texts of a file look the same: they export the same names, declared at the same bytes, and their values
    /// have the same types.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.exports, &other.exports);
        // Types of the same text that name others of the same text are the same, if the imports of the file are.
        let has_types = has_types(a) || self.types.names_types() || other.types.names_types();
        let same_types = !has_types || a.source.text() == b.source.text();
        same_types && self.types.same_values(&other.types) && same_exports(a, b)
    }
}

fn same_exports(a: &Exports, b: &Exports) -> bool {
    let same_names = a.names.len() == b.names.len()
        && a.names.iter().zip(&b.names).all(|((name, left), (other, right))| name == other && same_export(left, right));
    let same_private = a.private.len() == b.private.len()
        && a.private
            .iter()
            .zip(&b.private)
            .all(|((name, left), (other, right))| name == other && left.span == right.span && left.kind == right.kind);
    a.incomplete == b.incomplete && same_private && same_names
}

fn same_export(a: &Export, b: &Export) -> bool {
    let same_takes = match (&a.takes, &b.takes) {
        (None, None) => true,
        (Some(a), Some(b)) => (a.span, a.min, a.max) == (b.span, b.min, b.max),
        _ => false,
    };
    let same_builtin = match (a.builtin, b.builtin) {
        (None, None) => true,
        (Some(a), Some(b)) => std::ptr::eq(a, b),
        _ => false,
    };
    let same_site = match (&a.def, &b.def) {
        (None, None) => true,
        (Some(a), Some(b)) => site(a).map(|site| site.1) == site(b).map(|site| site.1),
        _ => false,
    };
    a.origin == b.origin && a.kind == b.kind && same_builtin && same_takes && same_site
}

/// Returns whether a file exports a type. Whatever a type depends on is in the file or in its imports.
fn has_types(exports: &Exports) -> bool {
    exports.names.values().any(|export| export.def.is_some())
}

fn site(decl: &TypeDecl) -> Option<(&SourceRef, Span)> {
    let site = match decl {
        TypeDecl::Struct(decl) => &decl.site,
        TypeDecl::Enum(decl) => decl.site.as_ref()?,
        TypeDecl::Interface(decl) => &decl.site,
        TypeDecl::Alias(decl) => &decl.site,
    };
    Some((&site.source, site.span))
}
