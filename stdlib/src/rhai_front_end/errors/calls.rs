//! Calls that lead nowhere: a function that there is not, or none that takes these arguments.

use super::names::{self, KnownFunction, functions, meant, suggested};
use super::place::SourcePlace;
use super::slips;
use super::words::{Call, all_described, arguments, described, takes};
use lang::diagnostic::Diagnostic;
use lang::resolve::ResolveCode;
use lang::vm::RunCode;
use rhai::Engine;

/// `call` found nothing that it could mean.
pub(super) fn not_found(place: &SourcePlace<'_>, engine: &Engine, call: &Call) -> Diagnostic {
    if call.is_operator() {
        return operator(place, call);
    }
    among(place, &functions(engine), call)
}

/// Returns the diagnostic when all functions except those of the file are known.
pub(in crate::rhai_front_end) fn among(place: &SourcePlace<'_>, offered: &[KnownFunction], call: &Call) -> Diagnostic {
    let mut known: Vec<&KnownFunction> = offered.iter().collect();
    let own: Vec<KnownFunction> = of_file(place);
    known.extend(&own);
    let same: Vec<&KnownFunction> =
        known.iter().filter(|k| k.name == call.name && k.namespace == call.namespace).copied().collect();
    let method = matches!(place.before(1), "." | "?.");
    if same.is_empty() {
        return unknown(place, &known, call, method);
    }
    let given = call.types.as_ref().map_or_else(|| written_arguments(place) + usize::from(method), Vec::len);
    if same.iter().any(|k| k.parameters == given) {
        return wrong_types(place, &same, call, given, method);
    }
    let hidden = usize::from(method);
    let arities: Vec<usize> = same.iter().filter_map(|k| k.parameters.checked_sub(hidden)).collect();
    let given = given.saturating_sub(hidden);
    let was = if given == 1 { "was" } else { "were" };
    let message = format!("`{}` takes {}, but {given} {was} given", path(call), takes(&arities));
    let mut found = place.error(RunCode::Arity, message, "called here");
    for (.., declared) in place.tokens.functions().into_iter().filter(|f| f.0 == call.name && call.namespace.is_empty())
    {
        found = found.label(place.source, declared, "declared here");
    }
    match signature(&call.namespace, &call.name) {
        Some(sig) if !method => found.help(format!("its signature is `{sig}`")),
        _ => found,
    }
}

/// The functions of the file.
fn of_file(place: &SourcePlace<'_>) -> Vec<KnownFunction> {
    let of = |(name, parameters, _): (&str, usize, _)| KnownFunction {
        namespace: String::new(),
        name: name.to_owned(),
        parameters,
        types: Vec::new(),
    };
    place.tokens.functions().into_iter().map(of).collect()
}

fn path(call: &Call) -> String {
    if call.namespace.is_empty() { call.name.clone() } else { format!("{}::{}", call.namespace, call.name) }
}

/// The signature of a builtin of the table.
fn signature(namespace: &str, name: &str) -> Option<&'static str> {
    crate::table::registry().find(namespace, name.trim_end_matches('_')).map(|row| row.sig)
}

/// Returns the number of arguments written in the call at the place.
fn written_arguments(place: &SourcePlace<'_>) -> usize {
    let name = if place.tokens.text(place.at + 1) == "::" { place.at + 2 } else { place.at };
    place.tokens.parts(name + 1).len()
}

fn operator(place: &SourcePlace<'_>, call: &Call) -> Diagnostic {
    let types = call.types.clone().unwrap_or_default();
    let found = place.error(
        RunCode::Type,
        format!("`{}` does not support {}", call.name, all_described(&types)),
        "not supported for these types",
    );
    if types.iter().any(|ty| ty == "()") {
        return found.help("one side is `()`: replace it with `??` first");
    }
    found
}

fn unknown(place: &SourcePlace<'_>, known: &[&KnownFunction], call: &Call, method: bool) -> Diagnostic {
    if method {
        return no_method(place, known, call);
    }
    if !call.namespace.is_empty() {
        return nothing_in_namespace(place, known, call);
    }
    let name = call.name.as_str();
    let found = place.error(ResolveCode::Undefined, format!("unknown function `{name}`"), "not found");
    if names::variables(&place.tokens).contains(&name) {
        return found.help(format!("call a closure in a variable with `{name}.call(…)`"));
    }
    let mut elsewhere = names::elsewhere(name);
    if let Some(last) = elsewhere.pop() {
        if !elsewhere.is_empty() {
            return found.help(format!("did you mean `{}` or `{last}`?", elsewhere.join("`, `")));
        }
        let found = found.help(format!("did you mean `{last}`?"));
        return match place.span() {
            Some(at) => found.fix(at, last),
            None => found,
        };
    }
    let globals: Vec<&str> = known.iter().filter(|k| k.namespace.is_empty()).map(|k| k.name.as_str()).collect();
    suggested(found, place.span(), meant(name, &globals), name)
}

