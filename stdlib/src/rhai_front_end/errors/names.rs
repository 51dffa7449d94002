//! Suggestions of names: functions of Rhai, of the table and of the script, namespaces and
//! variables.

use super::place::SourcePlace;
use super::slips;
use super::tokens::Tokens;
use super::words::plain;
use lang::builtins::Builtin;
use lang::diagnostic::{Diagnostic, nearest};
use lang::resolve::ResolveCode;
use lang::source::Span;
use rhai::Engine;

/// A function that could be called.
pub(crate) struct KnownFunction {
    /// Its namespace; empty for none.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) parameters: usize,
    /// The types of its parameters as scripts know them, where they are written down.
    pub(crate) types: Vec<String>,
}

/// Every function that scripts of this engine can call, by their files apart.
pub(crate) fn functions(engine: &Engine) -> Vec<KnownFunction> {
    engine.collect_fn_metadata(
        None,
        |info| {
            let meta = info.metadata;
            let of_parameter = |text: &str| plain(text.rsplit_once(": ").map_or(text, |(_, ty)| ty)).to_owned();
            let types = meta.params_info.iter().take(meta.num_params).map(|text| of_parameter(text)).collect();
            let known = KnownFunction {
                namespace: info.namespace.to_string(),
                name: meta.name.to_string(),
                parameters: meta.num_params,
                types,
            };
            is_callable(&known.name).then_some(known)
        },
        true,
    )
}

/// Getters, setters and anonymous functions are none that could be written.
fn is_callable(name: &str) -> bool {
    !name.contains('$')
}

/// A builtin as Rhai writes it.
pub(crate) fn written(row: &Builtin) -> String {
    if row.module.is_empty() || row.is_method() { row.name.to_owned() } else { format!("{}::{}", row.module, row.name) }
}

/// Returns the names of variables in the text, and the run's own.
pub(crate) fn variables<'a>(tokens: &Tokens<'a>) -> Vec<&'a str> {
    let mut names = tokens.bound_names();
    names.extend(["task", "context", "args"]);
    names
}

/// The namespaces of the table.
pub(crate) fn namespaces() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        crate::table::registry().all().filter(|row| !row.is_method()).map(|row| row.module).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names.dedup();
    names
}

/// The builtins of other namespaces that have this name.
pub(crate) fn elsewhere(name: &str) -> Vec<String> {
    let rows = crate::table::registry().all();
    rows.filter(|row| row.name == name && !row.module.is_empty() && !row.is_method()).map(written).collect()
}

/// Returns the name that was probably meant: a word of another language, the same in another case,
/// or a near one.
pub(crate) fn meant(name: &str, known: &[&str]) -> Option<String> {
    if let Some(instead) = slips::word(name).and_then(|slip| slip.instead) {
        return Some(instead.to_owned());
    }
    let snake = snake_case(name);
    let same = known.iter().find(|k| k.eq_ignore_ascii_case(name) || **k == snake);
    same.copied().or_else(|| nearest(name, known.iter().copied())).filter(|near| *near != name).map(str::to_owned)
}

/// A name that nothing binds.
pub(crate) fn no_variable(place: &SourcePlace<'_>, name: &str) -> Diagnostic {
    if namespaces().contains(&name) {
        return namespace_as_value(place, name);
    }
    let found = place.error(ResolveCode::Undefined, format!("unknown name `{name}`"), "not found");
    let known = variables(&place.tokens);
    if let Some(row) = crate::table::registry().find("", name) {
        return found.help(format!("it is a builtin: call it, or wrap it in a closure, `|x| {}(x)`", row.name));
    }
    if known.contains(&name) {
        return match place.tokens.function_around(place.at) {
            Some(_) => found.help(format!(
                "a function can use only its parameters: pass `{name}` as an argument, or write a closure `|…| …`, \
                which can use it"
            )),
            None => found.help(format!("`{name}` is bound elsewhere: bind it in this block or before it")),
        };
    }
    let names = place.tokens.functions().into_iter().map(|(name, ..)| name);
    suggested(found, place.span(), meant(name, &known.into_iter().chain(names).collect::<Vec<_>>()), name)
}

/// `transcript` where a value is wanted.
fn namespace_as_value(place: &SourcePlace<'_>, name: &str) -> Diagnostic {
    let dot = place.tokens.text(place.at + 1) == ".";
    let function = place.tokens.text(place.at + 2);
    let known = crate::table::registry().find(name, function).is_some();
    let found = place.error(ResolveCode::Namespace, format!("`{name}` is a namespace, not a value"), "used as a value");
    match place.span_of(place.at + 1).filter(|_| dot) {
        Some(at) if known => found.help(format!("call its functions with `::`: `{name}::{function}(…)`")).fix(at, "::"),
        _ => found.help(format!("call its functions with `::`: `{name}::…(…)`")),
    }
}

/// A namespace that there is not.
pub(crate) fn no_namespace(place: &SourcePlace<'_>, name: &str) -> Diagnostic {
    let found = place.error(ResolveCode::Namespace, format!("unknown namespace `{name}`"), "not found");
    if variables(&place.tokens).contains(&name) {
        let found = found.help("read a field with a dot: `x.field`");
        return match place.span_of(place.at + 1).filter(|_| place.tokens.text(place.at + 1) == "::") {
            Some(at) => found.fix(at, "."),
            None => found,
        };
    }
    let meant = meant(name, &namespaces());
    if meant.is_none() {
        return found.help(format!("import a file with `import \"{name}\" as {name};`"));
    }
    suggested(found, place.span(), meant, name)
}

/// Says what was meant, if it is known.
pub(crate) fn suggested(found: Diagnostic, at: Option<Span>, meant: Option<String>, name: &str) -> Diagnostic {
    let slip = slips::word(name).filter(|slip| slip.instead.is_some());
    match (meant, at) {
        (Some(_), _) if slip.is_some() => found.help(slip.map_or("", |slip| slip.help)),
        (Some(near), Some(at)) => found.help(format!("did you mean `{near}`?")).unsafe_fix(at, near),
        (Some(near), None) => found.help(format!("did you mean `{near}`?")),
        (None, _) => found,
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn other_cases_and_slips_of_the_finger_are_understood() {
        let known = ["agent_loop", "println", "len"];
        assert_eq!(meant("agentLoop", &known).as_deref(), Some("agent_loop"));
        assert_eq!(meant("agent_lop", &known).as_deref(), Some("agent_loop"));
        assert_eq!(meant("Println", &known).as_deref(), Some("println"));
        assert_eq!(meant("nil", &known).as_deref(), Some("()"));
        assert_eq!(meant("quite_another", &known), None);
    }
}
