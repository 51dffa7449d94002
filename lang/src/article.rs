//! Types in sentences.

/// A type's name with its article: `a string`, `an int`, `nil`.
#[must_use]
pub fn article(type_name: &str) -> String {
    match type_name {
        "nil" => "nil".to_owned(),
        "bytes" => "bytes".to_owned(),
        name if name.to_lowercase().starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {name}"),
        name => format!("a {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::article;

    #[test]
    fn vowels_want_an() {
        assert_eq!(["int", "string", "nil", "any"].map(article), ["an int", "a string", "nil", "an any"]);
    }
}
