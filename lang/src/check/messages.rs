//! The messages of the passes that look at nodes one by one; those about types are in `infer/report.rs`.

use super::CheckCode;
use crate::advice::{self, listed};
use crate::ast::{Arm, Attribute, FnDecl, NAME, Name};
use crate::declaration::{
    EnumDecl, FieldDecl, InterfaceDecl, MethodDecl, Signature, Site, StructDecl, TypeDecl, VariantDecl,
};
use crate::diagnostic::fix::{
    Applicability, Edit, added_element, closing_bracket, parameters_of, removed_element, rename_key, with_parameters,
};
use crate::diagnostic::{Diagnostic, nearest, nearest_of};
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;

/// The name that was probably meant, or all of them.
fn suggest<'n, I: Iterator<Item = &'n str>>(
    d: Diagnostic,
    written: &Name,
    names: impl Fn() -> I,
    they_are: &str,
) -> Diagnostic {
    match nearest_of(&written.text, names()) {
        Some((near, applicability)) => d.did_you_mean(written.span, near, applicability),
        None if names().next().is_some() => d.note(format!("{they_are} {}", listed(names(), "and"))),
        None => d,
    }
}

fn declared(d: Diagnostic, site: Option<&Site>) -> Diagnostic {
    match site {
        Some(site) => d.label(&site.source, site.span, "declared here"),
        None => d,
    }
}

fn were(given: usize) -> String {
    if given == 1 { "1 was".to_owned() } else { format!("{given} were") }
}

/// Characters that change the order in which the text is displayed.
pub(super) fn hidden(source: &SourceRef, at: Span, is_raw: bool) -> Diagnostic {
    let escapes: String = source.slice(at).chars().flat_map(char::escape_unicode).collect();
    Diagnostic::new(CheckCode::Hidden, "invisible character that reorders the displayed text")
        .label(source, at, "the text after this is displayed in a different order")
        .help(format!("remove it, or write `{escapes}` in a string"))
        // In a raw string, an escape is another text.
        .fix_by_some(Applicability::Safe, (!is_raw).then(|| vec![Edit::new(at, escapes)]))
}

// Members of types

/// `entry` is the first entry with the separator after it, if another one follows.
pub(super) fn duplicate_field(source: &SourceRef, key: &Name, first: Span, entry: Option<Span>) -> Diagnostic {
    Diagnostic::new(CheckCode::FieldTwice, format!("duplicate field `{}`", key.text))
        .label(source, key.span, "set again here")
        .label(source, first, "first set here")
        .help("remove one of them")
        .fix_by_some(Applicability::Unsafe, entry.map(|entry| vec![Edit::new(entry, "")]))
}

/// `first` is the declaration of the first of the missing fields.
pub(super) fn missing_fields(
    source: &SourceRef,
    name: &Name,
    def: &StructDecl,
    missing: &[&FieldDecl],
    first: Span,
) -> Diagnostic {
    let list = listed(missing.iter().map(|field| field.name.as_str()), "and");
    let fields = if missing.len() == 1 { "field" } else { "fields" };
    let add: Vec<String> = missing.iter().map(|field| format!("{}: …", field.name)).collect();
    Diagnostic::new(CheckCode::FieldMissing, format!("missing {fields} {list} of `{}`", def.name))
        .label(source, name.span, "incomplete")
        .label(&def.site.source, first, "declared without a default")
        .help(format!("add `{}`", add.join(", ")))
        .fix_by_some(Applicability::Unsafe, added_fields(source.text(), name, missing))
}

/// Returns the edit that adds fields with placeholders to the literal after the name of a struct.
fn added_fields(text: &str, name: &Name, missing: &[&FieldDecl]) -> Option<Vec<Edit>> {
    let opener = name.span.end + u32::try_from(text.get(name.span.range().end..)?.find('{')?).ok()?;
    let braces = Span::new(opener, closing_bracket(text, opener)?.end);
    let entry = |field: &&FieldDecl| Some(format!("{}: {}", field.name, field.placeholder()?));
    let entries: Option<Vec<String>> = missing.iter().map(entry).collect();
    Some(vec![added_element(text, braces, &entries?.join(", "))?])
}

