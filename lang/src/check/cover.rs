//! Coverage of values by the arms of a `match`: missing variants, and arms that can never be chosen.
//!
//! Patterns are columns of a matrix that is taken apart constructor by constructor (Maranget, "Warnings for pattern
//! matching"). A value may be of any type, so an arm is called unreachable only where earlier ones take everything that
//! it takes; and what is missing is asked for enums only, whose variants are known.

use crate::ast::{Expr, ExprKind, Pattern, PatternKind, StrPart, UnaryOp};
use crate::declaration::{EnumDecl, StructDecl, TypeDecl};
use crate::resolve::Resolution;
use std::rc::Rc;

/// A pattern, as far as it matters what it covers.
#[derive(Clone)]
pub(super) enum Pat {
    /// Everything.
    Any,
    /// Something that cannot be told; it covers nothing for certain.
    Some,
    /// A value of that make, with its parts.
    Made(Make, Vec<Self>),
    /// Any of these.
    Or(Vec<Self>),
}

/// Constructor of a value.
#[derive(Clone)]
pub(super) enum Make {
    Variant(Rc<EnumDecl>, usize),
    Struct(Rc<StructDecl>),
    Pair,
    Bool(bool),
    Nil,
    Int(i64),
    Float(f64),
    Text(String),
    /// Ints from the first to the last.
    Ints(i64, i64),
    /// A list of that length, or at least that long.
    List(usize, bool),
}

/// Rows that are looked at for one question, and for all questions about a file, before an answer is given up.
const STEPS: usize = 200_000;
pub(super) const STEPS_OF_FILE: usize = 5_000_000;

/// Reads a pattern.
pub(super) fn pat(pattern: &Pattern, names: &Resolution) -> Pat {
    let part = |p: &Pattern| pat(p, names);
    match &pattern.kind {
        PatternKind::Wildcard | PatternKind::Bind(_) => Pat::Any,
        PatternKind::Error | PatternKind::Dict { name: None, .. } => Pat::Some,
        PatternKind::Literal(e) => literal(e),
        PatternKind::Pair(a, b) => Pat::Made(Make::Pair, vec![part(a), part(b)]),
        PatternKind::Or(parts) => Pat::Or(parts.iter().map(part).collect()),
        PatternKind::List { items, rest } => {
            let parts = items.iter().map(|(p, default)| with_default(part(p), default.is_some())).collect();
            Pat::Made(Make::List(items.len(), rest.is_some()), parts)
        }
        PatternKind::Variant { enum_name, variant, args } => {
            let def = match enum_name.as_ref().map(|n| (names.named_type(n.id).map(TypeDecl::resolved), n)) {
                None => EnumDecl::result(),
                Some((Some(TypeDecl::Enum(def)), _)) => def,
                Some((None, name)) if name.text == "Result" => EnumDecl::result(),
                Some(_) => return Pat::Some,
            };
            match def.position(&variant.text) {
                Some(at) if def.variants[at].arity == args.len() => {
                    Pat::Made(Make::Variant(def, at), args.iter().map(part).collect())
                }
                // The number of values is reported; which variant is meant is known.
                Some(at) => {
                    let parts = vec![Pat::Any; def.variants[at].arity];
                    Pat::Made(Make::Variant(def, at), parts)
                }
                None => Pat::Some,
            }
        }
        PatternKind::Dict { name: Some(name), fields, .. } => {
            let Some(TypeDecl::Struct(def)) = names.named_type(name.id).map(TypeDecl::resolved) else {
                return Pat::Some;
            };
            let mut parts = vec![Pat::Any; def.fields.len()];
            for field in fields {
                let Some(at) = def.position(&field.key.text) else { return Pat::Some };
                parts[at] = with_default(part(&field.pattern), field.default.is_some());
            }
            Pat::Made(Make::Struct(def), parts)
        }
    }
}

/// A default makes another value of nil: what then fits cannot be told.
fn with_default(pat: Pat, default: bool) -> Pat {
    if default && !matches!(pat, Pat::Any) { Pat::Some } else { pat }
}

fn literal(e: &Expr) -> Pat {
    let make = match &e.kind {
        ExprKind::Nil => Make::Nil,
        ExprKind::Bool(b) => Make::Bool(*b),
        ExprKind::Float(f) => Make::Float(*f),
        ExprKind::Str(parts) => match parts.as_slice() {
            [] => Make::Text(String::new()),
            [StrPart::Text(text)] => Make::Text(text.clone()),
            _ => return Pat::Some,
        },
        ExprKind::Unary(UnaryOp::Neg, inner) => match inner.kind {
            ExprKind::Float(f) => Make::Float(-f),
            _ => match int(e) {
                Some(i) => Make::Int(i),
                None => return Pat::Some,
            },
        },
        ExprKind::Int(i) => Make::Int(*i),
        ExprKind::Range { from, to, exclusive } => match (int(from), int(to)) {
            (Some(from), Some(to)) if *exclusive => match to.checked_sub(1) {
                Some(last) => Make::Ints(from, last),
                None => return Pat::Some,
            },
            (Some(from), Some(to)) => Make::Ints(from, to),
            _ => return Pat::Some,
        },
        _ => return Pat::Some,
    };
    Pat::Made(make, Vec::new())
}

