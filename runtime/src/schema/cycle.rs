//! References that lead back to themselves without a step into the value, so that no value could fit.

use base::data::Data;

use super::pointer::follow;

/// Returns the first such `$ref`, if there is one.
pub(super) fn find(schema: &Data) -> Option<&str> {
    let mut open = vec![schema];
    let mut known: Vec<*const Data> = Vec::new();
    while let Some(node) = open.pop() {
        match node {
            Data::List(items) => open.extend(items.iter()),
            Data::Dict(entries) => open.extend(entries.values()),
            _ => {}
        }
        if let Some(at) = node.get("$ref").as_str()
            && !known.contains(&std::ptr::from_ref(node))
            && let Some(found) = circle_from(schema, node, at, &mut known)
        {
            return Some(found);
        }
    }
    None
}

/// Follows references from a node through subschemas that apply to the same value.
fn circle_from<'d>(schema: &'d Data, start: &'d Data, at: &'d str, known: &mut Vec<*const Data>) -> Option<&'d str> {
    let mut open = vec![target(schema, at)];
    let mut seen: Vec<*const Data> = Vec::new();
    while let Some(node) = open.pop() {
        if std::ptr::eq(node, start) {
            return Some(at);
        }
        if seen.contains(&std::ptr::from_ref(node)) {
            continue;
        }
        seen.push(node);
        if let Some(next) = node.get("$ref").as_str() {
            open.push(target(schema, next));
        }
        for word in ["allOf", "anyOf", "oneOf"] {
            open.extend(node.get(word).as_list().unwrap_or_default());
        }
    }
    known.push(start);
    None
}

/// Returns the target of a reference within the schema; the compiler rejects references that lead elsewhere.
fn target<'d>(schema: &'d Data, at: &str) -> &'d Data {
    follow(schema, at.strip_prefix('#').unwrap_or("/"))
}
