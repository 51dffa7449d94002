//! The messages of the resolver.

use super::resolver::TaskForm;
use super::scope::Binding;
use super::yields::BodyOf;
use super::{BindingKind, ResolveCode};
use crate::ast::Name;
use crate::declaration::{DefaultDecl, FieldDecl, Signature, Site, TypeDecl};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::fix::{Applicability, Edit, removed_element, with_parameters};
use crate::foreign::{self, Instead};
use crate::module::{Exports, ModuleCode};
use crate::source::{SourceRef, Span};

/// The name of a kind of binding in messages.
pub(super) fn describe(kind: BindingKind) -> &'static str {
    match kind {
        BindingKind::Let => "bound with `let`",
        BindingKind::Var => "a variable",
        BindingKind::Parameter => "a parameter",
        BindingKind::Loop => "a loop variable",
        BindingKind::Pattern => "bound by a pattern",
        BindingKind::Function => "a function",
        BindingKind::Pipeline => "a pipeline",
        BindingKind::Type => "a type",
        BindingKind::Import => "imported",
        BindingKind::Outer => "bound earlier",
    }
}

/// Adds the name that was probably meant, and the fix.
pub(super) fn did_you_mean(d: Diagnostic, written: &Name, near: &str) -> Diagnostic {
    d.did_you_mean(written.span, near, Applicability::Unsafe)
}

/// Does the same for a builtin of a namespace.
pub(super) fn did_you_mean_in(d: Diagnostic, at: Span, namespace: &str, near: &str) -> Diagnostic {
    d.help(format!("did you mean `{namespace}.{near}`?")).unsafe_fix(at, near)
}

/// Adds what Harn writes instead of a foreign word.
pub(super) fn with_instead(d: Diagnostic, span: Span, instead: Instead) -> Diagnostic {
    let d = d.help(instead.help);
    match instead.fix {
        // A constant has one meaning; a function of another language can do something else for the same arguments.
        Some(text @ ("nil" | "true" | "false" | "self")) => d.fix(span, text),
        Some(text) => d.unsafe_fix(span, text),
        None => d,
    }
}

// Names

pub(super) fn unknown_name(source: &SourceRef, name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::Undefined, format!("unknown name `{name}`")).label(source, span, "not found")
}

/// Adds where the builtins are listed that need no module.
pub(super) fn without_module(d: Diagnostic, listed: Option<&str>) -> Diagnostic {
    let listed = listed.map(|where_to| format!(": {where_to}")).unwrap_or_default();
    d.help(format!("call builtins without a module name{listed}"))
}

/// Adds how a name that is only assigned to is declared.
pub(super) fn declare_first(d: Diagnostic, name: &str) -> Diagnostic {
    let help = format!("declare it with `let {name} = …`, or with `var {name} = …` to assign to it later");
    let at = d.position();
    d.help(help).fix_by(Applicability::Unsafe, vec![Edit::insert(at, "var ")])
}

pub(super) fn bound_twice(source: &SourceRef, name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::Twice, format!("`{name}` is bound twice in the same scope"))
        .label(source, span, "bound again here")
        .label(source, first, "first bound here")
        .help("assign to a `var`, or choose another name")
        .fix_by_some(Applicability::Unsafe, assigned_instead(source.text(), span, first))
}

/// Returns the edits that make the first of two plain bindings a `var`, and an assignment of the second.
fn assigned_instead(text: &str, second: Span, first: Span) -> Option<Vec<Edit>> {
    let (word, is_let) = binding_word(text, first)?;
    let (again, _) = binding_word(text, second)?;
    let follows = text.get(second.range().end..)?.trim_start();
    if !follows.starts_with('=') || follows.starts_with("==") {
        return None;
    }
    let mut edits = vec![Edit::new(Span::new(again.start, second.start), "")];
    if is_let {
        edits.push(Edit::new(word, "var"));
    }
    Some(edits)
}

/// Returns the `let` or `var` right before a name, and whether it is `let`.
fn binding_word(text: &str, name: Span) -> Option<(Span, bool)> {
    let before = text.get(..name.range().start)?.trim_end();
    let is_let = before.ends_with("let");
    let start = before.strip_suffix(if is_let { "let" } else { "var" })?;
    if start.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let offset = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
    Some((Span::new(offset(start), offset(before)), is_let))
}

