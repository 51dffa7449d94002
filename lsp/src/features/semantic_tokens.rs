//! `textDocument/semanticTokens`: the meaning of names, which a grammar cannot know. Keywords, literals and comments are left to the
//! grammar of the editor.

use crate::error::LspError;
use crate::workspace::{Analysis, Language, Snapshot};
use lang::ast::visit::{Visit, walk_expr, walk_item, walk_module, walk_pattern};
use lang::ast::{
    DictItem, Expr, ExprKind, FnDecl, Item, ItemKind, Name, NodeId, Pattern, PatternKind, SelectArm, TypeExpr,
};
use lang::builtin_type::builtin_type;
use lang::declaration::{BindingKind, TypeDecl};
use lang::resolve::{Binding, Target};
use lang::source::Span;
use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDelta,
    SemanticTokensDeltaParams, SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensFullOptions,
    SemanticTokensLegend, SemanticTokensOptions, SemanticTokensParams, SemanticTokensRangeParams,
    SemanticTokensRangeResult, SemanticTokensResult, SemanticTokensServerCapabilities,
};

/// Makes the kinds of names and their places in the legend.
macro_rules! kinds {
    ($($kind:ident $type:ident),*) => {
        /// The kind of a name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum NameKind { $($kind),* }

        /// The types of tokens, in the order of [`NameKind`].
        const TYPES: &[SemanticTokenType] = &[$(SemanticTokenType::$type),*];
    };
}

kinds! {
    Namespace NAMESPACE, Type TYPE, Struct STRUCT, Enum ENUM, Interface INTERFACE, TypeParameter TYPE_PARAMETER,
    Parameter PARAMETER, Variable VARIABLE, Property PROPERTY, EnumMember ENUM_MEMBER, Function FUNCTION, Method METHOD,
    Decorator DECORATOR
}

/// The modifiers of tokens, in the order of the bits below.
const MODIFIERS: &[SemanticTokenModifier] =
    &[SemanticTokenModifier::DECLARATION, SemanticTokenModifier::READONLY, SemanticTokenModifier::DEFAULT_LIBRARY];

/// The numbers that a token is made of.
const NUMBERS: usize = 5;

const DECLARATION: u32 = 1;
const READONLY: u32 = 1 << 1;
const BUILTIN: u32 = 1 << 2;

pub(super) fn capability() -> SemanticTokensServerCapabilities {
    SemanticTokensServerCapabilities::SemanticTokensOptions(SemanticTokensOptions {
        legend: SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: MODIFIERS.to_vec() },
        range: Some(true),
        full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
        ..SemanticTokensOptions::default()
    })
}

pub(super) fn full(
    snapshot: &Snapshot<'_>,
    params: &SemanticTokensParams,
) -> Result<Option<SemanticTokensResult>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    let data = encoded(&document, None);
    let (_, result_id) = snapshot.replace_tokens(document.id, data.as_slice().into());
    Ok(Some(SemanticTokensResult::Tokens(SemanticTokens { result_id: Some(result_id), data })))
}

/// Returns the difference to the tokens that the client has, or all tokens if it has others than the server knows.
pub(super) fn delta(
    snapshot: &Snapshot<'_>,
    params: &SemanticTokensDeltaParams,
) -> Result<Option<SemanticTokensFullDeltaResult>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    let data = encoded(&document, None);
    let (before, result_id) = snapshot.replace_tokens(document.id, data.as_slice().into());
    let result_id = Some(result_id);
    Ok(Some(match before.filter(|before| before.result_id == params.previous_result_id) {
        Some(before) => {
            let edits = difference(&before.tokens, &data).into_iter().collect();
            SemanticTokensFullDeltaResult::TokensDelta(SemanticTokensDelta { result_id, edits })
        }
        None => SemanticTokensFullDeltaResult::Tokens(SemanticTokens { result_id, data }),
    }))
}

/// Returns the edit that makes other tokens of some: all but those that are the same at the beginning and at the end.
fn difference(before: &[SemanticToken], after: &[SemanticToken]) -> Option<SemanticTokensEdit> {
    let same = |pair: &(&SemanticToken, &SemanticToken)| pair.0 == pair.1;
    let first = before.iter().zip(after).take_while(same).count();
    let rest = (&before[first..], &after[first..]);
    let last = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(same).count();
    let (removed, added) = (&rest.0[..rest.0.len() - last], &rest.1[..rest.1.len() - last]);
    // The protocol counts the numbers of which a token is made.
    let numbers = |tokens: usize| u32::try_from(tokens * NUMBERS).unwrap_or(u32::MAX);
    (!removed.is_empty() || !added.is_empty()).then(|| SemanticTokensEdit {
        start: numbers(first),
        delete_count: numbers(removed.len()),
        data: (!added.is_empty()).then(|| added.to_vec()),
    })
}

pub(super) fn range(
    snapshot: &Snapshot<'_>,
    params: &SemanticTokensRangeParams,
) -> Result<Option<SemanticTokensRangeResult>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    let span = document.span(params.range)?;
    let data = encoded(&document, Some(span));
    Ok(Some(SemanticTokensRangeResult::Tokens(SemanticTokens { result_id: None, data })))
}

