//! A test that walks over every option and demands that `check` reports each wrong literal.

use crate::engine::{Engine, RunOptions};
use crate::table::registry;
use lang::ast::{PatternKind, TypeExpr, TypeKind};
use lang::check::signature;
use lang::diagnostic::Severity;
use lang::source::Source;
use std::collections::BTreeSet;

/// Literals of several kinds, by the names of the types that they belong to.
const LITERALS: [(&str, &[&str]); 5] = [
    ("7", &["int", "float", "count", "positive", "ms", "tokens", "share", "dollars"]),
    ("\"qqq\"", &["string"]),
    ("true", &["bool"]),
    ("[7]", &["list"]),
    ("{ a -> a }", &["fn"]),
];

/// Numbers that are outside of ranges, by the names of these.
const OUTSIDE: [(&str, &str); 6] =
    [("count", "-1"), ("positive", "0"), ("ms", "-1"), ("tokens", "-1"), ("share", "-0.5"), ("dollars", "-1")];

/// Keys whose values may be of any type as far as signatures know. Lints check the literals of `reminders`,
/// `reminder_propagation` and `evidence`.
const OPEN: [&str; 15] = [
    "evidence[]",
    "json",
    "message",
    "metadata",
    "now",
    "parts[]",
    "provenance",
    "reminder_propagation[]",
    "reminders",
    "target_persona_or_human",
    "task",
    "thinking",
    "tool_choice",
    "tools[][]",
    "valid_until",
];

/// A script with a wrong literal.
struct WrongLiteral {
    path: String,
    script: String,
    /// The text that the error must point at.
    wrong: String,
}

/// Collects the wrong literals of options.
#[derive(Default)]
struct Walk {
    cases: Vec<WrongLiteral>,
    /// Options of any type.
    open: BTreeSet<String>,
}

fn shape(name: &str) -> Option<TypeExpr> {
    let (_, text) = registry().shape(name)?;
    signature(&format!("shape() -> {text}"))?.returns
}

/// Returns the members of a union, with named types in place of their names.
fn members(ty: &TypeExpr) -> Vec<TypeExpr> {
    match &ty.kind {
        TypeKind::Union(members) => members.iter().flat_map(self::members).collect(),
        TypeKind::Optional(inner) => self::members(inner),
        TypeKind::Name { name, .. } => shape(name).map_or_else(|| vec![ty.clone()], |ty| self::members(&ty)),
        _ => vec![ty.clone()],
    }
}

/// Returns the name of the kind of a member.
fn kind(ty: &TypeExpr) -> &str {
    match &ty.kind {
        TypeKind::Name { name, .. } => name,
        TypeKind::Fn { .. } => "fn",
        TypeKind::Shape { .. } => "shape",
        TypeKind::Literal(_) => "word",
        _ => "any",
    }
}

impl Walk {
    /// Visits a value of this type; `around` makes a script of the value.
    fn value(&mut self, path: &str, ty: &TypeExpr, around: &dyn Fn(&str) -> String) {
        let members = members(ty);
        let kinds: Vec<&str> = members.iter().map(kind).collect();
        if kinds.contains(&"any") {
            self.open.insert(path.to_owned());
            return;
        }
        let mut wrong = |literal: &str| {
            let case = WrongLiteral { path: path.to_owned(), script: around(literal), wrong: literal.to_owned() };
            self.cases.push(case);
        };
        for (literal, names) in LITERALS {
            if !names.iter().any(|name| kinds.contains(name)) {
                wrong(literal);
            }
        }
        if !kinds.iter().any(|kind| matches!(*kind, "int" | "float")) {
            let ranges = OUTSIDE.iter().filter(|(name, _)| kinds.contains(name));
            ranges.for_each(|(_, number)| wrong(number));
        }
        // Of several shapes, an error is about the whole dict.
        let shapes = members.iter().filter(|member| matches!(member.kind, TypeKind::Shape { .. })).count();
        for member in &members {
            match &member.kind {
                TypeKind::Shape { .. } if shapes > 1 => {}
                TypeKind::Shape { fields, open } => {
                    if !open {
                        let script = around("{qqq_zzz: 1}");
                        self.cases.push(WrongLiteral { path: path.to_owned(), script, wrong: "qqq_zzz".to_owned() });
                    }
                    for (name, _, ty) in fields {
                        let inside = |literal: &str| around(&format!("{{{}: {literal}}}", name.text));
                        self.value(&format!("{path}.{}", name.text), ty, &inside);
                    }
                }
                TypeKind::Name { name, args } if name == "list" => {
                    if let Some(of) = args.first() {
                        self.value(&format!("{path}[]"), of, &|literal| around(&format!("[{literal}]")));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns a literal of a type that is accepted.
fn placeholder(ty: Option<&TypeExpr>) -> &'static str {
    match ty.map(members).unwrap_or_default().first().map(kind) {
        Some("dict" | "shape") => "{}",
        Some("fn") => "{ a -> a }",
        Some("list") => "[]",
        Some("int") => "1",
        _ => "\"x\"",
    }
}

fn walk() -> Walk {
    let mut walk = Walk::default();
    let mut seen = BTreeSet::new();
    for row in registry().all().filter(|row| !row.module.starts_with('<')) {
        let decl = signature(row.sig).unwrap();
        for (i, param) in decl.params.iter().enumerate() {
            let Some(ty) = param.ty.as_deref() else { continue };
            let TypeKind::Name { name, .. } = &ty.kind else { continue };
            if !super::SHAPES.iter().any(|(known, _)| known == name) || !seen.insert(name.clone()) {
                continue;
            }
            let PatternKind::Bind(_) = &param.pattern.kind else { continue };
            let before: Vec<&str> = decl.params[..i].iter().map(|param| placeholder(param.ty.as_deref())).collect();
            let around = |literal: &str| {
                let args = before.iter().copied().chain([literal]).collect::<Vec<_>>().join(", ");
                format!("let value = {}({args})\nprintln(value)\n", row.full_name())
            };
            walk.value(name, ty, &around);
        }
    }
    walk
}

#[test]
fn check_reports_every_wrong_literal_at_its_place() {
    let engine = Engine::new(RunOptions::default());
    let walk = walk();
    let mut missed = Vec::new();
    for case in &walk.cases {
        let found = engine.check(&Source::new("test.harn", case.script.clone()));
        let is_it = |label: &lang::diagnostic::Label| label.source.slice(label.span) == case.wrong;
        let errors = found.iter().filter(|d| d.severity == Severity::Error);
        if !errors.filter_map(|d| d.labels.first()).any(is_it) {
            missed.push(format!("{}: {}", case.path, case.script.lines().next().unwrap_or("")));
        }
    }
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), walk.cases.len());
    let open: BTreeSet<&str> = walk.open.iter().filter_map(|path| path.split_once('.')).map(|(_, key)| key).collect();
    assert_eq!(open, BTreeSet::from(OPEN), "options of any type");
}