pub(super) fn unused_import(source: &SourceRef, name: &str, span: Span) -> Diagnostic {
    let d = Diagnostic::new(ResolveCode::Unused, format!("unused import `{name}`"))
        .label(source, span, "never used")
        .help("remove it from the import");
    match listed_import(source.text(), span) {
        Some(listed) => d.fix(listed, ""),
        None => d,
    }
}

/// Returns the part of a list of imported names to remove with the name at `span`: `as …` and one comma included. `None` for
/// the only name of a list: the import still evaluates its file.
fn listed_import(text: &str, span: Span) -> Option<Span> {
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut before = text.get(..span.range().start)?;
    if let Some(renamed) = before.trim_end().strip_suffix("as").filter(|rest| rest.ends_with(char::is_whitespace)) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        before = renamed.trim_end().trim_end_matches(is_name);
    }
    let after = text.get(span.range().end..)?;
    if let Some(rest) = after.trim_start().strip_prefix(',')
        && !rest.trim_start().starts_with('}')
    {
        return Some(Span::new(offset(before.len()), offset(text.len() - rest.trim_start().len())));
    }
    let kept = before.trim_end().strip_suffix(',')?;
    Some(Span::new(offset(kept.len()), span.end))
}

pub(super) fn unused(source: &SourceRef, name: &str, span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(ResolveCode::Unused, format!("`{name}` is {what}"))
        .label(source, span, "never read")
        .help(format!("remove it, or rename it to `_{name}`"))
        .fix_by(Applicability::Unsafe, vec![rename_key_to_underscore(source, span, name)])
}

/// Renames a binding to `_…`. In a pattern `{name}` it is also the key, which stays.
fn rename_key_to_underscore(source: &SourceRef, span: Span, name: &str) -> Edit {
    let (text, hidden) = (source.text(), format!("_{name}"));
    let in_braces = text[..span.range().start].trim_end().ends_with(['{', ',']);
    let closed = text[span.range().end..].trim_start().starts_with([',', '}']);
    Edit::new(span, if in_braces && closed { format!("{name}: {hidden}") } else { hidden })
}

pub(super) fn assigned_builtin(source: &SourceRef, name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::Forbidden, format!("cannot assign to `{name}`: it is a builtin"))
        .label(source, span, "assigned here")
        .help(format!("use a variable with another name: `var {name}_2 = …`"))
}

pub(super) fn assigned_constant(source: &SourceRef, name: &str, span: Span, binding: &Binding) -> Diagnostic {
    let (what, first) = (describe(binding.kind), binding.span);
    let d = Diagnostic::new(ResolveCode::Forbidden, format!("cannot assign to `{name}`: it is {what}")).label(
        source,
        span,
        "assigned here",
    );
    if binding.kind == BindingKind::Let {
        let d = d.label(source, first, "bound with `let` here").help(format!("use `var {name} = …`"));
        match source.text()[..first.range().start].trim_end().strip_suffix("let") {
            Some(before) => {
                let start = u32::try_from(before.len()).unwrap_or(u32::MAX);
                d.fix(Span::new(start, start + 3), "var")
            }
            None => d,
        }
    } else if binding.imported() {
        d.label(source, first, "imported here")
            .help(format!("call a function of the file that declares `{name}`; only that file can assign to it"))
    } else if binding.kind == BindingKind::Outer {
        d
    } else {
        d.label(source, first, "bound here").help(format!("copy it to a variable: `var my_{name} = {name}`"))
    }
}

/// An assignment in a task to a variable of the code around it, which is bound at `first`.
pub(super) fn lost_update(
    source: &SourceRef,
    name: &str,
    span: Span,
    first: Option<Span>,
    form: TaskForm,
) -> Diagnostic {
    let (task, help) = match form {
        TaskForm::Spawn => ("`spawn`", format!("return the value from the task: `{name} = await(spawn {{ … }})`")),
        TaskForm::Parallel => (
            "`parallel`",
            "return a value from each task, and combine the list: `let results = parallel each xs { x -> … }`"
                .to_owned(),
        ),
    };
    let message = format!("assignment to `{name}` is lost: {task} works on a copy");
    let d = Diagnostic::new(ResolveCode::LostUpdate, message).label(source, span, "changes the copy of the task");
    let d = match first {
        Some(first) => d.label(source, first, "the variable keeps its value"),
        None => d,
    };
    d.help(help).help("share a value that many tasks change with `atomic`")
}