fn int(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Int(i) => Some(*i),
        ExprKind::Unary(UnaryOp::Neg, inner) if matches!(inner.kind, ExprKind::Int(i64::MIN)) => Some(i64::MIN),
        ExprKind::Unary(UnaryOp::Neg, inner) => int(inner).and_then(i64::checked_neg),
        _ => None,
    }
}

impl Make {
    fn parts(&self) -> usize {
        match self {
            Self::Variant(def, at) => def.variants[*at].arity,
            Self::Struct(def) => def.fields.len(),
            Self::Pair => 2,
            Self::List(len, _) => *len,
            _ => 0,
        }
    }

    /// Whether everything that is made like `other` is made like this as well. For lists with a rest, the parts beyond
    /// this one's are free.
    fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Variant(a, i), Self::Variant(b, j)) => Rc::ptr_eq(a, b) && i == j,
            (Self::Struct(a), Self::Struct(b)) => Rc::ptr_eq(a, b),
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Ints(from, to), Self::Int(i)) => from <= i && i <= to,
            (Self::Ints(from, to), Self::Ints(a, b)) => (from <= a && b <= to) || a > b,
            (Self::List(a, more), Self::List(b, others)) => {
                if *more {
                    a <= b
                } else {
                    a == b && !others
                }
            }
            (Self::Pair, Self::Pair) | (Self::Nil, Self::Nil) => true,
            _ => false,
        }
    }
}

/// A row of the matrix: what an arm asks of each column.
type Row = Vec<Pat>;

/// Whether some value fits `arm` and none of `rows`. `None` where that takes too long to tell.
pub(super) fn useful(rows: &[Row], arm: &[Pat], left: &mut usize) -> Option<bool> {
    search(left, |search| search.useful(rows, arm))
}

/// Asks one question, of which the steps are subtracted from those of the file.
fn search<R>(left: &mut usize, ask: impl FnOnce(&mut Search) -> Option<R>) -> Option<R> {
    let steps = STEPS.min(*left);
    let mut search = Search { left: steps };
    let answer = ask(&mut search);
    *left -= steps - search.left;
    answer
}

/// Values of the enums in the first column that no row covers, as patterns; at most `most`.
pub(super) fn missing(rows: &[Row], most: usize, left: &mut usize) -> Option<Vec<String>> {
    // Each variant is one question.
    let mut found = Vec::new();
    for def in enums(rows) {
        for at in 0..def.variants.len() {
            let make = Make::Variant(def.clone(), at);
            let parts = search(left, |search| {
                search.step(rows.len())?;
                search.uncovered(&inside(rows, &make), make.parts(), most)
            });
            for parts in parts? {
                found.push(shown(&make, &parts));
                if found.len() > most {
                    return Some(found);
                }
            }
        }
    }
    Some(found)
}

/// The enums whose variants stand in the first column.
fn enums(rows: &[Row]) -> Vec<Rc<EnumDecl>> {
    let mut found: Vec<Rc<EnumDecl>> = Vec::new();
    heads(rows, &mut |make| {
        if let Make::Variant(def, _) = make
            && !found.iter().any(|d| Rc::ptr_eq(d, def))
        {
            found.push(def.clone());
        }
    });
    found
}

fn heads<'r>(rows: &'r [Row], visit: &mut dyn FnMut(&'r Make)) {
    fn one<'r>(pat: &'r Pat, visit: &mut dyn FnMut(&'r Make)) {
        match pat {
            Pat::Made(make, _) => visit(make),
            Pat::Or(parts) => parts.iter().for_each(|p| one(p, visit)),
            Pat::Any | Pat::Some => {}
        }
    }
    rows.iter().filter_map(|r| r.first()).for_each(|p| one(p, visit));
}

/// Returns the rows for the parts of a value with that constructor, followed by the remaining columns.
fn inside(rows: &[Row], make: &Make) -> Vec<Row> {
    let mut found = Vec::new();
    for row in rows {
        let Some((head, rest)) = row.split_first() else { continue };
        add_inside(head, rest, make, &mut found);
    }
    found
}

fn add_inside(head: &Pat, rest: &[Pat], make: &Make, found: &mut Vec<Row>) {
    let count = make.parts();
    match head {
        Pat::Any => found.push(std::iter::repeat_n(Pat::Any, count).chain(rest.iter().cloned()).collect()),
        Pat::Made(own, parts) if own.holds(make) => {
            let free = count.saturating_sub(parts.len());
            let parts = parts.iter().cloned().chain(std::iter::repeat_n(Pat::Any, free));
            found.push(parts.chain(rest.iter().cloned()).collect());
        }
        Pat::Or(parts) => parts.iter().for_each(|p| add_inside(p, rest, make, found)),
        Pat::Made(..) | Pat::Some => {}
    }
}