/// A name with its kind and modifiers.
struct NameToken {
    span: Span,
    kind: NameKind,
    modifiers: u32,
}

/// Returns the tokens of a document, or of a part of it, each relative to the one before.
fn encoded(document: &Analysis, part: Option<Span>) -> Vec<SemanticToken> {
    let mut tokens = if document.language == Language::Harn { names(document) } else { Vec::new() };
    tokens.retain(|token| part.is_none_or(|part| token.span.start < part.end && part.start < token.span.end));
    tokens.sort_by_key(|token| token.span);
    tokens.dedup_by_key(|token| token.span.start);
    let mut last = lsp_types::Position::default();
    let relative = tokens.iter().map(|token| {
        let start = document.text.position(token.span.start);
        let delta_line = start.line - last.line;
        let delta_start = if delta_line == 0 { start.character - last.character } else { start.character };
        last = start;
        SemanticToken {
            delta_line,
            delta_start,
            // Names are ASCII.
            length: token.span.end - token.span.start,
            token_type: token.kind as u32,
            token_modifiers_bitset: token.modifiers,
        }
    });
    relative.collect()
}

/// Returns the names of a text, in no order.
fn names(document: &Analysis) -> Vec<NameToken> {
    let mut collector = NameCollector { document, found: Vec::new() };
    walk_module(&mut collector, document.module());
    collector.found
}

/// Collects the names of a tree.
struct NameCollector<'a> {
    document: &'a Analysis,
    found: Vec<NameToken>,
}

impl NameCollector<'_> {
    fn push(&mut self, span: Span, kind: NameKind, modifiers: u32) {
        let text = self.document.text.source().slice(span);
        // A key in quotes is a string, and a part without text is not in the source.
        if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            self.found.push(NameToken { span, kind, modifiers });
        }
    }

    fn declared(&mut self, name: &Name, kind: NameKind) {
        self.push(name.span, kind, DECLARATION);
    }

    /// A use of a name.
    fn used(&mut self, id: NodeId, span: Span) {
        let (kind, modifiers) = match self.document.names.used(id) {
            Some(Target::Builtin(_)) => (NameKind::Function, BUILTIN),
            Some(Target::Binding(id)) => of_binding(self.document.names.binding(id)),
            None => return,
        };
        self.push(span, kind, modifiers);
    }

    /// The name that a pattern or an import binds.
    fn made(&mut self, id: NodeId, span: Span) {
        if let Some(id) = self.document.names.made(id) {
            let (kind, modifiers) = of_binding(self.document.names.binding(id));
            self.push(span, kind, modifiers | DECLARATION);
        }
    }

    fn function(&mut self, decl: &FnDecl) {
        decl.generics.iter().for_each(|name| self.declared(name, NameKind::TypeParameter));
    }

    fn dict_keys(&mut self, items: &[DictItem]) {
        for item in items {
            if let DictItem::Entry { key, value } = item
                && value.span != key.span
            {
                self.push(key.span, NameKind::Property, 0);
            }
        }
    }

    fn type_name(&mut self, name: &str, id: NodeId, span: Span) {
        match self.document.names.used(id) {
            Some(Target::Binding(id)) => {
                let (kind, modifiers) = of_binding(self.document.names.binding(id));
                self.push(span, kind, modifiers);
            }
            _ if builtin_type(name).is_some() => self.push(span, NameKind::Type, BUILTIN),
            _ => self.push(span, NameKind::TypeParameter, 0),
        }
    }
}

fn of_binding(binding: &Binding) -> (NameKind, u32) {
    match binding.kind {
        BindingKind::Type => (binding.def.as_ref().map_or(NameKind::Type, of_type), 0),
        BindingKind::Function | BindingKind::Pipeline => (NameKind::Function, 0),
        BindingKind::Parameter => (NameKind::Parameter, READONLY),
        BindingKind::Var => (NameKind::Variable, 0),
        BindingKind::Import if binding.builtin.is_some() => (NameKind::Function, BUILTIN),
        BindingKind::Import if binding.takes.is_some() => (NameKind::Function, 0),
        _ => (NameKind::Variable, READONLY),
    }
}

fn of_type(decl: &TypeDecl) -> NameKind {
    match decl {
        TypeDecl::Struct(_) => NameKind::Struct,
        TypeDecl::Enum(_) => NameKind::Enum,
        TypeDecl::Interface(_) => NameKind::Interface,
        TypeDecl::Alias(_) => NameKind::Type,
    }
}