// Namespaces

pub(super) fn namespace_value(source: &SourceRef, name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::Namespace, format!("`{name}` is a namespace, not a value"))
        .label(source, span, "used as a value")
        .help(format!("call one of its builtins: `{name}.…(…)`"))
}

pub(super) fn builtin_value(source: &SourceRef, namespace: &str, name: &Name) -> Diagnostic {
    let message = format!("builtin `{namespace}.{}` used as a value", name.text);
    Diagnostic::new(ResolveCode::Namespace, message)
        .label(source, name.span, "here")
        .help(format!("call it, or wrap it in a closure: `{{ x -> {namespace}.{}(x) }}`", name.text))
}

pub(super) fn unknown_builtin(source: &SourceRef, namespace: &str, name: &Name, label: &str) -> Diagnostic {
    let message = format!("unknown builtin `{namespace}.{}`", name.text);
    Diagnostic::new(ResolveCode::Namespace, message).label(source, name.span, label)
}

// Places

pub(super) fn placeholder_outside(source: &SourceRef, span: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::Undefined, "`_` outside of a pipe")
        .label(source, span, "no value is piped here")
        .help("use `_` only on the right of `|>`, where it is the piped value")
}

pub(super) fn outside_loop(source: &SourceRef, span: Span, word: &str, of: BodyOf) -> Diagnostic {
    let d = Diagnostic::new(ResolveCode::Misplaced, format!("`{word}` outside of a loop"))
        .label(source, span, "not inside a loop")
        .help("use `return` to leave a closure inside a loop");
    if of == BodyOf::Function { d.unsafe_fix(span, "return") } else { d }
}

pub(super) fn yield_in_exit(source: &SourceRef, span: Span, word: &str) -> Diagnostic {
    Diagnostic::new(ResolveCode::YieldInExit, format!("`{word}` in a `finally` or `defer` block"))
        .label(source, span, "cannot be suspended here")
        .help(format!("move the `{word}` before the block, which must run to its end"))
}

pub(super) fn yield_in_stream(source: &SourceRef, span: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::YieldInStream, "`yield` in a `gen fn`")
        .label(source, span, "write `emit`")
        .help("use `emit` in a `gen fn`, which returns a stream; use `yield` in a `fn`, which then returns a generator")
        .fix(span, "emit")
}

/// `name` is that of the declared function around, if it is one.
pub(super) fn emit_outside(source: &SourceRef, span: Span, of: BodyOf, name: Option<Span>) -> Diagnostic {
    let help = if of == BodyOf::Function {
        "declare the function as `gen fn`, or use `yield`"
    } else {
        "move it into a `gen fn`, which returns a stream"
    };
    let before = |name: Span| source.text().get(..name.range().start)?.trim_end().strip_suffix("fn");
    let declared = name.and_then(before).map(|before| u32::try_from(before.len()).unwrap_or(u32::MAX));
    Diagnostic::new(ResolveCode::Emit, "`emit` outside of a `gen fn`")
        .label(source, span, outside(of))
        .help(help)
        .fix_by_some(Applicability::Safe, declared.map(|at| vec![Edit::insert(at, "gen ")]))
}

pub(super) fn yield_outside(source: &SourceRef, span: Span, of: BodyOf) -> Diagnostic {
    Diagnostic::new(ResolveCode::Yield, "`yield` outside of a function")
        .label(source, span, outside(of))
        .help("move it into a `fn`, which then returns a generator")
        .fix_by_some(
            Applicability::Unsafe,
            matches!(of, BodyOf::Pipeline | BodyOf::Tool).then(|| vec![Edit::new(span, "return")]),
        )
}

fn outside(of: BodyOf) -> &'static str {
    match of {
        BodyOf::File => "not inside a function",
        BodyOf::Parameter => "a default value is not part of the function's body",
        BodyOf::Pipeline => "a pipeline returns one result",
        BodyOf::Tool => "a tool returns one result",
        BodyOf::Task => "a task returns one result; send items through a channel",
        BodyOf::Function => "this function is not a `gen fn`",
        BodyOf::Stream => "",
    }
}

