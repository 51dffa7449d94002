//! A limit on the values of a document: one byte of JSON can take sixty bytes of memory, so a limit
//! on bytes does not limit memory.

/// The most values in a document or event. The largest replies have log probabilities, a few values for each token.
pub(super) const MOST: usize = 1_000_000;

/// Returns whether a document has more values than [`MOST`]. Invalid JSON is detected elsewhere.
pub(crate) fn too_many(json: &[u8]) -> bool {
    if json.len() <= MOST {
        return false;
    }
    let (mut values, mut in_text, mut escaped) = (1, false, false);
    for byte in json {
        if in_text {
            in_text = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_text = true,
            // Each value but the first of a list or dict follows a comma, the first one its opener.
            b',' | b'[' | b'{' => values += 1,
            _ => {}
        }
    }
    values > MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_texts_are_not() {
        let list = |n: usize| format!("[{}0]", "0,".repeat(n));
        assert!(!too_many(list(MOST - 2).as_bytes()) && too_many(list(MOST).as_bytes()));
        assert!(too_many("[".repeat(MOST + 1).as_bytes()) && too_many("{\"a\":".repeat(MOST + 1).as_bytes()));
        let text = format!("[\"{}\", 1]", ",[\\\"".repeat(MOST));
        assert!(!too_many(text.as_bytes()));
    }
}
