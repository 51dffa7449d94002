//! Nodes of the language's tree and of tree-sitter's with their ranges, as far as both have them.

use lang::ast::visit::{Visit, walk_block, walk_expr, walk_item, walk_module, walk_pattern, walk_stmt};
use lang::ast::{
    Attribute, Block, ClosureForm, Expr, ExprKind, Item, ItemKind, Pattern, PatternKind, Stmt, StmtKind, TypeExpr,
    TypeKind,
};
use lang::lex::token::Token;
use lang::parse::Parsed;
use lang::source::Span;
use serde_json::Value;
use std::collections::BTreeSet;

/// The kind of a node, and its range.
pub(crate) type Range = (&'static str, usize, usize);

/// The nodes of the language's parser.
pub(crate) fn of_parser(parsed: &Parsed, tokens: &[(Token<'_>, Span)]) -> BTreeSet<Range> {
    let mut collector = Collector { found: BTreeSet::new(), tokens };
    walk_module(&mut collector, &parsed.module);
    parsed.comments.iter().for_each(|comment| collector.push("comment", *comment));
    collector.found
}

struct Collector<'t> {
    found: BTreeSet<Range>,
    tokens: &'t [(Token<'t>, Span)],
}

impl Collector<'_> {
    fn push(&mut self, kind: &'static str, span: Span) {
        self.found.insert((kind, span.start as usize, span.end as usize));
    }

    /// The span of a declaration without the documentation before it.
    fn without_documentation(&self, span: Span) -> Span {
        let first = self.tokens.partition_point(|(_, token)| token.start < span.start);
        let start = self.tokens[first..].iter().find(|(token, _)| !matches!(token, Token::Doc(_) | Token::Newline));
        Span::new(start.map_or(span.start, |(_, token)| token.start), span.end)
    }
}

impl<'a> Visit<'a> for Collector<'_> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        let kind = match &stmt.kind {
            StmtKind::Let { .. } => "let_statement",
            StmtKind::Assign { .. } => "assignment",
            StmtKind::Expr(_) => "expression_statement",
            StmtKind::While { .. } => "while_statement",
            StmtKind::For { .. } => "for_statement",
            StmtKind::Guard { .. } => "guard_statement",
            StmtKind::Require { .. } => "require_statement",
            StmtKind::Defer(_) => "defer_statement",
            StmtKind::Item(_) | StmtKind::Error => return walk_stmt(self, stmt),
        };
        self.push(kind, stmt.span);
        walk_stmt(self, stmt);
    }

    fn item(&mut self, item: &'a Item) {
        let kind = match &item.kind {
            ItemKind::Fn(_) | ItemKind::Override(_) => "function_declaration",
            ItemKind::Pipeline { .. } => "pipeline_declaration",
            ItemKind::Tool { .. } => "tool_declaration",
            ItemKind::Test(_) => "test_declaration",
            ItemKind::Struct { .. } => "struct_declaration",
            ItemKind::Impl { .. } => "impl_declaration",
            ItemKind::Enum { .. } => "enum_declaration",
            ItemKind::Interface { .. } => "interface_declaration",
            ItemKind::TypeAlias { .. } => "type_declaration",
            ItemKind::Import { .. } => "import_declaration",
        };
        self.push(kind, self.without_documentation(item.span));
        item.attributes.iter().for_each(|attribute| self.push("attribute", attribute.span));
        let of_members: Vec<&Attribute> = match &item.kind {
            ItemKind::Struct { fields, .. } => fields.iter().flat_map(|field| &field.attributes).collect(),
            ItemKind::Enum { variants, .. } => variants.iter().flat_map(|variant| &variant.attributes).collect(),
            _ => Vec::new(),
        };
        for attribute in of_members {
            self.push("attribute", attribute.span);
            attribute.args.iter().for_each(|arg| self.expr(&arg.value));
        }
        walk_item(self, item);
    }

    fn block(&mut self, block: &'a Block) {
        // A method of an interface may have none.
        if block.span.start < block.span.end {
            self.push("braces", block.span);
        }
        walk_block(self, block);
    }

    fn expr(&mut self, e: &'a Expr) {
        if e.parens > 0 {
            self.push("parenthesized_expression", e.span);
        } else if let Some(kind) = kind_of(&e.kind) {
            self.push(kind, e.span);
        }
        walk_expr(self, e);
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        let kind = match &pattern.kind {
            PatternKind::Wildcard => "wildcard",
            PatternKind::Bind(_) => "binding",
            PatternKind::Dict { fields, .. } => {
                self.push("dict_pattern", pattern.span);
                for field in fields {
                    field.default.iter().for_each(|default| self.expr(default));
                    // In `{a}` the key is the pattern.
                    if field.pattern.span != field.key.span {
                        self.pattern(&field.pattern);
                    }
                }
                return;
            }
            PatternKind::List { .. } => "list_pattern",
            PatternKind::Pair(..) => "pair_pattern",
            PatternKind::Variant { .. } => "variant_pattern",
            PatternKind::Or(_) => "or_pattern",
            PatternKind::Literal(value) => {
                self.push("constant_pattern", pattern.span);
                // Its range is that pattern.
                match &value.kind {
                    ExprKind::Range { from, to, .. } => [from, to].into_iter().for_each(|e| self.expr(e)),
                    // The smallest int; its sign is part of it.
                    ExprKind::Int(i64::MIN) => {
                        self.push("unary_expression", value.span);
                        self.push("number", Span::new(value.span.start + 1, value.span.end));
                    }
                    _ => self.expr(value),
                }
                return;
            }
            PatternKind::Error => return,
        };
        self.push(kind, pattern.span);
        walk_pattern(self, pattern);
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        let kind = match &ty.kind {
            TypeKind::Name { args, .. } => {
                args.iter().for_each(|ty| self.ty(ty));
                "named_type_reference"
            }
            TypeKind::Fn { params, returns } => {
                params.iter().for_each(|ty| self.ty(ty));
                self.ty(returns);
                "function_type"
            }
            TypeKind::Shape { fields, .. } => {
                fields.iter().for_each(|(_, _, ty)| self.ty(ty));
                "shape_type"
            }
            TypeKind::Literal(_) => "literal_type",
            TypeKind::Union(types) => {
                types.iter().for_each(|ty| self.ty(ty));
                "union_type"
            }
            TypeKind::Optional(inner) => {
                self.ty(inner);
                "optional_type"
            }
            TypeKind::Error => return,
        };
        self.push(kind, ty.span);
    }
}