/// `entry` is the whole of it in the literal or pattern.
pub(super) fn unknown_field(source: &SourceRef, key: &Name, def: &StructDecl, entry: Span) -> Diagnostic {
    let d = Diagnostic::new(CheckCode::NoField, format!("`{}` has no field `{}`", def.name, key.text))
        .label(source, key.span, "unknown field")
        .label(&def.site.source, def.site.span, "declared here");
    let mut d = suggest(d, key, || def.names().map(SmolStr::as_str), "the fields are");
    d.fixes.iter_mut().flat_map(|fix| &mut fix.edits).for_each(|edit| {
        *edit = rename_key(source.text(), key.span, &edit.replacement);
    });
    if d.fixes.is_empty() { d.fix_by(Applicability::Unsafe, vec![removed_element(source.text(), entry)]) } else { d }
}

/// `names` are the variants and functions that the type has.
pub(super) fn unknown_member(source: &SourceRef, name: &Name, owner: &TypeDecl, names: &[&str]) -> Diagnostic {
    let message = match owner {
        TypeDecl::Interface(_) | TypeDecl::Alias(_) => {
            format!("`{}` is {} and has no functions", owner.name(), owner.sort())
        }
        TypeDecl::Enum(def) if !def.variants.is_empty() => {
            format!("`{}` has no variant or function `{}`", owner.name(), name.text)
        }
        _ => format!("`{}` has no function `{}`", owner.name(), name.text),
    };
    let d = Diagnostic::new(CheckCode::NoMember, message).label(source, name.span, "not found");
    let d = declared(d, owner.site());
    match owner {
        TypeDecl::Interface(_) | TypeDecl::Alias(_) => d,
        TypeDecl::Struct(def) if def.position(&name.text).is_some() => {
            d.help(format!("read the field from a value: `value.{}`", name.text))
        }
        _ => suggest(d, name, || names.iter().copied(), "there are"),
    }
}

/// A function of a type that is called with too many or too few arguments, `self` included.
pub(super) fn method_arity(
    source: &SourceRef,
    owner: &TypeDecl,
    name: &Name,
    method: &MethodDecl,
    args: &[Span],
    span: Span,
) -> Diagnostic {
    let given = args.len();
    let Signature { takes_self, min, max, .. } = &method.signature;
    let own = usize::from(*takes_self);
    let function = format!("`{}.{}`", owner.name(), name.text);
    let message = advice::arity(&function, min + own, max.map(|max| max + own), given);
    let d = Diagnostic::new(CheckCode::Arity, message).label(source, span, "called here").label(
        &method.source,
        method.signature.span,
        "declared here",
    );
    let most = max.map_or(usize::MAX, |max| max + own);
    let d = d.fix_by_some(Applicability::Unsafe, without_extra(source.text(), args, most));
    if *takes_self {
        d.help(format!("call it on a value, which is passed as `self`: `value.{}(…)`", name.text))
    } else {
        d
    }
}

/// `B(x)` without its enum; `owner` is the enum that has such a variant.
pub(super) fn bare_variant(source: &SourceRef, variant: &Name, owner: Option<&str>) -> Diagnostic {
    let d = Diagnostic::new(CheckCode::NoMember, format!("`{}` is not a variant of `Result`", variant.text)).label(
        source,
        variant.span,
        "unknown variant",
    );
    match owner {
        Some(owner) => d
            .help(format!("write the name of the enum: `{owner}.{}(…)`", variant.text))
            .fix(variant.span, format!("{owner}.{}", variant.text)),
        None => d.help("write `Enum.Variant(…)`; only `Ok(…)` and `Err(…)` can be written without their enum"),
    }
}

/// `values` are those that are given. Those that are too many can be removed.
pub(super) fn variant_count(
    source: &SourceRef,
    def: &EnumDecl,
    variant: &VariantDecl,
    values: &[Span],
    span: Span,
) -> Diagnostic {
    let given = values.len();
    let holds = match variant.arity {
        0 => "holds no values".to_owned(),
        1 => "holds 1 value".to_owned(),
        n => format!("holds {n} values"),
    };
    let message = format!("`{}.{}` {holds}, but {} given", def.name, variant.name, were(given));
    let d = Diagnostic::new(CheckCode::Values, message)
        .label(source, span, "here")
        .fix_by_some(Applicability::Unsafe, without_extra(source.text(), values, variant.arity));
    match &def.site {
        Some(site) => d.label(&site.source, variant.span, "declared here"),
        None => d,
    }
}

