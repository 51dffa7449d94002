//! `impl Interface for Type`: whether the type has what the interface names.

use super::messages;
use crate::ast::*;
use crate::declaration::{InterfaceDecl, Signature, TypeDecl};
use crate::diagnostic::Diagnostic;
use crate::resolve::Resolution;
use crate::source::{SourceRef, Span};

/// Checks interfaces and their implementations.
pub(super) struct Interfaces<'c> {
    source: &'c SourceRef,
    names: &'c Resolution,
    pub(super) found: Vec<Diagnostic>,
}

impl<'c> Interfaces<'c> {
    pub(super) fn new(source: &'c SourceRef, names: &'c Resolution) -> Self {
        Self { source, names, found: Vec::new() }
    }

    /// Checks a declaration, without its parts.
    pub(super) fn item(&mut self, item: &Item) {
        if let ItemKind::Impl { target, interface: Some(interface), .. } = &item.kind
            && let Some(TypeDecl::Interface(wanted)) = self.names.named_type(interface.id).map(TypeDecl::resolved)
            && let Some(def) = self.names.named_type(target.id).map(TypeDecl::resolved)
        {
            self.implements(&def, (target, item.span), &wanted);
        }
        if let ItemKind::Interface { methods, .. } = &item.kind {
            methods.iter().for_each(|method| self.no_body(method));
        }
    }

    fn no_body(&mut self, method: &FnDecl) {
        if !method.body.stmts.is_empty() {
            self.found.push(messages::interface_body(self.source, method));
        }
    }

    fn implements(&mut self, def: &TypeDecl, target: (&Name, Span), interface: &InterfaceDecl) {
        let Some(methods) = def.methods() else { return };
        let missing: Vec<&Signature> = interface.methods.iter().filter(|m| methods.get(&m.name).is_none()).collect();
        if let Some(first) = missing.first() {
            self.found.push(messages::not_implemented(self.source, target, def, interface, &missing, first));
        }
        for wanted in &interface.methods {
            let Some(method) = methods.get(&wanted.name) else { continue };
            let own = &method.signature;
            let fits = own.takes_self == wanted.takes_self
                && own.min <= wanted.min
                && own.max.is_none_or(|max| wanted.max.is_some_and(|wanted| max >= wanted));
            if !fits {
                self.found.push(messages::other_parameters(def, &method, interface, wanted));
            }
        }
    }
}