fn nothing_in_namespace(place: &SourcePlace<'_>, known: &[&KnownFunction], call: &Call) -> Diagnostic {
    let there: Vec<&str> = known.iter().filter(|k| k.namespace == call.namespace).map(|k| k.name.as_str()).collect();
    // Rhai points to the namespace or to the function, as it pleases.
    let at = (place.at..place.at + 4).find(|i| place.tokens.text(*i) == call.name).and_then(|i| place.span_of(i));
    let at = at.or(place.span());
    let message = if there.is_empty() && !names::namespaces().contains(&call.namespace.as_str()) {
        format!("unknown function `{}`", path(call))
    } else {
        format!("the namespace `{}` has no function `{}`", call.namespace, call.name)
    };
    suggested(
        place.error_at(at, ResolveCode::Namespace, message, "not found"),
        at,
        meant(&call.name, &there),
        &call.name,
    )
}

fn no_method(place: &SourcePlace<'_>, known: &[&KnownFunction], call: &Call) -> Diagnostic {
    let receiver = call.types.as_ref().and_then(|types| types.first());
    let methods = methods_of(known, receiver.map(String::as_str));
    let of_what = receiver.map_or_else(|| "this".to_owned(), |ty| described(ty));
    let message = format!("{of_what} has no method `{}`", call.name);
    let found = place.error(RunCode::Member, message, "not found");
    if receiver.is_some_and(|ty| ty == "()") {
        return found.help(format!("write `?.{}(…)` if the value may be `()`", call.name));
    }
    suggested(found, place.span(), meant_member(&call.name, &methods), &call.name)
}

/// The functions that could be called on a value of this type.
fn methods_of<'k>(known: &[&'k KnownFunction], receiver: Option<&str>) -> Vec<&'k str> {
    let of_it = |k: &&&KnownFunction| {
        let first = k.types.first().map_or("any", String::as_str);
        k.parameters > 0
            && k.namespace.is_empty()
            && (first == "any" || receiver.is_none_or(|ty| super::words::plain(ty) == first))
    };
    known.iter().filter(of_it).map(|k| k.name.as_str()).collect()
}

fn meant_member(name: &str, methods: &[&str]) -> Option<String> {
    slips::member(name).filter(|other| methods.contains(other)).map(str::to_owned).or_else(|| meant(name, methods))
}

/// Returns a suggestion for a property that a value of this type does not have.
pub(super) fn instead_of_property(
    place: &SourcePlace<'_>,
    engine: &Engine,
    found: Diagnostic,
    of: &str,
    name: &str,
) -> Diagnostic {
    let known = functions(engine);
    let known: Vec<&KnownFunction> = known.iter().filter(|k| k.parameters == 1).collect();
    let methods = methods_of(&known, Some(of));
    if methods.contains(&name) {
        return found.help(format!("it is a method: call it, `.{name}()`"));
    }
    match (meant_member(name, &methods), place.span()) {
        (Some(near), Some(at)) => found.help(format!("did you mean `{near}()`?")).unsafe_fix(at, format!("{near}()")),
        _ => found,
    }
}

fn wrong_types(
    place: &SourcePlace<'_>,
    same: &[&KnownFunction],
    call: &Call,
    given: usize,
    method: bool,
) -> Diagnostic {
    let types = call.types.clone().unwrap_or_default();
    let fitting: Vec<&&KnownFunction> =
        same.iter().filter(|k| k.parameters == given && k.types.len() == given).collect();
    let message = match types.as_slice() {
        [receiver, rest @ ..] if method && rest.is_empty() => {
            format!("{} has no method `{}`", described(receiver), call.name)
        }
        [receiver, rest @ ..] if method => {
            format!("`{}` of {} does not take {}", call.name, described(receiver), all_described(rest))
        }
        _ => format!("`{}` does not take {}", path(call), all_described(&types)),
    };
    let mut found = place.error(RunCode::Type, message, "no overload for these types");
    let mut forms: Vec<String> = fitting.iter().map(|k| format!("`{}({})`", k.name, k.types.join(", "))).collect();
    forms.sort_unstable();
    forms.dedup();
    if !forms.is_empty() {
        forms.truncate(6);
        found = found.note(format!("the overloads with {} are {}", arguments(given), forms.join(", ")));
    }
    if let Some(i) = types.iter().position(|ty| ty == "()") {
        let which = if method && i == 0 {
            "the receiver".to_owned()
        } else {
            format!("argument {}", i + 1 - usize::from(method))
        };
        found = found.help(format!("{which} is `()`: replace it with `??` first"));
    }
    found
}