/// Returns the edit that removes the values or arguments after the first ones.
pub(super) fn without_extra(text: &str, values: &[Span], count: usize) -> Option<Vec<Edit>> {
    let (extra, last) = (values.get(count)?, values.last()?);
    Some(vec![removed_element(text, Span::new(extra.start, last.end))])
}

/// Adds how a pattern matches any value of a variant; `values` are the patterns that it has.
pub(super) fn any_value(
    d: Diagnostic,
    def: &EnumDecl,
    variant: &VariantDecl,
    values: &[Span],
    span: Span,
) -> Diagnostic {
    let blanks = vec!["_"; variant.arity - values.len()].join(", ");
    match values.last() {
        None => d
            .help(format!("use `{}.{}({blanks})` to match any value", def.name, variant.name))
            .fix_by(Applicability::Safe, vec![Edit::insert(span.end, format!("({blanks})"))]),
        Some(last) => d
            .help("use `_` for the values that do not matter")
            .fix_by(Applicability::Unsafe, vec![Edit::insert(last.end, format!(", {blanks}"))]),
    }
}

// Interfaces

pub(super) fn interface_body(source: &SourceRef, method: &FnDecl) -> Diagnostic {
    Diagnostic::new(CheckCode::Nonsense, "function of an interface has a body")
        .label(source, method.body.span, "this would never run")
        .help("move the body to an `impl`")
        .fix_by_some(Applicability::Unsafe, without_body(source.text(), method.body.span))
}

fn without_body(text: &str, body: Span) -> Option<Vec<Edit>> {
    let head = text.get(..body.range().start)?.trim_end().len();
    Some(vec![Edit::new(Span::new(u32::try_from(head).ok()?, body.end), "")])
}

/// Returns the edit that adds the missing functions to an `impl`, each with a body that fails when it is called.
fn added_functions(source: &SourceRef, item: Span, interface: &SourceRef, missing: &[&Signature]) -> Option<Vec<Edit>> {
    let text = source.text();
    let close = item.end.checked_sub(1)?;
    let start = text.get(..item.range().start)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..item.range().start)?;
    let indent = &line[..line.len() - line.trim_start().len()];
    let mut added = String::new();
    for function in missing {
        let params = parameters_of(interface.text(), function.span)?;
        let end = function.returns.as_ref().map_or(params.end, |ty| ty.span.end);
        let head = interface.text().get(Span::new(function.span.start, end).range())?;
        added.push_str(&format!("{indent}  fn {head} {{\n{indent}    {}\n{indent}  }}\n", todo(&function.name)));
    }
    let body = text.get(..Span::new(close, close).range().start)?;
    let before = body.trim_end_matches([' ', '\t']);
    let on_line = before.ends_with('\n');
    let at = if on_line { u32::try_from(before.len()).ok()? } else { close };
    let (open, end) = if on_line { ("", "") } else { ("\n", indent) };
    Some(vec![Edit::insert(at, format!("{open}{added}{end}"))])
}

/// The expression in place of one that only the author can write. It has every type, and fails if it is reached.
fn todo(what: &str) -> String {
    format!("unreachable(\"TODO: {what}\")")
}

/// `first` is the first of the missing functions; `item` is the `impl`.
pub(super) fn not_implemented(
    source: &SourceRef,
    (target, item): (&Name, Span),
    def: &TypeDecl,
    interface: &InterfaceDecl,
    missing: &[&Signature],
    first: &Signature,
) -> Diagnostic {
    let list = listed(missing.iter().map(|m| m.name.as_str()), "or");
    let message = format!("`{}` has no {list}, which `{}` requires", def.name(), interface.name);
    Diagnostic::new(CheckCode::NotImplemented, message)
        .label(source, target.span, "does not implement the interface")
        .label(&interface.site.source, first.span, "required here")
        .help(format!("add `fn {}(…) {{ … }}` to an `impl` of `{}`", first.name, def.name()))
        .fix_by_some(Applicability::Unsafe, added_functions(source, item, &interface.site.source, missing))
}

pub(super) fn other_parameters(
    def: &TypeDecl,
    method: &MethodDecl,
    interface: &InterfaceDecl,
    wanted: &Signature,
) -> Diagnostic {
    let own = &method.signature;
    let message = format!("parameters of `{}` of `{}` differ from those in `{}`", own.name, def.name(), interface.name);
    Diagnostic::new(CheckCode::NotImplemented, message)
        .label(&method.source, own.span, own.parameters())
        .label(&interface.site.source, wanted.span, wanted.parameters())
        .help("declare the same parameters as in the interface")
        .fix_by_some(
            Applicability::Unsafe,
            with_parameters((&method.source, own.span), (&interface.site.source, wanted.span)),
        )
}