// Imports

pub(super) fn import_inside(source: &SourceRef, path: Span) -> Diagnostic {
    Diagnostic::new(ModuleCode::Inside, "import inside a block")
        .label(source, path, "inside a block")
        .help("move the import to the top level of the file")
        .fix_by_some(Applicability::Safe, moved_to_top(source.text(), path))
}

/// Returns the edits that move an import to the top of the file, after the comment that introduces the file.
fn moved_to_top(text: &str, path: Span) -> Option<Vec<Edit>> {
    let start = text.get(..path.range().start)?.rfind("import")?;
    let import = text.get(start..path.range().end)?;
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let rest = &text[path.range().end..];
    let end = rest.find('\n').map_or(text.len(), |at| path.range().end + at + 1);
    let alone = text[line..start].trim().is_empty() && text[path.range().end..end].trim().is_empty();
    // What is before the import on its line may belong to it, as `pub` does.
    if !alone {
        return None;
    }
    let introduces = |line: &&str| line.starts_with("#!") || line.starts_with("//") && !line.starts_with("///");
    let top: usize = text.split_inclusive('\n').take_while(introduces).map(str::len).sum();
    let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let removed = Edit::new(Span::new(offset(line), offset(end)), "");
    Some(vec![Edit::insert(offset(top), format!("{import}\n")), removed])
}

pub(super) fn unknown_standard(source: &SourceRef, path: &str, span: Span) -> Diagnostic {
    Diagnostic::new(ModuleCode::NoStandard, format!("unknown standard module `{path}`")).label(
        source,
        span,
        "not found",
    )
}

pub(super) fn not_exported(source: &SourceRef, name: &Name, path: &str, path_span: Span) -> Diagnostic {
    Diagnostic::new(ModuleCode::NoName, format!("\"{path}\" does not export `{}`", name.text))
        .label(source, name.span, "not found")
        .label(source, path_span, "imported from here")
}

/// Adds a few of the names that a file exports.
pub(super) fn with_exports(d: Diagnostic, exports: &Exports) -> Diagnostic {
    const MOST: usize = 6;
    if exports.names.is_empty() {
        return d.note("the file exports no names");
    }
    let names: Vec<String> = exports.names.keys().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = if exports.names.len() > MOST { " …" } else { "" };
    d.note(format!("it exports {}{more}", names.join(", ")))
}

pub(super) fn private(
    source: &SourceRef,
    name: &Name,
    path: &str,
    there: &SourceRef,
    kind: BindingKind,
    declared: Span,
) -> Diagnostic {
    let message = format!("`{}` is private to \"{path}\"", name.text);
    let d = Diagnostic::new(ModuleCode::Private, message).label(source, name.span, "private");
    if kind == BindingKind::Import {
        d.label(there, declared, "imported here without `pub`")
            .help("import it from the file that declares it, or write `pub import` there")
    } else {
        d.label(there, declared, format!("{} without `pub`", describe(kind))).help("write `pub` before the declaration")
    }
}

pub(super) fn ambiguous(source: &SourceRef, name: &str, span: Span, first: Span, second: Span) -> Diagnostic {
    Diagnostic::new(ModuleCode::Ambiguous, format!("`{name}` is imported from two files"))
        .label(source, span, "ambiguous")
        .label(source, first, "exported by this file")
        .label(source, second, "and by this one")
        .help(format!("list it in one of the imports: `import {{{name}}} from \"…\"`"))
}

// Types

/// Two members of one declaration with one name. `end` is that of the second one, if it can be removed.
pub(super) fn duplicate_member(
    source: &SourceRef,
    name: &Name,
    first: Span,
    what: &str,
    end: Option<u32>,
) -> Diagnostic {
    Diagnostic::new(ResolveCode::MemberTwice, format!("duplicate {what} `{}`", name.text))
        .label(source, name.span, "declared again here")
        .label(source, first, "first declared here")
        .help("choose another name for one of them")
        .fix_by(
            Applicability::Unsafe,
            vec![match end {
                Some(end) => removed_element(source.text(), Span::new(name.span.start, end)),
                None => numbered(name),
            }],
        )
}

