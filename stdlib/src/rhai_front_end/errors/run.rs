//! Errors of Rhai at run time, one variant after the other.

use super::parse::{self, sentence};
use super::place::SourcePlace;
use super::words::{Call, described};
use super::{calls, names};
use crate::codes::RhaiCode;
use lang::diagnostic::Diagnostic;
use lang::parse::ParseCode;
use lang::resolve::ResolveCode;
use lang::source::SourceRef;
use lang::vm::RunCode;
use rhai::{Engine, EvalAltResult as E, Position};

/// An error of Rhai's own as a finding; nothing for those that are the run's: thrown values, ends, limits of operations.
pub(super) fn of(error: &E, source: &SourceRef, position: Position, engine: &Engine) -> Option<Diagnostic> {
    if let E::ErrorParsing(error, _) = error {
        return Some(parse::of(source, error, position));
    }
    let place = SourcePlace::new(source, position);
    names_and_calls(error, &place, engine).or_else(|| values(error, &place)).or_else(|| limits(error, &place))
}

fn names_and_calls(error: &E, place: &SourcePlace<'_>, engine: &Engine) -> Option<Diagnostic> {
    Some(match error {
        E::ErrorVariableNotFound(name, _) => match name.rsplit_once("::") {
            Some((namespace, name)) => no_constant(place, namespace, name),
            None => names::no_variable(place, name),
        },
        E::ErrorFunctionNotFound(signature, _) => calls::not_found(place, engine, &Call::read(signature)),
        E::ErrorModuleNotFound(name, _) => no_module(place, name),
        E::ErrorVariableExists(name, _) => place
            .error(ResolveCode::Twice, format!("duplicate binding of `{name}`"), "bound again")
            .help("choose another name"),
        E::ErrorForbiddenVariable(name, _) => place
            .error(ParseCode::ReservedWord, format!("`{name}` cannot be used as a name"), "reserved")
            .help("choose another name"),
        E::ErrorAssignmentToConstant(name, _) => place
            .error(ResolveCode::Forbidden, format!("cannot change the constant `{name}`"), "changed here")
            .help(format!("copy it into a variable: `let my_{name} = {name};`")),
        E::ErrorNonPureMethodCallOnConstant(name, _) => changed_constant(place, name),
        E::ErrorUnboundThis(_) => place
            .error(RunCode::Unbound, "`this` is bound only in a function that is called as a method", "not bound")
            .help("call it with a dot: `value.function(…)`"),
        E::ErrorPropertyNotFound(name, _) => place
            .error(RunCode::Member, format!("unknown property `{name}`"), "not found")
            .help(format!("check for it first: `\"{name}\" in map`")),
        E::ErrorDotExpr(said, _) => no_property(place, said, engine),
        _ => return None,
    })
}

fn values(error: &E, place: &SourcePlace<'_>) -> Option<Diagnostic> {
    Some(match error {
        E::ErrorMismatchDataType(wanted, given, _) | E::ErrorMismatchOutputType(wanted, given, _) => {
            let message = match (wanted.as_str(), given.as_str()) {
                ("", given) => format!("unexpected {}", described(given)),
                (wanted, "") => format!("expected {}", described(wanted)),
                (wanted, given) => format!("expected {}, found {}", described(wanted), described(given)),
            };
            let found = place.error(RunCode::Type, message, "wrong type");
            if wanted == "bool" {
                found.help("a condition must be `true` or `false`: compare the value with another one")
            } else {
                found
            }
        }
        E::ErrorIndexingType(said, _) => no_index(place, said),
        E::ErrorArrayBounds(length, index, _) => out_of_range(place, *index, "array", *length, "element"),
        E::ErrorStringBounds(length, index, _) => out_of_range(place, *index, "string", *length, "character"),
        E::ErrorBitFieldBounds(length, index, _) => out_of_range(place, *index, "int", *length, "bit"),
        E::ErrorIndexNotFound(index, _) => place
            .error(RunCode::Index, format!("no element with the index or key `{index}`"), "not found")
            .help("check for it first with `in`"),
        E::ErrorFor(_) => {
            let walked = (place.at..place.at + 40).find(|i| place.tokens.text(*i) == "in").map(|i| i + 1);
            let at = walked.and_then(|i| place.span_of(i)).or(place.span());
            place.error_at(at, RunCode::Type, "value is not iterable", "not iterable").help(
                "`for` iterates over arrays, strings, ranges and iterators; for a map use `keys(map)`, to \
                    count use `0..n`",
            )
        }
        E::ErrorArithmetic(said, _) => arithmetic(place, said),
        E::ErrorDataRace(name, _) => {
            let what = if name.is_empty() { "a variable".to_owned() } else { format!("`{}`", variable_of(name)) };
            place
                .error(RhaiCode::InUse, format!("{what} is used while it is being changed"), "in use")
                .help("a closure that captured it is running: copy it first, `let copy = …;`, and change the copy")
        }
        _ => return None,
    })
}

