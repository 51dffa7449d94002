//! Prints a tree as an S-expression: every node of it, nothing of its spans.

use lang::ast::*;
use std::fmt::Write as _;

pub(crate) fn module(module: &Module) -> String {
    module.body.iter().map(stmt).collect::<Vec<_>>().join("\n")
}

fn list<T>(items: &[T], one: impl Fn(&T) -> String) -> String {
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn opt<T>(item: Option<&T>, one: impl Fn(&T) -> String) -> String {
    item.map_or_else(|| "-".to_owned(), one)
}

fn block(block: &Block) -> String {
    format!("{{{}}}", list(&block.stmts, stmt))
}

fn stmt(s: &Stmt) -> String {
    match &s.kind {
        StmtKind::Let { kind, pattern: p, ty: t, value, public } => {
            let public = if *public { "pub-" } else { "" };
            let kind = format!("{kind:?}").to_lowercase();
            let ty = t.as_ref().map_or(String::new(), |t| format!(" :{}", ty(t)));
            format!("({public}{kind} {}{ty} {})", pattern(p), opt(value.as_ref(), expr))
        }
        StmtKind::Assign { target, op, value } => {
            format!("({}= {} {})", op.map_or("", BinaryOp::symbol), expr(target), expr(value))
        }
        StmtKind::Expr(e) => expr(e),
        StmtKind::While { cond, body } => format!("(while {} {})", expr(cond), block(body)),
        StmtKind::For { pattern: p, iter, body } => format!("(for {} {} {})", pattern(p), expr(iter), block(body)),
        StmtKind::Guard { cond, otherwise } => format!("(guard {} {})", expr(cond), block(otherwise)),
        StmtKind::Require { cond, message } => format!("(require {} {})", expr(cond), opt(message.as_ref(), expr)),
        StmtKind::Defer(b) => format!("(defer {})", block(b)),
        StmtKind::Item(i) => item(i),
        StmtKind::Error => "ERROR".to_owned(),
    }
}

fn names(names: &[Name]) -> String {
    if names.is_empty() { String::new() } else { format!("<{}>", list(names, |n| n.text.to_string())) }
}

fn param(p: &Param) -> String {
    let mut out = if p.rest { "...".to_owned() } else { String::new() };
    out += &pattern(&p.pattern);
    if let Some(t) = &p.ty {
        let _ = write!(out, ":{}", ty(t));
    }
    if let Some(d) = &p.default {
        let _ = write!(out, "={}", expr(d));
    }
    out
}

fn decl(d: &FnDecl) -> String {
    let generator = if d.generator { "gen " } else { "" };
    let returns = d.returns.as_ref().map_or(String::new(), |t| format!(" ->{}", ty(t)));
    format!("{generator}{}{} ({}){returns} {}", d.name.text, names(&d.generics), list(&d.params, param), block(&d.body))
}

fn attribute_arg(arg: &AttributeArg) -> String {
    let name = arg.name.as_ref().map_or(String::new(), |name| format!("{}:", name.text));
    format!("{name}{}", expr(&arg.value))
}

fn item(i: &Item) -> String {
    let mut out = String::from("(");
    if let Some(doc) = &i.doc {
        let _ = write!(out, "doc:{doc:?} ");
    }
    for a in &i.attributes {
        let _ = write!(out, "@{}({}) ", a.name.text, list(&a.args, attribute_arg));
    }
    if i.public {
        out += "pub ";
    }
    out += &match &i.kind {
        ItemKind::Test(d) => format!("test {:?} {}", d.name.text, block(&d.body)),
        ItemKind::Fn(d) => format!("fn {}", decl(d)),
        ItemKind::Override(d) => format!("override {}", decl(d)),
        ItemKind::Pipeline { decl: d, extends } => {
            let base = extends.as_ref().map_or(String::new(), |n| format!(" extends:{}", n.text));
            format!("pipeline{base} {}", decl(d))
        }
        ItemKind::Tool { decl: d, description } => format!("tool {} {}", opt(description.as_ref(), expr), decl(d)),
        ItemKind::Struct { name, generics, fields } => {
            let field = |f: &Field| {
                let ty = f.ty.as_ref().map_or(String::new(), |t| format!(":{}", ty(t)));
                let default = f.default.as_ref().map_or(String::new(), |d| format!("={}", expr(d)));
                format!("{}{ty}{default}", f.name.text)
            };
            format!("struct {}{} {}", name.text, names(generics), list(fields, field))
        }
        ItemKind::Impl { target, interface, methods } => {
            let interface = interface.as_ref().map_or(String::new(), |n| format!("{} for ", n.text));
            format!("impl {interface}{} {}", target.text, list(methods, item))
        }
        ItemKind::Enum { name, generics, variants } => {
            let variant = |v: &Variant| {
                if v.fields.is_empty() {
                    v.name.text.to_string()
                } else {
                    format!("{}({})", v.name.text, list(&v.fields, ty))
                }
            };
            format!("enum {}{} {}", name.text, names(generics), list(variants, variant))
        }
        ItemKind::Interface { name, generics, methods } => {
            format!("interface {}{} {}", name.text, names(generics), list(methods, |d| format!("({})", decl(d))))
        }
        ItemKind::TypeAlias { name, generics, ty: t } => format!("type {}{} {}", name.text, names(generics), ty(t)),
        ItemKind::Import { names, path } => {
            let names = names.as_ref().map_or(String::new(), |names| {
                let one = |(n, a): &(Name, Option<Name>)| match a {
                    Some(a) => format!("{} as {}", n.text, a.text),
                    None => n.text.to_string(),
                };
                format!("{{{}}} ", list(names, one))
            });
            format!("import {names}{:?}", path.text)
        }
    };
    out + ")"
}

fn item_of(i: &ListItem) -> String {
    format!("{}{}", if i.spread { "..." } else { "" }, expr(&i.value))
}

fn entries(items: &[DictItem]) -> String {
    list(items, |i| match i {
        DictItem::Entry { key, value } => format!("{:?}:{}", key.text, expr(value)),
        DictItem::Computed { key, value } => format!("[{}]:{}", expr(key), expr(value)),
        DictItem::Spread(e) => format!("...{}", expr(e)),
    })
}

fn closure(c: &ClosureExpr) -> String {
    let returns = c.returns.as_ref().map_or(String::new(), |t| format!(" -> {}", ty(t)));
    let word = if c.form == ClosureForm::Function { "fn" } else { "\\" };
    format!("({word} ({}){returns} {})", list(&c.params, param), list(&c.body.stmts, stmt))
}

fn boxed(e: Option<&Expr>) -> String {
    opt(e, expr)
}

fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Nil => "nil".to_owned(),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Int(n) => n.to_string(),
        ExprKind::Float(n) => format!("{n:?}"),
        ExprKind::Str(parts) => match parts.as_slice() {
            [] => "\"\"".to_owned(),
            [StrPart::Text(t)] => format!("{t:?}"),
            parts => {
                let one = |p: &StrPart| match p {
                    StrPart::Text(t) => format!("{t:?}"),
                    StrPart::Interp(e) => expr(e),
                };
                format!("(str {})", list(parts, one))
            }
        },
        ExprKind::Name(n) => n.to_string(),
        ExprKind::Type(t) => format!("(type {})", ty(t)),
        ExprKind::Placeholder => "_".to_owned(),
        ExprKind::List(items) => format!("[{}]", list(items, item_of)),
        ExprKind::Dict(items) => format!("(dict {})", entries(items)).replace("(dict )", "(dict)"),
        ExprKind::Struct { name, items } => format!("(new {} {})", name.text, entries(items)),
        ExprKind::Pair(a, b) => format!("(pair {} {})", expr(a), expr(b)),
        ExprKind::Closure(c) => closure(c),
        ExprKind::Unary(op, e) => format!("({} {})", if *op == UnaryOp::Not { "!" } else { "neg" }, expr(e)),
        ExprKind::Binary(op, _, a, b) => format!("({} {} {})", op.symbol(), expr(a), expr(b)),
        ExprKind::Logic(op, a, b) => {
            let op = match op {
                LogicOp::And => "&&",
                LogicOp::Or => "||",
                LogicOp::Coalesce => "??",
            };
            format!("({op} {} {})", expr(a), expr(b))
        }
        ExprKind::Pipe(a, b) => format!("(|> {} {})", expr(a), expr(b)),
        ExprKind::Range { from, to, exclusive } => {
            format!("({} {} {})", if *exclusive { "upto" } else { "to" }, expr(from), expr(to))
        }
        ExprKind::Ternary(a, b, c) => format!("(? {} {} {})", expr(a), expr(b), expr(c)),
        ExprKind::Field { object, name, optional } => {
            format!("({}{} {})", if *optional { "?." } else { "." }, name.text, expr(object))
        }
        ExprKind::Index { object, index, optional } => {
            format!("({} {} {})", if *optional { "?[]" } else { "[]" }, expr(object), expr(index))
        }
        ExprKind::Slice { object, from, to } => {
            format!("([:] {} {} {})", expr(object), boxed(from.as_deref()), boxed(to.as_deref()))
        }
        ExprKind::Call { callee, args } => {
            format!("(call {}{}{})", expr(callee), if args.is_empty() { "" } else { " " }, list(args, item_of))
        }
        ExprKind::Try(e) => format!("(? {})", expr(e)),
        ExprKind::TryStar(e) => format!("(try* {})", expr(e)),
        ExprKind::TryBlock(t) => {
            let mut out = format!("(try {}", block(&t.body));
            if let Some(c) = &t.catch {
                let name = c.name.as_ref().map_or("-", |n| &n.text);
                let ty = c.ty.as_ref().map_or(String::new(), |t| format!(":{}", ty(t)));
                let _ = write!(out, " catch {name}{ty} {}", block(&c.body));
            }
            if let Some(f) = &t.finally {
                let _ = write!(out, " finally {}", block(f));
            }
            out + ")"
        }
        ExprKind::If { cond, then, otherwise } => match otherwise {
            Some(o) => format!("(if {} {} {})", expr(cond), block(then), expr(o)),
            None => format!("(if {} {})", expr(cond), block(then)),
        },
        ExprKind::Match { value, arms } => {
            let arm = |a: &Arm| {
                let guard = a.guard.as_ref().map_or(String::new(), |g| format!(" if {}", expr(g)));
                format!("({}{guard} -> {})", pattern(&a.pattern), expr(&a.body))
            };
            format!("(match {} {})", expr(value), list(arms, arm))
        }
        ExprKind::Block(b) => block(b),
        ExprKind::Return(e) => format!("(return {})", boxed(e.as_deref())),
        ExprKind::Throw(e) => format!("(throw {})", expr(e)),
        ExprKind::Break => "break".to_owned(),
        ExprKind::Continue => "continue".to_owned(),
        ExprKind::Yield(e) => format!("(yield {})", boxed(e.as_deref())),
        ExprKind::Emit(e) => format!("(emit {})", expr(e)),
        ExprKind::Retry { times, body } => format!("(retry {} {})", expr(times), block(body)),
        ExprKind::Parallel { kind, over, options, body } => {
            let kind = format!("{kind:?}").to_lowercase();
            let options = options.as_ref().map_or(String::new(), |o| format!(" with {}", expr(o)));
            format!("(parallel-{kind} {}{options} {})", expr(over), closure(body))
        }
        ExprKind::Spawn(b) => format!("(spawn {})", block(b)),
        ExprKind::Deadline { limit, body } => format!("(deadline {} {})", expr(limit), block(body)),
        ExprKind::Mutex(b) => format!("(mutex {})", block(b)),
        ExprKind::Select(arms) => {
            let arm = |a: &SelectArm| match a {
                SelectArm::Receive { name, channel, body } => {
                    format!("({} from {} {})", name.text, expr(channel), block(body))
                }
                SelectArm::Timeout { limit, body } => format!("(timeout {} {})", expr(limit), block(body)),
                SelectArm::Default(body) => format!("(default {})", block(body)),
            };
            format!("(select {})", list(arms, arm))
        }
        ExprKind::Error => "ERROR".to_owned(),
        ExprKind::TooDeep => "DEEP".to_owned(),
    }
}