// Patterns

/// `named` are some of the values that no arm takes; `declared` is where the first of them is declared.
pub(super) fn not_covered(
    source: &SourceRef,
    keyword: Span,
    named: &[String],
    more: bool,
    declared: Option<(SourceRef, Span)>,
    added: Option<Vec<Edit>>,
) -> Diagnostic {
    let list = if more {
        let named: Vec<String> = named.iter().map(|n| format!("`{n}`")).collect();
        format!("{} and others", named.join(", "))
    } else {
        listed(named.iter().map(String::as_str), "and")
    };
    let first = named.first().map_or("_", String::as_str);
    let d = Diagnostic::new(CheckCode::NotCovered, format!("`match` has no arm for {list}"))
        .label(source, keyword, "not all variants are covered")
        .help(format!("add `{first} -> …`, or `_ -> …` for all other values"))
        .fix_by_some(Applicability::Unsafe, added);
    match declared {
        Some((source, span)) => d.label(&source, span, "declared here"),
        None => d,
    }
}

/// Returns the edit that adds arms after the last one, each with a body that fails when it is chosen.
pub(super) fn added_arms(text: &str, last: Span, patterns: &[String]) -> Option<Vec<Edit>> {
    let arm =
        |pattern: &String| format!("{pattern} -> {}", todo(if pattern == "_" { "other values" } else { pattern }));
    let arms = || patterns.iter().map(arm);
    let before = text.get(..last.range().start)?.rsplit('\n').next()?;
    if !before.trim().is_empty() {
        return Some(vec![Edit::insert(last.end, arms().map(|arm| format!(", {arm}")).collect::<String>())]);
    }
    // A comma and a comment belong to the arm before them.
    let rest = text.get(last.range().end..)?.lines().next()?;
    let tail = rest.trim_start_matches([' ', ',']);
    let end =
        if tail.is_empty() || tail.starts_with("//") { last.end + u32::try_from(rest.len()).ok()? } else { last.end };
    Some(vec![Edit::insert(end, arms().map(|arm| format!("\n{before}{arm}")).collect::<String>())])
}

/// Returns the edits that move an arm before an earlier one, with the separator that the arms have.
fn moved_before(text: &str, arm: Span, earlier: Span) -> Option<Vec<Edit>> {
    let between = text.get(earlier.range().end..arm.range().start)?;
    let line = text.get(..earlier.range().start)?.rsplit('\n').next().unwrap_or("");
    let separator =
        if between.contains('\n') && line.trim().is_empty() { format!("\n{line}") } else { ", ".to_owned() };
    let before = text.get(..arm.range().start)?.trim_end_matches(|c: char| c.is_whitespace() || c == ',');
    let end = u32::try_from(before.len()).unwrap_or(u32::MAX);
    let moved = format!("{}{separator}", text.get(arm.range())?);
    Some(vec![Edit::insert(earlier.start, moved), Edit::new(Span::new(end, arm.end), "")])
}

/// `by` is the arm that takes all values first; `variant` is the enum and the variant that it was probably meant to match.
pub(super) fn unreachable_arm(
    source: &SourceRef,
    arm: &Arm,
    by: Option<&Arm>,
    variant: Option<(&str, &str)>,
) -> Diagnostic {
    let pattern = &arm.pattern;
    let mut d = Diagnostic::new(CheckCode::Unreachable, "unreachable arm").label(source, pattern.span, "never chosen");
    if let Some(by) = by {
        d = d.label(source, by.pattern.span, "this arm matches the same values first");
        d = match variant {
            Some((owner, name)) => d.unsafe_fix(by.pattern.span, format!("{owner}.{name}")),
            None => d.fix_by_some(Applicability::Unsafe, moved_before(source.text(), arm.span, by.span)),
        };
    }
    if let Some((owner, name)) = variant {
        d = d.note(format!("write `{owner}.{name}` for the variant: `{name}` alone binds a new name"));
    }
    d.help("put it before the more general arm, or remove it")
}

