//! Queries of URLs.

use lang::value::{Dict, Str, Value, article, display};
use lang::vm::{Cx, Meter, Raise, RunCode, Stopped};
use url::{Url, form_urlencoded};

/// Returns the values in the query of a URL that a request has.
pub(crate) fn query_values(url: &Url) -> Value {
    query_pairs(url.query().unwrap_or(""), || Ok(())).unwrap_or_default()
}

/// Returns the values in a query by their names; a name that occurs several times has a list. `step` is called for each.
pub(crate) fn query_pairs(query: &str, mut step: impl FnMut() -> Result<(), Box<Raise>>) -> Result<Value, Box<Raise>> {
    let mut values = Dict::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        step()?;
        let slot = values.slot(&Str::new(&name));
        let value = Value::str(&value);
        match slot {
            Value::Nil => *slot = value,
            Value::List(several) => std::rc::Rc::make_mut(several).items.push(value),
            first => *first = Value::list(vec![std::mem::take(first), value]),
        }
    }
    Ok(Value::dict(values))
}

/// Appends the values of a dict to a query.
pub(crate) fn append_query(cx: &Cx<'_>, argument: usize, values: &Dict, query: &mut String) -> Result<(), Box<Raise>> {
    let mut meter = Meter::start();
    let mut pair = |query: &mut String, name: &str, value: &Value| -> Result<(), Box<Raise>> {
        let text = match value {
            Value::Str(text) => text.to_string(),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => display(value),
            other => {
                let message = format!("cannot write {} in a query", article(other.type_name()));
                return Err(Raise::error(RunCode::Type, message)
                    .about(argument, format!("the value of `{}`", shown_name(name)))
                    .help("make text of it first, such as `json_stringify(x)`"));
            }
        };
        meter.steps(1 + (name.len() + text.len()) / 16).map_err(Stopped::raise)?;
        let more = (name.len() + text.len()).saturating_mul(3);
        cx.check_size(query.len().checked_add(more))?;
        if !query.is_empty() {
            query.push('&');
        }
        query.extend(form_urlencoded::byte_serialize(name.as_bytes()));
        query.push('=');
        query.extend(form_urlencoded::byte_serialize(text.as_bytes()));
        Ok(())
    };
    for (name, value) in values.iter() {
        match value {
            Value::Nil => {}
            Value::List(several) => several.items.iter().try_for_each(|value| pair(query, name, value))?,
            value => pair(query, name, value)?,
        }
    }
    Ok(())
}

/// Returns the query of a dict, for a request.
pub(crate) fn query_of(cx: &Cx<'_>, argument: usize, values: &Dict) -> Result<String, Box<Raise>> {
    let mut query = String::new();
    append_query(cx, argument, values, &mut query)?;
    Ok(query)
}

pub(crate) fn shown_name(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("\"{}…\"", &text[..at]),
        None => format!("\"{text}\""),
    }
}