/// Returns the edit that gives a declaration another name.
fn numbered(name: &Name) -> Edit {
    Edit::new(name.span, format!("{}_2", name.text))
}

/// A function of a type with the name of a field or a variant.
pub(super) fn member_taken(source: &SourceRef, name: &Name, owner: &str, what: &str, first: &Site) -> Diagnostic {
    Diagnostic::new(ResolveCode::MemberTwice, format!("`{owner}` already has {what} `{}`", name.text))
        .label(source, name.span, "declared again here")
        .label(&first.source, first.span, "first declared here")
        .help("choose another name for the function")
        .fix_by(Applicability::Unsafe, vec![numbered(name)])
}

pub(super) fn not_a_type(source: &SourceRef, name: &Name, is: &str, wanted: &str, first: &Site) -> Diagnostic {
    Diagnostic::new(ResolveCode::NotAType, format!("`{}` is {is}, not {wanted}", name.text))
        .label(source, name.span, format!("expected {wanted}"))
        .label(&first.source, first.span, "declared here")
}

pub(super) fn unknown_type(source: &SourceRef, name: &str, span: Span, near: Option<&str>) -> Diagnostic {
    let d = Diagnostic::new(ResolveCode::NoType, format!("unknown type `{name}`")).label(source, span, "not found");
    match near {
        Some(near) => {
            let is_translated = foreign::type_name(name) == Some(near);
            d.did_you_mean(span, near, if is_translated { Applicability::Safe } else { Applicability::Unsafe })
        }
        None => d.help("declare it with `struct`, `enum`, `interface` or `type`, or import it"),
    }
}

pub(super) fn type_as_value(source: &SourceRef, name: &str, span: Span, def: &TypeDecl) -> Diagnostic {
    let help = match def.resolved() {
        TypeDecl::Struct(d) if d.fields.is_empty() => format!("create a value with `{name} {{}}`"),
        TypeDecl::Struct(d) => {
            let fields: Vec<String> = d.names().map(|n| format!("{n}: …")).collect();
            format!("create a value with `{name} {{{}}}`", fields.join(", "))
        }
        TypeDecl::Enum(d) => {
            let first = d.variants.first().map_or("…", |v| v.name.as_str());
            format!("use a variant: `{name}.{first}`")
        }
        TypeDecl::Interface(_) | TypeDecl::Alias(_) => "use a type only in annotations, after `:` and `->`".to_owned(),
    };
    let d = Diagnostic::new(ResolveCode::NotAType, format!("`{name}` is {}, not a value", def.sort())).label(
        source,
        span,
        "used as a value",
    );
    let d = match def.site() {
        Some(site) => d.label(&site.source, site.span, "declared here"),
        None => d,
    };
    let value = match def.resolved() {
        TypeDecl::Struct(d) => {
            let entry = |field: &FieldDecl| Some(format!("{}: {}", field.name, field.placeholder()?));
            let required = d.fields.iter().filter(|field| matches!(field.default, DefaultDecl::None));
            required.map(entry).collect::<Option<Vec<_>>>().map(|fields| format!("{name} {{{}}}", fields.join(", ")))
        }
        TypeDecl::Enum(d) => d.variants.iter().find(|v| v.arity == 0).map(|v| format!("{name}.{}", v.name)),
        TypeDecl::Interface(_) | TypeDecl::Alias(_) => None,
    };
    d.help(help).fix_by_some(Applicability::Unsafe, value.map(|value| vec![Edit::new(span, value)]))
}

/// A function of a type that uses something of the block around the type.
pub(super) fn cannot_reach(source: &SourceRef, name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::Beyond, format!("function of a type uses `{name}` of the surrounding block"))
        .label(source, span, "used here")
        .label(source, first, "bound in the block")
        .help("pass it to the function as an argument, or store it in a field")
}

// Pipelines

pub(super) fn duplicate_default(source: &SourceRef, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::Twice, "duplicate pipeline `default`")
        .label(source, span, "declared again here")
        .label(source, first, "first declared here")
        .help("rename or remove one of them")
}

