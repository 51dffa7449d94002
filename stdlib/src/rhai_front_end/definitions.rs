//! Definition files of Rhai, made of the table of builtins: what an editor shows, completes and checks.
//!
//! They are those of an engine that has the rows with their documentation and runs nothing: an engine that runs scripts
//! would pay for the texts. Names and numbers of arguments come from where scripts get theirs, [`super::offer`].

use super::method::{is_hidden, types_in_rhai};
use super::offer::{arities, is_own, name_in_rhai};
use super::task::described;
use crate::table::registry;
use lang::ast::{PatternKind, TypeExpr, TypeKind};
use lang::builtins::Builtin;
use lang::check::signature;
use rhai::packages::{Package, StandardPackage};
use rhai::{Dynamic, Engine, FuncRegistration, Module, RhaiFunc};
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The definition files for editors: names and texts. One for each namespace, one for what is global, Rhai's own included.
#[must_use]
pub fn rhai_definitions() -> Vec<(String, String)> {
    let mut modules: BTreeMap<&str, Module> = BTreeMap::new();
    for row in registry().all().filter(|row| is_offered(row)) {
        let module = if row.is_method() { "" } else { row.module };
        document(modules.entry(module).or_default(), row);
    }
    for (name, params, doc) in described() {
        let types = vec![TypeId::of::<Dynamic>(); params.len() - 1];
        add(modules.entry("").or_default(), name, params, [format!("///{doc}")], &types);
    }
    let mut engine = Engine::new_raw();
    for (name, mut module) in modules {
        module.build_index();
        if name.is_empty() {
            engine.register_global_module(module.into());
        } else {
            engine.register_static_module(name, module.into());
        }
    }
    engine.register_global_module(StandardPackage::new().as_shared_module());
    engine.definitions().iter_files().collect()
}

fn is_offered(row: &Builtin) -> bool {
    if row.is_method() { !is_hidden(row) } else { !is_own(row) }
}

/// Adds a row with its documentation, once for each number of arguments.
fn document(module: &mut Module, row: &'static Builtin) {
    let described = Described::of(row);
    for count in arities(row.arity) {
        add(module, &name_in_rhai(row.name), described.params(count), comments(row), &types(row, count));
    }
}

/// Adds a function that is there for its documentation. The last of `params` is the type of its result.
fn add<S: AsRef<str>>(
    module: &mut Module,
    name: &str,
    params: impl IntoIterator<Item = S>,
    comments: impl IntoIterator<Item = String>,
    types: &[TypeId],
) {
    let nothing = |_: Option<rhai::NativeCallContext<'_>>, _: &mut [&mut Dynamic]| Ok(Dynamic::UNIT);
    let (has_context, is_pure, is_volatile) = (false, true, true);
    FuncRegistration::new(name)
        .in_internal_namespace()
        .with_params_info(params)
        .with_comments(comments)
        .set_into_module_raw(
            module,
            types,
            RhaiFunc::Pure { func: Rc::new(nothing), has_context, is_pure, is_volatile },
        );
}

fn comments(row: &Builtin) -> Vec<String> {
    let mut lines: Vec<String> = row.summary().lines().map(|line| format!("///{}", line.trim_end())).collect();
    if !row.caps.is_empty() {
        let rights: Vec<String> = row.caps.iter().map(|right| format!("`{}`", right.name())).collect();
        lines.push(format!("/// Requires the capability {}.", rights.join(", ")));
    }
    lines
}

/// Returns the parameter types: methods of one name and arity differ by their receivers.
fn types(row: &Builtin, count: usize) -> Vec<TypeId> {
    /// A placeholder for receivers that Rhai has no type for.
    struct ReceiverPlaceholder<const N: usize>;
    let mut types = vec![TypeId::of::<Dynamic>(); count];
    if let (true, Some(first)) = (row.is_method(), types.first_mut()) {
        *first = types_in_rhai(row.module).next().unwrap_or(match row.module {
            "<set>" => TypeId::of::<ReceiverPlaceholder<0>>(),
            "<iter>" => TypeId::of::<ReceiverPlaceholder<1>>(),
            "<stream>" => TypeId::of::<ReceiverPlaceholder<2>>(),
            "<generator>" => TypeId::of::<ReceiverPlaceholder<3>>(),
            "<variant>" => TypeId::of::<ReceiverPlaceholder<4>>(),
            "<pair>" => TypeId::of::<ReceiverPlaceholder<5>>(),
            _ => TypeId::of::<ReceiverPlaceholder<6>>(),
        });
    }
    types
}

/// A signature in Rhai's words.
struct Described {
    /// Names and types.
    params: Vec<(String, String)>,
    /// The last parameter takes any number of arguments.
    rest: bool,
    returns: String,
}