fn limits(error: &E, place: &SourcePlace<'_>) -> Option<Diagnostic> {
    Some(match error {
        E::ErrorTooManyOperations(_) => place.error(RunCode::Fuel, "operation limit of the script reached", "here"),
        E::ErrorTooManyVariables(_) => {
            place.error(RunCode::Size, "too many variables in the script", "exceeds the limit")
        }
        E::ErrorTooManyModules(_) => {
            place.error(lang::module::ModuleCode::TooMany, "too many imported files", "exceeds the limit")
        }
        E::ErrorStackOverflow(_) => place
            .error(RunCode::Depth, "calls nested too deeply", "exceeds the limit")
            .help(crate::limits::SUGGESTIONS.depth),
        E::ErrorDataTooLarge(what, _) => {
            let what = what.trim_start_matches("Length of ").trim_start_matches("Size of ").to_lowercase();
            place
                .error(RunCode::Size, format!("{what} too large"), "too large")
                .help("build it in pieces, or write it to a file")
        }
        E::ErrorSystem(what, error) => {
            let what = if what.is_empty() { error.to_string() } else { format!("{what}: {error}") };
            place.error(RunCode::Outside, sentence(&what, "a host operation failed"), "failed here")
        }
        E::LoopBreak(breaks, ..) => {
            let word = if *breaks { "break" } else { "continue" };
            place.error(ResolveCode::Misplaced, format!("`{word}` outside of a loop"), "not inside a loop")
        }
        E::ErrorCustomSyntax(what, ..) => place.error(RunCode::Value, sentence(what, "not expected here"), "here"),
        _ => return None,
    })
}

fn no_constant(place: &SourcePlace<'_>, namespace: &str, name: &str) -> Diagnostic {
    let found = place.error(ResolveCode::Namespace, format!("unknown constant `{name}` in `{namespace}`"), "not found");
    if namespace == "global" {
        return found.help(format!("declare it at the top level of the file: `const {name} = …;`"));
    }
    if crate::table::registry().find(namespace, name).is_some() {
        return found.help(format!("it is a function: call it, or wrap it in a closure, `|x| {namespace}::{name}(x)`"));
    }
    found
}

fn no_module(place: &SourcePlace<'_>, name: &str) -> Diagnostic {
    let imported = (place.at.saturating_sub(2)..=place.at).any(|i| place.tokens.text(i) == "import");
    if !imported {
        return names::no_namespace(place, name);
    }
    place
        .error(lang::module::ModuleCode::Missing, format!("`{name}` cannot be imported"), "not found")
        .help("write the path of a `.rhai` file relative to the folder of this file, without the extension")
}

fn changed_constant(place: &SourcePlace<'_>, name: &str) -> Diagnostic {
    let by = match name.rsplit_once('$').map_or(name, |(_, property)| property) {
        "" => "an assignment".to_owned(),
        name => format!("`{name}`"),
    };
    place
        .error(ResolveCode::Forbidden, format!("{by} changes its receiver, which is a constant"), "changes a constant")
        .help("copy the constant into a variable first: `let copy = …;`")
}

/// `Unknown property 'x' - a getter is not registered for type 'T'`
fn no_property(place: &SourcePlace<'_>, said: &str, engine: &Engine) -> Diagnostic {
    let mut quoted = said.split('\'').skip(1).step_by(2);
    let (Some(property), Some(of)) = (quoted.next(), quoted.next()) else {
        return place.error(RunCode::Member, sentence(said, "unknown property"), "not found");
    };
    if said.starts_with("No writable") {
        return place.error(
            RunCode::Type,
            format!("the property `{property}` of {} cannot be set", described(of)),
            "cannot be set",
        );
    }
    let found = place.error(RunCode::Member, format!("{} has no property `{property}`", described(of)), "not found");
    if of == "()" {
        return found.help(format!("write `?.{property}` if the value may be `()`"));
    }
    calls::instead_of_property(place, engine, found, of, property)
}

/// `T [I]`
fn no_index(place: &SourcePlace<'_>, said: &str) -> Diagnostic {
    let (of, index) = said.split_once(" [").unwrap_or((said, ""));
    let (index, set) = index.split_once(']').unwrap_or((index, ""));
    let of_what = described(of);
    let message = match (of, index) {
        (_, "") => format!("{of_what} cannot be indexed"),
        ("map", index) => format!("a map is indexed by a string, not by {}", described(index)),
        ("array" | "string" | "blob", index) => format!("{of_what} is indexed by an int, not by {}", described(index)),
        (_, _) if !set.is_empty() => format!("elements of {of_what} cannot be set"),
        _ => format!("{of_what} cannot be indexed"),
    };
    let found = place.error(RunCode::Type, message, "not an index");
    if of == "()" { found.help("write `?[…]` if the value may be `()`") } else { found }
}

fn out_of_range(place: &SourcePlace<'_>, index: i64, of: &str, length: usize, element: &str) -> Diagnostic {
    let holds = match length {
        0 => "is empty".to_owned(),
        1 => format!("has 1 {element}"),
        n => format!("has {n} {element}s"),
    };
    let found = place.error(RunCode::Index, format!("index {index} is out of range: the {of} {holds}"), "out of range");
    if of == "int" { found } else { found.help("the first index is `[0]`, the last `[-1]`; `len` returns the length") }
}

fn arithmetic(place: &SourcePlace<'_>, said: &str) -> Diagnostic {
    let lower = said.to_lowercase();
    if lower.contains("zero") && !lower.contains("step") {
        let verb = if lower.contains("modulo") { "take the remainder of a division" } else { "divide" };
        return place
            .error(RunCode::Zero, format!("cannot {verb} by the integer zero"), "by zero")
            .help("check the divisor first, or divide by a float: `x / 0.0` is `inf`");
    }
    let code = if lower.contains("overflow") { RunCode::Overflow } else { RunCode::Value };
    let found = place.error(code, sentence(said, "this cannot be computed"), "here");
    if lower.contains("overflow") { found.help("an int has 64 bits: use floats, `to_float(x)`") } else { found }
}

/// Rhai names the variable in several ways.
fn variable_of(said: &str) -> &str {
    said.split('\'').nth(1).unwrap_or(said)
}