/// The kind of an expression that both trees have.
fn kind_of(kind: &ExprKind) -> Option<&'static str> {
    Some(match kind {
        ExprKind::Nil => "nil",
        ExprKind::Bool(_) => "boolean",
        ExprKind::Int(_) | ExprKind::Float(_) => "number",
        ExprKind::Str(_) => "string",
        ExprKind::Placeholder => "placeholder",
        ExprKind::List(_) => "list",
        ExprKind::Dict(_) => "dict",
        ExprKind::Struct { .. } => "struct_literal",
        ExprKind::Pair(..) => "pair",
        ExprKind::Unary(..) | ExprKind::TryStar(_) => "unary_expression",
        ExprKind::Binary(..) | ExprKind::Logic(..) => "binary_expression",
        ExprKind::Pipe(..) => "pipe_expression",
        ExprKind::Range { .. } => "range_expression",
        ExprKind::Ternary(..) => "ternary_expression",
        ExprKind::Field { .. } => "field_expression",
        ExprKind::Index { .. } => "index_expression",
        ExprKind::Slice { .. } => "slice_expression",
        ExprKind::Call { .. } => "call_expression",
        ExprKind::Try(_) => "propagate_expression",
        ExprKind::TryBlock(_) => "try_expression",
        ExprKind::If { .. } => "if_expression",
        ExprKind::Match { .. } => "match_expression",
        ExprKind::Return(_) => "return_expression",
        ExprKind::Throw(_) => "throw_expression",
        ExprKind::Break => "break",
        ExprKind::Continue => "continue",
        ExprKind::Yield(_) => "yield_expression",
        ExprKind::Emit(_) => "emit_expression",
        ExprKind::Retry { .. } => "retry_expression",
        ExprKind::Parallel { .. } => "parallel_expression",
        ExprKind::Spawn(_) => "spawn_expression",
        ExprKind::Deadline { .. } => "deadline_expression",
        ExprKind::Mutex(_) => "mutex_expression",
        ExprKind::Select(_) => "select_expression",
        ExprKind::Closure(closure) if closure.form == ClosureForm::Function => "function_expression",
        // Names are part of many nodes of tree-sitter; blocks and closures are compared as braces.
        ExprKind::Name(_)
        | ExprKind::Type(_)
        | ExprKind::Closure(_)
        | ExprKind::Block(_)
        | ExprKind::Error
        | ExprKind::TooDeep => return None,
    })
}