impl Described {
    fn of(row: &Builtin) -> Self {
        let decl = signature(row.sig);
        let mut params: Vec<(String, String)> = Vec::new();
        let (mut rest, mut returns) = (false, "?".to_owned());
        if let Some(decl) = &decl {
            for param in &decl.params {
                let name = match &param.pattern.kind {
                    PatternKind::Bind(name) => name.to_string(),
                    _ => "value".to_owned(),
                };
                rest |= param.rest;
                params.push((name, param.ty.as_deref().map_or_else(|| "?".to_owned(), in_rhai)));
            }
            returns = decl.returns.as_ref().map_or(returns, in_rhai);
        }
        if let (true, Some(receiver)) = (row.is_method(), params.first_mut()) {
            *receiver = ("receiver".to_owned(), receiver_type(row.module));
        }
        Self { params, rest, returns }
    }

    /// Returns the parameters as Rhai expects them, `name: type` for `count` arguments, and the
    /// type of the result.
    fn params(&self, count: usize) -> Vec<String> {
        let named = if self.rest { self.params.len().saturating_sub(1) } else { self.params.len() };
        let mut told: Vec<String> = (0..count)
            .map(|at| match self.params.get(at.min(self.params.len().saturating_sub(1))) {
                Some((name, ty)) if at < named => format!("{}: {ty}", plain(name)),
                Some((name, ty)) => format!("{}{}: {ty}", plain(name), at - named + 1),
                None => "value: ?".to_owned(),
            })
            .collect();
        told.push(self.returns.clone());
        told
    }
}

/// A name that Rhai does not keep for itself.
fn plain(name: &str) -> String {
    name_in_rhai(name)
}

/// The type of a method's receiver: Rhai's own, else its name in the language.
fn receiver_type(module: &str) -> String {
    let name = module.trim_matches(['<', '>']);
    of_name(name).unwrap_or_else(|| name.to_owned())
}

/// A type of the language in Rhai's words.
fn in_rhai(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeKind::Name { name, .. } => of_name(name).unwrap_or_else(|| name.to_string()),
        TypeKind::Fn { .. } => "Fn".to_owned(),
        TypeKind::Shape { .. } => "map".to_owned(),
        TypeKind::Literal(_) => "string".to_owned(),
        TypeKind::Union(parts) => {
            let mut seen = BTreeSet::new();
            let parts = parts.iter().map(in_rhai).filter(|part| seen.insert(part.clone()));
            parts.collect::<Vec<_>>().join(" | ")
        }
        TypeKind::Optional(inner) => format!("{} | ()", in_rhai(inner)),
        TypeKind::Error => "?".to_owned(),
    }
}

fn of_name(name: &str) -> Option<String> {
    let known = match name {
        "any" => "?",
        "nil" => "()",
        "never" => "!",
        "list" => "array",
        "dict" => "map",
        "bytes" => "blob",
        // What a script writes as a dict of certain keys.
        shape if registry().table(shape).is_some() => "map",
        _ => return None,
    };
    Some(known.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_described_with_its_types_and_nothing_of_the_other_language() {
        let files: BTreeMap<String, String> = rhai_definitions().into_iter().collect();
        let transcript = &files["transcript.d.rhai"];
        assert!(transcript.starts_with("module transcript;\n"), "{transcript}");
        assert!(transcript.contains("fn inject_reminder(transcript: ?, spec: map) -> map;"), "{transcript}");
        assert!(transcript.contains("/// Adds a pending reminder"), "{transcript}");
        let global = &files["__static__.d.rhai"];
        for wanted in [
            "fn agent_loop(task: ?, system: string | ()) -> map;",
            "fn agent_loop(task: ?, system: string | (), options: map) -> map;",
            "fn register_session_hook(event: string, pattern: () | string | Fn, handler: Fn) -> ();",
            "/// Requires the capability `fs.read`.",
            "fn println(values1: ?, values2: ?) -> ();",
            "fn exit(code: int) -> !;",
            "fn spawn_(f: Fn) -> ?;",
            "fn parallel_each(items: ?, options: map, f: Fn) -> array;",
            "fn reverse(receiver: array) -> array;",
        ] {
            assert!(global.contains(wanted), "{wanted}\n{global}");
        }
        for row in registry().all().filter(|row| is_offered(row)) {
            let file = if row.is_method() || row.module.is_empty() { "__static__" } else { row.module };
            let text = &files[&format!("{file}.d.rhai")];
            assert!(text.contains(&format!("fn {}(", name_in_rhai(row.name))), "{}", row.full_name());
        }
    }

    #[test]
    fn they_are_the_same_each_time() {
        assert_eq!(rhai_definitions(), rhai_definitions());
    }
}
