//! Rhai's types and signatures in the words of our sentences.

use lang::value::article;

/// A type as Rhai writes it in its errors, with its article.
pub(crate) fn described(rhai_type: &str) -> String {
    match plain(rhai_type) {
        words if words.starts_with("a ") || words.starts_with("an ") => words.to_owned(),
        "value" => "this value".to_owned(),
        "()" => "`()`".to_owned(),
        "fn" => "a function".to_owned(),
        name => article(name),
    }
}

/// A type as scripts know it from `type_of`, without what Rhai has of Rust.
pub(crate) fn plain(rhai_type: &str) -> &str {
    match rhai_type.trim() {
        "i64" | "INT" => "int",
        "f64" | "FLOAT" => "float",
        "&str | ImmutableString | String" | "ImmutableString" | "String" | "&str" => "string",
        "Fn" | "FnPtr" | "rhai::FnPtr" => "fn",
        "Map" => "map",
        "Array" => "array",
        "range=" => "range",
        "?" | "Dynamic" => "any",
        other => other.rsplit("::").next().unwrap_or(other),
    }
}

/// Several of them: `an int and a string`.
pub(crate) fn all_described(types: &[String]) -> String {
    let words: Vec<String> = types.iter().map(|ty| described(ty)).collect();
    match words.as_slice() {
        [] => "no arguments".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `1 argument`, `2 arguments`.
pub(crate) fn arguments(n: usize) -> String {
    if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") }
}

/// `1 parameter`, `2 parameters`.
pub(crate) fn parameters(n: usize) -> String {
    if n == 1 { "1 parameter".to_owned() } else { format!("{n} parameters") }
}

/// Returns the numbers of arguments of a function, in words.
pub(crate) fn takes(arities: &[usize]) -> String {
    let mut sorted = arities.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    match sorted.as_slice() {
        [] => "nothing".to_owned(),
        [one] => arguments(*one),
        [first, .., last] if last - first + 1 == sorted.len() => format!("{first} to {}", arguments(*last)),
        [first @ .., last] => {
            let list: Vec<String> = first.iter().map(usize::to_string).collect();
            format!("{} or {}", list.join(", "), arguments(*last))
        }
    }
}

/// A call as Rhai writes it when nothing fits: `transcript::inject_reminder (map, i64)`.
pub(crate) struct Call {
    /// The namespace; empty for none.
    pub(crate) namespace: String,
    /// The function.
    pub(crate) name: String,
    /// The types of its arguments, the receiver of a method first; nothing where Rhai does not say.
    pub(crate) types: Option<Vec<String>>,
}

impl Call {
    pub(crate) fn read(signature: &str) -> Self {
        let (path, types) = match signature.split_once(" (") {
            Some((path, types)) => (path, Some(types.trim_end_matches(')'))),
            None => (signature, None),
        };
        let (namespace, name) = path.rsplit_once("::").unwrap_or(("", path));
        let types = types.map(|types| match types {
            "" => Vec::new(),
            _ => types.split(", ").map(str::to_owned).collect(),
        });
        Self { namespace: namespace.to_owned(), name: name.to_owned(), types }
    }

    /// Whether it is a sign and not a name.
    pub(crate) fn is_operator(&self) -> bool {
        !self.name.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_back() {
        let call = Call::read("transcript::inject_reminder (map, &str | ImmutableString | String)");
        assert_eq!((call.namespace.as_str(), call.name.as_str()), ("transcript", "inject_reminder"));
        assert_eq!(all_described(&call.types.unwrap_or_default()), "a map and a string");
        assert!(Call::read("+ (i64, map)").is_operator());
        assert_eq!(Call::read("f ()").types, Some(Vec::new()));
        assert_eq!(Call::read("f").types, None);
    }

    #[test]
    fn numbers_of_arguments_in_words() {
        assert_eq!(
            [takes(&[1]), takes(&[2, 1, 3]), takes(&[0, 2])],
            ["1 argument", "1 to 3 arguments", "0 or 2 arguments"]
        );
    }
}