/// `instead` is the one name that the alternative without it binds, and the others do not.
pub(super) fn not_in_all_alternatives(
    source: &SourceRef,
    name: &str,
    bound: Span,
    lacks: Span,
    instead: Option<Span>,
) -> Diagnostic {
    Diagnostic::new(CheckCode::Alternatives, format!("`{name}` is not bound in all alternatives"))
        .label(source, lacks, format!("`{name}` is not bound here"))
        .label(source, bound, "bound here")
        .help("bind the same names in all alternatives, or use separate arms")
        .fix_by_some(Applicability::Unsafe, instead.map(|other| vec![Edit::new(other, name)]))
}

pub(super) fn twice_in_alternative(source: &SourceRef, name: &str, again: Span, first: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Alternatives, format!("`{name}` is bound twice in the same alternative"))
        .label(source, again, "bound again here")
        .label(source, first, "first bound here")
        .help("choose another name")
}

// Attributes

pub(super) fn unknown_attribute(source: &SourceRef, attribute: &Attribute, known: &[&str]) -> Diagnostic {
    let name = attribute.name.text.as_str();
    let d = Diagnostic::new(CheckCode::Attribute, format!("unknown attribute `@{name}`")).label(
        source,
        attribute.name.span,
        "unknown",
    );
    match nearest(name, known.iter().copied()) {
        Some(near) => d.help(format!("did you mean `@{near}`?")).fix(attribute.name.span, near),
        None if known == [NAME] => d.note("the attribute of a field or variant is `@name(\"…\")`"),
        None => d.note("the attributes are `@test`, `@before`, `@after`, `@resumable`, `@resource(\"…\")`, `@prompt`, `@tag(\"…\")` and `@deprecated(\"…\")`"),
    }
}

pub(super) fn unexpected_argument(source: &SourceRef, attribute: &str, arg: Span, help: &str) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, format!("`@{attribute}` takes no arguments"))
        .label(source, arg, "unexpected argument")
        .help(help)
}

pub(super) fn test_parameters(source: &SourceRef, param: Span, attribute: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, "a test must not have required parameters")
        .label(source, param, "no argument is passed for this")
        .label(source, attribute, "declared as a test here")
        .help("give it a default, or bind it in the function")
}

pub(super) fn misplaced_attribute(source: &SourceRef, attribute: &Attribute, on: &str) -> Diagnostic {
    let name = attribute.name.text.as_str();
    Diagnostic::new(CheckCode::Attribute, format!("`@{name}` can be used only on {on}"))
        .label(source, attribute.name.span, "here")
        .help(format!("put `@{name}` before a `fn`"))
}

pub(super) fn nested_test(source: &SourceRef, attribute: &Attribute) -> Diagnostic {
    let name = attribute.name.text.as_str();
    Diagnostic::new(CheckCode::Attribute, format!("`@{name}` inside a block"))
        .label(source, attribute.name.span, "never run from here")
        .help("move the function to the top level of the file")
}

pub(super) fn misplaced_test_block(source: &SourceRef, name: Span, is_public: bool) -> Diagnostic {
    if is_public {
        return Diagnostic::new(CheckCode::Attribute, "a `test` block cannot be `pub`")
            .label(source, name, "other files cannot use it")
            .help("remove `pub`");
    }
    Diagnostic::new(CheckCode::Attribute, "`test` inside a block")
        .label(source, name, "never run from here")
        .help("move the test to the top level of the file")
}

pub(super) fn unknown_test_argument(source: &SourceRef, name: &Name, known: &[&str]) -> Diagnostic {
    let d = Diagnostic::new(CheckCode::Attribute, format!("unknown argument `{}` of `@test`", name.text))
        .label(source, name.span, "unknown");
    match nearest(&name.text, known.iter().copied()) {
        Some(near) => d.help(format!("did you mean `{near}`?")).fix(name.span, near),
        None => d.help("the arguments are `cases: […]` and `recording: \"folder\"`"),
    }
}

pub(super) fn recording_argument(source: &SourceRef, value: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, "`recording` must be a string")
        .label(source, value, "not a plain string")
        .help("write the folder of the recording: `@test(recording: \"recordings/name\")`")
}

pub(super) fn unused_cases(source: &SourceRef, cases: Span, name: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, "a test with cases must have a parameter")
        .label(source, name, "takes no case")
        .label(source, cases, "the cases")
        .help("add a parameter for the case, or one for each of its values")
}