/// Kinds of tree-sitter's nodes that are compared under the same name.
const SAME: &[&str] = &[
    "let_statement",
    "assignment",
    "expression_statement",
    "while_statement",
    "for_statement",
    "guard_statement",
    "require_statement",
    "defer_statement",
    "function_declaration",
    "pipeline_declaration",
    "tool_declaration",
    "test_declaration",
    "struct_declaration",
    "impl_declaration",
    "enum_declaration",
    "interface_declaration",
    "type_declaration",
    "import_declaration",
    "attribute",
    "parenthesized_expression",
    "wildcard",
    "binding",
    "dict_pattern",
    "list_pattern",
    "pair_pattern",
    "variant_pattern",
    "or_pattern",
    "constant_pattern",
    "named_type_reference",
    "function_type",
    "shape_type",
    "literal_type",
    "union_type",
    "optional_type",
    "nil",
    "boolean",
    "string",
    "placeholder",
    "list",
    "dict",
    "struct_literal",
    "pair",
    "unary_expression",
    "binary_expression",
    "pipe_expression",
    "range_expression",
    "ternary_expression",
    "field_expression",
    "index_expression",
    "slice_expression",
    "call_expression",
    "propagate_expression",
    "try_expression",
    "if_expression",
    "match_expression",
    "return_expression",
    "throw_expression",
    "break",
    "continue",
    "yield_expression",
    "emit_expression",
    "retry_expression",
    "parallel_expression",
    "spawn_expression",
    "deadline_expression",
    "function_expression",
    "mutex_expression",
    "select_expression",
    "comment",
];

/// The nodes of tree-sitter.
pub(crate) fn of_tree_sitter(nodes: &Value) -> BTreeSet<Range> {
    nodes.as_array().unwrap().iter().filter_map(range).collect()
}

fn range(node: &Value) -> Option<Range> {
    let (kind, field, parent) = (node[0].as_str()?, node[1].as_str().unwrap_or(""), node[2].as_str()?);
    let kind = match kind {
        "block" | "block_expression" | "closure" => "braces",
        "integer" | "float" | "duration" => "number",
        "raw_string" => "string",
        "doc_comment" | "block_comment" | "shebang" => "comment",
        "struct_pattern" => "dict_pattern",
        "negative_number" => "unary_expression",
        _ => SAME.iter().find(|same| **same == kind)?,
    };
    let skipped = match kind {
        "braces" | "comment" => false,
        // The language's tree has the outer range of both.
        _ if parent == "parenthesized_expression" => true,
        // Names and keys there.
        "string" => {
            matches!((parent, field), ("entry", "key") | ("field_pattern" | "shape_field", "name"))
                || matches!(parent, "import_declaration" | "test_declaration" | "literal_type")
        }
        "wildcard" => matches!(parent, "rest_pattern" | "catch_clause" | "select_arm"),
        // Alternatives are nested here and a list there.
        "or_pattern" | "union_type" => parent == kind,
        _ => false,
    };
    let at = |i: usize| usize::try_from(node[i].as_u64().unwrap()).unwrap();
    (!skipped).then(|| (kind, at(3), at(4)))
}

/// Describes the nodes that only one of the two has.
pub(crate) fn differences(name: &str, text: &str, ours: &BTreeSet<Range>, theirs: &BTreeSet<Range>) -> Vec<String> {
    let shown = |who: &str, (kind, start, end): &Range| {
        let line = text[..*start].matches('\n').count() + 1;
        let part: String = text[*start..*end].chars().take(60).collect();
        format!("{name}:{line}: only {who} has {kind} {start}..{end} {part:?}")
    };
    let only_ours = ours.difference(theirs).map(|range| shown("the parser", range));
    let only_theirs = theirs.difference(ours).map(|range| shown("tree-sitter", range));
    only_ours.chain(only_theirs).collect()
}