impl<'a> Visit<'a> for NameCollector<'_> {
    fn item(&mut self, item: &'a Item) {
        for attribute in &item.attributes {
            self.push(attribute.name.span, NameKind::Decorator, 0);
        }
        match &item.kind {
            ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } | ItemKind::Override(decl) => {
                let kind = if decl.takes_self() { NameKind::Method } else { NameKind::Function };
                self.declared(&decl.name, kind);
                self.function(decl);
            }
            ItemKind::Pipeline { decl, extends } => {
                self.declared(&decl.name, NameKind::Function);
                extends.iter().for_each(|base| self.push(base.span, NameKind::Function, 0));
            }
            ItemKind::Test(_) => {}
            ItemKind::Struct { name, generics, fields } => {
                self.declared(name, NameKind::Struct);
                generics.iter().for_each(|name| self.declared(name, NameKind::TypeParameter));
                fields.iter().for_each(|field| self.declared(&field.name, NameKind::Property));
            }
            ItemKind::Impl { target, interface, .. } => {
                let names = std::iter::once(target).chain(interface);
                names.for_each(|name| self.type_name(&name.text, name.id, name.span));
            }
            ItemKind::Enum { name, generics, variants } => {
                self.declared(name, NameKind::Enum);
                generics.iter().for_each(|name| self.declared(name, NameKind::TypeParameter));
                variants.iter().for_each(|variant| self.declared(&variant.name, NameKind::EnumMember));
            }
            ItemKind::Interface { name, generics, methods } => {
                self.declared(name, NameKind::Interface);
                generics.iter().for_each(|name| self.declared(name, NameKind::TypeParameter));
                methods.iter().for_each(|method| self.declared(&method.name, NameKind::Method));
            }
            ItemKind::TypeAlias { name, generics, .. } => {
                self.declared(name, NameKind::Type);
                generics.iter().for_each(|name| self.declared(name, NameKind::TypeParameter));
            }
            ItemKind::Import { names, .. } => {
                for (name, alias) in names.iter().flatten() {
                    let local = alias.as_ref().unwrap_or(name);
                    self.made(local.id, local.span);
                    if alias.is_some()
                        && let Some(id) = self.document.names.made(local.id)
                    {
                        let (kind, modifiers) = of_binding(self.document.names.binding(id));
                        self.push(name.span, kind, modifiers);
                    }
                }
            }
        }
        walk_item(self, item);
    }

    fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Name(_) => {
                // The parentheses around a name are part of its span.
                let text = self.document.text.source().slice(e.span);
                let start = u32::try_from(text.len() - text.trim_start_matches(['(', ' ']).len()).unwrap_or(0);
                let end = u32::try_from(text.len() - text.trim_end_matches([')', ' ']).len()).unwrap_or(0);
                self.used(e.id, Span::new(e.span.start + start, e.span.end.saturating_sub(end)));
            }
            ExprKind::Field { object, name, .. } => {
                if let ExprKind::Name(module) = &object.kind
                    && self.document.names.used(object.id).is_none()
                    && stdlib::registry().module(module).next().is_some()
                {
                    self.push(object.span, NameKind::Namespace, BUILTIN);
                }
                let is_builtin = self.document.names.namespaced.contains_key(&name.id);
                let kind = if is_builtin { NameKind::Function } else { NameKind::Property };
                let is_variant =
                    self.document.names.owner_of(name.id).is_some_and(|owner| is_variant(&owner, &name.text));
                let kind = if is_variant { NameKind::EnumMember } else { kind };
                self.push(name.span, kind, if is_builtin { BUILTIN } else { 0 });
            }
            ExprKind::Call { callee, .. } => {
                if let ExprKind::Field { name, .. } = &callee.kind
                    && !self.document.names.namespaced.contains_key(&name.id)
                    && self.document.names.owner_of(name.id).is_none()
                {
                    // It is found before the field, which has the same span.
                    self.push(name.span, NameKind::Method, 0);
                }
            }
            ExprKind::Struct { name, items } => {
                self.type_name(&name.text, name.id, name.span);
                self.dict_keys(items);
            }
            ExprKind::Dict(items) => self.dict_keys(items),
            ExprKind::TryBlock(block) => {
                let name = block.catch.as_ref().and_then(|catch| catch.name.as_ref());
                name.iter().for_each(|name| self.made(name.id, name.span));
            }
            ExprKind::Select(arms) => {
                for arm in arms {
                    if let SelectArm::Receive { name, .. } = arm {
                        self.made(name.id, name.span);
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, e);
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        match &pattern.kind {
            PatternKind::Bind(_) => self.made(pattern.id, pattern.span),
            PatternKind::Dict { name, fields, rest } => {
                name.iter().for_each(|name| self.type_name(&name.text, name.id, name.span));
                for field in fields.iter().filter(|field| field.pattern.span != field.key.span) {
                    self.push(field.key.span, NameKind::Property, 0);
                }
                rest.iter().flatten().for_each(|name| self.made(name.id, name.span));
            }
            PatternKind::List { rest, .. } => rest.iter().flatten().for_each(|name| self.made(name.id, name.span)),
            PatternKind::Variant { enum_name, variant, .. } => {
                enum_name.iter().for_each(|name| self.type_name(&name.text, name.id, name.span));
                self.push(variant.span, NameKind::EnumMember, 0);
            }
            _ => {}
        }
        walk_pattern(self, pattern);
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        ty.each_name(&mut |name, at| self.type_name(name, at.id, at.span));
    }
}

fn is_variant(owner: &TypeDecl, name: &str) -> bool {
    matches!(owner, TypeDecl::Enum(decl) if decl.variants.iter().any(|variant| variant.name == name))
}