pub(super) fn case_values(source: &SourceRef, case: Span, count: usize, params: usize) -> Diagnostic {
    let values = if count == 1 { "1 value".to_owned() } else { format!("{count} values") };
    Diagnostic::new(CheckCode::Attribute, format!("a case has {values}, and the test {params} parameters"))
        .label(source, case, format!("expected a list of {params} values"))
        .help("write each case as a list with a value for each parameter")
}

pub(super) fn misplaced_resumable(source: &SourceRef, attribute: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, "`@resumable` can be used only on a pipeline")
        .label(source, attribute, "here")
        .help("put `@resumable` before the served `pipeline`")
}

pub(super) fn resource_uri(source: &SourceRef, at: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, "`@resource` needs the URI of the resource")
        .label(source, at, "expected a string such as `\"notes://today\"` or `\"orders://{id}\"`")
        .help("write a scheme, `:`, and the rest without spaces; `{name}` stands for a parameter, once")
}

pub(super) fn resource_argument(source: &SourceRef, at: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, "unknown argument of `@resource`")
        .label(source, at, "unexpected argument")
        .help("write `@resource(\"notes://today\", mime_type: \"text/markdown\")`")
}

pub(super) fn unknown_variable(source: &SourceRef, uri: Span, variable: &str, function: &str) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, format!("`{{{variable}}}` is not a parameter of `{function}`"))
        .label(source, uri, "the URI of the resource")
        .help(format!("add the parameter `{variable}` to `{function}`, or remove `{{{variable}}}`"))
}

pub(super) fn missing_variable(source: &SourceRef, param: Span, uri: Span, name: &str) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, format!("the URI has no value for the parameter `{name}`"))
        .label(source, param, "no argument is passed for this")
        .label(source, uri, "the URI of the resource")
        .help(format!("add `{{{name}}}` to the URI, or give the parameter a default"))
}

pub(super) fn nested_attribute(source: &SourceRef, attribute: &Attribute) -> Diagnostic {
    let name = attribute.name.text.as_str();
    Diagnostic::new(CheckCode::Attribute, format!("`@{name}` can be used only at the top level of a file"))
        .label(source, attribute.name.span, "never served from here")
        .help("move the function to the top level")
}

pub(super) fn deprecated_argument(source: &SourceRef, wrong: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Attribute, "`@deprecated` takes one string")
        .label(source, wrong, "not a single string")
        .help("say what to use instead: `@deprecated(\"use …\")`")
}

pub(super) fn undescribed_tool(source: &SourceRef, name: &Name) -> Diagnostic {
    Diagnostic::new(CheckCode::Undescribed, format!("tool `{}` has no description", name.text))
        .label(source, name.span, "a model cannot know when to call it")
        .help("begin the body with `description \"…\"`, or write a `///` comment before the tool")
}

pub(super) fn always_calls_itself(source: &SourceRef, name: &Name, at: Span) -> Diagnostic {
    Diagnostic::new(CheckCode::Recursion, format!("`{}` always calls itself", name.text))
        .label(source, name.span, "never returns")
        .label(source, at, "calls itself here")
        .help("return a value without the call in one case; write `while true { … }` for an endless loop")
}

pub(super) fn calls_itself_not_builtin(source: &SourceRef, name: &Name, at: Span) -> Diagnostic {
    let message = format!("`{}` calls itself, not the builtin of that name", name.text);
    let help = format!(
        "rename the function, or import the builtin with another name: `import {{{0} as builtin_{0}}} from \"std/builtins\"`",
        name.text
    );
    Diagnostic::new(CheckCode::HiddenBuiltin, message)
        .label(source, name.span, "hides the builtin")
        .label(source, at, "calls itself here")
        .help(help)
}

/// An attribute that takes one text.
pub(super) fn name_argument(source: &SourceRef, attribute: &Attribute, what: &str) -> Diagnostic {
    let name = attribute.name.text.as_str();
    Diagnostic::new(CheckCode::Attribute, format!("`@{name}` takes one string: the {what}"))
        .label(source, attribute.span, "expected one string")
        .help(format!("write `@{name}(\"…\")`"))
}

/// Two fields or variants that data cannot tell apart.
pub(super) fn name_taken(
    source: &SourceRef,
    attributes: &[Attribute],
    name: &Name,
    other: Span,
    in_data: &str,
) -> Diagnostic {
    let at = attributes.first().map_or(name.span, |attribute| attribute.span);
    Diagnostic::new(CheckCode::Attribute, format!("two members are called \"{in_data}\" in data"))
        .label(source, at, "the same name")
        .label(source, other, "the other one")
}
