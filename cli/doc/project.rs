//! Sections of scripts: one for each file, with its declarations and their doc comments.

use super::{DocEntry, DocSection};
use crate::script::Script;
use lang::ast::{Expr, Item, ItemKind, Module, Stmt, StmtKind};
use lang::query::declaration;
use lang::source::{SourceRef, Span};
use std::path::PathBuf;
use stdlib::{Diagnostic, Severity};

/// Returns the sections of scripts; those without declarations have none.
///
/// # Errors
/// Returns the diagnostics of paths that cannot be read and of scripts with syntax errors.
pub(super) fn sections(paths: &[PathBuf]) -> Result<Vec<DocSection>, Vec<Diagnostic>> {
    let (mut sections, mut failed) = (Vec::new(), Vec::new());
    for path in paths {
        match Script::of_path(path, false, &["harn"]) {
            Ok(scripts) => {
                for script in scripts.iter().filter(|script| !is_test(script)) {
                    match section(script) {
                        Ok(section) => sections.extend(section),
                        Err(found) => failed.extend(found),
                    }
                }
            }
            Err(diagnostic) => failed.push(diagnostic),
        }
    }
    if failed.is_empty() { Ok(sections) } else { Err(failed) }
}

/// Returns whether a file of a folder contains tests only.
fn is_test(script: &Script) -> bool {
    script.path().file_name().is_some_and(|name| name.to_string_lossy().ends_with("_test.harn"))
}

fn section(script: &Script) -> Result<Option<DocSection>, Vec<Diagnostic>> {
    let source = script.read().map_err(|diagnostic| vec![diagnostic])?;
    let parsed = lang::parse::parse(&source);
    if !parsed.is_ok() {
        return Err(parsed.diagnostics.into_iter().filter(|found| found.severity == Severity::Error).collect());
    }
    let entries = entries(&source, &parsed.module, &parsed.comments);
    if entries.is_empty() {
        return Ok(None);
    }
    let title = source.name().strip_prefix("./").unwrap_or(source.name()).to_owned();
    Ok(Some(DocSection { title, intro: intro(&source, &parsed.comments), entries }))
}

/// Returns the `//` comment at the top of a file, without its marks.
fn intro(source: &SourceRef, comments: &[Span]) -> String {
    let text = source.text();
    let (mut lines, mut end) = (Vec::new(), 0usize);
    for span in comments {
        let (between, comment) = (&text[end..span.start as usize], source.slice(*span));
        if end == 0 && comment.starts_with("#!") {
            end = span.end as usize;
            continue;
        }
        let adjoins = between.trim().is_empty() && (lines.is_empty() || between.matches('\n').count() < 2);
        let Some(line) = comment.strip_prefix("//").filter(|line| adjoins && !line.starts_with('/')) else { break };
        lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end());
        end = span.end as usize;
    }
    lines.join("\n").trim().to_owned()
}

/// Returns what a file offers: its `pub` declarations, or all if none is `pub`; pipelines and tools in any case. If none is `pub`,
/// only variables with a doc comment are documented.
fn entries(source: &SourceRef, module: &Module, comments: &[Span]) -> Vec<DocEntry> {
    let is_public = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Item(item) => item.public,
        StmtKind::Let { public, .. } => *public,
        _ => false,
    };
    let has_public = module.body.iter().any(is_public);
    let mut entries = Vec::new();
    for stmt in &module.body {
        match &stmt.kind {
            StmtKind::Item(item) => {
                let runs = matches!(item.kind, ItemKind::Pipeline { .. } | ItemKind::Tool { .. });
                // Methods are offered with their type.
                if item.public || !has_public || runs || matches!(item.kind, ItemKind::Impl { .. }) {
                    declared(source, item, &mut entries);
                }
            }
            StmtKind::Let { pattern, value, public, .. } if *public || !has_public => {
                let (signature, doc) = bound(source, stmt.span, value.as_ref(), comments);
                if *public || doc.is_some() {
                    let doc = doc.map(|doc| doc.trim().to_owned()).unwrap_or_default();
                    pattern.names(&mut |name, _| {
                        entries.push(DocEntry {
                            name: name.to_string(),
                            signature: signature.clone(),
                            doc: doc.clone(),
                        });
                    });
                }
            }
            _ => {}
        }
    }
    entries
}

/// Returns how a variable is declared, with a value that is short, and its doc comment.
fn bound(source: &SourceRef, stmt: Span, value: Option<&Expr>, comments: &[Span]) -> (String, Option<String>) {
    const LONGEST: usize = 60;
    let text = source.text();
    let line = text[..stmt.range().start].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[line..stmt.range().start];
    let start = if before.trim() == "pub" { stmt.start - offset(before.trim_start()) } else { stmt.start };
    let whole = source.slice(Span { start, ..stmt }).trim();
    let shown = value.map(|value| source.slice(value.span));
    let signature = match (shown, value) {
        (Some(shown), Some(value)) if shown.len() > LONGEST || shown.contains('\n') => {
            let head = source.slice(Span { start, end: value.span.start });
            head.trim_end().trim_end_matches('=').trim_end().to_owned()
        }
        _ => whole.to_owned(),
    };
    (signature, declaration::doc_before(source, comments, start))
}

fn offset(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn declared(source: &SourceRef, item: &Item, entries: &mut Vec<DocEntry>) {
    let mut add = |name: &str, signature: String, doc: Option<&String>| {
        let doc = doc.map(|doc| doc.trim().to_owned()).unwrap_or_default();
        entries.push(DocEntry { name: name.to_owned(), signature, doc });
    };
    let doc = item.doc.as_ref();
    match &item.kind {
        ItemKind::Fn(decl) | ItemKind::Pipeline { decl, .. } | ItemKind::Tool { decl, .. } => {
            add(&decl.name.text, declaration::head(source, item, decl), doc);
        }
        ItemKind::Struct { name, .. }
        | ItemKind::Enum { name, .. }
        | ItemKind::Interface { name, .. }
        | ItemKind::TypeAlias { name, .. } => add(&name.text, whole(source, item), doc),
        ItemKind::Impl { target, methods, .. } => {
            for method in methods {
                if let ItemKind::Fn(decl) = &method.kind {
                    let name = format!("{}.{}", target.text, decl.name.text);
                    add(&name, declaration::head(source, method, decl), method.doc.as_ref());
                }
            }
        }
        _ => {}
    }
}

fn whole(source: &SourceRef, item: &Item) -> String {
    source.slice(Span { start: declaration::start(source, item), ..item.span }).trim().to_owned()
}
