//! Pointers to locations in a schema or a value.

use boon::{InstanceLocation, InstanceToken, ValidationError};

use base::data::Data;

/// Returns the value at a JSON pointer; nil if it does not exist.
pub(super) fn follow<'d>(data: &'d Data, pointer: &str) -> &'d Data {
    static NIL: Data = Data::Nil;
    pointer.split('/').skip(1).fold(data, |at, step| match at {
        Data::List(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)).unwrap_or(&NIL),
        _ if step.contains('~') => at.get(&step.replace("~1", "/").replace("~0", "~")),
        _ => at.get(step),
    })
}

/// Returns the value at a location.
pub(super) fn value_at<'d>(data: &'d Data, at: &InstanceLocation<'_>) -> &'d Data {
    static NIL: Data = Data::Nil;
    at.tokens.iter().fold(data, |data, token| match token {
        InstanceToken::Prop(name) => data.get(name),
        InstanceToken::Item(index) => data.as_list().and_then(|items| items.get(*index)).unwrap_or(&NIL),
    })
}

/// Returns a location as written in a script: `where.lines[2]`; empty for the whole.
pub(super) fn written(at: &InstanceLocation<'_>) -> String {
    let mut path = String::new();
    for token in &at.tokens {
        match token {
            InstanceToken::Prop(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            InstanceToken::Item(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

/// Returns the first error in a schema: the deepest cause of its first mismatch.
pub(super) fn first_leaf(error: &ValidationError<'_, '_>) -> String {
    let mut at = error;
    while let Some(next) = at.causes.first() {
        at = next;
    }
    let said = at.kind.to_string();
    let said = said.lines().next().unwrap_or_default().trim_end_matches(": regex parse error:");
    match written(&at.instance_location) {
        path if path.is_empty() => said.to_owned(),
        path => format!("at `{path}`: {said}"),
    }
}