fn rest(rest: Option<&Option<Box<Name>>>) -> String {
    match rest {
        None => String::new(),
        Some(None) => " ...".to_owned(),
        Some(Some(n)) => format!(" ...{}", n.text),
    }
}

fn pattern(p: &Pattern) -> String {
    let default = |d: Option<&Expr>| d.map_or(String::new(), |d| format!("={}", expr(d)));
    match &p.kind {
        PatternKind::Wildcard => "_".to_owned(),
        PatternKind::Bind(n) => n.to_string(),
        PatternKind::Literal(e) => expr(e),
        PatternKind::Dict { name, fields, rest: r } => {
            let name = name.as_ref().map_or("", |n| &n.text);
            let field = |f: &PatternField| {
                let inner = pattern(&f.pattern);
                let inner = if inner == f.key.text { String::new() } else { format!(":{inner}") };
                format!("{}{inner}{}", f.key.text, default(f.default.as_ref()))
            };
            format!("{name}{{{}{}}}", list(fields, field), rest(r.as_ref()))
        }
        PatternKind::List { items, rest: r } => {
            let one = |(p, d): &(Pattern, Option<Expr>)| format!("{}{}", pattern(p), default(d.as_ref()));
            format!("[{}{}]", list(items, one), rest(r.as_ref()))
        }
        PatternKind::Pair(a, b) => format!("({}, {})", pattern(a), pattern(b)),
        PatternKind::Variant { enum_name, variant, args } => {
            let name = enum_name.as_ref().map_or(String::new(), |n| format!("{}.", n.text));
            format!("{name}{}({})", variant.text, list(args, pattern))
        }
        PatternKind::Or(all) => format!("(| {})", list(all, pattern)),
        PatternKind::Error => "ERROR".to_owned(),
    }
}

fn ty(t: &TypeExpr) -> String {
    match &t.kind {
        TypeKind::Name { name, args } if args.is_empty() => name.to_string(),
        TypeKind::Name { name, args } => format!("{name}<{}>", list(args, ty)),
        TypeKind::Fn { params, returns } => format!("fn({})->{}", list(params, ty), ty(returns)),
        TypeKind::Shape { fields, open } => {
            let field = |(n, optional, t): &(Name, bool, TypeExpr)| {
                format!("{}{}:{}", n.text, if *optional { "?" } else { "" }, ty(t))
            };
            format!("{{{}{}}}", list(fields, field), if *open { " ..." } else { "" })
        }
        TypeKind::Literal(text) => format!("{text:?}"),
        TypeKind::Union(all) => format!("({})", all.iter().map(ty).collect::<Vec<_>>().join("|")),
        TypeKind::Optional(inner) => format!("{}?", ty(inner)),
        TypeKind::Error => "ERROR".to_owned(),
    }
}