/// The rows that take anything in the first column, without it.
fn behind(rows: &[Row]) -> Vec<Row> {
    fn any(pat: &Pat) -> bool {
        match pat {
            Pat::Any => true,
            Pat::Or(parts) => parts.iter().any(any),
            Pat::Made(..) | Pat::Some => false,
        }
    }
    rows.iter().filter(|r| r.first().is_some_and(any)).map(|r| r[1..].to_vec()).collect()
}

struct Search {
    left: usize,
}

impl Search {
    fn step(&mut self, rows: usize) -> Option<()> {
        let enough = self.left.checked_sub(rows + 1);
        self.left = enough.unwrap_or(0);
        enough.map(|_| ())
    }

    fn useful(&mut self, rows: &[Row], arm: &[Pat]) -> Option<bool> {
        self.step(rows.len())?;
        let Some((head, rest)) = arm.split_first() else { return Some(rows.is_empty()) };
        match head {
            Pat::Any | Pat::Some => self.useful(&behind(rows), rest),
            Pat::Made(make, parts) => {
                let arm: Row = parts.iter().chain(rest).cloned().collect();
                self.useful(&inside(rows, make), &arm)
            }
            Pat::Or(parts) => {
                for part in parts {
                    let arm: Row = std::iter::once(part).chain(rest).cloned().collect();
                    if self.useful(rows, &arm)? {
                        return Some(true);
                    }
                }
                Some(false)
            }
        }
    }

    /// Rows of `width` patterns that `rows` do not cover; at most `most`.
    fn uncovered(&mut self, rows: &[Row], width: usize, most: usize) -> Option<Vec<Vec<String>>> {
        self.step(rows.len())?;
        if width == 0 {
            return Some(if rows.is_empty() { vec![Vec::new()] } else { Vec::new() });
        }
        let mut found = Vec::new();
        for make in makes(rows) {
            let parts = make.parts();
            for row in self.uncovered(&inside(rows, &make), parts + width - 1, most)? {
                let (own, rest) = row.split_at(parts);
                found.push(std::iter::once(shown(&make, own)).chain(rest.iter().cloned()).collect());
                if found.len() > most {
                    return Some(found);
                }
            }
        }
        if !closed(rows) {
            for row in self.uncovered(&behind(rows), width - 1, most)? {
                found.push(std::iter::once("_".to_owned()).chain(row).collect());
            }
        }
        Some(found)
    }
}

/// The makes that a value in the first column may have, where all of them are known.
fn makes(rows: &[Row]) -> Vec<Make> {
    let mut found = Vec::new();
    for def in enums(rows) {
        found.extend((0..def.variants.len()).map(|at| Make::Variant(def.clone(), at)));
    }
    let (mut pair, mut bools, mut longest) = (false, false, None);
    let mut structs: Vec<Rc<StructDecl>> = Vec::new();
    heads(rows, &mut |make| match make {
        Make::Pair => pair = true,
        Make::Bool(_) => bools = true,
        Make::Struct(def) if !structs.iter().any(|d| Rc::ptr_eq(d, def)) => structs.push(def.clone()),
        Make::List(len, _) => longest = longest.max(Some(*len)),
        _ => {}
    });
    found.extend(structs.into_iter().map(Make::Struct));
    if pair {
        found.push(Make::Pair);
    }
    if bools {
        found.extend([Make::Bool(true), Make::Bool(false)]);
    }
    if let Some(longest) = longest {
        found.extend((0..=longest).map(|len| Make::List(len, false)));
        found.push(Make::List(longest + 1, true));
    }
    found
}

/// Whether [`makes`] are all that there is in the first column.
fn closed(rows: &[Row]) -> bool {
    !makes(rows).is_empty()
}

fn shown(make: &Make, parts: &[String]) -> String {
    match make {
        Make::Variant(def, at) => {
            let variant = &def.variants[*at].name;
            // `Ok` and `Err` stand alone.
            let name = if def.site.is_none() { variant.to_string() } else { format!("{}.{variant}", def.name) };
            if parts.is_empty() { name } else { format!("{name}({})", parts.join(", ")) }
        }
        Make::Struct(def) => {
            let fields: Vec<String> = def
                .names()
                .zip(parts)
                .filter(|(_, part)| *part != "_")
                .map(|(name, part)| format!("{name}: {part}"))
                .collect();
            format!("{} {{{}}}", def.name, fields.join(", "))
        }
        Make::Pair => format!("({})", parts.join(", ")),
        Make::Bool(b) => b.to_string(),
        Make::List(_, false) => format!("[{}]", parts.join(", ")),
        Make::List(_, true) => format!("[{}, ...]", parts.join(", ")),
        _ => "_".to_owned(),
    }
}