/// Pipelines that extend one another in a cycle; the first of `names` is the last one as well.
pub(super) fn extends_cycle(source: &SourceRef, names: &[String], extends: Span) -> Diagnostic {
    let message = format!("pipelines extend one another in a cycle: {}", names.join(" → "));
    Diagnostic::new(ResolveCode::Inheritance, message)
        .label(source, extends, "this closes the cycle")
        .help("remove the `extends` of one of them")
}

pub(super) fn extended_too_early(source: &SourceRef, name: &Name, declared: Span) -> Diagnostic {
    let message = format!("`{}` is declared after the block that extends it", name.text);
    Diagnostic::new(ResolveCode::Inheritance, message)
        .label(source, name.span, "extended here")
        .label(source, declared, "declared here")
        .help("move the declaration before the block")
}

pub(super) fn extends_too_deep(source: &SourceRef, name: &Name, deepest: usize) -> Diagnostic {
    let message = format!("chain of more than {deepest} pipelines that extend one another");
    Diagnostic::new(ResolveCode::Inheritance, message)
        .label(source, name.span, "this one exceeds the limit")
        .help("move the shared code into functions of the file")
}

pub(super) fn unknown_base(source: &SourceRef, name: &Name) -> Diagnostic {
    Diagnostic::new(ResolveCode::Inheritance, format!("unknown pipeline `{}`", name.text)).label(
        source,
        name.span,
        "not found",
    )
}

pub(super) fn not_a_pipeline(source: &SourceRef, name: &Name, kind: BindingKind, first: Span) -> Diagnostic {
    let message = match kind {
        BindingKind::Import | BindingKind::Outer => {
            format!("cannot extend `{}`: it is not declared in this file", name.text)
        }
        _ => format!("`{}` is {}, not a pipeline", name.text, describe(kind)),
    };
    let d = Diagnostic::new(ResolveCode::Inheritance, message).label(source, name.span, "extended here");
    if kind == BindingKind::Outer { d } else { d.label(source, first, "bound here") }
}

/// `near` is the function of the base that was probably meant, and `names` are all of them.
pub(super) fn no_such_function<'n>(
    source: &SourceRef,
    name: &Name,
    base: &Name,
    near: Option<&str>,
    names: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let message = format!("`{}` has no function `{}` to override", base.text, name.text);
    let d = Diagnostic::new(ResolveCode::Inheritance, message).label(source, name.span, "not found").label(
        source,
        base.span,
        "extended here",
    );
    if let Some(near) = near {
        return did_you_mean(d, name, near);
    }
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        d.note("it has no functions")
    } else {
        d.note(format!("the functions are {}", names.join(", ")))
    }
}

pub(super) fn overridden_twice(source: &SourceRef, name: &Name, first: Span) -> Diagnostic {
    Diagnostic::new(ResolveCode::MemberTwice, format!("`{}` is overridden twice", name.text))
        .label(source, name.span, "overridden again here")
        .label(source, first, "first overridden here")
        .help("remove one of them")
}

pub(super) fn other_parameters(source: &SourceRef, name: &Name, own: &Signature, wanted: &Signature) -> Diagnostic {
    let message = format!("override of `{}` has different parameters", name.text);
    Diagnostic::new(ResolveCode::Override, message)
        .label(source, name.span, own.parameters())
        .label(source, wanted.span, wanted.parameters())
        .help("declare the same parameters: the extended pipeline calls it with its own arguments")
        .fix_by_some(Applicability::Unsafe, with_parameters((source, name.span), (source, wanted.span)))
}

/// A function with the name of one of the base that does not say that it overrides.
pub(super) fn hides_function(source: &SourceRef, name: &Name, base: &Name, first: Span) -> Diagnostic {
    let message = format!("`{}` already has a function `{}`", base.text, name.text);
    Diagnostic::new(ResolveCode::Inheritance, message)
        .label(source, name.span, "declared again here")
        .label(source, first, "declared here")
        .help(format!("write `override fn {}` to replace it, or choose another name", name.text))
}

pub(super) fn nothing_to_override(source: &SourceRef, name: &Name, why: &str) -> Diagnostic {
    Diagnostic::new(ResolveCode::Inheritance, format!("`{}` overrides no function", name.text))
        .label(source, name.span, why)
        .help("use `override fn` only in the body of a pipeline that `extends` another one")
}
